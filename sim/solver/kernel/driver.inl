// The solve, one text for every method and machine: start, iterate within the budget, keep the curve, find out
// whether the problem is infeasible, and end with the best impulses and the velocities they make.

// What a method works on. Every worker has its own copy with the same values.
typedef struct Solve {
    const Op *op;
    int method;
    const double *params;       // of the method
    int best;                   // the vector that holds the impulses to return
    double residual, objective; // of the best iterate, where the method keeps them
    double start_objective;     // of the vector that the method starts from
    real start_scale;           // what that vector is still to be multiplied by, where the method does
    bool again;                 // the method is started once more on the same N: what it learnt of N still holds
    bool paired;                // at the end: the best lies beside its gradient
    SandStatus status;          // a method may end the solve by setting one that is not SAND_BUDGET
} Solve;

SAND_INLINE real *op_vector(const Op *op, int k) { return op->vectors + k * op->distance; }
SAND_INLINE real *solve_vector(const Solve *s, int k) { return op_vector(s->op, k); }

// A block of the best impulses, when the solve is at its end.
SAND_INLINE Row solve_best(const Op *op, const Solve *s, ContactRef ref) {
    const real *best = op_vector(op, s->best);
#if SAND_VEC4_ROWS
    if (s->paired) return vec_of_vec4(vec4_load(best + 8 * contact_index(ref)));
#endif
    return row_load(best, ref);
}

// Methods that look at components are left out where impulses are vectors of the world.
#if SAND_COMPONENTS
#define SAND_IF_COMPONENTS(...) SAND_ROW(__VA_ARGS__)
#else
#define SAND_IF_COMPONENTS(...)
#endif

// t x, where t is near 1.
SAND_INLINE Row row_scaled(Row x, real t) { return row_madd(x, t - 1, x); }

#define SAND_INCLUDE_METHODS
#define SAND_ROW(id, ...)
#include "sim/solver/solver_table.inl"
#undef SAND_INCLUDE_METHODS

typedef union MethodState {
#define SAND_ROW(id, ...) id##_State id;
#define SAND_COMPONENT_ROW SAND_IF_COMPONENTS
#include "sim/solver/solver_table.inl"
} MethodState;

enum Method {
#define SAND_ROW(id, ...) METHOD_##id,
#define SAND_ASSEMBLED_ROW(id, ...) METHOD_##id,
#include "sim/solver/solver_table.inl"
};

// What a method does by itself, as its row of the table says.
enum Own {
    OWN_RESIDUAL = 1, // keeps residual and objective of its best iterate
    OWN_GROWTH = 2,   // finds out whether the problem is infeasible
    OWN_SCALE = 4,    // scales the start as it reads it
    OWN_GATHER = 8,   // leaves the velocities of the best in op->body
    OWN_PAIRS = 16,   // keeps the best beside its gradient, where vectors are fours: see solver_spg.inl
};
SAND_INLINE bool method_owns(int method, enum Own what) {
    int own = 0;
    switch (method) {
#define SAND_ROW(id, name, vectors, on_cuda, owns, ...) \
    case METHOD_##id: \
        own = owns; \
        break;
#include "sim/solver/solver_table.inl"
    }
    return (own & (int)what) != 0;
}

SAND_KERNEL void method_start(Worker *w, Solve *s, MethodState *m) {
    switch (s->method) {
#define SAND_ROW(id, ...) \
    case METHOD_##id: \
        id##_start(w, s, &m->id); \
        break;
#define SAND_COMPONENT_ROW SAND_IF_COMPONENTS
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
#include "sim/solver/solver_table.inl"
    }
}

SAND_HOT void copy(Worker *w, const Op *op, const real *from, real *to) {
    SAND_FOR(w, i, op->n) {
        ContactRef ref = SAND_CONTACT(op, i);
        row_store(to, ref, row_load(from, ref));
    }
    sand_barrier(w);
}

