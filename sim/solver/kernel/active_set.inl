// SPDX-License-Identifier: MIT
// What active-set methods share. A component of an impulse is active where it lies on a bound of K, and free elsewhere; the
// two tangential components of a disc are active or free together. For sets made of bounds (and discs): gamma >= 0, and
// friction models whose bounds do not follow the normal impulse.
#pragma once
#include "sim/solver/kernel/recession.inl"

// Computes the gradient at the start, whose velocities are in op->body, and returns the residual there.
SAND_HOT double start_gradient(Worker *w, const Op *op, const real *x, real *g) {
    Sum sum;
    sum_open(w, &sum, 1, 0);
    SAND_FOR_GRADIENTS(w, i, op, op->body, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row xi = row_load(x, ref), gi = SAND_GRADIENT(op, ref);
        row_store(g, ref, gi);
        SAND_ADD(sum, ref, 0, contact_residual(op, ref, xi, gi));
    }
    sum_total(w, &sum);
    return residual_of(op, sum.total[0]);
}

#if SAND_COMPONENTS

#if SAND_ROWS == 1

// v where x is free, zero where it is active.
SAND_INLINE Row contact_free_gradient(const Op *op, ContactRef ref, Row x, Row v) {
    return (void)op, (void)ref, x > 0 ? v : (real)0;
}

// The projection of direction d on the tangent cone of K at x: d without what points out of K.
SAND_INLINE Row contact_tangent(const Op *op, ContactRef ref, Row x, Row d) {
    return (void)op, (void)ref, x > 0 ? d : real_max(d, 0);
}

// One over the longest step t for which x - t p stays in K; zero where it never leaves. p lies in the tangent cone.
SAND_INLINE real contact_inverse_step(const Op *op, ContactRef ref, Row x, Row p) {
    return (void)op, (void)ref, p > 0 ? p / real_max(x, REAL_TINY) : (real)0;
}

// Whether the same components of x and y are active.
SAND_INLINE bool contact_same_face(const Op *op, ContactRef ref, Row x, Row y) {
    return (void)op, (void)ref, (x > 0) == (y > 0);
}

#else

// Whether the tangential part of x reaches the edge of a disc of radius r, up to rounding.
SAND_INLINE bool disc_edge(Vec x, real r) { return x.y * x.y + x.z * x.z >= r * r * (1 - 16 * REAL_EPSILON); }

SAND_INLINE Row contact_free_gradient(const Op *op, ContactRef ref, Row x, Row v) {
#if SAND_JOINTS
    if (contact_is_joint(op, ref)) return joint_free(op, ref, x, v);
#endif
    real r = contact_bound(op, ref, x.x);
    bool disc = op->section == SAND_DISC, edge = disc_edge(x, r);
    bool free1 = disc ? !edge : real_abs(x.y) < r, free2 = disc ? !edge : real_abs(x.z) < r;
    return vec_make(x.x > 0 ? v.x : (real)0, free1 ? v.y : (real)0, free2 ? v.z : (real)0);
}

// d without what leads out of the bounds [-r, r] of x.
SAND_INLINE real bound_tangent(real x, real r, real d) {
    d = x >= r ? -real_max(-d, 0) : d;
    return x <= -r ? real_max(d, 0) : d;
}

SAND_INLINE Row contact_tangent(const Op *op, ContactRef ref, Row x, Row d) {
#if SAND_JOINTS
    if (contact_is_joint(op, ref)) return joint_tangent(op, ref, x, d);
#endif
    real r = contact_bound(op, ref, x.x), normal = x.x > 0 ? d.x : real_max(d.x, 0);
    if (op->section == SAND_DISC) {
        real square = x.y * x.y + x.z * x.z, out = x.y * d.y + x.z * d.z;
        if (!(r > 0)) return vec_make(normal, 0, 0);
        real cut = disc_edge(x, r) && out > 0 ? out / square : (real)0;
        return vec_make(normal, d.y - cut * x.y, d.z - cut * x.z);
    }
    return vec_make(normal, bound_tangent(x.y, r, d.y), bound_tangent(x.z, r, d.z));
}

