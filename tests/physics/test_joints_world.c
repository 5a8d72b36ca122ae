// SPDX-License-Identifier: MIT
// Joints in a world: what is refused, what is kept (momentum, places, bits), and what joints do to collisions.
#include "tests/lab/lab.h"
#include "sim/step/checkpoint.h"

static int join(SandWorld *world, const SandJointDef *def) {
    SandError error = {""};
    int joint = sand_world_add_joint(world, def, &error);
    if (joint < 0) fail_msg("%s", error.text);
    return joint;
}

// Expects a joint to be refused with these words.
static void refused(SandWorld *world, const SandJointDef *def, const char *words) {
    SandError error = {""};
    int count = world->joint_count;
    assert_int_equal(sand_world_add_joint(world, def, &error), -1);
    if (!strstr(error.text, words)) fail_msg("\"%s\" does not say \"%s\"", error.text, words);
    assert_int_equal(world->joint_count, count);
}

static void wrong_joints_are_refused(void **state) {
    (void)state;
    SandWorld world = lab_world(0.3);
    lab_body(&world, 0, 0.1, v3_make(0, 0, 0));
    lab_body(&world, 0, 0.1, v3_make(1, 0, 0));
    SandJointDef def = sand_default_joint();
    def.b = 2;
    refused(&world, &def, "there is no body 2");
    def.b = -1;
    refused(&world, &def, "there is no body -1");
    def.b = def.a = 1;
    refused(&world, &def, "to itself");
    def = sand_default_joint();
    def.kind = SAND_JOINT_HINGE;
    def.axis = v3_make(0, 0, 0);
    refused(&world, &def, "the axis has length 0");
    def.axis = v3_make(0, 0, 1);
    def.drive.low = 1;
    def.drive.high = -1;
    refused(&world, &def, "cross");
    def.drive.low = -4;
    def.drive.high = 4;
    refused(&world, &def, "less than a turn");
    def = sand_default_joint();
    def.drive.stiffness = 3;
    refused(&world, &def, "a ball joint has no limits, motor or spring");
    def = sand_default_joint();
    def.kind = SAND_JOINT_UNIVERSAL;
    def.axis_b = v3_make(0, 1, 1);
    refused(&world, &def, "right angle");
    def = sand_default_joint();
    def.kind = SAND_JOINT_ROPE;
    refused(&world, &def, "two ends");
    sand_world_free(&world);
}

// A clump of three balls: the inertia of its axes differs.
static int clump(SandWorld *world) {
    SandShapeSphere balls[3] = {{{0, 0, 0}, 0.1}, {{0.15, 0, 0}, 0.08}, {{0, 0.12, 0}, 0.06}};
    SandShape shape;
    SandError error = {""};
    if (!sand_shape_clump(&shape, balls, 3, &error)) fail_msg("%s", error.text);
    return sand_world_add_shape(world, &shape, &error);
}

static SandVec3 place_of(const SandWorld *w, int body, SandVec3 local) {
    return v3_add(w->position[body], q_rotate(w->rotation[body], local));
}

