// SPDX-License-Identifier: MIT
// Alternating direction method of multipliers, ADMM (Boyd et al. 2011, section 5; for contact Tasora et al. 2021).
// Idea: two copies of the impulses, a free one x that minimizes the objective without constraints and a feasible one z in K,
// drawn together by a penalty rho and a scaled multiplier u. The x-update is a linear system, solved here by a few conjugate
// gradient iterations.
// Weakness: everything depends on the penalty; it gains few digits soon and many digits slowly.
//
// The penalty of a contact is rho times its mean diagonal of N. rho is adapted when one of the primal and dual residuals is
// far above the other. Products are those of conjugate gradients, and one more after each of the first eight rounds, and
// every fourth later, to measure the feasible copy: an inexact x-update may lead away from the solution, so the feasible
// copy of least residual, or the start, is returned. Steps are named as in Boyd et al.: [x-update], [z-update], [u-update].
#ifndef SAND_METHOD_ADMM_INL
#define SAND_METHOD_ADMM_INL
#include "sim/solver/kernel/kernel.inl"

enum { ADMM_RHO, ADMM_INNER, ADMM_ACCURACY }; // parameters
#define ADMM_LEAST_RHO 1e-6
#define ADMM_MOST_RHO 1e6
// Vectors: feasible copy, free copy, scaled multiplier, gradient N x + r at the free copy; residual, direction and product
// of the conjugate gradients; a second feasible copy while the first is kept as the best.
enum { ADMM_Z, ADMM_X, ADMM_U, ADMM_G, ADMM_R, ADMM_P, ADMM_Y, ADMM_Z2 };

typedef struct admm_State {
    int z;               // vector of the feasible copy; the best one so far is s->best
    int pull_z, pull_u;  // vectors that the x-update is drawn to: the feasible copy and the multiplier
    bool measure_next;   // the feasible copy is new and the next step measures it
    int rounds;          // x-, z- and u-updates done
    double rho;          // penalty
    int inner;           // conjugate gradient iterations in this round
    double rr;           // r'C r, with the Jacobi preconditioner C = 1 / diagonal of N
    double goal;         // for rr
    int since_recompute; // products since the gradient was last recomputed
} admm_State;

// [x-update] Starts the conjugate gradients from the residual -(N x + r + rho diag(N) (x - z + u)) at the free copy x.
SAND_KERNEL void admm_begin_x_update(Worker *w, Solve *s, admm_State *m) {
    const Op *op = s->op;
    const real *z = solve_vector(s, m->pull_z), *x = solve_vector(s, ADMM_X), *u = solve_vector(s, m->pull_u),
               *g = solve_vector(s, ADMM_G);
    real *r = solve_vector(s, ADMM_R), *p = solve_vector(s, ADMM_P), rho = (real)m->rho;
    Sum sum;
    sum_open(w, &sum, 1, 0);
    SAND_FOR_SUM(w, i, op->n, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row difference = row_add(row_sub(row_load(x, ref), row_load(z, ref)), row_load(u, ref));
        Row ri = row_scale(-1, row_madd(row_load(g, ref), rho * contact_diagonal(op, ref), difference));
        Row pi = row_scale(contact_inverse_diagonal(op, ref), ri);
        row_store(r, ref, ri);
        row_store(p, ref, pi);
        SAND_ADD(sum, ref, 0, row_dot(ri, pi));
    }
    sum_total(w, &sum);
    m->rr = sum.total[0];
    m->goal = m->rr * s->params[ADMM_ACCURACY] * s->params[ADMM_ACCURACY];
    m->inner = 0;
}

SAND_KERNEL void admm_start(Worker *w, Solve *s, admm_State *m) {
    const Op *op = s->op;
    m->z = m->pull_z = s->best = ADMM_Z;
    m->pull_u = ADMM_U;
    m->measure_next = false;
    m->rounds = 0;
    const real *z = solve_vector(s, m->z);
    real *x = solve_vector(s, ADMM_X), *u = solve_vector(s, ADMM_U), *gradient = solve_vector(s, ADMM_G);
    s->residual = start_gradient(w, op, z, gradient);
    s->objective = s->start_objective;
    m->rho = s->params[ADMM_RHO];
    // The multiplier of a solution is minus its gradient over the penalty; that of the start is the best guess.
    real rho = (real)m->rho;
    SAND_FOR(w, i, op->n) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row zi = row_load(z, ref), ui = row_scale(-contact_inverse_diagonal(op, ref) / rho, row_load(gradient, ref));
        row_store(x, ref, zi);
        // Keep only what points out of K: then z = P(z + u) holds from the start.
        row_store(u, ref, row_sub(row_add(zi, ui), contact_project(op, ref, row_add(zi, ui))));
    }
    sand_barrier(w);
    m->since_recompute = 0;
    admm_begin_x_update(w, s, m);
}

