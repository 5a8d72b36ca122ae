// SPDX-License-Identifier: MIT
// The broad phase on the device: from the bodies to spheres that are sorted by the cells of a grid of several levels, as
// sim/collision/broad_phase.c does it on the CPU, with the same result to the bit. The kernels in order:
//
//   count_spheres            spheres of each body that takes part; a scan makes them offsets
//   place_spheres            a proxy for each sphere; its last thread block chooses the levels from the extents
//   tally_levels             box and number of the spheres of each level; its last block sizes the grids
//   number_cells             the cell of each sphere; csr_build sorts by it
//   write_sorted             proxies in the sorted order, and their float copies for culling
//
// Where spheres are of several levels (device->check_impacts), fast spheres may hit slow ones in this step:
//
//   find_impacts_by_group, find_impacts_by_thread    raise the impact margins of the spheres that may be hit
//   widen_proxies            with these margins; then the last three kernels run a second time
#include "cuda/collision/narrow_phase.h"
#include "cuda/csr.h"
#include "cuda/collision/level_tally.h"

// --- spheres ----------------------------------------------------------------------------------------------

// Counts the spheres of each body that takes part, and these bodies. `left_out`: NULL, or which bodies do not.
static __global__ void count_spheres(const __grid_constant__ SandWorld w, const uint8_t *left_out, int *count,
                                     Counts *counts) {
    EACH_BLOCK(base, w.body_count + 1) {
        int64_t i = base + threadIdx.x;
        bool active = i < w.body_count && sand_world_active(&w, (int)i) && !(left_out && left_out[i]);
        if (i <= w.body_count) count[i] = active ? w.shapes[w.shape[i]].sphere_count : 0;
        int bodies = __syncthreads_count(active);
        if (threadIdx.x == 0 && bodies) atomicAdd(&counts->bodies, bodies);
    }
}

// Makes a proxy for each sphere. Where all bodies of a thread block are one sphere, the writes are coalesced.
static __global__ void __launch_bounds__(BLOCK_THREADS)
    place_spheres(const __grid_constant__ SandWorld w, SandCollision *collision, SearchParams search, const int *first,
                  LevelTally *tally, Counts *counts) {
    SandFinder finder = finder_of(&w, collision, search);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        counts->spheres = collision->broad_phase.sphere_count = first[w.body_count];
        collision->body_count = counts->bodies;
    }
    double least = INFINITY, most = 0;
    EACH_BLOCK(base, w.body_count) {
        int64_t i = base + threadIdx.x, end = min(base + (int64_t)blockDim.x, (int64_t)w.body_count);
        int count = i < end ? first[i + 1] - first[i] : 0;
        bool one_each = __syncthreads_and(count == 1 || i >= end);
        if (i < end) collision->solver_index[i] = -1;
        SandSphereProxy sphere = {};
        for (int k = 0; k < count; k++) {
            sphere = sphere_proxy(&finder, (int)i, k);
            if (!one_each) collision->broad_phase.spheres[first[i] + k] = sphere;
            least = fmin(least, sphere.extent);
            most = fmax(most, sphere.extent);
        }
        if (one_each) write_records(collision->broad_phase.spheres, first[base], first[end], sphere);
    }
    fold_extents(least, most, &collision->broad_phase, tally, counts);
}

// --- grid -------------------------------------------------------------------------------------------------

// Sizes the grids of the levels, when all spheres are counted. One thread. With several ranks the host sizes them.
static __device__ void size_levels(SandCollision *collision, const LevelTally *t, Counts *counts, bool impact) {
    SandBroadPhase *g = &collision->broad_phase;
    if (g->ranks)
        tally_place_levels(g, t);
    else
        tally_size_grids(g, t);
    counts->levels = g->level_count;
    if (g->level_count > 1 && !impact) counts->retry |= RETRY_IMPACT;
}

// Tallies the levels; the last block to finish sizes the grids.
static __global__ void tally_levels(SandCollision *collision, LevelTally *tally, Counts *counts, bool impact) {
    tally_proxies(&collision->broad_phase, tally);
    if (threadIdx.x == 0 && last_block_done(counts)) size_levels(collision, tally, counts, impact);
}

