// SPDX-License-Identifier: MIT
// Proportioning: the methods of Kucera ([H] section 4, algorithm KUCERA) and MPRGP ([M] algorithm 2).
// Idea: conjugate gradients on the free impulses; a step that would leave the set stops at its boundary and is followed by a
// short projected gradient step, which may make many components active (expansion); when the gradient on the active
// components outweighs that on the free ones, active components are released (proportioning).
// Weakness: every change of the active set discards the conjugate directions, so both slow down where contacts open and
// close; the short step needs an estimate of the norm of N, which costs some products first.
//
// The two differ in how they measure the parts of the gradient, and in the proportioning step: kucera takes the short
// projected step along the reduced gradient (eq. 25 to 27), mprgp goes to the minimum along the chopped gradient. Both work
// on bounds, and on discs in Kucera's separable convex form. Numbers in brackets are the lines of KUCERA; [M] steps are
// named. One product per step of the driver; an expansion is two steps. The length of the short step is a constant over the
// estimated norm, and later products can only raise that estimate.
#ifndef SAND_METHOD_PROPORTIONING_INL
#define SAND_METHOD_PROPORTIONING_INL
#include "sim/solver/kernel/kernel.inl"

enum { PROPORTIONING_GAMMA, PROPORTIONING_STEP, PROPORTIONING_POWER };       // parameters
enum { PROPORTIONING_X, PROPORTIONING_G, PROPORTIONING_P, PROPORTIONING_Y }; // vectors: impulse, gradient, direction, N p

// What the next step does.
typedef enum ProportioningPhase {
    PROPORTIONING_ESTIMATE,  // a step of the power method, for the norm
    PROPORTIONING_CONJUGATE, // conjugate gradient step ([M] step 2)
    PROPORTIONING_EXPAND,    // expansion step ([M] step 3)
    PROPORTIONING_RELEASE,   // proportioning step ([M] step 1)
} ProportioningPhase;

typedef struct proportioning_State {
    bool chopped; // mprgp: chopped gradients in place of reduced ones
    ProportioningPhase phase;
    int estimates;       // steps of the power method still to do
    double length;       // of its vector
    double norm;         // lower estimate of the norm of N
    double rho;          // [11]: coefficient of the last direction
    double noise;        // |g|^2 that rounding alone may leave
    int since_recompute; // steps since the gradient was last recomputed
} proportioning_State;

typedef proportioning_State kucera_State, mprgp_State;

// Length of the short projected step, alpha~ of [H].
SAND_INLINE real proportioning_step_length(const Solve *s, const proportioning_State *m) {
    return (real)(s->params[PROPORTIONING_STEP] / m->norm);
}

// Boundary gradient: the reduced (eq. 27) or chopped ([M], beta) gradient on the active components.
SAND_INLINE Row proportioning_boundary(const Op *op, ContactRef ref, Row x, Row g, bool chopped, real t) {
    Row all = chopped ? contact_chopped_gradient(op, ref, x, g, t) : contact_reduced_gradient(op, ref, x, g, t);
    return row_sub(all, contact_free_gradient(op, ref, x, all));
}

// Sizes of the two parts of the gradient, from which the next step is chosen: phi~'g and beta~'g for kucera, |phi|^2 and
// |beta|^2 for mprgp.
typedef struct Parts {
    real free, boundary;
} Parts;

SAND_INLINE Parts proportioning_parts(const Op *op, ContactRef ref, Row x, Row g, bool chopped, real t) {
    Row free = contact_free_gradient(op, ref, x, chopped ? g : contact_reduced_gradient(op, ref, x, g, t));
    Row boundary = proportioning_boundary(op, ref, x, g, chopped, t);
    Parts parts;
    parts.free = row_dot(free, chopped ? free : g);
    parts.boundary = row_dot(boundary, chopped ? boundary : g);
    return parts;
}

// [5] Chooses the next step: a conjugate gradient step where the iterate is proportional, else a proportioning step.
SAND_INLINE void proportioning_choose(Solve *s, proportioning_State *m, double free, double boundary) {
    double gamma = s->params[PROPORTIONING_GAMMA];
    m->phase = boundary <= gamma * gamma * free ? PROPORTIONING_CONJUGATE : PROPORTIONING_RELEASE;
}

