// SPDX-License-Identifier: MIT
// Collision detection of one small world by one thread block, with the code of sim/collision and the same contacts in the
// same order, to the bit, as sand_collide. What a large world sorts is put in order here by counting what comes before it;
// contacts are found twice, first to count them. Included by step_rows.cu.
#pragma once
#include "cuda/batch/rows.h"
#include "cuda/collision/narrow_phase.h"

#include "sim/collision/warm_start.inl"

// The threads of a block share 0 .. n - 1.
#define EACH_HERE(i, n) for (int i = (int)threadIdx.x; i < (n); i += (int)blockDim.x)

// --- over all threads of the block ----------------------------------------------------------------------------

// Replaces each number by the sum of those before it, and returns the sum of all.
static __device__ int scan_here(int *v, int n) {
    __shared__ int of_warp[ROW_THREADS / 32], carry;
    int lane = (int)threadIdx.x & 31, warp = (int)threadIdx.x >> 5;
    if (threadIdx.x == 0) carry = 0;
    __syncthreads();
    for (int base = 0; base < n; base += (int)blockDim.x) {
        int i = base + (int)threadIdx.x, mine = i < n ? v[i] : 0, sum = mine;
        for (int s = 1; s < 32; s *= 2) {
            int before = __shfl_up_sync(ALL_LANES, sum, s);
            if (lane >= s) sum += before;
        }
        if (lane == 31) of_warp[warp] = sum;
        __syncthreads();
        int before = carry;
        for (int k = 0; k < warp; k++) before += of_warp[k];
        if (i < n) v[i] = before + sum - mine;
        __syncthreads();
        if (threadIdx.x == blockDim.x - 1) carry = before + sum;
        __syncthreads();
    }
    int all = carry;
    __syncthreads();
    return all;
}

static __device__ double most_here(double v) {
    __shared__ double of_warp[ROW_THREADS / 32];
    for (int s = 16; s; s >>= 1) v = fmax(v, __shfl_xor_sync(ALL_LANES, v, s));
    if ((threadIdx.x & 31) == 0) of_warp[threadIdx.x >> 5] = v;
    __syncthreads();
    for (int k = 0; k < (int)blockDim.x / 32; k++) v = fmax(v, of_warp[k]);
    __syncthreads();
    return v;
}
static __device__ double least_here(double v) { return -most_here(-v); }

// Sorts rows of numbers, short ones, a thread each.
static __device__ void sort_rows_here(const int *first, int rows, int *list) {
    EACH_HERE(k, rows)
    for (int i = first[k] + 1; i < first[k + 1]; i++) {
        int one = list[i], at = i;
        for (; at > first[k] && list[at - 1] > one; at--) list[at] = list[at - 1];
        list[at] = one;
    }
    __syncthreads();
}

// Lists items by their keys, below 0: by none. Rows begin at first[key].
template <class Key> static __device__ void list_here(int items, int keys, Key key, int *first, int *cursor, int *list) {
    EACH_HERE(k, keys + 1) first[k] = 0;
    __syncthreads();
    EACH_HERE(i, items)
    if (key(i) >= 0) atomicAdd(&first[key(i)], 1);
    __syncthreads();
    scan_here(first, keys + 1);
    EACH_HERE(k, keys) cursor[k] = first[k];
    __syncthreads();
    EACH_HERE(i, items)
    if (key(i) >= 0) list[atomicAdd(&cursor[key(i)], 1)] = i;
    __syncthreads();
    sort_rows_here(first, keys, list);
}

// --- the broad phase ------------------------------------------------------------------------------------------

// A proxy for each body that takes part.
static __device__ void place_here(const WorldRow &row, const SandFinder &finder) {
    const SandWorld &w = row.source.world;
    const RowArrays &a = row.arrays;
    EACH_HERE(i, w.body_count) a.item[i] = sand_world_active(&w, i);
    __syncthreads();
    int count = scan_here(a.item, w.body_count);
    EACH_HERE(i, w.body_count) {
        a.solver_index[i] = -1;
        if (sand_world_active(&w, i)) a.spheres[a.item[i]] = sphere_proxy(&finder, i, 0);
    }
    if (threadIdx.x == 0) {
        a.collision->broad_phase.sphere_count = a.collision->body_count = count;
        a.counts->spheres = a.counts->bodies = count;
    }
    __syncthreads();
}

// Sizes the grid of one level; `lowest` and `highest` are extended by its box.
static __device__ int size_level_here(SandBroadPhase *g, int k, int begin, SandVec3 *lowest, SandVec3 *highest) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    int mine = 0;
    EACH_HERE(i, g->sphere_count) {
        const SandSphereProxy *p = &g->spheres[i];
        if (grid_level_of_extent(g, p->extent) != k) continue;
        const double c[3] = {p->center.x, p->center.y, p->center.z};
        for (int axis = 0; axis < 3; axis++) {
            low[axis] = fmin(low[axis], c[axis]);
            high[axis] = fmax(high[axis], c[axis]);
        }
        mine++;
    }
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    atomicAdd(&count, mine);
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = least_here(low[axis]);
        high[axis] = most_here(high[axis]);
    }
    SandVec3 from = v3_make(low[0], low[1], low[2]), to = v3_make(high[0], high[1], high[2]);
    if (threadIdx.x == 0) grid_size_level(g, k, begin, count, from, to);
    if (count) grid_extend(lowest, highest, from, to);
    int all = count;
    __syncthreads();
    return all;
}

