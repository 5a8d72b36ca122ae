// Detection on the device, in the order of sim/detect.c and with its texts: balls, grid, strikes, ranks, contacts. The
// contacts come out in the same order and with the same bits.
#include "cuda/device.h"

// Contacts are counted first (no place to put them), then written to the ball's own place.
typedef struct SandSink {
    SandContactCandidate *out;
    int count;
    int *trouble;
} SandSink;

SAND_HOST_DEVICE void sink_put(SandSink *sink, const SandContactCandidate *found) {
    if (sink->out) sink->out[sink->count] = *found;
    sink->count++;
}

SAND_HOST_DEVICE void sink_too_many(SandSink *sink, int body, int boundary, int count) {
    sink->trouble[0] = body, sink->trouble[1] = boundary, sink->trouble[2] = count;
}

#include "sim/collision/narrow_phase.inl"

#include "cuda/neighbor_list.h"
#include "cuda/csr.h"

// Doubles as numbers that are ordered as they are.
static __device__ unsigned long long ordered_bits(double v) {
    long long bits = __double_as_longlong(v);
    return bits < 0 ? ~(unsigned long long)bits : (unsigned long long)bits | 1ull << 63;
}
static __device__ double from_ordered(unsigned long long bits) {
    return __longlong_as_double((long long)(bits >> 63 ? bits & ~(1ull << 63) : ~bits));
}

static __device__ SandFinder finder_of(const SandWorld *world, const SandCollision *d, Search s) {
    SandFinder f = {world, d, s.largest_mu, s.fall, s.convex_body};
    return f;
}

// Raises a positive number. Mostly it is that high already: a look is cheaper than an atomic.
static __device__ void raise_to(double *value, double other) {
    if (*(volatile double *)value >= other) return;
    atomicMax((unsigned long long *)value, (unsigned long long)__double_as_longlong(other));
}

// --- balls ------------------------------------------------------------------------------------------------

static __global__ void begin_step(Counts *counts) {
    counts->again = counts->spheres = counts->bodies = counts->contacts = counts->levels = counts->warm_started = 0;
    counts->high_degree = counts->colors = counts->lost = 0;
    counts->crowded = counts->trouble[2] = 0, counts->blocks_done = 0;
    counts->least = ~0ull, counts->most = counts->deepest = counts->deepest_wall = 0;
    counts->diagonals = counts->kinetic = counts->potential = 0;
    counts->status = counts->iterations = counts->curve = 0;
    counts->seconds = counts->residual = counts->objective = counts->complementarity = 0;
}

static __global__ void count_spheres(const __grid_constant__ SandWorld w, int *count, Counts *counts) {
    EACH_BLOCK(base, w.body_count + 1) {
        int64_t i = base + threadIdx.x;
        bool active = i < w.body_count && sand_world_active(&w, (int)i);
        if (i <= w.body_count) count[i] = active ? w.shapes[w.shape[i]].sphere_count : 0;
        int bodies = __syncthreads_count(active);
        if (threadIdx.x == 0 && bodies) atomicAdd(&counts->bodies, bodies);
    }
}

// The levels of the grid, from the extents of all balls; nothing is in them yet. One thread.
static __device__ void choose_levels(SandCollision *d, LevelTally *tally, const Counts *counts) {
    d->broad_phase.level_count = 0;
    if (counts->spheres)
        grid_choose_levels(&d->broad_phase, __longlong_as_double((long long)counts->least),
                           __longlong_as_double((long long)counts->most));
    for (int l = 0; l < SAND_MAX_LEVELS; l++) {
        tally->count[l] = 0;
        for (int a = 0; a < 3; a++) tally->low[l][a] = ~0ull, tally->high[l][a] = 0;
    }
}