// Two tumbling clumps in free fall, held together by each kind of joint: momentum is kept, the joint holds, and the same
// bits come with any number of threads.
static uint64_t tumble(SandJointKind kind, int threads, double *drift) {
    SandWorld world = lab_world(0.3);
    world.gravity = v3_make(0, 0, 0);
    world.step = 0.001;
    int shape = clump(&world), a = lab_body(&world, shape, 1, v3_make(0, 0, 0)), b;
    b = lab_body(&world, shape, 1.2, v3_make(0.6, 0.1, 0));
    world.spin[a] = v3_make(2, -1, 3);
    world.velocity[b] = v3_make(0.3, -0.5, 1);
    world.spin[b] = v3_make(-1, 2, 0.5);
    SandJointDef def = sand_default_joint();
    def.kind = kind;
    def.a = a;
    def.b = b;
    def.anchor = v3_make(0.3, 0, 0.1);
    def.anchor_b = v3_make(0.7, 0.1, 0.2);
    def.axis = v3_make(1, 2, -1);
    def.axis_b = v3_make(1, 0, 1);
    join(&world, &def);
    SandSimulationDef settings = sand_default_simulation();
    settings.precision = SAND_DOUBLE;
    settings.threads = threads;
    settings.solve.iterations = 2000;
    settings.solve.tolerance = 1e-12;
    SandSimulation *sim = lab_simulation(&world, &settings);
    lab_step(sim); // the velocities of the start do not fit the joint
    const SandWorld *w = sand_simulation_world(sim);
    const SandJoint *j = &w->joints[0];
    SandVec3 momentum = sand_world_momentum(w), turning = sand_world_angular_momentum(w);
    for (int k = 0; k < 2000; k++) {
        lab_step(sim);
        SandVec3 apart = v3_sub(place_of(w, b, j->anchor_b), place_of(w, a, j->anchor_a));
        SandVec3 axis_a = q_rotate(w->rotation[a], j->axis_a), axis_b = q_rotate(w->rotation[b], j->axis_b);
        SandQuat off = q_mul(w->rotation[b], q_conjugate(q_mul(w->rotation[a], j->rest)));
        double turned = v3_length(q_log(off)), e = v3_length(apart), off_axis = v3_length(v3_cross(axis_a, axis_b));
        if (kind == SAND_JOINT_SLIDER) e = v3_length(v3_cross(apart, axis_a));
        if (kind == SAND_JOINT_ROD) e = fabs(e - j->drive.low);
        if (kind == SAND_JOINT_ROPE) e = fmax(e - j->drive.high, 0);
        *drift = fmax(*drift, e);
        if (kind == SAND_JOINT_HINGE) *drift = fmax(*drift, off_axis);
        if (kind == SAND_JOINT_FIXED || kind == SAND_JOINT_SLIDER) *drift = fmax(*drift, turned);
        if (kind == SAND_JOINT_UNIVERSAL) *drift = fmax(*drift, fabs(v3_dot(axis_a, axis_b)));
    }
    NEAR(v3_length(v3_sub(sand_world_momentum(w), momentum)), 0, 1e-8);
    NEAR(v3_length(v3_sub(sand_world_angular_momentum(w), turning)) / v3_length(turning), 0, 2e-3);
    uint64_t hash = sand_world_hash(w);
    sand_simulation_free(sim);
    return hash;
}

static void every_kind_holds(void **state) {
    (void)state;
    for (int kind = 0; kind < SAND_JOINT_KINDS; kind++) {
        double drift = 0;
        if (kind == SAND_JOINT_DISTANCE) continue; // holds nothing
        uint64_t one = tumble((SandJointKind)kind, 1, &drift), two = tumble((SandJointKind)kind, 2, &drift);
        print_message("%s: drifts by at most %.1e m or rad\n", sand_joint_kind_name((SandJointKind)kind), drift);
        assert_true(one == two);
        assert_true(drift < 1e-4);
    }
}

// Overlapping balls that are joined do not collide, unless the joint says so.
static void joined_bodies_pass_through_each_other(void **state) {
    (void)state;
    for (int collide = 0; collide < 2; collide++) {
        SandWorld world = lab_world(0.3);
        int a = lab_body(&world, 0, 0.5, v3_make(0, 0, 0)), b = lab_body(&world, 0, 0.5, v3_make(0.9, 0, 0));
        lab_body(&world, 0, 0.5, v3_make(1.8, 0, 0)); // joined to nobody
        SandJointDef def = sand_default_joint();
        def.a = a;
        def.b = b;
        def.anchor = v3_make(0.45, 0, 0);
        def.collide = collide;
        join(&world, &def);
        SandSimulation *sim = lab_exact(&world);
        assert_true(sand_simulation_build(sim, NULL));
        const SandProblem *p = sand_simulation_problem(sim);
        assert_int_equal(p->joint_count, 1);
        assert_int_equal(p->contact_count - p->joint_count, collide ? 2 : 1);
        sand_simulation_free(sim);
    }
}

