// SPDX-License-Identifier: MIT
// The driver of every method, on every device: it starts a solve, iterates within the budget, records the curve, notices
// infeasible problems, and ends with the best impulses and the velocities they produce. It knows methods only through the
// columns of the solver table.
#pragma once
#include "sim/solver/kernel/growth.inl"
#include "sim/solver/kernel/kernel.inl"
#include "sim/solver/method_traits.h"
#include "sandglass/problem.h"

// One contact's part of the best impulses, at the end of a solve.
SAND_INLINE Row solve_best(const Op *op, const Solve *s, ContactRef ref) {
    return row_load_from(op_vector(op, s->best), ref, s->paired);
}

// Methods that look at components are left out of variants whose impulses are world vectors.
#if SAND_COMPONENTS
#define SAND_IF_COMPONENTS(...) SAND_ROW(__VA_ARGS__)
#else
#define SAND_IF_COMPONENTS(...)
#endif
// Methods that know no torques are left out where contacts have them.
#if SAND_ROLLING
#define SAND_IF_FORCES(...)
#else
#define SAND_IF_FORCES(...) SAND_ROW(__VA_ARGS__)
#endif

#define SAND_INCLUDE_METHODS
#define SAND_ROW(id, ...)
#include "sim/solver/solver_table.inl"
#undef SAND_INCLUDE_METHODS

typedef union MethodState {
#define SAND_ROW(id, ...) id##_State id;
#define SAND_COMPONENT_ROW SAND_IF_COMPONENTS
#define SAND_FORCE_ROW SAND_IF_FORCES
#include "sim/solver/solver_table.inl"
} MethodState;

enum Method {
#define SAND_ROW(id, ...) METHOD_##id,
#define SAND_ASSEMBLED_ROW(id, ...) METHOD_##id,
#include "sim/solver/solver_table.inl"
};

// Whether the table says that the method does this by itself (SAND_OWNS_). Constant where the method is.
SAND_INLINE bool method_owns(int method, unsigned what) {
    unsigned own = 0;
    switch (method) {
#define SAND_ROW(id, name, vectors, on_cuda, owns, ...) \
    case METHOD_##id: \
        own = owns; \
        break;
#include "sim/solver/solver_table.inl"
    }
    return (own & what) != 0;
}

SAND_KERNEL void method_start(Worker *w, Solve *s, MethodState *m) {
    switch (s->method) {
#define SAND_ROW(id, ...) \
    case METHOD_##id: \
        id##_start(w, s, &m->id); \
        break;
#define SAND_COMPONENT_ROW SAND_IF_COMPONENTS
#define SAND_FORCE_ROW SAND_IF_FORCES
#include "sim/solver/solver_table.inl"
    }
}

SAND_KERNEL void method_step(Worker *w, Solve *s, MethodState *m) {
    switch (s->method) {
#define SAND_ROW(id, ...) \
    case METHOD_##id: \
        id##_step(w, s, &m->id); \
        break;
#define SAND_COMPONENT_ROW SAND_IF_COMPONENTS
#define SAND_FORCE_ROW SAND_IF_FORCES
#include "sim/solver/solver_table.inl"
    }
}

// The fixed point around a method: bounds of friction, or De Saxce's bias, are renewed from its iterates now and then.
typedef struct FixedPoint {
    int begin;       // iteration of the last renewal, or of the last look at the law's residual
    int interval;    // iterations after which the next one is due
    bool due;        // the next iteration is a renewal
    double residual; // of Coulomb's law, at the last renewal
    double goal;     // residual of the method, for its own problem, at which it has done its part
    double weight;   // of the new values in a renewal, against the old ones
} FixedPoint;

// What is asked of a solve. It does not change while a slice of it runs.
typedef struct SolveRequest {
    int most_iterations;
    double most_seconds, tolerance;
    double rms;      // m/s, tolerance of the root mean square over the contacts: see request_resolve; 0: none
    bool relative;   // the tolerance is of the relative residual
    bool canceled;   // by the host, between two slices
    const int *stop; // NULL, or set to non-zero by another thread to end the solve
    bool want_metrics;
    bool verified;         // the host measures in double what is claimed here, so that rounding need not be allowed for
    real *reference;       // an earlier iterate, to notice growing impulses, and the direction of a certificate
    SandCurvePoint *curve; // NULL, or capacity for sand_curve_points(most_iterations)
    int *live;             // NULL, or the points that another thread may read
    // The fixed point.
    int presolve; // iterations without friction from which bounds are taken; 0: none
    int renewal;  // most iterations between renewals; 0: no fixed point
    double params[SAND_MAX_PARAMS], presolve_params[SAND_MAX_PARAMS]; // of the method, of the presolve's method
} SolveRequest;

