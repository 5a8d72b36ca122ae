// SPDX-License-Identifier: MIT
// The broad phase of convex bodies on the device, as sim/collision/collide.c has it on the CPU, in the same order and with
// the same bits. Apart from the spheres; where a world has no convex body nothing of this runs. The kernels in order:
//
//   mark_convex, place_convex      a proxy around each convex body that takes part, or around each of its pieces; the last
//                                  thread block chooses the levels
//   tally_convex                   box and number of those of each level; its last block sizes the grids
//   number_convex_cells            the cell of each; csr_build sorts by it
//   sort_convex                    proxies in the sorted order, and their float bounds for culling
//   number_convex_space, index_convex    their solver indices, behind those of bodies made of spheres
#include "cuda/collision/narrow_phase.h"
#include "cuda/csr.h"
#include "cuda/collision/level_tally.h"

// --- broad phase ------------------------------------------------------------------------------------------

// Counts the proxies of each body, and the pieces that compounds have beside their first ones.
static __global__ void mark_convex(const __grid_constant__ SandWorld w, int *proxies, Counts *counts) {
    EACH(i, w.body_count + 1) {
        const SandShape *shape = i < w.body_count ? &w.shapes[w.shape[i]] : NULL;
        bool active = shape && shape->sphere_count == 0 && sand_world_active(&w, (int)i);
        proxies[i] = active ? shape_proxies(shape) : 0;
        if (proxies[i] > 1) atomicAdd(&counts->further_pieces, proxies[i] - 1);
    }
}

static __global__ void __launch_bounds__(BLOCK_THREADS)
    place_convex(const __grid_constant__ SandWorld w, SandCollision *collision, SearchParams search, const int *first,
                 LevelTally *tally, Counts *counts) {
    SandFinder finder = finder_of(&w, collision, search);
    if (blockIdx.x == 0 && threadIdx.x == 0) collision->convex_phase.sphere_count = first[w.body_count];
    double least = INFINITY, most = 0;
    EACH(i, w.body_count) {
        for (int k = 0; k < first[i + 1] - first[i]; k++) {
            SandSphereProxy proxy = convex_proxy(&finder, (int)i, k);
            collision->convex_phase.spheres[first[i] + k] = proxy;
            least = fmin(least, proxy.extent);
            most = fmax(most, proxy.extent);
        }
    }
    fold_extents(least, most, &collision->convex_phase, tally, counts);
}

// Tallies the levels; the last block to finish sizes the grids.
static __global__ void tally_convex(SandCollision *collision, LevelTally *tally, Counts *counts) {
    tally_proxies(&collision->convex_phase, tally);
    if (threadIdx.x == 0 && last_block_done(counts)) tally_size_grids(&collision->convex_phase, tally);
}

static __global__ void number_convex_cells(const SandCollision *collision, uint32_t *cell, int *key_counts) {
    const SandBroadPhase *g = &collision->convex_phase;
    EACH(i, g->sphere_count) {
        const SandSphereProxy *p = &g->spheres[i];
        cell[i] = (uint32_t)grid_cell_of(&g->levels[grid_level_of_extent(g, p->extent)], p->center);
        count_key(key_counts, cell[i]);
    }
}

static __global__ void sort_convex(SandCollision *collision, float4 *bounds) {
    SandBroadPhase *g = &collision->convex_phase;
    EACH(i, g->sphere_count) {
        g->sorted[i] = g->spheres[g->order[i]];
        bounds[i] = cull_bounds(&g->sorted[i]);
    }
}

// --- solver indices ---------------------------------------------------------------------------------------

// The cell of each body in the grid of all levels, by its first piece; others, and what does not take part, sort behind.
static __global__ void number_convex_space(const SandCollision *collision, uint32_t *cell, int64_t capacity) {
    const SandBroadPhase *g = &collision->convex_phase;
    EACH(i, capacity)
        cell[i] = i < g->sphere_count && g->sorted[i].sub == 0
                      ? (uint32_t)grid_cell_of(&g->spatial_grid, g->sorted[i].center)
                      : 0xffffffffu;
}

static __global__ void index_convex(SandCollision *collision, const int *placed, const Counts *counts) {
    const SandBroadPhase *g = &collision->convex_phase;
    int bodies = g->sphere_count - counts->further_pieces, before = collision->body_count - bodies;
    EACH(k, bodies) {
        int body = g->sorted[placed[k]].body;
        collision->body[before + k] = body;
        collision->solver_index[body] = before + (int)k;
    }
}

// --- the stages -------------------------------------------------------------------------------------------

bool convex_reserve(SandDevice *device) {
    if (!device->convex_total) return true;
    size_t convex = (size_t)device->convex_total + 2, bodies = (size_t)device->world.body_count + 2;
    size_t cells = (size_t)grid_most_cells(device->convex_total) + 2, most = cells > bodies ? cells : bodies;
    return reserve(device, device->convex_active, bodies) && reserve(device, device->convex_first, bodies) &&
           reserve(device, device->convex_spheres, convex) && reserve(device, device->convex_sorted, convex) &&
           reserve(device, device->convex_bounds, convex) && reserve(device, device->convex_cell, convex) &&
           reserve(device, device->convex_cell_sorted, convex) && reserve(device, device->convex_order, convex) &&
           reserve(device, device->convex_starts, cells) && reserve(device, device->convex_counts, cells) &&
           reserve(device, device->convex_spatial_order, convex) && reserve_iota(device, convex) &&
           reserve_scratch(device, device->scratch, (int64_t)most);
}

bool convex_phase_enqueue(SandDevice *device) {
    if (!device->convex_total) return true;
    const SandWorld &w = device->world;
    SandCollision *collision = device->device_collision.data;
    int64_t convex = device->convex_total;
    LAUNCH(device, mark_convex, w.body_count + 1, w, device->convex_active.data, device->counts);
    device_check(device,
                 scan_sum(device->scratch.bytes.data, device->scratch.bytes.capacity, device->convex_active.data,
                          device->convex_first.data, w.body_count + 1, device->stream),
                 "numbering the convex bodies");
    LAUNCH(device, place_convex, w.body_count, w, collision, device->search, device->convex_first.data, device->tally.data,
           device->counts);
    tally_convex<<<device_blocks(device, convex, BLOCK_THREADS, 4), BLOCK_THREADS, 0, device->stream>>>(
        collision, device->tally.data, device->counts);
    LAUNCH(device, number_convex_cells, convex, collision, device->convex_cell.data, device->convex_counts.data);
    CsrKeys keys = {device->convex_cell.data, &collision->convex_phase.sphere_count, convex, grid_most_cells(convex)};
    if (!csr_build(device, keys, device->convex_counts.data, device->convex_starts.data, device->convex_order.data,
                   device->stream))
        return false;
    LAUNCH(device, sort_convex, convex, collision, device->convex_bounds.data);
    return true;
}

bool convex_indices_enqueue(SandDevice *device, cudaStream_t stream) {
    if (!device->convex_total) return true;
    SandCollision *collision = device->device_collision.data;
    int64_t convex = device->convex_total;
    LAUNCH_ON(stream, number_convex_space, convex, collision, device->convex_cell.data, convex);
    if (!device_check(device,
                      sort_pairs(device->index_scratch.data, device->index_scratch.bytes, device->convex_cell.data,
                                 device->convex_cell_sorted.data, device->iota.data, device->convex_spatial_order.data,
                                 convex, 32, stream),
                      "ordering the convex bodies"))
        return false;
    LAUNCH_ON(stream, index_convex, convex, collision, device->convex_spatial_order.data, device->counts);
    return true;
}