// Which feasible copies are measured: a short solve must not miss its best; a long one has many.
SAND_INLINE bool admm_measures(int rounds) { return rounds <= 8 || rounds % 4 == 0; }

// Divides a scaled multiplier by the factor that the penalty was multiplied by.
SAND_KERNEL void admm_rescale(Worker *w, Solve *s, int multiplier, double factor) {
    const Op *op = s->op;
    real *u = solve_vector(s, multiplier), scale = (real)(1 / factor);
    SAND_FOR(w, i, op->n) {
        ContactRef ref = SAND_CONTACT(op, i);
        row_store(u, ref, row_scale(scale, row_load(u, ref)));
    }
    sand_barrier(w);
}

// [z-update] and [u-update] with over-relaxation 1.6, and the adaptation of the penalty.
SAND_KERNEL void admm_end_round(Worker *w, Solve *s, admm_State *m) {
    const Op *op = s->op;
    const real *before = solve_vector(s, m->z), *x = solve_vector(s, ADMM_X);
    if (m->z == s->best) m->z = m->z == ADMM_Z ? ADMM_Z2 : ADMM_Z; // do not overwrite the best
    m->pull_z = m->z;
    real *z = solve_vector(s, m->z), *u = solve_vector(s, ADMM_U);
    const real relax = (real)1.6;
    m->rounds++;
    m->measure_next = admm_measures(m->rounds);
    Sum sum;
    sum_open(w, &sum, 2, 0);
    SAND_FOR_SUM(w, i, op->n, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        real diagonal = contact_diagonal(op, ref);
        Row old = row_load(before, ref), xi = row_madd(old, relax, row_sub(row_load(x, ref), old));
        Row shifted = row_add(xi, row_load(u, ref)), zi = contact_project(op, ref, shifted), ui = row_sub(shifted, zi);
        Row difference = row_sub(row_load(x, ref), zi), change_of_z = row_sub(zi, old);
        row_store(z, ref, zi);
        row_store(u, ref, ui);
        SAND_ADD(sum, ref, 0, diagonal * row_dot(difference, difference));
        SAND_ADD(sum, ref, 1, diagonal * row_dot(change_of_z, change_of_z));
    }
    sum_total(w, &sum);
    // The primal residual is the distance of the copies, the dual one the penalty times the change of the feasible copy.
    double primal = sqrt(sum.total[0]), dual = m->rho * sqrt(sum.total[1]), change = 1;
    if (primal > 5 * dual) change = 2;
    if (dual > 5 * primal) change = 0.5;
    double rho = m->rho * change;
    if (change == 1 || rho < ADMM_LEAST_RHO || rho > ADMM_MOST_RHO) return;
    m->rho = rho;
    admm_rescale(w, s, ADMM_U, change);
}

// Measures the feasible copy; the best is returned.
SAND_KERNEL void admm_measure(Worker *w, Solve *s, admm_State *m) {
    const Op *op = s->op;
    const real *z = solve_vector(s, m->z);
    m->measure_next = false;
    gather_bodies_of(w, op, z, op->free, op->body);
    double residual = start_gradient(w, op, z, solve_vector(s, ADMM_Y));
    if (residual > s->residual) return;
    s->best = m->z;
    s->residual = residual;
    s->objective = objective_of(w, op, z);
}

// Rounding accumulates in the gradient at the free copy: computes it anew, and starts the x-update again.
SAND_KERNEL void admm_recompute(Worker *w, Solve *s, admm_State *m) {
    const Op *op = s->op;
    real *g = solve_vector(s, ADMM_G);
    m->since_recompute = 0;
    gather_bodies_of(w, op, solve_vector(s, ADMM_X), op->free, op->body);
    SAND_FOR_GRADIENTS(w, i, op, op->body, NULL) {
        row_store(g, SAND_CONTACT(op, i), SAND_GRADIENT(op, SAND_CONTACT(op, i)));
    }
    sand_barrier(w);
    admm_begin_x_update(w, s, m);
}

