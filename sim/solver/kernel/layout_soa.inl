// SPDX-License-Identifier: MIT
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
    CONTACT_GAP_BIAS = SAND_RADIAL ? CONTACT_ARM_A : CONTACT_ARM_B + 3, // gap_bias of half the gap
    CONTACT_STEP_FACTOR, // 1 / (1 + ratio mu^2), the cone factor in the metric of P_DIAGONAL
    CONTACT_LENGTH_A,    // radial: the length of the arm, a radius and half the gap
    CONTACT_LENGTH_B,
    CONTACT_JOINT = SAND_RADIAL ? CONTACT_LENGTH_B + 1 : CONTACT_STEP_FACTOR + 1, // JOINT_CONSTANTS numbers
    CONTACT_ROLLING = CONTACT_JOINT + JOINT_CONSTANTS,                            // ROLLING_CONSTANTS numbers
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
#if !SAND_RADIAL
SAND_INLINE Vec contact_arm_a(const Op *op, ContactRef ref) { return contact_constants(op, ref, CONTACT_ARM_A); }
SAND_INLINE Vec contact_arm_b(const Op *op, ContactRef ref) { return contact_constants(op, ref, CONTACT_ARM_B); }
#endif

// --- the loop over gradients --------------------------------------------------------------------------------

SAND_INLINE Row contact_gradient(const Op *op, ContactRef ref, RelativeMotion m, bool bare); // operator.inl
SAND_INLINE Row contact_bounced(const Op *op, ContactRef ref, Row g);                        // the same

// One component of each contact of a tile, four side by side.
typedef Vec4 Lanes[SAND_LANES / 4];
SAND_INLINE Vec lanes_vec(const Lanes *component, Index lane) {
    return vec_make(((const real *)component[0])[lane], ((const real *)component[1])[lane],
                    ((const real *)component[2])[lane]);
}

SAND_INLINE void lanes_set(Lanes *component, Index lane, Vec v) {
    ((real *)component[0])[lane] = v.x;
    ((real *)component[1])[lane] = v.y;
    ((real *)component[2])[lane] = v.z;
}

#if SAND_HALVED_CONES
SAND_INLINE ConeHalf contact_residual_half(const Op *op, ContactRef ref, Row x, Row g); // residual.inl
SAND_INLINE ConeHalf contact_step_half(const Op *op, ContactRef ref, Row x, Row g, real alpha,
                                       Preconditioner p); // project.inl

// Halves of the projections of a tile.
typedef struct Halves {
    Lanes t[3], other[2];
} Halves;
SAND_INLINE ConeHalf halves_at(const Halves *halves, ContactRef ref) {
    ConeHalf half = {lanes_vec(halves->t, ref.lane), ((const real *)halves->other[0])[ref.lane],
                     ((const real *)halves->other[1])[ref.lane]};
    return half;
}
SAND_INLINE void halves_set(Halves *halves, ContactRef ref, ConeHalf half) {
    lanes_set(halves->t, ref.lane, half.t);
    ((real *)halves->other[0])[ref.lane] = half.square;
    ((real *)halves->other[1])[ref.lane] = half.xn;
}
#endif

// A tile of contacts with the motion of their bodies. The bodies are fetched first, each by whole vector loads, and their
// components are sorted by vector operations, so that the arithmetic afterwards vectorizes; the gradients are computed in a
// short loop of their own, of which a processor can have several iterations in flight.
typedef struct Tile {
    Index begin;
    Lanes u[3];
#if SAND_RADIAL
    Lanes s[3];
#else
    Lanes wa[3], wb[3];
#endif
#if SAND_JOINTS
    Lanes yield[3];
#endif
    real gradient[ROW_SIZE * SAND_LANES];
#if SAND_HALVED_CONES
    Halves residual;
#endif
} Tile;

SAND_INLINE Tile tile_before(Index begin) {
    Tile tile;
    tile.begin = begin - SAND_LANES;
    return tile;
}

SAND_INLINE Row tile_gradient(const Tile *tile, const Op *op, ContactRef ref, bool bare) {
    RelativeMotion m;
    m.u = lanes_vec(tile->u, ref.lane);
#if SAND_RADIAL
    m.s = lanes_vec(tile->s, ref.lane);
#else
    m.wa = lanes_vec(tile->wa, ref.lane);
    m.wb = lanes_vec(tile->wb, ref.lane);
#endif
#if SAND_JOINTS
    m.yield = lanes_vec(tile->yield, ref.lane);
#endif
    return contact_gradient(op, ref, m, bare);
}

