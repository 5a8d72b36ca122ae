// The memory layout of the CPU: structure of arrays in tiles of SAND_LANES contacts, all first components of a tile, then
// all second ones, so that the iterations of a loop over a tile are SIMD lanes. layout_aos.inl provides the same functions.
//
//   ContactRef          handle of a contact: where it lies
//   row_load, row_store a contact's part of a solver vector
//   contact_normal ...  its constants
//   SAND_FOR_GRADIENTS  the loop over contacts with their gradients
#pragma once
#include "sim/solver/kernel/op.inl"

typedef struct ContactRef {
    Index tile, lane; // first contact of its tile, position in the tile
} ContactRef;

SAND_INLINE ContactRef contact_ref_make(Index i, Index tile) {
    ContactRef ref = {tile, i - tile};
    return ref;
}
SAND_INLINE ContactRef contact_ref_bare(Index i) { return contact_ref_make(i, i & ~(Index)(SAND_LANES - 1)); }
SAND_INLINE ContactRef contact_ref(const Op *op, Index i) { return (void)op, contact_ref_bare(i); }
SAND_INLINE Index contact_index(ContactRef ref) { return ref.tile + ref.lane; }
SAND_INLINE Index contact_lane(ContactRef ref) { return ref.lane; }
// Index of component k of `count` in an array over contacts.
SAND_INLINE Index contact_number(ContactRef ref, int count, int k) { return count * ref.tile + k * SAND_LANES + ref.lane; }
#define SAND_CONTACT(op, i) contact_ref_make(i, tile_) // inside SAND_FOR

// --- solver vectors -----------------------------------------------------------------------------------------

enum { ROW_SIZE = SAND_ROLLING ? 6 : SAND_ROWS }; // numbers of a contact in a solver vector

#if SAND_ROLLING
SAND_INLINE Vec vec_load_at(const real *x, ContactRef ref, int k) {
    return vec_make(x[contact_number(ref, ROW_SIZE, k)], x[contact_number(ref, ROW_SIZE, k + 1)],
                    x[contact_number(ref, ROW_SIZE, k + 2)]);
}
SAND_INLINE void vec_store_at(real *x, ContactRef ref, int k, Vec v) {
    x[contact_number(ref, ROW_SIZE, k)] = v.x;
    x[contact_number(ref, ROW_SIZE, k + 1)] = v.y;
    x[contact_number(ref, ROW_SIZE, k + 2)] = v.z;
}
SAND_INLINE Row row_load(const real *x, ContactRef ref) { return row_make(vec_load_at(x, ref, 0), vec_load_at(x, ref, 3)); }
SAND_INLINE void row_store(real *x, ContactRef ref, Row r) {
    vec_store_at(x, ref, 0, r.force);
    vec_store_at(x, ref, 3, r.torque);
}
#elif SAND_ROWS == 3
SAND_INLINE Row row_load(const real *x, ContactRef ref) {
    return vec_make(x[contact_number(ref, 3, 0)], x[contact_number(ref, 3, 1)], x[contact_number(ref, 3, 2)]);
}
SAND_INLINE void row_store(real *x, ContactRef ref, Row r) {
    x[contact_number(ref, 3, 0)] = r.x;
    x[contact_number(ref, 3, 1)] = r.y;
    x[contact_number(ref, 3, 2)] = r.z;
}
#else
SAND_INLINE Row row_load(const real *x, ContactRef ref) { return x[contact_index(ref)]; }
SAND_INLINE void row_store(real *x, ContactRef ref, Row r) { x[contact_index(ref)] = r; }
#endif

// --- constants of a contact ---------------------------------------------------------------------------------

// All in one array, so that a loop over contacts walks through memory along few streams.
enum {
    CONTACT_NORMAL,           // 3 numbers
    CONTACT_HALF_GAP = 3,     //
    CONTACT_MU,               // friction coefficient
    CONTACT_INVERSE_DIAGONAL, // one over the mean diagonal, trace N_ii / rows
    CONTACT_DIAGONAL,         // the mean diagonal
    CONTACT_CONE_FACTOR,      // 1 / (1 + mu^2)
    CONTACT_ARM_A,            // 3 numbers, not when radial
    CONTACT_ARM_B = CONTACT_ARM_A + 3,
    CONTACT_JOINT = SAND_RADIAL ? CONTACT_ARM_A : CONTACT_ARM_B + 3, // JOINT_CONSTANTS numbers
    CONTACT_ROLLING = CONTACT_JOINT + JOINT_CONSTANTS,               // ROLLING_CONSTANTS numbers
    CONTACT_CONSTANTS = CONTACT_ROLLING + ROLLING_CONSTANTS,
};

