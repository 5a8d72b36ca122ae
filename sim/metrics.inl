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

// The same by which a result is measured: under Coulomb's law the natural map with De Saxce's term, on the cone of the
// section. There g_n is raised by what friction could dissipate, and the term of the last renewal is taken out.
SAND_INLINE real block_measured(const Op *op, At at, Row x, Row g) {
#if SAND_LOCAL
    if (op->law) {
        real tau = (real)op->tau, mu = block_number(op, at, BLOCK_MU);
        g.x += mu * section_support(op, g) - op->lift[at_block(at)];
        Row e = row_sub(x, section_cone(op, row_madd(x, -tau, g), mu, block_flat(op, at)));
        return row_dot(e, e);
    }
#endif
    return block_residual(op, at, x, g);
}

typedef struct Measure {
    double residual, objective, complementarity;
} Measure;

// Measures x without touching anything a method works on.
SAND_TEXT Measure measure(Worker *w, const Op *op, const real *x) {
    push_vector(w, op, x, op->free, op->measured);
    Sum sum;
    sum_open(w, &sum, 3, 1u << 2);
    SAND_FOR_SUM(w, i, op->n, &sum) {
        At at = SAND_AT(i);
        Row xi = row_load(x, at);
        Row g = block_pull(op, op->measured, at), r = block_pull(op, op->free, at);
        real xg = row_dot(xi, g);
        SAND_ADD(sum, at, 0, block_measured(op, at, xi, g));
        SAND_ADD(sum, at, 1, (real)0.5 * (xg + row_dot(xi, r)));
        SAND_TOP(sum, at, 2, real_abs(xg));
    }
    sum_total(w, &sum);
    Measure m;
    m.residual = residual_of(op, sum.total[0]), m.objective = sum.total[1], m.complementarity = sum.total[2];
    return m;
}

// P, by which steps are measured and preconditioned: the diagonal of N, or its mean for every block.
typedef struct Weight {
    real diagonal, mean; // P_ii = diagonal N_ii + mean
    real inverse_mean;   // 1 / P_ii = diagonal / N_ii + inverse_mean
} Weight;

SAND_INLINE Weight weight_make(const Op *op, bool diagonal) {
    Weight p;
    p.diagonal = diagonal ? (real)1 : (real)0;
    p.mean = diagonal ? (real)0 : (real)(1 / op->tau), p.inverse_mean = diagonal ? (real)0 : (real)op->tau;
    return p;
}
SAND_INLINE real weight_at(const Op *op, Weight p, At at) { return p.diagonal * block_weight(op, at) + p.mean; }
SAND_INLINE real weight_inverse(const Op *op, Weight p, At at) {
    return p.diagonal * block_inverse(op, at) + p.inverse_mean;
}

// x'Px
SAND_TEXT double weighed_square(Worker *w, const Op *op, const real *x, Weight p) {
    Sum sum;
    sum_open(w, &sum, 1, 0);
    SAND_FOR_SUM(w, i, op->n, &sum) {
        At at = SAND_AT(i);
        Row xi = row_load(x, at);
        SAND_ADD(sum, at, 0, weight_at(op, p, at) * row_dot(xi, xi));
    }
    sum_total(w, &sum);
    return sum.total[0];
}

// Impulses do nothing when x'Nx is at most this much of x'Px. Gauss-seidel walks along such a direction only nearly, in
// double as in float.
#define RECESSION 1e-6

// A problem is infeasible when impulses grow while what they do stands still. A step d to x shows it when d'Nd is
// nothing beside d'Pd although d is not small beside x. Twice in a row is proof.
SAND_TEXT bool recession(Worker *w, const Op *op, const real *x, bool diagonal, double dNd, double dPd, int *seen) {
    bool suspect = dPd > 0 && dNd <= RECESSION * dPd && dPd > 1e-2 * weighed_square(w, op, x, weight_make(op, diagonal));
    *seen = suspect ? *seen + 1 : 0;
    return *seen >= 2;
}
