// SPDX-License-Identifier: MIT
// What a solve says about itself: its status and its figures are held against plain algebra, which shares no code with the
// solvers, for every method, both laws of the circular cone, and tolerances of either kind.
#include "tests/lab/solver/claim.h"
#include "tests/lab/solver/dense.h"
#include "tests/lab/solver/frozen.h"
#include "tests/lab/lab.h"
#include "sim/study/race.h"

static SandProblem spheres; // many of them slide
static SandProblem asleep;  // the same with more friction and open gaps: nothing slides, and a solution is sure to exist

static SandSolveDef solve_def(int solver, SandFriction friction, int iterations, double tolerance) {
    SandSolveDef def = sand_default_solve();
    sand_solve_choose(&def, solver);
    def.friction = friction;
    def.iterations = iterations;
    def.tolerance = tolerance;
    return def;
}

static SandSolution solve(const SandProblem *p, const SandSolveDef *def, SandPrecision precision) {
    SandError error;
    SandSolution s = {.want_metrics = true};
    SandCpu *cpu = sand_cpu_create(1, precision, &error);
    if (!cpu || !sand_cpu_solve(cpu, p, def, &s, &error)) fail_msg("%s", error.text);
    sand_cpu_free(cpu);
    return s;
}

static double r_norm(const SandProblem *p) {
    SandVec3 *r = calloc((size_t)p->contact_count + 1, sizeof *r);
    double sum = 0;
    dense_r(p, false, r);
    for (int i = 0; i < p->contact_count; i++) sum += v3_dot(r[i], r[i]);
    free(r);
    return sqrt(sum);
}

static void status_is_a_claim_about_the_residual(void **state) {
    (void)state;
    const struct {
        double tolerance;
        bool relative;
        int iterations;
    } asked[] = {{0, false, 60}, {1e-2, false, 300}, {1e-9, false, 60}, {1e-4, true, 300}, {1e-14, true, 60}};
    int said[2] = {0};
    for (int solver = 0; solver < sand_solver_count(); solver++)
        for (int law = 0; law < 2; law++)
            for (int precision = SAND_FLOAT; precision <= SAND_DOUBLE; precision++)
                for (size_t k = 0; k < sizeof asked / sizeof *asked; k++) {
                    SandFriction friction = law ? SAND_FRICTION_COULOMB : SAND_FRICTION_CONE;
                    if (!sand_solver_can(solver, friction)) continue;
                    if (sand_solver_table[solver].assembled && precision == SAND_FLOAT) continue;
                    SandSolveDef def = solve_def(solver, friction, asked[k].iterations, asked[k].tolerance);
                    def.relative = asked[k].relative;
                    SandError error;
                    ClaimSolved s;
                    char text[256];
                    if (!claim_solve(&spheres, &def, (SandPrecision)precision, &s, &error)) fail_msg("%s", error.text);
                    ClaimFigures found = claim_measure(&spheres, &def, &s);
                    if (claim_check(&def, &s, &found, text)) fail_msg("%s: %s", sand_solver_table[solver].name, text);
                    said[s.solution.status == SAND_SOLVED]++;
                    claim_free(&s);
                }
    print_message("%d solves solved, %d not\n", said[1], said[0]);
    assert_true(said[0] > 20 && said[1] > 20); // both were put to the test
}

// A step that is too long makes jacobi's impulses grow for ever. It notices, and says so, long before the budget is used up.
static void divergence_ends_a_solve(void **state) {
    (void)state;
    SandSolveDef def = solve_def(sand_solver_find("jacobi"), SAND_FRICTION_CONE, 100000, 0);
    SandError error;
    assert_true(sand_solve_set(&def, "omega", "1", &error));
    for (int curve = 0; curve < 2; curve++) {
        SandSolution s = {.want_curve = curve, .want_metrics = true};
        SandCpu *cpu = sand_cpu_create(1, SAND_DOUBLE, &error);
        assert_true(sand_cpu_solve(cpu, &spheres, &def, &s, &error));
        print_message("jacobi with omega 1: %s after %d iterations at %g\n", sand_status_text(s.status), s.iterations,
                      s.metrics.residual);
        assert_int_equal(s.status, SAND_DIVERGED);
        assert_in_range(s.iterations, 1, 20000);
        sand_solution_free(&s);
        sand_cpu_free(cpu);
    }
}