// The least and greatest extent of all balls, from those that each thread has seen, and the levels from them. All threads of
// a block call it together: one of them goes for all, since atomics on one number wait for each other.
static __device__ void fold_extents(double least, double most, SandCollision *d, LevelTally *tally, Counts *counts) {
    __shared__ double leasts[CUDA_THREADS / 32], mosts[CUDA_THREADS / 32];
    for (int s = 16; s; s >>= 1) {
        least = fmin(least, __shfl_down_sync(0xffffffffu, least, s));
        most = fmax(most, __shfl_down_sync(0xffffffffu, most, s));
    }
    if ((threadIdx.x & 31) == 0) leasts[threadIdx.x >> 5] = least, mosts[threadIdx.x >> 5] = most;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int k = 1; k < CUDA_THREADS / 32; k++) least = fmin(least, leasts[k]), most = fmax(most, mosts[k]);
    if (most > 0) {
        atomicMin(&counts->least, (unsigned long long)__double_as_longlong(least));
        atomicMax(&counts->most, (unsigned long long)__double_as_longlong(most));
    }
    if (last_block_done(counts)) choose_levels(d, tally, counts);
}

static __global__ void __launch_bounds__(CUDA_THREADS)
    place_spheres(const __grid_constant__ SandWorld w, SandCollision *d, Search search, const int *first, LevelTally *tally,
                  Counts *counts) {
    SandFinder finder = finder_of(&w, d, search);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        counts->spheres = d->broad_phase.sphere_count = first[w.body_count];
        d->body_count = counts->bodies;
    }
    double least = INFINITY, most = 0;
    EACH_BLOCK(base, w.body_count) {
        int64_t i = base + threadIdx.x, end = min(base + (int64_t)blockDim.x, (int64_t)w.body_count);
        int count = i < end ? first[i + 1] - first[i] : 0;
        bool one_each = __syncthreads_and(count == 1 || i >= end);
        if (i < end) d->solver_index[i] = -1;
        SandSphereProxy sphere = {};
        for (int k = 0; k < count; k++) {
            sphere = sphere_proxy(&finder, (int)i, k);
            if (!one_each) d->broad_phase.spheres[first[i] + k] = sphere;
            least = fmin(least, sphere.extent), most = fmax(most, sphere.extent);
        }
        if (one_each) write_records(d->broad_phase.spheres, first[base], first[end], sphere);
    }
    fold_extents(least, most, d, tally, counts);
}

// --- grid -------------------------------------------------------------------------------------------------

static __device__ void tally_add(LevelTally *t, int l, int count, double low[3], double high[3]) {
    atomicAdd(&t->count[l], count);
    for (int a = 0; a < 3; a++) {
        atomicMin(&t->low[l][a], ordered_bits(low[a]));
        atomicMax(&t->high[l][a], ordered_bits(high[a]));
    }
}

// How large the levels are, when all balls are counted. One thread.
static __device__ void size_levels(SandCollision *d, const LevelTally *t, Counts *counts, bool impact) {
    SandBroadPhase *g = &d->broad_phase;
    g->cell_count = 0;
    SandVec3 lowest = v3_make(INFINITY, INFINITY, INFINITY), highest = v3_neg(lowest);
    int begin = 0;
    for (int k = 0; k < g->level_count; k++) {
        SandVec3 low = v3_make(from_ordered(t->low[k][0]), from_ordered(t->low[k][1]), from_ordered(t->low[k][2]));
        SandVec3 high = v3_make(from_ordered(t->high[k][0]), from_ordered(t->high[k][1]), from_ordered(t->high[k][2]));
        grid_size_level(g, k, begin, t->count[k], low, high);
        begin += t->count[k];
        if (t->count[k]) grid_extend(&lowest, &highest, low, high);
    }
    grid_size_places(g, lowest, highest);
    counts->levels = g->level_count;
    if (g->level_count > 1 && !impact) counts->again |= AGAIN_IMPACT;
    counts->least = ~0ull, counts->most = 0; // for those that strikes give room
}

