// SPDX-License-Identifier: MIT
// Gauss-Seidel with momentum, A-GAUSS-SEIDEL.
// Idea: sweeps put right what neighbors disagree on, soonest of all methods. Nesterov's momentum goes around them, as around
// gradient steps in apgd: the next sweep starts from a point extrapolated along the last change and projected on the cones.
// And now and then the coarse correction of c-spg-fb puts right what is wrong over long distances; momentum is kept across
// it. On piles it comes to one percent of the gap in a third to a half of the time of p-apgd.
// Weakness: a sweep goes by colors, each of which waits for the last: it is not for a GPU. No bound of its convergence is
// known: momentum begins anew where the objective rises, and the point of least residual is returned.
//
// An iteration is a sweep, or a look at what it came to: gradient, residual, objective, and the velocities of the next
// extrapolated point, which also rids them of the rounding that sweeps leave behind. A correction takes another iteration.
#ifndef SAND_METHOD_ACCELERATED_SWEEPS_INL
#define SAND_METHOD_ACCELERATED_SWEEPS_INL
#include "sim/solver/kernel/kernel.inl"
#include "sim/solver/methods/gauss_seidel.inl"

enum { ACCELERATED_SWEEPS, ACCELERATED_FIRST, ACCELERATED_ORDER }; // parameters
enum { ACCELERATED_REMAIN = 8 }; // iterations that must follow a correction, which leaves errors between neighbors

typedef struct a_gauss_seidel_State {
    gauss_seidel_State sweep; // its x is the point that sweeps move
    int left;                 // sweeps until the next look
    int done, due;            // iterations; the next correction is in this one
    int last, gradient;       // vectors of the point that the last look saw, and of its gradient
    double objective;         // there
    double theta;             // of Nesterov's sequence
} a_gauss_seidel_State;

// Points are in the vectors 0, 3, 4 and 5 (the sweeps keep diagonal blocks in 1 and 2), gradients in 6 and 7. One for a
// point that none of these is:
SAND_INLINE int accelerated_spare(int a, int b, int c) {
    int k = 0;
    while (k == a || k == b || k == c) k = k ? k + 1 : 3;
    return k;
}
SAND_INLINE int accelerated_other_gradient(int k) { return k == 6 ? 7 : 6; }

// With `rest` iterations to come, of which the last is a look: what is too short for another pass joins this one.
SAND_INLINE void accelerated_plan(const Solve *s, a_gauss_seidel_State *m, int rest) {
    int sweeps = (int)s->params[ACCELERATED_SWEEPS];
    m->left = rest - 1 > 2 * sweeps || rest < 2 ? sweeps : rest - 1;
}

SAND_KERNEL void a_gauss_seidel_start(Worker *w, Solve *s, a_gauss_seidel_State *m) {
    m->sweep.omega = m->sweep.lambda = 1;
    gauss_seidel_set_order(s, &m->sweep, (int)s->params[ACCELERATED_ORDER]);
    gauss_seidel_relax_by(w, s, &m->sweep, gauss_seidel_rows_or(s, SAND_RADIAL ? RELAX_SPHERES : RELAX_BLOCK));
    if (!s->again) {
        m->done = 0;
        m->due = (int)s->params[ACCELERATED_FIRST];
    }
    m->last = s->best = 0;
    m->gradient = 6;
    m->theta = 1;
    s->residual = start_gradient(w, s->op, solve_vector(s, 0), solve_vector(s, m->gradient));
    m->objective = s->objective = s->start_objective;
    m->sweep.x = 3; // the start stays, as the best point so far
    copy(w, s->op, solve_vector(s, 0), solve_vector(s, m->sweep.x));
    accelerated_plan(s, m, s->budget - m->done);
}

// Stores the gradient at x, whose velocities are in op->body. Adds up the change of the objective from the point xl, whose
// gradient is gl, and the residual.
SAND_HOT void accelerated_gradient(Worker *w, const Op *SAND_RESTRICT op, const real *x, const real *xl, const real *gl,
                                   real *SAND_RESTRICT g, double *change, double *residual) {
    Sum sum;
    sum_open(w, &sum, 2, 0);
    SAND_FOR_GRADIENTS(w, i, op, op->body, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row xi = row_load(x, ref), gi = SAND_GRADIENT(op, ref);
        row_store(g, ref, gi);
        SAND_ADD(sum, ref, 0, (real)0.5 * row_dot(row_sub(xi, row_load(xl, ref)), row_add(gi, row_load(gl, ref))));
        SAND_ADD(sum, ref, 1, contact_residual(op, ref, xi, gi));
    }
    sum_total(w, &sum);
    *change = sum.total[0];
    *residual = residual_of(op, sum.total[1]);
}

// y := P(x + momentum (x - xl)), and its velocities. y may be xl.
SAND_HOT void accelerated_extrapolate(Worker *w, const Op *op, const real *x, const real *xl, real *y, real momentum) {
    SAND_FOR(w, i, op->n) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row xi = row_load(x, ref);
        row_store(y, ref, contact_project(op, ref, row_madd(xi, momentum, row_sub(xi, row_load(xl, ref)))));
    }
    sand_barrier(w);
    gather_bodies_of(w, op, y, op->free, op->body);
}

