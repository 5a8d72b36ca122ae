// SPDX-License-Identifier: MIT
// Sweeps of blocks on a GPU: one warp sweeps the parts of a block one after the other (block_parts.h). The contacts of a
// tile share no moving body, so that each lane relaxes one of them.
//
// Contacts of spheres in world coordinates have arrays of their own, in the order of the parts, so that a warp reads memory
// from end to end; the bodies of a part are in shared memory while it is swept. The arrays are laid over the vectors of the
// method: the impulses of this pass and those of the last one take turns in two of them.
//
//      vectors 1 and 2   impulse, mu          vector 3   normal, half the gap
#pragma once
#include "sim/solver/block_grid.h"
#include "sim/solver/kernel/local_solve.inl"

#ifdef SAND_SPMD_CUDA

SAND_INLINE int warp_lane(void) { return (int)(threadIdx.x % 32); }

// The blocks of a color: one for each warp, neighbors on different multiprocessors, and then one after the other
// as they are done, because blocks take different times. They share no body, so that it does not matter which warp takes
// which.
#define SAND_FOR_BLOCKS(w, color, q, n) \
    for (Index all_ = (n), q = warp_first_block(w, color); q < all_; q = warp_next_block(w, color))

SAND_INLINE Index warp_first_block(Worker *w, int color) {
    if (worker_is_first(w))
        w->shared->ticket[(color + SAND_BLOCK_COLORS / 2) % SAND_BLOCK_COLORS] = 0; // nobody takes of it now
    return (Index)(threadIdx.x / 32 * gridDim.x + blockIdx.x);
}

SAND_INLINE Index warp_next_block(Worker *w, int color) {
    Index ticket = 0;
    if (warp_lane() == 0) ticket = atomicAdd(&w->shared->ticket[color], 1);
    return (Index)(blockDim.x / 32 * gridDim.x) + __shfl_sync(ALL_LANES, ticket, 0);
}

SAND_INLINE real warp_sum(real v) {
    for (int s = 16; s; s >>= 1) v += __shfl_xor_sync(ALL_LANES, v, s);
    return v;
}

// The tiles of a part: lane l knows where tiles l and 32 + l begin and end, from the beginning of the part, an end in the
// upper half of a number. Those that are awake are left to be swept.
typedef struct PartTiles {
    uint32_t low, high;
    unsigned long long awake; // bit t: tile t
} PartTiles;
SAND_INLINE PartTiles part_tiles(const Op *op, int begin, int tiles) {
    int lane = warp_lane(), low = 0, high = 0;
    if (lane < tiles) low = SAND_FIXED(&op->parts.tile_end[begin + lane]);
    if (lane + 32 < tiles) high = SAND_FIXED(&op->parts.tile_end[begin + lane + 32]);
    int before_low = __shfl_up_sync(ALL_LANES, low, 1), before_high = __shfl_up_sync(ALL_LANES, high, 1),
        last_low = __shfl_sync(ALL_LANES, low, 31);
    if (lane == 0) {
        before_low = 0;
        before_high = last_low;
    }
    PartTiles t = {(uint32_t)before_low | (uint32_t)low << 16, (uint32_t)before_high | (uint32_t)high << 16,
                   ~0ull >> (SAND_PART_TILES - tiles)};
    return t;
}

// A tile: contacts begin .. end-1 of its part. Below 0: there is none.
typedef struct TileRange {
    int tile, begin, end;
} TileRange;

// Takes the next tile that is awake. Without a branch: all lanes take the same one, which the compiler does not know.
SAND_INLINE TileRange next_tile(PartTiles *p) {
    int tile = __ffsll((long long)p->awake) - 1;
    p->awake &= p->awake - 1;
    uint32_t low = __shfl_sync(ALL_LANES, p->low, tile & 31), high = __shfl_sync(ALL_LANES, p->high, tile & 31);
    uint32_t range = tile < 0 ? 0 : tile < 32 ? low : high;
    TileRange r = {tile, (int)(range & 0xffff), (int)(range >> 16)};
    return r;
}

#define SAND_BLOCK_WARPS (SAND_RADIAL && SAND_ROWS == 3 && !SAND_LOCAL)
#else
#define SAND_FOR_BLOCKS(w, color, q, n) SAND_FOR_EACH(w, q, n)
#define SAND_BLOCK_WARPS 0
#endif

