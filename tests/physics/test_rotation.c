// SPDX-License-Identifier: MIT
// Free rotation against what is known of it: energy and momentum that are kept, the flips of a T-handle by elliptic
// functions, the order of the method, and the precession of a heavy top.
#include "tests/lab/lab.h"

#include "sim/step/integrate.inl"

// A body with these principal moments, that spins freely; the spin is in its own frame, rad/s.
static SandWorld spinning(SandVec3 inertia, SandVec3 spin, double step) {
    SandWorld world = lab_world(0);
    SandShape shape;
    SandBodyDef def = sand_default_body();
    world.gravity = v3_make(0, 0, 0);
    world.step = step;
    assert_true(sand_shape_box(&shape, v3_make(0.1, 0.1, 0.1), NULL));
    def.shape = sand_world_add_shape(&world, &shape, NULL);
    def.pose.rotation = q_unit((SandQuat){0.8, 0.2, -0.4, 0.3});
    def.spin = q_rotate(def.pose.rotation, spin);
    assert_int_equal(sand_world_add_body(&world, &def, NULL), 0);
    world.inertia[0] = inertia;
    return world;
}

// What a step without contacts makes of the body.
static void turn(SandWorld *world) {
    SandVec3 mean = v3_add(world->spin[0], gyroscopic_change(world, 0));
    turn_body(world, 0, mean, mean, 1);
}

// Moments of a box with sides in this ratio, and of a T-handle.
typedef struct Case {
    const char *name;
    SandVec3 inertia, spin;
} Case;
static const Case cases[] = {
    {"pencil 1:1:8", {65, 65, 2}, {5, 0.5, 8}},
    {"pencil that tumbles", {65, 65, 2}, {7, 7, 1}},
    {"brick 4:2:1", {5, 17, 20}, {1, 9, 3}},
    {"brick about its middle axis", {5, 17, 20}, {0.01, 10, 0.01}},
    {"disc", {1, 1, 2}, {6, 2, 7}},
    {"T-handle 1:3:6", {1, 3, 6}, {0.1, 9.9, 0.1}},
};

// A thousand seconds at |w| h = 0.1: energy and momentum stay to rounding, which adds up over 100,000 steps.
static void energy_is_kept(void **state) {
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        SandWorld world = spinning(cases[c].inertia, cases[c].spin, 0.1 / v3_length(cases[c].spin));
        double first = sand_world_kinetic_energy(&world), off = 0, drift = 0, spread = 0;
        SandVec3 momentum = sand_body_spin_momentum(&world, 0);
        int steps = (int)(1000 / world.step);
        for (int k = 0; k < steps; k++) {
            turn(&world);
            double change = sand_world_kinetic_energy(&world) / first - 1, at = (k + 0.5) / steps - 0.5;
            off = fmax(off, fabs(change));
            drift += at * change;
            spread += at * at;
        }
        double lost = v3_length(v3_sub(sand_body_spin_momentum(&world, 0), momentum)) / v3_length(momentum);
        print_message("%s: energy off by %.1e at most, slope %.1e a second, momentum off by %.1e\n", cases[c].name, off,
                      drift / spread / 1000, lost);
        assert_true(off < 1e-9 && fabs(drift / spread / 1000) < 1e-12 && lost < 1e-10);
        sand_world_free(&world);
    }
}

// The same through the simulation, whose solver works in float: what it does not change stays as it was.
static void a_simulation_keeps_it_too(void **state) {
    (void)state;
    SandWorld world = spinning(cases[2].inertia, cases[2].spin, 0.01);
    SandSimulationDef def = sand_default_simulation();
    def.threads = 1;
    SandSimulation *sim = sand_simulation_create(&world, &def, NULL);
    double first = sand_simulation_energy(sim).kinetic, off = 0;
    SandVec3 momentum = sand_body_spin_momentum(sand_simulation_world(sim), 0);
    for (int k = 0; k < 2000; k++) {
        lab_step(sim);
        off = fmax(off, fabs(sand_simulation_energy(sim).kinetic / first - 1));
    }
    SandVec3 now = sand_body_spin_momentum(sand_simulation_world(sim), 0);
    assert_true(off < 1e-11 && v3_length(v3_sub(now, momentum)) < 1e-11 * v3_length(momentum));
    sand_simulation_free(sim);
}

// --- elliptic functions ---------------------------------------------------------------------------------------

