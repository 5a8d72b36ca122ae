// SPDX-License-Identifier: MIT
// Conjugate projected gradients ([P] algorithm 2, after Renouf and Alart 2005).
// Idea: conjugate gradients whose residual and last direction are both projected on the tangent cone of K, a step to the
// minimum along the line, and a projection of the result on K.
// Weakness: nothing guarantees that the objective decreases after the projection, and every projection destroys conjugacy:
// it jitters where friction is strong. Where something was projected the gradient costs a second product ([P] always pays
// it), so that with bounds that settle slowly an iteration costs two.
//
// "Line" is a line of algorithm 2. Line 5 is taken with the projected residual and the projected last direction. With bounds
// that follow the normal impulse inside the iteration it is the paper's variant for the pyramid.
#ifndef SAND_METHOD_CPG_INL
#define SAND_METHOD_CPG_INL
#include "sim/solver/kernel/kernel.inl"

typedef struct cpg_State {
    int current;   // index of the iterate: vector 0 or 1
    int gradient;  // index of its gradient: vector 2 or 3
    bool stale;    // the iterate was projected: its gradient must be recomputed
    bool has_last; // there is a last direction to be conjugate to
    double beta;   // line 4
    double pNp;    // of the last direction
} cpg_State;

enum { CPG_P = 4, CPG_Y }; // vectors: direction, N p

SAND_KERNEL void cpg_start(Worker *w, Solve *s, cpg_State *m) {
    double residual = start_gradient(w, s->op, solve_vector(s, 0), solve_vector(s, 2));
    s->objective = s->start_objective;
    s->residual = residual;
    m->current = 0;
    m->gradient = 2;
    m->stale = m->has_last = false;
    m->beta = m->pNp = 0;
}

// Line 1: recomputes the gradient at an iterate that was projected, and what depends on it: beta of line 4 (the projected
// gradient is minus the paper's residual, so its minus sign is gone), residual, objective.
SAND_KERNEL void cpg_recompute_gradient(Worker *w, Solve *s, cpg_State *m) {
    const Op *op = s->op;
    const real *x = solve_vector(s, m->current), *last = solve_vector(s, 1 - m->current), *y = solve_vector(s, CPG_Y);
    real *g = solve_vector(s, m->gradient);
    gather_bodies_of(w, op, x, op->free, op->body);
    Sum sum;
    sum_open(w, &sum, 3, 0);
    SAND_FOR_GRADIENTS(w, i, op, op->body, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row xi = row_load(x, ref), gi = SAND_GRADIENT(op, ref);
        Row r = contact_projected_gradient(op, ref, xi, gi);
        SAND_ADD(sum, ref, 0, row_dot(r, row_load(y, ref)));
        SAND_ADD(sum, ref, 1, contact_residual(op, ref, xi, gi));
        SAND_ADD(sum, ref, 2, (real)0.5 * row_dot(row_sub(xi, row_load(last, ref)), row_add(gi, row_load(g, ref))));
        row_store(g, ref, gi);
    }
    sum_total(w, &sum);
    m->beta = m->pNp > 0 ? sum.total[0] / m->pNp : 0;
    s->residual = residual_of(op, sum.total[1]);
    s->objective += sum.total[2];
    s->best = m->current;
    m->stale = false;
}

// One iteration of algorithm 2, or line 1 alone after a projection.
SAND_KERNEL void cpg_step(Worker *w, Solve *s, cpg_State *m) {
    const Op *op = s->op;
    if (m->stale) {
        cpg_recompute_gradient(w, s, m);
        return;
    }
    const real *x = solve_vector(s, m->current);
    const real *g = solve_vector(s, m->gradient);
    real *z = solve_vector(s, 1 - m->current), *gz = solve_vector(s, 5 - m->gradient), *p = solve_vector(s, CPG_P),
         *y = solve_vector(s, CPG_Y);
    // Lines 2, 3, 5: both parts of the direction are projected on the tangent cone.
    real beta = (real)m->beta;
    bool has_last = m->has_last;
    SAND_FOR_IMPULSES(w, i, op, NULL) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row xi = row_load(x, ref), pi = row_scale(-1, contact_projected_gradient(op, ref, xi, row_load(g, ref)));
        if (has_last) pi = row_madd(pi, beta, contact_tangent(op, ref, xi, row_load(p, ref)));
        row_store(p, ref, pi);
        SAND_STORE_IMPULSE(op, ref, pi);
    }
    gather_bodies(w, op, op->impulse, op->still, op->scratch);
    Sum sum;
    sum_open(w, &sum, 5, 1u << 4);
    SAND_FOR_GRADIENTS(w, i, op, op->scratch, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        real diagonal = contact_diagonal(op, ref);
        Row xi = row_load(x, ref), pi = row_load(p, ref), yi = contact_without_bias(op, ref, SAND_GRADIENT(op, ref));
        row_store(y, ref, yi);
        SAND_ADD(sum, ref, 0, row_dot(pi, yi));
        SAND_ADD(sum, ref, 1, row_dot(pi, row_load(g, ref)));
        SAND_ADD(sum, ref, 2, diagonal * row_dot(pi, pi));
        SAND_ADD(sum, ref, 3, diagonal * row_dot(xi, xi));
        SAND_MAX(sum, ref, 4, contact_inverse_step(op, ref, xi, row_scale(-1, pi)));
    }
    sum_total(w, &sum);
    // Line 6
    double pNp = sum.total[0], gp = sum.total[1], alpha = pNp > 0 ? -gp / pNp : 0;
    if (direction_recedes(gp, pNp, sum.total[2], sum.total[4], sum.total[3])) solve_suspect(s, CPG_P, -1);
    // Lines 7, 8, and line 4 of the next iteration. If nothing was projected, the gradient follows from N p.
    real step = (real)alpha;
    sum_open(w, &sum, 3, 1u << 2);
    SAND_FOR_SUM(w, i, op->n, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row yi = row_load(y, ref), half = row_madd(row_load(x, ref), step, row_load(p, ref));
        Row zi = contact_project(op, ref, half), moved = row_sub(zi, half);
        Row gi = row_madd(row_load(g, ref), step, yi), r = contact_projected_gradient(op, ref, zi, gi);
        row_store(z, ref, zi);
        row_store(gz, ref, gi);
        SAND_ADD(sum, ref, 0, row_dot(r, yi));
        SAND_ADD(sum, ref, 1, contact_residual(op, ref, zi, gi));
        SAND_MAX(sum, ref, 2, row_dot(moved, moved));
    }
    sum_total(w, &sum);
    m->pNp = pNp;
    m->has_last = true;
    m->current = 1 - m->current;
    m->stale = sum.total[2] > 0;
    if (!isfinite(alpha)) s->end = SAND_END_EXHAUSTED;
    if (m->stale) return;
    m->gradient = 5 - m->gradient;
    m->beta = pNp > 0 ? sum.total[0] / pNp : 0;
    s->residual = residual_of(op, sum.total[1]);
    s->objective += alpha * (gp + 0.5 * alpha * pNp);
    s->best = m->current;
}

#endif // SAND_METHOD_CPG_INL