// Counts and boxes of the levels: within a warp where its balls are of one level, then in shared memory, then all.
static __global__ void tally_levels(SandCollision *d, LevelTally *tally, Counts *counts, bool impact) {
    __shared__ LevelTally mine;
    const SandBroadPhase *g = &d->broad_phase;
    if (threadIdx.x < SAND_MAX_LEVELS) {
        mine.count[threadIdx.x] = 0;
        for (int a = 0; a < 3; a++) mine.low[threadIdx.x][a] = ~0ull, mine.high[threadIdx.x][a] = 0;
    }
    __syncthreads();
    int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t base = blockIdx.x * (int64_t)blockDim.x; base < g->sphere_count; base += stride) {
        int64_t i = base + threadIdx.x;
        bool have = i < g->sphere_count;
        int level = have ? grid_level_of_extent(g, g->spheres[i].extent) : -1;
        SandVec3 c = have ? g->spheres[i].center : v3_make(0, 0, 0);
        double low[3] = {c.x, c.y, c.z}, high[3] = {c.x, c.y, c.z};
        int together;
        __match_all_sync(0xffffffffu, level, &together);
        if (together && have) {
            for (int s = 16; s; s >>= 1)
                for (int a = 0; a < 3; a++) {
                    low[a] = fmin(low[a], __shfl_down_sync(0xffffffffu, low[a], s));
                    high[a] = fmax(high[a], __shfl_down_sync(0xffffffffu, high[a], s));
                }
            if ((threadIdx.x & 31) == 0) tally_add(&mine, level, 32, low, high);
        } else if (have) {
            tally_add(&mine, level, 1, low, high);
        }
    }
    __syncthreads();
    if (threadIdx.x < SAND_MAX_LEVELS && mine.count[threadIdx.x]) {
        int l = threadIdx.x;
        atomicAdd(&tally->count[l], mine.count[l]);
        for (int a = 0; a < 3; a++) {
            atomicMin(&tally->low[l][a], mine.low[l][a]);
            atomicMax(&tally->high[l][a], mine.high[l][a]);
        }
    }
    __syncthreads();
    if (threadIdx.x == 0 && last_block_done(counts)) size_levels(d, tally, counts, impact);
}

static __global__ void number_cells(const SandCollision *d, uint32_t *cell, int *counted) {
    const SandBroadPhase *g = &d->broad_phase;
    EACH(i, g->sphere_count) {
        const SandSphereProxy *sphere = &g->spheres[i];
        cell[i] = (uint32_t)grid_cell_of(&g->levels[grid_level_of_extent(g, sphere->extent)], sphere->center);
        count_key(counted, cell[i]);
    }
}

// Each ball is copied by several threads, so that they write side by side.
enum { SPHERE_PROXIES = sizeof(SandSphereProxy) / sizeof(double2) };
static __global__ void store_order(SandCollision *d, CullArrays cull) {
    SandBroadPhase *g = &d->broad_phase;
    EACH(t, (int64_t)SPHERE_PROXIES * g->sphere_count) {
        int64_t i = t / SPHERE_PROXIES, slice = t % SPHERE_PROXIES;
        const SandSphereProxy *sphere = &g->spheres[g->order[i]];
        ((double2 *)&g->sorted[i])[slice] = ((const double2 *)sphere)[slice];
        if (slice == 0) cull.near[i] = near_make(sphere);
        if (slice == 1) cull.move[i] = move_make(sphere);
        if (slice == 2) cull.size[i] = size_make(sphere);
    }
}

// --- strikes ----------------------------------------------------------------------------------------------

// What strikes give to each ball.
struct ImpactQuery {
    const SandCollision *d;
    CullArrays cull;
    double slack, reach;
    double *margin; // of each ball, in the order of the unsorted: so it is made there by one after the other
};

// A strike at this speed gives room to sorted ball i.
static __device__ void add_impact_margin(const ImpactQuery &s, int i, double speed) {
    const SandBroadPhase *g = &s.d->broad_phase;
    raise_to(&s.margin[g->order[i]], impact_margin(g->sorted[i].radius, s.reach * speed));
}

// The speed of a strike between balls i and j, 0 where there is none; j learns of it.
static __device__ double impact(const ImpactQuery &s, int i, int j) {
    const SandBroadPhase *g = &s.d->broad_phase;
    double speed;
    if (!proxies_may_impact(&g->sorted[i], &g->sorted[j], s.slack, s.reach, &speed)) return 0;
    add_impact_margin(s, j, speed);
    return speed;
}

