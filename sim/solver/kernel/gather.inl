// SPDX-License-Identifier: MIT
// gather_bodies: v = v_free + M^-1 D x, from the impulses of contacts to the velocities of bodies; the first half of the
// product (operator.inl). Each body sums the impulses of its own contacts, so there are no atomics and the order of the sum
// is fixed.
//
//   low degree   one worker (SAND_THREADS_PER_BODY on a GPU) walks the contacts of a body
//   high degree  more than SAND_HIGH_DEGREE contacts: they are cut into segments, which different workers sum, and the
//                segments of a body are added up in their order after a barrier
//   ghosts       bodies of other ranks: their velocities come from there, while a rank gathers the bodies that nobody else
//                waits for
#pragma once
#include "sim/solver/kernel/ghosts.inl"
#include "sim/solver/kernel/operator.inl"

#if SAND_STORED_TORQUES
// n x g in the order (z, x, y), as vec4_cross has it.
SAND_INLINE Vec contact_twist(const Op *op, ContactRef ref, Vec g) {
    Vec n = contact_normal(op, ref);
    return vec_make(n.x * g.y - n.y * g.x, n.y * g.z - n.z * g.y, n.z * g.x - n.x * g.z);
}
#endif

// Stores the world impulse of a contact where gather_bodies reads it. Loops over tiles use SAND_STORE_IMPULSE.
SAND_INLINE void store_impulse(const Op *op, ContactRef ref, Row r) {
    real *to = op->impulse + IMPULSE_SIZE * contact_index(ref);
    Vec g = contact_impulse(op, ref, r);
#if SAND_STORED_TORQUES
    Vec t = contact_twist(op, ref, g);
    vec4_write(to, g.x, g.y, g.z, contact_constant(op, ref, CONTACT_LENGTH_A));
    vec4_write(to + 4, t.x, t.y, t.z, contact_constant(op, ref, CONTACT_LENGTH_B));
#else
    vec4_write(to, g.x, g.y, g.z, 0);
#endif
#if SAND_ROLLING
    Vec t = contact_torque(op, ref, r);
    vec4_write(to + 4, t.x, t.y, t.z, 0);
#endif
}
#if !SAND_LAYOUT_AOS
SAND_INLINE void stage_impulse(Stage *stage, const Op *op, ContactRef ref, Row r) {
    Vec g = contact_impulse(op, ref, r);
    lanes_set(stage->force, ref.lane, g);
#if SAND_STORED_TORQUES
    lanes_set(stage->torque, ref.lane, contact_twist(op, ref, g));
#elif SAND_ROLLING
    lanes_set(stage->torque, ref.lane, contact_torque(op, ref, r));
#endif
}
#endif

// The same for a row that is stored in vector x as well; gather_bodies then finds it at stored_impulses(op, x).
#define SAND_STORE_IMPULSE_BESIDE(op, ref, r) \
    do { \
        if (!SAND_VEC4_ROWS) SAND_STORE_IMPULSE(op, ref, r); \
    } while (0)
SAND_INLINE const real *stored_impulses(const Op *op, const real *x) { return SAND_VEC4_ROWS ? x : op->impulse; }

// Impulse f and angular impulse t on a body. t is kept as (z, x, y): the cross product of two Vec4 ends in a rotation of its
// components, which is left to the end of the sum.
typedef struct BodyImpulse {
    Vec4 f, t;
} BodyImpulse;

SAND_INLINE BodyImpulse body_impulse_zero(void) {
    BodyImpulse s = {vec4_zero(), vec4_zero()};
    return s;
}

// Adds up the workers of one body.
SAND_INLINE BodyImpulse body_impulse_over_lanes(BodyImpulse s) {
    s.f = vec4_over_lanes(s.f);
    s.t = vec4_over_lanes(s.t);
    return s;
}

// a x b with its components in the order (z, x, y).
SAND_INLINE Vec4 vec4_cross(Vec4 a, Vec4 b) { return vec4_mul_sub(a, vec4_yzx(b), vec4_mul(vec4_yzx(a), b)); }

