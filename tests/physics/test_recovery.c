// SPDX-License-Identifier: MIT
// What a penetration is undone by, and why only a part of it in a step: a solve that does not finish leaves an error in the
// impulses, which the next step inherits three times over (docs/stability.md). With a fraction f of the penetration undone
// in a step, a solve that reduces an error to S times its size is stable if S < 1 / (1 + f). A gap may always close in full,
// so that a contact that opens and closes is somewhere between f and 1.
#include "tests/lab/lab.h"
#include "sim/step/build_problem.inl"

// Against the definition, at every kind of gap: open, shallow, deep, and too deep for the speed.
static void a_penetration_is_undone_by_its_depth(void **state) {
    (void)state;
    SandRecovery r = {.speed = 1, .depth = 0.001, .fraction = 0.3}, whole = {.speed = 1};
    const double step = 0.01;
    NEAR(sand_recovery_bias(r, 0.004, step), 0.4, 1e-15);
    NEAR(sand_recovery_bias(r, -0.0005, step), -0.3 * 0.05, 1e-15);
    NEAR(sand_recovery_bias(r, -0.001, step), -0.03, 1e-15);
    NEAR(sand_recovery_bias(r, -0.003, step), -(0.2 + 0.03), 1e-15); // 2 mm in full and 0.3 of one
    NEAR(sand_recovery_bias(r, -0.5, step), -1, 0);
    NEAR(sand_recovery_bias(whole, -0.003, step), -0.3, 1e-15);
    NEAR(sand_recovery_bias(whole, 0.003, step), 0.3, 1e-15);
    SandWorld world = lab_world(0);
    world.gravity = v3_make(0, 3, -4);
    world.step = 0.1;
    NEAR(problem_recovery(&world).depth, 0.05, 1e-15); // g h^2
    sand_world_free(&world);
}

// Two spheres at rest on a plane, without friction, one of them pushed down by a nanometer and the other lifted, so that the
// scale of the start, one number for both, sees nothing. One iteration of jacobi then reduces the error of an impulse to
// S = 1 - omega exactly. Returns how much the motion of the spheres against each other has grown in 40 steps.
static double growth(double omega, double fraction) {
    SandWorld world = lab_world(0);
    world.recovery_fraction = fraction;
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    for (int k = 0; k < 2; k++) lab_body(&world, 0, 0.1, v3_make(k, 0, 0.1));
    SandSimulation *sim = lab_exact(&world);
    lab_run(sim, 20);
    SandSolveDef solve = sand_default_solve();
    sand_solve_choose(&solve, sand_solver_find("jacobi"));
    SandError error;
    char text[32];
    snprintf(text, sizeof text, "%g", omega);
    assert_true(sand_solve_set(&solve, "omega", text, &error));
    solve.iterations = 1;
    assert_true(sand_simulation_set_solve(sim, &solve, &error));
    SandWorld *w = sand_simulation_change_bodies(sim, &error);
    w->position[0].z -= 1e-9;
    w->position[1].z += 1e-9;
    double largest[3] = {0};
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 20; i++) {
            lab_step(sim);
            largest[k] = fmax(largest[k], fabs(w->velocity[0].z - w->velocity[1].z));
        }
    sand_simulation_free(sim);
    return largest[2] / largest[0];
}

static void an_unfinished_solve_is_stable_below_the_threshold(void **state) {
    (void)state;
    const struct {
        double s, fraction;
        bool grows;
    } cases[] = {{0.3, 1, false}, {0.45, 1, false}, {0.55, 1, true}, {0.7, 1, true}, {0.9, 1, true}, {0.6, 0.3, false}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double times = growth(1 - cases[k].s, cases[k].fraction);
        print_message("S = %.2f, fraction %.1f: %.3g times\n", cases[k].s, cases[k].fraction, times);
        assert_true(cases[k].grows ? times > 1.2 : times < 0.9);
    }
}

// A column of spheres with few iterations: undoing every penetration at once it boils, and by the default it comes to rest.
static double energy_left(double fraction) {
    char text[2048];
    snprintf(text, sizeof text,
             "name: column\nstep: 0.01\nrecovery_fraction: %g\nsolver: {name: p-spg-fb, iterations: 8}\n"
             "materials: [{name: ball, density: 1500, mu: 0.2}]\nboundaries:\n  - {shape: plane}\n"
             "  - {shape: plane, normal: [-1, 0, 0], position: [1.3, 0, 0]}\n"
             "  - {shape: plane, normal: [1, 0, 0], position: [-1.3, 0, 0]}\n"
             "  - {shape: plane, normal: [0, -1, 0], position: [0, 1.3, 0]}\n"
             "  - {shape: plane, normal: [0, 1, 0], position: [0, -1.3, 0]}\n"
             "fills:\n  - {radius: 0.1, mass: 6.28, count: 3000, lattice: {spacing: 0.21, jitter: 0.0045, columns: 12, "
             "from: 0.12}}\nworld: {lower: [-3, -3, -2], upper: [3, 3, 60]}\n",
             fraction);
    SandScene scene;
    SandError error;
    if (!sand_scene_load_text(&scene, text, strlen(text), "column", NULL, &error)) fail_msg("%s", error.text);
    SandSimulationDef def = {.threads = 1, .precision = SAND_FLOAT, .solve = scene.solve};
    SandSimulation *sim = lab_simulation(&scene.world, &def);
    sand_scene_free(&scene);
    lab_run(sim, 250);
    double kinetic = sand_simulation_energy(sim).kinetic;
    sand_simulation_free(sim);
    return kinetic;
}

static void a_column_comes_to_rest(void **state) {
    (void)state;
    double boiling = energy_left(1), asleep = energy_left(0.3);
    print_message("kinetic energy of 3000 spheres after 2.5 s: %.0f J, %.1f J by the default\n", boiling, asleep);
    assert_true(asleep < 0.1 * boiling);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_penetration_is_undone_by_its_depth),
        cmocka_unit_test(an_unfinished_solve_is_stable_below_the_threshold),
        cmocka_unit_test(a_column_comes_to_rest),
    };
    return cmocka_run_group_tests_name("recovery", tests, NULL, NULL);
}
