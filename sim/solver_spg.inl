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

enum { SPG_MEMORY = 10 }; // N_GLL at most

// What is known of an iterate.
typedef struct spg_Point {
    double alpha; // spectral step length from here
    double objective, residual;
    double lambda; // how much of the direction was taken to get here
    bool finite;
} spg_Point;

typedef struct spg_State {
    bool preconditioned;
    int memory;                // N_GLL
    double recent[SPG_MEMORY]; // the last objectives; only who decides keeps them
    spg_Point point;           // the current iterate
    int count;                 // iterations
    int current, next;         // which of the vectors 0, 1, 2 is what; the fallback is s->best
    int gradient;              // which of the vectors 3, 4 is the gradient at the current iterate
    int receding;
} spg_State;

enum { SPG_GLL, SPG_XI, SPG_ALPHA_MIN, SPG_ALPHA_MAX };
enum { SPG_DG, SPG_DND, SPG_DPD, SPG_YPY, SPG_RESIDUAL, SPG_SUMS }; // sums over the blocks

// The trial point z = P(x - alpha P^-1 g), where the second P is the preconditioner. [4]
SAND_INLINE Row spg_trial(const Op *op, At at, Row x, Row g, real alpha, Weight p) {
    return block_project(op, at, row_madd(x, -alpha * weight_inverse(op, p, at), g));
}

// Publishes the trial point.
SAND_HOT void spg_publish(Worker *w, const Op *SAND_RESTRICT op, const real *SAND_RESTRICT x, const real *SAND_RESTRICT g,
                          real *SAND_RESTRICT z, real alpha, Weight p) {
    SAND_FOR(w, i, op->n) {
        At at = SAND_AT(i);
        Row zi = spg_trial(op, at, row_load(x, at), row_load(g, at), alpha, p);
        if (!SAND_REMAKES) row_store(z, at, zi);
        block_publish(op, at, zi);
    }
}

// The gradient at the trial point, whose velocities are in op->body, and the sums that everything else is made of, with
// d = z - x and y = N d. [5], [7], [10], [11]
SAND_HOT void spg_gradient(Worker *w, const Op *SAND_RESTRICT op, const real *SAND_RESTRICT x, const real *SAND_RESTRICT g,
                           real *SAND_RESTRICT z, real *SAND_RESTRICT gz, real alpha, Weight p, double *total) {
    Sum sum;
    sum_open(w, &sum, SPG_SUMS, 0);
    SAND_FOR_PULL(w, i, op, op->body, &sum) {
        At at = SAND_AT(i);
        Row hi = SAND_PULL(op, at), xi = row_load(x, at), gi = row_load(g, at);
        Row zi = SAND_REMAKES ? spg_trial(op, at, xi, gi, alpha, p) : row_load(z, at);
        Row d = row_sub(zi, xi), y = row_sub(hi, gi);
        if (SAND_REMAKES) row_store(z, at, zi);
        row_store(gz, at, hi);
        SAND_ADD(sum, at, SPG_DG, row_dot(d, gi));
        SAND_ADD(sum, at, SPG_DND, row_dot(d, y));
        SAND_ADD(sum, at, SPG_DPD, weight_at(op, p, at) * row_dot(d, d));
        SAND_ADD(sum, at, SPG_YPY, weight_inverse(op, p, at) * row_dot(y, y));
        SAND_ADD(sum, at, SPG_RESIDUAL, block_residual(op, at, zi, hi));
    }
    sum_total(w, &sum);
    for (int k = 0; k < SPG_SUMS; k++) total[k] = sum.total[k];
}

// Moves the trial point and its gradient back to x + lambda d. Returns the sum for the residual there.
SAND_TEXT double spg_shorten(Worker *w, const Op *op, const real *x, const real *g, real *z, real *gz, real lambda) {
    Sum sum;
    sum_open(w, &sum, 1, 0);
    SAND_FOR_SUM(w, i, op->n, &sum) {
        At at = SAND_AT(i);
        Row xi = row_load(x, at), gi = row_load(g, at);
        Row zi = row_madd(xi, lambda, row_sub(row_load(z, at), xi));
        Row hi = row_madd(gi, lambda, row_sub(row_load(gz, at), gi));
        row_store(z, at, zi);
        row_store(gz, at, hi);
        SAND_ADD(sum, at, 0, block_residual(op, at, zi, hi));
    }
    sum_total(w, &sum);
    return sum.total[0];
}

SAND_TEXT void spg_begin(Worker *w, Solve *s, spg_State *m, bool preconditioned) {
    const Op *op = s->op;
    m->preconditioned = preconditioned;
    m->memory = (int)s->params[SPG_GLL];
    m->count = 0, m->receding = 0;
    m->current = s->best, m->gradient = 3;

    // [1], [2]: the start is feasible and its velocities are there; its gradient, objective and residual.
    real *x = solve_vector(s, m->current), *g = solve_vector(s, m->gradient);
    Begin b = begin_gradient(w, op, x, g);
    spg_Point start = {1, b.objective, b.residual, 1, true}; // the first length is the Jacobi step
    m->point = start;
    m->recent[0] = b.objective;
    s->objective = b.objective, s->residual = b.residual;
    s->knows_residual = s->sees_growth = true;
}