static __global__ void __launch_bounds__(128) find_impacts_alone(const __grid_constant__ ImpactQuery s) {
    const SandBroadPhase *g = &s.d->broad_phase;
    EACH(t, alone_end(g)) {
        int i = (int)t, level = grid_level_of(g, i);
        CullSphere own = cull_sphere(s.cull, i);
        double most = 0;
        for (int k = 0; k < g->level_count; k++) {
            if (!impact_looks_in(level, k)) continue;
            query_alone(g, cell_range_of(g, level, i, k), s.cull.near, own.near, [&](int j) {
                if (cull_no_impact(own, cull_sphere(s.cull, j), s.reach)) return;
                most = fmax(most, impact(s, i, j));
            });
        }
        if (most > 0) add_impact_margin(s, i, most);
    }
}

static __global__ void __launch_bounds__(QUERY_BLOCK_THREADS, QUERY_BLOCKS)
    find_impacts(const __grid_constant__ ImpactQuery s) {
    const SandBroadPhase *g = &s.d->broad_phase;
    if (g->level_count < 2) return;
    int begin = alone_end(g);
    EACH(t, (int64_t)QUERY_THREADS * (g->sphere_count - begin)) {
        QueryGroup group = query_group(t, begin);
        int i = (int)group.sphere, level = grid_level_of(g, i);
        CullSphere own = cull_sphere(s.cull, i);
        double most = 0;
        query_together(
            group, g, level, s.cull.near, own.near, [&](int k) { return impact_looks_in(level, k); },
            [&](int j) {
                if (j < 0 || cull_no_impact(own, cull_sphere(s.cull, j), s.reach)) return;
                most = fmax(most, impact(s, i, j));
            });
        most = group_max(group, most);
        if (group.place == 0 && most > 0) add_impact_margin(s, i, most);
    }
}

// Not all balls have more room by strikes than by their own speed.
static __global__ void __launch_bounds__(CUDA_THREADS)
    widen_proxies(SandCollision *d, const double *margin, double slack, LevelTally *tally, Counts *counts) {
    SandBroadPhase *g = &d->broad_phase;
    double least = INFINITY, most = 0;
    EACH(i, g->sphere_count) {
        SandSphereProxy *sphere = &g->spheres[i];
        if (margin[i] > sphere->impact_margin) proxy_set_impact_margin(sphere, margin[i], slack);
        least = fmin(least, sphere->extent), most = fmax(most, sphere->extent);
    }
    fold_extents(least, most, d, tally, counts);
}

// --- ranks ------------------------------------------------------------------------------------------------

// The place of each body, by its first ball; other balls come behind.
static __global__ void number_places(const SandCollision *d, uint32_t *place, int64_t capacity) {
    const SandBroadPhase *g = &d->broad_phase;
    EACH(i, capacity) {
        bool first = i < g->sphere_count && g->sorted[i].sub == 0;
        place[i] = first ? (uint32_t)grid_cell_of(&g->places, g->sorted[i].center) : 0xffffffffu;
    }
}

// `placed` are the positions of the first balls in the sorted order, by their places; NULL: they are in that order.
static __global__ void assign_solver_indices(SandCollision *d, const int *placed, int convex_body) {
    const SandBroadPhase *g = &d->broad_phase;
    int spheres = d->body_count - (convex_body >= 0 ? 1 : 0); // bodies that are made of balls
    EACH(solver_index, spheres) {
        int body = g->sorted[placed ? placed[solver_index] : solver_index].body;
        d->body[solver_index] = body;
        d->solver_index[body] = (int)solver_index;
    }
    if (convex_body >= 0 && blockIdx.x == 0 && threadIdx.x == 0) {
        d->body[spheres] = convex_body;
        d->solver_index[convex_body] = spheres;
    }
}

// --- contacts ---------------------------------------------------------------------------------------------

// Contacts are counted in items: a ball's partners and then its walls, ball after ball; last the box or cylinder.
enum { PAIR_ITEM, WALL_ITEM, BALL_ITEMS };
static __host__ __device__ int64_t item_of(int64_t sphere, int which) { return sphere * BALL_ITEMS + which; }

// Two balls that touch, by their places in the sorted order.
struct Touching {
    int p, q;
};