// y := x - y
SAND_HOT void subtract(Worker *w, const Op *op, const real *x, real *y) {
    SAND_FOR(w, i, op->n) {
        ContactRef ref = SAND_CONTACT(op, i);
        row_store(y, ref, row_sub(row_load(x, ref), row_load(y, ref)));
    }
    sand_barrier(w);
}

// From one renewal of what friction hangs on to the next.
typedef struct FixedPoint {
    int begin;       // the iteration
    double residual; // by Coulomb's law, at the begin
    double weight;   // of the new bounds in a renewal, against the old ones
} FixedPoint;

// What is asked of a solve. It does not change while a piece of it runs.
typedef struct SolveRequest {
    int most_iterations;
    double most_seconds, tolerance;
    const int *stop; // NULL, or made other than 0 by whoever wants the solve to end
    bool want_metrics;
    real *reference;       // an earlier iterate, to see impulses grow; only for methods that do not look themselves
    SandCurvePoint *curve; // NULL: nobody asked; else room for most_iterations + 1
    // Bounds that are renewed, and Coulomb's law.
    int presolve; // iterations without friction that bounds are taken from; 0: none
    int renewal;  // most iterations between renewals; 0: nothing is renewed
    double params[SAND_MAX_PARAMS], presolve_params[SAND_MAX_PARAMS]; // of the method, of p-spg-fb, which does the presolve
} SolveRequest;

// Seconds when the solve began, and what measuring for the curve cost since. The first worker has it.
typedef struct Clock {
    double begin, measuring;
} Clock;

// One solve, shared by the team: what is asked of it, and where it stands. It may be run in pieces: a machine that
// also draws does not want to be kept for long.
typedef struct SolveState {
    SolveRequest request;
    Solve solve;
    MethodState state;
    int curve_count;
    Clock clock;
    FixedPoint stage;
    bool begun, ended;
    int receding; // how often in a row the growing impulses did nothing
    int iterations;
    double seconds;
    Measure measure;
} SolveState;

// Sets a run to its beginning; vectors, reference and the operator are there. The host calls it.
static void solve_state_init(SolveState *run, const SandSolveDef *def, bool metrics, SandCurvePoint *curve) {
    run->solve.best = 0;
    run->solve.again = run->solve.paired = false;
    run->solve.residual = run->solve.objective = 0;
    run->solve.status = SAND_BUDGET;
    SolveRequest *request = &run->request;
    for (int k = 0; k < SAND_MAX_PARAMS; k++) request->params[k] = def->params[k];
    request->most_iterations = def->iterations;
    request->most_seconds = 1e-3 * def->budget_ms;
    request->tolerance = def->tolerance;
    request->want_metrics = metrics;
    request->curve = curve;
    const SandFrictionRow *model = &sand_friction_table[def->friction];
    bool pillar = model->set == SAND_SET_CYLINDER, cone = sand_solver_can(def->solver, SAND_CONE);
    request->presolve = pillar && def->bounds == SAND_BOUNDS_PRESOLVE ? def->presolve : 0;
    for (int k = 0; k < SAND_MAX_PARAMS; k++)
        request->presolve_params[k] = sand_solver_table[sand_solver_default].params[k].value;
    request->renewal =
        (pillar && def->bounds == SAND_BOUNDS_OUTSIDE) || (model->set == SAND_SET_LAW && cone) ? def->renewal : 0;
    run->stage.begin = 0, run->stage.residual = 0, run->stage.weight = 1;
    run->curve_count = run->receding = run->iterations = 0;
    run->begun = run->ended = false;
    run->seconds = 0;
}

// Seconds spent on solving, for the first worker.
SAND_INLINE double run_seconds(const Worker *w, const SolveState *run) {
    return worker_is_first(w) ? worker_seconds(w) - run->clock.begin - run->clock.measuring : 0;
}

// Whether the method keeps the residual that the result is measured by: under Coulomb's law it does not.
SAND_INLINE bool solve_knows(const Solve *s) {
#if SAND_LOCAL
    if (s->op->law) return false;
#endif
    return method_owns(s->method, OWN_RESIDUAL);
}

