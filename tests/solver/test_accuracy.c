// SPDX-License-Identifier: MIT
// How much of a step is solved, against its definition and dense algebra: 100 (1 - rms / (g h)), from 0 to 100, with the
// Earth's gravity where there is none. And the budget by accuracy: every method ends as soon as it has what was asked for.
#include "tests/lab/solver/dense.h"
#include "tests/lab/lab.h"

// A heap under way, in double.
static SandSimulation *heap(int threads) {
    SandSimulation *sim = lab_scene("heap", 60, threads, SAND_DOUBLE);
    lab_run(sim, 160);
    return sim;
}

// One step of jacobi with this budget, from these settings; its percentage from the definition.
static double jacobi_step(SandSimulation *sim, SandVec3 gravity, double step, int iterations) {
    SandSolveDef solve = sand_default_solve();
    sand_solve_choose(&solve, sand_solver_find("jacobi"));
    solve.iterations = iterations;
    assert_true(sand_simulation_set_solve(sim, &solve, NULL));
    SandWorld *world = sand_simulation_change(sim);
    world->gravity = gravity;
    world->step = step;
    lab_step(sim);
    const SandProblem *p = sand_simulation_problem(sim);
    assert_true(p->contact_count > 20);
    double residual = dense_measure(p, false, sand_simulation_solution(sim)->impulse).residual;
    double g = sqrt(gravity.x * gravity.x + gravity.y * gravity.y + gravity.z * gravity.z);
    return 100 - 100 * residual / sqrt(p->contact_count) / ((g > 0 ? g : 9.81) * step);
}

static void the_share_is_that_of_the_definition(void **state) {
    (void)state;
    const struct {
        SandVec3 gravity;
        double step;
        int iterations;
        double least, most; // where the share must lie, so that all of its range is seen
    } cases[] = {{{0, 0, -9.81}, 0.005, 3000, 99, 100},
                 {{0, 0, -9.81}, 0.005, 5, 50, 95},
                 {{3, 0, -4}, 0.004, 20, 1, 95},
                 {{0, 0, 0}, 0.005, 20, 1, 99.9}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        SandSimulation *sim = heap(1);
        double want = jacobi_step(sim, cases[k].gravity, cases[k].step, cases[k].iterations);
        double got = sand_simulation_counters(sim)->solved;
        print_message("case %zu: %.3f %%\n", k, got);
        NEAR(got, want, 1e-7); // residuals of dense algebra agree to 1e-9 of themselves
        assert_true(got > cases[k].least && got < cases[k].most);
        sand_simulation_free(sim);
    }
}

// Contacts that err by more than gravity adds leave nothing solved, and where there are none there is nothing to solve.
static void the_share_is_clamped(void **state) {
    (void)state;
    SandSimulation *sim = heap(1);
    assert_true(jacobi_step(sim, v3_make(0, 0, -0.01), 0.005, 1) < 0);
    assert_true(sand_simulation_counters(sim)->solved == 0);
    sand_simulation_free(sim);
    SandWorld world = lab_world(0.5);
    lab_body(&world, 0, 0.1, v3_make(0, 0, 1));
    sim = lab_exact(&world);
    lab_step(sim);
    assert_int_equal(sand_simulation_counters(sim)->contacts, 0);
    assert_true(sand_simulation_counters(sim)->solved == 100);
    sand_simulation_free(sim);
}

// What is left by the definition of the residual, m/s: under Coulomb's law with De Saxce's term.
static double dense_rms(const SandProblem *p, SandFriction friction, const SandVec3 *x) {
    double tau = dense_tau(p, false), map = dense_natural_map(p, friction == SAND_FRICTION_COULOMB, x, tau);
    return map / tau / sqrt(p->contact_count);
}