SAND_KERNEL void proportioning_begin(Worker *w, Solve *s, proportioning_State *m, bool chopped) {
    const Op *op = s->op;
    real *g = solve_vector(s, PROPORTIONING_G), *p = solve_vector(s, PROPORTIONING_P);
    // [1], [2]
    double residual = start_gradient(w, op, solve_vector(s, PROPORTIONING_X), g);
    s->objective = s->start_objective;
    s->residual = residual;
    m->chopped = chopped;
    m->rho = 0;
    m->since_recompute = 0;
    if (s->again) { // restarted on the same N: the estimate of the norm is still good
        m->phase = PROPORTIONING_EXPAND;
        return;
    }
    m->phase = PROPORTIONING_ESTIMATE;
    m->estimates = (int)s->params[PROPORTIONING_POWER];
    m->norm = op->per_tau; // the mean diagonal of N, a lower bound of the norm
    // The power method starts from the gradient.
    Sum sum;
    sum_open(w, &sum, 2, 0);
    SAND_FOR_SUM(w, i, op->n, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row gi = row_load(g, ref), ri = contact_gradient_from(op, op->free, ref);
        row_store(p, ref, gi);
        SAND_ADD(sum, ref, 0, row_dot(gi, gi));
        SAND_ADD(sum, ref, 1, row_dot(ri, ri));
    }
    sum_total(w, &sum);
    m->length = sqrt(sum.total[0]);
    const double unit = sizeof(real) == sizeof(float) ? 1e-7 : 1e-16;
    m->noise = 4 * unit * unit * sum.total[1];
}

// [15], [16] Expansion: a short projected gradient step of the free components, and the gradient there.
// [19], [20] Proportioning of kucera: the same step of the active components.
SAND_KERNEL void proportioning_projected_step(Worker *w, Solve *s, proportioning_State *m, bool active) {
    const Op *op = s->op;
    real *x = solve_vector(s, PROPORTIONING_X), *g = solve_vector(s, PROPORTIONING_G), *d = solve_vector(s, PROPORTIONING_P);
    real t = proportioning_step_length(s, m);
    bool chopped = m->chopped;
    SAND_FOR_IMPULSES(w, i, op, NULL) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row xi = row_load(x, ref), all = row_sub(contact_project(op, ref, row_madd(xi, -t, row_load(g, ref))), xi);
        Row free = contact_free_gradient(op, ref, xi, all), di = active ? row_sub(all, free) : free, zi = row_add(xi, di);
        row_store(d, ref, di);
        row_store(x, ref, zi);
        SAND_STORE_IMPULSE(op, ref, zi);
    }
    gather_bodies(w, op, op->impulse, op->free, op->body);
    Sum sum;
    sum_open(w, &sum, 6, 0);
    SAND_FOR_GRADIENTS(w, i, op, op->body, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row xi = row_load(x, ref), di = row_load(d, ref), hi = SAND_GRADIENT(op, ref), old = row_load(g, ref);
        row_store(g, ref, hi);
        Parts parts = proportioning_parts(op, ref, xi, hi, chopped, t);
        SAND_ADD(sum, ref, 0, parts.free);
        SAND_ADD(sum, ref, 1, parts.boundary);
        SAND_ADD(sum, ref, 2, contact_residual(op, ref, xi, hi));
        SAND_ADD(sum, ref, 3, (real)0.5 * row_dot(di, row_add(hi, old)));
        SAND_ADD(sum, ref, 4, row_dot(di, row_sub(hi, old)));
        SAND_ADD(sum, ref, 5, row_dot(di, di));
    }
    sum_total(w, &sum);
    s->objective += sum.total[3];
    s->residual = residual_of(op, sum.total[2]);
    double dNd = sum.total[4], dd = sum.total[5];
    if (dd > 0 && dNd > m->norm * dd) m->norm = dNd / dd; // the Rayleigh quotient of d, for free
    m->rho = 0;
    m->since_recompute = 0;
    proportioning_choose(s, m, sum.total[0], sum.total[1]);
}