SAND_KERNEL Measure solve_measure(Worker *w, const Solve *s) {
    const real *x = solve_vector(s, s->best);
    return method_owns(s->method, OWN_GATHER) ? measure_from(w, s->op, x, s->op->body) : measure(w, s->op, x);
}

// Puts a point on the curve. Returns its residual.
SAND_KERNEL double record(Worker *w, SolveState *run, const Solve *s, int iteration) {
    double before = worker_seconds(w), spent = run_seconds(w, run);
    Measure m = {s->residual, s->objective, 0};
    if (!solve_knows(s)) m = solve_measure(w, s);
    if (worker_is_first(w)) {
        SandCurvePoint p = {iteration, spent, m.residual, m.objective};
        run->request.curve[iteration] = p;
        run->curve_count = iteration + 1;
        run->clock.measuring += worker_seconds(w) - before;
    }
    return m.residual;
}

// For methods that do not look at their own steps: have the impulses grown much since the reference, and does the
// difference do nothing? SolveRequest after 8, 16, 32, ... iterations; it costs a product only when they have grown. `last`:
// nobody will ask again.
SAND_KERNEL void look_for_growth(Worker *w, Solve *s, real *reference, int *receding, bool last) {
    const Op *op = s->op;
    const real *x = solve_vector(s, s->best);
    Sum sum;
    sum_open(w, &sum, 2, 0);
    SAND_FOR_SUM(w, i, op->n, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row xi = row_load(x, ref), d = row_sub(xi, row_load(reference, ref));
        real p = contact_diagonal(op, ref);
        SAND_ADD(sum, ref, 0, p * row_dot(xi, xi));
        SAND_ADD(sum, ref, 1, p * row_dot(d, d));
    }
    sum_total(w, &sum);
    double xPx = sum.total[0], dPd = sum.total[1];
    if (dPd > 0.2 * xPx) { // so it is large
        subtract(w, op, x, reference);
        gather_bodies_of(w, op, reference, op->still, op->scratch);
        sum_open(w, &sum, 1, 0);
        SAND_FOR_SUM(w, i, op->n, &sum) {
            ContactRef ref = SAND_CONTACT(op, i);
            Row d = row_load(reference, ref), y = contact_gradient_from(op, op->scratch, ref);
            SAND_ADD(sum, ref, 0, row_dot(d, contact_without_bias(op, ref, y)));
        }
        sum_total(w, &sum);
        if (recession(does_nothing(sum.total[0], dPd), receding)) s->status = SAND_INFEASIBLE;
    }
    if (!last) copy(w, op, x, reference);
}

// A start, scaled: its objective and by what.
typedef struct Scaled {
    double objective;
    real scale;
} Scaled;

