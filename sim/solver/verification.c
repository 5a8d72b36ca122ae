// SPDX-License-Identifier: MIT
// Measuring in double what a float kernel claims: where a claim fails the solve goes on, with a tolerance that is as much
// smaller as the claim erred.
#include "sim/solver/verification.h"

#include "sim/core/array.h"
#include "sim/core/clock.h"

#include <math.h>

typedef struct Verification {
    SandLoaded solver, exact;
    SandThreadPool *pool;
    const SandProblem *problem;
    double tolerance; // that the caller asked for
    bool is_relative;
    SandSolution *solution;
    SAND_ARRAY(SandVec3) vectors; // admissible impulses, or a direction
} Verification;

bool sand_verification_needed(const SandSolution *s) {
    return s->want_metrics || s->status == SAND_SOLVED || s->status == SAND_INFEASIBLE;
}

static SandEvidence evidence_of(const Verification *v, const SandMetrics *m) {
    return (SandEvidence){m->residual, m->relative, m->objective, m->r_norm, v->tolerance, v->is_relative, 0, 0, 0};
}

static SandMetrics measure(const Verification *v, const SandVec3 *x) {
    SandMetrics m;
    v->exact.kernel->measure(v->exact.workspace, v->pool, x, &m);
    return m;
}

static bool holds(const Verification *v, SandEnd end, const SandMetrics *m) {
    return sand_status_of(end, evidence_of(v, m)) == SAND_SOLVED;
}

// Measures the impulses. They are outside the admissible set by a rounding of float, along normals that were rounded too:
// where figures are wanted, or a claim fails by that alone, the nearest admissible ones are taken.
static void measure_impulses(Verification *v, SandEnd end) {
    SandSolution *s = v->solution;
    bool claimed = s->status == SAND_SOLVED;
    s->metrics = measure(v, s->impulse);
    if (!s->want_metrics && (!claimed || holds(v, end, &s->metrics))) return;
    v->exact.kernel->project(v->exact.workspace, s->impulse, v->vectors.data);
    SandMetrics nearest = measure(v, v->vectors.data);
    if (!s->want_metrics && !holds(v, end, &nearest)) return;
    for (int i = 0, count = sand_problem_vectors(v->problem); i < count; i++)
        s->impulse[i] = v->vectors.data[i]; // none on some ranks
    s->metrics = nearest;
}

// Whether the direction that the solve found to recede does so in double; with the energy that it then proves.
static bool certify(Verification *v) {
    v->solver.kernel->direction(v->solver.workspace, v->vectors.data);
    SandRecession found = v->exact.kernel->recession(v->exact.workspace, v->pool, v->vectors.data);
    v->solution->least_energy = sand_recession_energy(found);
    return sand_recedes(found);
}

// Whether status and figures of the solution now hold; false: the solve has claimed too much.
static bool verify_once(Verification *v) {
    SandSolution *s = v->solution;
    SandStatus claimed = s->status;
    SandEnd end = v->solver.kernel->end(v->solver.workspace);
    measure_impulses(v, end);
    s->status = sand_status_of(end, evidence_of(v, &s->metrics));
    bool held = claimed == SAND_SOLVED ? s->status == SAND_SOLVED : s->status != SAND_INFEASIBLE || certify(v);
    if (s->status != SAND_INFEASIBLE) s->least_energy = 0;
    return held;
}

// The tolerance to go on with: as much smaller as the claim erred, and by half at least.
static double next_tolerance(const Verification *v) {
    double last = v->solver.kernel->tolerance(v->solver.workspace);
    double found = v->is_relative ? v->solution->metrics.relative : v->solution->metrics.residual;
    return found > 2 * v->tolerance ? last * v->tolerance / found : 0.5 * last;
}

static void verify(Verification *v, int iterations) {
    enum { ATTEMPTS = 8 };
    SandSolution *s = v->solution;
    for (int k = 0;; k++) {
        double begin = sand_seconds();
        bool claims = s->status == SAND_SOLVED || s->status == SAND_INFEASIBLE, held = verify_once(v);
        if (claims) s->seconds += sand_seconds() - begin;
        if (held) return;
        bool infeasible = s->status == SAND_INFEASIBLE, goes_on = infeasible || v->tolerance > 0;
        if (infeasible) s->status = SAND_STALLED;
        s->least_energy = 0;
        if (!goes_on || k == ATTEMPTS || s->iterations >= iterations) return;
        v->solver.kernel->resume(v->solver.workspace, v->pool, infeasible ? v->tolerance : next_tolerance(v));
    }
}

bool sand_verify(SandLoaded solver, SandLoaded exact, SandThreadPool *pool, const SandProblem *problem,
                 const SandSolveDef *def, SandSolution *solution, SandError *error) {
    Verification v = {.solver = solver, .exact = exact, .pool = pool, .problem = problem, .solution = solution};
    size_t n = (size_t)sand_problem_vectors(problem);
    SAND_ARRAY(double) bound = {0};
    bool ok = SAND_RESERVE(v.vectors, n + 1, "impulses", error) &&
              SAND_RESERVE(bound, (size_t)problem->contact_count + 1, "friction bounds", error);
    if (ok) {
        v.tolerance = solver.kernel->tolerance(solver.workspace);
        v.is_relative = def->relative && !(def->accuracy > 0);
        solver.kernel->read_bounds(solver.workspace, bound.data);
        exact.kernel->write_bounds(exact.workspace, bound.data);
        verify(&v, def->iterations);
    }
    SAND_FREE_ARRAYS(&v.vectors, &bound);
    return ok;
}