#if SAND_BLOCK_WARPS

// The bodies of a part.
typedef struct PartBodies {
    Vec4 v[SAND_PART_BODIES];            // velocity
    Vec4 w[SAND_PART_BODIES];            // spin, radius
    real inverse_mass[SAND_PART_BODIES]; // 0: it does not move
    real inverse_inertia[SAND_PART_BODIES];
} PartBodies;

// A contact of each lane, as the arrays have it.
typedef struct TileContacts {
    Vec4 record[32], x[32], last[32];
    uint32_t pair[32];
} TileContacts;

// What a warp has in shared memory. The contacts of the next tiles are on their way while one is relaxed: registers for them
// would be too many.
enum { PART_TILES_AT_ONCE = 3 };
typedef struct PartShared {
    PartBodies bodies;
    TileContacts contacts[PART_TILES_AT_ONCE];
} PartShared;
extern __shared__ PartShared part_shared[];

// The bodies of a part by their numbers, those of a lane: it loads all of them before it waits for the first.
enum { PART_ROWS = (SAND_PART_BODIES + 31) / 32, NO_LANE_BODY = 0x7fffffff };
typedef struct LaneBodies {
    uint32_t body[PART_ROWS]; // with SAND_PART_FIRST
} LaneBodies;
SAND_INLINE LaneBodies lane_bodies(const Op *op, int begin, int count) {
    const uint32_t *list = op->parts.body + 2 * (int64_t)begin + warp_lane();
    LaneBodies own;
    SAND_UNROLL(8)
    for (int r = 0; r < PART_ROWS; r++)
        own.body[r] = 32 * r + warp_lane() < count ? SAND_FIXED(&list[32 * r]) : (uint32_t)NO_LANE_BODY;
    return own;
}
SAND_INLINE Index lane_body(const LaneBodies *own, int row) { return (Index)(own->body[row] & ~SAND_PART_FIRST); }
SAND_INLINE bool lane_is_first(const LaneBodies *own, int row) { return own->body[row] & SAND_PART_FIRST; }

// Sends for the bodies of a part, for the velocities of those alone that another part of this pass has had.
SAND_INLINE void part_fetch_bodies(const Op *op, LaneBodies own, PartBodies *to) {
    SAND_UNROLL(8)
    for (int r = 0; r < PART_ROWS; r++) {
        Index k = lane_body(&own, r);
        int j = 32 * r + warp_lane();
        if (k == NO_LANE_BODY) continue;
        if (!lane_is_first(&own, r)) {
            fetch_vec4(&to->v[j], op->body[k].v);
            fetch_vec4(&to->w[j], op->body[k].w);
        }
        if (k < op->dynamic_count) {
            fetch_real(&to->inverse_mass[j], &op->inverse_mass[k]);
            fetch_real(&to->inverse_inertia[j], &op->inverse_inertia[k]);
        } else {
            to->inverse_mass[j] = to->inverse_inertia[j] = 0;
        }
    }
    fetch_close();
}

// Extrapolates the velocities of the bodies that no other part of this pass has had; to the bodies of the part where it is
// swept, else to where they are from. Two rows at a time: more would not fit into registers.
SAND_INLINE void part_extrapolate(const Op *op, LaneBodies own, real momentum, PartBodies *to) {
    SAND_UNROLL(3)
    for (int r = 0; r < PART_ROWS; r += 2) {
        bool first[2] = {lane_is_first(&own, r), lane_is_first(&own, r + 1)};
        if (!__any_sync(ALL_LANES, first[0] || first[1])) continue;
        Vec4 v[2], w[2], last_v[2], last_w[2];
        SAND_UNROLL(2)
        for (int e = 0; e < 2; e++) {
            Index k = first[e] ? lane_body(&own, r + e) : 0;
            v[e] = vec4_load_now(op->body[k].v);
            w[e] = vec4_load_now(op->body[k].w);
            last_v[e] = vec4_load_now(op->last[k].v);
            last_w[e] = vec4_load_now(op->last[k].w);
        }
        SAND_UNROLL(2)
        for (int e = 0; e < 2; e++) {
            Index k = lane_body(&own, r + e);
            int j = 32 * (r + e) + warp_lane();
            if (!first[e]) continue;
            Vec4 next_v = vec4_madd(v[e], momentum, vec4_sub(v[e], last_v[e]));
            Vec4 next_w = vec4_madd(w[e], momentum, vec4_sub(w[e], last_w[e]));
            vec4_store_now(op->last[k].v, v[e]);
            vec4_store_now(op->last[k].w, w[e]);
            if (to) {
                to->v[j] = next_v;
                to->w[j] = next_w;
            } else {
                vec4_store_now(op->body[k].v, next_v);
                vec4_store_now(op->body[k].w, next_w);
            }
        }
    }
}

