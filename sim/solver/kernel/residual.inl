// How good an iterate is: residual, objective, complementarity, and whether the problem is infeasible. One place that no
// solver owns, so that all methods are measured alike.
#pragma once
#include "sim/solver/kernel/gather.inl"

// The share of a contact in tau^2 times the squared residual of [H] eq. 24, e = x - P(x - tau g). residual_of turns the sum
// into the residual, which is a speed.
SAND_INLINE real contact_residual(const Op *op, ContactRef ref, Row x, Row g) {
    real tau = (real)op->tau;
    Row e = row_sub(x, contact_project(op, ref, row_madd(x, -tau, g)));
    return row_dot(e, e);
}

SAND_INLINE double residual_of(const Op *op, double sum) { return sqrt(sum) * op->per_tau; }

// The same for the residual that results are judged by. Under Coulomb's law it is the natural map with De Saxce's bias, on
// the cone of the section: g_n is raised by what friction could dissipate, and the bias of the last renewal is taken out.
SAND_INLINE real contact_measured(const Op *op, ContactRef ref, Row x, Row g) {
#if SAND_LOCAL
    if (op->law) {
        real tau = (real)op->tau, mu = contact_mu(op, ref);
        g.x += mu * section_support(op, g) - op->de_saxce[contact_index(ref)];
        Row e = row_sub(x, section_cone(op, row_madd(x, -tau, g), mu, contact_cone_factor(op, ref)));
        return row_dot(e, e);
    }
#endif
    return contact_residual(op, ref, x, g);
}

typedef struct Measure {
    double residual, objective, complementarity;
} Measure;

// Measures x, whose velocities are in `body`.
SAND_HOT Measure measure_from(Worker *w, const Op *op, const real *x, const Body *body) {
    Sum sum;
    sum_open(w, &sum, 3, 1u << 2);
    SAND_FOR_SUM(w, i, op->n, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row xi = row_load(x, ref);
        Row g = contact_gradient_from(op, body, ref), r = contact_gradient_from(op, op->free, ref);
        real xg = row_dot(xi, g);
        SAND_ADD(sum, ref, 0, contact_measured(op, ref, xi, g));
        SAND_ADD(sum, ref, 1, (real)0.5 * (xg + row_dot(xi, r)));
        SAND_MAX(sum, ref, 2, real_abs(xg));
    }
    sum_total(w, &sum);
    Measure m;
    m.residual = residual_of(op, sum.total[0]);
    m.objective = sum.total[1];
    m.complementarity = sum.total[2];
    return m;
}

// Measures x without touching what a method works on.
SAND_KERNEL Measure measure(Worker *w, const Op *op, const real *x) {
    gather_bodies_of(w, op, x, op->free, op->measured);
    return measure_from(w, op, x, op->measured);
}

// q(x) = x'(g + r) / 2, where the velocities of x are in op->body.
SAND_HOT double objective_of(Worker *w, const Op *op, const real *x) {
    Sum sum;
    sum_open(w, &sum, 1, 0);
    SAND_FOR_GRADIENTS(w, i, op, op->body, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        SAND_ADD(sum, ref, 0, (real)0.5 * row_dot(row_load(x, ref), SAND_GRADIENT(op, ref)));
    }
    SAND_FOR_GRADIENTS(w, i, op, op->free, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        SAND_ADD(sum, ref, 0, (real)0.5 * row_dot(row_load(x, ref), SAND_GRADIENT(op, ref)));
    }
    sum_total(w, &sum);
    return sum.total[0];
}

// Impulses count as having no effect when x'Nx is at most this fraction of x'Px. Not at
// rounding level: gauss-seidel reaches such a direction only approximately, in either precision.
#define RECESSION 1e-6

// A problem is infeasible when impulses grow without effect. A step d to x shows it when d'Nd is negligible beside d'Pd
// although d is not small beside x. Twice in a row counts as proof.
SAND_INLINE bool does_nothing(double dNd, double dPd) { return dPd > 0 && dNd <= RECESSION * dPd; }
SAND_INLINE bool is_large(double dPd, double xPx) { return dPd > 1e-2 * xPx; }
SAND_INLINE bool recession(bool suspect, int *seen) {
    *seen = suspect ? *seen + 1 : 0;
    return *seen >= 2;
}