static __global__ void number_cells(const SandCollision *collision, uint32_t *cell, int *key_counts) {
    const SandBroadPhase *g = &collision->broad_phase;
    EACH(i, g->sphere_count) {
        const SandSphereProxy *sphere = &g->spheres[i];
        cell[i] = (uint32_t)grid_cell_of(&g->levels[grid_level_of_extent(g, sphere->extent)], sphere->center);
        count_key(key_counts, cell[i]);
    }
}

// Copies each proxy by several threads, so that the writes are coalesced, and rounds it for culling.
enum { PROXY_PARTS = sizeof(SandSphereProxy) / sizeof(double2) };
static __global__ void write_sorted(SandCollision *collision, CullArrays cull) {
    SandBroadPhase *g = &collision->broad_phase;
    EACH(t, (int64_t)PROXY_PARTS * g->sphere_count) {
        int64_t i = t / PROXY_PARTS, part = t % PROXY_PARTS;
        const SandSphereProxy *sphere = &g->spheres[g->order[i]];
        ((double2 *)&g->sorted[i])[part] = ((const double2 *)sphere)[part];
        if (part == 0) cull.bounds[i] = cull_bounds(sphere);
        if (part == 1) cull.motion[i] = cull_motion(sphere);
        if (part == 2) cull.size[i] = cull_size(sphere);
    }
}

// --- impacts ----------------------------------------------------------------------------------------------

struct ImpactQuery {
    const SandCollision *collision;
    CullArrays cull;
    double envelope, horizon;
    double *margin; // of each sphere, by its unsorted number, since widen_proxies goes through them in that order
};

// Raises the margin of sorted sphere i for an impact at this speed.
static __device__ void add_impact_margin(const ImpactQuery &s, int i, double speed) {
    const SandBroadPhase *g = &s.collision->broad_phase;
    raise_to(&s.margin[g->order[i]], impact_margin(g->sorted[i].radius, s.horizon * speed));
}

// The speed of an impact between sorted spheres i and j, 0 where there is none. Raises the margin of j.
static __device__ double impact(const ImpactQuery &s, int i, int j) {
    const SandBroadPhase *g = &s.collision->broad_phase;
    double speed;
    if (!proxies_may_impact(&g->sorted[i], &g->sorted[j], s.envelope, s.horizon, &speed)) return 0;
    add_impact_margin(s, j, speed);
    return speed;
}

static __global__ void __launch_bounds__(128) find_impacts_by_thread(const __grid_constant__ ImpactQuery s) {
    const SandBroadPhase *g = &s.collision->broad_phase;
    EACH(t, thread_query_end(g)) {
        int i = (int)t, level = grid_level_of(g, i);
        CullSphere own = cull_sphere(s.cull, i);
        double most = 0;
        for (int k = 0; k < g->level_count; k++) {
            if (!impact_looks_in(level, k)) continue;
            query_by_thread(g, cell_range_of(g, level, i, k), s.cull.bounds, own.bounds, [&](int j) {
                if (cull_no_impact(own, cull_sphere(s.cull, j), s.horizon)) return;
                most = fmax(most, impact(s, i, j));
            });
        }
        if (most > 0) add_impact_margin(s, i, most);
    }
}

static __global__ void __launch_bounds__(QUERY_BLOCK_THREADS, QUERY_BLOCKS)
    find_impacts_by_group(const __grid_constant__ ImpactQuery s) {
    const SandBroadPhase *g = &s.collision->broad_phase;
    if (g->level_count < 2) return;
    int begin = thread_query_end(g);
    EACH(t, (int64_t)QUERY_THREADS * (g->sphere_count - begin)) {
        QueryGroup group = query_group(t, begin);
        int i = (int)group.sphere, level = grid_level_of(g, i);
        CullSphere own = cull_sphere(s.cull, i);
        double most = 0;
        query_by_group(
            group, g, level, s.cull.bounds, own.bounds, [&](int k) { return impact_looks_in(level, k); },
            [&](int j) {
                if (j < 0 || cull_no_impact(own, cull_sphere(s.cull, j), s.horizon)) return;
                most = fmax(most, impact(s, i, j));
            });
        most = group_max(group, most);
        if (group.lane == 0 && most > 0) add_impact_margin(s, i, most);
    }
}

