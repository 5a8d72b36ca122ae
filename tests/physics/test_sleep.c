// SPDX-License-Identifier: MIT
// What rests is left out of the solve (sim/step/sleep.inl): it must stand as it would otherwise, cost nothing, and wake for
// every reason that there is to wake.
#include "tests/lab/lab.h"
#include "sim/step/checkpoint.h"
#include "sim/step/sleep.inl"

enum { SETTLED = 500 };

static SandSimulation *settle(SandWorld *world, int threads) {
    SandSimulationDef def = sand_default_simulation();
    def.threads = threads;
    def.solve.iterations = 50;
    SandSimulation *sim = lab_simulation(world, &def);
    lab_run(sim, SETTLED);
    return sim;
}

static double fastest(const SandSimulation *sim) {
    const SandWorld *w = sand_simulation_world(sim);
    double most = 0;
    for (int i = 0; i < w->body_count; i++) most = fmax(most, v3_length(w->velocity[i]));
    return most;
}

// The sums in fixed point against plain ones in double.
static void impulses_on_a_resting_body_are_summed(void **state) {
    (void)state;
    SandWorld w = lab_world(0.3);
    int body[] = {lab_body(&w, 0, 0.2, v3_make(1, 2, 3))}, index[] = {0};
    uint32_t touches[] = {TOUCHES_AWAKE};
    FixedSum sum[1] = {{{0}, {0}}};
    SleepArrays sleep = {touches, sum};
    SandCollision collision = {.body = body, .solver_index = index, .body_count = 1};
    SandVec3 velocity = v3_make(0.1, 0, 0), spin = v3_make(0, 0.2, 0), v = velocity, s = spin;
    double j = 1 / w.inertia[0].x;
    SandRandom random = sand_random(7);
    w.sleep_speed = 0.001;
    w.sleep[0] = SLEEP_STEPS;
    for (int k = 0; k < 12; k++) {
        SandVec3 g =
            v3_make(sand_random_unit(&random) - 0.5, sand_random_unit(&random) - 0.5, 20 * sand_random_unit(&random));
        SandVec3 point = v3_add(w.position[0], v3_make(0.2 * sand_random_unit(&random), 0.1, -0.1));
        SandContactCandidate c = {.index_a = 0, .b = -1, .point = point};
        SandVec3 torque = v3_scale(0.05, v3_make(g.y, g.x, 0.1));
        sleep_add_contact(&w, &collision, &c, g, torque, sleep);
        v = v3_madd(v, -1 / w.mass[0], g);
        s = v3_madd(s, -j, v3_add(v3_cross(v3_sub(point, w.position[0]), g), torque));
    }
    SandProblemBody free = {.inverse_mass = 1 / w.mass[0], .inverse_inertia = {j, j, j}, .velocity = velocity, .spin = spin};
    sleep_motion(&w, 0, sum, &free, &velocity, &spin);
    NEAR(v3_length(v3_sub(velocity, v)), 0, 1e-10);
    NEAR(v3_length(v3_sub(spin, s)), 0, 1e-9);
    sand_world_free(&w);
}

// A pile with what rests left out has the height of one that is solved in full, with a part of the contacts to solve.
static void a_pile_rests(void **state) {
    (void)state;
    SandWorld whole = lab_pile(0), leaving = lab_pile(0.001);
    SandSimulation *all = settle(&whole, 2), *some = settle(&leaving, 2);
    const SandCounters *c = sand_simulation_counters(some);
    double height = sand_simulation_energy(all).potential;
    print_message("%d of %d bodies rest, %d of %d contacts are solved, potential energy %.7g of %.7g J\n", c->asleep,
                  c->bodies, c->solved_contacts, c->contacts, sand_simulation_energy(some).potential, height);
    assert_true(c->asleep > 0.5 * c->bodies && c->solved_contacts < 0.6 * c->contacts);
    assert_int_equal(sand_simulation_counters(all)->solved_contacts, sand_simulation_counters(all)->contacts);
    NEAR(sand_simulation_energy(some).potential, height, 1e-4 * height);
    // Which bodies wake once more, and when, is a matter of rounding; in the end they rest, and stay.
    for (int k = 0; k < 40 && c->asleep < 0.9 * c->bodies; k++) lab_run(some, 50);
    assert_true(c->asleep >= 0.9 * c->bodies);
    double last = sand_simulation_energy(some).potential;
    NEAR(last, height, 1e-3 * height);
    lab_run(some, 200);
    NEAR(sand_simulation_energy(some).potential, last, 1e-4 * height);
    assert_true(c->asleep > 0.5 * c->bodies && c->penetration_max < 0.001);
    sand_simulation_free(all);
    sand_simulation_free(some);
}