// Solves to 99 %, and then with ten iterations less, which must not be enough: methods that do not keep their own residual
// are measured every ten. Under Coulomb's law the residual is measured when the bias is renewed, farther apart. Returns
// whether it was solved: under that law the fixed points of methods that need N as a matrix do not get there in some states,
// which they must say.
static bool check_method(SandCpu *cpu, const SandProblem *p, double allowed, int solver, SandFriction friction) {
    const SandSolver *info = &sand_solver_table[solver];
    const int limit = info->assembled ? 2000 : 20000;
    SandError error = {""};
    SandSolution s = {0};
    SandSolveDef def = sand_default_solve();
    sand_solve_choose(&def, solver);
    def.friction = friction;
    def.iterations = limit;
    def.accuracy = 99;
    def.tolerance = 1e9; // the accuracy wins
    if (!sand_cpu_solve(cpu, p, &def, &s, &error)) fail_msg("%s", error.text);
    double rms = dense_rms(p, friction, s.impulse);
    bool solved = s.status == SAND_SOLVED;
    print_message("%-14s %-8s %5d iterations: %s, %.3g of the rms allowed\n", info->name, sand_friction_table[friction].name,
                  s.iterations, sand_status_text(s.status), rms / allowed);
    // A method that solves another problem, as tgs-soft with its soft contacts, never gets there, and says so.
    bool soft = info->friction & SAND_INEXACT, may_fail = info->assembled && friction == SAND_FRICTION_COULOMB;
    if (!solved) assert_true(soft ? s.status == SAND_BUDGET : may_fail);
    assert_true(solved ? !soft && s.iterations < limit && rms <= allowed * (1 + 1e-9) : rms > allowed);
    bool plans =
        strcmp(info->name, "block-sweeps") == 0; // it smooths at the end of a budget, and needs less of a shorter one
    if (friction == SAND_FRICTION_CONE && !soft && !plans && s.iterations > 10) {
        def.iterations = s.iterations - 10;
        def.accuracy = def.tolerance = 0;
        if (!sand_cpu_solve(cpu, p, &def, &s, &error)) fail_msg("%s", error.text);
        assert_true(dense_rms(p, friction, s.impulse) > allowed);
    }
    sand_solution_free(&s);
    return solved || soft;
}

// Every method solves every state of a heap to the accuracy, or says that it does not, and one of three at least.
static void every_method_ends_at_the_accuracy(void **state) {
    (void)state;
    enum { STATES = 3, MOST_SOLVERS = 64 };
    SandError error = {""};
    SandSimulation *sim = heap(1);
    SandCpu *cpu = sand_cpu_create(1, SAND_DOUBLE, &error);
    assert_non_null(cpu);
    const SandFriction models[] = {SAND_FRICTION_CONE, SAND_FRICTION_COULOMB};
    int solved[MOST_SOLVERS][2] = {0};
    for (int at = 0; at < STATES; at++) {
        if (at) lab_run(sim, 10);
        if (!sand_simulation_build(sim, &error)) fail_msg("%s", error.text);
        double allowed = 0.01 * GRAVITY * sand_simulation_world(sim)->step;
        for (int solver = 0; solver < sand_solver_count(); solver++)
            for (int k = 0; k < 2; k++)
                if (sand_solver_can(solver, models[k]))
                    solved[solver][k] += check_method(cpu, sand_simulation_problem(sim), allowed, solver, models[k]);
    }
    for (int solver = 0; solver < sand_solver_count(); solver++)
        for (int k = 0; k < 2; k++)
            if (sand_solver_can(solver, models[k]) && !solved[solver][k])
                fail_msg("%s solves none of the states", sand_solver_table[solver].name);
    sand_cpu_free(cpu);
    sand_simulation_free(sim);
}

// The limit holds where the accuracy is out of reach, and the bits are those of a run without one.
static void the_budget_is_the_limit(void **state) {
    (void)state;
    uint64_t hashes[2];
    for (int k = 0; k < 2; k++) {
        SandSimulation *sim = heap(k ? 3 : 1); // same bits for any number of threads
        SandSolveDef solve = sand_default_solve();
        solve.iterations = 3;
        solve.accuracy = k ? SAND_MOST_ACCURACY : 0;
        assert_true(sand_simulation_set_solve(sim, &solve, NULL));
        lab_run(sim, 10);
        assert_int_equal(sand_simulation_counters(sim)->iterations, 3);
        assert_int_equal(sand_simulation_counters(sim)->status, SAND_BUDGET);
        hashes[k] = sand_world_hash(sand_simulation_world(sim));
        sand_simulation_free(sim);
    }
    assert_true(hashes[0] == hashes[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_share_is_that_of_the_definition),
        cmocka_unit_test(the_share_is_clamped),
        cmocka_unit_test(every_method_ends_at_the_accuracy),
        cmocka_unit_test(the_budget_is_the_limit),
    };
    return cmocka_run_group_tests_name("accuracy", tests, NULL, NULL);
}
