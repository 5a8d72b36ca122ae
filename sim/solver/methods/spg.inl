// Preconditioned spectral projected gradients with fallback, P-SPG-FB ([H] section 4, algorithm P-SPG-FB).
// Idea: a projected gradient step whose length is guessed from the last change of the gradient (Barzilai and
// Borwein), accepted by a test that looks back over several objectives (Grippo, Lampariello, Lucidi); since neither
// falls evenly, the iterate of least residual is kept and returned.
// Weakness: leads early and tires late; the active-set methods pass it when many digits are wanted.
//
// One product an iteration: x + d is itself the trial point, so the product with it gives both N d, as a difference
// of gradients, and the new gradient. Where the test asks for a shorter step, objective and gradient along d are
// closed forms. Without the preconditioner P is the mean diagonal, so that lengths mean the same. The numbers in brackets
// are the steps of the paper.
//
// An iterate is an impulse and its gradient. On a GPU, where bytes are what costs, they lie side by side (SAND_VEC4_ROWS),
// and the trial point is written once only, when its gradient is known: whoever needs it before makes it.

// What a step leads to.
typedef struct spg_Point {
    double alpha; // spectral step length from there
    double objective, residual;
    double lambda; // how much of the direction was taken to get here
    double dPd;    // of that direction
    bool descends; // it goes down
    bool idle;     // it moves nothing
    bool finite;   // all numbers are
} spg_Point;

// The last objectives, N_GLL of them, are in worker_state.
typedef struct spg_State {
    double alpha, objective; // of the current iterate
    int count;               // iterations
    int current;             // which of the three iterates it is; the fallback is s->best / 2
    int receding;
} spg_State;

enum { SPG_GLL, SPG_XI, SPG_ALPHA_MIN, SPG_ALPHA_MAX };
enum { SPG_DG, SPG_DND, SPG_DPD, SPG_YPY, SPG_RESIDUAL, SPG_SUMS }; // sums over the blocks

// Iterate k: its impulse is vector 2 k, its gradient the one after it. Where they lie side by side, each block takes eight
// numbers: x, its friction, g, its inverse.
typedef struct spg_Iterate {
    real *x, *g;
} spg_Iterate;
SAND_INLINE spg_Iterate spg_iterate(const Solve *s, int k) {
    spg_Iterate it = {solve_vector(s, 2 * k), solve_vector(s, 2 * k + 1)};
    return it;
}

// A block of it.
typedef struct spg_Block {
    ContactRef ref;
    Row x, g;
} spg_Block;
SAND_INLINE spg_Block spg_load(spg_Iterate it, ContactRef ref) {
#if SAND_VEC4_ROWS
    Vec4 x = vec4_load(it.x + 8 * contact_index(ref)), g = vec4_load(it.x + 8 * contact_index(ref) + 4);
    ref.mu = vec4_last(x);
    ref.inverse_diagonal = vec4_last(g);
    spg_Block b = {ref, vec_of_vec4(x), vec_of_vec4(g)};
#else
    spg_Block b = {ref, row_load(it.x, ref), row_load(it.g, ref)};
#endif
    return b;
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

// The trial point: x - alpha P^-1 g, projected. [4]
// The paper averages the diagonal of P over a contact, ratio = 1, so that projections stay what they are. With normal and
// sides apart, as N has them, the residual of sphere piles is half as large after as many iterations. Then the projection is
// the one by P, which the paper names too: it is as simple, and the direction still descends.
SAND_INLINE Row spg_trial(const Op *op, spg_Block b, real alpha, int p) {
    return contact_step(op, b.ref, b.x, b.g, alpha, op->p[p]);
}

#if !SAND_VEC4_ROWS
// Publishes the trial point.
SAND_HOT void spg_store_trial(Worker *w, const Op *SAND_RESTRICT op, spg_Iterate now, real *SAND_RESTRICT z, real alpha,
                              int p) {
    SAND_FOR(w, i, op->n) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row zi = spg_trial(op, spg_load(now, ref), alpha, p);
        if (!SAND_LAYOUT_AOS) row_store(z, ref, zi);
        store_impulse(op, ref, zi);
    }
}
#endif

// Leaves the velocities of the trial point in op->body.
SAND_KERNEL void spg_gather(Worker *w, const Op *op, spg_Iterate now, spg_Iterate next, real alpha, int p) {
#if SAND_VEC4_ROWS
    (void)next;
    gather_bodies_trial(w, op, now.x, alpha, p);
#else
    spg_store_trial(w, op, now, next.x, alpha, p);
    gather_bodies(w, op, op->impulse, op->free, op->body);
#endif
}

