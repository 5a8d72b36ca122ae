// SPDX-License-Identifier: MIT
// The figures of `sandglass converge`: the evaluator against dense algebra, and the study against an interior point method.
#include "sim/solver/evaluator.h"
#include "sim/study/gap_study.h"
#include "tests/lab/solver/dense.h"
#include "tests/lab/solver/frozen.h"
#include "tests/lab/lab.h"
#include "tests/lab/solving_backend.h"

static SandProblem problem;

static SandSolveDef cone(void) {
    SandSolveDef def = sand_default_solve();
    def.friction = SAND_FRICTION_CONE;
    return def;
}

static SandEvaluator *evaluator_of(int threads) {
    SandError error = {""};
    SandSolveDef def = cone();
    SandEvaluator *e = sand_evaluator_create(&problem, &def, threads, &error);
    if (!e) fail_msg("%s", error.text);
    return e;
}

// Impulses of about the size of the problem's, in all directions.
static SandVec3 *random_impulses(uint64_t seed) {
    SandRandom random = sand_random(seed);
    SandVec3 *x = calloc((size_t)problem.contact_count, sizeof *x);
    for (int i = 0; i < problem.contact_count; i++) {
        double n[3];
        for (int k = 0; k < 3; k++) n[k] = sand_random_signed(&random);
        x[i] = v3_madd(v3_make(n[0], n[1], n[2]), 1, problem.contacts[i].normal);
    }
    return x;
}

// Momentum of a spin: the inverse of the inverse inertia, by cofactors.
static double spin_energy(const double *m, SandVec3 w) {
    double a = m[1] * m[2] - m[5] * m[5], b = m[4] * m[5] - m[3] * m[2], c = m[3] * m[5] - m[4] * m[1];
    double det = m[0] * a + m[3] * b + m[4] * c;
    SandVec3 x = v3_make(a, b, c), y = v3_make(b, m[0] * m[2] - m[4] * m[4], m[3] * m[4] - m[0] * m[5]);
    SandVec3 z = v3_make(c, m[3] * m[4] - m[0] * m[5], m[0] * m[1] - m[3] * m[3]);
    return 0.5 * v3_dot(w, v3_make(v3_dot(x, w), v3_dot(y, w), v3_dot(z, w))) / det;
}

// (v_x - v_y)' M (v_x - v_y) / 2, from the velocities.
static double dense_energy(const SandVec3 *x, const SandVec3 *y) {
    size_t n = (size_t)problem.body_count;
    SandVec3 *v = calloc(4 * n, sizeof *v), *s = v + n, *v2 = s + n, *s2 = v2 + n;
    double energy = 0;
    dense_velocities(&problem, x, v, s);
    dense_velocities(&problem, y, v2, s2);
    for (int k = 0; k < problem.dynamic_count; k++) {
        const SandProblemBody *b = &problem.bodies[k];
        SandVec3 d = v3_sub(v[k], v2[k]);
        energy += 0.5 * v3_dot(d, d) / b->inverse_mass + spin_energy(b->inverse_inertia, v3_sub(s[k], s2[k]));
    }
    free(v);
    return energy;
}

// Largest residual of a contact, from the definitions.
static double dense_residual_max(const SandVec3 *x) {
    size_t n = (size_t)problem.contact_count;
    SandVec3 *y = calloc(2 * n, sizeof *y), *r = y + n;
    double tau = dense_tau(&problem, false), most = 0;
    dense_product(&problem, false, x, y, NULL);
    dense_r(&problem, false, r);
    for (size_t i = 0; i < n; i++) {
        const SandContact *c = &problem.contacts[i];
        SandVec3 e = v3_sub(x[i], dense_project(v3_madd(x[i], -tau, v3_add(y[i], r[i])), c->normal, c->mu));
        most = fmax(most, v3_length(e) / tau);
    }
    free(y);
    return most;
}

