// SPDX-License-Identifier: MIT
// The solver kernels on the CPU. Compiled once per variant (sim/solver/kernel/variant.h): the build defines SAND_REAL,
// SAND_ROWS, SAND_RADIAL, SAND_LOCAL, SAND_JOINTS, SAND_ROLLING, and SAND_KERNEL_NAME, the name of the table of functions at
// the end.
#include "sim/solver/accuracy.h"
#include "sim/solver/cpu_load.inl"

#ifndef SAND_KERNEL_NAME // opened alone
#define SAND_KERNEL_NAME sand_kernel_f64_local_full
#endif

// --- solving ----------------------------------------------------------------------------------------------

static SandVec3 world_impulse(const Op *op, ContactRef ref, Row r) {
    Vec g = contact_impulse(op, ref, r);
    return v3_make(g.x, g.y, g.z);
}

// Stores the impulse of a contact as vectors of the world, as those of contact `to` of `count`: its force, and behind those
// of all contacts its torque.
static void store_world(const Op *op, ContactRef ref, Row r, SandVec3 *out, Index to, Index count) {
    out[to] = world_impulse(op, ref, r);
#if SAND_ROLLING
    Vec t = contact_torque(op, ref, r);
    out[count + to] = v3_make(t.x, t.y, t.z);
#else
    (void)count;
#endif
}

// The same for its velocity: that of its torque is a spin.
static void store_world_velocity(const Op *op, ContactRef ref, Row u, SandVec3 *out, Index to) {
    store_world(op, ref, u, out, to, op->contact_count);
#if SAND_ROLLING
    double arm = rolling_constant(op, ref, ROLLING_ARM);
    out[op->contact_count + to] = v3_scale(1 / (arm * arm), out[op->contact_count + to]);
#endif
}

// Where contact i of the loaded problem lies.
static ContactRef loaded_contact(const SandSolverWorkspace *workspace, Index i) {
    return contact_ref(&workspace->op, workspace->contact_at.data[i]);
}

// Whether the velocities of a body are known: those of a ghost that nothing touches are nobody's here.
static bool is_gathered(const Op *op, Index k) { return !op->ghosts || body_degree(op, k) > 0; }

// Back to double: impulses, and free velocities plus what the impulses changed.
static void store_solution(SandWorker *w, const SandSolverWorkspace *workspace) {
    const Op *op = &workspace->op;
    const SandProblem *p = workspace->problem;
    SandSolution *s = workspace->solution;
    SAND_FOR_EACH(w, i, op->contact_count) {
        ContactRef ref = loaded_contact(workspace, i);
        store_world(op, ref, solve_best(op, &workspace->run.solve, ref), s->impulse, i, op->contact_count);
    }
    SAND_FOR_EACH(w, k, p->body_count) {
        const SandProblemBody *free = &p->bodies[k];
        Body change = {{0}, {0}};
        if (k < op->dynamic_count && is_gathered(op, k)) change = op->body[k];
        s->velocity[k] = v3_add(free->velocity, v3_make(change.v[0], change.v[1], change.v[2]));
        s->spin[k] = v3_add(free->spin, v3_make(change.w[0], change.w[1], change.w[2]));
    }
}

// A solve that goes on finds in op->body what its impulses changed: the free velocities belong to it.
static void restore_velocities(SandWorker *w, const Op *op) {
    SAND_FOR_EACH(w, k, op->dynamic_count) {
        for (int c = 0; c < 3; c++) op->body[k].v[c] += op->free[k].v[c];
        for (int c = 0; c < 3; c++) op->body[k].w[c] += op->free[k].w[c];
    }
    sand_barrier(w);
}

static void solve_work(SandWorker *w, void *argument) {
    SandSolverWorkspace *workspace = argument;
    if (workspace->run.started) restore_velocities(w, &workspace->op);
    solve_run(w, &workspace->run, &workspace->run.request, &workspace->op, workspace->method,
              workspace->run.request.most_iterations);
    store_solution(w, workspace);
}

static SandMetrics metrics_of(Measure m, size_t contacts) {
    return (SandMetrics){.residual = m.residual,
                         .residual_rms = contacts ? m.residual / sqrt((double)contacts) : 0,
                         .objective = m.objective,
                         .complementarity = m.complementarity,
                         .relative = m.relative,
                         .r_norm = m.r_norm};
}