// y := (N + rho diag(N)) p; returns p'y.
SAND_KERNEL double admm_product(Worker *w, Solve *s, real rho) {
    const Op *op = s->op;
    const real *p = solve_vector(s, ADMM_P);
    real *y = solve_vector(s, ADMM_Y);
    gather_bodies_of(w, op, p, op->still, op->scratch);
    Sum sum;
    sum_open(w, &sum, 1, 0);
    SAND_FOR_GRADIENTS(w, i, op, op->scratch, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row pi = row_load(p, ref);
        Row yi = row_madd(contact_without_bias(op, ref, SAND_GRADIENT(op, ref)), rho * contact_diagonal(op, ref), pi);
        row_store(y, ref, yi);
        SAND_ADD(sum, ref, 0, row_dot(pi, yi));
    }
    sum_total(w, &sum);
    return sum.total[0];
}

// Moves the free copy, its gradient and the residual of the conjugate gradients along p; returns the new r'C r.
SAND_KERNEL double admm_advance(Worker *w, Solve *s, real rho, real step) {
    const Op *op = s->op;
    const real *p = solve_vector(s, ADMM_P), *y = solve_vector(s, ADMM_Y);
    real *x = solve_vector(s, ADMM_X), *g = solve_vector(s, ADMM_G), *r = solve_vector(s, ADMM_R);
    Sum sum;
    sum_open(w, &sum, 1, 0);
    SAND_FOR_SUM(w, i, op->n, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row pi = row_load(p, ref), yi = row_load(y, ref), ri = row_madd(row_load(r, ref), -step, yi);
        Row np = row_madd(yi, -rho * contact_diagonal(op, ref), pi);
        row_store(g, ref, row_madd(row_load(g, ref), step, np));
        row_store(x, ref, row_madd(row_load(x, ref), step, pi));
        row_store(r, ref, ri);
        SAND_ADD(sum, ref, 0, contact_inverse_diagonal(op, ref) * row_dot(ri, ri));
    }
    sum_total(w, &sum);
    return sum.total[0];
}

// p := C r + keep p
SAND_KERNEL void admm_turn(Worker *w, Solve *s, real keep) {
    const Op *op = s->op;
    const real *r = solve_vector(s, ADMM_R);
    real *p = solve_vector(s, ADMM_P);
    SAND_FOR(w, i, op->n) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row pi = row_scale(contact_inverse_diagonal(op, ref), row_load(r, ref));
        row_store(p, ref, row_madd(pi, keep, row_load(p, ref)));
    }
    sand_barrier(w);
}

// [x-update] One conjugate gradient iteration on (N + rho diag(N)) x = rho diag(N) (z - u) - r. True when that is accurate
// enough, or has taken long enough.
SAND_KERNEL bool admm_x_update(Worker *w, Solve *s, admm_State *m) {
    real rho = (real)m->rho;
    double curvature = admm_product(w, s, rho), alpha = curvature > 0 ? m->rr / curvature : 0;
    double rr = admm_advance(w, s, rho, (real)alpha), beta = m->rr > 0 ? rr / m->rr : 0;
    m->rr = rr;
    m->inner++;
    if (!isfinite(alpha)) s->end = SAND_END_EXHAUSTED;
    if (m->rr <= m->goal || m->inner >= (int)s->params[ADMM_INNER]) return true;
    admm_turn(w, s, (real)beta);
    return false;
}

// One product: a measurement after a round, the gradient anew, or a conjugate gradient iteration, which may end the round.
// True when it has: the z- and u-updates are next.
SAND_KERNEL bool admm_product_of_round(Worker *w, Solve *s, admm_State *m) {
    if (m->measure_next) {
        admm_measure(w, s, m);
        return false;
    }
    if (m->since_recompute++ >= 50) {
        admm_recompute(w, s, m);
        return false;
    }
    return admm_x_update(w, s, m);
}

SAND_KERNEL void admm_step(Worker *w, Solve *s, admm_State *m) {
    if (!admm_product_of_round(w, s, m)) return;
    admm_end_round(w, s, m);
    admm_begin_x_update(w, s, m);
}

#endif // SAND_METHOD_ADMM_INL