// Where gather_bodies finds impulses: stored, or as trial points of a projected gradient step that are computed on the fly.
typedef struct Source {
    const real *impulse;
    Index spacing; // numbers from one impulse to the next
#if SAND_VEC4_ROWS
    const real *pair;
    real alpha;
    int p; // P_UNIFORM or P_DIAGONAL
#endif
} Source;

// The impulse of a contact. `trial`: a projected gradient step from x and g, which lie side by side with mu and the inverse
// diagonal of the contact as their fourth numbers. Both bodies of a contact compute it, which costs less than storing it for
// them.
SAND_INLINE Vec4 source_impulse(const Op *op, Source from, bool trial, ContactRef ref) {
#if SAND_VEC4_ROWS
    if (trial) {
        Vec4 x = vec4_load(from.pair + 8 * contact_index(ref)), g = vec4_load(from.pair + 8 * contact_index(ref) + 4);
        ref.mu = vec4_last(x);
        ref.inverse_diagonal = vec4_last(g);
        Vec z = contact_step(op, ref, vec_of_vec4(x), vec_of_vec4(g), from.alpha, op->p[from.p]);
        return vec4_make(z.x, z.y, z.z, 0);
    }
#endif
    Vec4 g = vec4_load(from.impulse + from.spacing * contact_index(ref));
    return (void)op, (void)trial, SAND_VEC4_ROWS ? vec4_with_last(g, 0) : g;
}

// Adds the impulse g of a contact, stored at `impulse`, to the sums of a body, which is its a (side -1) or b (side +1).
SAND_INLINE BodyImpulse gather_contact(const Op *op, const real *impulse, ContactRef ref, Vec4 g, int side, real radius,
                                       BodyImpulse s) {
    (void)impulse;
#if SAND_JOINTS
    // The fourth number of an arm is 1 in an angular block, which exerts no force: there the impulse is the torque.
    Vec4 arm = vec4_load_fixed((side < 0 ? op->arm_a_record : op->arm_b_record) + 4 * contact_index(ref));
    real angular = vec4_last(arm), sign = side < 0 ? (real)-1 : (real)1;
    s.f = vec4_madd(s.f, sign * (1 - angular), g);
    s.t = vec4_madd(vec4_madd(s.t, sign, vec4_cross(arm, g)), sign * angular, vec4_yzx(vec4_yzx(g)));
    return (void)radius, s;
#else
    s.f = side < 0 ? vec4_sub(s.f, g) : vec4_add(s.f, g);
    // Both arms of spheres point to the other body, so the torque is -arm (n x g) on either side.
#if SAND_STORED_TORQUES
    Vec4 c = vec4_load(impulse + IMPULSE_SIZE * contact_index(ref) + 4);
    s.t = vec4_sub(s.t, (side < 0 ? vec4_last(g) : vec4_last(c)) * c);
    (void)op, (void)radius;
#elif SAND_ROWS == 3 && SAND_RADIAL
    Vec4 n = contact_record(op, ref);
    s.t = vec4_madd(s.t, -(radius + vec4_last(n)), vec4_cross(n, g));
#elif SAND_RADIAL
    (void)op, (void)ref, (void)radius; // a normal impulse exerts no torque on a sphere
#else
    (void)radius;
    Vec4 c = vec4_cross(vec4_load_fixed((side < 0 ? op->arm_a_record : op->arm_b_record) + 4 * contact_index(ref)), g);
    s.t = side < 0 ? vec4_sub(s.t, c) : vec4_add(s.t, c);
#endif
    return s;
#endif
}

// Adds the torque of a contact, which follows its impulse, to the sums of a body.
SAND_INLINE BodyImpulse gather_torque(const real *impulse, ContactRef ref, int side, BodyImpulse s) {
#if SAND_ROLLING
    Vec4 torque = vec4_load(impulse + IMPULSE_SIZE * contact_index(ref) + 4);
    s.t = vec4_madd(s.t, side < 0 ? (real)-1 : (real)1, vec4_yzx(vec4_yzx(torque)));
#endif
    return (void)impulse, (void)ref, (void)side, s;
}

