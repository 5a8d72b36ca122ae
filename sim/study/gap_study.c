// SPDX-License-Identifier: MIT
// Taking a gap study: the reference in rounds, the time of a product, and a row for each solver and budget.
#include "sim/study/gap_study.h"

#include "sim/core/array.h"
#include "sim/study/track.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// What a study works with.
typedef struct Work {
    const SandProblem *problem;
    const SandGapStudyDef *def;
    SandTrack track;
    SandEvaluator *evaluator;
    SAND_ARRAY(SandVec3) start, reference; // admissible impulses
    SandSolution solution;                 // of the last solve
    double products;                       // done so far, of
    double all_products;
} Work;

// Timing a product: jacobi is a product, a projection and nothing else. The difference of two budgets has no start and no
// end of a solve in it, and the least of some runs no interruption.
enum { PRODUCT_FEW = 20, PRODUCT_MANY = 120 };
// The first round of the reference, after which its residual is looked at. Each later one is as long as all before it: a
// round begins without momentum, and in a large pile it takes thousands of products to gather it.
enum { ROUND = 2000 };
// Runs of which the least time counts; a solve of a row that takes longer than SHORT runs once.
enum { RUNS = 3 };
static const double SHORT = 0.1; // s

static bool tell(Work *k, const char *next, SandError *error) {
    const SandGapStudyDef *def = k->def;
    return !def->progress || def->progress(def->user, k->products / k->all_products, next) ||
           sand_fail(error, "interrupted");
}

static SandSolveDef solve_def(const SandGapStudyDef *def, int solver, int budget) {
    SandSolveDef solve = sand_race_solve(&def->race, solver);
    solve.iterations = budget;
    solve.budget_ms = solve.tolerance = solve.accuracy = 0;
    solve.relative = false;
    return solve;
}

// Solves from the warm start, and again unless that took `enough` seconds. Returns the least time, below 0 on failure.
static double timed_solve(Work *k, const SandSolveDef *solve, double enough, SandError *error) {
    double least = INFINITY;
    for (int i = 0; i < RUNS && (i == 0 || least < enough); i++) {
        if (!sand_track_solve(&k->track, k->problem, solve, &k->solution, error)) return -1;
        least = fmin(least, k->solution.seconds);
    }
    k->products += solve->iterations;
    return least;
}

static bool time_product(Work *k, SandGapStudy *study, SandError *error) {
    int jacobi = sand_solver_find("jacobi");
    SandSolveDef few = solve_def(k->def, jacobi, PRODUCT_FEW), many = solve_def(k->def, jacobi, PRODUCT_MANY);
    if (!tell(k, "the time of a product", error)) return false;
    double least = timed_solve(k, &few, INFINITY, error);
    int iterations = k->solution.iterations;
    double most = least < 0 ? -1 : timed_solve(k, &many, INFINITY, error);
    if (most < 0) return false;
    int more = k->solution.iterations - iterations;
    study->product_seconds = more > 0 ? (most - least) / more : NAN;
    return true;
}

// --- the reference ------------------------------------------------------------------------------------------------

// Solves on from the best impulses so far for one round; `from` shares all but the start with the problem.
static bool reference_round(Work *k, SandTrack *track, SandProblem *from, SandGapStudy *study, bool *falls,
                            SandError *error) {
    int done = study->reference_iterations, left = k->def->reference - done, n = sand_problem_vectors(k->problem);
    int round = done > ROUND ? done : ROUND;
    SandSolveDef solve = solve_def(k->def, sand_solver_find(SAND_GAP_REFERENCE), left < round ? left : round);
    from->start = k->reference.data;
    if (!tell(k, "the reference", error) || !sand_track_solve(track, from, &solve, &k->solution, error)) return false;
    study->reference_iterations += solve.iterations;
    study->reference_device = sand_track_device(track, from, &solve);
    k->products += solve.iterations;
    sand_evaluator_project(k->evaluator, k->solution.impulse, k->solution.impulse);
    SandEvaluation at = sand_evaluate(k->evaluator, k->solution.impulse);
    *falls = at.residual_rms < 0.99 * study->reference.residual_rms && at.objective <= study->reference.objective;
    if (at.objective > study->reference.objective) return true;
    memcpy(k->reference.data, k->solution.impulse, (size_t)n * sizeof *k->reference.data);
    study->reference = at;
    return true;
}

// In rounds, until the residual no longer falls. On the CPU in double, whatever the precision of the study; a device has
// float.
static bool find_reference(Work *k, SandGapStudy *study, SandError *error) {
    const SandRaceDef *race = &k->def->race;
    SandProblem from = *k->problem;
    SandTrack exact = k->track;
    bool falls = true, ok = true;
    memcpy(k->reference.data, k->start.data, (size_t)sand_problem_vectors(k->problem) * sizeof *k->reference.data);
    study->reference = study->start;
    study->reference_iterations = 0;
    if (!k->track.backend && !sand_track_open(&exact, NULL, race->threads, SAND_DOUBLE, error))
        return sand_track_close(&exact), false;
    while (ok && falls && study->reference_iterations < k->def->reference)
        ok = reference_round(k, &exact, &from, study, &falls, error);
    study->reference_ended = !falls;
    if (!k->track.backend) sand_track_close(&exact);
    return ok;
}