// Solves, or goes on, and says how it ended.
static void run_solve(SandSolverWorkspace *workspace, SandThreadPool *pool) {
    SandSolution *s = workspace->solution;
    SolveState *run = &workspace->run;
    sand_thread_pool_run_spans(pool, &workspace->spans, solve_work, workspace);
    s->status = sand_status_of(run->solve.end, evidence_of(&run->request, run->measure));
    s->least_energy = s->status == SAND_INFEASIBLE ? run->solve.least_energy : 0;
    s->iterations = run->iterations;
    s->seconds = run->seconds;
    s->curve_count = run->curve_count;
    s->metrics = metrics_of(run->measure, (size_t)all_contacts(workspace));
}

static bool kernel_solve(SandSolverWorkspace *workspace, SandThreadPool *pool, const SandProblem *p, const SandSolveDef *def,
                         SandSolution *s, SandError *error) {
    if (!sand_solution_reserve(s, p, def, error)) return false;
    SolveState *run = &workspace->run;
    double rms = sand_accuracy_rms(def, p->recovery, p->step);
    solve_state_init(run, def, rms, s->want_metrics, s->want_curve ? s->curve : NULL);
    request_resolve(&run->request, all_contacts(workspace));
    run->request.verified = true;
    run->request.stop = s->stop;
    run->request.live = s->live;
    workspace->method = def->solver;
    workspace->solution = s;
    run_solve(workspace, pool);
    return true;
}

static SandEnd kernel_end(const SandSolverWorkspace *workspace) { return workspace->run.solve.end; }
static double kernel_tolerance(const SandSolverWorkspace *workspace) { return workspace->run.request.tolerance; }

static void kernel_resume(SandSolverWorkspace *workspace, SandThreadPool *pool, double tolerance) {
    SolveState *run = &workspace->run;
    run->request.tolerance = tolerance;
    run->request.rms = 0;
    run->solve.end = SAND_END_NONE;
    run->solve.least_energy = 0;
    run->doubts.residual = INFINITY;
    run->ended = false;
    run_solve(workspace, pool);
}

static void kernel_direction(const SandSolverWorkspace *workspace, SandVec3 *d) {
    const Op *op = &workspace->op;
    for (int64_t i = 0; i < op->contact_count; i++) {
        ContactRef ref = loaded_contact(workspace, i);
        store_world(op, ref, row_load(workspace->run.request.reference, ref), d, i, op->contact_count);
    }
}

// The sizes of the sections of frozen friction; other models and variants have none.
static void kernel_read_bounds(const SandSolverWorkspace *workspace, double *bound) {
    for (int64_t i = 0; i < workspace->op.contact_count; i++) {
#if SAND_LOCAL
        bound[i] = workspace->op.bound[contact_index(loaded_contact(workspace, i))];
#else
        bound[i] = 0;
#endif
    }
}
static void kernel_write_bounds(SandSolverWorkspace *workspace, const double *bound) {
#if SAND_LOCAL
    for (int64_t i = 0; i < workspace->op.contact_count; i++)
        workspace->op.bound[contact_index(loaded_contact(workspace, i))] = (real)bound[i];
#else
    (void)workspace, (void)bound;
#endif
}

// --- measuring impulses from elsewhere --------------------------------------------------------------------

static Vec vec_of_world(SandVec3 v) { return vec_make((real)v.x, (real)v.y, (real)v.z); }

// The row of contact i of the problem from vectors of the world, as store_world stores them.
static Row row_of_world(const Op *op, ContactRef ref, Index i, const SandVec3 *x) {
    SandVec3 v = x[i];
#if SAND_ROLLING
    SandVec3 torque = x[op->contact_count + i];
    ContactBasis basis = basis_of(contact_normal(op, ref));
    Vec turn = basis_in(basis, vec_of_world(v3_scale(1 / (double)rolling_constant(op, ref, ROLLING_ARM), torque)));
    return row_make(basis_in(basis, vec_of_world(v)), turn);
#elif SAND_LOCAL
    return basis_in(basis_of(contact_normal(op, ref)), vec_of_world(v));
#elif SAND_ROWS == 3
    return (void)op, (void)ref, vec_of_world(v);
#else
    return vec_dot(vec_of_world(v), contact_normal(op, ref));
#endif
}

// Loads impulses given as world vectors into vector 0; the padding is zero.
static void load_impulses(SandSolverWorkspace *workspace, SandWorker *w) {
    const Op *op = &workspace->op;
    Row none;
    memset(&none, 0, sizeof none);
    SAND_FOR_EACH(w, i, op->n) row_store(workspace->vectors.data, contact_ref(op, i), none);
    sand_barrier(w);
    SAND_FOR_EACH(w, i, op->contact_count) {
        ContactRef ref = loaded_contact(workspace, i);
        row_store(workspace->vectors.data, ref, row_of_world(op, ref, i, workspace->x));
    }
    sand_barrier(w);
}

