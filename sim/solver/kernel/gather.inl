// The first half of the product: push, from impulses to the velocities of bodies. See operator.inl.

// Makes the impulse of a block known to the next push.
SAND_INLINE void block_publish(const Op *op, At at, Row r) {
    Vec g = block_impulse(op, at, r);
    four_write(op->impulse + 4 * at_block(at), g.x, g.y, g.z, 0);
}

// The same for one that a vector holds as well, and where a push finds those of that vector.
SAND_INLINE void block_publish_stored(const Op *op, At at, Row r) {
    if (!SAND_FOURS) block_publish(op, at, r);
}
SAND_INLINE const real *published(const Op *op, const real *x) { return SAND_FOURS ? x : op->impulse; }

// Impulse and turning impulse on a body. The turning one is kept as (z, x, y): a cross product by fours ends in a
// turn of its components, which is left to the end of the sum.
typedef struct Sums {
    Four f, t;
} Sums;

SAND_INLINE Sums sums_zero(void) {
    Sums s = {four_zero(), four_zero()};
    return s;
}

// Those of all mates.
SAND_INLINE Sums sums_together(Sums s) {
    s.f = four_together(s.f), s.t = four_together(s.t);
    return s;
}

// a x b, still to be turned
SAND_INLINE Four four_cross(Four a, Four b) { return four_mul_sub(a, four_turned(b), four_mul(four_turned(a), b)); }

// Where a push finds impulses: fours; or, where they are to be made, what they are made of.
typedef struct Source {
    const real *impulse;
    Index numbers; // from one impulse to the next
#if SAND_FOURS
    const real *pair;
    real alpha;
    int p; // P_MEAN or P_DIAGONAL
#endif
} Source;

// The impulse of a block. A made one is a projected gradient step: x and g lie side by side, with the friction and the
// inverse of the block as their fourth numbers. Both bodies of a contact make it, which costs less than to write it down
// for them.
SAND_INLINE Four source_impulse(const Op *op, Source from, bool made, At at) {
#if SAND_FOURS
    if (made) {
        Four x = four_load(from.pair + 8 * at_block(at)), g = four_load(from.pair + 8 * at_block(at) + 4);
        at.mu = four_last(x), at.inverse = four_last(g);
        Vec z = block_step(op, at, vec_of_four(x), vec_of_four(g), from.alpha, op->p[from.p]);
        return four_make(z.x, z.y, z.z, 0);
    }
#endif
    Four g = four_load(from.impulse + from.numbers * at_block(at));
    return (void)op, (void)made, SAND_FOURS ? four_with_last(g, 0) : g;
}

// Adds the impulse g of a block to the sums of a body, which is its a (side -1) or b (side +1).
SAND_INLINE Sums block_gather(const Op *op, At at, Four g, int side, real radius, Sums s) {
    s.f = side < 0 ? four_sub(s.f, g) : four_add(s.f, g);
#if SAND_ROWS == 3 && SAND_RADIAL
    // Both arms point to the other body, so it is -arm (n x g) on either side.
    Four n = block_spoke(op, at);
    s.t = four_madd(s.t, -(radius + four_last(n)), four_cross(n, g));
#elif SAND_RADIAL
    (void)op, (void)at, (void)radius; // a normal impulse on a sphere does not turn it
#else
    (void)radius;
    Four c = four_cross(four_load_fixed((side < 0 ? op->spoke_a : op->spoke_b) + 4 * at_block(at)), g);
    s.t = side < 0 ? four_sub(s.t, c) : four_add(s.t, c);
#endif
    return s;
}

SAND_INLINE Vec body_turn(const Op *op, Index k, Vec t) {
#if SAND_RADIAL
    return vec_scale(op->inverse_inertia[k], t);
#else
    const real *m = &op->inverse_inertia[6 * k];
    return vec_make(m[0] * t.x + m[3] * t.y + m[4] * t.z, m[3] * t.x + m[1] * t.y + m[5] * t.z,
                    m[4] * t.x + m[5] * t.y + m[2] * t.z);
#endif
}

// out[k] = base + M^-1 (f, t) for body k, where base is what a push begins with, which does not change.
SAND_INLINE void body_write(const Op *op, const Body *base, Body *out, Index k, Sums s) {
    Four t = four_turned(s.t);
    four_store(out[k].v, four_madd(four_load_fixed(base->v), SAND_FIXED(&op->inverse_mass[k]), s.f));
#if SAND_RADIAL
    Four w = four_madd(four_load_fixed(base->w), SAND_FIXED(&op->inverse_inertia[k]), t);
    four_store(out[k].w, four_with_last(w, SAND_FIXED(&op->free[k].w[3])));
#else
    real turning[4];
    four_store(turning, t);
    Vec w = body_turn(op, k, vec_of(turning));
    out[k].w[0] = base->w[0] + w.x, out[k].w[1] = base->w[1] + w.y, out[k].w[2] = base->w[2] + w.z;
#endif
}

// Sums that a push makes as it goes, of impulses x: x'Nx, r'x and x'Px.
enum { PUSH_XNX, PUSH_RX, PUSH_XPX, PUSH_SUMS };

