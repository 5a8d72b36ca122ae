// SPDX-License-Identifier: MIT
// Preconditioned spectral projected gradients with fallback, P-SPG-FB ([H] section 4, algorithm P-SPG-FB).
// Idea: a projected gradient step whose length is estimated from the last change of the gradient (Barzilai and Borwein),
// accepted by a nonmonotone test against several past objectives (Grippo, Lampariello and Lucidi); since neither objective
// nor residual falls monotonically, the iterate of least residual is kept and returned (the fallback).
// Weakness: fast early and slow late; the active-set methods overtake it when many digits are wanted.
//
// One product per iteration: the trial point is x + d itself, so that the product with it gives both N d, as a difference of
// gradients, and the new gradient. Where the test asks for a shorter step, objective and gradient along d are closed forms.
// Without the preconditioner P is the mean diagonal times the identity (P_UNIFORM), so that step lengths mean the same.
// Numbers in brackets are the steps of algorithm P-SPG-FB.
//
// An iterate is an impulse vector and its gradient. On a GPU, which is bound by memory bandwidth, the two are interleaved
// (SAND_VEC4_ROWS), and the trial point is stored only once, together with its gradient: before that it is recomputed
// wherever it is needed.
#ifndef SAND_METHOD_SPG_INL
#define SAND_METHOD_SPG_INL
#include "sim/solver/kernel/kernel.inl"

// The outcome of a step.
typedef struct spg_Point {
    double alpha; // spectral step length for the next step
    double objective, residual;
    double lambda; // fraction of the direction d that is taken
    double dPd;    // of that direction
    bool descends; // d is a descent direction
    bool idle;     // d has no effect: N d is zero but for rounding
    bool finite;   // all sums are finite
} spg_Point;

// The last N_GLL objectives are in worker_state.
typedef struct spg_State {
    double alpha, objective; // of the current iterate
    int count;               // iterations done
    int current;             // index of the current one of the three iterates; the fallback is s->best / 2
    int receding;            // steps in a row that suggest an infeasible problem
} spg_State;

enum { SPG_GLL, SPG_XI, SPG_ALPHA_MIN, SPG_ALPHA_MAX };             // parameters
enum { SPG_DG, SPG_DND, SPG_DPD, SPG_YPY, SPG_RESIDUAL, SPG_SUMS }; // sums over the contacts

// Iterate k: its impulses are vector 2 k, its gradient vector 2 k + 1. Interleaved, each contact takes eight numbers: x, mu,
// g, and the inverse of its mean diagonal.
typedef struct spg_Iterate {
    real *x, *g;
} spg_Iterate;
SAND_INLINE spg_Iterate spg_iterate(const Solve *s, int k) {
    spg_Iterate it = {solve_vector(s, 2 * k), solve_vector(s, 2 * k + 1)};
    return it;
}

// One contact of an iterate.
typedef struct spg_Contact {
    ContactRef ref;
    Row x, g;
} spg_Contact;
SAND_INLINE spg_Contact spg_load(spg_Iterate it, ContactRef ref) {
#if SAND_VEC4_ROWS
    Vec4 x = vec4_load(it.x + 8 * contact_index(ref)), g = vec4_load(it.x + 8 * contact_index(ref) + 4);
    ref.mu = vec4_last(x);
    ref.inverse_diagonal = vec4_last(g);
    spg_Contact c = {ref, vec_of_vec4(x), vec_of_vec4(g)};
#else
    spg_Contact c = {ref, row_load(it.x, ref), row_load(it.g, ref)};
#endif
    return c;
}
SAND_INLINE void spg_store(spg_Iterate it, ContactRef ref, Row x, Row g) {
#if SAND_VEC4_ROWS
    vec4_store_pair(it.x, contact_index(ref), vec4_make(x.x, x.y, x.z, ref.mu),
                    vec4_make(g.x, g.y, g.z, ref.inverse_diagonal));
#else
    row_store(it.x, ref, x);
    row_store(it.g, ref, g);
#endif
}

// [4], [5] The trial point: the projection of x - alpha P^-1 g.
// The paper averages the diagonal of P over a contact (ratio = 1), so that the projection stays the Euclidean one. With
// separate entries for the normal and the tangents, as N has them, the residual of sphere piles is half as large after the
// same number of iterations. The projection is then the one in the norm of P, which the paper names as an option: it is as
// simple, and the direction is still a descent direction.
SAND_INLINE Row spg_trial(const Op *op, spg_Contact c, real alpha, Preconditioner p) {
    return contact_step(op, c.ref, c.x, c.g, alpha, p);
}