// What the count has found, so that nobody need look for it again: the first partners of each ball. Balls that have more are
// noted in a list, in any order.
enum { HITS = 16 };
static __device__ void note_crowded(int *crowded, int sphere, Counts *counts) {
    crowded[atomicAdd(&counts->crowded, 1)] = sphere;
}

static __global__ void __launch_bounds__(128)
    count_pairs_alone(const __grid_constant__ SandWorld w, const SandCollision *d, Search search, CullArrays cull,
                      int *neighbor, int *count, int *crowded, Counts *counts) {
    SandFinder finder = finder_of(&w, d, search);
    const SandBroadPhase *g = &d->broad_phase;
    EACH(t, alone_end(g)) {
        int i = (int)t, level = grid_level_of(g, i), found = 0, *mine = neighbor + HITS * t;
        CullSphere own = cull_sphere(cull, i);
        for (int k = 0; k < g->level_count; k++) {
            if (!grid_looks_in(level, k)) continue;
            query_alone(g, cell_range_of(g, level, i, k), cull.near, own.near, [&](int j) {
                if (!neighbor_touches(&finder, search, cull, i, own, j)) return;
                if (found < HITS) mine[found] = j;
                found++;
            });
        }
        count[item_of(i, PAIR_ITEM)] = found;
        if (found > HITS) note_crowded(crowded, i, counts);
    }
}

static __global__ void __launch_bounds__(QUERY_BLOCK_THREADS, QUERY_BLOCKS)
    count_pairs(const __grid_constant__ SandWorld w, const SandCollision *d, Search search, CullArrays cull, int *neighbor,
                int *count, int *crowded, int64_t spheres, Counts *counts) {
    SandFinder finder = finder_of(&w, d, search);
    int begin = alone_end(&d->broad_phase);
    EACH(t, QUERY_THREADS * (spheres + 1 - begin)) {
        QueryGroup group = query_group(t, begin);
        int found = 0;
        int *mine = neighbor + HITS * group.sphere;
        if (group.sphere < d->broad_phase.sphere_count)
            found = find_neighbors(&finder, search, cull, group, [&](int k, int j) {
                if (k < HITS) mine[k] = j;
            });
        if (group.place > 0) continue;
        count[item_of(group.sphere, PAIR_ITEM)] = found;
        if (found > HITS) note_crowded(crowded, (int)group.sphere, counts);
    }
}

static __global__ void __launch_bounds__(128) count_walls(const __grid_constant__ SandWorld w, const SandCollision *d,
                                                          Search search, int *count, Counts *counts, int64_t spheres) {
    SandFinder finder = finder_of(&w, d, search);
    EACH(i, spheres + 1) {
        SandSink sink = {NULL, 0, counts->trouble};
        if (i < d->broad_phase.sphere_count) wall_contacts(&finder, &sink, &d->broad_phase.sorted[i]);
        if (i == d->broad_phase.sphere_count && search.convex_body >= 0)
            convex_body_contacts(&finder, &sink, search.convex_body);
        count[item_of(i, WALL_ITEM)] = sink.count;
    }
}

static __global__ void store_total(const int *first, int64_t capacity, int64_t contact_capacity, SandCollision *d,
                                   Counts *counts) {
    int total = first[capacity - 1];
    counts->contacts = d->contact_count = total;
    if (total < 0 || total > contact_capacity) counts->again |= AGAIN_CONTACTS;
}

// Who touches, for each contact between balls, from what the count has found; nobody, where the place is a wall's.
enum { LISTERS = 4 }; // threads for a ball
static __global__ void list_pairs(const SandCollision *d, const int *neighbor, const int *first, Touching *pairs,
                                  const Counts *counts, int64_t spheres) {
    if (counts->again) return;
    EACH(t, LISTERS * (spheres + 1)) {
        int64_t sphere = t / LISTERS, item = item_of(sphere, PAIR_ITEM);
        int place = (int)(t % LISTERS);
        if (sphere > d->broad_phase.sphere_count) continue;
        int begin = first[item], found = first[item + 1] - begin, walls = first[item + 2] - begin;
        for (int k = place; k < found && k < HITS; k += LISTERS)
            pairs[begin + k] = {(int)sphere, neighbor[HITS * sphere + k]};
        for (int k = found + place; k < walls; k += LISTERS) pairs[begin + k] = {-1, -1};
    }
}