// After sweeps: sees what they came to, and extrapolates.
SAND_KERNEL void accelerated_look(Worker *w, Solve *s, a_gauss_seidel_State *m) {
    const Op *op = s->op;
    int now = m->sweep.x, gradient = accelerated_other_gradient(m->gradient);
    double change, residual;
    accelerated_gradient(w, op, solve_vector(s, now), solve_vector(s, m->last), solve_vector(s, m->gradient),
                         solve_vector(s, gradient), &change, &residual);
    if (!isfinite(change + residual)) {
        s->end = SAND_END_EXHAUSTED;
        return;
    }
    m->objective += change;
    m->gradient = gradient;
    if (residual <= s->residual) {
        s->residual = residual;
        s->objective = m->objective;
        s->best = now;
    }
    double momentum = nesterov_momentum(&m->theta);
    if (change > 0) {
        m->theta = 1;
        momentum = 0;
    }
    int next = accelerated_spare(now, s->best, s->best);
    accelerated_extrapolate(w, op, solve_vector(s, now), solve_vector(s, m->last), solve_vector(s, next), (real)momentum);
    m->last = now;
    m->sweep.x = next;
    accelerated_plan(s, m, s->budget - m->done - 1);
}

// z := x scaled by the smooth field that lowers the objective most. Stores the gradient h there; returns the sums d'g and
// d'N d, d = z - x.
SAND_HOT void accelerated_scale(Worker *w, const Op *SAND_RESTRICT op, real *x, real *g, real *SAND_RESTRICT z,
                                real *SAND_RESTRICT h, double *dg, double *dNd) {
    CoarseSource from = {x, g, false};
    coarse_sum(w, op, from);
    coarse_solve(w, op);
    coarse_spread(w, op);
    SAND_FOR(w, i, op->n) {
        ContactRef ref = SAND_CONTACT(op, i);
        row_store(z, ref, contact_project(op, ref, row_scale(coarse_factor(op, ref), row_load(x, ref))));
    }
    sand_barrier(w);
    gather_bodies_of(w, op, z, op->free, op->body);
    Sum sum;
    sum_open(w, &sum, 2, 0);
    SAND_FOR_GRADIENTS(w, i, op, op->body, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row gi = row_load(g, ref), hi = SAND_GRADIENT(op, ref), d = row_sub(row_load(z, ref), row_load(x, ref));
        row_store(h, ref, hi);
        SAND_ADD(sum, ref, 0, row_dot(d, gi));
        SAND_ADD(sum, ref, 1, row_dot(d, row_sub(hi, gi)));
    }
    sum_total(w, &sum);
    *dg = sum.total[0];
    *dNd = sum.total[1];
}

// z := x + t (z - x), and its gradient in g; y moves along, so that an extrapolation goes on as if the correction had always
// been there. Returns the residual at z.
SAND_HOT double accelerated_take(Worker *w, const Op *op, const real *x, real *g, real *z, const real *h, real *y, real t) {
    Sum sum;
    sum_open(w, &sum, 1, 0);
    SAND_FOR_SUM(w, i, op->n, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row xi = row_load(x, ref), gi = row_load(g, ref), d = row_scale(t, row_sub(row_load(z, ref), xi));
        Row zi = row_add(xi, d), hi = row_madd(gi, t, row_sub(row_load(h, ref), gi));
        row_store(z, ref, zi);
        row_store(g, ref, hi);
        row_store(y, ref, contact_project(op, ref, row_add(row_load(y, ref), d)));
        SAND_ADD(sum, ref, 0, contact_residual(op, ref, zi, hi));
    }
    sum_total(w, &sum);
    return residual_of(op, sum.total[0]);
}

// A correction of the point that the last look saw, by the exact minimum along the change that the field makes.
SAND_KERNEL void accelerated_correct(Worker *w, Solve *s, a_gauss_seidel_State *m) {
    const Op *op = s->op;
    int next = accelerated_spare(m->last, m->sweep.x, s->best);
    real *x = solve_vector(s, m->last), *g = solve_vector(s, m->gradient), *y = solve_vector(s, m->sweep.x);
    real *z = solve_vector(s, next), *h = solve_vector(s, accelerated_other_gradient(m->gradient));
    double dg, dNd;
    accelerated_scale(w, op, x, g, z, h, &dg, &dNd);
    if (dg < 0 && isfinite(dNd)) {
        double t = dNd > -dg ? -dg / dNd : 1;
        s->residual = accelerated_take(w, op, x, g, z, h, y, (real)t);
        m->objective += t * dg + 0.5 * t * t * dNd;
        s->objective = m->objective;
        s->best = m->last = next;
    }
    gather_bodies_of(w, op, y, op->free, op->body);
}

SAND_KERNEL void a_gauss_seidel_step(Worker *w, Solve *s, a_gauss_seidel_State *m) {
    bool fresh = m->left == (int)s->params[ACCELERATED_SWEEPS] && m->done > 0; // a look came right before
    bool corrects = fresh && m->done >= m->due && m->done + ACCELERATED_REMAIN < s->budget && s->op->cells[0];
    if (corrects) {
        accelerated_correct(w, s, m);
        m->due = 2 * m->done;
    } else if (m->left == 0) {
        accelerated_look(w, s, m);
    } else {
        gauss_seidel_step(w, s, &m->sweep);
        m->left--;
    }
    m->done++;
}

#endif // SAND_METHOD_ACCELERATED_SWEEPS_INL