// --- the rows -----------------------------------------------------------------------------------------------------

static void measure_row(Work *k, const SandGapStudy *study, SandGapRow *row) {
    const SandSolution *s = &k->solution;
    row->status = s->status;
    row->iterations = s->iterations;
    row->equivalents = row->seconds / study->product_seconds;
    sand_evaluator_project(k->evaluator, s->impulse, s->impulse);
    row->at = sand_evaluate(k->evaluator, s->impulse);
    row->gap = row->velocity = NAN;
    if (!sand_gap_study_has_gap(study)) return;
    row->gap = (row->at.objective - study->reference.objective) / (study->start.objective - study->reference.objective);
    row->velocity = sand_evaluator_energy(k->evaluator, s->impulse, k->reference.data) / study->velocity_energy;
}

static bool add_row(Work *k, SandGapStudy *study, int solver, int budget, SandError *error) {
    SandSolveDef solve = solve_def(k->def, solver, budget);
    SandGapRow *row = &study->rows[study->count];
    SandError why;
    *row = (SandGapRow){.solver = solver, .budget = budget, .device = sand_track_device(&k->track, k->problem, &solve)};
    if (!tell(k, sand_solver_table[solver].name, error)) return false;
    row->seconds = timed_solve(k, &solve, SHORT, &why);
    row->ran = row->seconds >= 0;
    if (row->ran)
        measure_row(k, study, row);
    else
        snprintf(row->refused, sizeof row->refused, "%.159s", why.text);
    study->count++;
    return true;
}

static bool add_rows(Work *k, SandGapStudy *study, SandError *error) {
    const SandGapStudyDef *def = k->def;
    study->count = 0;
    if (!SAND_GROW(study->rows, study->capacity, def->race.count * def->budget_count + 1, "rows", error)) return false;
    for (int s = 0; s < def->race.count; s++)
        for (int b = 0; b < def->budget_count; b++)
            if (!add_row(k, study, def->race.solvers[s], def->budgets[b], error)) return false;
    return true;
}

// --- the study ----------------------------------------------------------------------------------------------------

static void count_products(Work *k) {
    const SandGapStudyDef *def = k->def;
    k->all_products = PRODUCT_FEW + PRODUCT_MANY + def->reference;
    for (int b = 0; b < def->budget_count; b++) k->all_products += (double)def->race.count * def->budgets[b];
}

static bool open_work(Work *k, SandError *error) {
    const SandRaceDef *race = &k->def->race;
    size_t n = (size_t)sand_problem_vectors(k->problem) + 1;
    k->evaluator = sand_evaluator_create(k->problem, &race->solve, race->threads, error);
    return k->evaluator && SAND_RESERVE(k->start, n, "impulses", error) &&
           SAND_RESERVE(k->reference, n, "impulses", error) &&
           sand_track_open(&k->track, race->backend, race->threads, race->precision, error);
}

bool sand_gap_study_run(SandGapStudy *study, const SandProblem *problem, const SandGapStudyDef *def, SandError *error) {
    Work k = {.problem = problem, .def = def};
    count_products(&k);
    bool ok = open_work(&k, error);
    if (ok) {
        sand_evaluator_project(k.evaluator, problem->start, k.start.data);
        study->start = sand_evaluate(k.evaluator, k.start.data);
    }
    ok = ok && time_product(&k, study, error) && find_reference(&k, study, error);
    if (ok) study->velocity_energy = sand_evaluator_energy(k.evaluator, k.start.data, k.reference.data);
    ok = ok && add_rows(&k, study, error);
    sand_track_close(&k.track);
    sand_evaluator_free(k.evaluator);
    sand_solution_free(&k.solution);
    SAND_FREE_ARRAYS(&k.start, &k.reference);
    return ok;
}

void sand_gap_study_free(SandGapStudy *study) {
    sand_free(study->rows);
    *study = (SandGapStudy){0};
}

bool sand_gap_study_has_gap(const SandGapStudy *s) {
    return s->start.objective - s->reference.objective > 1e-12 * fabs(s->reference.objective);
}

static double cost_of(const SandGapRow *row, SandGapCost cost) {
    return cost == SAND_GAP_PRODUCTS ? row->iterations : row->equivalents;
}

double sand_gap_cost_to(const SandGapRow *rows, int count, double share, SandGapCost cost) {
    for (int i = 0; i < count; i++) {
        if (!rows[i].ran || !(rows[i].gap <= share)) continue;
        if (i == 0 || !rows[i - 1].ran) return 0;
        double above = log(rows[i - 1].gap), below = log(fmax(rows[i].gap, 1e-6)),
               t = (above - log(share)) / (above - below);
        return exp((1 - t) * log(cost_of(&rows[i - 1], cost)) + t * log(cost_of(&rows[i], cost)));
    }
    return INFINITY;
}
