// Alternating directions of multipliers, ADMM (Boyd et al. 2011, section 5; for contact Tasora et al. 2021).
// Idea: two copies of the impulses, one that minimizes the objective without the set and one that lies in the set, drawn
// together by a spring and a multiplier. The first is a linear system, solved here by a few conjugate gradients.
// Weakness: everything hangs on the stiffness of the spring; it gains few digits soon and many digits slowly.
//
// The spring of a block has rho times its mean diagonal of N. rho is adapted when one of the two residuals is far above
// the other. Products are those of conjugate gradients, and one more after many a round, which looks at the copy in the
// set: a solve that is cut short may lead away, so the copy of least residual, or the start, is what is returned.

enum { ADMM_RHO, ADMM_INNER, ADMM_ACCURACY };
// In the set, free, multiplier, gradient at the free one; of conjugate gradients r, p, A p; in the set where the first is
// kept.
enum { ADMM_Z, ADMM_X, ADMM_U, ADMM_G, ADMM_R, ADMM_P, ADMM_Y, ADMM_OTHER };

typedef struct admm_State {
    int z;     // the vector of the copy in the set; the best one so far is s->best
    bool look; // that copy is new, and is to be looked at
    int rounds;
    double rho;
    int inner;     // conjugate gradients in this round
    double rr;     // r'C r, C the inverse of the diagonal
    double goal;   // of rr
    int since_new; // products since the gradient was computed anew
} admm_State;

// [x-update] begins: r = -(N x + r + rho (x - z + u)) at the free copy x.
SAND_KERNEL void admm_open(Worker *w, Solve *s, admm_State *m) {
    const Op *op = s->op;
    const real *z = solve_vector(s, m->z), *x = solve_vector(s, ADMM_X), *u = solve_vector(s, ADMM_U),
               *g = solve_vector(s, ADMM_G);
    real *r = solve_vector(s, ADMM_R), *p = solve_vector(s, ADMM_P), rho = (real)m->rho;
    Sum sum;
    sum_open(w, &sum, 1, 0);
    SAND_FOR_SUM(w, i, op->n, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row apart = row_add(row_sub(row_load(x, ref), row_load(z, ref)), row_load(u, ref));
        Row ri = row_scale(-1, row_madd(row_load(g, ref), rho * contact_diagonal(op, ref), apart));
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
    m->z = s->best = ADMM_Z, m->look = false, m->rounds = 0;
    const real *z = solve_vector(s, m->z);
    real *x = solve_vector(s, ADMM_X), *u = solve_vector(s, ADMM_U), *gradient = solve_vector(s, ADMM_G);
    s->residual = start_gradient(w, op, z, gradient);
    s->objective = s->start_objective;
    m->rho = s->params[ADMM_RHO];
    // The multiplier of a solution is minus its gradient over the spring; the start's is the best guess.
    real rho = (real)m->rho;
    SAND_FOR(w, i, op->n) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row zi = row_load(z, ref), ui = row_scale(-contact_inverse_diagonal(op, ref) / rho, row_load(gradient, ref));
        row_store(x, ref, zi);
        // Only what pushes against the set: z = P(z + u) then holds from the start.
        row_store(u, ref, row_sub(row_add(zi, ui), contact_project(op, ref, row_add(zi, ui))));
    }
    sand_barrier(w);
    m->since_new = 0;
    admm_open(w, s, m);
}

