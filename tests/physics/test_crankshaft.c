// SPDX-License-Identifier: MIT
// The scene engine: loops of joints stay closed under load, gears that mesh by contact keep their ratio, pistons follow the
// closed form of a slider-crank, and marbles go round without one falling beside the stair.
#include "sim/world/joint.h"
#include "tests/lab/joint_drift.h"
#include "tests/lab/lab.h"

// Bodies and joints in the order of the scene.
enum { CRANK = 0, PISTON = 5, THROWS = 4, PINION = 10, MARBLE = 41, MOTOR = 0, CRANK_HINGE = 1 };
static const double AXIS = 0.34, THROW = 0.2, ROD = 0.5; // m: height of the crankshaft, length of a throw and of a rod

// m, how far the piston of a throw is from where the angle of the crankshaft puts it. The shape of a piston has its origin
// at the pin, which the joint of its rod names.
static double piston_error(const SandWorld *world, int throw, double angle) {
    const SandJoint *pin = &world->joints[CRANK_HINGE + 3 + 3 * throw];
    assert_int_equal(pin->b, PISTON + throw);
    double from_top = throw % 2 ? angle + PI : angle, across = THROW * sin(from_top);
    double want = AXIS + THROW * cos(from_top) + sqrt(ROD * ROD - across * across);
    return fabs(sand_joint_side_b(world, pin).anchor.z - want);
}

typedef struct Watch {
    double crank, pinion;           // rad, turned so far
    double drift, piston, backlash; // m, m, rad of the pinion: the largest of each
    int delivered;                  // marbles that came down the trough
    bool above[64];                 // marble: has been on the trough since it was in the feed
} Watch;

static void count_marbles(Watch *watch, const SandWorld *world) {
    for (int i = MARBLE; i < world->body_count; i++) {
        SandVec3 p = world->position[i];
        bool *above = &watch->above[i - MARBLE];
        if (p.z < 0.5) fail_msg("marble %d fell beside the stair, at %.2f, %.2f", i - MARBLE, p.x, p.y);
        if (p.y > 0.36 && p.z > 1.6) *above = true;
        if (*above && p.z < 1.3) watch->delivered++;
        if (p.z < 1.3) *above = false;
    }
}

static void observe(Watch *watch, const SandWorld *world) {
    const SandJoint *crank = &world->joints[CRANK_HINGE], *motor = &world->joints[MOTOR];
    SandJointSide still = sand_joint_side_a(world, crank), shaft = sand_joint_side_b(world, crank);
    SandJointSide base = sand_joint_side_a(world, motor), pinion = sand_joint_side_b(world, motor);
    watch->crank = sand_joint_position(crank, &still, &shaft, watch->crank);
    watch->pinion = sand_joint_position(motor, &base, &pinion, watch->pinion);
    watch->backlash = fmax(watch->backlash, fabs(watch->pinion + 2 * watch->crank));
    watch->drift = fmax(watch->drift, lab_largest_drift(world));
    for (int k = 0; k < THROWS; k++) watch->piston = fmax(watch->piston, piston_error(world, k, watch->crank));
    count_marbles(watch, world);
}

// 20 s as the scene says. The teeth have 0.6 mm of play on either side, which is 10 mrad of the pinion.
static void lifts_marbles(void **state) {
    (void)state;
    SandSimulation *sim = lab_scene("engine", 0, 1, SAND_FLOAT);
    const SandWorld *w = sand_simulation_world(sim);
    Watch watch = {0};
    assert_true(w->body_count > MARBLE && w->body_count - MARBLE <= 64);
    for (int k = 0; k < 4000; k++) {
        lab_step(sim);
        observe(&watch, w);
    }
    double want = -5 * 4000 * w->step;
    print_message("pinion %.3f rad of %.3f, crankshaft %.3f rad, off by at most %.2f mrad of the pinion\n", watch.pinion,
                  want, watch.crank, 1e3 * watch.backlash);
    print_message("loops open by at most %.4f mm, pistons are off by %.4f mm; %d marbles delivered\n", 1e3 * watch.drift,
                  1e3 * watch.piston, watch.delivered);
    NEAR(watch.pinion, want, 1); // it takes a while to start, and marbles overcome the motor for a moment
    assert_true(watch.backlash < 0.015);
    assert_true(watch.drift < 1e-3 && watch.piston < 2e-3);
    assert_true(watch.delivered >= 20);
    sand_simulation_free(sim);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lifts_marbles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