enum { STOPPING_TEST = 10 }; // iterations between two looks at the residual of a method that does not know it

// When the solve began, and what measuring for the curve has cost since, in seconds. Valid for the first worker.
typedef struct Clock {
    double begin, measuring;
} Clock;

// One solve, shared by all workers: the request, and how far it is. It may run in slices, so that a device that also draws
// is never occupied for long.
typedef struct SolveState {
    SolveRequest request;
    Solve solve;
    MethodState state;
    int curve_count;
    Clock clock;
    FixedPoint fixed_point;
    bool started, ended;
    Doubts doubts;
    int iterations;
    double seconds;
    Measure measure;
} SolveState;

// Sets a solve to its beginning; vectors, reference and operator are in place. `rms` is what the accuracy of the definition
// means in this step: sand_accuracy_rms. Called by the host.
static void solve_state_init(SolveState *run, const SandSolveDef *def, double rms, bool metrics, SandCurvePoint *curve) {
    run->solve.best = 0;
    run->solve.current = -1;
    run->solve.again = run->solve.paired = run->solve.calm = false;
    run->solve.in_tiles = run->solve.swept = 0;
    run->solve.residual = run->solve.objective = run->solve.least_energy = 0;
    run->solve.end = SAND_END_NONE;
    SolveRequest *request = &run->request;
    for (int k = 0; k < SAND_MAX_PARAMS; k++) request->params[k] = def->params[k];
    request->most_iterations = def->iterations;
    request->most_seconds = 1e-3 * def->budget_ms;
    request->tolerance = def->tolerance;
    request->rms = rms;
    request->relative = def->relative && rms == 0;
    request->canceled = request->verified = false;
    request->want_metrics = metrics;
    request->curve = curve;
    request->live = NULL;
    const SandFrictionRow *model = &sand_friction_table[def->friction];
    bool bounded = model->set == SAND_SET_CYLINDER, cone = sand_solver_can(def->solver, SAND_FRICTION_CONE);
    request->presolve = bounded && def->bounds == SAND_BOUNDS_PRESOLVE ? def->presolve : 0;
    for (int k = 0; k < SAND_MAX_PARAMS; k++)
        request->presolve_params[k] = sand_solver_table[sand_solver_default].params[k].value;
    request->renewal =
        (bounded && def->bounds == SAND_BOUNDS_OUTSIDE) || (model->set == SAND_SET_LAW && cone) ? def->renewal : 0;
    run->fixed_point.begin = 0;
    run->fixed_point.interval = request->renewal;
    run->fixed_point.due = false;
    run->fixed_point.residual = run->fixed_point.goal = 0;
    run->fixed_point.weight = 1;
    run->curve_count = run->iterations = 0;
    run->started = run->ended = false;
    run->doubts.patience = 0;
    run->doubts.has_reference = false;
    run->doubts.residual = INFINITY;
    run->seconds = 0;
}

// Turns a tolerance of the root mean square into one of the residual. Done where a solve begins, since the number of
// contacts may be known on the device alone; the iterations know one tolerance.
SAND_STATUS_INLINE void request_resolve(SolveRequest *request, double contacts) {
    if (request->rms > 0) request->tolerance = request->rms * sqrt(contacts > 1 ? contacts : 1);
}

// What a solve is judged by.
SAND_STATUS_INLINE SandEvidence evidence_of(const SolveRequest *request, Measure m) {
    SandEvidence evidence = {m.residual,        m.relative, m.objective, m.r_norm, request->tolerance,
                             request->relative, 0,          0,           m.blur};
    if (!request->verified) {
        evidence.blur = m.blur;
        evidence.relative_blur = m.relative_blur;
    }
    return evidence;
}

