// SPDX-License-Identifier: MIT
// Sweeps of blocks on a GPU: one warp sweeps the parts of a block one after the other (block_parts.h). The contacts of a
// tile share no moving body, so that each lane relaxes one of them.
//
// Contacts of spheres in world coordinates have arrays of their own, in the order of the parts, so that a warp reads memory
// from end to end; the bodies of a part are in shared memory while it is swept. The arrays are laid over the vectors of the
// method: the impulses of this pass and those of the last one take turns in the first three quarters of two of them.
//
//      vector 1   x | y | z | mu          vector 2   x | y | z | -          vector 3   normal, half the gap
#pragma once
#include "sim/solver/kernel/local_solve.inl"

#ifdef SAND_SPMD_CUDA

// The blocks of a color, one for each warp; neighbors go to different multiprocessors.
#define SAND_FOR_BLOCKS(w, q, n) \
    for (Index all_ = (n), q = (Index)(threadIdx.x / 32 * gridDim.x + blockIdx.x); q < all_; \
         q += (Index)(blockDim.x / 32 * gridDim.x))

SAND_INLINE int warp_lane(void) { return (int)(threadIdx.x % 32); }

SAND_INLINE real warp_sum(real v) {
    for (int s = 16; s; s >>= 1) v += __shfl_xor_sync(ALL_LANES, v, s);
    return v;
}

// The tiles of a part: a lane knows where two of them end. Those that are awake are left to be swept.
typedef struct PartTiles {
    int low, high;                  // ends of the lane's tiles, from the beginning of the part
    unsigned awake_low, awake_high; // bit t: tile t, tile 32 + t
} PartTiles;
SAND_INLINE PartTiles part_tiles(const Op *op, int begin, int tiles) {
    int lane = warp_lane();
    PartTiles t = {0, 0, tiles < 32 ? (1u << tiles) - 1 : ALL_LANES, tiles > 32 ? ALL_LANES >> (64 - tiles) : 0};
    if (lane < tiles) t.low = op->parts.tile_end[begin + lane];
    if (lane + 32 < tiles) t.high = op->parts.tile_end[begin + lane + 32];
    return t;
}
SAND_INLINE int tile_end(const PartTiles *p, int t) { return __shfl_sync(ALL_LANES, t < 32 ? p->low : p->high, t % 32); }

// A tile: contacts begin .. end-1 of a part. Below 0: there is none.
typedef struct TileRange {
    int tile, begin, end;
} TileRange;

// Takes the next tile that is awake.
SAND_INLINE TileRange next_tile(PartTiles *p, int begin) {
    TileRange r = {-1, 0, 0};
    if (p->awake_low) {
        r.tile = __ffs((int)p->awake_low) - 1;
        p->awake_low &= p->awake_low - 1;
    } else if (p->awake_high) {
        r.tile = 31 + __ffs((int)p->awake_high);
        p->awake_high &= p->awake_high - 1;
    }
    if (r.tile < 0) return r;
    r.begin = begin + (r.tile ? tile_end(p, r.tile - 1) : 0);
    r.end = begin + tile_end(p, r.tile);
    return r;
}

#define SAND_BLOCK_WARPS (SAND_RADIAL && SAND_ROWS == 3 && !SAND_LOCAL)
#else
#define SAND_FOR_BLOCKS(w, q, n) SAND_FOR_EACH(w, q, n)
#define SAND_BLOCK_WARPS 0
#endif

#if SAND_BLOCK_WARPS

// The bodies of a part, one of these for each warp.
typedef struct PartBodies {
    Vec4 v[SAND_PART_BODIES];    // velocity, inverse mass
    Vec4 w[SAND_PART_BODIES];    // spin, radius
    real turn[SAND_PART_BODIES]; // inverse inertia
} PartBodies;
extern __shared__ PartBodies part_bodies[];

SAND_INLINE void part_load_bodies(const Op *op, int begin, int count, PartBodies *to) {
    for (int j = warp_lane(); j < count; j += 32) {
        int k = SAND_FIXED(&op->parts.body[2 * (int64_t)begin + j]);
        bool moves = k < op->dynamic_count;
        to->v[j] = vec4_with_last(vec4_load(op->body[k].v), moves ? SAND_FIXED(&op->inverse_mass[k]) : (real)0);
        to->w[j] = vec4_load(op->body[k].w);
        to->turn[j] = moves ? SAND_FIXED(&op->inverse_inertia[k]) : (real)0;
    }
    __syncwarp();
}

