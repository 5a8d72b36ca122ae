// SPDX-License-Identifier: MIT
// Whether a problem is infeasible: the suspicion, from steps that grow without effect, and the certificate of status.h, a
// direction d that recedes. Methods and driver suspect; the proof is found and measured here, for all of them.
#pragma once
#include "sim/solver/kernel/residual.inl"

// The nearest point to d in the recession cone of K, the directions in which K is unbounded: K itself where it is a cone,
// and the normals where friction has a bound. Under Coulomb's law normals as well: a solution has u_n >= 0, and only that
// does not depend on how the contact slides.
SAND_INLINE Row contact_recession(const Op *op, ContactRef ref, Row d) {
#if SAND_JOINTS
    if (contact_is_joint(op, ref)) return row_of(joint_recession(op, ref, row_force(d)));
#endif
#if SAND_LOCAL
    if (op->law || op->set != FRICTION_CONE) return row_of(vec_make(real_max(row_force(d).x, 0), 0, 0));
#endif
    return contact_project(op, ref, d);
}

// w'Jw of a body, from its inverse inertia. Infinite where that is singular: such a body proves nothing.
SAND_INLINE double body_spin_energy(const Op *op, Index k, const real *w) {
    double x = w[0], y = w[1], z = w[2];
    if (x == 0 && y == 0 && z == 0) return 0;
#if SAND_RADIAL
    double j = op->inverse_inertia[k];
    return j > 0 ? (x * x + y * y + z * z) / j : (double)INFINITY;
#else
    const real *m = &op->inverse_inertia[6 * k];
    double xx = m[0], yy = m[1], zz = m[2], xy = m[3], xz = m[4], yz = m[5];
    double a = yy * zz - yz * yz, b = xz * yz - xy * zz, c = xy * yz - xz * yy;
    double determinant = xx * a + xy * b + xz * c;
    double sum = a * x * x + (xx * zz - xz * xz) * y * y + (xx * yy - xy * xy) * z * z +
                 2 * (b * x * y + c * x * z + (xy * xz - xx * yz) * y * z);
    return determinant > 0 ? sum / determinant : (double)INFINITY;
#endif
}

// d'Nd of the bodies as twice the energy of the velocities that d causes, op->scratch. A sum of squares, of which rounding
// hides only its own square; d'(N d) would hide all below a rounding of d'Pd.
SAND_HOT double recession_energy(Worker *w, const Op *op) {
    Sum sum;
    sum_open(w, &sum, 1, 0);
    SAND_FOR_BODIES_SUM(w, k, lane, op->dynamic_count, &sum) {
        if (lane > 0) continue;
        const Body *body = &op->scratch[k];
        real mass = op->inverse_mass[k];
        Vec v = vec_of(body->v);
        if (mass > 0) SAND_ADD_ONE(sum, 0, vec_dot(v, v) / mass);
        SAND_ADD_ONE(sum, 0, (real)body_spin_energy(op, k, body->w));
    }
    sum_total(w, &sum);
    return sum.total[0];
}

// Moves d into the recession cone, and scales it to a largest row of 1, so that the squares of a direction that is all but
// zero do not underflow to a proof.
SAND_HOT void recession_scale(Worker *w, const Op *op, real *d) {
    Sum sum;
    sum_open(w, &sum, 1, 1);
    SAND_FOR_SUM(w, i, op->n, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row di = contact_recession(op, ref, row_load(d, ref));
        row_store(d, ref, di);
        SAND_MAX(sum, ref, 0, row_largest(di));
    }
    sum_total(w, &sum);
    real scale = (real)(sum.total[0] > 0 ? 1 / sum.total[0] : 0);
    SAND_FOR(w, i, op->n) {
        ContactRef ref = SAND_CONTACT(op, i);
        row_store(d, ref, row_scale(scale, row_load(d, ref)));
    }
}

// (N d)_i, where the velocities of d are in op->scratch.
SAND_INLINE Row contact_recession_product(const Op *op, ContactRef ref) {
    return contact_without_bias(op, ref, contact_gradient_from(op, op->scratch, ref));
}