// Seconds spent on solving up to `now`, for the first worker.
SAND_INLINE double run_seconds_at(const Worker *w, const SolveState *run, double now) {
    return worker_is_first(w) ? now - run->clock.begin - run->clock.measuring : 0;
}
SAND_INLINE double run_seconds(const Worker *w, const SolveState *run) { return run_seconds_at(w, run, worker_seconds(w)); }

// Whether the method itself keeps the residual that the result is judged by: not under Coulomb's law.
SAND_INLINE bool solve_knows(const Solve *s) {
#if SAND_LOCAL
    if (s->op->law) return false;
#endif
    return method_owns(s->method, SAND_OWNS_RESIDUAL);
}

// Whether the method's iterates lie beside their gradients.
SAND_INLINE bool solve_pairs(const Solve *s) { return SAND_VEC4_ROWS && method_owns(s->method, SAND_OWNS_PAIRS); }

SAND_KERNEL Measure solve_measure(Worker *w, const Solve *s) {
    const real *x = solve_vector(s, s->best);
    if (method_owns(s->method, SAND_OWNS_VELOCITIES)) return measure_from(w, s->op, x, false, s->op->body);
    return measure(w, s->op, x, solve_pairs(s));
}

// What a method that keeps its own residual knows without a measurement.
SAND_INLINE Measure solve_known(const Solve *s) {
    Measure m = {s->residual, s->objective, 0, NAN, NAN, 0, 0};
    return m;
}

// Appends a point to the curve and returns what was measured for it. Measuring takes no time that counts, but where it is
// the stopping test of a method that without a curve would need it as well.
SAND_KERNEL Measure record(Worker *w, SolveState *run, const Solve *s, int iteration) {
    double before = worker_seconds(w), spent = run_seconds_at(w, run, before); // one look: time between two would go back
    Measure m = solve_known(s);
    if (!solve_knows(s) || run->request.relative) m = solve_measure(w, s);
    if (worker_is_first(w)) {
        SandCurvePoint p = {iteration, spent, m.residual, m.objective};
        run->request.curve[iteration] = p;
        run->curve_count = iteration + 1;
        if (run->request.live) worker_publish(run->request.live, iteration + 1);
        bool measured = !solve_knows(s) || run->request.relative;
        bool tests = run->request.tolerance > 0 && iteration > 0 && iteration % STOPPING_TEST == 0;
        if (!(measured && tests)) run->clock.measuring += worker_seconds(w) - before;
    }
    return m;
}

// The objective of a scaled start, and its scale.
typedef struct Scaled {
    double objective;
    real scale;
} Scaled;

// The sums GATHER_ of a start x, whose velocities are left in op->body.
SAND_HOT void start_sums(Worker *w, const Op *op, const real *x, double *total) {
#if SAND_VEC4_ROWS
    if (!op->high_degree_count && !op->is_matrix && op_is_whole(op)) {
        gather_bodies_summing(w, op, x, total);
        return;
    }
#endif
    gather_bodies_of(w, op, x, op->free, op->body);
    Sum sum;
    sum_open(w, &sum, GATHER_SUMS, 0);
    SAND_FOR_GRADIENTS(w, i, op, op->body, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row xi = row_load(x, ref);
        SAND_ADD(sum, ref, GATHER_XNX, row_dot(xi, SAND_GRADIENT(op, ref))); // with r'x in it
        SAND_ADD(sum, ref, GATHER_XPX, contact_diagonal(op, ref) * row_dot(xi, xi));
        if (SAND_LAYOUT_AOS) SAND_ADD(sum, ref, GATHER_RX, row_dot(xi, contact_gradient_from(op, op->free, ref)));
    }
    if (!SAND_LAYOUT_AOS) SAND_FOR_GRADIENTS(w, i, op, op->free, &sum) {
            ContactRef ref = SAND_CONTACT(op, i);
            SAND_ADD(sum, ref, GATHER_RX, row_dot(row_load(x, ref), SAND_GRADIENT(op, ref)));
        }
    sum_total(w, &sum);
    for (int k = 0; k < GATHER_SUMS; k++) total[k] = sum.total[k];
    total[GATHER_XNX] -= total[GATHER_RX];
}