#if SAND_FOURS
// The share of one contact: the stabilisation term, and what a boundary as its b does. The rest of r'x is added up body by
// body.
SAND_INLINE void block_add(const Op *op, At at, Four impulse, Sum *sum) {
    Vec x = vec_of_four(impulse);
    Index b = SAND_FIXED(&op->b[at_block(at)]);
    SAND_ADD_ONE(*sum, PUSH_RX, vec_dot(x, block_normal(op, at)) * block_bias(op, at, block_half(op, at)));
    SAND_ADD_ONE(*sum, PUSH_XPX, block_weight(op, at) * vec_dot(x, x));
    if (b < op->dynamic_count) return;
    Vec u = vec_of_four(four_load_fixed(op->free[b].v));
#if !SAND_RADIAL
    u = vec_add(u, vec_cross(vec_of_four(four_load_fixed(op->free[b].w)), block_arm_b(op, at)));
#endif
    SAND_ADD_ONE(*sum, PUSH_RX, vec_dot(x, u));
}
#else
SAND_INLINE void block_add(const Op *op, At at, Four impulse, Sum *sum) { (void)op, (void)at, (void)impulse, (void)sum; }
#endif

// Entries e0, e0 + SAND_MATES, ... before e1 of the contacts of body k, counting those where it is a and then those where
// it is b. With a `sum` each contact is added to it once.
SAND_INLINE Sums body_gather(const Op *op, Source from, bool made, Index k, int e0, int e1, Sum *sum) {
    int begin = SAND_FIXED(&op->first[k]), owned = SAND_FIXED(&op->first[k + 1]) - begin;
    int other = SAND_FIXED(&op->second[k]) - owned;
    real radius = SAND_FIXED(&op->free[k].w[3]);
    Sums s = sums_zero();
#if SAND_MATES > 1
    SAND_UNROLL(1)
    for (int e = e0; e < e1; e += SAND_GATHERS * SAND_MATES) { // one loop for both kinds, so that mates stay side by side
        At at[SAND_GATHERS]; // all are on their way at once; the first stands for those that are not there
        Four g[SAND_GATHERS];
        SAND_UNROLL(SAND_GATHERS)
        for (int j = 0; j < SAND_GATHERS; j++) {
            int d = e + j * SAND_MATES < e1 ? e + j * SAND_MATES : e;
            at[j] = at_of(op, d < owned ? begin + d : SAND_FIXED(&op->list[other + d]));
            g[j] = source_impulse(op, from, made, at[j]);
        }
        SAND_UNROLL(SAND_GATHERS)
        for (int j = 0; j < SAND_GATHERS; j++) {
            int d = e + j * SAND_MATES;
            if (d >= e1) continue;
            s = block_gather(op, at[j], g[j], d < owned ? -1 : +1, radius, s);
            if (sum && d < owned) block_add(op, at[j], g[j], sum);
        }
    }
#else
    int middle = e1 < owned ? e1 : owned;
    for (int e = e0; e < middle; e++) {
        At at = at_of(op, begin + e);
        Four g = source_impulse(op, from, made, at);
        s = block_gather(op, at, g, -1, radius, s);
        if (sum) block_add(op, at, g, sum);
    }
    for (int e = e0 > owned ? e0 : owned; e < e1; e++) {
        At at = at_of(op, op->list[other + e]);
        s = block_gather(op, at, source_impulse(op, from, made, at), +1, radius, s);
    }
#endif
    return s;
}

SAND_INLINE int body_contacts(const Op *op, Index k) {
    return SAND_FIXED(&op->first[k + 1]) - SAND_FIXED(&op->first[k]) + SAND_FIXED(&op->second[k + 1]) -
           SAND_FIXED(&op->second[k]);
}

#include "sim/solver/kernel/operator_matrix.inl"

// Bodies of many contacts are summed in pieces: first the pieces, then the bodies.
SAND_INLINE void gather_pieces(Worker *w, const Op *SAND_RESTRICT op, Source from, bool made) {
    SAND_TOGETHER(w, p, mate, op->piece_count) {
        int j = op->piece_hub[p], k = op->hub[j];
        int e0 = (int)(p - op->hub_piece[j]) * SAND_HUB, e1 = e0 + SAND_HUB, all = body_contacts(op, k);
        Sums s = sums_together(body_gather(op, from, made, k, e0 + mate, e1 < all ? e1 : all, NULL));
        if (mate > 0) continue;
        four_store(op->piece_sum[p].v, s.f);
        four_store(op->piece_sum[p].w, s.t);
    }
}

SAND_HOT void push_hubs(Worker *w, const Op *SAND_RESTRICT op, const Body *base, Index stride, Body *out) {
    SAND_EACH(w, j, op->hub_count) {
        Sums s = sums_zero();
        for (int p = op->hub_piece[j]; p < op->hub_piece[j + 1]; p++) {
            s.f = four_add(s.f, four_load(op->piece_sum[p].v));
            s.t = four_add(s.t, four_load(op->piece_sum[p].w));
        }
        body_write(op, base + stride * op->hub[j], out, op->hub[j], s);
    }
}