SAND_INLINE void part_store_bodies(const Op *op, int begin, int count, const PartBodies *from) {
    for (int j = warp_lane(); j < count; j += 32) {
        int k = SAND_FIXED(&op->parts.body[2 * (int64_t)begin + j]);
        if (k >= op->dynamic_count) continue;
        vec4_store(op->body[k].v, vec4_with_last(from->v[j], 0));
        vec4_store(op->body[k].w, from->w[j]);
    }
    __syncwarp();
}

enum { PART_NOW = 1, PART_LAST = 2, PART_RECORD = 3 }; // vectors that the arrays of the parts are laid over

// The impulse at a place, in vector PART_NOW or PART_LAST.
SAND_INLINE Vec part_impulse(const Op *op, const real *x, int place) {
    return vec_make(x[place], x[op->n + place], x[2 * (int64_t)op->n + place]);
}
SAND_INLINE void part_set_impulse(const Op *op, real *x, int place, Vec r) {
    x[place] = r.x;
    x[op->n + place] = r.y;
    x[2 * (int64_t)op->n + place] = r.z;
}
SAND_INLINE real *part_mu(const Op *op) { return op_vector(op, PART_NOW) + 3 * (int64_t)op->n; }

// Writes the arrays of the parts for the impulses x.
SAND_HOT void part_pack(Worker *w, const Op *SAND_RESTRICT op, const real *SAND_RESTRICT x) {
    SAND_FOR_EACH(w, place, op->contact_count) {
        ContactRef ref = contact_ref(op, op->parts.contact[place]);
        Vec r = row_load(x, ref);
        vec4_store(op_vector(op, PART_RECORD) + 4 * (int64_t)place, contact_record(op, ref));
        part_mu(op)[place] = contact_mu(op, ref);
        part_set_impulse(op, op_vector(op, PART_NOW), (int)place, r);
        part_set_impulse(op, op_vector(op, PART_LAST), (int)place, r);
        op->parts.sleep[place] = 0;
    }
    sand_barrier(w);
}

// Stores the impulses as rows: those of array `now`, and behind the places that this pass has swept those of the other one.
SAND_HOT void part_settle(Worker *w, const Op *SAND_RESTRICT op, int now, int swept, real *SAND_RESTRICT rows) {
    SAND_FOR_EACH(w, place, op->contact_count) {
        const real *x = op_vector(op, place < swept ? now : PART_NOW + PART_LAST - now);
        row_store(rows, contact_ref_bare(op->parts.contact[place]), part_impulse(op, x, (int)place));
    }
    sand_barrier(w);
}

// A contact as a lane relaxes it.
typedef struct LaneContact {
    Vec4 record;
    Vec x, last;
    real mu, bounce;
    uint32_t pair;
} LaneContact;

// How a sweep goes. `x` is read and `to` written; in the first of a pass `to` has the impulses of the last pass until then.
typedef struct PartSweep {
    const real *x;
    real *to;
    real omega, momentum;
    bool first;
} PartSweep;

SAND_INLINE LaneContact lane_load(const Op *op, const PartSweep *sweep, TileRange tile) {
    LaneContact c;
    int place = tile.begin + warp_lane();
    if (place >= tile.end) place = tile.end > 0 ? tile.end - 1 : 0; // of no use: lanes without contact do nothing
    c.record = vec4_load_fixed(op_vector(op, PART_RECORD) + 4 * (int64_t)place);
    c.mu = SAND_FIXED(&part_mu(op)[place]);
    c.pair = SAND_FIXED(&op->parts.pair[place]);
    c.x = part_impulse(op, sweep->x, place);
    c.last = part_impulse(op, sweep->to, place);
    c.bounce = op->bounce ? op->bounce[op->parts.contact[place]] : (real)0;
    return c;
}

// What the lanes saw of a pass: how far first sweeps went back, and how far they went, squared.
typedef struct LaneSums {
    real back, step;
} LaneSums;

