// SPDX-License-Identifier: MIT
// What a person does between two steps: pull a body with a spring, turn the glass over, throw a ball in.
#include "tests/lab/lab.h"

static SandSimulation *weightless_ball(void) {
    SandWorld world = lab_world(0.5);
    world.gravity = v3_make(0, 0, 0);
    lab_body(&world, 0, 0.1, v3_make(0, 0, 0));
    return lab_exact(&world);
}

// A critically damped spring brings its point to the target and does not overshoot. Held at its center the ball follows
// x(t) = 1 - (1 + rate t) exp(-rate t); the implicit step is of first order: 3 % at rate h = 0.02.
static void a_spring_draws_a_body(void **state) {
    (void)state;
    SandError error;
    SandSimulation *sim = weightless_ball();
    SandWorld *world = sand_simulation_change(sim);
    world->step = 0.002;
    world->spring = (SandSpring){.body = 0, .target = {1, 0, 0}, .rate = 10};
    double last = 0;
    for (int i = 1; i <= 500; i++) {
        assert_true(sand_simulation_step(sim, &error));
        double x = sand_simulation_world(sim)->position[0].x, t = 0.002 * i;
        NEAR(x, 1 - (1 + 10 * t) * exp(-10 * t), 0.03);
        assert_true(x >= last && x <= 1);
        last = x;
    }
    NEAR(last, 1, 2e-3);
    sand_simulation_free(sim);
}

// However stiff: with rate h = 100 the point is at the target after a step, and stays.
static void a_stiff_spring_is_stable(void **state) {
    (void)state;
    SandError error;
    SandSimulation *sim = weightless_ball();
    sand_simulation_change(sim)->spring = (SandSpring){.body = 0, .point = {0.1, 0, 0}, .target = {1, 1, 0}, .rate = 1e4};
    for (int i = 0; i < 300; i++) assert_true(sand_simulation_step(sim, &error));
    const SandWorld *world = sand_simulation_world(sim);
    SandVec3 held = v3_add(world->position[0], q_rotate(world->rotation[0], v3_make(0.1, 0, 0)));
    NEAR(held.x, 1, 1e-2), NEAR(held.y, 1, 1e-2), NEAR(held.z, 0, 1e-2);
    assert_true(sand_world_kinetic_energy(world) < 1);
    sand_simulation_free(sim);
}

// The glass turns over and stands on its head, exactly, and the sand runs back: no grain is lost on the way.
static void the_glass_turns_over(void **state) {
    (void)state;
    SandScene scene;
    SandError error;
    SandSceneOptions options = {.bodies = 500};
    if (!sand_scene_load(&scene, "hourglass", &options, &error)) fail_msg("%s", error.text);
    SandSimulationDef def = sand_default_simulation();
    def.threads = 2;
    def.solve = scene.solve;
    SandSimulation *sim = lab_simulation(&scene.world, &def);
    for (int i = 0; i < 400; i++) assert_true(sand_simulation_step(sim, &error));
    SandWorld *world = sand_simulation_change(sim);
    SandVec3 middle = v3_scale(0.5, v3_add(scene.view_lower, scene.view_upper));
    SandPose before = sand_boundary_pose(&world->boundaries[0], world->time);
    sand_world_flip(world, 0, middle, v3_make(1, 0, 0), 4);
    for (int i = 0; i < 500; i++) assert_true(sand_simulation_step(sim, &error));
    SandPose after = sand_boundary_pose(&world->boundaries[0], world->time);
    SandVec3 up = q_rotate(after.rotation, v3_make(0, 0, 1)), was = q_rotate(before.rotation, v3_make(0, 0, 1));
    NEAR(up.z, -was.z, 1e-12);
    assert_int_equal(sand_simulation_counters(sim)->lost_total, 0);
    for (int i = 0; i < world->body_count; i++)
        assert_true(sand_boundary_distance(&world->boundaries[0], &after, world->position[i]) > 0);
    sand_simulation_free(sim);
    sand_scene_free(&scene);
}

static void a_ball_is_thrown_in(void **state) {
    (void)state;
    SandError error;
    SandSimulation *sim = weightless_ball();
    assert_true(sand_simulation_step(sim, &error));
    SandBodyDef sphere = sand_default_body();
    sphere.shape = 0;
    sphere.scale = 0.1;
    sphere.pose.position = v3_make(-1, 0, 0);
    sphere.velocity = v3_make(2, 0, 0);
    assert_int_equal(sand_world_add_body(sand_simulation_change(sim), &sphere, &error), 1);
    for (int i = 0; i < 100; i++) assert_true(sand_simulation_step(sim, &error));
    // Head on and without rebound: both go on with half the speed.
    NEAR(sand_simulation_world(sim)->velocity[0].x, 1, 1e-6);
    NEAR(sand_simulation_world(sim)->velocity[1].x, 1, 1e-6);
    sand_simulation_free(sim);
}

// Contacts that are handed over keep the impulses of their step: those of a ball at rest carry its weight. The simulation
// goes on with arrays of its own, to the same bits as one that kept them.
static void released_contacts_outlive_the_step(void **state) {
    (void)state;
    SandError error;
    SandProblem problem;
    SandSolution solution;
    SandSimulation *sims[2];
    for (int k = 0; k < 2; k++) {
        SandWorld world = lab_world(0.5);
        lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
        lab_body(&world, 0, 0.1, v3_make(0, 0, 0.1));
        sims[k] = lab_exact(&world);
        for (int i = 0; i < 20; i++) assert_true(sand_simulation_step(sims[k], &error));
    }
    const SandWorld *world = sand_simulation_world(sims[0]);
    sand_simulation_release_contacts(sims[0], &problem, &solution);
    assert_int_equal(sand_simulation_solved_contacts(sims[0]), 0);
    for (int i = 0; i < 20; i++)
        for (int k = 0; k < 2; k++) assert_true(sand_simulation_step(sims[k], &error));
    assert_int_equal(problem.contact_count, 1);
    NEAR(v3_dot(solution.impulse[0], problem.contacts[0].normal), world->mass[0] * GRAVITY * world->step, 1e-9);
    assert_true(solution.impulse != sand_simulation_solution(sims[0])->impulse);
    assert_true(sand_world_hash(world) == sand_world_hash(sand_simulation_world(sims[1])));
    sand_problem_free(&problem);
    sand_solution_free(&solution);
    for (int k = 0; k < 2; k++) sand_simulation_free(sims[k]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_spring_draws_a_body), cmocka_unit_test(a_stiff_spring_is_stable),
                                       cmocka_unit_test(the_glass_turns_over), cmocka_unit_test(a_ball_is_thrown_in),
                                       cmocka_unit_test(released_contacts_outlive_the_step)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