// [6]-[12], [14] Conjugate gradient step: to the minimum along p, or to the boundary if that comes first. With `active`, the
// proportioning step of mprgp ([M] step 1), along the boundary gradient.
SAND_KERNEL void proportioning_line_step(Worker *w, Solve *s, proportioning_State *m, bool active) {
    const Op *op = s->op;
    real *x = solve_vector(s, PROPORTIONING_X), *g = solve_vector(s, PROPORTIONING_G);
    real *p = solve_vector(s, PROPORTIONING_P), *y = solve_vector(s, PROPORTIONING_Y);
    real t = proportioning_step_length(s, m), rho = (real)m->rho;
    bool chopped = m->chopped;
    // [3], [12], [17], [21] The direction (eq. 29): conjugate to the last one, or restarted where rho is 0.
    SAND_FOR_IMPULSES(w, i, op, NULL) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row xi = row_load(x, ref), gi = row_load(g, ref);
        Row pi = active ? proportioning_boundary(op, ref, xi, gi, chopped, t) : contact_free_gradient(op, ref, xi, gi);
        if (rho != 0) pi = row_madd(pi, -rho, row_load(p, ref));
        row_store(p, ref, pi);
        SAND_STORE_IMPULSE(op, ref, pi);
    }
    gather_bodies(w, op, op->impulse, op->still, op->scratch);
    Sum sum;
    sum_open(w, &sum, 6, 1u << 3);
    SAND_FOR_GRADIENTS(w, i, op, op->scratch, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row xi = row_load(x, ref), pi = row_load(p, ref), yi = contact_without_bias(op, ref, SAND_GRADIENT(op, ref));
        real diagonal = contact_diagonal(op, ref);
        row_store(y, ref, yi);
        SAND_ADD(sum, ref, 0, row_dot(pi, yi));
        SAND_ADD(sum, ref, 1, row_dot(pi, row_load(g, ref)));
        SAND_ADD(sum, ref, 2, row_dot(pi, pi));
        SAND_MAX(sum, ref, 3, contact_inverse_step(op, ref, xi, pi));
        SAND_ADD(sum, ref, 4, diagonal * row_dot(pi, pi));
        SAND_ADD(sum, ref, 5, diagonal * row_dot(xi, xi));
    }
    sum_total(w, &sum);
    double pNp = sum.total[0], gp = sum.total[1], pp = sum.total[2], inverse_step = sum.total[3];
    if (pp > 0 && pNp > m->norm * pp) m->norm = pNp / pp;
    bool inside = gp * inverse_step <= pNp; // [8]
    if (direction_recedes(gp, pNp, sum.total[4], inverse_step, sum.total[5])) solve_suspect(s, -1, PROPORTIONING_P);
    double alpha = pNp > 0 && inside ? gp / pNp : inverse_step > 0 ? 1 / inverse_step : 0; // [6], [7]
    bool converged = pp <= m->noise; // what is left is rounding, and says nothing about a step
    if (converged) alpha = 0;
    // [9]-[11], [14]
    real step = (real)alpha;
    sum_open(w, &sum, 4, 0);
    SAND_FOR_SUM(w, i, op->n, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row yi = row_load(y, ref);
        Row xi = contact_project(op, ref, row_madd(row_load(x, ref), -step, row_load(p, ref))); // removes rounding only
        Row gi = row_madd(row_load(g, ref), -step, yi);
        row_store(x, ref, xi);
        row_store(g, ref, gi);
        Parts parts = proportioning_parts(op, ref, xi, gi, chopped, t);
        SAND_ADD(sum, ref, 0, parts.free);
        SAND_ADD(sum, ref, 1, parts.boundary);
        SAND_ADD(sum, ref, 2, contact_residual(op, ref, xi, gi));
        SAND_ADD(sum, ref, 3, row_dot(contact_free_gradient(op, ref, xi, gi), yi));
    }
    sum_total(w, &sum);
    s->objective += alpha * (0.5 * alpha * pNp - gp);
    s->residual = residual_of(op, sum.total[2]);
    m->rho = inside && !active && pNp > 0 ? sum.total[3] / pNp : 0;
    proportioning_choose(s, m, sum.total[0], sum.total[1]);
    // [13] The expansion step follows at the boundary, and now and then because rounding accumulates in g, which it
    // recomputes.
    if (!inside || converged || ++m->since_recompute >= 50) m->phase = PROPORTIONING_EXPAND;
}

// Whether active components are released by a step to the minimum: in mprgp, unless the section is a disc, whose edge is
// curved.
SAND_INLINE bool proportioning_releases_by_line(const Op *op, const proportioning_State *m) {
#if SAND_LOCAL
    return m->chopped && op->section != SAND_DISC;
#else
    (void)op;
    return m->chopped;
#endif
}

// One product of the phase that is under way.
SAND_KERNEL void proportioning_step(Worker *w, Solve *s, proportioning_State *m) {
    if (m->phase == PROPORTIONING_ESTIMATE) {
        if (m->length > 0) m->length = power_step(w, s->op, solve_vector(s, PROPORTIONING_P), m->length);
        if (m->length > m->norm) m->norm = m->length;
        if (--m->estimates <= 0) m->phase = PROPORTIONING_EXPAND;
    } else if (m->phase == PROPORTIONING_EXPAND)
        proportioning_projected_step(w, s, m, false);
    else if (m->phase == PROPORTIONING_RELEASE && !proportioning_releases_by_line(s->op, m))
        proportioning_projected_step(w, s, m, true);
    else
        proportioning_line_step(w, s, m, m->phase == PROPORTIONING_RELEASE);
    if (!isfinite(s->residual)) s->end = SAND_END_EXHAUSTED;
}

SAND_KERNEL void kucera_start(Worker *w, Solve *s, proportioning_State *m) { proportioning_begin(w, s, m, false); }
SAND_KERNEL void mprgp_start(Worker *w, Solve *s, proportioning_State *m) { proportioning_begin(w, s, m, true); }
SAND_KERNEL void kucera_step(Worker *w, Solve *s, proportioning_State *m) { proportioning_step(w, s, m); }
SAND_KERNEL void mprgp_step(Worker *w, Solve *s, proportioning_State *m) { proportioning_step(w, s, m); }

#endif // SAND_METHOD_PROPORTIONING_INL
