// SPDX-License-Identifier: MIT
// The memory layout of the GPU: an array of records, four numbers together, so that the thread that owns a contact fetches
// it in few wide loads. layout_soa.inl provides the same functions. A CPU build of it exists for tests
// (tests/solver/test_layout_aos.c).
//
//   ContactRef          handle of a contact, with the constants that every loop needs
//   row_load, row_store a contact's part of a solver vector
//   contact_normal ...  its constants
//   SAND_FOR_GRADIENTS  the loop over contacts with their gradients
#pragma once
#ifndef SAND_LAYOUT_AOS // opened alone
#define SAND_LAYOUT_AOS 1
#endif
#include "sim/solver/kernel/op.inl"

typedef struct ContactRef {
    Index index;
    Vec4 record; // the normal and half the gap
    real mu, inverse_diagonal;
} ContactRef;

// --- constants of a contact ---------------------------------------------------------------------------------

// What is not in the record. Anything that is cheaper to compute again than to load is computed again.
enum {
    CONTACT_MU,
    CONTACT_INVERSE_DIAGONAL,
    CONTACT_JOINT,
    CONTACT_ROLLING = CONTACT_JOINT + JOINT_CONSTANTS,
    CONTACT_CONSTANTS = CONTACT_ROLLING + ROLLING_CONSTANTS
};

SAND_INLINE ContactRef contact_ref_bare(Index i) {
    ContactRef ref = {i, vec4_zero(), 0, 0};
    return ref;
}
// Wide, since it is multiplied by the numbers of a contact: products that are addresses exceed 32 bits, where a GPU counts
// contacts, and cost nothing there.
SAND_INLINE int64_t contact_index(ContactRef ref) { return ref.index; }
// Fetches a contact; the compiler drops the loads that a loop does not use.
SAND_INLINE ContactRef contact_ref(const Op *op, Index i) {
    ContactRef ref = contact_ref_bare(i);
    const real *constant = op->constant + CONTACT_CONSTANTS * contact_index(ref);
    ref.record = vec4_load_fixed(op->record + 4 * contact_index(ref));
    ref.mu = SAND_FIXED(&constant[CONTACT_MU]);
    ref.inverse_diagonal = SAND_FIXED(&constant[CONTACT_INVERSE_DIAGONAL]);
    return ref;
}
SAND_INLINE Index contact_lane(ContactRef ref) { return ref.index % SAND_LANES; }
#define SAND_CONTACT(op, i) contact_ref(op, i)

SAND_INLINE Vec4 contact_record(const Op *op, ContactRef ref) { return (void)op, ref.record; }
SAND_INLINE Vec contact_normal(const Op *op, ContactRef ref) { return (void)op, vec_of_vec4(ref.record); }
SAND_INLINE real contact_half_gap(const Op *op, ContactRef ref) { return (void)op, vec4_last(ref.record); }
SAND_INLINE real contact_mu(const Op *op, ContactRef ref) { return (void)op, ref.mu; }
SAND_INLINE real contact_inverse_diagonal(const Op *op, ContactRef ref) { return (void)op, ref.inverse_diagonal; }
SAND_INLINE real contact_diagonal(const Op *op, ContactRef ref) {
    return (void)op, real_rough_inverse(ref.inverse_diagonal);
}
SAND_INLINE real contact_cone_factor(const Op *op, ContactRef ref) {
    return (void)op, real_rough_inverse(1 + ref.mu * ref.mu);
}
SAND_INLINE real joint_constant(const Op *op, ContactRef ref, int k) {
    return SAND_FIXED(&op->constant[CONTACT_CONSTANTS * contact_index(ref) + CONTACT_JOINT + k]);
}
SAND_INLINE real rolling_constant(const Op *op, ContactRef ref, int k) {
    return SAND_FIXED(&op->constant[CONTACT_CONSTANTS * contact_index(ref) + CONTACT_ROLLING + k]);
}
#if !SAND_RADIAL
SAND_INLINE Vec contact_arm_a(const Op *op, ContactRef ref) {
    return vec_of_vec4(vec4_load_fixed(op->arm_a_record + 4 * contact_index(ref)));
}
SAND_INLINE Vec contact_arm_b(const Op *op, ContactRef ref) {
    return vec_of_vec4(vec4_load_fixed(op->arm_b_record + 4 * contact_index(ref)));
}
#endif

// --- solver vectors -----------------------------------------------------------------------------------------

enum { ROW_SIZE = SAND_ROLLING ? 8 : SAND_ROWS == 3 ? 4 : SAND_ROWS }; // numbers of a contact in a solver vector

#if SAND_ROLLING
SAND_INLINE Row row_load(const real *x, ContactRef ref) {
    const real *at = x + ROW_SIZE * contact_index(ref);
    return row_make(vec_of_vec4(vec4_load(at)), vec_of_vec4(vec4_load(at + 4)));
}
SAND_INLINE void row_store(real *x, ContactRef ref, Row r) {
    real *at = x + ROW_SIZE * contact_index(ref);
    vec4_write(at, r.force.x, r.force.y, r.force.z, 0);
    vec4_write(at + 4, r.torque.x, r.torque.y, r.torque.z, 0);
}
#elif SAND_ROWS == 3
SAND_INLINE Row row_load(const real *x, ContactRef ref) { return vec_of_vec4(vec4_load(x + 4 * contact_index(ref))); }
SAND_INLINE void row_store(real *x, ContactRef ref, Row r) { vec4_write(x + 4 * contact_index(ref), r.x, r.y, r.z, 0); }
#else
SAND_INLINE Row row_load(const real *x, ContactRef ref) { return x[contact_index(ref)]; }
SAND_INLINE void row_store(real *x, ContactRef ref, Row r) { x[contact_index(ref)] = r; }
#endif

// --- the loop over gradients --------------------------------------------------------------------------------

#define SAND_FOR_IMPULSES(w, i, op, sum) SAND_FOR_SUM(w, i, (op)->n, sum)
#define SAND_FOR_GRADIENTS_IMPULSES(w, i, op, from, sum) SAND_FOR_GRADIENTS(w, i, op, from, sum)
#define SAND_STORE_IMPULSE(op, ref, r) store_impulse(op, ref, r)
#define SAND_FOR_STEPS(w, i, op, x, g, alpha, p) SAND_FOR(w, i, (op)->n)
#define SAND_STEP(op, ref, x, g, alpha, p) contact_step(op, ref, x, g, alpha, p)
#define SAND_FOR_GRADIENTS_AT(w, i, op, from, x, sum) SAND_FOR_GRADIENTS(w, i, op, from, sum)
#define SAND_RESIDUAL(op, ref, x, g) contact_residual(op, ref, x, g)
#define SAND_FOR_GRADIENTS(w, i, op, from, sum) \
    for (const Body *gradients_from_ = from; gradients_from_; gradients_from_ = NULL) SAND_FOR_BACKWARDS(w, i, (op)->n, sum)
#define SAND_GRADIENT(op, ref) contact_gradient_from(op, gradients_from_, ref)