// A ball on a plate that is gone within a step falls as if it had never rested.
static void nothing_rests_on_what_is_gone(void **state) {
    (void)state;
    SandWorld world = lab_world(0.3);
    world.sleep_speed = 0.001;
    int plate = lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    world.boundaries[plate].moves = true;
    world.boundaries[plate].motion = (SandMotion){.velocity = {0, 0, -1000}, .start = 1, .stop = 1.5};
    lab_body(&world, 0, 0.1, v3_make(0, 0, 0.1));
    SandSimulation *sim = lab_exact(&world);
    lab_run(sim, 90);
    assert_int_equal(sand_simulation_counters(sim)->asleep, 1);
    lab_run(sim, 30);
    const SandWorld *w = sand_simulation_world(sim);
    assert_true(w->velocity[0].z < -GRAVITY * 0.15); // awake within five steps of twenty
    sand_simulation_free(sim);
}

// A box on a ball that is pulled away from under it, within a step and without friction, so that the box feels nothing.
static void nothing_rests_on_what_was_pulled_away(void **state) {
    (void)state;
    SandWorld world = lab_world(0);
    SandShape box;
    world.sleep_speed = 0.001;
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    int ball = lab_body(&world, 0, 0.1, v3_make(0, 0, 0.1));
    assert_true(sand_shape_box(&box, v3_make(0.1, 0.1, 0.1), NULL));
    int above = lab_body(&world, sand_world_add_shape(&world, &box, NULL), 1, v3_make(0, 0, 0.3));
    SandSimulation *sim = lab_exact(&world);
    lab_run(sim, 80);
    assert_int_equal(sand_simulation_counters(sim)->asleep, 2);
    sand_simulation_change(sim)->spring = (SandSpring){.body = ball, .target = {1, 0, 0.1}, .rate = 1000};
    lab_step(sim);
    const SandWorld *w = sand_simulation_world(sim);
    assert_true(w->position[ball].x > 0.5 && w->velocity[above].z == 0);
    lab_run(sim, 10);
    assert_true(w->velocity[above].z < -GRAVITY * 0.07);
    sand_simulation_free(sim);
}

// A ball that falls on resting ones wakes them, and sinks as deep as into a pile that is solved in full.
static double crater(double sleep_speed, int *asleep) {
    SandWorld world = lab_pile(sleep_speed);
    SandBodyDef def = sand_default_body();
    def.scale = 0.2;
    def.mass = 1000;
    def.pose.position = v3_make(0, 0, 3);
    def.enter = 5;
    int ball = sand_world_add_body(&world, &def, NULL);
    SandSimulation *sim = settle(&world, 2);
    *asleep = sand_simulation_counters(sim)->asleep;
    lab_run(sim, 150);
    double depth = sand_simulation_world(sim)->position[ball].z;
    sand_simulation_free(sim);
    return depth;
}

static void a_hit_wakes(void **state) {
    (void)state;
    int none, asleep;
    double deep = crater(0, &none), same = crater(0.001, &asleep);
    print_message("%d rest, then the ball ends at %.4f m; %.4f m if all are solved\n", asleep, same, deep);
    assert_true(none == 0 && asleep > 0.5 * LAB_PILE);
    NEAR(same, deep, 0.05);
}