static void cancel_is_not_a_budget(void **state) {
    (void)state;
    const int stop = 1;
    for (int solver = 0; solver < sand_solver_count(); solver++) {
        SandError error;
        SandSolution s = {.stop = &stop};
        SandSolveDef def = solve_def(solver, SAND_FRICTIONLESS, 1000, 0);
        SandCpu *cpu = sand_cpu_create(1, SAND_DOUBLE, &error);
        assert_true(sand_cpu_solve(cpu, &spheres, &def, &s, &error));
        if (s.status != SAND_CANCELED) fail_msg("%s: %s", sand_solver_table[solver].name, sand_status_text(s.status));
        sand_solution_free(&s);
        sand_cpu_free(cpu);
    }
}

// The certificate: where it says infeasible, the energy that a solution would take is far beyond what the problem has; and
// nothing is said of a problem that has a solution, however the impulses grow on the way.
static void infeasible_needs_a_proof(void **state) {
    (void)state;
    frozen_expected_report = "is infeasible";
    SandProblem wedge = frozen_scene("wedge", 0, 50, 50);
    frozen_expected_report = NULL;
    double r = r_norm(&wedge), energy = r * r * dense_tau(&wedge, false); // of the velocities that are asked for
    for (int solver = 0; solver < sand_solver_count(); solver++) {
        SandSolveDef def = solve_def(solver, SAND_FRICTIONLESS, 2000, 0);
        SandSolution s = solve(&wedge, &def, SAND_DOUBLE), t = solve(&asleep, &def, SAND_DOUBLE);
        const char *name = sand_solver_table[solver].name;
        bool looks = !sand_solver_table[solver].assembled || strstr(name, "ipm"); // the others just get nowhere
        if (sand_solver_table[solver].friction & SAND_INEXACT) looks = false;     // it solves another problem
        if (s.status != SAND_INFEASIBLE && (looks || s.status == SAND_SOLVED))
            fail_msg("%s: %s", name, sand_status_text(s.status));
        if (s.status == SAND_INFEASIBLE && !(s.least_energy > 1e4 * energy)) fail_msg("%s: %g J", name, s.least_energy);
        assert_true(t.status != SAND_INFEASIBLE && t.least_energy == 0);
        sand_solution_free(&s);
        sand_solution_free(&t);
    }
    sand_problem_free(&wedge);
}

// Every method that can do the model, on a problem that is small and hard: what it says holds in double.
static void check_claims(const char *name, SandFriction friction, double tolerance, bool relative, int *said) {
    SandProblem p = frozen_stored(name);
    for (int solver = 0; solver < sand_solver_count(); solver++)
        for (int precision = SAND_FLOAT; precision <= SAND_DOUBLE; precision++) {
            SandSolveDef def = solve_def(solver, friction, 5000, tolerance);
            SandError error;
            ClaimSolved s;
            char text[256];
            def.relative = relative;
            if (!sand_solve_check(&def, &error)) continue;
            for (int i = 0; i < p.contact_count; i++) p.start[i] = v3_make(0, 0, 0);
            if (!claim_solve(&p, &def, (SandPrecision)precision, &s, &error)) fail_msg("%s", error.text);
            ClaimFigures found = claim_measure(&p, &def, &s);
            if (claim_check(&def, &s, &found, text)) fail_msg("%s: %s: %s", name, sand_solver_table[solver].name, text);
            said[SAND_SOLVED - s.solution.status]++;
            claim_free(&s);
        }
    sand_problem_free(&p);
}

// Impulses of 1e5 N s and velocities of 1 m/s: in float they are in their cones, and in double far outside.
static void float_claims_hold_in_double(void **state) {
    (void)state;
    static const char *const names[] = {"float-1", "float-2", "100-247"};
    int said[8] = {0};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) check_claims(names[k], SAND_FRICTION_CONE, 1e-5, true, said);
    assert_true(said[0] > 20); // solved, and in float as well
}

// Wedges that open by 3e-4 to 2e-2: impulses are large, and there is a solution.
static void narrow_wedges_have_a_solution(void **state) {
    (void)state;
    static const char *const names[] = {"wedge2-0.0003", "100-134", "100-225", "100-371"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        int said[8] = {0};
        check_claims(names[k], SAND_FRICTION_COULOMB, 0, false, said);
        if (said[SAND_SOLVED - SAND_INFEASIBLE]) fail_msg("%s is not infeasible", names[k]);
    }
    int said[8] = {0};
    check_claims("wedge2-0.0003", SAND_FRICTION_CONE, 0, false, said);
    assert_int_equal(said[SAND_SOLVED - SAND_INFEASIBLE], 0);
    SandProblem p = frozen_stored("wedge2-0.0003");
    SandSolveDef def = solve_def(sand_solver_find("ngs-newton"), SAND_FRICTION_COULOMB, 1000, 0);
    SandSolution s = solve(&p, &def, SAND_DOUBLE);
    assert_int_equal(s.status, SAND_SOLVED);
    sand_solution_free(&s);
    sand_problem_free(&p);
}