// [z-update] and [u-update], with relaxation 1.6, and the spring adapted.
SAND_KERNEL void admm_close(Worker *w, Solve *s, admm_State *m) {
    const Op *op = s->op;
    const real *before = solve_vector(s, m->z), *x = solve_vector(s, ADMM_X);
    if (m->z == s->best) m->z = m->z == ADMM_Z ? ADMM_OTHER : ADMM_Z; // the best one stays
    real *z = solve_vector(s, m->z), *u = solve_vector(s, ADMM_U);
    const real relax = (real)1.6;
    m->rounds++;
    m->look = m->rounds <= 8 || m->rounds % 4 == 0; // a short solve must find its best one, a long one has many
    Sum sum;
    sum_open(w, &sum, 2, 0);
    SAND_FOR_SUM(w, i, op->n, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        real diagonal = contact_diagonal(op, ref);
        Row old = row_load(before, ref), xi = row_madd(old, relax, row_sub(row_load(x, ref), old));
        Row ahead = row_add(xi, row_load(u, ref)), zi = contact_project(op, ref, ahead), ui = row_sub(ahead, zi);
        Row apart = row_sub(row_load(x, ref), zi), moved = row_sub(zi, old);
        row_store(z, ref, zi);
        row_store(u, ref, ui);
        SAND_ADD(sum, ref, 0, diagonal * row_dot(apart, apart));
        SAND_ADD(sum, ref, 1, diagonal * row_dot(moved, moved));
    }
    sum_total(w, &sum);
    // One residual is how far apart the copies are, the other how far the copy in the set moved, times the stiffness.
    double primal = sqrt(sum.total[0]), dual = m->rho * sqrt(sum.total[1]), change = 1;
    if (primal > 5 * dual) change = 2;
    if (dual > 5 * primal) change = 0.5;
    double rho = m->rho * change;
    if (change == 1 || rho < 1e-6 || rho > 1e6) return;
    m->rho = rho;
    real scale = (real)(1 / change); // the multiplier is kept over rho
    SAND_FOR(w, i, op->n) {
        ContactRef ref = SAND_CONTACT(op, i);
        row_store(u, ref, row_scale(scale, row_load(u, ref)));
    }
    sand_barrier(w);
}

// One conjugate gradient on (N + rho diagonal) x = ...; the round ends when it is accurate enough. Or the look after it.
SAND_KERNEL void admm_step(Worker *w, Solve *s, admm_State *m) {
    const Op *op = s->op;
    if (m->look) {
        m->look = false;
        const real *z = solve_vector(s, m->z);
        gather_bodies_of(w, op, z, op->free, op->body);
        double residual = start_gradient(w, op, z, solve_vector(s, ADMM_Y));
        if (residual <= s->residual) s->best = m->z, s->residual = residual, s->objective = objective_of(w, op, z);
        return;
    }
    real *x = solve_vector(s, ADMM_X), *r = solve_vector(s, ADMM_R), *p = solve_vector(s, ADMM_P),
         *y = solve_vector(s, ADMM_Y);
    real *g = solve_vector(s, ADMM_G);
    if (m->since_new++ >= 50) { // rounding gathers in g
        m->since_new = 0;
        gather_bodies_of(w, op, x, op->free, op->body);
        SAND_FOR_GRADIENTS(w, i, op, op->body, NULL)
        row_store(g, SAND_CONTACT(op, i), SAND_GRADIENT(op, SAND_CONTACT(op, i)));
        sand_barrier(w);
        admm_open(w, s, m);
        return;
    }
    real rho = (real)m->rho;
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
    double alpha = sum.total[0] > 0 ? m->rr / sum.total[0] : 0;
    real step = (real)alpha;
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
    double beta = m->rr > 0 ? sum.total[0] / m->rr : 0;
    m->rr = sum.total[0];
    m->inner++;
    if (!isfinite(alpha)) s->status = SAND_DIVERGED;
    if (m->rr <= m->goal || m->inner >= (int)s->params[ADMM_INNER]) {
        admm_close(w, s, m);
        admm_open(w, s, m);
        return;
    }
    real keep = (real)beta;
    SAND_FOR(w, i, op->n) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row pi = row_scale(contact_inverse_diagonal(op, ref), row_load(r, ref));
        row_store(p, ref, row_madd(pi, keep, row_load(p, ref)));
    }
    sand_barrier(w);
}
