// SPDX-License-Identifier: MIT
// The iterative solvers: they agree with each other and with dense algebra, never get worse with a larger budget, and detect
// problems without a solution.
#include "tests/lab/solver/dense.h"
#include "tests/lab/lab.h"
#include "tests/lab/solver/solver_lab.h"
#include "sandglass/scene.h"
#include "sandglass/simulation.h"

// ---- the solution ----

// Solves with all methods and compares the velocities, which are unique (the impulses are not). The error of a velocity is
// the residual times a factor of the problem; a residual of 1e-9 leaves a margin to the 1e-6 m/s that is required.
static void methods_agree(const SandProblem *p, const char *name, SandFriction friction) {
    SandSolution solutions[METHODS];
    memset(solutions, 0, sizeof solutions);
    for (int m = 0; m < METHODS; m++) {
        if (!method_can(methods[m], friction)) continue;
        SandSolveDef def = method_def(methods[m], 400000, 1e-9); // at most 52,000 were needed
        // With clumps the default omega of 0.3 is too large for jacobi: its iterates cycle.
        if (!strcmp(methods[m].solver, "jacobi")) def.params[0] = 0.15;
        def.friction = friction;
        solve(p, &def, &solutions[m]);
        double difference = speed_difference(p, &solutions[0], &solutions[m]);
        print_message("%s: %s: %d iterations, residual %.1e, speeds differ by %.1e\n", name, method_name(methods[m]),
                      solutions[m].iterations, solutions[m].metrics.residual, difference);
        assert_int_equal(solutions[m].status, SAND_SOLVED);
        assert_true(solutions[m].metrics.residual <= 1e-9);
        assert_true(difference <= 1e-6);
    }
    // The impulses have an effect: the first solution is not the free motion.
    SandSolution nothing = {0};
    SandSolveDef none = method_def(methods[0], 0, 0);
    solve(p, &none, &nothing);
    assert_true(speed_difference(p, &solutions[0], &nothing) > 1e-3);
    sand_solution_free(&nothing);
    for (int m = 0; m < METHODS; m++) sand_solution_free(&solutions[m]);
}

static void solvers_agree_in_the_velocities(void **state) {
    (void)state;
    const double mus[] = {0, 0.2, 0.8};
    for (int k = CUP; k <= CLUMPS; k++)
        for (int m = 0; m < 3; m++) {
            SandProblem p = frozen_well_posed(&problems[k], mus[m]);
            char name[64];
            snprintf(name, sizeof name, "%s, mu %g", problem_names[k], mus[m]);
            methods_agree(&p, name, mus[m] > 0 ? SAND_FRICTION_CONE : SAND_FRICTIONLESS);
            sand_problem_free(&p);
        }
}

// Contacts with and without friction in one problem.
static void solvers_agree_with_mixed_friction(void **state) {
    (void)state;
    for (int k = CUP; k <= CLUMPS; k++) {
        SandProblem p = frozen_well_posed(&problems[k], 0.5);
        char name[64];
        for (int i = 0; i < p.contact_count; i++)
            if (i % 3 == 0 || p.contacts[i].b >= p.dynamic_count) p.contacts[i].mu = 0;
        snprintf(name, sizeof name, "%s, mu 0 and 0.5", problem_names[k]);
        methods_agree(&p, name, SAND_FRICTION_CONE);
        sand_problem_free(&p);
    }
}

// Independent check: the optimality conditions, by dense algebra. With a residual of at most e the gradient is within e of
// the dual cone, and g . u is at most e (|g| + tau |u|); the 1.01 is for rounding.
static void solution_fulfills_the_conditions(void **state) {
    (void)state;
    const double mus[] = {0, 0.2, 0.8, -1};
    const double e = 1e-10;
    for (int k = CUP; k <= CLUMPS; k++)
        for (int m = 0; m < 4; m++) {
            SandProblem p = frozen_well_posed(&problems[k], mus[m]);
            if (mus[m] < 0)
                for (int i = 0; i < p.contact_count; i += 2) p.contacts[i].mu = 0;
            size_t bodies = (size_t)p.body_count;
            SandSolution s = {0};
            SandSolveDef def = method_def(methods[0], 100000, e);
            solve(&p, &def, &s);
            assert_int_equal(s.status, SAND_SOLVED);
            DenseMeasure d = dense_measure(&p, false, s.impulse);
            double largest = 0, scale = 0;
            for (int i = 0; i < p.contact_count; i++) largest = fmax(largest, v3_length(s.impulse[i]));
            for (int i = 0; i < p.dynamic_count; i++) scale = fmax(scale, v3_length(p.bodies[i].velocity));
            print_message("%s, mu %g: outside the cone %.1e, of impulses up to %.2g; outside the dual %.1e; g.u %.1e\n",
                          problem_names[k], mus[m], d.outside, largest, d.inward, d.complementarity);
            assert_true(largest > 0);
            assert_true(d.outside <= 1e-15 * largest);
            assert_true(d.inward <= 1.01 * e);
            assert_true(d.complementarity <= 1.01 * e * (largest + dense_tau(&p, false) * 10 * scale));
            // The velocities are those that the impulses produce; 1e-12 allows for rounding.
            SandVec3 *velocity = calloc(bodies, sizeof *velocity), *spin = calloc(bodies, sizeof *spin);
            dense_velocities(&p, s.impulse, velocity, spin);
            for (int i = 0; i < p.body_count; i++) {
                assert_true(v3_length(v3_sub(velocity[i], s.velocity[i])) <= 1e-12);
                assert_true(v3_length(v3_sub(spin[i], s.spin[i])) <= 1e-11);
            }
            free(velocity);
            free(spin);
            sand_solution_free(&s);
            sand_problem_free(&p);
        }
}