// Relaxes the contact of a lane and moves its bodies. False: it has no impulse; in the first sweep of a pass also that it
// had none in the last two, and moves apart by more than SAND_IDLE_SHARE of the bodies a step.
SAND_INLINE bool lane_relax(const Op *op, const PartSweep *sweep, const LaneContact *c, PartBodies *bodies, int place,
                            LaneSums *sums) {
    int a = (int)(c->pair & 0xffff), b = (int)(c->pair >> 16);
    Vec4 va = bodies->v[a], wa = bodies->w[a], vb = bodies->v[b], wb = bodies->w[b];
    Vec n = vec_of_vec4(c->record), from = c->x;
    real half_gap = vec4_last(c->record), la = vec4_last(wa) + half_gap, lb = vec4_last(wb) + half_gap;
    real ta = bodies->turn[a] * la, tb = bodies->turn[b] * lb;
    real along = vec4_last(va) + vec4_last(vb), across = c->mu > 0 ? real_ma(ta, la, real_ma(tb, lb, along)) : along;
    Vec s = vec_madd(vec_scale(la, vec_of_vec4(wa)), lb, vec_of_vec4(wb));
    Vec g = vec_madd(vec_sub_cross(vec_sub(vec_of_vec4(vb), vec_of_vec4(va)), s, n), gap_bias(op, half_gap) - c->bounce, n);
    if (sweep->first) from = vec_madd(c->x, sweep->momentum, vec_sub(c->x, c->last));
    real per_along = real_rough_inverse(along), per_across = real_rough_inverse(across), ratio = across * per_along;
    real gn = vec_dot(g, n);
    Vec z = cone_project_by(vec_madd(from, -sweep->omega * per_across, g), sweep->omega * (per_across - per_along) * gn, n,
                            c->mu, ratio, cone_factor_by(c->mu, ratio));
    Vec d = vec_sub(z, from), t = vec_cross(n, d);
    part_set_impulse(op, sweep->to, place, z);
    bodies->v[a] = vec4_make(real_ma(-vec4_last(va), d.x, va.x), real_ma(-vec4_last(va), d.y, va.y),
                             real_ma(-vec4_last(va), d.z, va.z), va.w);
    bodies->w[a] = vec4_make(real_ma(-ta, t.x, wa.x), real_ma(-ta, t.y, wa.y), real_ma(-ta, t.z, wa.z), wa.w);
    if (vec4_last(vb) > 0) {
        bodies->v[b] = vec4_make(real_ma(vec4_last(vb), d.x, vb.x), real_ma(vec4_last(vb), d.y, vb.y),
                                 real_ma(vec4_last(vb), d.z, vb.z), vb.w);
        bodies->w[b] = vec4_make(real_ma(-tb, t.x, wb.x), real_ma(-tb, t.y, wb.y), real_ma(-tb, t.z, wb.z), wb.w);
    }
    if (!sweep->first) return vec_dot(z, z) > 0;
    real diagonal = c->mu > 0 ? (along + 2 * across) * (real)(1 / 3.0) : along;
    sums->back -= diagonal * vec_dot(d, vec_sub(z, c->x));
    sums->step += diagonal * vec_dot(d, d);
    real forces = vec_dot(z, z) + vec_dot(c->x, c->x) + vec_dot(c->last, c->last);
    return forces > 0 || !(gn > SAND_IDLE_SHARE * (la + lb) * op->two_per_step);
}

// Passes that an idle tile is left out of.
enum { TILE_SLEEP = 5 };

// Leaves tiles out that are asleep in this pass, but not where all are to be swept.
SAND_INLINE void part_rest(const Op *op, PartTiles *tiles, int begin, int count, bool all) {
    uint8_t *sleep = op->parts.sleep + begin;
    int low = warp_lane(), high = low + 32, rest_low = low < count ? sleep[low] : 0,
        rest_high = high < count ? sleep[high] : 0;
    if (rest_low) sleep[low] = (uint8_t)(all ? 0 : rest_low - 1);
    if (rest_high) sleep[high] = (uint8_t)(all ? 0 : rest_high - 1);
    if (all) return;
    tiles->awake_low &= ~__ballot_sync(ALL_LANES, rest_low > 0);
    tiles->awake_high &= ~__ballot_sync(ALL_LANES, rest_high > 0);
}

// Sweeps the tiles of a part that are awake. The next two tiles are on their way while one is relaxed.
SAND_INLINE void part_sweep(const Op *op, const PartSweep *sweep, PartTiles tiles, int begin, PartBodies *bodies,
                            LaneSums *sums) {
    int lane = warp_lane();
    TileRange now = next_tile(&tiles, begin), next = next_tile(&tiles, begin);
    LaneContact c = lane_load(op, sweep, now), c_next = lane_load(op, sweep, next);
    while (now.tile >= 0) {
        TileRange then = next_tile(&tiles, begin);
        LaneContact c_then = lane_load(op, sweep, then);
        bool stirs = false;
        if (now.begin + lane < now.end) stirs = lane_relax(op, sweep, &c, bodies, now.begin + lane, sums);
        stirs = __any_sync(ALL_LANES, stirs);
        __syncwarp(); // a vote does not order memory: the next tile reads bodies that this one has moved
        if (stirs != sweep->first && lane == 0) op->parts.sleep[begin + now.tile] = stirs ? 0 : TILE_SLEEP;
        now = next;
        c = c_next;
        next = then;
        c_next = c_then;
    }
}
#endif // SAND_BLOCK_WARPS