SAND_INLINE real contact_constant(const Op *op, ContactRef ref, int k) {
    return op->constant[contact_number(ref, CONTACT_CONSTANTS, k)];
}
SAND_INLINE Vec contact_constants(const Op *op, ContactRef ref, int k) {
    return vec_make(contact_constant(op, ref, k), contact_constant(op, ref, k + 1), contact_constant(op, ref, k + 2));
}
SAND_INLINE Vec contact_normal(const Op *op, ContactRef ref) { return contact_constants(op, ref, CONTACT_NORMAL); }
SAND_INLINE real contact_half_gap(const Op *op, ContactRef ref) { return contact_constant(op, ref, CONTACT_HALF_GAP); }
SAND_INLINE real contact_mu(const Op *op, ContactRef ref) { return contact_constant(op, ref, CONTACT_MU); }
SAND_INLINE real contact_inverse_diagonal(const Op *op, ContactRef ref) {
    return contact_constant(op, ref, CONTACT_INVERSE_DIAGONAL);
}
SAND_INLINE real contact_diagonal(const Op *op, ContactRef ref) { return contact_constant(op, ref, CONTACT_DIAGONAL); }
SAND_INLINE real contact_cone_factor(const Op *op, ContactRef ref) { return contact_constant(op, ref, CONTACT_CONE_FACTOR); }
SAND_INLINE real joint_constant(const Op *op, ContactRef ref, int k) { return contact_constant(op, ref, CONTACT_JOINT + k); }
SAND_INLINE real rolling_constant(const Op *op, ContactRef ref, int k) {
    return contact_constant(op, ref, CONTACT_ROLLING + k);
}
#if SAND_RADIAL
// Normal and half the gap in one load, for gathers, which visit contacts in no order.
SAND_INLINE Vec4 contact_record(const Op *op, ContactRef ref) { return vec4_load(op->record + 4 * contact_index(ref)); }
#else
SAND_INLINE Vec contact_arm_a(const Op *op, ContactRef ref) { return contact_constants(op, ref, CONTACT_ARM_A); }
SAND_INLINE Vec contact_arm_b(const Op *op, ContactRef ref) { return contact_constants(op, ref, CONTACT_ARM_B); }
#endif

// --- the loop over gradients --------------------------------------------------------------------------------

SAND_INLINE Row contact_gradient(const Op *op, ContactRef ref, RelativeMotion m); // operator.inl
SAND_INLINE Row contact_bounced(const Op *op, ContactRef ref, Row g);             // the same

// A tile of contacts with the motion of their bodies. The bodies are fetched first, each by whole vector loads, so that the
// arithmetic afterwards vectorizes; the gradients are computed in a short loop of their own, of which a processor can have
// several iterations in flight.
typedef struct Tile {
    Index begin;
    Vec4 u[SAND_LANES]; // the fourth is half the gap
#if SAND_RADIAL
    Vec4 s[SAND_LANES]; // the fourth is mu
#else
    Vec4 wa[SAND_LANES], wb[SAND_LANES]; // the fourth is mu
#endif
#if SAND_JOINTS
    Vec4 yield[SAND_LANES];
#endif
    real gradient[ROW_SIZE * SAND_LANES];
} Tile;

SAND_INLINE Row tile_gradient(const Tile *tile, const Op *op, ContactRef ref) {
    RelativeMotion m;
    const real *u = (const real *)tile->u + 4 * ref.lane;
    m.u = vec_of(u);
    m.half_gap = u[3];
#if SAND_RADIAL
    const real *s = (const real *)tile->s + 4 * ref.lane;
    m.s = vec_of(s);
    m.mu = s[3];
#else
    const real *wa = (const real *)tile->wa + 4 * ref.lane, *wb = (const real *)tile->wb + 4 * ref.lane;
    m.wa = vec_of(wa);
    m.wb = vec_of(wb);
    m.mu = wa[3];
#endif
#if SAND_JOINTS
    m.yield = vec_of((const real *)tile->yield + 4 * ref.lane);
#endif
    return contact_gradient(op, ref, m);
}

// Fetches the tile at `begin` and computes its gradients. False at the end. Inlined only in the fastest variants; in
// the others inlining would cost a second of compile time each.
#if SAND_COMPONENTS
SAND_OUTLINE
#else
SAND_INLINE
#endif
bool tile_fetch(Tile *SAND_RESTRICT tile, const Op *SAND_RESTRICT op, const Body *SAND_RESTRICT body, Index begin,
                Index end) {
    if (begin >= end) return false;
    tile->begin = begin;
    for (int l = 0; l < SAND_LANES; l++) {
        const Body *a = &body[op->a[begin + l]], *b = &body[op->b[begin + l]];
        ContactRef ref = contact_ref_make(begin + l, begin);
        real half = contact_half_gap(op, ref), mu = contact_mu(op, ref);
        Vec4 wa = vec4_load(a->w), wb = vec4_load(b->w);
        tile->u[l] = vec4_with_last(vec4_sub(vec4_load(b->v), vec4_load(a->v)), half);
#if SAND_RADIAL
        Vec4 s = vec4_madd((half + vec4_last(wa)) * wa, half + vec4_last(wb), wb);
        tile->s[l] = vec4_with_last(s, mu);
#else
        tile->wa[l] = vec4_with_last(wa, mu);
        tile->wb[l] = vec4_with_last(wb, mu);
#endif
#if SAND_JOINTS
        tile->yield[l] = vec4_load(body[op->body_count + begin + l].v);
#endif
    }
#pragma omp simd
    for (int l = 0; l < SAND_LANES; l++)
        row_store(tile->gradient, contact_ref_make(l, 0), tile_gradient(tile, op, contact_ref_make(begin + l, begin)));
    if (op->bounce) // apart, so that problems without impacts do not pay for them
        for (int l = 0; l < SAND_LANES; l++) {
            ContactRef at = contact_ref_make(l, 0), ref = contact_ref_make(begin + l, begin);
            row_store(tile->gradient, at, contact_bounced(op, ref, row_load(tile->gradient, at)));
        }
    return true;
}

// clang-format off
#define SAND_FOR_GRADIENTS(w, i, op, from, sum) \
    for (Cursor cursor_ = cursor_begin(w, (op)->n); cursor_next(w, &cursor_, sum);) \
        for (Tile fetched_ = {.begin = cursor_.begin - SAND_LANES}; \
             tile_fetch(&fetched_, op, from, fetched_.begin + SAND_LANES, cursor_.end);) \
            for (Index tile_ = fetched_.begin, once_ = 1; once_; once_ = 0) \
                _Pragma("omp simd") for (Index i = tile_; i < tile_ + SAND_LANES; i++)
// clang-format on
#define SAND_GRADIENT(op, ref) row_load(fetched_.gradient, contact_ref_make((ref).lane, 0))
