// SPDX-License-Identifier: MIT
// Forces and torques that a caller puts on bodies for a step, against mechanics by hand: momentum and angular momentum, a
// weight that is carried, and what no step may miss of what is pushed hard.
#include "tests/lab/lab.h"
#include "sandglass/checkpoint.h"
#include "sandglass/solver.h"

static void apply(SandSimulation *sim, const SandForces *forces) {
    SandError error = {""};
    if (!sand_simulation_apply_force(sim, forces, &error)) fail_msg("%s", error.text);
}

static void push(SandSimulation *sim, int body, SandVec3 force, SandVec3 torque) {
    apply(sim, &(SandForces){.count = 1, .body = &body, .force = &force, .torque = &torque});
}

static SandWorld weightless(void) {
    SandWorld world = lab_world(0.5);
    world.gravity = v3_make(0, 0, 0);
    return world;
}

// v' = v + h f / m and x' = x + h v', so that after n steps v = n h f / m and x = h^2 n (n + 1) / 2 f / m, to rounding. A
// step without a force after that keeps the velocity.
static void a_constant_force_accelerates(void **state) {
    (void)state;
    SandWorld world = weightless();
    lab_body(&world, 0, 0.1, v3_make(0, 0, 0));
    SandSimulation *sim = lab_exact(&world);
    const SandWorld *w = sand_simulation_world(sim);
    double h = w->step, each = 3 / w->mass[0];
    for (int n = 1; n <= 100; n++) {
        push(sim, 0, v3_make(1, 0, 0), v3_make(0, 0, 0));
        push(sim, 0, v3_make(2, 0, 0), v3_make(0, 0, 0)); // both count
        lab_step(sim);
        NEAR(w->velocity[0].x, n * h * each, 1e-13);
        NEAR(w->position[0].x, 0.5 * n * (n + 1) * h * h * each, 1e-12);
    }
    double last = w->velocity[0].x;
    lab_step(sim);
    assert_true(w->velocity[0].x == last && !w->force && !w->torque);
    sand_simulation_free(sim);
}

// The angular momentum of a box that spins about none of its axes grows by h times the torque in every step, to rounding; a
// force at a point has the moment of its arm.
static void a_torque_turns_a_spinning_box(void **state) {
    (void)state;
    SandWorld world = weightless();
    SandShape box;
    assert_true(sand_shape_box(&box, v3_make(0.1, 0.2, 0.35), NULL));
    lab_body(&world, sand_world_add_shape(&world, &box, NULL), 1, v3_make(1, 2, 3));
    world.spin[0] = v3_make(2, -3, 1);
    SandSimulation *sim = lab_exact(&world);
    const SandWorld *w = sand_simulation_world(sim);
    SandVec3 torque = v3_make(5, 20, -10), force = v3_make(30, 0, 40), arm = v3_make(0.3, -0.2, 0.1);
    SandVec3 start = sand_body_spin_momentum(w, 0), each = v3_scale(w->step, v3_add(torque, v3_cross(arm, force)));
    int body = 0;
    for (int n = 1; n <= 200; n++) {
        SandVec3 at = v3_add(w->position[0], arm);
        apply(sim, &(SandForces){.count = 1, .body = &body, .force = &force, .torque = &torque, .at = &at});
        lab_step(sim);
        SandVec3 off = v3_sub(sand_body_spin_momentum(w, 0), v3_madd(start, n, each));
        NEAR(v3_length(off), 0, 1e-10 * v3_length(start));
    }
    NEAR(v3_length(v3_sub(sand_world_momentum(w), v3_scale(200 * w->step, force))), 0, 1e-9);
    sand_simulation_free(sim);
}