// The same of balls that have more partners than there was room for: they are looked for again.
static __global__ void __launch_bounds__(QUERY_BLOCK_THREADS, QUERY_BLOCKS)
    list_more_pairs(const __grid_constant__ SandWorld w, const SandCollision *d, Search search, CullArrays cull,
                    const int *first, const int *crowded, Touching *pairs, const Counts *counts) {
    if (counts->again) return;
    SandFinder finder = finder_of(&w, d, search);
    EACH(t, (int64_t)QUERY_THREADS * counts->crowded) {
        QueryGroup group = query_group(t, 0);
        group.sphere = crowded[group.sphere];
        int i = (int)group.sphere, begin = first[item_of(i, PAIR_ITEM)];
        find_neighbors(&finder, search, cull, group, [&](int k, int j) { pairs[begin + k] = {i, j}; });
    }
}

static __device__ void raise_deepest(double *of_all, double deepest) {
    for (int s = 16; s; s >>= 1) deepest = fmax(deepest, __shfl_down_sync(0xffffffffu, deepest, s));
    if ((threadIdx.x & 31) == 0 && deepest > 0) raise_to(of_all, deepest);
}

// The contacts between balls, a thread for each. Between them are places that are left to the walls.
static __global__ void __launch_bounds__(CUDA_THREADS)
    find_pairs(const __grid_constant__ SandWorld w, const SandCollision *d, Search search, const Touching *pairs,
               SandContactCandidate *found, uint32_t *owner, Counts *counts) {
    if (counts->again) return;
    SandFinder finder = finder_of(&w, d, search);
    double deepest = 0;
    EACH_BLOCK(base, counts->contacts) {
        int64_t k = base + threadIdx.x;
        SandContactCandidate mine = {0};
        bool have = k < counts->contacts && pairs[k].p >= 0;
        if (have) {
            const SandSphereProxy *p = &d->broad_phase.sorted[pairs[k].p], *q = &d->broad_phase.sorted[pairs[k].q];
            SandSink sink = {&mine, 0, NULL};
            add_sphere_pair(&finder, &sink, p, q);
            deepest = fmax(deepest, -mine.gap);
            owner[k] = (uint32_t)mine.index_a;
        }
        write_records(found, base, counts->contacts, mine, have);
    }
    raise_deepest(&counts->deepest, deepest);
}

static __global__ void __launch_bounds__(128)
    find_walls(const __grid_constant__ SandWorld w, const SandCollision *d, Search search, const int *first,
               SandContactCandidate *found, uint32_t *owner, Counts *counts) {
    if (counts->again) return;
    SandFinder finder = finder_of(&w, d, search);
    double deepest = 0, wall = 0; // the boxes and cylinders are bodies
    EACH(i, d->broad_phase.sphere_count + 1) {
        int64_t item = item_of(i, WALL_ITEM);
        int begin = first[item], end = first[item + 1];
        if (begin == end) continue;
        SandSink sink = {found + begin, 0, counts->trouble};
        if (i < d->broad_phase.sphere_count)
            wall_contacts(&finder, &sink, &d->broad_phase.sorted[i]);
        else
            convex_body_contacts(&finder, &sink, search.convex_body);
        for (int k = begin; k < end; k++) {
            deepest = fmax(deepest, -found[k].gap);
            if (found[k].b < 0) wall = fmax(wall, -found[k].gap);
            owner[k] = (uint32_t)found[k].index_a;
        }
    }
    raise_deepest(&counts->deepest, deepest);
    raise_deepest(&counts->deepest_wall, wall);
}

// --- the stage --------------------------------------------------------------------------------------------

static CullArrays cull_arrays(const SandDevice *m) { return {m->near.data, m->move.data, m->size.data}; }