// ---- what a solver reports ----

// Residual and objective agree with dense algebra, whether the method tracks them or they are measured at the end.
static void reports_are_dense(void **state) {
    (void)state;
    for (int k = CUP; k <= CLUMPS; k++)
        for (int frictionless = 0; frictionless < 2; frictionless++)
            for (int m = 0; m < METHODS; m++) {
                if (!method_can(methods[m], frictionless ? SAND_FRICTIONLESS : SAND_FRICTION_CONE)) continue;
                const SandProblem *p = &problems[k];
                SandSolution kept = {0}, measured = {.want_metrics = true};
                SandSolveDef def = method_def(methods[m], 37, 0);
                def.friction = frictionless ? SAND_FRICTIONLESS : SAND_FRICTION_CONE;
                solve(p, &def, &kept);
                solve(p, &def, &measured);
                assert_int_equal(kept.status, SAND_BUDGET);
                assert_int_equal(kept.iterations, 37);
                assert_memory_equal(kept.impulse, measured.impulse, (size_t)p->contact_count * sizeof *kept.impulse);
                DenseMeasure d = dense_measure(p, frictionless, kept.impulse);
                // Rounding of a few hundred terms; the tracked objective is updated through 37 iterations.
                double size = fabs(d.objective) + 1;
                assert_true(fabs(kept.metrics.residual - d.residual) <= 1e-9 * d.residual);
                assert_true(fabs(measured.metrics.residual - d.residual) <= 1e-9 * d.residual);
                assert_true(fabs(kept.metrics.objective - d.objective) <= 1e-10 * size);
                assert_true(fabs(measured.metrics.objective - d.objective) <= 1e-10 * size);
                assert_true(fabs(measured.metrics.complementarity - d.complementarity) <= 1e-10 * size);
                assert_true(fabs(kept.metrics.residual_rms - d.residual / sqrt(p->contact_count)) <= 1e-9 * d.residual);
                sand_solution_free(&kept);
                sand_solution_free(&measured);
            }
}

// ---- the budget ----

// The fallback iterate gamma_FB of [H]: from one budget to a larger one the residual never rises, not by a bit. Measured
// again at the end it may, by rounding: 1e-9 in double; in float 1e-3 of the residual, and the resolution of float for
// velocities of 1 m/s over thousands of contacts.
static void larger_budgets_never_hurt(void **state) {
    (void)state;
    const int more[] = {80, 100, 150, 200, 300, 500};
    const int budgets = 61 + sizeof more / sizeof *more;
    for (int run = 0; run < 16; run++) {
        bool warm = run & 1, in_float = run & 2;
        SandProblem p = frozen_copy(&problems[run & 8 ? CLUMPS : CYLINDER]);
        if (!warm) frozen_set_cold(&p);
        double last = INFINITY, last_measured = INFINITY;
        for (int b = 0; b < budgets; b++) {
            SandSolution s = {0};
            SandSolveDef def = method_def(methods[run & 4 ? 1 : 0], b <= 60 ? b : more[b - 61], 0);
            solve_in(in_float ? SAND_FLOAT : SAND_DOUBLE, &p, &def, &s);
            assert_int_equal(s.iterations, def.iterations);
            assert_true(s.metrics.residual <= last);
            last = s.metrics.residual;
            if (b % 10 == 0) {
                s.want_metrics = true;
                solve_in(in_float ? SAND_FLOAT : SAND_DOUBLE, &p, &def, &s);
                assert_true(s.metrics.residual <= (in_float ? 1.001 : 1 + 1e-9) * last_measured + (in_float ? 1e-4 : 0));
                last_measured = s.metrics.residual;
            }
            sand_solution_free(&s);
        }
        sand_problem_free(&p);
    }
}

// A budget in milliseconds stops a problem that would go on for minutes, and not before they are over. How soon after that
// depends on the machine.
static void milliseconds_stop_a_solve(void **state) {
    (void)state;
    for (int m = 0; m < METHODS; m++) {
        SandSolution s = {0};
        SandSolveDef def = method_def(methods[m], 10000000, 0);
        def.budget_ms = 1;
        SandProblem p = frozen_copy(&problems[CYLINDER]);
        frozen_set_cold(&p);
        solve(&p, &def, &s);
        assert_int_equal(s.status, SAND_BUDGET);
        assert_in_range(s.iterations, 1, 9999999);
        assert_true(s.seconds >= 1e-3);
        sand_solution_free(&s);
        sand_problem_free(&p);
    }
}

