// SPDX-License-Identifier: MIT
// Convex bodies that spin do not turn into each other within a step (sim/step/second_look.inl), and what overlaps all
// the same is pushed apart without being thrown.
#include "tests/lab/lab.h"
#include "sim/step/build_problem.inl"

// The deepest overlap while bodies of all kinds come to rest in a box (m); `walls`: into its walls.
static double deepest_in_a_box(uint64_t seed, double *walls) {
    SandScene scene;
    SandError error;
    SandSceneOptions options = {.has_seed = true, .seed = seed};
    if (!sand_scene_load(&scene, SAND_SOURCE_DIR "/tests/lab/settle.yaml", &options, &error)) fail_msg("%s", error.text);
    SandSimulationDef def = {.threads = 1, .precision = SAND_FLOAT, .solve = scene.solve};
    SandSimulation *sim = lab_simulation(&scene.world, &def);
    sand_scene_free(&scene);
    double deepest = *walls = 0;
    for (int k = 0; k < 600; k++) {
        lab_step(sim);
        deepest = fmax(deepest, sand_simulation_counters(sim)->penetration_max);
        *walls = fmax(*walls, sand_simulation_counters(sim)->penetration_walls);
    }
    sand_simulation_free(sim);
    return deepest;
}

static void bodies_that_spin_do_not_overlap(void **state) {
    (void)state;
    for (uint64_t seed = 2; seed < 5; seed++) {
        double walls, deepest = deepest_in_a_box(seed, &walls);
        print_message("seed %d: %.2f mm deep, %.2f mm into walls; bodies are 30 mm thick\n", (int)seed, 1e3 * deepest,
                      1e3 * walls);
        assert_true(deepest < 0.5e-3);
    }
}

// A bar that spins about its middle beside a post, which its end meets in the course of the step: h w is half a radian.
static double bar_into_post(double step) {
    SandWorld world = lab_world(0);
    SandShape bar, post;
    world.gravity = v3_make(0, 0, 0);
    world.step = step;
    assert_true(sand_shape_box(&bar, v3_make(0.5, 0.05, 0.05), NULL));
    assert_true(sand_shape_box(&post, v3_make(0.05, 0.05, 0.5), NULL));
    int spinning = lab_body(&world, sand_world_add_shape(&world, &bar, NULL), 1, v3_make(0, 0, 0));
    lab_body(&world, sand_world_add_shape(&world, &post, NULL), 1, v3_make(0, 0.48, 0));
    world.spin[spinning] = v3_make(0, 0, 50);
    SandSimulation *sim = lab_exact(&world);
    double deepest = 0;
    for (int k = 0; k < (int)(0.1 / step); k++) {
        lab_step(sim);
        deepest = fmax(deepest, sand_simulation_counters(sim)->penetration_max);
    }
    sand_simulation_free(sim);
    return deepest;
}

static void a_bar_does_not_turn_into_a_post(void **state) {
    (void)state;
    double coarse = bar_into_post(0.01), fine = bar_into_post(0.001);
    print_message("bar: %.3f mm deep at 10 ms, %.3f mm at 1 ms\n", 1e3 * coarse, 1e3 * fine);
    assert_true(coarse < 2e-3 && fine < 2e-3); // of 100 mm
}

// Boxes on each other, each in the one below by `depth`. Returns how high the last one rises above its place.
static double rise(int count, double depth, double step) {
    SandWorld world = lab_world(0.5);
    SandShape box;
    world.step = step;
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    assert_true(sand_shape_box(&box, v3_make(0.04, 0.025, 0.015), NULL));
    int shape = sand_world_add_shape(&world, &box, NULL);
    for (int k = 0; k < count; k++) lab_body(&world, shape, 1, v3_make(0, 0, 0.015 + (0.03 - depth) * k));
    SandSimulation *sim = lab_exact(&world);
    double highest = 0;
    for (int k = 0; k < (int)(0.5 / step); k++) {
        lab_step(sim);
        highest = fmax(highest, sand_simulation_world(sim)->position[count - 1].z);
    }
    double low = sand_simulation_world(sim)->position[count - 1].z;
    NEAR(low, 0.015 + 0.03 * (count - 1), 1e-4); // it ends on the others
    sand_simulation_free(sim);
    return highest - (0.015 + 0.03 * (count - 1));
}

static void a_deep_overlap_is_pushed_apart_gently(void **state) {
    (void)state;
    for (double step = 0.0025; step < 0.011; step *= 2) {
        double above = rise(2, 0.012, step);
        print_message("step %.1f ms: pushed 12 mm up it rises %.1f mm too high\n", 1e3 * step, 1e3 * above);
        assert_true(above < 0.003); // and 46 mm where 1 m/s is all that limits it
    }
}

// Worlds of spheres are pushed apart at the speed that they ask for, whatever the depth.
static void spheres_are_pushed_apart_as_they_were(void **state) {
    (void)state;
    SandWorld world = lab_world(0);
    lab_body(&world, 0, 0.1, v3_make(0, 0, 0));
    SandRecovery r = problem_recovery(&world);
    NEAR(sand_recovery_gap(r, -0.01, world.step), -0.01, 0);
    SandShape box;
    assert_true(sand_shape_box(&box, v3_make(1, 1, 1), NULL));
    sand_world_add_shape(&world, &box, NULL);
    r = problem_recovery(&world);
    double gap = sand_recovery_gap(r, -0.01, world.step);
    NEAR(-sand_recovery_bias(r, gap, world.step), sqrt(2 * GRAVITY * 0.01), 1e-12);
    NEAR(sand_recovery_gap(r, -0.001, world.step), -0.001, 0); // shallow ones are undone as they are
    sand_world_free(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_that_spin_do_not_overlap),
        cmocka_unit_test(a_bar_does_not_turn_into_a_post),
        cmocka_unit_test(a_deep_overlap_is_pushed_apart_gently),
        cmocka_unit_test(spheres_are_pushed_apart_as_they_were),
    };
    return cmocka_run_group_tests_name("spinning", tests, NULL, NULL);
}
