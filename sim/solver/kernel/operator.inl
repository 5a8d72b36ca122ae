// SPDX-License-Identifier: MIT
// The operator a solver sees: the gradient N x + r of q(x) = x'Nx / 2 + r'x, and the projection on K. N = D' M^-1 D is never
// assembled. Its product is two gathers without atomics, which give the same bits every time:
//
//      impulses x                     velocities v                    gradient
//      per contact  --gather_bodies-->  per body  --contact_gradient-->  per contact
//                   v = v_free + M^-1 D x            D' v + b = N x + r
//
//   gather_bodies     per body: sum the impulses of its contacts, scale by M^-1, add the free velocity (gather.inl). It
//                     reads the world impulses that store_impulse has stored: a loop that computes the next x stores them
//                     as it goes. Where a vector's rows are world impulses already (SAND_VEC4_ROWS) it reads the vector
//   contact_gradient  per contact: the relative velocity of its two bodies at the contact point, plus the stabilization term
//
// In a problem of 3 rows a contact with mu = 0 has one row's worth: its gradient and its impulse lie along n.
#pragma once
#include "sandglass/problem.h"
#include "sim/solver/kernel/project.inl"

// Sets up the stabilization. Called by the host.
static inline void op_set_recovery(Op *op, SandRecovery r) {
    op->recovery = (real)r.speed;
    op->fraction = (real)r.fraction;
    op->left = (real)(0.5 * (1 - r.fraction) * r.depth);
}

// The part of the stabilization term b_i that comes from the gap (SandRecovery).
SAND_INLINE real gap_bias(const Op *op, real half_gap) {
    real shallow = real_max(half_gap, op->fraction * half_gap), deep = half_gap + op->left;
    return real_max((deep < shallow ? deep : shallow) * op->two_per_step, -op->recovery);
}

// The same of a contact, with De Saxce's bias where there is one.
SAND_INLINE real contact_gap_bias(const Op *op, ContactRef ref) {
#if SAND_LAYOUT_AOS
    real bias = gap_bias(op, contact_half_gap(op, ref));
#else
    real bias = contact_constant(op, ref, CONTACT_GAP_BIAS);
#endif
#if SAND_LOCAL
    return bias + op->de_saxce[contact_index(ref)];
#else
    return bias;
#endif
}

// What an impact adds to the least normal velocity of a contact (SandContact.bounce).
SAND_INLINE real contact_bounce(const Op *op, ContactRef ref) {
    return op->bounce ? op->bounce[contact_index(ref)] : (real)0;
}

// The stabilization term b_i.
SAND_INLINE real contact_bias(const Op *op, ContactRef ref) { return contact_gap_bias(op, ref) - contact_bounce(op, ref); }

// The impulse on body b in world coordinates.
SAND_INLINE Vec contact_impulse(const Op *op, ContactRef ref, Row r) {
#if SAND_LOCAL
    return basis_out(basis_of(contact_normal(op, ref)), row_force(r));
#elif SAND_ROWS == 3
    return (void)op, (void)ref, r;
#else
    return vec_scale(r, contact_normal(op, ref));
#endif
}

#if SAND_ROLLING
// The torque on body b in world coordinates.
SAND_INLINE Vec contact_torque(const Op *op, ContactRef ref, Row r) {
    return vec_scale(rolling_constant(op, ref, ROLLING_ARM), basis_out(basis_of(contact_normal(op, ref)), r.torque));
}
#endif

// The rows of a velocity in world coordinates: the inverse of contact_impulse.
SAND_INLINE Row contact_row(const Op *op, ContactRef ref, Vec u) {
#if SAND_LOCAL
    return row_of(basis_in(basis_of(contact_normal(op, ref)), u));
#elif SAND_ROWS == 3
    return (void)op, (void)ref, u;
#else
    return vec_dot(u, contact_normal(op, ref));
#endif
}

// u - a x b. Each component of the product is computed with its sign turned, which spares negating a part of it.
SAND_INLINE Vec vec_sub_cross(Vec u, Vec a, Vec b) {
    return vec_make(u.x + real_ma(-a.y, b.z, a.z * b.y), u.y + real_ma(-a.z, b.x, a.x * b.z),
                    u.z + real_ma(-a.x, b.y, a.y * b.x));
}