SAND_INLINE void part_store_bodies(const Op *op, LaneBodies own, const PartBodies *from) {
    SAND_UNROLL(8)
    for (int r = 0; r < PART_ROWS; r++) {
        Index k = lane_body(&own, r);
        int j = 32 * r + warp_lane();
        if (k >= op->dynamic_count) continue;
        vec4_store_now(op->body[k].v, from->v[j]);
        vec4_store_now(op->body[k].w, from->w[j]);
    }
    __syncwarp();
}

// The blocks that warps take, one after the other. A warp knows the next one while it sweeps a block, so that it does not
// wait for the numbers of it.
typedef struct BlockQueue {
    int *ticket; // how many warps have taken as their second or a later block
    Index first, count, at, ticket_seen;
    BlockHead head; // of the block that is taken, or will be next
    int near;       // of its blocks before it, that of the lane
} BlockQueue;

// Loads what the queue has at `at`.
SAND_INLINE void queue_load(BlockQueue *queue, const Op *op, Index at) {
    queue->at = at;
    if (at >= queue->count) return;
    int4 head = __ldg((const int4 *)&op->parts.head[queue->first + at]);
    BlockHead loaded = {head.x, head.y, head.z, (uint32_t)head.w};
    queue->head = loaded;
    queue->near = SAND_FIXED(&op->parts.near[SAND_BLOCK_NEAR * (int64_t)head.x + warp_lane()]);
}

// The queue of blocks first .. first + count - 1 in the order of their heads. Queues take turns in the tickets of the
// launch.
SAND_INLINE BlockQueue queue_open(Worker *w, const Op *op, int turn, int first, int count) {
    BlockQueue queue;
    queue.ticket = &w->shared->ticket[turn % SAND_BLOCK_COLORS];
    queue.first = first;
    queue.count = count;
    queue_load(&queue, op, warp_first_block(w, turn % SAND_BLOCK_COLORS));
    return queue;
}

// Asks for the next block; queue_advance is when it must be known.
SAND_INLINE void queue_ask(BlockQueue *queue) {
    if (warp_lane() == 0) queue->ticket_seen = atomicAdd(queue->ticket, 1);
}
SAND_INLINE void queue_advance(BlockQueue *queue, const Op *op) {
    queue_load(queue, op, (Index)(blockDim.x / 32 * gridDim.x) + __shfl_sync(ALL_LANES, queue->ticket_seen, 0));
}

// Waits for the block of this lane to be done with this pass. Blocks are taken in their order, and warps are all resident:
// the first of those that are not done waits for none.
SAND_INLINE void block_wait(const Op *op, int near, int pass) {
    if (near >= 0)
        while (load_acquire(&op->parts.done[near]) < pass) __nanosleep(40);
    __syncwarp();
}

// Lets the blocks go on that wait for block q.
SAND_INLINE void block_release(const Op *op, int q, int pass) {
    __syncwarp();
    if (warp_lane() == 0) store_release(&op->parts.done[q], pass);
}

enum { PART_NOW = 1, PART_LAST = 2, PART_RECORD = 3 }; // vectors that the arrays of the parts are laid over

// The impulse at a place of vector PART_NOW or PART_LAST, and mu.
SAND_INLINE Vec part_impulse(const real *x, Index place) { return vec_of_vec4(vec4_load(x + 4 * (int64_t)place)); }
SAND_INLINE void part_set_impulse(real *x, Index place, Vec r, real mu) {
    vec4_store(x + 4 * (int64_t)place, vec4_make(r.x, r.y, r.z, mu));
}

