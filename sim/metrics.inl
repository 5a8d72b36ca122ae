// How good an iterate is, in one place that no solver owns: residual, objective, complementarity, and whether
// the problem is infeasible.

// The share of block i in the squared residual of [H] eq. 24, (x - P(x - tau g)) / tau: a speed squared.
SAND_INLINE real block_residual(const Op *op, int64_t i, Row x, Row g) {
    real tau = (real)op->tau;
    Row e = row_sub(x, block_project(op, i, row_madd(x, -tau, g)));
    return row_dot(e, e) / (tau * tau);
}

typedef struct Measure {
    double residual, objective, complementarity;
} Measure;

// Measures x. Leaves the velocities of x in op->body.
SAND_TEXT Measure measure(Worker *w, const Op *op, const real *x) {
    push(w, op, x, op->free, op->body);
    Sum sum;
    sum_open(w, &sum, 3, 1u << 2);
    SAND_FOR_SUM(w, i, op->n, &sum) {
        Row xi = row_load(x, i);
        Row g = block_pull(op, op->body, i), r = block_pull(op, op->free, i);
        real xg = row_dot(xi, g);
        SAND_ADD(sum, i, 0, block_residual(op, i, xi, g));
        SAND_ADD(sum, i, 1, (real)0.5 * (xg + row_dot(xi, r)));
        SAND_TOP(sum, i, 2, real_abs(xg));
    }
    sum_total(w, &sum);
    Measure m;
    m.residual = sqrt(sum.total[0]), m.objective = sum.total[1], m.complementarity = sum.total[2];
    return m;
}

// A problem is infeasible when impulses grow while what they do stands still. A step d from x shows it when
// d'Nd is nothing beside d'Pd (P the diagonal of N) although d is not small beside x. Twice in a row is proof.
SAND_INLINE bool recession(int *seen, double dNd, double dPd, double xPx) {
    const double nothing = sizeof(real) == 4 ? 1e-6 : 1e-10;
    *seen = dNd <= nothing * dPd && dPd > 1e-2 * xPx && xPx > 0 ? *seen + 1 : 0;
    return *seen >= 2;
}