static bool sort_grid(SandDevice *m) {
    SandCollision *d = m->collision_copy.data;
    int64_t spheres = m->sphere_total, cells = grid_most_cells(spheres);
    tally_levels<<<device_blocks(m, spheres, CUDA_THREADS, 4), CUDA_THREADS, 0, m->stream>>>(d, m->tally.data, m->counts,
                                                                                             m->impact);
    CsrKeys keys = {m->cell_of.data, &m->counts->spheres, spheres, cells};
    LAUNCH(number_cells, spheres, d, m->cell_of.data, m->starts_counted.data);
    if (!csr_build(m, keys, m->starts_counted, m->starts.data, m->order.data, m->stream)) return false;
    LAUNCH(store_order, SPHERE_PROXIES * spheres, d, cull_arrays(m));
    return true;
}

static bool reserve_all(SandDevice *m) {
    size_t bodies = (size_t)m->world.body_count + 2, spheres = (size_t)m->sphere_total + 2,
           contacts = (size_t)m->contact_capacity + 2;
    size_t cells = (size_t)grid_most_cells(m->sphere_total) + 2;
    size_t items = BALL_ITEMS * spheres, most = contacts > cells ? contacts : cells;
    if (items > most) most = items;
    bool ok = reserve(m, m->sphere_count, bodies) && reserve(m, m->sphere_first, bodies) &&
              reserve(m, m->spheres, spheres) && reserve(m, m->sorted, spheres) && reserve(m, m->near, spheres) &&
              reserve(m, m->move, spheres) && reserve(m, m->size, spheres) && reserve(m, m->impact_margin, spheres) &&
              reserve(m, m->order, spheres) && reserve_iota(m, spheres) && reserve(m, m->starts, cells) &&
              reserve(m, m->starts_counted, cells) && reserve(m, m->solver_index, bodies) && reserve(m, m->body, bodies) &&
              reserve(m, m->found_count, items) && reserve(m, m->found_first, items) && reserve(m, m->cell_of, spheres) &&
              reserve(m, m->cell_sorted, spheres) && reserve(m, m->tally, 1) && reserve(m, m->found, contacts) &&
              reserve(m, m->neighbor, HITS * spheres) && reserve(m, m->crowded, spheres) &&
              reserve(m, m->pairs, 2 * contacts) && reserve(m, m->found_order, contacts) && reserve(m, m->keys, contacts) &&
              reserve(m, m->first, bodies + 1) && reserve_scratch(m, m->scratch, (int64_t)most) &&
              reserve_scratch(m, m->index_scratch, (int64_t)spheres) && reserve(m, m->collision_copy, 1);
    return ok && reserve(m, m->spatial_order, spheres);
}