// Stores four contacts of a tile, from lane 4 q on, component by component.
SAND_INLINE void lanes_store(Lanes *to, int q, const Vec4 *contact) {
    Vec4 component[4];
    vec4_transpose(contact, component);
    for (int c = 0; c < 3; c++) to[c][q] = component[c];
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
    for (int q = 0; q < SAND_LANES / 4; q++) {
        Vec4 u[4], wa[4], wb[4];
        for (int j = 0; j < 4; j++) {
            Index i = begin + 4 * q + j;
            const Body *a = &body[op->a[i]], *b = &body[op->b[i]];
            u[j] = vec4_sub(vec4_load(b->v), vec4_load(a->v));
            wa[j] = vec4_load(a->w);
            wb[j] = vec4_load(b->w);
#if SAND_RADIAL
            ContactRef ref = contact_ref_make(i, begin);
            wa[j] = vec4_madd(contact_constant(op, ref, CONTACT_LENGTH_A) * wa[j],
                              contact_constant(op, ref, CONTACT_LENGTH_B), wb[j]);
#endif
        }
        lanes_store(tile->u, q, u);
#if SAND_RADIAL
        lanes_store(tile->s, q, wa);
#else
        lanes_store(tile->wa, q, wa);
        lanes_store(tile->wb, q, wb);
#endif
#if SAND_JOINTS
        for (int j = 0; j < 4; j++) u[j] = vec4_load(body[op->body_count + begin + 4 * q + j].v);
        lanes_store(tile->yield, q, u);
#endif
    }
    if (op->bare) {
#pragma omp simd
        for (int l = 0; l < SAND_LANES; l++)
            row_store(tile->gradient, contact_ref_make(l, 0),
                      tile_gradient(tile, op, contact_ref_make(begin + l, begin), true));
    } else {
#pragma omp simd
        for (int l = 0; l < SAND_LANES; l++)
            row_store(tile->gradient, contact_ref_make(l, 0),
                      tile_gradient(tile, op, contact_ref_make(begin + l, begin), false));
    }
    if (op->bounce) // apart, so that problems without impacts do not pay for them
        for (int l = 0; l < SAND_LANES; l++) {
            ContactRef at = contact_ref_make(l, 0), ref = contact_ref_make(begin + l, begin);
            row_store(tile->gradient, at, contact_bounced(op, ref, row_load(tile->gradient, at)));
        }
    return true;
}

// Prepares the residual of x, whose gradients the tile has. Returns where it begins.
SAND_INLINE Index tile_halve(Tile *SAND_RESTRICT tile, const Op *SAND_RESTRICT op, const real *SAND_RESTRICT x) {
#if SAND_HALVED_CONES
#pragma omp simd
    for (int l = 0; l < SAND_LANES; l++) {
        ContactRef ref = contact_ref_make(tile->begin + l, tile->begin);
        halves_set(&tile->residual, ref,
                   contact_residual_half(op, ref, row_load(x, ref), row_load(tile->gradient, contact_ref_make(l, 0))));
    }
#else
    (void)op, (void)x;
#endif
    return tile->begin;
}

// --- loops that store impulses ------------------------------------------------------------------------------

// The impulses of a tile as a loop computes them, component by component; stage_store puts them where gather_bodies reads
// them, contact by contact.
typedef struct Stage {
    Index begin;
    Lanes force[3];
#if SAND_ROLLING || SAND_STORED_TORQUES
    Lanes torque[3];
#endif
#if SAND_HALVED_CONES
    Halves step;
#endif
} Stage;

SAND_INLINE Stage stage_begin(Index begin) {
    Stage stage;
    stage.begin = begin;
    return stage;
}

// Stores one vector of each contact of a tile with a fourth number, IMPULSE_SIZE numbers apart.
SAND_INLINE void lanes_write(real *SAND_RESTRICT to, const Lanes *component, const real *fourth) {
    for (int q = 0; q < SAND_LANES / 4; q++) {
        Vec4 row[4] = {component[0][q], component[1][q], component[2][q], fourth ? vec4_load(fourth + 4 * q) : vec4_zero()};
        Vec4 contact[4];
        vec4_transpose(row, contact);
        for (int j = 0; j < 4; j++) vec4_store(to + IMPULSE_SIZE * (4 * q + j), contact[j]);
    }
}

// Stores a tile, and moves on to the next.
SAND_INLINE void stage_store(Stage *SAND_RESTRICT stage, const Op *SAND_RESTRICT op) {
    real *to = op->impulse + IMPULSE_SIZE * stage->begin;
#if SAND_STORED_TORQUES
    const real *constant = op->constant + CONTACT_CONSTANTS * stage->begin;
    lanes_write(to, stage->force, constant + SAND_LANES * CONTACT_LENGTH_A);
    lanes_write(to + 4, stage->torque, constant + SAND_LANES * CONTACT_LENGTH_B);
#else
    lanes_write(to, stage->force, NULL);
#if SAND_ROLLING
    lanes_write(to + 4, stage->torque, NULL);
#endif
#endif
    stage->begin += SAND_LANES;
}