// Whether loops that are compiled for the usual problem may be used: see preconditioner_of.
SAND_INLINE bool spg_is_plain(const Op *op, int p) { return p == P_DIAGONAL && !op_has_bare(op); }

#if !SAND_VEC4_ROWS
// Computes the trial point and stores its impulses for gather_bodies.
SAND_INLINE void spg_store_trial_by(Worker *w, const Op *SAND_RESTRICT op, spg_Iterate now, real *SAND_RESTRICT z,
                                    real alpha, Preconditioner p) {
    SAND_FOR_STEPS(w, i, op, now.x, now.g, alpha, p) {
        spg_Contact c = spg_load(now, SAND_CONTACT(op, i));
        ContactRef ref = c.ref;
        Row zi = SAND_STEP(op, ref, c.x, c.g, alpha, p);
        if (!SAND_LAYOUT_AOS) row_store(z, ref, zi);
        SAND_STORE_IMPULSE(op, ref, zi);
    }
}
SAND_HOT void spg_store_trial(Worker *w, const Op *SAND_RESTRICT op, spg_Iterate now, real *SAND_RESTRICT z, real alpha,
                              int p) {
    spg_store_trial_by(w, op, now, z, alpha, preconditioner_of(op, p, false));
}
SAND_HOT void spg_store_trial_plain(Worker *w, const Op *SAND_RESTRICT op, spg_Iterate now, real *SAND_RESTRICT z,
                                    real alpha) {
    spg_store_trial_by(w, op, now, z, alpha, preconditioner_of(op, P_DIAGONAL, true));
}
#endif

// Computes the body velocities of the trial point in op->body.
SAND_KERNEL void spg_gather(Worker *w, const Op *op, spg_Iterate now, spg_Iterate next, real alpha, int p) {
#if SAND_VEC4_ROWS
    (void)next;
    gather_bodies_trial(w, op, now.x, alpha, p);
#else
    if (spg_is_plain(op, p))
        spg_store_trial_plain(w, op, now, next.x, alpha);
    else
        spg_store_trial(w, op, now, next.x, alpha, p);
    gather_bodies(w, op, op->impulse, op->free, op->body);
#endif
}

// [5], [7], [10], [11] Computes the gradient at the trial point z, whose velocities are in op->body, and the sums that all
// decisions are made from, with d = z - x and y = N d. Only the workers that decide receive the totals.
SAND_INLINE void spg_gradient_by(Worker *w, const Op *SAND_RESTRICT op, spg_Iterate now, real *SAND_RESTRICT next_x,
                                 real *SAND_RESTRICT next_g, real alpha, Preconditioner p, bool with_yPy, double *total) {
    spg_Iterate next = {next_x, next_g};

    Sum sum;
    sum_open(w, &sum, SPG_SUMS, 0);
    SAND_FOR_GRADIENTS_AT(w, i, op, op->body, next.x, &sum) {
        spg_Contact c = spg_load(now, SAND_CONTACT(op, i));
        ContactRef ref = c.ref;
        Row hi = SAND_GRADIENT(op, ref), zi = SAND_LAYOUT_AOS ? spg_trial(op, c, alpha, p) : row_load(next.x, ref);
        Row d = row_sub(zi, c.x), y = row_sub(hi, c.g);
        if (SAND_LAYOUT_AOS)
            spg_store(next, ref, zi, hi);
        else
            row_store(next.g, ref, hi);
        // All terms before the first is added: what is loaded for one is not loaded again because a sum might lie there.
        real dg = row_dot(d, c.g), dNd = row_dot(d, y), dPd = preconditioner_square(op, p, ref, d);
        real yPy = with_yPy ? preconditioner_inverse_square(op, p, ref, y) : (real)0;
        real residual = SAND_RESIDUAL(op, ref, zi, hi);
        SAND_ADD(sum, ref, SPG_DG, dg);
        SAND_ADD(sum, ref, SPG_DND, dNd);
        SAND_ADD(sum, ref, SPG_DPD, dPd);
        if (with_yPy) SAND_ADD(sum, ref, SPG_YPY, yPy);
        SAND_ADD(sum, ref, SPG_RESIDUAL, residual);
    }
    sum_total(w, &sum);
    if (worker_decides(w))
        for (int k = 0; k < SPG_SUMS; k++) total[k] = sum.total[k];
}
SAND_HOT void spg_gradient(Worker *w, const Op *SAND_RESTRICT op, spg_Iterate now, real *SAND_RESTRICT next_x,
                           real *SAND_RESTRICT next_g, real alpha, int p, double *total) {
    spg_gradient_by(w, op, now, next_x, next_g, alpha, preconditioner_of(op, p, false), true, total);
}