// With every method: a ball on the ground that a force of its weight lifts feels no ground, and one that is pressed down as
// well feels the sum. The methods are given a budget in which they find the one contact of a ball.
static void a_force_carries_the_weight(void **state) {
    (void)state;
    for (int solver = 0; solver < sand_solver_count(); solver++) {
        SandSimulationDef def = sand_default_simulation();
        SandWorld world = lab_world(0.5);
        lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
        for (int k = 0; k < 2; k++) lab_body(&world, 0, 0.1, v3_make(k, 0, 0.1));
        def.precision = SAND_DOUBLE;
        def.threads = 1;
        def.solve = sand_default_solve();
        sand_solve_choose(&def.solve, solver);
        def.solve.iterations = 500;
        for (int f = 0; !sand_solver_can(solver, def.solve.friction); f++) def.solve.friction = (SandFriction)f;
        SandSimulation *sim = lab_simulation(&world, &def);
        const SandWorld *w = sand_simulation_world(sim);
        double weight = GRAVITY * w->mass[0];
        for (int n = 0; n < 20; n++) {
            push(sim, 0, v3_make(0, 0, weight), v3_make(0, 0, 0));
            push(sim, 1, v3_make(0, 0, -2 * weight), v3_make(0, 0, 0));
            lab_step(sim);
        }
        const SandProblem *p = sand_simulation_problem(sim);
        const SandSolution *s = sand_simulation_solution(sim);
        double sum = 0;
        for (int i = 0; i < p->contact_count; i++) sum += fabs(s->impulse[i].z) / w->step;
        NEAR(w->position[0].z, 0.1, 1e-6);
        NEAR(sum, 3 * weight, 1e-3 * weight);
        sand_simulation_free(sim);
    }
}

// Pairs of opposite forces change no sum, whatever collides: momentum stays zero, to the rounding of its terms.
static void opposite_forces_keep_the_momentum(void **state) {
    (void)state;
    SandWorld world = weightless();
    SandRandom random = sand_random(3);
    for (int i = 0; i < 216; i++) lab_body(&world, 0, 0.1, v3_make(0.21 * (i % 6), 0.21 * (i / 6 % 6), 0.21 * (i / 36)));
    SandSimulation *sim = lab_exact(&world);
    const SandWorld *w = sand_simulation_world(sim);
    double largest = 0;
    for (int n = 0; n < 100; n++) {
        int body[2] = {(int)(216 * sand_random_unit(&random)), (int)(216 * sand_random_unit(&random))};
        SandVec3 force = v3_make(500 * sand_random_signed(&random), 500 * sand_random_signed(&random), 100);
        apply(sim, &(SandForces){.count = 2, .body = body, .force = (SandVec3[]){force, v3_neg(force)}});
        lab_step(sim);
        largest = fmax(largest, v3_length(w->velocity[body[0]]) * w->mass[0]);
        NEAR(v3_length(sand_world_momentum(w)), 0, 1e-10);
    }
    assert_true(largest > 1 && sand_simulation_counters(sim)->contacts > 100);
    sand_simulation_free(sim);
}

// A force that crosses a gap of five radii within a step does not carry a body through the ground, nor past a ball: contacts
// are looked for as far as it reaches.
static void what_is_pushed_hard_passes_nothing(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        SandWorld world = weightless();
        SandShape box;
        assert_true(sand_shape_box(&box, v3_make(0.1, 0.1, 0.1), NULL));
        int boxes = sand_world_add_shape(&world, &box, NULL), shape = k % 2 ? boxes : 0;
        lab_plane(&world, v3_make(0, 0, k < 2 ? 0 : -50), v3_make(0, 0, 1));
        int body = lab_body(&world, shape, shape ? 1 : 0.1, v3_make(0, 0, 0.6));
        if (k >= 2) lab_body(&world, 0, 0.1, v3_make(0, 0, 0));
        SandSimulation *sim = lab_exact(&world);
        const SandWorld *w = sand_simulation_world(sim);
        push(sim, body, v3_make(0, 0, -w->mass[body] / (w->step * w->step)), v3_make(0, 0, 0)); // 1 m in a step
        lab_step(sim);
        if (k < 2) NEAR(w->position[body].z, 0.1, 1e-9);
        if (k >= 2) NEAR(w->position[body].z - w->position[1].z, 0.2, 1e-9);
        sand_simulation_free(sim);
    }
}