// Prepares the projected steps of a tile. Returns where it begins.
SAND_INLINE Index stage_halve(Stage *SAND_RESTRICT stage, const Op *SAND_RESTRICT op, const real *x, const real *g,
                              real alpha, Preconditioner p) {
#if SAND_HALVED_CONES
#pragma omp simd
    for (int l = 0; l < SAND_LANES; l++) {
        ContactRef ref = contact_ref_make(stage->begin + l, stage->begin);
        halves_set(&stage->step, ref, contact_step_half(op, ref, row_load(x, ref), row_load(g, ref), alpha, p));
    }
#else
    (void)op, (void)x, (void)g, (void)alpha, (void)p;
#endif
    return stage->begin;
}

// clang-format off
#define SAND_FOR_STEPS(w, i, op, x, g, alpha, p) \
    for (Cursor cursor_ = cursor_begin(w, (op)->n); cursor_next(w, &cursor_, NULL);) \
        for (Stage stage_ = stage_begin(cursor_.begin); stage_.begin < cursor_.end; stage_store(&stage_, op)) \
            for (Index tile_ = stage_halve(&stage_, op, x, g, alpha, p), once_ = 1; once_; once_ = 0) \
                _Pragma("omp simd") for (Index i = tile_; i < tile_ + SAND_LANES; i++)
#define SAND_FOR_IMPULSES(w, i, op, sum) \
    for (Cursor cursor_ = cursor_begin(w, (op)->n); cursor_next(w, &cursor_, sum);) \
        for (Stage stage_ = stage_begin(cursor_.begin); stage_.begin < cursor_.end; stage_store(&stage_, op)) \
            for (Index tile_ = stage_.begin, once_ = 1; once_; once_ = 0) \
                _Pragma("omp simd") for (Index i = tile_; i < tile_ + SAND_LANES; i++)
#define SAND_FOR_GRADIENTS_IMPULSES(w, i, op, from, sum) \
    for (Cursor cursor_ = cursor_begin(w, (op)->n); cursor_next(w, &cursor_, sum);) \
        for (Stage stage_ = stage_begin(cursor_.begin); stage_.begin < cursor_.end; stage_store(&stage_, op)) \
            for (Tile fetched_ = tile_before(stage_.begin); \
                 tile_fetch(&fetched_, op, from, fetched_.begin + SAND_LANES, stage_.begin + SAND_LANES);) \
                for (Index tile_ = fetched_.begin, once_ = 1; once_; once_ = 0) \
                    _Pragma("omp simd") for (Index i = tile_; i < tile_ + SAND_LANES; i++)
#define SAND_STORE_IMPULSE(op, ref, r) stage_impulse(&stage_, op, ref, r)

#define SAND_FOR_GRADIENTS_AT(w, i, op, from, x, sum) \
    for (Cursor cursor_ = cursor_begin(w, (op)->n); cursor_next(w, &cursor_, sum);) \
        for (Tile fetched_ = tile_before(cursor_.begin); \
             tile_fetch(&fetched_, op, from, fetched_.begin + SAND_LANES, cursor_.end);) \
            for (Index tile_ = tile_halve(&fetched_, op, x), once_ = 1; once_; once_ = 0) \
                _Pragma("omp simd") for (Index i = tile_; i < tile_ + SAND_LANES; i++)
#define SAND_FOR_GRADIENTS(w, i, op, from, sum) \
    for (Cursor cursor_ = cursor_begin(w, (op)->n); cursor_next(w, &cursor_, sum);) \
        for (Tile fetched_ = tile_before(cursor_.begin); \
             tile_fetch(&fetched_, op, from, fetched_.begin + SAND_LANES, cursor_.end);) \
            for (Index tile_ = fetched_.begin, once_ = 1; once_; once_ = 0) \
                _Pragma("omp simd") for (Index i = tile_; i < tile_ + SAND_LANES; i++)
// clang-format on
#define SAND_GRADIENT(op, ref) row_load(fetched_.gradient, contact_ref_make((ref).lane, 0))
#if SAND_HALVED_CONES
#define SAND_STEP(op, ref, x, g, alpha, p) contact_step_rest(op, ref, halves_at(&stage_.step, ref), p)
#define SAND_RESIDUAL(op, ref, x, g) contact_residual_rest(op, ref, x, halves_at(&fetched_.residual, ref))
#else
#define SAND_STEP(op, ref, x, g, alpha, p) contact_step(op, ref, x, g, alpha, p)
#define SAND_RESIDUAL(op, ref, x, g) contact_residual(op, ref, x, g)
#endif