// Sums of a thousand terms in double agree to some 1e-12, in whichever order they are added.
static void figures_are_those_of_dense_algebra(void **state) {
    (void)state;
    SandEvaluator *e = evaluator_of(1);
    SandVec3 *raw = random_impulses(1), *x = random_impulses(1), *y = random_impulses(2);
    sand_evaluator_project(e, x, x);
    for (int i = 0; i < problem.contact_count; i++)
        NEAR(v3_length(v3_sub(x[i], dense_project(raw[i], problem.contacts[i].normal, problem.contacts[i].mu))), 0, 1e-12);
    DenseMeasure want = dense_measure(&problem, false, x);
    SandEvaluation got = sand_evaluate(e, x);
    NEAR(got.objective, want.objective, 1e-11 * fabs(want.objective));
    NEAR(got.residual_rms, want.residual / sqrt(problem.contact_count), 1e-11 * want.residual);
    NEAR(got.residual_max, dense_residual_max(x), 1e-11 * got.residual_max);
    double energy = dense_energy(x, y);
    assert_true(energy > 0);
    NEAR(sand_evaluator_energy(e, x, y), energy, 1e-11 * energy);
    NEAR(sand_evaluator_energy(e, x, x), 0, 0);
    free(raw);
    free(x);
    free(y);
    sand_evaluator_free(e);
}

static void threads_change_nothing(void **state) {
    (void)state;
    SandEvaluator *one = evaluator_of(1), *three = evaluator_of(3);
    SandVec3 *x = random_impulses(3), *y = random_impulses(4);
    SandEvaluation a = sand_evaluate(one, x), b = sand_evaluate(three, x);
    assert_memory_equal(&a, &b, sizeof a);
    NEAR(sand_evaluator_energy(one, x, y), sand_evaluator_energy(three, x, y), 0);
    free(x);
    free(y);
    sand_evaluator_free(one);
    sand_evaluator_free(three);
}

static void a_law_has_no_gap(void **state) {
    (void)state;
    SandError error = {""};
    SandSolveDef def = cone();
    def.friction = SAND_FRICTION_COULOMB;
    assert_null(sand_evaluator_create(&problem, &def, 1, &error));
    assert_non_null(strstr(error.text, "coulomb has no minimum"));
}

static SandGapStudyDef study_of(const char *solvers) {
    SandError error = {""};
    SandGapStudyDef def = {.race = sand_default_race(), .budgets = {5, 20, 100, 400}, .budget_count = 4, .reference = 20000};
    assert_true(sand_race_parse(&def.race, solvers, &error));
    def.race.solve.friction = SAND_FRICTION_CONE;
    return def;
}

static SandGapStudy run(const SandGapStudyDef *def) {
    SandError error = {""};
    SandGapStudy study = {0};
    if (!sand_gap_study_run(&study, &problem, def, &error)) fail_msg("%s", error.text);
    assert_int_equal(study.count, def->race.count * def->budget_count);
    return study;
}

// The interior point method shares nothing with the reference, and ends at rounding: its gap and its velocities must be
// those of the reference. The other methods come nearer with every budget.
static void gaps_fall_to_those_of_an_interior_point_method(void **state) {
    (void)state;
    SandGapStudyDef def = study_of("p-spg-fb,apgd,gauss-seidel,jacobi,ipm-soc");
    SandGapStudy study = run(&def);
    SandEvaluator *e = evaluator_of(1);
    SandVec3 *start = calloc((size_t)problem.contact_count, sizeof *start);
    sand_evaluator_project(e, problem.start, start);
    NEAR(study.start.objective, dense_measure(&problem, false, start).objective, 1e-11 * fabs(study.start.objective));
    for (int s = 0; s < 4; s++) {
        const SandGapRow *rows = &study.rows[4 * s];
        assert_true(rows[0].gap < 1 && rows[0].velocity < 1);
        for (int b = 1; b < 4; b++) {
            assert_int_equal(rows[b].iterations, def.budgets[b]);
            assert_true(rows[b].gap < rows[b - 1].gap);
            assert_true(rows[b].at.residual_max <= rows[b].at.residual_rms * sqrt(problem.contact_count) * (1 + 1e-12));
        }
    }
    const SandGapRow *exact = &study.rows[4 * 4 + 3];
    NEAR(exact->gap, 0, 1e-6);
    NEAR(exact->velocity, 0, 1e-6);
    free(start);
    sand_evaluator_free(e);
    sand_gap_study_free(&study);
}

// The reference is the method that needs the fewest products for many digits: with as many, apgd is above it.
static void the_reference_is_below_apgd(void **state) {
    (void)state;
    SandGapStudyDef def = study_of("apgd");
    def.reference = 400;
    SandGapStudy study = run(&def);
    assert_int_equal(study.reference_iterations, def.budgets[3]);
    assert_true(study.rows[3].gap > 0 && study.rows[3].at.residual_rms > study.reference.residual_rms);
    sand_gap_study_free(&study);
}

