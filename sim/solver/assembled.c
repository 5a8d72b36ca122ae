// SPDX-License-Identifier: MIT
// Driver of the assembled methods: runs begin, step or run, and end, measures every iterate with the kernel's residual,
// keeps the best impulses, records the curve, and turns the impulses into body velocities.
#include "sim/solver/assembled.h"

#include "sim/core/array.h"
#include "sim/core/clock.h"
#include "sim/solver/accuracy.h"

#include <math.h>
#include <string.h>

// Where N is stored as a matrix, body i carries minus the velocity of contact i (see SandMatrix).
void sand_solution_move_bodies(const SandProblem *p, SandSolution *s) {
    for (int k = 0; k < p->body_count; k++) {
        s->velocity[k] = p->bodies[k].velocity;
        s->spin[k] = p->bodies[k].spin;
    }
    const SandMatrix *m = p->matrix;
    for (int i = 0; m && i < p->contact_count; i++)
        for (int e = m->first[i]; e < m->first[i + 1]; e++)
            s->velocity[i] = v3_sub(s->velocity[i], sand_matrix_apply(m, e, s->impulse[m->column[e]]));
    for (int i = 0; !m && i < p->contact_count; i++)
        for (int side = 0; side < 2; side++) {
            const SandContact *c = &p->contacts[i];
            int k = side ? c->b : c->a;
            if (k >= p->dynamic_count) continue;
            const SandJointRows *joint = sand_problem_joint(p, i);
            bool angular = joint && joint->angular;
            SandVec3 g = side ? s->impulse[i] : v3_neg(s->impulse[i]);
            SandVec3 t = angular ? g : v3_cross(side ? c->arm_b : c->arm_a, g);
            if (!angular) s->velocity[k] = v3_madd(s->velocity[k], p->bodies[k].inverse_mass, g);
            s->spin[k] = v3_add(s->spin[k], m3_apply_symmetric(p->bodies[k].inverse_inertia, t));
        }
}

struct SandIterationMonitor {
    const SandAssembledMethod *method;
    void *state;
    const SandSolverKernel *kernel;
    SandSolverWorkspace *workspace;
    SandThreadPool *pool;
    const SandProblem *problem;
    const SandSolveDef *def;
    SandSolution *solution;
    SandEnd end;
    SandVec3 *impulse;       // of the current iterate; the solution holds the best one
    double begin, measuring; // s: clock at the start, and time spent on measuring, which does not count
};

static bool is_stopped(const SandSolution *s) { return s->stop && __atomic_load_n(s->stop, __ATOMIC_RELAXED); }

bool sand_monitor_has_budget(const SandIterationMonitor *monitor, int iterations) {
    const SandSolveDef *def = monitor->def;
    bool late = def->budget_ms > 0 && sand_seconds() - monitor->begin - monitor->measuring > 1e-3 * def->budget_ms;
    return !late && !is_stopped(monitor->solution) && iterations < def->iterations;
}

static SandEvidence evidence_of(const SandMetrics *m, const SandSolveDef *def) {
    return (SandEvidence){m->residual, m->relative, m->objective, m->r_norm, def->tolerance, def->relative, 0, 0, 0};
}

// Checks whether the current iterate proves that the problem is infeasible.
static bool certify(SandIterationMonitor *monitor) {
    SandRecession recession = monitor->kernel->recession(monitor->workspace, monitor->pool, monitor->impulse);
    bool proved = sand_recedes(recession);
    if (proved) monitor->solution->least_energy = sand_recession_energy(recession);
    return proved;
}