// Measures how far a direction d recedes (status.h), which is in the recession cone. Leaves its velocities in op->scratch;
// *dNd is without what rounding may hide.
SAND_HOT SandRecession measure_recession(Worker *w, const Op *op, const real *d, double *dNd) {
    enum { DND, DPD, RD, ASKED, YIELDS, SUMS };
    gather_bodies_of(w, op, d, op->still, op->scratch);
    Sum sum;
    sum_open(w, &sum, SUMS, 0);
    SAND_FOR_SUM(w, i, op->n, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row di = row_load(d, ref), r = contact_unbiased(op, ref, contact_gradient_from(op, op->free, ref));
        SAND_ADD(sum, ref, DND, row_dot(di, contact_recession_product(op, ref)));
        SAND_ADD(sum, ref, DPD, contact_diagonal(op, ref) * row_dot(di, di));
        SAND_ADD(sum, ref, RD, row_dot(r, di));
        SAND_ADD(sum, ref, ASKED, real_sqrt(row_dot(r, r) * row_dot(di, di)));
#if SAND_JOINTS
        SAND_ADD(sum, ref, YIELDS, vec_dot(row_force(di), vec_of(op->scratch[op->body_count + contact_index(ref)].v)));
#endif
    }
    sum_total(w, &sum);
    // A matrix has no bodies, and of several ranks each has only some: there float proves nothing.
    bool is_float = sizeof(real) == sizeof(float), energetic = !op->is_matrix && op_is_whole(op);
    double rounding = energetic ? (is_float ? 2e-14 : 1e-28) : is_float ? 1e-7 : 1e-13;
    *dNd = energetic ? recession_energy(w, op) + sum.total[YIELDS] : fmax(sum.total[DND], 0.0);
    SandRecession measured = {*dNd + rounding * sum.total[DPD], sum.total[DPD], sum.total[RD], sum.total[ASKED]};
    return measured;
}

// The change of d in a step of find_recession, s.
typedef struct RecessionStep {
    double sPs, sNd; // s'Ps, and s'Nd with the d before it
} RecessionStep;

// d := P(d - length P^-1 N d), where the velocities of d are in op->scratch.
SAND_HOT RecessionStep recession_step(Worker *w, const Op *op, real *d, real length) {
    Sum sum;
    sum_open(w, &sum, 2, 0);
    SAND_FOR_SUM(w, i, op->n, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row y = contact_recession_product(op, ref), di = row_load(d, ref);
        Row next = contact_recession(op, ref, row_madd(di, -length * contact_inverse_diagonal(op, ref), y));
        Row s = row_sub(next, di);
        row_store(d, ref, next);
        SAND_ADD(sum, ref, 0, contact_diagonal(op, ref) * row_dot(s, s));
        SAND_ADD(sum, ref, 1, row_dot(s, y));
    }
    sum_total(w, &sum);
    RecessionStep step = {sum.total[0], sum.total[1]};
    return step;
}

// Looks for a proof near d. Impulses that a method has let grow lie along a direction that recedes but for what the method
// has not settled yet, so that a few projected gradients on d'Nd / 2, with the step lengths of Barzilai and Borwein, lead to
// it. A product each, at most `most` of them. Where hardly anything is left of d it held no such direction.
SAND_KERNEL SandRecession find_recession(Worker *w, const Op *op, real *d, int most) {
    double before, after, length = 0.5;
    recession_scale(w, op, d);
    SandRecession found = measure_recession(w, op, d, &before);
    double least = 1e-6 * found.dPd;
    if (!sand_recedes_by(found, SAND_MAY_RECEDE)) return found;
    for (int k = 0; k < most && !sand_recedes(found) && found.rd < 0 && found.dPd > least; k++) {
        RecessionStep s = recession_step(w, op, d, (real)length);
        found = measure_recession(w, op, d, &after);
        double sNs = after - before - 2 * s.sNd; // the objective is quadratic
        length = sNs > 0.01 * s.sPs ? s.sPs / sNs : 100;
        before = after;
    }
    if (!(found.dPd > least)) found.rd = 0;
    return found;
}

// Impulses count as having no effect when x'Nx is at most this fraction of x'Px. Not at
// rounding level: gauss-seidel reaches such a direction only approximately, in either precision.
#define RECESSION 1e-6

// Impulses of an infeasible problem grow without effect. A step d to x makes it likely when d'Nd is negligible beside d'Pd
// although d is not small beside x, twice in a row. The driver then looks for the proof.
SAND_INLINE bool does_nothing(double dNd, double dPd) { return dPd > 0 && dNd <= RECESSION * dPd; }
SAND_INLINE bool is_large(double dPd, double xPx) { return dPd > 1e-2 * xPx; }
SAND_INLINE bool recession(bool suspect, int *seen) {
    *seen = suspect ? *seen + 1 : 0;
    return *seen >= 2;
}