// A force is to the laws of impact what gravity is (sim/step/laws.inl): a ball that is pushed down by its weight bounces as
// one that falls, step by step, and so does one that is pushed onto another.
static SandSimulation *bouncing(bool pushed, bool apart) {
    SandWorld world = weightless();
    lab_set_laws(&world, 0, 0.7, 0);
    if (!pushed) world.gravity = v3_make(0, 0, -GRAVITY);
    lab_plane(&world, v3_make(0, 0, apart ? -9 : 0), v3_make(0, 0, 1));
    lab_body(&world, 0, 0.1, v3_make(0, 0, 0.63));
    if (apart) lab_body(&world, 0, 0.1, v3_make(0, 0, -0.63));
    return lab_exact(&world);
}

static void a_pushed_ball_bounces_as_a_falling_one(void **state) {
    (void)state;
    SandSimulation *fall = bouncing(false, false), *push_down = bouncing(true, false), *together = bouncing(true, true);
    const SandWorld *w = sand_simulation_world(fall), *p = sand_simulation_world(push_down),
                    *t = sand_simulation_world(together);
    SandVec3 down = v3_make(0, 0, -GRAVITY * w->mass[0]), none = v3_make(0, 0, 0);
    int rises = 0;
    for (int n = 0; n < 120; n++) {
        push(push_down, 0, down, none);
        push(together, 0, down, none);
        push(together, 1, v3_neg(down), none);
        lab_step(fall);
        lab_step(push_down);
        lab_step(together);
        rises += w->velocity[0].z > 0.5;
        NEAR(p->position[0].z, w->position[0].z, 1e-9);
        NEAR(t->position[0].z - t->position[1].z - 0.2, 2 * (w->position[0].z - 0.1), 1e-3);
    }
    assert_true(rises > 20);
    sand_simulation_free(fall);
    sand_simulation_free(push_down);
    sand_simulation_free(together);
}

// A body that rests wakes in the step in which it is pushed, and moves as one that never slept.
static void a_push_wakes(void **state) {
    (void)state;
    SandWorld world = lab_world(0);
    world.sleep_speed = 0.001;
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    lab_body(&world, 0, 0.1, v3_make(0, 0, 0.1));
    SandSimulation *sim = lab_exact(&world);
    const SandWorld *w = sand_simulation_world(sim);
    lab_run(sim, 90);
    assert_int_equal(sand_simulation_counters(sim)->asleep, 1);
    push(sim, 0, v3_make(w->mass[0], 0, 0), v3_make(0, 0, 0));
    lab_step(sim);
    NEAR(w->velocity[0].x, w->step, 1e-12);
    assert_int_equal(sand_simulation_counters(sim)->asleep, 0);
    sand_simulation_free(sim);
}

static void refused(SandSimulation *sim, const SandForces *forces, const char *words) {
    SandError error = {""};
    assert_false(sand_simulation_apply_force(sim, forces, &error));
    if (!strstr(error.text, words)) fail_msg("\"%s\" does not say \"%s\"", error.text, words);
    assert_null(sand_simulation_world(sim)->force);
}

