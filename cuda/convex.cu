// Convex bodies on the device: their broad phase and their contacts, as sim/collision/collide.c finds them on the CPU, in
// the same order and with the same bits. Apart from the spheres, whose kernels are made for many and need few registers;
// where a world has no convex body nothing of this runs. The kernels in order:
//
//   mark_convex, place_convex      a proxy around each convex body that takes part
//   size_convex_grid               levels and grids; one thread block, since there are far fewer of them than spheres
//   number_convex_cells            the cell of each; csr_build sorts by it
//   sort_convex                    proxies in the sorted order
//   number_convex_space, index_convex    their solver indices, behind those of bodies made of spheres
//   count_near, list_near          pairs of them that are near each other
//   reject_far, find_distances, find_points    a thread a pair: of all, of those not far apart, of those that touch
//   count_convex, write_convex     contacts with each other and with boundaries
#include "cuda/narrow_phase.h"
#include "cuda/csr.h"
#include "cuda/level_tally.h"

enum { CONVEX_THREADS = 64, GRID_THREADS = 512 };

// --- broad phase ------------------------------------------------------------------------------------------

static __global__ void mark_convex(const __grid_constant__ SandWorld w, int *active) {
    EACH(i, w.body_count + 1)
        active[i] = i < w.body_count && w.shapes[w.shape[i]].sphere_count == 0 && sand_world_active(&w, (int)i);
}

static __global__ void place_convex(const __grid_constant__ SandWorld w, SandCollision *collision, SearchParams search,
                                    const int *first) {
    SandFinder finder = finder_of(&w, collision, search);
    if (blockIdx.x == 0 && threadIdx.x == 0) collision->convex_phase.sphere_count = first[w.body_count];
    EACH(i, w.body_count)
        if (first[i + 1] > first[i]) collision->convex_phase.spheres[first[i]] = convex_proxy(&finder, (int)i);
}

// Chooses the levels from the extents and sizes their grids. One thread block.
static __global__ void __launch_bounds__(GRID_THREADS) size_convex_grid(SandCollision *collision) {
    __shared__ unsigned long long least, most; // bits of positive doubles, which are ordered as they are
    __shared__ LevelTally tally;
    SandBroadPhase *g = &collision->convex_phase;
    if (threadIdx.x == 0) {
        least = ~0ull;
        most = 0;
    }
    if (threadIdx.x < SAND_MAX_LEVELS) tally_clear(&tally, threadIdx.x);
    __syncthreads();
    for (int i = threadIdx.x; i < g->sphere_count; i += GRID_THREADS) {
        unsigned long long extent = (unsigned long long)__double_as_longlong(g->spheres[i].extent);
        atomicMin(&least, extent);
        atomicMax(&most, extent);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        g->level_count = 0;
        if (g->sphere_count)
            grid_choose_levels(g, __longlong_as_double((long long)least), __longlong_as_double((long long)most));
    }
    __syncthreads();
    for (int i = threadIdx.x; i < g->sphere_count; i += GRID_THREADS) {
        SandVec3 c = g->spheres[i].center;
        double at[3] = {c.x, c.y, c.z};
        tally_add(&tally, grid_level_of_extent(g, g->spheres[i].extent), 1, at, at);
    }
    __syncthreads();
    if (threadIdx.x == 0) tally_size_grids(g, &tally);
}

static __global__ void number_convex_cells(const SandCollision *collision, uint32_t *cell, int *key_counts) {
    const SandBroadPhase *g = &collision->convex_phase;
    EACH(i, g->sphere_count) {
        const SandSphereProxy *p = &g->spheres[i];
        cell[i] = (uint32_t)grid_cell_of(&g->levels[grid_level_of_extent(g, p->extent)], p->center);
        count_key(key_counts, cell[i]);
    }
}

static __global__ void sort_convex(SandCollision *collision) {
    SandBroadPhase *g = &collision->convex_phase;
    EACH(i, g->sphere_count) g->sorted[i] = g->spheres[g->order[i]];
}

// --- solver indices ---------------------------------------------------------------------------------------

// The cell of each body in the grid of all levels; those that do not take part sort behind.
static __global__ void number_convex_space(const SandCollision *collision, uint32_t *cell, int64_t capacity) {
    const SandBroadPhase *g = &collision->convex_phase;
    EACH(i, capacity)
        cell[i] = i < g->sphere_count ? (uint32_t)grid_cell_of(&g->spatial_grid, g->sorted[i].center) : 0xffffffffu;
}