// The sums of PUSH_ for a start x, whose velocities are left in op->body.
SAND_HOT void start_sums(Worker *w, const Op *op, const real *x, double *total) {
#if SAND_VEC4_ROWS
    if (!op->high_degree_count && !op->is_matrix) {
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

// Shortens or lengthens the start to the best point of its ray: q(t x) is least at t = -r'x / x'Nx. When a pile
// lifts off, last step's impulses are far too large; this sees it for the one product that a start costs anyway.
// A start that moves nothing although it should is the trace of an infeasible step, and is dropped. Leaves the
// velocities of that point in op->body.
SAND_HOT Scaled scale_start(Worker *w, const Op *op, const real *x) {
    double total[GATHER_SUMS];
    start_sums(w, op, x, total);
    double rx = total[GATHER_RX], xNx = total[GATHER_XNX];
    double best = xNx > RECESSION * total[GATHER_XPX] && rx < 0 ? -rx / xNx : 0;
    real t = (real)(best < 1.5 ? best : 1.5);
    SAND_FOR_EACH(w, k, op->dynamic_count) {
        const Body *free = &op->free[k];
        Body *body = &op->body[k];
        for (int c = 0; c < 3; c++) body->v[c] = free->v[c] + t * (body->v[c] - free->v[c]);
        for (int c = 0; c < 3; c++) body->w[c] = free->w[c] + t * (body->w[c] - free->w[c]);
    }
    sand_barrier(w);
    Scaled scaled = {t * (rx + 0.5 * t * xNx), t};
    return scaled;
}

// x := t x, and a copy of it.
SAND_HOT void scale(Worker *w, const Op *op, real *x, real *same, real t) {
    SAND_FOR(w, i, op->n) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row xi = row_scaled(row_load(x, ref), t);
        row_store(x, ref, xi);
        row_store(same, ref, xi);
    }
    sand_barrier(w);
}

#if SAND_LOCAL
// The bounds of friction that the normal impulses of x allow, with this weight against the old ones.
SAND_KERNEL void update_bounds(Worker *w, const Op *op, const real *x, real weight) {
    SAND_FOR(w, i, op->n) {
        ContactRef ref = SAND_CONTACT(op, i);
        real bound = contact_mu(op, ref) * real_max(row_load(x, ref).x, 0);
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

// The bounds before the first iteration: those of the start, or of a solve without friction by p-spg-fb, the same one
// whatever the method, so that methods can be compared; but where p-spg-fb itself is given another ratio, its presolve has
// that one. It leaves the start as it was.
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
    spg_State state;
    s.params = request->presolve_params;
    copy(w, op, solve_vector(&s, 0), reference);
    make_feasible(w, op, solve_vector(&s, 0));
    Scaled start = scale_start(w, op, solve_vector(&s, 0));
    s.start_objective = start.objective, s.start_scale = start.scale;
    p_spg_fb_start(w, &s, &state);
    for (int k = 0; k < presolve && s.status == SAND_BUDGET; k++) p_spg_fb_step(w, &s, &state);
    update_bounds(w, op, solve_vector(&s, s.best), 1);
    copy(w, op, reference, solve_vector(&s, 0));
}

// Renews what friction hangs on, from the best impulses so far: the bounds, or De Saxce's term mu |u_T|. Then the method
// starts anew from them. It costs one product, which also measures how well Coulomb's law holds. Returns that residual.
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
    bool lifts = op->set == FRICTION_CONE;
    Sum sum;
    sum_open(w, &sum, 1, 0);
    SAND_FOR_SUM(w, i, op->n, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row g = contact_gradient_from(op, op->body, ref);
        SAND_ADD(sum, ref, 0, contact_measured(op, ref, row_load(x, ref), g));
        if (lifts) op->de_saxce[i] += weight * (contact_mu(op, ref) * section_support(op, g) - op->de_saxce[i]);
    }
    sum_total(w, &sum);
    s->again = true;
    s->start_objective = objective_of(w, op, x), s->start_scale = 1;
    method_start(w, s, state);
    return residual_of(op, sum.total[0]);
}
#endif

// The start, which is feasible, is scaled and given to the method.
SAND_KERNEL void solve_begin(Worker *w, const SolveRequest *request, Solve *s, MethodState *state) {
    const Op *op = s->op;
#if SAND_LOCAL
    first_bounds(w, request, s);
    make_feasible(w, op, solve_vector(s, 0));
#endif
    Scaled start = scale_start(w, op, solve_vector(s, 0));
    s->start_objective = start.objective, s->start_scale = start.scale;
    if (!method_owns(s->method, OWN_SCALE)) scale(w, op, solve_vector(s, 0), request->reference, start.scale);
    method_start(w, s, state);
    s->start_objective = 0, s->start_scale = 1; // nobody else needs them
}

// What the method does not know itself after an iteration: its residual, now and then when a tolerance is set, and whether
// its impulses grow for nothing. `recorded` is what the curve has, where there is one.
SAND_KERNEL void solve_watch(Worker *w, const SolveRequest *request, Solve *s, int iteration, double recorded,
                             int *receding) {
    if (!solve_knows(s) && !request->renewal && request->tolerance > 0 && (request->curve || iteration % 10 == 0)) {
        double residual = request->curve ? recorded : solve_measure(w, s).residual;
        if (residual <= request->tolerance) s->status = SAND_SOLVED;
    }
    if (!method_owns(s->method, OWN_GROWTH) && iteration >= 8 && (iteration & (iteration - 1)) == 0)
        look_for_growth(w, s, request->reference, receding, 2 * iteration > request->most_iterations);
}

// One iteration: a step of the method, or a renewal when that is due. It is when the method has come far down from the
// residual of the last one, or was at it for long enough.
SAND_KERNEL void solve_iterate(Worker *w, const SolveRequest *request, Solve *s, MethodState *state, FixedPoint *stage,
                               int iteration) {
#if SAND_LOCAL
    int since = iteration - stage->begin;
    bool far_down = method_owns(s->method, OWN_RESIDUAL) && s->residual <= 0.1 * stage->residual;
    if (request->renewal && (since >= request->renewal || (since > 1 && far_down))) {
        double residual = renew(w, s, state, (real)stage->weight);
        // A fixed point that does not draw nearer goes round it: then it is approached with more care.
        if (stage->residual > 0 && residual > 0.98 * stage->residual && stage->weight > 0.05) stage->weight *= 0.7;
        stage->residual = residual, stage->begin = iteration;
        if (request->tolerance > 0 && stage->residual <= request->tolerance) s->status = SAND_SOLVED;
        return;
    }
#else
    (void)request, (void)stage, (void)iteration;
#endif
    method_step(w, s, state);
}

// Solves, or goes on solving, for at most `most` iterations of the budget. What is asked is the run's, or a copy that is
// nearer to the worker.
SAND_KERNEL void solve_run(Worker *w, SolveState *run, const SolveRequest *request, const Op *op, int method, int most) {
    if (run->ended) return;
    Solve s = run->solve;
    s.op = op, s.params = request->params, s.method = method;
    MethodState state = run->state;
    if (worker_is_first(w)) run->clock.begin = worker_seconds(w) - run->seconds, run->clock.measuring = 0;
    int receding = run->receding, iteration = run->iterations;
    int until = request->most_iterations - iteration < most ? request->most_iterations : iteration + most;
    FixedPoint stage = run->stage;
    bool late = false;

    if (!run->begun) {
        solve_begin(w, request, &s, &state);
        if (request->curve) record(w, run, &s, 0);
    }
    while (iteration < until && s.status == SAND_BUDGET && !late) {
        if (request->tolerance > 0 && solve_knows(&s) && s.residual <= request->tolerance) s.status = SAND_SOLVED;
        if (s.status != SAND_BUDGET) break;
        solve_iterate(w, request, &s, &state, &stage, iteration);
        iteration++;
        double recorded = request->curve ? record(w, run, &s, iteration) : 0;
        solve_watch(w, request, &s, iteration, recorded, &receding);
        if (request->most_seconds > 0) late = worker_agree(w, run_seconds(w, run) > request->most_seconds);
        if (request->stop && !late) late = worker_agree(w, worker_stopped(request->stop));
    }

    double seconds = run_seconds(w, run);
    bool ended = late || s.status != SAND_BUDGET || iteration == request->most_iterations;
    Measure m = {s.residual, s.objective, 0};
    if (ended) {
        bool measures = !solve_knows(&s) || request->want_metrics;
        s.paired = SAND_VEC4_ROWS && method_owns(method, OWN_PAIRS);
        if (s.paired && measures) spg_part(w, &s);
        if (measures) m = solve_measure(w, &s);
        if (!isfinite(m.residual)) s.status = SAND_DIVERGED;
        // What the impulses change; the caller adds the free velocity.
        if (s.paired)
            gather_bodies_strided(w, op, solve_vector(&s, s.best), 8, op->still, op->body);
        else
            gather_bodies_of(w, op, solve_vector(&s, s.best), op->still, op->body);
    }
    sand_barrier(w);
    if (worker_is_first(w)) {
        s.op = NULL, s.params = NULL; // each piece brings its own
        run->solve = s;
        run->state = state;
        run->begun = true, run->ended = ended;
        run->receding = receding;
#if SAND_LOCAL
        run->stage = stage;
#endif
        run->iterations = iteration;
        run->seconds = seconds;
        run->measure = m;
    }
    sand_barrier(w);
}