bool collide_enqueue(SandDevice *m) {
    if (!reserve_all(m)) return false;
    const SandWorld &w = m->world;
    int64_t spheres = m->sphere_total;
    SandCollision *host = &m->collision, *d = m->collision_copy.data;
    host->broad_phase.spheres = m->spheres.data, host->broad_phase.sorted = m->sorted.data,
    host->broad_phase.order = m->order.data;
    host->broad_phase.starts = m->starts.data + 1; // where a cell's balls end; one more lies in front
    host->solver_index = m->solver_index.data, host->body = m->body.data, host->first = m->first.data;
    host->contacts = m->found.data;
    device_check(m, cudaMemcpyAsync(d, host, sizeof *host, cudaMemcpyHostToDevice, m->stream), "copying to the GPU");
    // Of kernels where mates look for a ball: how many balls there are for them is known to the device alone.
    int together = device_blocks(m, QUERY_THREADS * (spheres + 1), QUERY_BLOCK_THREADS, 32);

    begin_step<<<1, 1, 0, m->stream>>>(m->counts);
    LAUNCH(count_spheres, w.body_count + 1, w, m->sphere_count.data, m->counts);
    device_check(m,
                 scan_sum(m->scratch.bytes.data, m->scratch.bytes.capacity, m->sphere_count.data, m->sphere_first.data,
                          w.body_count + 1, m->stream),
                 "numbering the balls");
    LAUNCH(place_spheres, w.body_count, w, d, m->search, m->sphere_first.data, m->tally.data, m->counts);
    if (!sort_grid(m)) return false;
    if (m->impact) {
        double reach = w.step * (1 + m->search.largest_mu);
        device_check(m, cudaMemsetAsync(m->impact_margin.data, 0, (size_t)spheres * sizeof(double), m->stream), "strikes");
        ImpactQuery query = {d, cull_arrays(m), w.envelope, reach, m->impact_margin.data};
        if (!device_fork(m, 1)) return false;
        find_impacts<<<together, QUERY_BLOCK_THREADS, 0, m->side_stream[0]>>>(query);
        find_impacts_alone<<<launch_blocks(spheres, 128), 128, 0, m->stream>>>(query);
        if (!device_join(m, 0)) return false;
        LAUNCH(widen_proxies, spheres, d, m->impact_margin.data, w.envelope, m->tally.data, m->counts);
        if (!sort_grid(m)) return false;
    }

    // Ranks are not needed to count contacts, nor does one kind of contact need the other. What takes longest begins first.
    if (!device_fork(m, 3)) return false;
    cudaStream_t ranking = m->side_stream[0], walls = m->side_stream[1], coarse = m->side_stream[2];
    int64_t items = item_of(spheres + 1, 0) + 1; // and a last place for the total
    int *count = m->found_count.data, *first = m->found_first.data;
    Touching *pairs = (Touching *)m->pairs.data;
    count_walls<<<launch_blocks(spheres + 1, 128), 128, 0, walls>>>(w, d, m->search, count, m->counts, spheres);
    device_check(m, cudaMemsetAsync(count + items - 1, 0, sizeof(int), m->stream), "counting contacts");
    count_pairs<<<together, QUERY_BLOCK_THREADS, 0, coarse>>>(w, d, m->search, cull_arrays(m), m->neighbor.data, count,
                                                              m->crowded.data, spheres, m->counts);
    count_pairs_alone<<<launch_blocks(spheres, 128), 128, 0, m->stream>>>(w, d, m->search, cull_arrays(m), m->neighbor.data,
                                                                          count, m->crowded.data, m->counts);
    bool places = m->impact || !m->single; // else there is one level, and every ball is the first of its body
    if (places) {
        LAUNCH_ON(ranking, number_places, spheres, d, m->cell_of.data, spheres);
        if (!device_check(m,
                          sort_pairs(m->index_scratch.bytes.data, m->index_scratch.bytes.capacity, m->cell_of.data,
                                     m->cell_sorted.data, m->iota.data, m->spatial_order.data, spheres,
                                     bits_for(grid_most_places(spheres) + 1), ranking),
                          "ranking the bodies"))
            return false;
    }
    LAUNCH_ON(ranking, assign_solver_indices, spheres, d, places ? m->spatial_order.data : NULL, m->search.convex_body);
    if (!device_join(m, 1) || !device_join(m, 2)) return false;
    device_check(m, scan_sum(m->scratch.bytes.data, m->scratch.bytes.capacity, count, first, items, m->stream),
                 "counting contacts");
    store_total<<<1, 1, 0, m->stream>>>(first, items, m->contact_capacity, d, m->counts);
    if (!device_fork(m, 1)) return false;
    LAUNCH(list_pairs, LISTERS * (spheres + 1), d, m->neighbor.data, first, pairs, m->counts, spheres);
    list_more_pairs<<<together, QUERY_BLOCK_THREADS, 0, m->stream>>>(w, d, m->search, cull_arrays(m), first, m->crowded.data,
                                                                     pairs, m->counts);
    if (!device_join(m, 0)) return false; // from here on ranks are wanted
    find_walls<<<launch_blocks(spheres + 1, 128), 128, 0, m->side_stream[0]>>>(w, d, m->search, first, m->found.data,
                                                                               m->keys.data, m->counts);
    LAUNCH(find_pairs, m->contact_capacity, w, d, m->search, pairs, m->found.data, m->keys.data, m->counts);

    // By the rank of their owner: where the grid wraps around, a ball may find one that belongs to an earlier one. They
    // stay where they are; what is put in order is their numbers.
    CsrKeys owners = {m->keys.data, &m->counts->contacts, m->contact_capacity, w.body_count};
    return device_join(m, 0) && csr_count(m, owners, m->sphere_first, m->stream) &&
           csr_build(m, owners, m->sphere_first, m->first.data, m->found_order.data, m->stream) &&
           device_check(m, cudaGetLastError(), "collision detection");
}
