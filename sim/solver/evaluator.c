// SPDX-License-Identifier: MIT
// Measuring impulses by a kernel of the CPU in double, that of jacobi, which can do every friction model with the fewest
// vectors.
#include "sim/solver/evaluator.h"

#include "sim/core/array.h"
#include "sim/solver/cpu_kernel.h"

#include <math.h>
#include <stdlib.h>

struct SandEvaluator {
    SandCpu *cpu; // of its own: a solve would replace what is loaded
    const SandSolverKernel *kernel;
    SandSolverWorkspace *workspace;
    int contact_count, vectors;               // of the problem, and of its impulses
    SAND_ARRAY(double) residual;              // of each contact
    SAND_ARRAY(SandVec3) difference, product; // x - y, and N times that
};

bool sand_evaluator_check(const SandSolveDef *def, SandError *error) {
    const SandFrictionRow *model = &sand_friction_table[def->friction];
    return model->set == SAND_SET_CONE ||
           sand_fail(error,
                     "the friction model %s has no minimum over a fixed set to measure a gap from; "
                     "frictionless, cone, pyramid and polyhedral have one",
                     model->name);
}

static bool load(SandEvaluator *e, const SandProblem *problem, const SandSolveDef *def, int threads, SandError *error) {
    SandSolveDef model = *def;
    sand_solve_choose(&model, sand_solver_find("jacobi")); // it can do all models, and has the fewest vectors
    size_t n = (size_t)sand_problem_vectors(problem) + 1;
    e->contact_count = problem->contact_count;
    e->vectors = sand_problem_vectors(problem);
    e->cpu = sand_cpu_create(threads, SAND_DOUBLE, error);
    return e->cpu && SAND_RESERVE(e->residual, n, "residuals", error) && SAND_RESERVE(e->difference, n, "impulses", error) &&
           SAND_RESERVE(e->product, n, "impulses", error) &&
           sand_cpu_load(e->cpu, problem, &model, &e->kernel, &e->workspace, error);
}

SandEvaluator *sand_evaluator_create(const SandProblem *problem, const SandSolveDef *def, int threads, SandError *error) {
    if (!sand_evaluator_check(def, error)) return NULL;
    SandEvaluator *e = calloc(1, sizeof *e);
    if (!e) return sand_fail(error, "out of memory for an evaluator"), NULL;
    if (load(e, problem, def, threads, error)) return e;
    sand_evaluator_free(e);
    return NULL;
}

void sand_evaluator_free(SandEvaluator *e) {
    if (!e) return;
    sand_cpu_free(e->cpu);
    SAND_FREE_ARRAYS(&e->residual, &e->difference, &e->product);
    free(e);
}

void sand_evaluator_project(SandEvaluator *e, const SandVec3 *from, SandVec3 *to) {
    e->kernel->project(e->workspace, from, to);
}

SandEvaluation sand_evaluate(SandEvaluator *e, const SandVec3 *impulse) {
    SandThreadPool *pool = sand_cpu_thread_pool(e->cpu);
    SandMetrics metrics;
    e->kernel->measure(e->workspace, pool, impulse, &metrics);
    e->kernel->residuals(e->workspace, pool, impulse, e->residual.data);
    SandEvaluation found = {.objective = metrics.objective, .residual_rms = metrics.residual_rms};
    for (int i = 0; i < e->contact_count; i++) found.residual_max = fmax(found.residual_max, e->residual.data[i]);
    return found;
}

double sand_evaluator_energy(SandEvaluator *e, const SandVec3 *x, const SandVec3 *y) {
    double sum = 0;
    for (int i = 0; i < e->vectors; i++) e->difference.data[i] = v3_sub(x[i], y[i]);
    e->kernel->product(e->workspace, sand_cpu_thread_pool(e->cpu), e->difference.data, e->product.data);
    for (int i = 0; i < e->vectors; i++) sum += v3_dot(e->difference.data[i], e->product.data[i]);
    return 0.5 * fmax(sum, 0); // N is positive semidefinite, its products are so to a rounding
}
