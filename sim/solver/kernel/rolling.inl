// SPDX-License-Identifier: MIT
// Rolling and spinning friction: the larger cone of Tasora and Anitescu 2013. Beside its force a contact has a torque, about
// its normal (spinning) and about its tangents (rolling), and with the normal impulse g_n
//
//      |g_t| <= mu g_n      |rolling torque| <= rho g_n      |spinning torque| <= sigma g_n
//
// Torques and forces are of different units, and the torque rows of N are by far the largest where bodies are small. So a
// torque is counted as a force at an arm, for which the mean diagonal of its rows is that of the force rows (pack.inl); for
// spheres it is nearly their radius. rho and sigma over the arm are slopes as mu is, and all rows are speeds.
#pragma once
#ifndef SAND_ROLLING // opened alone
#define SAND_ROLLING 1
#define SAND_JOINTS 1
#endif
#include "sim/solver/kernel/op.inl"
#if SAND_LAYOUT_AOS
#include "sim/solver/kernel/layout_aos.inl"
#else
#include "sim/solver/kernel/layout_soa.inl"
#endif

#if SAND_ROLLING

SAND_INLINE real preconditioner_at(const Op *op, Preconditioner p, ContactRef ref); // project.inl
SAND_INLINE bool contact_has_friction(const Op *op, ContactRef ref);                // the same

// One part of an impulse that the normal impulse n bounds: its length a is at most slope n.
typedef struct BoundedPart {
    real length, inverse; // of the part, and one over it
    real slope;
    real weight; // of the square of its distance, against that of the normal impulse
} BoundedPart;

SAND_INLINE BoundedPart bounded_part(real square, real slope, real weight) {
    BoundedPart part;
    part.length = real_length(square, &part.inverse);
    part.slope = slope;
    part.weight = weight;
    return part;
}
// What the part multiplies by when n is the normal impulse.
SAND_INLINE real part_left(BoundedPart part, real n) {
    return part.length > part.slope * n ? part.slope * n * part.inverse : (real)1;
}
// Adds the equation of a part that lies on its bound at n.
SAND_INLINE void part_pull(BoundedPart part, real n, real *along, real *square) {
    real w = part.length > part.slope * n ? part.weight * part.slope : (real)0;
    *along = real_ma(w, part.length, *along);
    *square = real_ma(w, part.slope, *square);
}

// The nearest point of the larger cone to x, where the squares of distances across the normal and of torques count `across`
// and `turning` times as much as along the normal.
//
// With the normal impulse n given every part is cut to its bound, so that what is left is to minimize over n
//      (n - x_n)^2 + sum of weight (length - slope n)^2 over the parts beyond their bounds.
// The slope of that increases with n and is concave in it: linear but for a bend where a part comes within its bound. So
// Newton's method from the left passes a bend at every step but the last: started with all three parts beyond their bounds,
// it ends after three more steps, exactly. A point of the cone is returned as it is.
SAND_INLINE Row larger_cone_project(Row x, real mu, real rolling, real spinning, real across, real turning) {
    Vec f = x.force, m = x.torque;
    BoundedPart slide = bounded_part(f.y * f.y + f.z * f.z, mu, across);
    BoundedPart roll = bounded_part(m.y * m.y + m.z * m.z, rolling, turning);
    BoundedPart spin = bounded_part(m.x * m.x, spinning, turning);
    real n = -1 / REAL_TINY; // below every bend
    for (int step = 0; step < 4; step++) {
        real along = f.x, square = 1;
        part_pull(slide, n, &along, &square);
        part_pull(roll, n, &along, &square);
        part_pull(spin, n, &along, &square);
        n = along / square;
    }
    n = real_max(n, 0); // below zero: in the polar cone, whose nearest point is the tip
    real slides = part_left(slide, n), rolls = part_left(roll, n), spins = part_left(spin, n);
    return row_make(vec_make(n, slides * f.y, slides * f.z), vec_make(spins * m.x, rolls * m.y, rolls * m.z));
}

// P_K(x) of one contact in the metric of these weights.
SAND_INLINE Row rolling_project(const Op *op, ContactRef ref, Row x, real across, real turning) {
    return larger_cone_project(x, contact_mu(op, ref), rolling_constant(op, ref, ROLLING_FRICTION),
                               rolling_constant(op, ref, SPINNING_FRICTION), across, turning);
}