// Measures the iterate and keeps it if it is the best. The curve shows the best so far: what a solve that ended here
// returns.
bool sand_monitor_iterate(SandIterationMonitor *monitor, int iterations) {
    SandSolution *s = monitor->solution;
    double before = sand_seconds();
    SandMetrics m;
    monitor->method->impulses(monitor->state, monitor->impulse);
    monitor->kernel->measure(monitor->workspace, monitor->pool, monitor->impulse, &m);
    bool relative = monitor->def->relative;
    // With a tolerance this is the method's stopping test, and takes time that counts; without one it is for the curve
    // alone.
    if (monitor->def->tolerance > 0) before = sand_seconds();
    if (iterations == 0 || (relative ? m.relative <= s->metrics.relative : m.residual <= s->metrics.residual)) {
        s->metrics = m;
        for (int i = 0; i < monitor->problem->contact_count; i++) s->impulse[i] = monitor->impulse[i];
    }
    s->iterations = iterations;
    if (s->want_curve && s->curve_count < SAND_CURVE_MOST) {
        s->curve[s->curve_count++] = (SandCurvePoint){iterations, before - monitor->begin - monitor->measuring,
                                                      s->metrics.residual, s->metrics.objective};
        if (s->live) __atomic_store_n(s->live, s->curve_count, __ATOMIC_RELEASE);
    }
    if (monitor->end == SAND_END_RECEDES && !certify(monitor)) monitor->end = SAND_END_NONE;
    monitor->measuring += sand_seconds() - before;
    if (monitor->def->tolerance > 0 && sand_is_within(evidence_of(&s->metrics, monitor->def)))
        monitor->end = SAND_END_TOLERANCE;
    if (monitor->end == SAND_END_NONE && sand_is_astray(evidence_of(&m, monitor->def), SAND_HOPELESS))
        monitor->end = SAND_END_EXHAUSTED;
    if (monitor->end == SAND_END_NONE && !sand_monitor_has_budget(monitor, iterations))
        monitor->end = is_stopped(s) ? SAND_END_CANCELED : SAND_END_BUDGET;
    return monitor->end == SAND_END_NONE;
}

// Runs the method's own loop, or steps it, until the monitor or the method ends the solve.
static bool iterate(SandIterationMonitor *monitor, SandError *error) {
    SandSolution *s = monitor->solution;
    const SandAssembledMethod *method = monitor->method;
    bool more = sand_monitor_iterate(monitor, 0);
    if (more && method->run) {
        if (!method->run(monitor->state, monitor, error)) return false;
        if (monitor->end == SAND_END_NONE) monitor->end = SAND_END_EXHAUSTED;
    }
    while (more && !method->run) {
        if (!method->step(monitor->state, &monitor->end, error)) return false;
        more = sand_monitor_iterate(monitor, s->iterations + 1);
    }
    s->seconds = sand_seconds() - monitor->begin - monitor->measuring;
    // A method that ends without a solution may have run into a direction that recedes.
    if (monitor->end == SAND_END_EXHAUSTED && certify(monitor)) monitor->end = SAND_END_RECEDES;
    s->status = sand_status_of(monitor->end, evidence_of(&s->metrics, monitor->def));
    if (s->status != SAND_INFEASIBLE) s->least_energy = 0;
    return true;
}

// The definition with its accuracy as a tolerance.
static SandSolveDef judged_def(const SandProblem *p, const SandSolveDef *wanted) {
    SandSolveDef def = *wanted;
    if (def.accuracy > 0) {
        def.tolerance = sand_accuracy_rms(&def, p->recovery, p->step) * sqrt(fmax(p->contact_count, 1));
        def.relative = false;
    }
    return def;
}

bool sand_assembled_solve(const SandAssembledMethod *method, const SandSolverKernel *kernel, SandSolverWorkspace *workspace,
                          SandThreadPool *pool, const SandProblem *p, const SandSolveDef *wanted, SandSolution *s,
                          SandError *error) {
    SandSolveDef judged = judged_def(p, wanted), *def = &judged;
    size_t contacts = (size_t)p->contact_count, bodies = (size_t)p->body_count, impulse_capacity = 0;
    SandIterationMonitor monitor = {
        .method = method, .kernel = kernel, .workspace = workspace, .pool = pool, .problem = p, .def = def, .solution = s};
    if (method->prepare && !method->prepare(error)) return false;
    if (!SAND_GROW(s->impulse, s->impulse_capacity, contacts, "impulses", error) ||
        !SAND_GROW(s->velocity, s->velocity_capacity, bodies, "velocities", error) ||
        !SAND_GROW(s->spin, s->spin_capacity, bodies, "velocities", error) ||
        (s->want_curve &&
         !SAND_GROW(s->curve, s->curve_capacity, sand_curve_points(def->iterations), "residual curve", error)) ||
        !SAND_GROW(monitor.impulse, impulse_capacity, contacts + 1, "impulses", error))
        return false;
    s->iterations = s->curve_count = 0;
    s->least_energy = 0;
    monitor.begin = sand_seconds();
    monitor.state = method->begin(p, def, error);
    bool ok = monitor.state && iterate(&monitor, error);
    if (monitor.state) method->end(monitor.state);
    sand_free(monitor.impulse);
    if (ok) sand_solution_move_bodies(p, s);
    return ok;
}