static void measure_work(SandWorker *w, void *argument) {
    SandSolverWorkspace *workspace = argument;
    load_impulses(workspace, w);
    Measure m = measure(w, &workspace->op, workspace->vectors.data, false);
    if (worker_is_first(w)) workspace->run.measure = m;
}

static void kernel_measure(SandSolverWorkspace *workspace, SandThreadPool *pool, const SandVec3 *x, SandMetrics *metrics) {
    workspace->x = x;
    sand_thread_pool_run_spans(pool, &workspace->spans, measure_work, workspace);
    *metrics = metrics_of(workspace->run.measure, (size_t)all_contacts(workspace));
}

static void recession_work(SandWorker *w, void *argument) {
    enum { PRODUCTS = 100 }; // a claim is rare, and one that is lost is lost for good
    SandSolverWorkspace *workspace = argument;
    load_impulses(workspace, w);
    SandRecession measured = find_recession(w, &workspace->op, workspace->vectors.data, PRODUCTS);
    if (worker_is_first(w)) workspace->recession = measured;
}

static SandRecession kernel_recession(SandSolverWorkspace *workspace, SandThreadPool *pool, const SandVec3 *x) {
    workspace->x = x;
    sand_thread_pool_run_spans(pool, &workspace->spans, recession_work, workspace);
    return workspace->recession;
}

static void residuals_work(SandWorker *w, void *argument) {
    SandSolverWorkspace *workspace = argument;
    const Op *op = &workspace->op;
    load_impulses(workspace, w);
    gather_bodies_of(w, op, workspace->vectors.data, op->free, op->measured);
    SAND_FOR_EACH(w, i, op->contact_count) {
        ContactRef ref = loaded_contact(workspace, i);
        Row u = contact_unbiased(op, ref, contact_gradient_from(op, op->measured, ref));
        workspace->each[i] = residual_of(op, contact_natural_map(op, ref, row_load(workspace->vectors.data, ref),
                                                                 contact_dual(op, ref, u), (real)op->tau));
    }
}

static void kernel_residuals(SandSolverWorkspace *workspace, SandThreadPool *pool, const SandVec3 *x, double *each) {
    workspace->x = x;
    workspace->each = each;
    sand_thread_pool_run_spans(pool, &workspace->spans, residuals_work, workspace);
}

// --- products and projections of world vectors ------------------------------------------------------------

static void product_work(SandWorker *w, void *argument) {
    SandSolverWorkspace *workspace = argument;
    const Op *op = &workspace->op;
    load_impulses(workspace, w);
    gather_bodies_of(w, op, workspace->vectors.data, op->still, op->scratch);
    SAND_FOR_EACH(w, i, op->contact_count) {
        ContactRef ref = loaded_contact(workspace, i);
        Row y = contact_without_bias(op, ref, contact_gradient_from(op, op->scratch, ref));
        store_world_velocity(op, ref, y, workspace->y, i);
    }
}

static void kernel_product(SandSolverWorkspace *workspace, SandThreadPool *pool, const SandVec3 *x, SandVec3 *y) {
    workspace->x = x;
    workspace->y = y;
    sand_thread_pool_run_spans(pool, &workspace->spans, product_work, workspace);
}

static void kernel_project(SandSolverWorkspace *workspace, const SandVec3 *x, SandVec3 *y) {
    const Op *op = &workspace->op;
    for (int64_t i = 0; i < op->contact_count; i++) {
        ContactRef ref = loaded_contact(workspace, i);
        store_world(op, ref, contact_project(op, ref, row_of_world(op, ref, i, x)), y, i, op->contact_count);
    }
}

const SandSolverKernel SAND_KERNEL_NAME = {
    .create = kernel_create,
    .destroy = kernel_destroy,
    .load = kernel_load,
    .solve = kernel_solve,
    .end = kernel_end,
    .tolerance = kernel_tolerance,
    .resume = kernel_resume,
    .direction = kernel_direction,
    .read_bounds = kernel_read_bounds,
    .write_bounds = kernel_write_bounds,
    .measure = kernel_measure,
    .recession = kernel_recession,
    .residuals = kernel_residuals,
    .product = kernel_product,
    .project = kernel_project,
};