// The gradient at the trial point, whose velocities are in op->body, and the sums that everything else is made of, with
// d = z - x and y = N d: those who decide get them. [5], [7], [10], [11]
SAND_HOT void spg_gradient(Worker *w, const Op *SAND_RESTRICT op, spg_Iterate now, real *SAND_RESTRICT next_x,
                           real *SAND_RESTRICT next_g, real alpha, int p, double *total) {
    spg_Iterate next = {next_x, next_g};

    Sum sum;
    sum_open(w, &sum, SPG_SUMS, 0);
    SAND_FOR_GRADIENTS(w, i, op, op->body, &sum) {
        spg_Block b = spg_load(now, SAND_CONTACT(op, i));
        ContactRef ref = b.ref;
        Row hi = SAND_GRADIENT(op, ref), zi = SAND_LAYOUT_AOS ? spg_trial(op, b, alpha, p) : row_load(next.x, ref);
        Row d = row_sub(zi, b.x), y = row_sub(hi, b.g);
        if (SAND_LAYOUT_AOS)
            spg_store(next, ref, zi, hi);
        else
            row_store(next.g, ref, hi);
        SAND_ADD(sum, ref, SPG_DG, row_dot(d, b.g));
        SAND_ADD(sum, ref, SPG_DND, row_dot(d, y));
        SAND_ADD(sum, ref, SPG_DPD, preconditioner_square(op, op->p[p], ref, d));
        SAND_ADD(sum, ref, SPG_YPY, preconditioner_inverse_square(op, op->p[p], ref, y));
        SAND_ADD(sum, ref, SPG_RESIDUAL, contact_residual(op, ref, zi, hi));
    }
    sum_total(w, &sum);
    if (worker_decides(w))
        for (int k = 0; k < SPG_SUMS; k++) total[k] = sum.total[k];
}

// Moves the trial point and its gradient back to x + lambda d. Returns the sum for the residual there.
SAND_HOT double spg_shorten(Worker *w, const Op *op, spg_Iterate now, spg_Iterate next, real lambda) {
    Sum sum;
    sum_open(w, &sum, 1, 0);
    SAND_FOR_SUM(w, i, op->n, &sum) {
        spg_Block b = spg_load(now, SAND_CONTACT(op, i)), trial = spg_load(next, b.ref);
        ContactRef ref = b.ref;
        Row zi = row_madd(b.x, lambda, row_sub(trial.x, b.x)), hi = row_madd(b.g, lambda, row_sub(trial.g, b.g));
        spg_store(next, ref, zi, hi);
        SAND_ADD(sum, ref, 0, contact_residual(op, ref, zi, hi));
    }
    sum_total(w, &sum);
    return sum.total[0];
}

// [1], [2]: the start is feasible, its velocities are there and its objective is known; its gradient and residual. It is
// scaled on the way.
SAND_HOT double spg_open(Worker *w, const Op *op, const real *x, real scale, spg_Iterate start) {
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
    m->count = 0, m->receding = 0;
    m->current = SAND_VEC4_ROWS ? 1 : 0; // a pair must not lie over the start, which is vector 0
    s->residual = spg_open(w, s->op, solve_vector(s, 0), s->start_scale, spg_iterate(s, m->current));
    m->alpha = 1; // the first length is the Jacobi step
    m->objective = s->objective = s->start_objective, s->best = 2 * m->current;
    if (worker_decides(w)) worker_state(w)[0] = m->objective;
}

// x'Px of an iterate.
SAND_HOT double spg_square(Worker *w, const Op *op, spg_Iterate it, int p) {
    Sum sum;
    sum_open(w, &sum, 1, 0);
    SAND_FOR_SUM(w, i, op->n, &sum) {
        spg_Block b = spg_load(it, SAND_CONTACT(op, i));
        ContactRef ref = b.ref;
        SAND_ADD(sum, ref, 0, preconditioner_square(op, op->p[p], ref, b.x));
    }
    sum_total(w, &sum);
    return sum.total[0];
}