// J^-1 t of body k.
SAND_INLINE Vec body_turn(const Op *op, Index k, Vec t) {
#if SAND_RADIAL
    return vec_scale(op->inverse_inertia[k], t);
#else
    const real *m = &op->inverse_inertia[6 * k];
    return vec_make(m[0] * t.x + m[3] * t.y + m[4] * t.z, m[3] * t.x + m[1] * t.y + m[5] * t.z,
                    m[4] * t.x + m[5] * t.y + m[2] * t.z);
#endif
}

// out[k] = base + M^-1 (f, t) for body k; base does not change during a gather.
SAND_INLINE void body_write(const Op *op, const Body *base, Body *out, Index k, BodyImpulse s) {
    Vec4 t = vec4_yzx(s.t);
    vec4_store(out[k].v, vec4_madd(vec4_load_fixed(base->v), SAND_FIXED(&op->inverse_mass[k]), s.f));
#if SAND_RADIAL
    Vec4 w = vec4_madd(vec4_load_fixed(base->w), SAND_FIXED(&op->inverse_inertia[k]), t);
    vec4_store(out[k].w, vec4_with_last(w, SAND_FIXED(&op->free[k].w[3])));
#else
    Vec w = body_turn(op, k, vec_of_vec4(t));
    out[k].w[0] = base->w[0] + w.x;
    out[k].w[1] = base->w[1] + w.y;
    out[k].w[2] = base->w[2] + w.z;
#endif
}

// Sums that a gather computes on its way, of impulses x: x'Nx, r'x and x'Px.
enum { GATHER_XNX, GATHER_RX, GATHER_XPX, GATHER_SUMS };

#if SAND_VEC4_ROWS
// The share of one contact in r'x: the stabilization term, and the motion of a boundary as its b. The rest of r'x is added
// up body by body.
SAND_INLINE void contact_add_sums(const Op *op, ContactRef ref, Vec4 impulse, Sum *sum) {
    Vec x = vec_of_vec4(impulse);
    Index b = SAND_FIXED(&op->b[contact_index(ref)]);
    SAND_ADD_ONE(*sum, GATHER_RX, vec_dot(x, contact_normal(op, ref)) * contact_bias(op, ref));
    SAND_ADD_ONE(*sum, GATHER_XPX, contact_diagonal(op, ref) * vec_dot(x, x));
    if (b < op->dynamic_count) return;
    Vec u = vec_of_vec4(vec4_load_fixed(op->free[b].v));
#if !SAND_RADIAL
    u = vec_add(u, vec_cross(vec_of_vec4(vec4_load_fixed(op->free[b].w)), contact_arm_b(op, ref)));
#endif
    SAND_ADD_ONE(*sum, GATHER_RX, vec_dot(x, u));
}
#else
SAND_INLINE void contact_add_sums(const Op *op, ContactRef ref, Vec4 impulse, Sum *sum) {
    (void)op, (void)ref, (void)impulse, (void)sum;
}
#endif