static __global__ void index_convex(SandCollision *collision, const int *placed) {
    const SandBroadPhase *g = &collision->convex_phase;
    int before = collision->body_count - g->sphere_count;
    EACH(k, g->sphere_count) {
        int body = g->sorted[placed[k]].body;
        collision->body[before + k] = body;
        collision->solver_index[body] = before + (int)k;
    }
}

// --- pairs ------------------------------------------------------------------------------------------------

// Counts the neighbors of each proxy.
static __global__ void __launch_bounds__(CONVEX_THREADS)
    count_near(const __grid_constant__ SandWorld w, const SandCollision *collision, SearchParams search, int *count,
               int64_t convex) {
    SandFinder finder = finder_of(&w, collision, search);
    const SandBroadPhase *g = &collision->convex_phase;
    EACH(i, convex + 1) {
        count[i] = 0;
        if (i >= g->sphere_count) continue;
        ConvexNeighbors near = convex_neighbors(&finder, grid_level_of(g, (int)i), (int)i);
        while (neighbors_next(&near) >= 0) count[i]++;
    }
}

// Stores the number of pairs, and asks for a retry where they do not fit. One thread.
static __global__ void store_near(const int *total, int64_t capacity, Counts *counts) {
    counts->convex_pairs = *total;
    counts->convex_close = counts->convex_touching = 0;
    if (*total < 0 || *total > capacity) counts->retry |= RETRY_CONTACTS;
}

static __global__ void __launch_bounds__(CONVEX_THREADS)
    list_near(const __grid_constant__ SandWorld w, const SandCollision *collision, SearchParams search, const int *first,
              int2 *pairs, const Counts *counts) {
    if (counts->retry & RETRY_CONTACTS) return;
    SandFinder finder = finder_of(&w, collision, search);
    const SandBroadPhase *g = &collision->convex_phase;
    EACH(i, g->sphere_count) {
        ConvexNeighbors near = convex_neighbors(&finder, grid_level_of(g, (int)i), (int)i);
        for (int k = first[i]; k < first[i + 1]; k++) pairs[k] = {(int)i, neighbors_next(&near)};
    }
}

// The pairs of a step and what is known of them. Work lists are filled in any order: what is found is stored by pair.
struct PairWork {
    const int2 *pairs;
    ConvexGap *gaps;
    Manifold *manifolds;
    int *close, *touching; // numbers of pairs
};

// A pair, and how far apart its bodies may be for a contact.
struct PlacedPair {
    ConvexPair pair;
    double reach;
};
static __device__ PlacedPair place_pair(const SandFinder *finder, int2 proxies) {
    const SandSphereProxy *sorted = finder->collision->convex_phase.sorted, *p = &sorted[proxies.x], *q = &sorted[proxies.y];
    return {convex_pair(finder->world, p->body, q->body), convex_pair_reach(finder, p, q)};
}

static __global__ void __launch_bounds__(CONVEX_THREADS)
    reject_far(const __grid_constant__ SandWorld w, const SandCollision *collision, SearchParams search, PairWork work,
               Counts *counts) {
    if (counts->retry & RETRY_CONTACTS) return;
    SandFinder finder = finder_of(&w, collision, search);
    EACH(k, counts->convex_pairs) {
        PlacedPair at = place_pair(&finder, work.pairs[k]);
        ConvexGap gap;
        work.manifolds[k].count = 0;
        if (convex_far_apart(&at.pair.a, &at.pair.b, convex_far(&at.pair.a, &at.pair.b, at.reach), &gap)) continue;
        work.close[atomicAdd(&counts->convex_close, 1)] = (int)k;
    }
}

static __global__ void __launch_bounds__(CONVEX_THREADS)
    find_distances(const __grid_constant__ SandWorld w, const SandCollision *collision, SearchParams search, PairWork work,
                   Counts *counts) {
    if (counts->retry & RETRY_CONTACTS) return;
    SandFinder finder = finder_of(&w, collision, search);
    EACH(n, counts->convex_close) {
        int k = work.close[n];
        PlacedPair at = place_pair(&finder, work.pairs[k]);
        ConvexGap gap;
        convex_distance(&at.pair.a, &at.pair.b, convex_far(&at.pair.a, &at.pair.b, at.reach), &gap);
        if (!convex_touch(&at.pair.a, &at.pair.b, at.reach, &gap)) continue;
        work.gaps[k] = gap;
        work.touching[atomicAdd(&counts->convex_touching, 1)] = k;
    }
}