// The rows of torque of a gradient, from the relative spin in the basis of the contact; none where there is no friction.
SAND_INLINE Vec rolling_gradient(const Op *op, ContactRef ref, Vec spin) {
    real arm = rolling_constant(op, ref, ROLLING_ARM);
    real rolls = rolling_constant(op, ref, ROLLING_FRICTION) > 0 ? arm : (real)0;
    real spins = rolling_constant(op, ref, SPINNING_FRICTION) > 0 ? arm : (real)0;
    return vec_make(spins * spin.x, rolls * spin.y, rolls * spin.z);
}

// What rolling and spinning friction could dissipate at these velocities, over the normal impulse.
SAND_INLINE real rolling_dissipation(const Op *op, ContactRef ref, Row u) {
    real rolls = real_sqrt(u.torque.y * u.torque.y + u.torque.z * u.torque.z), spins = real_abs(u.torque.x);
    return rolling_constant(op, ref, ROLLING_FRICTION) * rolls + rolling_constant(op, ref, SPINNING_FRICTION) * spins;
}

// A step against the gradient, projected, of a contact that is relaxed by itself. Sliding and rolling both turn the bodies,
// so that together they yield more than either alone: of two spheres up to 2.1 times the mean diagonal, which would
// overshoot. With half the step for the torques it is 1.7 times.
SAND_INLINE Row rolling_descend(const Op *op, ContactRef ref, Row x, Row g, real step) {
    const real turning = 2;
    Row z = row_make(vec_madd(x.force, -step, g.force), vec_madd(x.torque, -step / turning, g.torque));
    return rolling_project(op, ref, z, 1, turning);
}

// --- SI units: impulses and velocities with torques in N m s and spins in rad/s, and the projection there

SAND_INLINE Row rolling_plain_impulse(const Op *op, ContactRef ref, Row x) {
    return row_make(x.force, vec_scale(rolling_constant(op, ref, ROLLING_ARM), x.torque));
}
SAND_INLINE Row rolling_plain_velocity(const Op *op, ContactRef ref, Row u) {
    return row_make(u.force, vec_scale(1 / rolling_constant(op, ref, ROLLING_ARM), u.torque));
}
SAND_INLINE Row rolling_plain_project(const Op *op, ContactRef ref, Row x) {
    real arm = rolling_constant(op, ref, ROLLING_ARM);
    return larger_cone_project(x, contact_mu(op, ref), arm * rolling_constant(op, ref, ROLLING_FRICTION),
                               arm * rolling_constant(op, ref, SPINNING_FRICTION), 1, 1);
}

// --- the preconditioner: that of the forces as without torques, and the mean diagonal for the torques

// Its entries over the mean diagonal: along the normal, across it, and of the torques.
typedef struct RollingMetric {
    real scale, along, across;
} RollingMetric;

SAND_INLINE RollingMetric rolling_metric(const Op *op, Preconditioner p, ContactRef ref) {
    RollingMetric metric;
    metric.scale = preconditioner_at(op, p, ref);
    metric.across = p.across;
    metric.along = p.across + (contact_has_friction(op, ref) ? p.more : p.more_bare);
    return metric;
}

// d'Pd of one contact, and d'P^-1 d.
SAND_INLINE real rolling_square(const Op *op, Preconditioner p, ContactRef ref, Row d) {
    RollingMetric k = rolling_metric(op, p, ref);
    Vec f = d.force;
    return k.scale * (k.along * f.x * f.x + k.across * (f.y * f.y + f.z * f.z) + vec_dot(d.torque, d.torque));
}
SAND_INLINE real rolling_inverse_square(const Op *op, Preconditioner p, ContactRef ref, Row d) {
    RollingMetric k = rolling_metric(op, p, ref);
    Vec f = d.force;
    return (f.x * f.x / k.along + (f.y * f.y + f.z * f.z) / k.across + vec_dot(d.torque, d.torque)) / k.scale;
}

// The point of K nearest to x - alpha P^-1 g in the metric of P.
SAND_INLINE Row rolling_step(const Op *op, ContactRef ref, Row x, Row g, real alpha, Preconditioner p) {
    RollingMetric k = rolling_metric(op, p, ref);
    real t = -alpha / k.scale, along = t / k.along, across = t / k.across;
    Vec force = vec_make(x.force.x + along * g.force.x, x.force.y + across * g.force.y, x.force.z + across * g.force.z);
    return rolling_project(op, ref, row_make(force, vec_madd(x.torque, t, g.torque)), k.across / k.along, 1 / k.along);
}

#endif // SAND_ROLLING