// Sums the entries e0, e0 + SAND_THREADS_PER_BODY, ... before e1 of the contacts of body k, counting first those where it is
// a, then those where it is b. With a `sum`, each contact is added to it once.
SAND_INLINE BodyImpulse body_gather(const Op *op, Source from, bool trial, Index k, int e0, int e1, Sum *sum) {
    int begin = SAND_FIXED(&op->first[k]), owned = body_first_end(op, k) - begin;
    int other = SAND_FIXED(&op->second[k]) - owned;
    real radius = SAND_FIXED(&op->free[k].w[3]);
    BodyImpulse s = body_impulse_zero();
#if SAND_THREADS_PER_BODY > 1
    SAND_UNROLL(1)
    // One loop for both kinds of contact, so that the lanes of a body stay together.
    for (int e = e0; e < e1; e += SAND_GATHERS_AT_ONCE * SAND_THREADS_PER_BODY) {
        // All loads are in flight at once; the first contact stands in for missing ones.
        ContactRef ref[SAND_GATHERS_AT_ONCE];
        Vec4 g[SAND_GATHERS_AT_ONCE];
        SAND_UNROLL(SAND_GATHERS_AT_ONCE)
        for (int j = 0; j < SAND_GATHERS_AT_ONCE; j++) {
            int d = e + j * SAND_THREADS_PER_BODY < e1 ? e + j * SAND_THREADS_PER_BODY : e;
            ref[j] = contact_ref(op, d < owned ? begin + d : SAND_FIXED(&op->list[other + d]));
            g[j] = source_impulse(op, from, trial, ref[j]);
        }
        SAND_UNROLL(SAND_GATHERS_AT_ONCE)
        for (int j = 0; j < SAND_GATHERS_AT_ONCE; j++) {
            int d = e + j * SAND_THREADS_PER_BODY;
            if (d >= e1) continue;
            s = gather_contact(op, from.impulse, ref[j], g[j], d < owned ? -1 : +1, radius, s);
            s = gather_torque(from.impulse, ref[j], d < owned ? -1 : +1, s);
            if (sum && d < owned) contact_add_sums(op, ref[j], g[j], sum);
        }
    }
#else
    int middle = e1 < owned ? e1 : owned;
    for (int e = e0; e < middle; e++) {
        ContactRef ref = contact_ref(op, begin + e);
        Vec4 g = source_impulse(op, from, trial, ref);
        s = gather_contact(op, from.impulse, ref, g, -1, radius, s);
        s = gather_torque(from.impulse, ref, -1, s);
        if (sum) contact_add_sums(op, ref, g, sum);
    }
    for (int e = e0 > owned ? e0 : owned; e < e1; e++) {
        ContactRef ref = contact_ref(op, op->list[other + e]);
        s = gather_contact(op, from.impulse, ref, source_impulse(op, from, trial, ref), +1, radius, s);
        s = gather_torque(from.impulse, ref, +1, s);
    }
#endif
    return s;
}

// The degree of body k: its number of contacts.
SAND_INLINE int body_degree(const Op *op, Index k) {
    return body_first_end(op, k) - SAND_FIXED(&op->first[k]) + SAND_FIXED(&op->second[k + 1]) - SAND_FIXED(&op->second[k]);
}

// The same in the whole problem: a rank holds only some contacts of a ghost.
SAND_INLINE int body_whole_degree(const Op *op, Index k) {
#if SAND_RANKS
    if (op->ghosts) return op->ghosts->degree[k];
#endif
    return body_degree(op, k);
}

#include "sim/solver/kernel/operator_matrix.inl"

// High degree, first half: the sums of all segments.
SAND_INLINE void gather_segments(Worker *w, const Op *SAND_RESTRICT op, Source from, bool trial) {
    SAND_FOR_BODIES(w, p, lane, op->segment_count) {
        int j = op->segment_body[p], k = op->high_degree[j];
        int e0 = (int)(p - op->high_degree_segment[j]) * SAND_HIGH_DEGREE, e1 = e0 + SAND_HIGH_DEGREE,
            all = body_degree(op, k);
        BodyImpulse s = body_impulse_over_lanes(body_gather(op, from, trial, k, e0 + lane, e1 < all ? e1 : all, NULL));
        if (lane > 0) continue;
        vec4_store(op->segment_sum[p].v, s.f);
        vec4_store(op->segment_sum[p].w, s.t);
    }
}

// High degree, second half: adds up the segments of each body.
SAND_HOT void gather_high_degree(Worker *w, const Op *SAND_RESTRICT op, const Body *base, Index stride, Body *out) {
    SAND_FOR_EACH(w, j, op->high_degree_count) {
        BodyImpulse s = body_impulse_zero();
        for (int p = op->high_degree_segment[j]; p < op->high_degree_segment[j + 1]; p++) {
            s.f = vec4_add(s.f, vec4_load(op->segment_sum[p].v));
            s.t = vec4_add(s.t, vec4_load(op->segment_sum[p].w));
        }
        body_write(op, base + stride * op->high_degree[j], out, op->high_degree[j], s);
    }
}