static __global__ void __launch_bounds__(CONVEX_THREADS)
    find_points(const __grid_constant__ SandWorld w, const SandCollision *collision, SearchParams search, PairWork work,
                const Counts *counts) {
    if (counts->retry & RETRY_CONTACTS) return;
    SandFinder finder = finder_of(&w, collision, search);
    EACH(n, counts->convex_touching) {
        int k = work.touching[n];
        PlacedPair at = place_pair(&finder, work.pairs[k]);
        Manifold m;
        convex_touching_points(&at.pair.a, &at.pair.b, at.reach, &work.gaps[k], &m);
        work.manifolds[k] = m;
    }
}

// --- contacts ---------------------------------------------------------------------------------------------

static __global__ void __launch_bounds__(CONVEX_THREADS)
    count_convex(const __grid_constant__ SandWorld w, const SandCollision *collision, SearchParams search,
                 const int *near_first, const Manifold *manifolds, int *count, Counts *counts, int64_t capacity) {
    SandFinder finder = finder_of(&w, collision, search);
    const SandBroadPhase *g = &collision->convex_phase;
    bool fit = !(counts->retry & RETRY_CONTACTS);
    EACH(i, capacity) {
        SandSink sink = {NULL, 0, counts->mesh_overflow};
        if (i < g->sphere_count && fit) {
            convex_boundaries(&finder, &sink, &g->sorted[i]);
            for (int k = near_first[i]; k < near_first[i + 1]; k++) sink.count += manifolds[k].count;
        }
        count[i] = sink.count;
    }
}

static __global__ void __launch_bounds__(CONVEX_THREADS)
    write_convex(const __grid_constant__ SandWorld w, const SandCollision *collision, SearchParams search,
                 const int *near_first, PairWork work, const int *first, SandContactCandidate *candidates, uint32_t *owner,
                 Counts *counts) {
    if (counts->retry) return;
    SandFinder finder = finder_of(&w, collision, search);
    const SandBroadPhase *g = &collision->convex_phase;
    double deepest = 0, wall = 0;
    EACH(i, g->sphere_count) {
        int begin = first[i], end = first[i + 1];
        if (begin == end) continue;
        SandSink sink = {candidates + begin, 0, counts->mesh_overflow};
        for (int k = near_first[i]; k < near_first[i + 1]; k++)
            add_convex_pair(&finder, &sink, g->sorted[i].body, g->sorted[work.pairs[k].y].body, &work.manifolds[k]);
        if (sink.count < end - begin) convex_boundaries(&finder, &sink, &g->sorted[i]);
        for (int k = begin; k < end; k++) {
            deepest = fmax(deepest, -candidates[k].gap);
            if (candidates[k].b < 0) wall = fmax(wall, -candidates[k].gap);
            owner[k] = (uint32_t)candidates[k].index_a;
        }
    }
    raise_deepest(&counts->deepest, deepest);
    raise_deepest(&counts->deepest_wall, wall);
}

// --- the stages -------------------------------------------------------------------------------------------

bool convex_reserve(SandDevice *device) {
    if (!device->convex_total) return true;
    size_t convex = (size_t)device->convex_total + 2, bodies = (size_t)device->world.body_count + 2;
    size_t pairs = (size_t)device->near_capacity;
    size_t cells = (size_t)grid_most_cells(device->convex_total) + 2, most = cells > bodies ? cells : bodies;
    return reserve(device, device->convex_active, bodies) && reserve(device, device->convex_first, bodies) &&
           reserve(device, device->convex_spheres, convex) && reserve(device, device->convex_sorted, convex) &&
           reserve(device, device->convex_cell, convex) && reserve(device, device->convex_cell_sorted, convex) &&
           reserve(device, device->convex_order, convex) && reserve(device, device->convex_starts, cells) &&
           reserve(device, device->convex_counts, cells) && reserve(device, device->convex_spatial_order, convex) &&
           reserve(device, device->near_count, convex) && reserve(device, device->near_first, convex) &&
           reserve(device, device->near_pairs, pairs) && reserve(device, device->near_gaps, pairs) &&
           reserve(device, device->near_manifolds, pairs) && reserve(device, device->near_close, pairs) &&
           reserve(device, device->near_touching, pairs) && reserve_iota(device, convex) &&
           reserve_scratch(device, device->scratch, (int64_t)most) &&
           reserve_scratch(device, device->near_scratch, (int64_t)convex) &&
           reserve_scratch(device, device->index_scratch, (int64_t)convex);
}