// Adds to it.
SAND_INLINE void part_add_impulse(real *x, Index place, Vec d) {
    Vec4 *at = (Vec4 *)(x + 4 * (int64_t)place);
    *at = vec4_add(*at, vec4_make(d.x, d.y, d.z, 0));
}

// Writes the arrays of the parts for the impulses x.
SAND_HOT void part_pack(Worker *w, const Op *SAND_RESTRICT op, const real *SAND_RESTRICT x) {
    SAND_UNROLL(2)
    SAND_FOR_EACH(w, place, op->contact_count) {
        ContactRef ref = contact_ref(op, op->parts.contact[place]);
        Vec r = row_load(x, ref);
        real mu = contact_mu(op, ref);
        vec4_store(op_vector(op, PART_RECORD) + 4 * (int64_t)place, contact_record(op, ref));
        part_set_impulse(op_vector(op, PART_NOW), place, r, mu);
        part_set_impulse(op_vector(op, PART_LAST), place, r, mu);
        op->parts.sleep[place] = 0;
    }
    SAND_FOR_EACH(w, q, op_block_count(op)) op->parts.done[q] = 0;
    sand_barrier(w);
}

// Stores the impulses as rows: those of array `now`, and behind the places that this pass has swept those of the other one.
SAND_HOT void part_settle(Worker *w, const Op *SAND_RESTRICT op, int now, int swept, real *SAND_RESTRICT rows) {
    SAND_UNROLL(4)
    SAND_FOR_EACH(w, place, op->contact_count) {
        const real *x = op_vector(op, place < swept ? now : PART_NOW + PART_LAST - now);
        row_store(rows, contact_ref_bare(op->parts.contact[place]), part_impulse(x, place));
    }
    sand_barrier(w);
}

// How a sweep of a part goes. `x` is read and `to` written; in the first of a pass `to` has the impulses of the last pass
// until then. The arrays begin at the part.
typedef struct PartSweep {
    const real *record, *x;
    const uint32_t *pair;
    real *to;
    real omega, momentum;
    bool first;
} PartSweep;

// Sends for the contact of a lane. A group of its own for each tile, also where there is none.
SAND_INLINE void lane_fetch(const PartSweep *sweep, TileRange tile, TileContacts *to) {
    int lane = warp_lane(), place = tile.begin + lane;
    if (place < tile.end) {
        fetch_vec4(&to->record[lane], sweep->record + 4 * place);
        fetch_vec4(&to->x[lane], sweep->x + 4 * place);
        fetch_vec4(&to->last[lane], sweep->to + 4 * place);
        fetch_word(&to->pair[lane], &sweep->pair[place]);
    }
    fetch_close();
}

// What the lanes saw of a pass: how far first sweeps went back, and how far they went, squared.
typedef struct LaneSums {
    real back, step;
} LaneSums;