// The body that the gather visits e-th.
SAND_INLINE Index gathered_body(const Op *op, Index e) {
#if SAND_GATHER_ORDER
    return op->order[e];
#else
    return (void)op, e;
#endif
}

// Low degree, of the bodies from `first` to `end` - 1.
SAND_INLINE void gather_low_degree(Worker *w, const Op *SAND_RESTRICT op, Source from, bool trial, Index first, Index end,
                                   const Body *SAND_RESTRICT base, Index stride, Body *SAND_RESTRICT out) {
    SAND_FOR_BODIES(w, e, lane, end - first) {
        Index k = gathered_body(op, first + e);
        int all = body_degree(op, k);
        if (all > SAND_HIGH_DEGREE) continue;
        BodyImpulse s = body_impulse_over_lanes(body_gather(op, from, trial, k, lane, all, NULL));
        if (lane == 0) body_write(op, base + stride * k, out, k, s);
    }
}

SAND_HOT void gather_segments_stored(Worker *w, const Op *SAND_RESTRICT op, Source from) {
    gather_segments(w, op, from, false);
}
SAND_HOT void gather_low_degree_stored(Worker *w, const Op *SAND_RESTRICT op, Source from, Index first, Index end,
                                       const Body *SAND_RESTRICT base, Index stride, Body *SAND_RESTRICT out) {
    gather_low_degree(w, op, from, false, first, end, base, stride, out);
}

// Waits for the segments, then finishes the high-degree bodies, and the ghosts.
SAND_KERNEL void gather_bodies_end(Worker *w, const Op *op, const Body *base, Index stride, Body *out) {
    sand_barrier(w);
    if (op->high_degree_count) {
        gather_high_degree(w, op, base, stride, out);
        sand_barrier(w);
    }
    exchange_ghosts(w, op, out);
}

#if SAND_RANKS
// All of it for a rank of several without high-degree bodies: what others wait for is gathered first, and on its way while
// the rest is.
SAND_KERNEL void gather_around_exchange(Worker *w, const Op *op, Source from, const Body *base, Index stride, Body *out) {
    const Ghosts *g = op->ghosts;
    gather_low_degree_stored(w, op, from, g->first_own, g->first_inner, base, stride, out);
    gather_low_degree_stored(w, op, from, g->end_inner, g->end_own, base, stride, out);
    sand_barrier(w);
    send_ghosts(w, op, out);
    gather_low_degree_stored(w, op, from, g->first_inner, g->end_inner, base, stride, out);
    sand_barrier(w);
    receive_ghosts(w, op, out);
}
#endif

#if SAND_JOINTS
// The springs of all blocks, behind the bodies.
SAND_KERNEL void gather_yields(Worker *w, const Op *op, const real *impulse, Body *out) {
    SAND_FOR_EACH(w, i, op_contacts_end(op)) {
        ContactRef ref = contact_ref(op, i);
        Vec y = joint_yield(op, ref, row_force(contact_row(op, ref, vec_of(impulse + IMPULSE_SIZE * contact_index(ref)))));
        vec4_write(out[op->body_count + i].v, y.x, y.y, y.z, 0);
    }
}
#endif