bool convex_phase_enqueue(SandDevice *device) {
    if (!device->convex_total) return true;
    const SandWorld &w = device->world;
    SandCollision *collision = device->device_collision.data;
    int64_t convex = device->convex_total;
    LAUNCH(device, mark_convex, w.body_count + 1, w, device->convex_active.data);
    device_check(device,
                 scan_sum(device->scratch.bytes.data, device->scratch.bytes.capacity, device->convex_active.data,
                          device->convex_first.data, w.body_count + 1, device->stream),
                 "numbering the convex bodies");
    LAUNCH(device, place_convex, w.body_count, w, collision, device->search, device->convex_first.data);
    size_convex_grid<<<1, GRID_THREADS, 0, device->stream>>>(collision);
    LAUNCH(device, number_convex_cells, convex, collision, device->convex_cell.data, device->convex_counts.data);
    CsrKeys keys = {device->convex_cell.data, &collision->convex_phase.sphere_count, convex, grid_most_cells(convex)};
    if (!csr_build(device, keys, device->convex_counts, device->convex_starts.data, device->convex_order.data,
                   device->stream))
        return false;
    LAUNCH(device, sort_convex, convex, collision);
    return true;
}

bool convex_indices_enqueue(SandDevice *device, cudaStream_t stream) {
    if (!device->convex_total) return true;
    SandCollision *collision = device->device_collision.data;
    int64_t convex = device->convex_total;
    LAUNCH_ON(stream, number_convex_space, convex, collision, device->convex_cell.data, convex);
    if (!device_check(device,
                      sort_pairs(device->index_scratch.bytes.data, device->index_scratch.bytes.capacity,
                                 device->convex_cell.data, device->convex_cell_sorted.data, device->iota.data,
                                 device->convex_spatial_order.data, convex, 32, stream),
                      "ordering the convex bodies"))
        return false;
    LAUNCH_ON(stream, index_convex, convex, collision, device->convex_spatial_order.data);
    return true;
}

static PairWork pair_work(SandDevice *device) {
    return {device->near_pairs.data, device->near_gaps.data, device->near_manifolds.data, device->near_close.data,
            device->near_touching.data};
}

// Finds how the convex bodies meet that are near each other.
static bool pairs_enqueue(SandDevice *device, cudaStream_t stream) {
    int64_t convex = device->convex_total;
    const SandWorld &w = device->world;
    const SandCollision *collision = device->device_collision.data;
    int *first = device->near_first.data, blocks = launch_blocks(convex + 1, CONVEX_THREADS);
    int pair_blocks = device_blocks(device, device->near_capacity, CONVEX_THREADS, 32);
    PairWork work = pair_work(device);
    count_near<<<blocks, CONVEX_THREADS, 0, stream>>>(w, collision, device->search, device->near_count.data, convex);
    if (!device_check(device,
                      scan_sum(device->near_scratch.bytes.data, device->near_scratch.bytes.capacity, device->near_count.data,
                               first, convex + 1, stream),
                      "counting pairs of convex bodies"))
        return false;
    store_near<<<1, 1, 0, stream>>>(first + convex, device->near_capacity, device->counts);
    list_near<<<blocks, CONVEX_THREADS, 0, stream>>>(w, collision, device->search, first, device->near_pairs.data,
                                                     device->counts);
    reject_far<<<pair_blocks, CONVEX_THREADS, 0, stream>>>(w, collision, device->search, work, device->counts);
    find_distances<<<pair_blocks, CONVEX_THREADS, 0, stream>>>(w, collision, device->search, work, device->counts);
    find_points<<<pair_blocks, CONVEX_THREADS, 0, stream>>>(w, collision, device->search, work, device->counts);
    return true;
}

bool convex_count_enqueue(SandDevice *device, int *count, cudaStream_t stream) {
    if (!device->convex_total) return true;
    if (!pairs_enqueue(device, stream)) return false;
    count_convex<<<launch_blocks(device->convex_total, CONVEX_THREADS), CONVEX_THREADS, 0, stream>>>(
        device->world, device->device_collision.data, device->search, device->near_first.data, device->near_manifolds.data,
        count, device->counts, device->convex_total);
    return true;
}

void convex_write_enqueue(SandDevice *device, const int *first, cudaStream_t stream) {
    if (!device->convex_total) return;
    write_convex<<<launch_blocks(device->convex_total, CONVEX_THREADS), CONVEX_THREADS, 0, stream>>>(
        device->world, device->device_collision.data, device->search, device->near_first.data, pair_work(device), first,
        device->candidates.data, device->keys.data, device->counts);
}