// Chooses the levels, sizes their grids, and sorts the proxies into them.
static __device__ void sort_here(const WorldRow &row) {
    const RowArrays &a = row.arrays;
    SandBroadPhase *g = &a.collision->broad_phase;
    double least = INFINITY, most = 0;
    EACH_HERE(i, g->sphere_count) {
        least = fmin(least, g->spheres[i].extent);
        most = fmax(most, g->spheres[i].extent);
    }
    least = least_here(least);
    most = most_here(most);
    if (threadIdx.x == 0) {
        g->level_count = 0;
        g->cell_count = 0;
        if (g->sphere_count) grid_choose_levels(g, least, most);
    }
    __syncthreads();
    SandVec3 lowest = v3_make(INFINITY, INFINITY, INFINITY), highest = v3_neg(lowest);
    for (int k = 0, begin = 0; k < g->level_count; k++) begin += size_level_here(g, k, begin, &lowest, &highest);
    if (threadIdx.x == 0 && g->level_count) grid_size_spatial(g, lowest, highest);
    __syncthreads();
    int cells = (int)g->cell_count;
    EACH_HERE(c, cells + 1) a.cell_starts[c] = 0;
    __syncthreads();
    EACH_HERE(i, g->sphere_count) {
        const SandSphereProxy *p = &g->spheres[i];
        a.cell_of[i] = (int)grid_cell_of(&g->levels[grid_level_of_extent(g, p->extent)], p->center);
        atomicAdd(&a.cell_starts[a.cell_of[i]], 1);
    }
    __syncthreads();
    scan_here(a.cell_starts, cells + 1); // where cells begin; where the next begins one ends, which is where `starts` points
    EACH_HERE(i, g->sphere_count) {
        int at = a.cell_starts[a.cell_of[i]];
        for (int j = 0; j < i; j++) at += a.cell_of[j] == a.cell_of[i];
        a.sphere_order[at] = i;
        a.sorted[at] = g->spheres[i];
    }
    __syncthreads();
}

// Raises the margins of the spheres that may be hit in the step, where spheres are of several levels, and sorts again.
static __device__ void add_margins_here(const WorldRow &row) {
    const SandWorld &w = row.source.world;
    SandBroadPhase *g = &row.arrays.collision->broad_phase;
    double horizon = w.step * (1 + row.search.largest_mu);
    if (g->level_count < 2) return;
    EACH_HERE(i, g->sphere_count) {
        SandSphereProxy *p = &g->sorted[i];
        int level = grid_level_of(g, i);
        for (int k = 0; k < g->level_count; k++) {
            if (!impact_looks_in(level, k)) continue;
            SandCellRange range = cell_range_of(g, level, i, k);
            for (int r = 0; r < range.rows; r++) {
                SandCellRow cells = cell_row(g, &range, r);
                for (int half = 0; half < 2; half++)
                    for (int j = cells.run[half].begin; j < cells.run[half].end; j++) {
                        double speed;
                        SandSphereProxy *q = &g->sorted[j];
                        if (!proxies_may_impact(p, q, w.envelope, horizon, &speed)) continue;
                        raise_to(&p->impact_margin, impact_margin(p->radius, horizon * speed));
                        raise_to(&q->impact_margin, impact_margin(q->radius, horizon * speed));
                    }
            }
        }
    }
    __syncthreads();
    EACH_HERE(i, g->sphere_count)
    proxy_set_impact_margin(&g->spheres[g->order[i]], g->sorted[i].impact_margin, w.envelope);
    __syncthreads();
    sort_here(row);
}

// Numbers the bodies for the solver, cell by cell of one grid over all of them.
static __device__ void number_here(const WorldRow &row) {
    const RowArrays &a = row.arrays;
    const SandBroadPhase *g = &a.collision->broad_phase;
    bool spatial = g->level_count > 1;
    if (spatial) EACH_HERE(i, g->sphere_count) a.cell_of[i] = (int)grid_cell_of(&g->spatial_grid, g->sorted[i].center);
    __syncthreads();
    EACH_HERE(i, g->sphere_count) {
        int at = spatial ? 0 : i;
        for (int j = 0; spatial && j < g->sphere_count; j++)
            at += a.cell_of[j] < a.cell_of[i] || (a.cell_of[j] == a.cell_of[i] && j < i);
        a.body[at] = g->sorted[i].body;
        a.solver_index[g->sorted[i].body] = at;
    }
    __syncthreads();
}