// The gradient (N x + r)_i from the motion of the two bodies, but for the bounce. `bare`: the contact may have no friction.
SAND_INLINE Row contact_gradient(const Op *op, ContactRef ref, RelativeMotion m, bool bare) {
    (void)bare;
    Vec n = contact_normal(op, ref);
#if SAND_RADIAL
    Vec u = vec_sub_cross(m.u, m.s, n);
#else
    Vec u = vec_add(m.u, vec_sub(vec_cross(m.wb, contact_arm_b(op, ref)), vec_cross(m.wa, contact_arm_a(op, ref))));
#endif
    real bias = contact_gap_bias(op, ref);
#if SAND_JOINTS
    if (contact_is_joint(op, ref)) {
        ContactBasis basis = basis_of(n);
        return row_of(joint_gradient(op, ref, m, basis_in(basis, u), basis_in(basis, vec_sub(m.wb, m.wa))));
    }
#endif
#if SAND_LOCAL
    Vec in = basis_in(basis_of(n), u);
    real keep = !bare || contact_mu(op, ref) > 0 ? (real)1 : (real)0; // where mu = 0 only the normal row exists
    Vec force = vec_make(in.x + bias, keep * in.y, keep * in.z);
#if SAND_ROLLING
    return row_make(force, rolling_gradient(op, ref, basis_in(basis_of(n), vec_sub(m.wb, m.wa))));
#else
    return force;
#endif
#elif SAND_ROWS == 3
    real un = vec_dot(u, n);
    real keep = !bare || contact_mu(op, ref) > 0 ? (real)1 : (real)0; // where mu = 0 only the normal row exists
    return vec_madd(vec_scale(keep, u), un + bias - keep * un, n);
#else
    return vec_dot(u, n) + bias;
#endif
}

// Adds the bounce to a gradient.
SAND_INLINE Row contact_bounced(const Op *op, ContactRef ref, Row g) {
    return op->bounce ? row_add_normal(op, ref, g, -contact_bounce(op, ref)) : g;
}

// What a contact reads of two bodies, given v and w of each.
SAND_INLINE RelativeMotion relative_motion(const Op *op, ContactRef ref, Vec4 va, Vec4 wa, Vec4 vb, Vec4 wb) {
    RelativeMotion m;
    m.u = vec_sub(vec_of_vec4(vb), vec_of_vec4(va));
#if SAND_RADIAL
    real half_gap = contact_half_gap(op, ref);
    m.s = vec_madd(vec_scale(half_gap + vec4_last(wa), vec_of_vec4(wa)), half_gap + vec4_last(wb), vec_of_vec4(wb));
#else
    (void)op, (void)ref;
    m.wa = vec_of_vec4(wa);
    m.wb = vec_of_vec4(wb);
#endif
    return m;
}

// The gradient of one contact from the velocities of all bodies. Loops over all contacts use SAND_FOR_GRADIENTS.
SAND_INLINE Row contact_gradient_from(const Op *op, const Body *body, ContactRef ref) {
    const Body *a = &body[SAND_FIXED(&op->a[contact_index(ref)])], *b = &body[SAND_FIXED(&op->b[contact_index(ref)])];
    RelativeMotion m = relative_motion(op, ref, vec4_load(a->v), vec4_load(a->w), vec4_load(b->v), vec4_load(b->w));
#if SAND_JOINTS
    m.yield = vec_of_vec4(vec4_load(body[op->body_count + contact_index(ref)].v));
#endif
    return contact_bounced(op, ref, contact_gradient(op, ref, m, true));
}

#if SAND_UNCOORDINATED
// The same from velocities that other workers are changing.
SAND_INLINE Row contact_gradient_now(const Op *op, const Body *body, ContactRef ref) {
    const Body *a = &body[SAND_FIXED(&op->a[contact_index(ref)])], *b = &body[SAND_FIXED(&op->b[contact_index(ref)])];
    RelativeMotion m =
        relative_motion(op, ref, vec4_load_now(a->v), vec4_load_now(a->w), vec4_load_now(b->v), vec4_load_now(b->w));
#if SAND_JOINTS
    m.yield = vec_of_vec4(vec4_load(body[op->body_count + contact_index(ref)].v)); // of this worker alone
#endif
    return contact_bounced(op, ref, contact_gradient(op, ref, m, true));
}
#endif

// A gradient without the stabilization term: N x alone, when the free velocities were left out of the gather.
SAND_INLINE Row contact_without_bias(const Op *op, ContactRef ref, Row y) {
#if SAND_JOINTS
    if (contact_is_joint(op, ref)) return row_of(vec_sub(row_force(y), joint_constants(op, ref, JOINT_BIAS)));
#endif
    return row_add_normal(op, ref, y, -contact_bias(op, ref));
}