// Gives the spheres their impact margins, where these are greater than those from their own speed.
static __global__ void __launch_bounds__(BLOCK_THREADS)
    widen_proxies(SandCollision *collision, const double *margin, double envelope, LevelTally *tally, Counts *counts) {
    SandBroadPhase *g = &collision->broad_phase;
    double least = INFINITY, most = 0;
    EACH(i, g->sphere_count) {
        SandSphereProxy *sphere = &g->spheres[i];
        if (margin[i] > sphere->impact_margin) proxy_set_impact_margin(sphere, margin[i], envelope);
        least = fmin(least, sphere->extent);
        most = fmax(most, sphere->extent);
    }
    fold_extents(least, most, &collision->broad_phase, tally, counts);
}

// --- the stage --------------------------------------------------------------------------------------------

void place_spheres_enqueue(SandDevice *device, const uint8_t *left_out) {
    const SandWorld &w = device->world;
    LAUNCH(device, count_spheres, w.body_count + 1, w, left_out, device->sphere_count.data, device->counts);
    device_check(device,
                 scan_sum(device->scratch.bytes.data, device->scratch.bytes.capacity, device->sphere_count.data,
                          device->sphere_first.data, w.body_count + 1, device->stream),
                 "numbering the spheres");
    LAUNCH(device, place_spheres, w.body_count, w, device->device_collision.data, device->search, device->sphere_first.data,
           device->tally.data, device->counts);
}

void tally_levels_enqueue(SandDevice *device) {
    tally_levels<<<device_blocks(device, device->sphere_total, BLOCK_THREADS, 4), BLOCK_THREADS, 0, device->stream>>>(
        device->device_collision.data, device->tally.data, device->counts, device->check_impacts);
}

bool sort_spheres_enqueue(SandDevice *device, int64_t cells) {
    SandCollision *collision = device->device_collision.data;
    int64_t spheres = device->sphere_total;
    CsrKeys keys = {device->cell_of.data, &device->counts->spheres, spheres, cells};
    LAUNCH(device, number_cells, spheres, collision, device->cell_of.data, device->cell_counts.data);
    if (!csr_build(device, keys, device->cell_counts.data, device->cell_starts.data, device->sphere_order.data,
                   device->stream))
        return false;
    LAUNCH(device, write_sorted, PROXY_PARTS * spheres, collision, cull_arrays(device));
    return true;
}

// Sorts the spheres by level and cell.
static bool sort_grid(SandDevice *device) {
    tally_levels_enqueue(device);
    return sort_spheres_enqueue(device, grid_most_cells(device->sphere_total));
}

bool find_impacts_enqueue(SandDevice *device) {
    double horizon = device->world.step * (1 + device->search.largest_mu);
    size_t bytes = (size_t)device->sphere_total * sizeof(double);
    device_check(device, cudaMemsetAsync(device->impact_margin.data, 0, bytes, device->stream), "clearing impact margins");
    ImpactQuery query = {device->device_collision.data, cull_arrays(device), device->world.envelope, horizon,
                         device->impact_margin.data};
    if (!device_fork(device, 1)) return false;
    find_impacts_by_group<<<query_blocks(device), QUERY_BLOCK_THREADS, 0, device->side_stream[0]>>>(query);
    find_impacts_by_thread<<<launch_blocks(device->sphere_total, 128), 128, 0, device->stream>>>(query);
    return device_join(device, 0);
}

void widen_spheres_enqueue(SandDevice *device) {
    LAUNCH(device, widen_proxies, device->sphere_total, device->device_collision.data, device->impact_margin.data,
           device->world.envelope, device->tally.data, device->counts);
}

bool broad_phase_enqueue(SandDevice *device) {
    device_check(device, cudaMemsetAsync(device->cell_counts.data, 0, device->cell_counts.bytes, device->stream),
                 "clearing the cells");
    place_spheres_enqueue(device, NULL);
    if (!sort_grid(device)) return false;
    if (!device->check_impacts) return true;
    if (!find_impacts_enqueue(device)) return false;
    widen_spheres_enqueue(device);
    return sort_grid(device);
}