// What follows from the sums of a step. `recent` are the last objectives.
SAND_KERNEL spg_Point spg_decide(const Solve *s, const spg_State *m, const double *total, double *recent) {
    double dg = total[SPG_DG], dNd = total[SPG_DND], dPd = total[SPG_DPD], yPy = total[SPG_YPY];
    spg_Point next;
    next.dPd = dPd, next.descends = dg < 0, next.idle = does_nothing(dNd, dPd);
    next.finite = isfinite(dg + dNd + dPd + total[SPG_RESIDUAL]);

    // [9], [12]-[16] line search along d by closed forms, against the largest of the last objectives.
    // Most steps stand it against the last one already.
    double highest = m->objective, lambda = 1, objective = m->objective + dg + 0.5 * dNd;
    double xi = s->params[SPG_XI];
    int memory = (int)s->params[SPG_GLL];
    int known = objective <= highest + xi * dg ? 0 : m->count + 1 < memory ? m->count + 1 : memory;
    for (int k = 0; k < known; k++) highest = recent[k] > highest ? recent[k] : highest;
    for (int tries = 0; objective > highest + xi * lambda * dg && tries < 20; tries++) {
        double minimum = dNd > 0 ? -dg / dNd : lambda; // of the parabola along d
        lambda = minimum < 0.1 * lambda ? 0.1 * lambda : minimum > 0.5 * lambda ? 0.5 * lambda : minimum; // [14]
        objective = m->objective + lambda * dg + 0.5 * lambda * lambda * dNd;
    }
    next.lambda = lambda, next.objective = objective;
    next.residual = residual_of(s->op, total[SPG_RESIDUAL]);
    recent[(m->count + 1) % memory] = objective;

    // [17]-[23] the next step length, BB1 after odd iterations and BB2 after even ones; lambda cancels.
    double least = s->params[SPG_ALPHA_MIN], most = s->params[SPG_ALPHA_MAX];
    bool odd = m->count % 2;
    double alpha = (odd ? dPd : dNd) / (odd ? dNd : yPy);
    next.alpha = !(alpha < most) ? most : alpha > least ? alpha : least;
    return next;
}

SAND_KERNEL void spg_advance(Worker *w, Solve *s, spg_State *m, int by) {
    const Op *op = s->op;
    int spare = 0;
    while (spare == m->current || 2 * spare == s->best) spare++; // one that is neither
    spg_Iterate now = spg_iterate(s, m->current), next = spg_iterate(s, spare);

    // [4], [5] the direction and what follows from it. [6], [7] without the preconditioner where that one does not
    // descend, which only rounding can bring about: so it is looked at afterwards, and the step is made again.
    spg_Point decided = {0};
    const spg_Point *point = NULL;
    for (int p = by;; p = P_UNIFORM) {
        double total[SPG_SUMS];
        spg_gather(w, op, now, next, (real)m->alpha, p);
        spg_gradient(w, op, now, next.x, next.g, (real)m->alpha, p, total);
        if (worker_decides(w)) decided = spg_decide(s, m, total, worker_state(w));
        point = worker_learn(w, &decided);
        if (point->descends || p == P_UNIFORM) break;
    }
    if (!point->finite) {
        s->status = SAND_DIVERGED;
        return;
    }
    double residual = point->residual;
    if (point->lambda < 1) residual = residual_of(op, spg_shorten(w, op, now, next, (real)point->lambda));
    m->alpha = point->alpha, m->objective = point->objective;
    m->current = spare;
    m->count++;

    // [24]-[26] keep the best. Its vector is not written until a better one is found. Impulses that run away are not
    // candidates: they grow until the residual drowns in their rounding.
    bool suspect = point->idle && is_large(point->dPd, spg_square(w, op, next, by));
    if (recession(suspect, &m->receding)) s->status = SAND_INFEASIBLE;
    if (m->receding == 0 && residual <= s->residual)
        s->residual = residual, s->objective = m->objective, s->best = 2 * spare;
}

// Two rows of the table: without and with the preconditioner.
typedef spg_State spg_fb_State, p_spg_fb_State;
SAND_KERNEL void spg_fb_start(Worker *w, Solve *s, spg_State *m) { spg_begin(w, s, m); }
SAND_KERNEL void p_spg_fb_start(Worker *w, Solve *s, spg_State *m) { spg_begin(w, s, m); }
SAND_KERNEL void spg_fb_step(Worker *w, Solve *s, spg_State *m) { spg_advance(w, s, m, P_UNIFORM); }
SAND_KERNEL void p_spg_fb_step(Worker *w, Solve *s, spg_State *m) { spg_advance(w, s, m, P_DIAGONAL); }