#if !SAND_LAYOUT_AOS
// The same for what most problems are (preconditioner_of), with y'P^-1 y and without.
SAND_HOT void spg_gradient_plain(Worker *w, const Op *SAND_RESTRICT op, spg_Iterate now, real *SAND_RESTRICT next_x,
                                 real *SAND_RESTRICT next_g, double *total) {
    spg_gradient_by(w, op, now, next_x, next_g, 0, preconditioner_of(op, P_DIAGONAL, true), true, total);
}
SAND_HOT void spg_gradient_brief(Worker *w, const Op *SAND_RESTRICT op, spg_Iterate now, real *SAND_RESTRICT next_x,
                                 real *SAND_RESTRICT next_g, double *total) {
    spg_gradient_by(w, op, now, next_x, next_g, 0, preconditioner_of(op, P_DIAGONAL, true), false, total);
}
#endif

// [10], [11] Shortens the step: moves the trial point and its gradient back to x + lambda d. Returns the sum for
// residual_of.
SAND_HOT double spg_shorten(Worker *w, const Op *op, spg_Iterate now, spg_Iterate next, real lambda) {
    Sum sum;
    sum_open(w, &sum, 1, 0);
    SAND_FOR_SUM(w, i, op->n, &sum) {
        spg_Contact c = spg_load(now, SAND_CONTACT(op, i)), trial = spg_load(next, c.ref);
        ContactRef ref = c.ref;
        Row zi = row_madd(c.x, lambda, row_sub(trial.x, c.x)), hi = row_madd(c.g, lambda, row_sub(trial.g, c.g));
        spg_store(next, ref, zi, hi);
        SAND_ADD(sum, ref, 0, contact_residual(op, ref, zi, hi));
    }
    sum_total(w, &sum);
    return sum.total[0];
}

// [1], [2] Computes gradient and residual of the start. The driver has made it feasible, computed its velocities and its
// objective; its scaling is applied here.
SAND_HOT double spg_start_gradient(Worker *w, const Op *op, const real *x, real scale, spg_Iterate start) {
    Sum sum;
    sum_open(w, &sum, 1, 0);
    SAND_FOR_GRADIENTS(w, i, op, op->body, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row xi = row_scaled(row_load(x, ref), scale), gi = SAND_GRADIENT(op, ref);
        spg_store(start, ref, xi, gi);
        SAND_ADD(sum, ref, 0, contact_residual(op, ref, xi, gi));
    }
    sum_total(w, &sum);
    return residual_of(op, sum.total[0]);
}

SAND_KERNEL void spg_begin(Worker *w, Solve *s, spg_State *m) {
    m->count = 0;
    m->receding = 0;
    m->current = SAND_VEC4_ROWS ? 1 : 0; // an interleaved iterate must not overlap the start, which is vector 0
    s->residual = spg_start_gradient(w, s->op, solve_vector(s, 0), s->start_scale, spg_iterate(s, m->current));
    m->alpha = 1; // the first step is the Jacobi step
    m->objective = s->objective = s->start_objective;
    s->best = 2 * m->current;
    if (worker_decides(w)) worker_state(w)[0] = m->objective;
}

// x'Px of an iterate.
SAND_HOT double spg_square(Worker *w, const Op *op, spg_Iterate it, int p) {
    Sum sum;
    sum_open(w, &sum, 1, 0);
    SAND_FOR_SUM(w, i, op->n, &sum) {
        spg_Contact c = spg_load(it, SAND_CONTACT(op, i));
        ContactRef ref = c.ref;
        SAND_ADD(sum, ref, 0, preconditioner_square(op, op->p[p], ref, c.x));
    }
    sum_total(w, &sum);
    return sum.total[0];
}