// ---- the curve ----

static void curve_is_what_was_asked_for(void **state) {
    (void)state;
    const SandProblem *p = &problems[CUP];
    for (int m = 0; m < METHODS; m++) {
        SandSolution with = {.want_curve = true}, without = {0};
        SandSolveDef def = method_def(methods[m], 40, 0);
        solve(p, &def, &with);
        solve(p, &def, &without);
        assert_int_equal(with.curve_count, 41);
        for (int i = 0; i < with.curve_count; i++) {
            assert_int_equal(with.curve[i].iteration, i);
            assert_true(isfinite(with.curve[i].residual) && isfinite(with.curve[i].objective) && with.curve[i].seconds >= 0);
            if (i) assert_true(with.curve[i].seconds >= with.curve[i - 1].seconds);
            if (i && methods[m].monotone) assert_true(with.curve[i].residual <= with.curve[i - 1].residual);
        }
        // The curve ends with the metrics of the solution, and a shorter solve gives its beginning, unless the method plans
        // by its budget. One that does not track its residual is measured for the curve, which recomputes its velocities:
        // the last bits may differ.
        double near = methods[m].tracks_residual ? 0 : 1e-9;
        assert_true(with.curve[40].residual == with.metrics.residual && with.curve[40].objective == with.metrics.objective);
        SandSolution shorter = {0};
        def.iterations = 11;
        solve(p, &def, &shorter);
        double off = fabs(shorter.metrics.residual - with.curve[11].residual);
        assert_true(methods[m].plans || off <= near * shorter.metrics.residual);
        // Without want_curve nothing is recorded, and the result is the same.
        assert_int_equal(without.curve_count, 0);
        assert_null(without.curve);
        double most = 0;
        for (int i = 0; i < p->contact_count; i++) most = fmax(most, v3_length(with.impulse[i]));
        for (int i = 0; i < p->contact_count; i++)
            assert_true(v3_length(v3_sub(with.impulse[i], without.impulse[i])) <= near * most);
        sand_solution_free(&with);
        sand_solution_free(&without);
        sand_solution_free(&shorter);
    }
}

// ---- impossible problems ----

// A ball between walls that close in on it. Every method must report an infeasible problem, the run continues, and
// everything stays finite.
static void wedged_ball_is_infeasible(void **state) {
    (void)state;
    for (int run = 0; run < 2 * METHODS; run++) {
        SandScene scene;
        SandError error;
        SandSceneOptions options = {0};
        if (!sand_scene_load(&scene, "wedge", &options, &error)) fail_msg("%s", error.text);
        SandSimulationDef def = sand_default_simulation();
        def.threads = 1;
        def.precision = run < METHODS ? SAND_FLOAT : SAND_DOUBLE;
        def.solve = method_def(methods[run % METHODS], 50, 0);
        SandSimulation *sim = lab_simulation(&scene.world, &def);
        lab_expect(sim, "is infeasible");
        for (int k = 0; k < 120; k++) {
            lab_step(sim);
            const SandSolution *s = sand_simulation_solution(sim);
            const SandProblem *p = sand_simulation_problem(sim);
            // The ball weighs 1,309 kg and is squeezed at 1 m/s: impulses may grow before the method detects it, but not
            // without bound.
            for (int i = 0; i < p->contact_count; i++)
                assert_true(v3_finite(s->impulse[i]) && v3_length(s->impulse[i]) < 1e6);
            for (int i = 0; i < p->body_count; i++) assert_true(v3_finite(s->velocity[i]) && v3_finite(s->spin[i]));
            // Before the walls touch it the problem is feasible.
            if (k < 15) assert_true(s->status != SAND_INFEASIBLE);
        }
        const SandCounters *c = sand_simulation_counters(sim);
        print_message("wedge, %s, %s: %d of 120 steps infeasible\n", method_name(methods[run % METHODS]),
                      def.precision == SAND_FLOAT ? "float" : "double", c->infeasible_total);
        assert_true(c->infeasible_total > 0);
        assert_int_equal(c->lost_total, 0);
        assert_int_equal(c->bodies, 1);
        sand_simulation_free(sim);
        sand_scene_free(&scene);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solvers_agree_in_the_velocities),  cmocka_unit_test(solvers_agree_with_mixed_friction),
        cmocka_unit_test(solution_fulfills_the_conditions), cmocka_unit_test(reports_are_dense),
        cmocka_unit_test(larger_budgets_never_hurt),        cmocka_unit_test(milliseconds_stop_a_solve),
        cmocka_unit_test(curve_is_what_was_asked_for),      cmocka_unit_test(wedged_ball_is_infeasible),
    };
    return cmocka_run_group_tests(tests, make_problems, free_problems);
}
