// SPDX-License-Identifier: MIT
// Blocks of joints: rows whose impulses are bounded on both sides, on one, or on none (SandJointRows in
// sandglass/problem.h). They are contacts of the operator, in the basis of their axis, and only what differs is here: the
// set of the impulses is a box, an angular block acts on spins alone, and a spring yields.
//
// A spring adds its compliance to the diagonal of N, so that the gradient depends on the impulse itself and not only on the
// velocities that it causes. Both are kept in one place: an array of Body has, behind the bodies, one entry per contact,
// whose v is compliance times impulse. It is gathered, scaled and copied together with the bodies, and a gradient reads it
// as it reads them: a spring is a third body of its block, which moves as the impulse asks.
#pragma once
#ifndef SAND_JOINTS // opened alone
#define SAND_JOINTS 1
#endif
#include "sim/solver/kernel/op.inl"
#if SAND_LAYOUT_AOS
#include "sim/solver/kernel/layout_aos.inl"
#else
#include "sim/solver/kernel/layout_soa.inl"
#endif

#if SAND_JOINTS

SAND_INLINE bool contact_is_joint(const Op *op, ContactRef ref) { return joint_constant(op, ref, JOINT_KIND) > 0; }
SAND_INLINE bool contact_is_angular(const Op *op, ContactRef ref) { return joint_constant(op, ref, JOINT_KIND) > 1; }
SAND_INLINE Vec joint_constants(const Op *op, ContactRef ref, int k) {
    return vec_make(joint_constant(op, ref, k), joint_constant(op, ref, k + 1), joint_constant(op, ref, k + 2));
}

// The set of the impulses, component by component.
typedef struct JointBounds {
    Vec low, high;
} JointBounds;

SAND_INLINE JointBounds joint_bounds(const Op *op, ContactRef ref) {
    real across = joint_constant(op, ref, JOINT_ACROSS);
    JointBounds b = {vec_make(joint_constant(op, ref, JOINT_LOW), -across, -across),
                     vec_make(joint_constant(op, ref, JOINT_HIGH), across, across)};
    return b;
}

SAND_INLINE real real_clamp(real x, real low, real high) { return x < low ? low : x > high ? high : x; }

SAND_INLINE Vec joint_project(const Op *op, ContactRef ref, Vec x) {
    JointBounds b = joint_bounds(op, ref);
    return vec_make(real_clamp(x.x, b.low.x, b.high.x), real_clamp(x.y, b.low.y, b.high.y),
                    real_clamp(x.z, b.low.z, b.high.z));
}

// 1 where a row exists, 0 where its impulse is zero by definition: no method may look at the velocity there.
SAND_INLINE Vec joint_keeps(const Op *op, ContactRef ref) {
    real along = joint_constant(op, ref, JOINT_LOW) < joint_constant(op, ref, JOINT_HIGH) ? (real)1 : (real)0;
    real across = joint_constant(op, ref, JOINT_ACROSS) > 0 ? (real)1 : (real)0;
    return vec_make(along, across, across);
}

SAND_INLINE Vec vec_times(Vec a, Vec b) { return vec_make(a.x * b.x, a.y * b.y, a.z * b.z); }

// How the springs of a block yield under this impulse.
SAND_INLINE Vec joint_yield(const Op *op, ContactRef ref, Vec x) {
    return vec_make(joint_constant(op, ref, JOINT_COMPLIANCE) * x.x, 0, 0);
}

// The gradient of a block from the relative motion at the end of its arms.
SAND_INLINE Vec joint_gradient(const Op *op, ContactRef ref, RelativeMotion m, Vec in, Vec turning) {
    Vec u = vec_add(contact_is_angular(op, ref) ? turning : in, m.yield);
    return vec_add(vec_times(joint_keeps(op, ref), u), joint_constants(op, ref, JOINT_BIAS));
}

// --- the preconditioner: the diagonal of N_ii itself, since a box has the same nearest point in every diagonal metric

SAND_INLINE Vec joint_metric(const Op *op, Preconditioner p, ContactRef ref) {
    Vec d = joint_constants(op, ref, JOINT_DIAGONAL);
    return vec_make(real_ma(p.diagonal, d.x, p.mean), real_ma(p.diagonal, d.y, p.mean), real_ma(p.diagonal, d.z, p.mean));
}
SAND_INLINE Vec vec_over(Vec a, Vec b) { return vec_make(a.x / b.x, a.y / b.y, a.z / b.z); }

// --- active sets ----------------------------------------------------------------------------------------------

SAND_INLINE real bounds_free(real x, real low, real high, real v) { return x > low && x < high ? v : (real)0; }
SAND_INLINE Vec joint_free(const Op *op, ContactRef ref, Vec x, Vec v) {
    JointBounds b = joint_bounds(op, ref);
    return vec_make(bounds_free(x.x, b.low.x, b.high.x, v.x), bounds_free(x.y, b.low.y, b.high.y, v.y),
                    bounds_free(x.z, b.low.z, b.high.z, v.z));
}

// d without what leads out of the bounds of x.
SAND_INLINE real bounds_tangent(real x, real low, real high, real d) {
    d = x >= high && d > 0 ? (real)0 : d;
    return x <= low && d < 0 ? (real)0 : d;
}
SAND_INLINE Vec joint_tangent(const Op *op, ContactRef ref, Vec x, Vec d) {
    JointBounds b = joint_bounds(op, ref);
    return vec_make(bounds_tangent(x.x, b.low.x, b.high.x, d.x), bounds_tangent(x.y, b.low.y, b.high.y, d.y),
                    bounds_tangent(x.z, b.low.z, b.high.z, d.z));
}

// One over the longest step t for which x - t p stays within the bounds; zero where it never leaves them.
SAND_INLINE real bounds_inverse_step(real x, real low, real high, real p) {
    return p > 0 ? p / real_max(x - low, REAL_TINY) : p < 0 ? -p / real_max(high - x, REAL_TINY) : (real)0;
}
SAND_INLINE real joint_inverse_step(const Op *op, ContactRef ref, Vec x, Vec p) {
    JointBounds b = joint_bounds(op, ref);
    return real_max(
        bounds_inverse_step(x.x, b.low.x, b.high.x, p.x),
        real_max(bounds_inverse_step(x.y, b.low.y, b.high.y, p.y), bounds_inverse_step(x.z, b.low.z, b.high.z, p.z)));
}

// The nearest direction in which the box is unbounded.
SAND_INLINE real bounds_recession(real d, real low, real high) {
    return real_clamp(d, low > -INFINITY ? (real)0 : low, high < INFINITY ? (real)0 : high);
}
SAND_INLINE Vec joint_recession(const Op *op, ContactRef ref, Vec d) {
    JointBounds b = joint_bounds(op, ref);
    return vec_make(bounds_recession(d.x, b.low.x, b.high.x), bounds_recession(d.y, b.low.y, b.high.y),
                    bounds_recession(d.z, b.low.z, b.high.z));
}

#endif // SAND_JOINTS