// Scales the start to the best point of its ray: q(t x) is least at t = -r'x / x'Nx. When a pile lifts off, the impulses of
// the last step are far too large; this notices it for the one product that a start costs anyway. A start that should move
// something but does not is the trace of an infeasible step, and is dropped. Leaves the velocities of the scaled start in
// op->body.
SAND_HOT Scaled scale_start(Worker *w, const Op *op, const real *x) {
    double total[GATHER_SUMS];
    start_sums(w, op, x, total);
    double rx = total[GATHER_RX], xNx = total[GATHER_XNX];
    double best = xNx > RECESSION * total[GATHER_XPX] && rx < 0 ? -rx / xNx : 0;
    // Not more than 1 where an impulse may have two bounds.
    const double most = SAND_JOINTS ? 1 : 1.5;
    real t = (real)(best < most ? best : most);
    SAND_FOR_EACH(w, k, op->dynamic_count) {
        const Body *free = &op->free[k];
        Body *body = &op->body[k];
        for (int c = 0; c < 3; c++) body->v[c] = free->v[c] + t * (body->v[c] - free->v[c]);
        for (int c = 0; c < 3; c++) body->w[c] = free->w[c] + t * (body->w[c] - free->w[c]);
    }
#if SAND_JOINTS
    SAND_FOR_EACH(w, i, op_contacts_end(op)) op->body[op->body_count + i].v[0] *= t;
#endif
    sand_barrier(w);
    Scaled scaled = {t * (rx + 0.5 * t * xNx), t};
    return scaled;
}

#if SAND_LOCAL
// Moves the bounds of friction to what the normal impulses of x allow, with this weight against the old bounds.
SAND_KERNEL void update_bounds(Worker *w, const Op *op, const real *x, real weight) {
    SAND_FOR(w, i, op->n) {
        ContactRef ref = SAND_CONTACT(op, i);
        real bound = contact_mu(op, ref) * real_max(row_normal(op, ref, row_load(x, ref)), 0);
        op->bound[i] += weight * (bound - op->bound[i]);
    }
    sand_barrier(w);
}

SAND_KERNEL void make_feasible(Worker *w, const Op *op, real *x) {
    SAND_FOR(w, i, op->n) {
        ContactRef ref = SAND_CONTACT(op, i);
        row_store(x, ref, contact_project(op, ref, row_load(x, ref)));
    }
    sand_barrier(w);
}

// The bounds before the first iteration: those of the start, or of a solve without friction by the table's default method,
// the same whatever the method, so that methods can be compared; but where the default method itself is given another ratio,
// its presolve has that ratio too. Leaves the start as it was.
SAND_KERNEL void first_bounds(Worker *w, const SolveRequest *request, const Solve *solve) {
    const Op *op = solve->op;
    SAND_FOR(w, i, op->n) op->de_saxce[i] = op->bound[i] = 0;
    sand_barrier(w);
    int presolve = request->presolve;
    real *reference = request->reference;
    if (!presolve) {
        update_bounds(w, op, solve_vector(solve, 0), 1);
        return;
    }
    Solve s = *solve;
    SAND_JOIN(SAND_DEFAULT_METHOD, _State) state;
    s.params = request->presolve_params;
    copy(w, op, solve_vector(&s, 0), reference);
    make_feasible(w, op, solve_vector(&s, 0));
    Scaled start = scale_start(w, op, solve_vector(&s, 0));
    s.start_objective = start.objective;
    s.start_scale = start.scale;
    SAND_JOIN(SAND_DEFAULT_METHOD, _start)(w, &s, &state);
    for (int k = 0; k < presolve && s.end == SAND_END_NONE; k++) SAND_JOIN(SAND_DEFAULT_METHOD, _step)(w, &s, &state);
    update_bounds(w, op, solve_vector(&s, s.best), 1);
    copy(w, op, reference, solve_vector(&s, 0));
}