// All others.
SAND_INLINE void gather_bodies(Worker *w, const Op *SAND_RESTRICT op, Source from, bool made, const Body *SAND_RESTRICT base,
                               Index stride, Body *SAND_RESTRICT out) {
    SAND_TOGETHER(w, k, mate, op->dynamic_count) {
        int all = body_contacts(op, k);
        if (all > SAND_HUB) continue;
        Sums s = sums_together(body_gather(op, from, made, k, mate, all, NULL));
        if (mate == 0) body_write(op, base + stride * k, out, k, s);
    }
}

SAND_HOT void push_pieces(Worker *w, const Op *SAND_RESTRICT op, Source from) { gather_pieces(w, op, from, false); }
SAND_HOT void push_bodies(Worker *w, const Op *SAND_RESTRICT op, Source from, const Body *SAND_RESTRICT base, Index stride,
                          Body *SAND_RESTRICT out) {
    gather_bodies(w, op, from, false, base, stride, out);
}

// When all pieces are there: the bodies they are of.
SAND_TEXT void push_end(Worker *w, const Op *op, const Body *base, Index stride, Body *out) {
    sand_barrier(w);
    if (!op->hub_count) return;
    push_hubs(w, op, base, stride, out);
    sand_barrier(w);
}

// out = base + M^-1 D x for all bodies, where x is published at `impulse`, with so many numbers from block to block; begins
// and ends with a barrier. base is op->free, or op->still for the product alone.
SAND_TEXT void push_strided(Worker *w, const Op *op, const real *impulse, Index numbers, const Body *base, Body *out) {
    Index stride = base == op->still ? 0 : 1; // one body at rest stands for all
    Source from = {0};
    from.impulse = impulse, from.numbers = numbers;
    sand_barrier(w);
    if (op->is_matrix) {
        matrix_push(w, op, impulse, base, out);
        return;
    }
    if (op->hub_count) push_pieces(w, op, from);
    push_bodies(w, op, from, base, stride, out);
    push_end(w, op, base, stride, out);
}
SAND_TEXT void push(Worker *w, const Op *op, const real *impulse, const Body *base, Body *out) {
    push_strided(w, op, impulse, 4, base, out);
}

// Publishes all of x and pushes it.
SAND_TEXT void push_vector(Worker *w, const Op *op, const real *x, const Body *base, Body *out) {
    if (!SAND_FOURS) SAND_FOR(w, i, op->n) {
            At at = SAND_AT(op, i);
            block_publish(op, at, row_load(x, at));
        }
    push(w, op, published(op, x), base, out);
}

#if SAND_FOURS
SAND_HOT void push_trial_pieces(Worker *w, const Op *SAND_RESTRICT op, Source from) { gather_pieces(w, op, from, true); }
SAND_HOT void push_trial_bodies(Worker *w, const Op *SAND_RESTRICT op, Source from, const Body *SAND_RESTRICT base,
                                Body *SAND_RESTRICT out) {
    gather_bodies(w, op, from, true, base, 1, out);
}

// op->body = op->free + M^-1 D z for the trial points z, which nobody wrote down. What they are made of was written before
// a barrier; ends with one.
SAND_TEXT void push_trial(Worker *w, const Op *op, const real *pair, real alpha, int p) {
    Source from = {NULL, 0, pair, alpha, p};
    if (op->hub_count) push_trial_pieces(w, op, from);
    push_trial_bodies(w, op, from, op->free, op->body);
    push_end(w, op, op->free, 1, op->body);
}

// op->body = op->free + M^-1 D x and the sums of x, where no body is a hub. With the sums of a body's impulses at hand, x'Nx
// and what x does to the free velocities are a few products, so that nobody need pull. Begins and ends with a barrier.
SAND_HOT void push_adding(Worker *w, const Op *SAND_RESTRICT op, const real *x, double *total) {
    Source from = {0};
    from.impulse = x, from.numbers = 4;
    Sum sum;
    sand_barrier(w);
    sum_open(w, &sum, PUSH_SUMS, 0);
    SAND_TOGETHER_SUM(w, k, mate, op->dynamic_count, &sum) {
        Sums s = sums_together(body_gather(op, from, false, k, mate, body_contacts(op, k), &sum));
        if (mate > 0) continue;
        Vec f = vec_of_four(s.f), t = vec_of_four(four_turned(s.t));
        const Body *free = &op->free[k];
        SAND_ADD_ONE(sum, PUSH_XNX, SAND_FIXED(&op->inverse_mass[k]) * vec_dot(f, f) + vec_dot(t, body_turn(op, k, t)));
        SAND_ADD_ONE(sum, PUSH_RX, vec_dot(f, vec_of_four(four_load_fixed(free->v))));
        SAND_ADD_ONE(sum, PUSH_RX, vec_dot(t, vec_of_four(four_load_fixed(free->w))));
        body_write(op, free, op->body, k, s);
    }
    sum_total(w, &sum);
    for (int k = 0; k < PUSH_SUMS; k++) total[k] = sum.total[k];
}
#endif