// --- contacts -------------------------------------------------------------------------------------------------

// The contacts of sorted sphere i: with its neighbors, then with boundaries.
static __device__ void sphere_contacts_here(const SandFinder &finder, SandSink *sink, int i) {
    const SandBroadPhase *g = &finder.collision->broad_phase;
    int level = grid_level_of(g, i);
    for (int k = 0; k < g->level_count; k++) {
        if (!grid_looks_in(level, k)) continue;
        SandCellRange range = cell_range_of(g, level, i, k);
        for (int r = 0; r < range.rows; r++) row_contacts(&finder, sink, &g->sorted[i], cell_row(g, &range, r));
    }
    sphere_boundaries(&finder, sink, &g->sorted[i]);
}

// Finds the contacts and lists them by owner. False where they do not fit.
static __device__ bool find_here(const WorldRow &row, const SandFinder &finder) {
    const RowArrays &a = row.arrays;
    Counts *counts = a.counts;
    int spheres = a.collision->broad_phase.sphere_count;
    EACH_HERE(i, spheres) {
        SandSink sink = {NULL, 0, counts->mesh_overflow};
        sphere_contacts_here(finder, &sink, i);
        a.item[i] = sink.count;
    }
    __syncthreads();
    int all = scan_here(a.item, spheres);
    if (threadIdx.x == 0) {
        counts->found = counts->contacts = a.collision->contact_count = all;
        if (all > row.kernel.capacity) counts->retry = RETRY_CONTACTS;
    }
    if (all > row.kernel.capacity) return false;
    double deepest = 0, deepest_wall = 0;
    EACH_HERE(i, spheres) {
        SandSink sink = {a.candidates + a.item[i], 0, counts->mesh_overflow};
        sphere_contacts_here(finder, &sink, i);
        for (int k = 0; k < sink.count; k++) {
            deepest = fmax(deepest, -sink.out[k].gap);
            if (sink.out[k].b < 0) deepest_wall = fmax(deepest_wall, -sink.out[k].gap);
        }
    }
    deepest = most_here(deepest);
    deepest_wall = most_here(deepest_wall);
    if (threadIdx.x == 0) {
        counts->deepest = deepest;
        counts->deepest_wall = deepest_wall;
    }
    list_here(
        all, counts->bodies, [&](int i) { return a.candidates[i].index_a; }, a.first, a.cursor, a.order);
    return true;
}

// Where the impulse of each contact starts: from that of the last step.
static __device__ void warm_start_here(const WorldRow &row) {
    const RowArrays &a = row.arrays;
    SandWarmStart cache = {0};
    cache.body_count = row.kept.bodies;
    cache.world_count = row.source.world.body_count;
    cache.step = row.kept.step;
    cache.solver_index = a.kept_index;
    cache.first = a.kept_first;
    cache.key = a.kept_key;
    SandNewContacts now = {a.candidates, a.order, a.first};
    double ratio = cache.step > 0 ? row.source.world.step / cache.step : 0;
    EACH_HERE(i, a.counts->contacts) {
        bool swapped = false;
        int old = cache.step > 0 ? warm_start_recall(&cache, a.collision, &now, &a.candidates[a.order[i]], &swapped) : -1;
        if (old >= 0) atomicAdd(&a.counts->warm_started, 1);
        a.start[i] =
            old < 0 ? Impulse() : impulse_make(v3_scale(swapped ? -ratio : ratio, impulse_vector(a.kept_impulse[old])));
    }
    __syncthreads();
}

// Lists the contacts of each body where it is the second, and the bodies that have many.
static __device__ void join_here(const WorldRow &row) {
    const RowArrays &a = row.arrays;
    Counts *counts = a.counts;
    list_here(
        counts->contacts, counts->bodies, [&](int i) { return a.candidates[a.order[i]].b; }, a.second, a.cursor, a.list);
    if (threadIdx.x == 0) a.high_degree_segment[0] = 0;
    EACH_HERE(k, counts->bodies) {
        int all = body_degree(a.first, a.second, k), segments = (all + SAND_HIGH_DEGREE - 1) / SAND_HIGH_DEGREE;
        if (all <= SAND_HIGH_DEGREE) continue;
        unsigned long long before = atomicAdd(&counts->high_degree, 1ull << 32 | (unsigned)segments);
        int j = (int)(before >> 32), p = (int)(unsigned)before;
        a.high_degree[j] = k;
        a.high_degree_segment[j + 1] = p + segments;
        for (int i = 0; i < segments; i++) a.segment_body[p + i] = j;
    }
    __syncthreads();
}

// From the bodies of the row to its contacts, in the order of their owners, with what they start from.
static __device__ void collide_here(const WorldRow &row) {
    SandFinder finder = finder_of(&row.source.world, row.arrays.collision, row.search);
    place_here(row, finder);
    sort_here(row);
    add_margins_here(row);
    number_here(row);
    if (!find_here(row, finder)) return;
    warm_start_here(row);
    join_here(row);
}