// Renews the bounds, or De Saxce's bias mu |u_T|, from the best impulses so far, and restarts the method from them. Costs
// one product, which also measures how well Coulomb's law holds; returns that residual.
SAND_KERNEL double renew(Worker *w, Solve *s, MethodState *state, real weight) {
    const Op *op = s->op;
    real *x = solve_vector(s, 0);
    if (s->best != 0) copy(w, op, solve_vector(s, s->best), x);
    s->best = 0;
    if (op->set == FRICTION_BOUNDED) {
        update_bounds(w, op, x, weight);
        make_feasible(w, op, x);
    }
    gather_bodies_of(w, op, x, op->free, op->body);
    bool updates_bias = op->set == FRICTION_CONE;
    Sum sum;
    sum_open(w, &sum, 1, 0);
    SAND_FOR_SUM(w, i, op->n, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row g = contact_gradient_from(op, op->body, ref);
        Row dual = contact_dual(op, ref, contact_unbiased(op, ref, g));
        SAND_ADD(sum, ref, 0, contact_natural_map(op, ref, row_load(x, ref), dual, (real)op->tau));
        if (updates_bias) op->de_saxce[i] += weight * (contact_dissipation(op, ref, g) - op->de_saxce[i]);
    }
    sum_total(w, &sum);
    s->again = true;
    s->start_objective = objective_of(w, op, x);
    s->start_scale = 1;
    method_start(w, s, state);
    return residual_of(op, sum.total[0]);
}
#endif

// Scales the start, which is feasible, and gives it to the method.
SAND_KERNEL void solve_begin(Worker *w, const SolveRequest *request, Solve *s, MethodState *state) {
    const Op *op = s->op;
#if SAND_LOCAL
    first_bounds(w, request, s);
    make_feasible(w, op, solve_vector(s, 0));
#endif
    Scaled start = scale_start(w, op, solve_vector(s, 0));
    s->start_objective = start.objective;
    s->start_scale = start.scale;
    if (!method_owns(s->method, SAND_OWNS_SCALE)) scale(w, op, solve_vector(s, 0), request->reference, start.scale);
    method_start(w, s, state);
    s->start_objective = 0; // used by the method's start alone
    s->start_scale = 1;
}

// Ends the solve if what was measured is within the tolerance, or past all hope. *judged keeps it.
SAND_KERNEL void solve_judge(const SolveRequest *request, Solve *s, Measure m, Measure *judged) {
    SandEvidence evidence = evidence_of(request, m);
    *judged = m;
    if (request->tolerance > 0 && sand_is_within(evidence)) s->end = SAND_END_TOLERANCE;
    if (sand_is_astray(evidence, SAND_HOPELESS)) s->end = SAND_END_EXHAUSTED;
}

// Before an iteration: whether a method that keeps its own residual is within the tolerance. Rounding may part its residual
// from that of the impulses, and the impulses are what is returned: so they are measured before the solve ends.
SAND_KERNEL void solve_confirm(Worker *w, const SolveRequest *request, Solve *s, Doubts *doubts, Measure *judged) {
    if (!(s->residual <= request->tolerance && s->residual < 0.9 * doubts->residual)) return;
    solve_judge(request, s, solve_measure(w, s), judged);
    doubts->residual = s->residual;
}

// Whether it is time to look for growth: after each power of two. A method that watches its own steps misses directions that
// it reaches slowly; of a short solve, as in real time, nothing more is asked, nor of one whose steps have become small.
SAND_INLINE bool growth_is_due(const Solve *s, int iteration) {
    int first = method_owns(s->method, SAND_OWNS_GROWTH) ? 128 : s->calm ? 32 : 8;
    return iteration >= first && (iteration & (iteration - 1)) == 0 && s->budget >= 2 * first;
}

// Finds out after an iteration what the method does not know itself: the residual, every ten iterations when a tolerance is
// set, and whether impulses grow without effect. `recorded` is what was measured for the curve, where there is one.
SAND_KERNEL void solve_watch(Worker *w, const SolveRequest *request, Solve *s, int iteration, const Measure *recorded,
                             bool measures, Doubts *doubts, Measure *judged) {
    if (s->end == SAND_END_RECEDES) solve_check_suspicion(w, s, request->reference, solve_pairs(s), iteration, doubts);
    if (s->end != SAND_END_NONE) return;
    bool tests = measures && iteration % STOPPING_TEST == 0, grows = growth_is_due(s, iteration);
    if (tests || grows) solve_settle(w, s);
    if (recorded)
        solve_judge(request, s, *recorded, judged);
    else if (tests)
        solve_judge(request, s, solve_measure(w, s), judged);
    if (s->end != SAND_END_NONE) return;
    if (grows) look_for_growth(w, s, request->reference, solve_pairs(s), iteration, doubts);
}