// One over the step along -p from x to a bound of [-r, r].
SAND_INLINE real bound_inverse_step(real x, real r, real p) {
    return p == 0 ? (real)0 : real_abs(p) / real_max(p > 0 ? r + x : r - x, REAL_TINY);
}

SAND_INLINE real contact_inverse_step(const Op *op, ContactRef ref, Row x, Row p) {
#if SAND_JOINTS
    if (contact_is_joint(op, ref)) return joint_inverse_step(op, ref, x, p);
#endif
    real r = contact_bound(op, ref, x.x), normal = p.x > 0 ? p.x / real_max(x.x, REAL_TINY) : (real)0;
    if (op->section == SAND_DISC) { // the root of |x - t p|^2 = r^2
        real a = p.y * p.y + p.z * p.z, b = x.y * p.y + x.z * p.z, c = r * r - x.y * x.y - x.z * x.z;
        real far = b + real_sqrt(b * b + a * real_max(c, 0));
        return real_max(normal, a > 0 ? a / real_max(far, REAL_TINY) : (real)0);
    }
    return real_max(normal, real_max(bound_inverse_step(x.y, r, p.y), bound_inverse_step(x.z, r, p.z)));
}

SAND_INLINE bool contact_same_face(const Op *op, ContactRef ref, Row x, Row y) {
    Vec one = vec_make(1, 1, 1), d = vec_sub(contact_free_gradient(op, ref, x, one), contact_free_gradient(op, ref, y, one));
    return vec_dot(d, d) == 0;
}

#endif

// The projected gradient of [H] eq. 14: zero at the solution.
SAND_INLINE Row contact_projected_gradient(const Op *op, ContactRef ref, Row x, Row g) {
    return row_scale(-1, contact_tangent(op, ref, x, row_scale(-1, g)));
}

// The reduced gradient of [H] eq. 25, (x - P(x - t g)) / t.
SAND_INLINE Row contact_reduced_gradient(const Op *op, ContactRef ref, Row x, Row g, real t) {
    return row_scale(1 / t, row_sub(x, contact_project(op, ref, row_madd(x, -t, g))));
}

// The chopped gradient, without what leads out of K; for a disc, whose edge is curved, the reduced gradient.
SAND_INLINE Row contact_chopped_gradient(const Op *op, ContactRef ref, Row x, Row g, real t) {
    Row chopped = contact_projected_gradient(op, ref, x, g);
#if SAND_LOCAL
    Row reduced = contact_reduced_gradient(op, ref, x, g, t);
    if (op->section == SAND_DISC) return vec_make(chopped.x, reduced.y, reduced.z);
#endif
    return (void)t, chopped;
}

// A descent direction -p proves a problem infeasible when nothing resists it, no bound is met along it, and the step to its
// minimum is not small beside x: impulses would grow for ever.
SAND_INLINE bool direction_recedes(double gp, double pNp, double pPp, double inverse_step, double xPx) {
    return pPp > 0 && inverse_step == 0 && pNp <= RECESSION * pPp && gp * gp * pPp > 1e-2 * xPx * pNp * pNp;
}

// One step of the power method, v := N v / |v|. Returns |N v| / |v|, a lower bound of the norm of N.
SAND_KERNEL double power_step(Worker *w, const Op *op, real *v, double length) {
    real scale = (real)(1 / length);
    SAND_FOR_IMPULSES(w, i, op, NULL) {
        ContactRef ref = SAND_CONTACT(op, i);
        SAND_STORE_IMPULSE(op, ref, row_scale(scale, row_load(v, ref)));
    }
    gather_bodies(w, op, op->impulse, op->still, op->scratch);
    Sum sum;
    sum_open(w, &sum, 1, 0);
    SAND_FOR_GRADIENTS(w, i, op, op->scratch, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row y = contact_without_bias(op, ref, SAND_GRADIENT(op, ref));
        row_store(v, ref, y);
        SAND_ADD(sum, ref, 0, row_dot(y, y));
    }
    sum_total(w, &sum);
    return sqrt(sum.total[0]);
}

#endif // SAND_COMPONENTS
