// How good an iterate is, in one place that no solver owns: residual, objective, complementarity, and whether
// the problem is infeasible.

// The share of a block in tau^2 times the squared residual of [H] eq. 24, e = x - P(x - tau g); residual_of makes the
// residual of the sum, which is a speed.
SAND_INLINE real block_residual(const Op *op, At at, Row x, Row g) {
    real tau = (real)op->tau;
    Row e = row_sub(x, block_project(op, at, row_madd(x, -tau, g)));
    return row_dot(e, e);
}

SAND_INLINE double residual_of(const Op *op, double sum) { return sqrt(sum) / op->tau; }

typedef struct Measure {
    double residual, objective, complementarity;
} Measure;

// Measures x. Leaves the velocities of x in op->body.
SAND_TEXT Measure measure(Worker *w, const Op *op, const real *x) {
    push_vector(w, op, x, op->free, op->body);
    Sum sum;
    sum_open(w, &sum, 3, 1u << 2);
    SAND_FOR_SUM(w, i, op->n, &sum) {
        At at = SAND_AT(i);
        Row xi = row_load(x, at);
        Row g = block_pull(op, op->body, at), r = block_pull(op, op->free, at);
        real xg = row_dot(xi, g);
        SAND_ADD(sum, at, 0, block_residual(op, at, xi, g));
        SAND_ADD(sum, at, 1, (real)0.5 * (xg + row_dot(xi, r)));
        SAND_TOP(sum, at, 2, real_abs(xg));
    }
    sum_total(w, &sum);
    Measure m;
    m.residual = residual_of(op, sum.total[0]), m.objective = sum.total[1], m.complementarity = sum.total[2];
    return m;
}

// x' diag(p) x
SAND_TEXT double weighed_square(Worker *w, const Op *op, const real *x, const real *p) {
    Sum sum;
    sum_open(w, &sum, 1, 0);
    SAND_FOR_SUM(w, i, op->n, &sum) {
        At at = SAND_AT(i);
        Row xi = row_load(x, at);
        SAND_ADD(sum, at, 0, p[at_block(at)] * row_dot(xi, xi));
    }
    sum_total(w, &sum);
    return sum.total[0];
}

// A problem is infeasible when impulses grow while what they do stands still. A step d to x shows it when d'Nd is
// nothing beside d'Pd (P the diagonal of N) although d is not small beside x. Twice in a row is proof.
SAND_TEXT bool recession(Worker *w, const Op *op, const real *x, const real *p, double dNd, double dPd, int *seen) {
    const double nothing = sizeof(real) == 4 ? 1e-6 : 1e-10;
    bool suspect = dPd > 0 && dNd <= nothing * dPd && dPd > 1e-2 * weighed_square(w, op, x, p);
    *seen = suspect ? *seen + 1 : 0;
    return *seen >= 2;
}