// The complete elliptic integral of the first kind, of parameter m = k^2.
static double elliptic_period(double m) {
    double a = 1, b = sqrt(1 - m);
    for (int k = 0; k < 40; k++) {
        double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    return PI / (2 * a);
}

// The time between two flips of a body about its middle axis, moments I.x < I.y < I.z: half a period of its spin in its own
// frame (Landau and Lifshitz, Mechanics, 37).
static double flip_time(SandVec3 i, SandVec3 w) {
    double energy = i.x * w.x * w.x + i.y * w.y * w.y + i.z * w.z * w.z; // twice that
    double square = i.x * i.x * w.x * w.x + i.y * i.y * w.y * w.y + i.z * i.z * w.z * w.z;
    if (square < energy * i.y) { // seen from the other axis
        double x = i.x;
        i.x = i.z;
        i.z = x;
    }
    double rate = sqrt((i.z - i.y) * (square - energy * i.x) / (i.x * i.y * i.z));
    double m = (i.y - i.x) * (energy * i.z - square) / ((i.z - i.y) * (square - energy * i.x));
    return 2 * elliptic_period(m) / rate;
}

// The mean time between flips: where the spin about the middle axis changes its sign, in the body's frame.
static double measured_flip(const Case *c, double step, int flips) {
    SandWorld world = spinning(c->inertia, c->spin, step);
    double last = c->spin.y, first_at = 0;
    for (int seen = 0, k = 1;; k++) {
        turn(&world);
        double y = q_unrotate(world.rotation[0], world.spin[0]).y;
        if (last * y < 0) {
            double at = (k - y / (y - last)) * step;
            if (seen == 0) first_at = at;
            if (seen++ == flips) {
                sand_world_free(&world);
                return (at - first_at) / flips;
            }
        }
        last = y;
        if (k * step > 1000) fail_msg("no flip");
    }
}

static void a_t_handle_flips(void **state) {
    (void)state;
    const Case c = {"T-handle", {1, 3, 6}, {0.1, 15, 0.1}};
    double want = flip_time(c.inertia, c.spin), got = measured_flip(&c, 0.0025, 10);
    print_message("T-handle: a flip each %.5f s, by elliptic functions %.5f s\n", got, want);
    NEAR(got, want, 0.01 * want);
}

// Halving the step quarters the error, of the time of a flip.
static void the_order_is_two(void **state) {
    (void)state;
    const Case c = {"brick", {5, 17, 20}, {3, 6, 1}};
    double want = flip_time(c.inertia, c.spin), coarse = measured_flip(&c, 0.02, 20) - want;
    double fine = measured_flip(&c, 0.01, 20) - want;
    print_message("brick: a flip is off by %.2e s, with half the step by %.2e s\n", coarse, fine);
    assert_true(fabs(coarse / fine) > 3.5 && fabs(coarse / fine) < 4.5);
}

// --- a heavy top ----------------------------------------------------------------------------------------------

// The mean rate of precession of a top on a ball joint, over some seconds of steady precession at 30 degrees.
static double precession(double step) {
    const double tilt = PI / 6, arm = 0.05, spin = 200, steady = 4.9;
    SandWorld world = lab_world(0);
    SandShape shape;
    SandBodyDef def = sand_default_body();
    SandJointDef joint = sand_default_joint();
    world.step = step;
    assert_true(sand_shape_cylinder(&shape, 0.04, 0.01, NULL));
    def.shape = sand_world_add_shape(&world, &shape, NULL);
    def.pose.rotation = q_exp(v3_make(0, tilt, 0));
    SandVec3 axis = q_rotate(def.pose.rotation, v3_make(0, 0, 1));
    def.pose.position = v3_scale(arm, axis);
    def.spin = v3_add(v3_scale(spin, axis), v3_make(0, 0, steady));
    def.velocity = v3_cross(def.spin, def.pose.position);
    joint.b = sand_world_add_body(&world, &def, NULL);
    joint.kind = SAND_JOINT_BALL;
    assert_true(sand_world_add_joint(&world, &joint, NULL) >= 0);
    SandSimulation *sim = lab_exact(&world);
    double turned = 0, last = 0;
    for (int k = 0; k < (int)(1 / step + 0.5); k++) {
        lab_step(sim);
        SandVec3 p = sand_simulation_world(sim)->position[0];
        double angle = atan2(p.y, p.x);
        turned += remainder(angle - last, 2 * PI);
        last = angle;
    }
    sand_simulation_free(sim);
    return turned;
}

static void a_top_precesses(void **state) {
    (void)state;
    double exact = precession(0.000125), coarse = precession(0.002) - exact, fine = precession(0.001) - exact;
    print_message("heavy top: %.5f rad/s, off by %.2e, with half the step by %.2e\n", exact, coarse, fine);
    assert_true(fabs(fine) < 0.4 * fabs(coarse));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energy_is_kept),   cmocka_unit_test(a_simulation_keeps_it_too), cmocka_unit_test(a_t_handle_flips),
        cmocka_unit_test(the_order_is_two), cmocka_unit_test(a_top_precesses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
