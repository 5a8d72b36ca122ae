// SPDX-License-Identifier: MIT
// An hourglass of 3,000 spheres runs until it is empty: none is lost, none goes through the glass, and none penetrates
// deeply.
#include "tests/lab/lab.h"

enum { BODIES = 3000, MOST_STEPS = 4000 };

// Counts the bodies above the neck, which is at height 0, and checks every body on the way.
static int count_above(const SandWorld *w, double *outermost) {
    int above = 0;
    *outermost = INFINITY;
    SandPose pose = sand_boundary_pose(&w->boundaries[0], w->time);
    for (int i = 0; i < w->body_count; i++) {
        assert_false(w->gone[i]);
        assert_true(v3_finite(w->position[i]) && v3_finite(w->velocity[i]) && v3_finite(w->spin[i]));
        *outermost = fmin(*outermost, sand_boundary_distance(&w->boundaries[0], &pose, w->position[i]) - w->scale[i]);
        above += w->position[i].z > 0;
    }
    return above;
}

// The 99th percentiles of the depth: over all contacts, and over those that penetrate.
static void check_percentiles(SandSimulation *sim) {
    sand_simulation_measure(sim);
    const SandProblem *p = sand_simulation_problem(sim);
    const SandCounters *c = sand_simulation_counters(sim);
    const double depths[2] = {c->penetration_all, c->penetration_p99};
    int penetrating = 0, deeper[2] = {0}, at_least[2] = {0};
    for (int i = 0; i < p->contact_count; i++) {
        double depth = -p->contacts[i].gap;
        penetrating += depth > 0;
        for (int k = 0; k < 2; k++) deeper[k] += depth > depths[k], at_least[k] += depth >= depths[k];
    }
    print_message("%d contacts, %d penetrate, 99 %% by less than %.3g and %.3g mm\n", p->contact_count, penetrating,
                  1e3 * depths[0], 1e3 * depths[1]);
    assert_true(penetrating > 300);
    for (int k = 0; k < 2; k++) {
        double hundredth = 0.01 * (k ? penetrating : p->contact_count);
        assert_true(deeper[k] <= hundredth + 1 && at_least[k] >= hundredth - 1);
    }
}

static void the_sand_runs_through(void **state) {
    (void)state;
    SandSimulation *sim = lab_scene("hourglass", BODIES, 2, SAND_FLOAT);
    const SandWorld *w = sand_simulation_world(sim);
    const SandCounters *c = sand_simulation_counters(sim);
    assert_int_equal(w->body_count, BODIES);
    double radius = w->scale[0], deepest = 0, deepest_at = 0, outermost = INFINITY, now;
    int steps = 0, above = count_above(w, &now);
    while (above > 0 && steps < MOST_STEPS) {
        lab_step(sim);
        steps++;
        if (c->penetration_max > deepest) {
            deepest = c->penetration_max;
            deepest_at = w->time - w->step;
        }
        // The wall penetration that a step reports is that of its initial state, by the distance of every body.
        assert_float_equal(c->penetration_walls, fmax(0, -now), 1e-9);
        above = count_above(w, &now);
        outermost = fmin(outermost, now);
        if (steps == 200) check_percentiles(sim);
    }
    print_message(
        "empty after %.2f s; deepest penetration %.2f %% of the radius at %.2f s; farthest through the glass %.2f %%\n",
        w->time, 100 * deepest / radius, deepest_at, -100 * outermost / radius);
    assert_int_equal(above, 0);
    assert_int_equal(c->lost_total, 0);
    assert_int_equal(c->infeasible_total, 0);
    // Required: 5 % of the radius, at the scene's 50 iterations.
    assert_true(deepest < 0.05 * radius);
    assert_true(outermost > -0.05 * radius);
    sand_simulation_free(sim);
}

// A solve of one iteration leaves velocities far from what contacts allow: bodies sink into each other, but not out of the
// glass.
static void the_glass_holds_whatever_the_budget(void **state) {
    (void)state;
    SandError error = {""};
    SandScene scene;
    SandSceneOptions options = {.bodies = BODIES};
    if (!sand_scene_load(&scene, "hourglass", &options, &error)) fail_msg("%s", error.text);
    scene.solve.iterations = 1;
    SandSimulationDef def = {.threads = 2, .precision = SAND_FLOAT, .solve = scene.solve};
    SandSimulation *sim = lab_simulation(&scene.world, &def);
    sand_scene_free(&scene);
    double radius = sand_simulation_world(sim)->scale[0], walls = 0, deepest = 0;
    for (int i = 0; i < 150; i++) {
        lab_step(sim);
        const SandCounters *c = sand_simulation_counters(sim);
        walls = fmax(walls, c->penetration_walls);
        deepest = fmax(deepest, c->penetration_max);
    }
    print_message("one iteration: %.1f %% of a radius into the glass, %.1f %% into anything\n", 100 * walls / radius,
                  100 * deepest / radius);
    assert_true(walls <= 0.7 * radius && deepest > radius); // half a radius, and how far the glass curves within a step
    assert_int_equal(sand_simulation_counters(sim)->lost_total, 0);
    sand_simulation_free(sim);
}

// In steps of 50 ms the jet moves by four radii: what it hits is found from there, and so is the glass around a corner.
static void long_steps_leave_no_deep_overlaps(void **state) {
    (void)state;
    SandError error = {""};
    SandScene scene;
    SandSceneOptions options = {.bodies = 1000};
    if (!sand_scene_load(&scene, "hourglass", &options, &error)) fail_msg("%s", error.text);
    scene.world.step = 0.05;
    scene.solve.iterations = 300;
    SandSimulationDef def = {.threads = 2, .precision = SAND_FLOAT, .solve = scene.solve};
    SandSimulation *sim = lab_simulation(&scene.world, &def);
    sand_scene_free(&scene);
    double radius = sand_simulation_world(sim)->scale[0], walls = 0, deepest = 0, fastest = 0;
    for (int i = 0; i < 60; i++) {
        lab_step(sim);
        const SandWorld *w = sand_simulation_world(sim);
        for (int k = 0; k < w->body_count; k++) fastest = fmax(fastest, v3_length(w->velocity[k]));
        walls = fmax(walls, sand_simulation_counters(sim)->penetration_walls);
        deepest = fmax(deepest, sand_simulation_counters(sim)->penetration_max);
    }
    print_message("%.1f radii a step: %.1f %% of a radius into the glass, %.1f %% into anything\n", fastest * 0.05 / radius,
                  100 * walls / radius, 100 * deepest / radius);
    assert_true(fastest * 0.05 > 2 * radius && deepest < 0.1 * radius && walls < 0.05 * radius);
    sand_simulation_free(sim);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_sand_runs_through),
                                       cmocka_unit_test(the_glass_holds_whatever_the_budget),
                                       cmocka_unit_test(long_steps_leave_no_deep_overlaps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