// out = base + M^-1 D x for all bodies, with the impulses x stored at `impulse`, `spacing` numbers apart. base is op->free,
// or op->still for the product alone. Begins and ends with a barrier.
SAND_KERNEL void gather_bodies_strided(Worker *w, const Op *op, const real *impulse, Index spacing, const Body *base,
                                       Body *out) {
    Index stride = base == op->still ? 0 : 1; // op->still is one body that stands for all
    Source from = {0};
    from.impulse = impulse;
    from.spacing = spacing;
    sand_barrier(w);
    if (op->is_matrix) {
        matrix_gather(w, op, impulse, base, out);
        return;
    }
#if SAND_JOINTS
    gather_yields(w, op, impulse, out);
#endif
#if SAND_RANKS
    if (op->ghosts && !op->high_degree_count) {
        gather_around_exchange(w, op, from, base, stride, out);
        return;
    }
#endif
    if (op->high_degree_count) gather_segments_stored(w, op, from);
    gather_low_degree_stored(w, op, from, first_own_body(op), end_own_bodies(op), base, stride, out);
    gather_bodies_end(w, op, base, stride, out);
}
SAND_KERNEL void gather_bodies(Worker *w, const Op *op, const real *impulse, const Body *base, Body *out) {
    gather_bodies_strided(w, op, impulse, IMPULSE_SIZE, base, out);
}

// The same for a solver vector x, whose impulses are stored first.
SAND_KERNEL void gather_bodies_of(Worker *w, const Op *op, const real *x, const Body *base, Body *out) {
    if (!SAND_VEC4_ROWS) SAND_FOR_IMPULSES(w, i, op, NULL) {
            ContactRef ref = SAND_CONTACT(op, i);
            SAND_STORE_IMPULSE(op, ref, row_load(x, ref));
        }
    gather_bodies(w, op, stored_impulses(op, x), base, out);
}

#if SAND_VEC4_ROWS
SAND_HOT void gather_segments_trial(Worker *w, const Op *SAND_RESTRICT op, Source from) {
    gather_segments(w, op, from, true);
}
SAND_HOT void gather_low_degree_trial(Worker *w, const Op *SAND_RESTRICT op, Source from, const Body *SAND_RESTRICT base,
                                      Body *SAND_RESTRICT out) {
    gather_low_degree(w, op, from, true, first_own_body(op), end_own_bodies(op), base, 1, out);
}

// op->body = op->free + M^-1 D z for the trial points z, which are not stored. x and g were stored before the last barrier;
// ends with a barrier.
SAND_KERNEL void gather_bodies_trial(Worker *w, const Op *op, const real *pair, real alpha, int p) {
    Source from = {NULL, 0, pair, alpha, p};
    if (op->high_degree_count) gather_segments_trial(w, op, from);
    gather_low_degree_trial(w, op, from, op->free, op->body);
    gather_bodies_end(w, op, op->free, 1, op->body);
}

// op->body = op->free + M^-1 D x and the sums of x, for problems without high-degree bodies. With the summed impulses of a
// body at hand, x'Nx and the work of x on the free velocities are a few products, and no loop over the contacts is needed.
// Begins and ends with a barrier.
SAND_HOT void gather_bodies_summing(Worker *w, const Op *SAND_RESTRICT op, const real *x, double *total) {
    Source from = {0};
    from.impulse = x;
    from.spacing = 4;
    Sum sum;
    sand_barrier(w);
    sum_open(w, &sum, GATHER_SUMS, 0);
    SAND_FOR_BODIES_SUM(w, k, lane, op->dynamic_count, &sum) {
        BodyImpulse s = body_impulse_over_lanes(body_gather(op, from, false, k, lane, body_degree(op, k), &sum));
        if (lane > 0) continue;
        Vec f = vec_of_vec4(s.f), t = vec_of_vec4(vec4_yzx(s.t));
        const Body *free = &op->free[k];
        SAND_ADD_ONE(sum, GATHER_XNX, SAND_FIXED(&op->inverse_mass[k]) * vec_dot(f, f) + vec_dot(t, body_turn(op, k, t)));
        SAND_ADD_ONE(sum, GATHER_RX, vec_dot(f, vec_of_vec4(vec4_load_fixed(free->v))));
        SAND_ADD_ONE(sum, GATHER_RX, vec_dot(t, vec_of_vec4(vec4_load_fixed(free->w))));
        body_write(op, free, op->body, k, s);
    }
    sum_total(w, &sum);
    for (int k = 0; k < GATHER_SUMS; k++) total[k] = sum.total[k];
}
#endif