#if SAND_LOCAL
// Looks whether it is the bounds or the bias that keep the law from holding better. Where the method's own residual is most
// of the law's, renewing them gains nothing and a restart would cost the method what it has learned (momentum, directions):
// it goes on. Costs one product.
SAND_KERNEL void solve_look_at_law(Worker *w, const SolveRequest *request, Solve *s, FixedPoint *fixed_point) {
    double law = solve_measure(w, s).residual;
    fixed_point->due = law > 2 * s->residual;
    fixed_point->interval = fixed_point->due ? request->renewal : 2 * fixed_point->interval;
    fixed_point->goal = 0.1 * law;
}

// Whether a renewal is due, or a look at the law: when the method has done its part, or has been at it for long enough.
SAND_INLINE bool fixed_point_waits(const Solve *s, const FixedPoint *fixed_point, int since) {
    bool far_down = method_owns(s->method, SAND_OWNS_RESIDUAL) && s->residual <= fixed_point->goal;
    return since < fixed_point->interval && !(since > 1 && far_down);
}
#endif

// One iteration: a step of the method, a renewal when that is due, or a look at whether it is. In the first
// iterations renewals are not questioned: the bias starts from zero.
SAND_KERNEL void solve_iterate(Worker *w, const SolveRequest *request, Solve *s, MethodState *state, FixedPoint *fixed_point,
                               int iteration) {
#if SAND_LOCAL
    enum { UNQUESTIONED = 100 };
    bool asks = method_owns(s->method, SAND_OWNS_RESIDUAL) && iteration >= UNQUESTIONED;
    bool waits = !request->renewal || fixed_point_waits(s, fixed_point, iteration - fixed_point->begin);
    if (!waits && asks && !fixed_point->due) {
        solve_look_at_law(w, request, s, fixed_point);
        if (!fixed_point->due) fixed_point->begin = iteration;
        return;
    }
    if (!waits) {
        double residual = renew(w, s, state, (real)fixed_point->weight);
        // A fixed point iteration that does not get closer is circling: damp it.
        if (fixed_point->residual > 0 && residual > 0.98 * fixed_point->residual && fixed_point->weight > 0.05)
            fixed_point->weight *= 0.7;
        else if (asks)
            fixed_point->weight = fmin(1.0, fixed_point->weight / 0.7); // 1.0: nvcc has no fmin of an int
        fixed_point->residual = residual;
        fixed_point->goal = 0.1 * residual;
        fixed_point->begin = iteration;
        fixed_point->due = false;
        if (request->tolerance > 0 && !request->relative && residual <= request->tolerance) s->end = SAND_END_TOLERANCE;
        return;
    }
#else
    (void)request, (void)fixed_point, (void)iteration;
#endif
    method_step(w, s, state);
}

// Whether the impulses of a solve that has ended must be measured: what the method knows of them is no ground for a claim.
SAND_INLINE bool must_measure(const SolveRequest *request, const Solve *s) {
    if (!solve_knows(s) || request->want_metrics || request->relative) return true;
    bool claims = s->end == SAND_END_EXHAUSTED || s->end == SAND_END_RECEDES;
    return claims || (s->end != SAND_END_TOLERANCE && s->residual <= request->tolerance);
}

// Whether residual and objective of swept impulses are all that is asked: nothing is claimed but that the budget is used up.
SAND_INLINE bool measures_briefly(const SolveRequest *request, const Solve *s) {
    bool asks = request->want_metrics || request->relative || request->tolerance > 0 || request->curve;
    return !SAND_LOCAL && s->end == SAND_END_BUDGET && !asks;
}

// At the end of a solve: what the best impulses change, in op->body; the caller adds the free velocities.
SAND_KERNEL void solve_end(Worker *w, const Solve *s) {
    const Op *op = s->op;
    if (s->paired)
        gather_bodies_strided(w, op, solve_vector(s, s->best), 8, op->still, op->body);
    else
        gather_bodies_of(w, op, solve_vector(s, s->best), op->still, op->body);
}

