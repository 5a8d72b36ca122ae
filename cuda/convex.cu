// Convex bodies on the device: their broad phase and their contacts, as sim/collision/collide.c finds them on the CPU, in
// the same order and with the same bits. Apart from the spheres, whose kernels are made for many and need few registers;
// where a world has no convex body nothing of this runs. The kernels in order:
//
//   mark_convex, place_convex      a proxy around each convex body that takes part
//   size_convex_grid               levels and grids; one thread block, since there are far fewer of them than spheres
//   number_convex_cells            the cell of each; csr_build sorts by it
//   sort_convex                    proxies in the sorted order
//   number_convex_space, index_convex    their solver indices, behind those of bodies made of spheres
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

// --- contacts ---------------------------------------------------------------------------------------------

static __global__ void __launch_bounds__(CONVEX_THREADS)
    count_convex(const __grid_constant__ SandWorld w, const SandCollision *collision, SearchParams search, int *count,
                 Counts *counts, int64_t capacity) {
    SandFinder finder = finder_of(&w, collision, search);
    const SandBroadPhase *g = &collision->convex_phase;
    EACH(i, capacity) {
        SandSink sink = {NULL, 0, counts->mesh_overflow};
        if (i < g->sphere_count) convex_contacts(&finder, &sink, grid_level_of(g, (int)i), (int)i);
        count[i] = sink.count;
    }
}

static __global__ void __launch_bounds__(CONVEX_THREADS)
    write_convex(const __grid_constant__ SandWorld w, const SandCollision *collision, SearchParams search, const int *first,
                 SandContactCandidate *candidates, uint32_t *owner, Counts *counts) {
    if (counts->retry) return;
    SandFinder finder = finder_of(&w, collision, search);
    const SandBroadPhase *g = &collision->convex_phase;
    double deepest = 0, wall = 0;
    EACH(i, g->sphere_count) {
        int begin = first[i], end = first[i + 1];
        if (begin == end) continue;
        SandSink sink = {candidates + begin, 0, counts->mesh_overflow};
        convex_contacts(&finder, &sink, grid_level_of(g, (int)i), (int)i);
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
    size_t cells = (size_t)grid_most_cells(device->convex_total) + 2, most = cells > bodies ? cells : bodies;
    return reserve(device, device->convex_active, bodies) && reserve(device, device->convex_first, bodies) &&
           reserve(device, device->convex_spheres, convex) && reserve(device, device->convex_sorted, convex) &&
           reserve(device, device->convex_cell, convex) && reserve(device, device->convex_cell_sorted, convex) &&
           reserve(device, device->convex_order, convex) && reserve(device, device->convex_starts, cells) &&
           reserve(device, device->convex_counts, cells) && reserve(device, device->convex_spatial_order, convex) &&
           reserve_iota(device, convex) && reserve_scratch(device, device->scratch, (int64_t)most) &&
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

void convex_count_enqueue(SandDevice *device, int *count, cudaStream_t stream) {
    if (!device->convex_total) return;
    count_convex<<<launch_blocks(device->convex_total, CONVEX_THREADS), CONVEX_THREADS, 0, stream>>>(
        device->world, device->device_collision.data, device->search, count, device->counts, device->convex_total);
}

void convex_write_enqueue(SandDevice *device, const int *first, cudaStream_t stream) {
    if (!device->convex_total) return;
    write_convex<<<launch_blocks(device->convex_total, CONVEX_THREADS), CONVEX_THREADS, 0, stream>>>(
        device->world, device->device_collision.data, device->search, first, device->candidates.data, device->keys.data,
        device->counts);
}