static void a_solver_that_cannot_is_kept_by_name(void **state) {
    (void)state;
    SandGapStudyDef def = study_of("ngs,jacobi");
    def.reference = 100;
    SandGapStudy study = run(&def);
    assert_false(study.rows[0].ran);
    assert_non_null(strstr(study.rows[0].refused, "ngs"));
    assert_true(study.rows[4].ran);
    assert_false(study.reference_ended);
    sand_gap_study_free(&study);
}

// Solvers and the reference run on the backend; what it returns is measured on the host all the same. Its float leaves a
// residual of 1e-7 of the velocities, and the square of that in the objective.
static void a_backend_solves_and_the_host_measures(void **state) {
    (void)state;
    SandGapStudyDef def = study_of("p-spg-fb,ipm-soc");
    def.race.backend = &solving_backend;
    def.reference = 4000;
    solving_count = 0;
    SandGapStudy study = run(&def);
    assert_int_equal(solving_devices, 0);
    assert_true(solving_count >= 2 + 1 + 4); // the time of a product, a round of the reference, the rows
    assert_string_equal(study.rows[0].device, "other");
    assert_string_equal(study.rows[4].device, "cpu");
    assert_string_equal(study.reference_device, "other");
    NEAR(study.rows[7].gap, 0, 1e-6);
    NEAR(study.rows[3].gap, 0, 1e-3);
    sand_gap_study_free(&study);
}

static bool refuse(void *user, double done, const char *next) {
    (void)next;
    assert_true(done >= 0 && done <= 1);
    return ++*(int *)user < 3;
}

static void the_caller_ends_it(void **state) {
    (void)state;
    SandError error = {""};
    int calls = 0;
    SandGapStudyDef def = study_of("jacobi");
    SandGapStudy study = {0};
    def.progress = refuse;
    def.user = &calls;
    assert_false(sand_gap_study_run(&study, &problem, &def, &error));
    assert_int_equal(calls, 3);
    sand_gap_study_free(&study);
}

// On a power law the interpolation is exact.
static void costs_are_interpolated_in_logarithms(void **state) {
    (void)state;
    SandGapRow rows[3] = {0};
    static const int budgets[] = {10, 100, 1000};
    for (int i = 0; i < 3; i++) rows[i] = (SandGapRow){.ran = true, .iterations = budgets[i], .gap = 4.0 / budgets[i]};
    for (int i = 0; i < 3; i++) rows[i].equivalents = 1.5 * budgets[i];
    NEAR(sand_gap_cost_to(rows, 3, 0.1, SAND_GAP_PRODUCTS), 40, 1e-12 * 40);
    NEAR(sand_gap_cost_to(rows, 3, 0.01, SAND_GAP_EQUIVALENTS), 600, 1e-12 * 600);
    NEAR(sand_gap_cost_to(rows, 3, 0.5, SAND_GAP_PRODUCTS), 0, 0);
    assert_true(isinf(sand_gap_cost_to(rows, 3, 1e-3, SAND_GAP_PRODUCTS)));
    rows[2].gap = -1e-9; // below the reference, by rounding: counts as 1e-6
    NEAR(sand_gap_cost_to(rows, 3, 0.04 * 1e-2, SAND_GAP_PRODUCTS), 100 * pow(10, log(100) / log(0.04 / 1e-6)),
         1e-10 * 1000);
}

static int freeze(void **state) {
    (void)state;
    problem = frozen_stored("pebbles");
    return 0;
}
static int thaw(void **state) {
    (void)state;
    sand_problem_free(&problem);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(figures_are_those_of_dense_algebra),
                                       cmocka_unit_test(threads_change_nothing),
                                       cmocka_unit_test(a_law_has_no_gap),
                                       cmocka_unit_test(gaps_fall_to_those_of_an_interior_point_method),
                                       cmocka_unit_test(the_reference_is_below_apgd),
                                       cmocka_unit_test(a_solver_that_cannot_is_kept_by_name),
                                       cmocka_unit_test(a_backend_solves_and_the_host_measures),
                                       cmocka_unit_test(the_caller_ends_it),
                                       cmocka_unit_test(costs_are_interpolated_in_logarithms)};
    return cmocka_run_group_tests(tests, freeze, thaw);
}
