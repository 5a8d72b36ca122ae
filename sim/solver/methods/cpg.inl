// Conjugate projected gradients ([P] algorithm 2, after Renouf and Alart 2005).
// Idea: conjugate gradients whose residual and last direction are both cut to what does not lead out of the set, a step
// to the minimum of the line, and a projection of what left the set after all.
// Weakness: nothing makes sure that the objective falls after the projection, and every projection spoils conjugacy: it
// jitters where friction is strong. Where something was projected the gradient costs a second product ([P] always pays
// it), so with bounds that settle slowly an iteration costs two.
//
// Line 5 of the algorithm takes the projected residual and the projected last direction. With bounds that follow the
// normal impulse (inside) it is the paper's variant for the pyramid.

typedef struct cpg_State {
    int current;   // which of the vectors 0, 1 is the iterate
    int gradient;  // which of the vectors 2, 3 is its gradient
    bool stale;    // it was projected: the gradient must be computed anew
    bool has_last; // there is a last direction to be conjugate to
    double beta;   // line 4
    double pNp;    // of the last direction
} cpg_State;

enum { CPG_P = 4, CPG_Y }; // vectors: direction, N p

SAND_TEXT void cpg_start(Worker *w, Solve *s, cpg_State *m) {
    double residual = start_gradient(w, s->op, solve_vector(s, 0), solve_vector(s, 2));
    s->objective = s->start_objective, s->residual = residual;
    m->current = 0, m->gradient = 2, m->stale = m->has_last = false, m->beta = m->pNp = 0;
}

// Line 1: the gradient at an iterate that was projected, with all that hangs on it.
SAND_TEXT void cpg_renew(Worker *w, Solve *s, cpg_State *m) {
    const Op *op = s->op;
    const real *x = solve_vector(s, m->current), *last = solve_vector(s, 1 - m->current), *y = solve_vector(s, CPG_Y);
    real *g = solve_vector(s, m->gradient);
    push_vector(w, op, x, op->free, op->body);
    Sum sum;
    sum_open(w, &sum, 3, 0);
    SAND_FOR_PULL(w, i, op, op->body, &sum) {
        At at = SAND_AT(op, i);
        Row xi = row_load(x, at), gi = SAND_PULL(op, at);
        Row r = block_projected_gradient(op, at, xi, gi);
        SAND_ADD(sum, at, 0, row_dot(r, row_load(y, at)));
        SAND_ADD(sum, at, 1, block_residual(op, at, xi, gi));
        SAND_ADD(sum, at, 2, (real)0.5 * row_dot(row_sub(xi, row_load(last, at)), row_add(gi, row_load(g, at))));
        row_store(g, at, gi);
    }
    sum_total(w, &sum);
    m->beta = m->pNp > 0 ? sum.total[0] / m->pNp : 0;
    s->residual = residual_of(op, sum.total[1]);
    s->objective += sum.total[2];
    s->best = m->current;
    m->stale = false;
}

SAND_TEXT void cpg_step(Worker *w, Solve *s, cpg_State *m) {
    const Op *op = s->op;
    if (m->stale) {
        cpg_renew(w, s, m);
        return;
    }
    const real *x = solve_vector(s, m->current);
    const real *g = solve_vector(s, m->gradient);
    real *z = solve_vector(s, 1 - m->current), *gz = solve_vector(s, 5 - m->gradient), *p = solve_vector(s, CPG_P),
         *y = solve_vector(s, CPG_Y);
    // Lines 2, 3, 5: both parts of the direction stay in the tangent cone.
    real beta = (real)m->beta;
    bool has_last = m->has_last;
    SAND_FOR(w, i, op->n) {
        At at = SAND_AT(op, i);
        Row xi = row_load(x, at), pi = row_scale(-1, block_projected_gradient(op, at, xi, row_load(g, at)));
        if (has_last) pi = row_madd(pi, beta, block_tangent(op, at, xi, row_load(p, at)));
        row_store(p, at, pi);
        block_publish(op, at, pi);
    }
    push(w, op, op->impulse, op->still, op->scratch);
    Sum sum;
    sum_open(w, &sum, 5, 1u << 4);
    SAND_FOR_PULL(w, i, op, op->scratch, &sum) {
        At at = SAND_AT(op, i);
        real diagonal = block_weight(op, at);
        Row xi = row_load(x, at), pi = row_load(p, at), yi = block_without_bias(op, at, SAND_PULL(op, at));
        row_store(y, at, yi);
        SAND_ADD(sum, at, 0, row_dot(pi, yi));
        SAND_ADD(sum, at, 1, row_dot(pi, row_load(g, at)));
        SAND_ADD(sum, at, 2, diagonal * row_dot(pi, pi));
        SAND_ADD(sum, at, 3, diagonal * row_dot(xi, xi));
        SAND_TOP(sum, at, 4, block_reach(op, at, xi, row_scale(-1, pi)));
    }
    sum_total(w, &sum);
    // Line 6
    double pNp = sum.total[0], gp = sum.total[1], alpha = pNp > 0 ? -gp / pNp : 0;
    if (direction_recedes(gp, pNp, sum.total[2], sum.total[4], sum.total[3])) s->status = SAND_INFEASIBLE;
    // Lines 7, 8, and line 4 of the next iteration. Where nothing was projected the gradient is known.
    real step = (real)alpha;
    sum_open(w, &sum, 3, 1u << 2);
    SAND_FOR_SUM(w, i, op->n, &sum) {
        At at = SAND_AT(op, i);
        Row yi = row_load(y, at), half = row_madd(row_load(x, at), step, row_load(p, at));
        Row zi = block_project(op, at, half), moved = row_sub(zi, half);
        Row gi = row_madd(row_load(g, at), step, yi), r = block_projected_gradient(op, at, zi, gi);
        row_store(z, at, zi);
        row_store(gz, at, gi);
        SAND_ADD(sum, at, 0, row_dot(r, yi));
        SAND_ADD(sum, at, 1, block_residual(op, at, zi, gi));
        SAND_TOP(sum, at, 2, row_dot(moved, moved));
    }
    sum_total(w, &sum);
    m->pNp = pNp, m->has_last = true;
    m->current = 1 - m->current;
    m->stale = sum.total[2] > 0;
    if (!isfinite(alpha)) s->status = SAND_DIVERGED;
    if (m->stale) return;
    m->gradient = 5 - m->gradient;
    m->beta = pNp > 0 ? sum.total[0] / pNp : 0;
    s->residual = residual_of(op, sum.total[1]);
    s->objective += alpha * (gp + 0.5 * alpha * pNp);
    s->best = m->current;
}