// What follows from the sums of a step.
SAND_TEXT spg_Point spg_decide(const Solve *s, spg_State *m, const double *total) {
    double dg = total[SPG_DG], dNd = total[SPG_DND], dPd = total[SPG_DPD], yPy = total[SPG_YPY];
    spg_Point next = m->point;
    next.finite = isfinite(dg + dNd + dPd + total[SPG_RESIDUAL]);

    // [9], [12]-[16] line search along d by closed forms, against the largest of the last objectives.
    double highest = m->recent[0], lambda = 1, objective = m->point.objective + dg + 0.5 * dNd;
    int known = m->count + 1 < m->memory ? m->count + 1 : m->memory;
    for (int k = 1; k < known; k++) highest = m->recent[k] > highest ? m->recent[k] : highest;
    double xi = s->params[SPG_XI];
    for (int tries = 0; objective > highest + xi * lambda * dg && tries < 20; tries++) {
        double minimum = dNd > 0 ? -dg / dNd : lambda; // of the parabola along d
        lambda = minimum < 0.1 * lambda ? 0.1 * lambda : minimum > 0.5 * lambda ? 0.5 * lambda : minimum; // [14]
        objective = m->point.objective + lambda * dg + 0.5 * lambda * lambda * dNd;
    }
    next.lambda = lambda, next.objective = objective;
    next.residual = residual_of(s->op, total[SPG_RESIDUAL]);
    m->recent[(m->count + 1) % m->memory] = objective;

    // [17]-[23] the next step length, BB1 after odd iterations and BB2 after even ones; lambda cancels.
    double least = s->params[SPG_ALPHA_MIN], most = s->params[SPG_ALPHA_MAX];
    double alpha = m->count % 2 ? dPd / dNd : dNd / yPy;
    next.alpha = !(alpha < most) ? most : alpha > least ? alpha : least;
    return next;
}

SAND_TEXT void spg_step(Worker *w, Solve *s, spg_State *m) {
    const Op *op = s->op;
    for (m->next = 0; m->next == m->current || m->next == s->best;) m->next++; // a vector that is neither
    real *x = solve_vector(s, m->current), *z = solve_vector(s, m->next);
    real *g = solve_vector(s, m->gradient), *gz = solve_vector(s, 7 - m->gradient);

    // [4], [5] the direction and what follows from it. [6], [7] without the preconditioner where that one does not
    // descend, which only rounding can bring about: so it is looked at afterwards, and the step is made again.
    double total[SPG_SUMS];
    for (bool preconditioned = m->preconditioned;; preconditioned = false) {
        Weight p = weight_make(op, preconditioned);
        spg_publish(w, op, x, g, z, (real)m->point.alpha, p);
        push(w, op, op->free, op->body);
        spg_gradient(w, op, x, g, z, gz, (real)m->point.alpha, p, total);
        if (total[SPG_DG] < 0 || !preconditioned) break;
    }
    if (worker_decides(w)) m->point = spg_decide(s, m, total);
    worker_learn(w, &m->point);
    if (!m->point.finite) {
        s->status = SAND_DIVERGED;
        return;
    }
    if (m->point.lambda < 1) m->point.residual = residual_of(op, spg_shorten(w, op, x, g, z, gz, (real)m->point.lambda));
    m->current = m->next;
    m->gradient = 7 - m->gradient;
    m->count++;

    // [24]-[26] keep the best. Its vector is not written until a better one is found. Impulses that run away are not
    // candidates: they grow until the residual drowns in their rounding.
    if (recession(w, op, z, m->preconditioned, total[SPG_DND], total[SPG_DPD], &m->receding)) s->status = SAND_INFEASIBLE;
    if (m->receding == 0 && m->point.residual <= s->residual)
        s->residual = m->point.residual, s->objective = m->point.objective, s->best = m->current;
}

// Two rows of the table: without and with the preconditioner.
typedef spg_State spg_fb_State, p_spg_fb_State;
SAND_TEXT void spg_fb_start(Worker *w, Solve *s, spg_State *m) { spg_begin(w, s, m, false); }
SAND_TEXT void p_spg_fb_start(Worker *w, Solve *s, spg_State *m) { spg_begin(w, s, m, true); }
SAND_TEXT void spg_fb_step(Worker *w, Solve *s, spg_State *m) { spg_step(w, s, m); }
SAND_TEXT void p_spg_fb_step(Worker *w, Solve *s, spg_State *m) { spg_step(w, s, m); }