// The same for swept impulses, whose velocities are in op->body already, but for the rounding of some sweeps, which is as
// far below all figures here as their own. Returns their residual and objective; all figures where they are worse than none.
SAND_KERNEL Measure solve_end_swept(Worker *w, const Solve *s) {
    const Op *op = s->op;
    const real *x = solve_vector(s, s->best);
    Measure m = measure_brief(w, op, x, op->body);
    if (!(m.objective <= 0)) m = measure_from(w, op, x, false, op->body);
    add_free(w, op, op->body, -1, op->body);
    return m;
}

// Solves, or goes on solving, for at most `most` iterations of the budget. `request` is the one of the state, or a copy that
// is closer to the worker.
SAND_KERNEL void solve_run(Worker *w, SolveState *run, const SolveRequest *request, const Op *op, int method, int most) {
    if (run->ended) return;
    Solve s = run->solve;
    s.op = op;
    s.params = request->params;
    s.method = method;
    s.budget = request->most_iterations;
    MethodState state = run->state;
    if (worker_is_first(w)) {
        run->clock.begin = worker_seconds(w) - run->seconds;
        run->clock.measuring = 0;
    }
    int iteration = run->iterations;
    int until = request->most_iterations - iteration < most ? request->most_iterations : iteration + most;
    FixedPoint fixed_point = run->fixed_point;
    Doubts doubts = run->doubts;
    Measure judged = solve_known(&s);

    if (!run->started) {
        solve_begin(w, request, &s, &state);
        doubts.has_reference = !method_owns(method, SAND_OWNS_SCALE);
        if (request->curve) record(w, run, &s, 0);
    }
    // Known once for all iterations: on a device every look at the request is a load behind a barrier.
    bool has_curve = request->curve != NULL, has_tolerance = request->tolerance > 0;
    bool confirms = has_tolerance && solve_knows(&s) && !request->relative;
    bool measures = has_tolerance && ((!solve_knows(&s) && !request->renewal) || request->relative);
    while (iteration < until && s.end == SAND_END_NONE) {
        if (confirms) solve_confirm(w, request, &s, &doubts, &judged);
        if (s.end != SAND_END_NONE) break;
        solve_iterate(w, request, &s, &state, &fixed_point, iteration);
        iteration++;
        Measure recorded;
        bool records = has_curve && iteration < SAND_CURVE_MOST;
        if (records) solve_settle(w, &s);
        if (records) recorded = record(w, run, &s, iteration);
        solve_watch(w, request, &s, iteration, records ? &recorded : NULL, measures, &doubts, &judged);
        if (s.end != SAND_END_NONE) break;
        bool late = request->most_seconds > 0 && worker_agree(w, run_seconds(w, run) > request->most_seconds);
        if (late) s.end = SAND_END_BUDGET;
        if (request->stop && !late && worker_agree(w, worker_stopped(request->stop))) s.end = SAND_END_CANCELED;
    }
    if (s.end == SAND_END_NONE && iteration == request->most_iterations)
        s.end = request->canceled ? SAND_END_CANCELED : SAND_END_BUDGET;

    double seconds = run_seconds(w, run);
    bool ended = s.end != SAND_END_NONE;
    Measure m = solve_known(&s);
    if (ended) {
        bool swept = s.in_tiles != 0;
        solve_settle(w, &s);
        s.paired = solve_pairs(&s);
        if (swept && measures_briefly(request, &s)) {
            m = solve_end_swept(w, &s);
        } else {
            if (must_measure(request, &s))
                m = solve_measure(w, &s);
            else if (s.end == SAND_END_TOLERANCE)
                m = judged;
            solve_end(w, &s);
        }
    }
    sand_barrier(w);
    if (worker_is_first(w)) {
        s.op = NULL; // each slice brings its own
        s.params = NULL;
        run->solve = s;
        run->state = state;
        run->started = true;
        run->ended = ended;
        run->doubts = doubts;
#if SAND_LOCAL
        run->fixed_point = fixed_point;
#endif
        run->iterations = iteration;
        run->seconds = seconds;
        run->measure = m;
    }
    sand_barrier(w);
}
