// Accelerated projected gradients with restart and fallback (Nesterov 1983; Mazhar, Heyn, Negrut and Tasora 2015,
// algorithm APGD, which Chrono uses).
// Idea: a projected gradient step from a point a little ahead, along the last change; momentum is dropped when the step
// goes against it, and the step length is found by backtracking. The iterate of least residual is returned.
// Weakness: it feels for the step length by overshooting, and knows nothing of the free set, so it ends like a gradient
// method where the active-set methods end like conjugate gradients.
//
// One product an iteration: the gradient is linear, so at the point ahead it is that of the last two iterates
// extrapolated, and the test of the step length wants the gradient at the new point alone. A step that was too long
// costs one product.

typedef struct apgd_State {
    double lipschitz; // guess of the largest curvature met
    double theta, momentum;
    double objective;            // at the current iterate
    int last, current, next;     // which of the vectors 0 .. 3 is what; the fallback is s->best
    int gradient_last, gradient; // which of the vectors 4 .. 6
} apgd_State;

SAND_KERNEL void apgd_start(Worker *w, Solve *s, apgd_State *m) {
    s->residual = start_gradient(w, s->op, solve_vector(s, 0), solve_vector(s, 4));
    m->objective = s->objective = s->start_objective;
    m->lipschitz = s->op->per_tau; // the mean of the diagonal
    m->theta = 1, m->momentum = 0;
    m->last = m->current = 0;
    m->gradient_last = m->gradient = 4;
}

SAND_KERNEL void apgd_step(Worker *w, Solve *s, apgd_State *m) {
    const Op *op = s->op;
    // Vectors that are in nobody's use.
    int next = 0, gradient_next = 4;
    while (next == m->last || next == m->current || next == s->best) next++;
    while (gradient_next == m->gradient_last || gradient_next == m->gradient) gradient_next++;
    const real *xl = solve_vector(s, m->last), *x = solve_vector(s, m->current);
    const real *gl = solve_vector(s, m->gradient_last), *g = solve_vector(s, m->gradient);
    real *z = solve_vector(s, next), *gz = solve_vector(s, gradient_next);
    real momentum = (real)m->momentum, t = (real)(1 / m->lipschitz);

    // The point ahead, y = x + momentum (x - x_last), and the projected step from it.
    SAND_FOR(w, i, op->n) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row xi = row_load(x, ref), gi = row_load(g, ref);
        Row y = row_madd(xi, momentum, row_sub(xi, row_load(xl, ref)));
        Row gy = row_madd(gi, momentum, row_sub(gi, row_load(gl, ref)));
        Row zi = contact_project(op, ref, row_madd(y, -t, gy));
        row_store(z, ref, zi);
        store_impulse_beside(op, ref, zi);
    }
    gather_bodies(w, op, stored_impulses(op, z), op->free, op->body);
    Sum sum;
    sum_open(w, &sum, 5, 0);
    SAND_FOR_GRADIENTS(w, i, op, op->body, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row xi = row_load(x, ref), gi = row_load(g, ref), zi = row_load(z, ref), hi = SAND_GRADIENT(op, ref);
        Row y = row_madd(xi, momentum, row_sub(xi, row_load(xl, ref)));
        Row gy = row_madd(gi, momentum, row_sub(gi, row_load(gl, ref)));
        Row d = row_sub(zi, y), change = row_sub(zi, xi);
        row_store(gz, ref, hi);
        SAND_ADD(sum, ref, 0, row_dot(d, row_sub(hi, gy)));
        SAND_ADD(sum, ref, 1, row_dot(d, d));
        SAND_ADD(sum, ref, 2, row_dot(gy, change));
        SAND_ADD(sum, ref, 3, (real)0.5 * row_dot(change, row_add(hi, gi)));
        SAND_ADD(sum, ref, 4, contact_residual(op, ref, zi, hi));
    }
    sum_total(w, &sum);
    double dNd = sum.total[0], dd = sum.total[1], against = sum.total[2];
    if (!isfinite(dNd + dd + sum.total[4])) {
        s->status = SAND_DIVERGED;
        return;
    }
    // Too long a step: the parabola that it trusted lies below the objective. Again, with a shorter one.
    if (dNd > m->lipschitz * dd) {
        m->lipschitz *= 2;
        return;
    }
    double objective = m->objective + sum.total[3], residual = residual_of(op, sum.total[4]);

    // Nesterov's momentum; none after a step against the gradient.
    double theta2 = m->theta * m->theta, theta = 0.5 * (sqrt(theta2 * (theta2 + 4)) - theta2);
    m->momentum = m->theta * (1 - m->theta) / (theta2 + theta);
    m->theta = theta;
    if (against > 0) m->theta = 1, m->momentum = 0;
    m->lipschitz *= 0.9;

    m->last = m->current, m->current = next;
    m->gradient_last = m->gradient, m->gradient = gradient_next;
    m->objective = objective;
    if (residual <= s->residual) s->residual = residual, s->objective = objective, s->best = next;
}