static void wrong_forces_are_refused(void **state) {
    (void)state;
    SandWorld world = weightless();
    for (int k = 0; k < 4; k++) lab_body(&world, 0, 0.1, v3_make(k, 0, 0));
    SandSimulation *sim = lab_exact(&world);
    SandVec3 fine = v3_make(1, 0, 0), force[] = {fine, v3_make(0, NAN, 0)}, huge[] = {fine, v3_make(1e30, 0, 0)};
    int body[] = {0, 3}, beyond[] = {0, 4}, below[] = {-1, 0};
    SandError error = {""};
    refused(sim, &(SandForces){.count = 2, .body = body, .force = force}, "body 3: its force (0, nan, 0) N is not finite");
    refused(sim, &(SandForces){.count = 2, .body = body, .torque = force}, "body 3: its torque (0, nan, 0) N m is not");
    refused(sim, &(SandForces){.count = 2, .body = body, .force = huge}, "body 3: its force (1e+30, 0, 0) N carries it far");
    refused(sim, &(SandForces){.count = 2, .body = body, .torque = huge}, "body 3: its torque (1e+30, 0, 0) N m turns");
    refused(sim, &(SandForces){.count = 2, .body = body, .force = huge, .at = force}, "body 3: the point (0, nan, 0) m");
    refused(sim, &(SandForces){.count = 2, .body = beyond, .force = huge}, "force 1: there is no body 4");
    refused(sim, &(SandForces){.count = 2, .body = below, .force = huge}, "force 0: there is no body -1");
    refused(sim, &(SandForces){.count = 5, .force = (SandVec3[5]){{0, 0, 0}}}, "force 4: there is no body 4");
    sand_simulation_change_bodies(sim, &error)->shape[3] = 1 << 30;
    refused(sim, &(SandForces){.count = 2, .body = body, .torque = (SandVec3[2]){fine, fine}}, "body 3: there is no shape");
    sand_simulation_change_bodies(sim, &error)->shape[3] = 0;
    assert_false(sand_simulation_apply_device_force(sim, &fine, NULL, &error));
    assert_string_equal(error.text, "the backend cpu takes no arrays of forces on a device");
    lab_step(sim);
    assert_true(sand_simulation_world(sim)->velocity[0].x == 0);
    sand_simulation_free(sim);
}

// A pile that is stirred: the same bits with any number of threads, after a state was restored, and where a body was added
// between the forces and the step. A state has no forces of a coming step.
static uint64_t stirred(int threads, bool restores) {
    SandWorld world = lab_pile(0.01);
    SandSimulationDef def = sand_default_simulation();
    SandError error = {""};
    def.threads = threads;
    def.solve.iterations = 20;
    SandSimulation *sim = lab_simulation(&world, &def);
    const SandWorld *w = sand_simulation_world(sim);
    for (int n = 0; n < 60; n++) {
        SandVec3 force[LAB_PILE];
        for (int i = 0; i < LAB_PILE; i++) force[i] = v3_make(30 * sin(i + 0.1 * n), 30 * cos(0.7 * i), 10 * sin(0.2 * n));
        apply(sim, &(SandForces){.count = LAB_PILE, .force = force, .torque = force});
        if (restores && n == 30) {
            void *bytes;
            size_t size;
            assert_true(sand_simulation_save(sim, &bytes, &size, &error));
            lab_step(sim);
            apply(sim, &(SandForces){.count = LAB_PILE, .force = force});
            assert_true(sand_simulation_restore(sim, bytes, size, &error) && !w->force);
            apply(sim, &(SandForces){.count = LAB_PILE, .force = force, .torque = force});
            sand_free(bytes);
        }
        if (n == 45) lab_body(sand_simulation_change_bodies(sim, &error), 0, 0.1, v3_make(0, 0, 8));
        lab_step(sim);
    }
    uint64_t hash = sand_world_hash(w);
    sand_simulation_free(sim);
    return hash;
}

static void threads_and_states_make_no_difference(void **state) {
    (void)state;
    uint64_t one = stirred(1, false);
    for (int threads = 2; threads <= 4; threads++) assert_true(stirred(threads, false) == one);
    assert_true(stirred(2, true) == one);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_constant_force_accelerates),
                                       cmocka_unit_test(a_torque_turns_a_spinning_box),
                                       cmocka_unit_test(a_force_carries_the_weight),
                                       cmocka_unit_test(opposite_forces_keep_the_momentum),
                                       cmocka_unit_test(what_is_pushed_hard_passes_nothing),
                                       cmocka_unit_test(a_pushed_ball_bounces_as_a_falling_one),
                                       cmocka_unit_test(a_push_wakes),
                                       cmocka_unit_test(wrong_forces_are_refused),
                                       cmocka_unit_test(threads_and_states_make_no_difference)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