// Where nothing slides Coulomb's law and the relaxed cone have the same solution, and the fixed point of the law must not
// cost much more than the cone: a restart loses what the method has learned.
static void law_costs_little_where_nothing_slides(void **state) {
    (void)state;
    const char *const methods[] = {"apgd", "p-spg-fb"};
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        int solver = sand_solver_find(methods[k]);
        SandSolveDef cone = solve_def(solver, SAND_FRICTION_CONE, 20000, 1e-10), law = cone;
        law.friction = SAND_FRICTION_COULOMB;
        SandSolution a = solve(&asleep, &cone, SAND_DOUBLE), b = solve(&asleep, &law, SAND_DOUBLE);
        print_message("%s: %d iterations on the cone, %d under the law\n", methods[k], a.iterations, b.iterations);
        assert_int_equal(a.status, SAND_SOLVED);
        assert_int_equal(b.status, SAND_SOLVED);
        assert_in_range(b.iterations, 1, 5 * a.iterations);
        sand_solution_free(&a);
        sand_solution_free(&b);
    }
}

// The least objective of a race is exact even where a loose tolerance ends ipm-soc early, and under Coulomb's law there is
// none.
static void race_compares_with_an_exact_objective(void **state) {
    (void)state;
    SandError error;
    SandRaceDef def = sand_default_race();
    assert_true(sand_race_parse(&def, "apgd,ipm-soc", &error));
    def.solve.tolerance = 1e-2;
    for (int law = 0; law < 2; law++) {
        SandRace race = {0};
        def.solve.friction = law ? SAND_FRICTION_COULOMB : SAND_FRICTION_CONE;
        assert_true(sand_race_run(&race, &spheres, &def, &error));
        assert_true(law ? isnan(race.reference) : race.exact);
        for (int k = 0; k < race.count && !law; k++)
            assert_true(race.entries[k].solution.metrics.objective >= race.reference - 1e-12 * fabs(race.reference));
        sand_race_free(&race);
    }
}

// What is no budget is refused by name before anything is solved.
static void budgets_out_of_range_are_refused(void **state) {
    (void)state;
    const struct {
        const char *name;
        int iterations;
        double budget_ms, tolerance, accuracy;
    } wrong[] = {{"iterations", -1, 0, 0, 0},   {"budget_ms", 1, -1, 0, 0},  {"budget_ms", 1, NAN, 0, 0},
                 {"tolerance", 1, 0, -1e-9, 0}, {"tolerance", 1, 0, NAN, 0}, {"accuracy", 1, 0, 0, 100}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        SandError error = {""};
        SandSolveDef def = sand_default_solve();
        assert_true(sand_solve_check(&def, &error));
        def.iterations = wrong[k].iterations;
        def.budget_ms = wrong[k].budget_ms;
        def.tolerance = wrong[k].tolerance;
        def.accuracy = wrong[k].accuracy;
        assert_false(sand_solve_check(&def, &error));
        assert_memory_equal(error.text, wrong[k].name, strlen(wrong[k].name));
    }
}

int main(void) {
    spheres = frozen_stored("spheres");
    asleep = frozen_well_posed(&spheres, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_is_a_claim_about_the_residual),
        cmocka_unit_test(divergence_ends_a_solve),
        cmocka_unit_test(cancel_is_not_a_budget),
        cmocka_unit_test(infeasible_needs_a_proof),
        cmocka_unit_test(float_claims_hold_in_double),
        cmocka_unit_test(narrow_wedges_have_a_solution),
        cmocka_unit_test(law_costs_little_where_nothing_slides),
        cmocka_unit_test(race_compares_with_an_exact_objective),
        cmocka_unit_test(budgets_out_of_range_are_refused),
    };
    int failures = cmocka_run_group_tests_name("status", tests, NULL, NULL);
    sand_problem_free(&spheres);
    sand_problem_free(&asleep);
    return failures;
}