// Gravity that turns, and friction that is taken away, are noticed at once, also deep inside.
static void a_change_of_settings_wakes(void **state) {
    (void)state;
    SandWorld world = lab_pile(0.001);
    SandSimulation *sim = settle(&world, 2);
    assert_true(sand_simulation_counters(sim)->asleep > 0.5 * LAB_PILE);
    sand_simulation_change(sim)->gravity = v3_make(GRAVITY, 0, 0);
    lab_run(sim, 20);
    assert_int_equal(sand_simulation_counters(sim)->asleep, 0);
    assert_true(fastest(sim) > 0.3);
    sand_simulation_free(sim);

    SandWorld slope = lab_world(0.5);
    slope.gravity = lab_slope(0.3);
    slope.sleep_speed = 0.001;
    lab_plane(&slope, v3_make(0, 0, 0), v3_make(0, 0, 1));
    SandShape box;
    assert_true(sand_shape_box(&box, v3_make(0.1, 0.1, 0.1), NULL));
    lab_body(&slope, sand_world_add_shape(&slope, &box, NULL), 1, v3_make(0, 0, 0.1));
    sim = lab_exact(&slope);
    lab_run(sim, 100);
    assert_int_equal(sand_simulation_counters(sim)->asleep, 1);
    lab_set_pair_friction(sand_simulation_change(sim), 0, 0, 0);
    lab_run(sim, 20);
    assert_true(fastest(sim) > 0.5 * GRAVITY * sin(0.3) * 0.2);
    sand_simulation_free(sim);
}

// What a moving boundary carries does not rest, however slowly it moves.
static void a_slow_boundary_carries(void **state) {
    (void)state;
    SandWorld world = lab_world(0.5);
    world.sleep_speed = 0.001;
    int lift = lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    world.boundaries[lift].moves = true;
    world.boundaries[lift].motion = (SandMotion){.velocity = {0, 0, 0.001}};
    lab_body(&world, 0, 0.1, v3_make(0, 0, 0.1));
    SandSimulation *sim = lab_exact(&world);
    lab_run(sim, 300);
    NEAR(sand_simulation_world(sim)->position[0].z, 0.103, 1e-5);
    sand_simulation_free(sim);
}

// A ball on a rope above a floor with balls that rest: the rope is solved with what is awake, and its ball never rests.
static void what_hangs_does_not_rest(void **state) {
    (void)state;
    SandWorld world = lab_world(0.5);
    SandJointDef rope = sand_default_joint();
    world.sleep_speed = 0.001;
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    for (int k = 0; k < 3; k++) lab_body(&world, 0, 0.1, v3_make(k, 0, 0.1));
    rope.kind = SAND_JOINT_ROPE;
    rope.a = -1;
    rope.b = lab_body(&world, 0, 0.1, v3_make(0, 0, 1));
    rope.anchor = v3_make(0, 0, 2);
    rope.anchor_b = v3_make(0, 0, 1);
    assert_true(sand_world_add_joint(&world, &rope, NULL) >= 0);
    SandSimulation *sim = lab_exact(&world);
    lab_run(sim, 200);
    assert_int_equal(sand_simulation_counters(sim)->asleep, 3);
    NEAR(sand_simulation_world(sim)->position[rope.b].z, 1, 1e-6);
    sand_simulation_free(sim);
}

// The same bits for any number of threads, and from a checkpoint in the midst of it.
static void bits_do_not_change(void **state) {
    (void)state;
    uint64_t hash = 0;
    for (int threads = 1; threads <= 3; threads++) {
        SandWorld world = lab_pile(0.001);
        SandSimulation *sim = settle(&world, threads);
        if (threads == 1) hash = sand_world_hash(sand_simulation_world(sim));
        assert_true(sand_world_hash(sand_simulation_world(sim)) == hash);
        if (threads == 3) {
            SandCheckpoint checkpoint = {0};
            SandError error;
            assert_true(sand_simulation_save_state(sim, &checkpoint, &error));
            lab_run(sim, 50);
            hash = sand_world_hash(sand_simulation_world(sim));
            assert_true(sand_simulation_restore_state(sim, &checkpoint, &error));
            lab_run(sim, 50);
            assert_true(sand_world_hash(sand_simulation_world(sim)) == hash);
            sand_checkpoint_free(&checkpoint);
        }
        sand_simulation_free(sim);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(impulses_on_a_resting_body_are_summed),
        cmocka_unit_test(a_pile_rests),
        cmocka_unit_test(nothing_rests_on_what_is_gone),
        cmocka_unit_test(a_hit_wakes),
        cmocka_unit_test(a_change_of_settings_wakes),
        cmocka_unit_test(a_slow_boundary_carries),
        cmocka_unit_test(nothing_rests_on_what_was_pulled_away),
        cmocka_unit_test(what_hangs_does_not_rest),
        cmocka_unit_test(bits_do_not_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