// Relaxes the contact of a lane and moves its bodies. False: it has no impulse; in the first sweep of a pass also that it
// had none in the last two, and moves apart by more than SAND_IDLE_SHARE of the bodies a step.
SAND_INLINE bool lane_relax(const Op *op, const PartSweep *sweep, const TileContacts *in, PartBodies *bodies, int place,
                            real bounce, LaneSums *sums) {
    int lane = warp_lane(), a = (int)(in->pair[lane] & 0xffff), b = (int)(in->pair[lane] >> 16);
    Vec4 record = in->record[lane], now = in->x[lane];
    Vec4 va = bodies->v[a], wa = bodies->w[a], vb = bodies->v[b], wb = bodies->w[b];
    Vec n = vec_of_vec4(record), x = vec_of_vec4(now), last = vec_of_vec4(in->last[lane]), from = x;
    real mu = vec4_last(now), half_gap = vec4_last(record), la = vec4_last(wa) + half_gap, lb = vec4_last(wb) + half_gap;
    real ma = bodies->inverse_mass[a], mb = bodies->inverse_mass[b], along = ma + mb;
    real ta = bodies->inverse_inertia[a] * la, tb = bodies->inverse_inertia[b] * lb;
    real across = mu > 0 ? real_ma(ta, la, real_ma(tb, lb, along)) : along;
    Vec s = vec_madd(vec_scale(la, vec_of_vec4(wa)), lb, vec_of_vec4(wb));
    Vec g = vec_madd(vec_sub_cross(vec_sub(vec_of_vec4(vb), vec_of_vec4(va)), s, n), gap_bias(op, half_gap) - bounce, n);
    if (sweep->first) from = vec_madd(x, sweep->momentum, vec_sub(x, last));
    real per_along = real_rough_inverse(along), per_across = real_rough_inverse(across), ratio = across * per_along;
    real gn = vec_dot(g, n);
    Vec z = cone_project_by(vec_madd(from, -sweep->omega * per_across, g), sweep->omega * (per_across - per_along) * gn, n,
                            mu, ratio, cone_factor_by(mu, ratio));
    Vec d = vec_sub(z, from), t = vec_cross(n, d);
    vec4_store_now(sweep->to + 4 * place, vec4_make(z.x, z.y, z.z, mu));
    bodies->v[a] = vec4_make(real_ma(-ma, d.x, va.x), real_ma(-ma, d.y, va.y), real_ma(-ma, d.z, va.z), va.w);
    bodies->w[a] = vec4_make(real_ma(-ta, t.x, wa.x), real_ma(-ta, t.y, wa.y), real_ma(-ta, t.z, wa.z), wa.w);
    if (mb > 0) {
        bodies->v[b] = vec4_make(real_ma(mb, d.x, vb.x), real_ma(mb, d.y, vb.y), real_ma(mb, d.z, vb.z), vb.w);
        bodies->w[b] = vec4_make(real_ma(-tb, t.x, wb.x), real_ma(-tb, t.y, wb.y), real_ma(-tb, t.z, wb.z), wb.w);
    }
    if (!sweep->first) return vec_dot(z, z) > 0;
    real diagonal = mu > 0 ? (along + 2 * across) * (real)(1 / 3.0) : along;
    sums->back -= diagonal * vec_dot(d, vec_sub(z, x));
    sums->step += diagonal * vec_dot(d, d);
    real forces = vec_dot(z, z) + vec_dot(x, x) + vec_dot(last, last);
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
    unsigned long long asleep_low = __ballot_sync(ALL_LANES, rest_low > 0),
                       asleep_high = __ballot_sync(ALL_LANES, rest_high > 0);
    tiles->awake &= ~(asleep_low | asleep_high << 32);
}

// Relaxes the contacts of a tile of the part that begins at place `begin`, and notes whether it may be left out.
SAND_INLINE void tile_relax(const Op *op, const PartSweep *sweep, TileRange tile, const TileContacts *in, int begin,
                            PartBodies *bodies, LaneSums *sums) {
    bool stirs = false;
    int place = tile.begin + warp_lane();
    if (place < tile.end) {
        real bounce = op->bounce ? SAND_FIXED(&op->bounce[SAND_FIXED(&op->parts.contact[begin + place])]) : (real)0;
        stirs = lane_relax(op, sweep, in, bodies, place, bounce, sums);
    }
    stirs = __any_sync(ALL_LANES, stirs);
    if (stirs != sweep->first && warp_lane() == 0) op->parts.sleep[begin + tile.tile] = stirs ? 0 : TILE_SLEEP;
}

// Sweeps the tiles of a part that are awake. Each waits for what was sent for before it; the next two are on their way.
SAND_INLINE void part_sweep(const Op *op, const PartSweep *sweep, PartTiles tiles, int begin, PartShared *shared,
                            LaneSums *sums) {
    TileRange now = next_tile(&tiles), next = next_tile(&tiles);
    TileContacts *in = shared->contacts, *to = in + 2;
    lane_fetch(sweep, now, in);
    lane_fetch(sweep, next, in + 1);
    while (now.tile >= 0) {
        TileRange then = next_tile(&tiles);
        lane_fetch(sweep, then, to);
        fetch_wait(PART_TILES_AT_ONCE - 1);
        __syncwarp(); // for the bodies, which the lanes have sent for and which the last tile has moved
        tile_relax(op, sweep, now, in, begin, &shared->bodies, sums);
        now = next;
        next = then;
        in = in == shared->contacts + PART_TILES_AT_ONCE - 1 ? shared->contacts : in + 1;
        to = to == shared->contacts + PART_TILES_AT_ONCE - 1 ? shared->contacts : to + 1;
    }
    fetch_wait(0);
    __syncwarp();
}
#endif // SAND_BLOCK_WARPS