// Decides on a step from its sums: how much of it is taken, and the next step length. `recent` holds the last objectives.
SAND_KERNEL spg_Point spg_decide(const Solve *s, const spg_State *m, const double *total, double *recent) {
    double dg = total[SPG_DG], dNd = total[SPG_DND], dPd = total[SPG_DPD], yPy = total[SPG_YPY];
    spg_Point next;
    next.dPd = dPd;
    next.descends = dg < 0;
    next.idle = does_nothing(dNd, dPd);
    next.finite = isfinite(dg + dNd + dPd + total[SPG_RESIDUAL]);

    // [8], [9], [12]-[16] Line search along d in closed form, against the largest of the last objectives. Most steps pass
    // the test against the last one alone.
    double highest = m->objective, lambda = 1, objective = m->objective + dg + 0.5 * dNd;
    double xi = s->params[SPG_XI];
    int memory = (int)s->params[SPG_GLL];
    int known = objective <= highest + xi * dg ? 0 : m->count + 1 < memory ? m->count + 1 : memory;
    for (int k = 0; k < known; k++) highest = recent[k] > highest ? recent[k] : highest;
    for (int tries = 0; objective > highest + xi * lambda * dg && tries < 20; tries++) {
        double minimum = dNd > 0 ? -dg / dNd : lambda; // of the objective along d
        lambda = minimum < 0.1 * lambda ? 0.1 * lambda : minimum > 0.5 * lambda ? 0.5 * lambda : minimum; // [14]
        objective = m->objective + lambda * dg + 0.5 * lambda * lambda * dNd;
    }
    next.lambda = lambda;
    next.objective = objective;
    next.residual = residual_of(s->op, total[SPG_RESIDUAL]);
    recent[(m->count + 1) % memory] = objective;

    // [17]-[23] The next step length: BB1 (eq. 22) after odd iterations, BB2 (eq. 23) after even ones; lambda cancels.
    double least = s->params[SPG_ALPHA_MIN], most = s->params[SPG_ALPHA_MAX];
    bool odd = m->count % 2;
    double alpha = (odd ? dPd : dNd) / (odd ? dNd : yPy);
    next.alpha = !(alpha < most) ? most : alpha > least ? alpha : least;
    return next;
}

// The gradient and the sums of a step. BB1 after odd iterations makes no use of y'P^-1 y (spg_decide).
SAND_KERNEL void spg_measure(Worker *w, const Op *op, spg_Iterate now, spg_Iterate next, const spg_State *m, int p,
                             double *total) {
#if !SAND_LAYOUT_AOS
    if (spg_is_plain(op, p)) {
        if (m->count % 2)
            spg_gradient_brief(w, op, now, next.x, next.g, total);
        else
            spg_gradient_plain(w, op, now, next.x, next.g, total);
        return;
    }
#endif
    spg_gradient(w, op, now, next.x, next.g, (real)m->alpha, p, total);
}

// One iteration of algorithm P-SPG-FB with the given preconditioner, P_UNIFORM or P_DIAGONAL.
SAND_KERNEL void spg_advance(Worker *w, Solve *s, spg_State *m, int preconditioner) {
    const Op *op = s->op;
    int spare = 0;
    while (spare == m->current || 2 * spare == s->best) spare++; // neither the current nor the best
    spg_Iterate now = spg_iterate(s, m->current), next = spg_iterate(s, spare);

    // [4], [5] The direction and the decision. [6], [7] Without the preconditioner if that direction does not descend, which
    // only rounding can cause: so it is tested afterwards, and the step is repeated.
    spg_Point decided = {0};
    const spg_Point *point = NULL;
    for (int p = preconditioner;; p = P_UNIFORM) {
        double total[SPG_SUMS];
        spg_gather(w, op, now, next, (real)m->alpha, p);
        spg_measure(w, op, now, next, m, p, total);
        if (worker_decides(w)) decided = spg_decide(s, m, total, worker_state(w));
        point = worker_learn(w, &decided);
        if (point->descends || p == P_UNIFORM) break;
    }
    if (!point->finite) {
        s->end = SAND_END_EXHAUSTED;
        return;
    }
    double residual = point->residual;
    if (point->lambda < 1) residual = residual_of(op, spg_shorten(w, op, now, next, (real)point->lambda));
    m->alpha = point->alpha;
    m->objective = point->objective;
    int before = m->current;
    m->current = spare;
    s->current = 2 * spare;
    m->count++;

    // [24]-[26] Keep the best: its vectors are not overwritten until a better one is found. Diverging impulses are not
    // candidates: they grow until the residual drowns in their rounding.
    bool suspect = point->idle && is_large(point->dPd, spg_square(w, op, next, preconditioner));
    if (recession(suspect, &m->receding)) solve_suspect(s, 2 * spare, 2 * before);
    if (m->receding == 0 && residual <= s->residual) {
        s->residual = residual;
        s->objective = m->objective;
        s->best = 2 * spare;
    }
}

// Two rows of the solver table: without and with the preconditioner.
typedef spg_State spg_fb_State, p_spg_fb_State;
SAND_KERNEL void spg_fb_start(Worker *w, Solve *s, spg_State *m) { spg_begin(w, s, m); }
SAND_KERNEL void p_spg_fb_start(Worker *w, Solve *s, spg_State *m) { spg_begin(w, s, m); }
SAND_KERNEL void spg_fb_step(Worker *w, Solve *s, spg_State *m) { spg_advance(w, s, m, P_UNIFORM); }
SAND_KERNEL void p_spg_fb_step(Worker *w, Solve *s, spg_State *m) { spg_advance(w, s, m, P_DIAGONAL); }

#endif // SAND_METHOD_SPG_INL