// The impulse of a joint is found again in the next step, also where the solver indices have changed their order.
static void joints_are_warm_started(void **state) {
    (void)state;
    SandWorld world = lab_world(0.3);
    int a = lab_body(&world, 0, 0.2, v3_make(0.5, 0, 0)), b = lab_body(&world, 0, 0.2, v3_make(1.5, 0, 0));
    SandJointDef def = sand_default_joint();
    def.kind = SAND_JOINT_HINGE;
    def.axis = v3_make(0, 1, 0);
    def.b = a;
    join(&world, &def);
    def.a = a;
    def.b = b;
    def.anchor = v3_make(1, 0, 0);
    join(&world, &def);
    SandSimulation *sim = lab_exact(&world);
    lab_step(sim);
    bool first = sand_simulation_order(sim)[0] == a, changed = false;
    for (int k = 0; k < 200; k++) { // a double pendulum swings through
        lab_step(sim);
        assert_int_equal(sand_simulation_counters(sim)->warm_started, 4);
        changed = changed || first != (sand_simulation_order(sim)[0] == a);
    }
    assert_true(changed);
    sand_simulation_free(sim);
}

// A motor whose target was changed is as it was after going back, and the run gives the same bits.
static void checkpoints_have_the_drives(void **state) {
    (void)state;
    SandWorld world = lab_world(0.3);
    int wheel = lab_body(&world, 0, 0.2, v3_make(0.5, 0, 0));
    SandJointDef def = sand_default_joint();
    def.kind = SAND_JOINT_HINGE;
    def.axis = v3_make(0, 1, 0);
    def.b = wheel;
    def.drive.motor = SAND_MOTOR_SPEED;
    def.drive.target = 2;
    def.drive.strength = 100;
    join(&world, &def);
    SandSimulation *sim = lab_exact(&world);
    SandCheckpoint checkpoint = {0};
    lab_run(sim, 10);
    assert_true(sand_simulation_save_state(sim, &checkpoint, NULL));
    lab_run(sim, 10);
    uint64_t want = sand_world_hash(sand_simulation_world(sim));
    sand_simulation_change(sim)->joints[0].drive.target = -5;
    lab_run(sim, 10);
    assert_true(sand_simulation_restore_state(sim, &checkpoint, NULL));
    lab_run(sim, 10);
    assert_true(sand_world_hash(sand_simulation_world(sim)) == want);
    sand_checkpoint_free(&checkpoint);
    sand_simulation_free(sim);
}

// A joint of a body that has left the world holds nobody.
static void joints_of_lost_bodies_are_idle(void **state) {
    (void)state;
    SandWorld world = lab_world(0.3);
    int a = lab_body(&world, 0, 0.2, v3_make(0, 0, 0)), b = lab_body(&world, 0, 0.2, v3_make(1, 0, 0));
    SandJointDef def = sand_default_joint();
    def.a = a;
    def.b = b;
    def.anchor = v3_make(0.5, 0, 0);
    join(&world, &def);
    world.gone[b] = 1;
    SandSimulation *sim = lab_exact(&world);
    lab_run(sim, 10);
    assert_int_equal(sand_simulation_counters(sim)->contacts, 0);
    NEAR(sand_simulation_world(sim)->position[a].x, 0, 0);
    sand_simulation_free(sim);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_joints_are_refused),
        cmocka_unit_test(every_kind_holds),
        cmocka_unit_test(joined_bodies_pass_through_each_other),
        cmocka_unit_test(joints_are_warm_started),
        cmocka_unit_test(checkpoints_have_the_drives),
        cmocka_unit_test(joints_of_lost_bodies_are_idle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
