// SPDX-License-Identifier: MIT
// The broad phase on the CPU: sizing the levels, sorting proxies into them, impact margins, and the spatial order of bodies.
// What it does and why is in broad_phase.h, cell geometry in broad_phase.inl.
#include "sim/collision/broad_phase.inl"
#include "sim/core/array.h"
#include "sim/core/assert.h"

#include <stdatomic.h>
#include <string.h>

void sand_broad_phase_free(SandBroadPhase *g) {
    sand_free(g->spheres);
    sand_free(g->order);
    sand_free(g->sorted);
    sand_free(g->starts);
    sand_free(g->cell_of);
    for (int k = 0; k < 2; k++) {
        sand_free(g->key[k]);
        sand_free(g->spatial_order[k]);
    }
    *g = (SandBroadPhase){0};
}

bool sand_broad_phase_reserve(SandBroadPhase *g, int spheres, SandError *error) {
    size_t n = (size_t)spheres + 1;
    return SAND_GROW(g->spheres, g->sphere_capacity, n, "grid", error) &&
           SAND_GROW(g->order, g->order_capacity, n, "grid", error) &&
           SAND_GROW(g->sorted, g->sorted_capacity, n, "grid", error) &&
           SAND_GROW(g->cell_of, g->cell_of_capacity, n, "grid", error);
}

// --- grids, from the proxies of all ranks -----------------------------------------------------------------------

static bool is_own(const SandBroadPhase *g, const SandSphereProxy *p) {
    return !g->ranks || (p->body >= 0 && !(g->is_ghost && g->is_ghost[p->body]));
}

// Gathers `bytes` bytes of each rank on every rank.
static void share(const SandRanks *ranks, void *found, size_t bytes) {
    int first[SAND_MAX_RANKS + 1];
    for (int r = 0; r <= ranks->count; r++) first[r] = r;
    ranks->allgather(ranks->user, found, first, bytes);
}

SandExtents sand_extents_of_ranks(const SandRanks *ranks, SandExtents mine) {
    SandExtents all[SAND_MAX_RANKS], sum = {0, 1e300, 0};
    all[ranks->rank] = mine;
    share(ranks, all, sizeof *all);
    for (int r = 0; r < ranks->count; r++)
        sum = (SandExtents){sum.count + all[r].count, fmin(sum.least, all[r].least), fmax(sum.most, all[r].most)};
    return sum;
}

static SandExtents find_extents(const SandBroadPhase *g) {
    SandExtents mine = {0, 1e300, 0};
    for (int i = 0; i < g->sphere_count; i++) {
        if (!is_own(g, &g->spheres[i])) continue;
        mine.count++;
        mine.least = fmin(mine.least, g->spheres[i].extent);
        mine.most = fmax(mine.most, g->spheres[i].extent);
    }
    return g->ranks ? sand_extents_of_ranks(g->ranks, mine) : mine;
}

void sand_level_bounds_of_ranks(const SandRanks *ranks, int levels, SandLevelBounds *bounds) {
    SandLevelBounds all[SAND_MAX_RANKS];
    for (int k = 0; k < levels; k++) {
        all[ranks->rank] = bounds[k];
        share(ranks, all, sizeof all[0]);
        for (int r = 0; r < ranks->count; r++) {
            if (r == ranks->rank) continue;
            bounds[k].count += all[r].count;
            grid_extend(&bounds[k].low, &bounds[k].high, all[r].low, all[r].high);
        }
    }
}

// Counts the proxies of each level, and finds the box around them.
static void find_level_bounds(const SandBroadPhase *g, SandLevelBounds *bounds) {
    SandVec3 lowest = v3_make(INFINITY, INFINITY, INFINITY);
    for (int k = 0; k < SAND_MAX_LEVELS; k++) bounds[k] = (SandLevelBounds){0, lowest, v3_neg(lowest)};
    for (int i = 0; i < g->sphere_count; i++) {
        const SandSphereProxy *p = &g->spheres[i];
        if (!is_own(g, p)) continue;
        SandLevelBounds *c = &bounds[grid_level_of_extent(g, p->extent)];
        c->count++;
        grid_extend(&c->low, &c->high, p->center, p->center);
    }
    if (g->ranks) sand_level_bounds_of_ranks(g->ranks, g->level_count, bounds);
}

void sand_broad_phase_fit(SandBroadPhase *g, int all, const SandLevelBounds *bounds) {
    SandVec3 lowest = v3_make(INFINITY, INFINITY, INFINITY), highest = v3_neg(lowest);
    int held = g->sphere_count;
    g->cell_count = 0;
    g->sphere_count = all; // what grids are sized by
    for (int k = 0, begin = 0; k < g->level_count; begin += (int)bounds[k++].count) {
        grid_size_level(g, k, begin, (int)bounds[k].count, bounds[k].low, bounds[k].high);
        grid_extend(&lowest, &highest, bounds[k].low, bounds[k].high);
    }
    grid_size_spatial(g, lowest, highest);
    g->sphere_count = held;
}

// Where the held proxies of each level lie in the sorted order.
static void count_held(SandBroadPhase *g) {
    int count[SAND_MAX_LEVELS] = {0};
    for (int i = 0; i < g->sphere_count; i++) count[grid_level_of_extent(g, g->spheres[i].extent)]++;
    for (int k = 0, begin = 0; k < g->level_count; begin += count[k++]) {
        g->levels[k].begin = begin;
        g->levels[k].end = begin + count[k];
    }
}

// Counting sort by cell. Each worker owns a range of cells and walks all proxies for them, so that within a cell proxies
// keep the caller's order whatever the number of threads.
static void sort_work(SandWorker *w, void *argument) {
    SandBroadPhase *g = argument;
    int n = g->sphere_count;
    for (int64_t i = sand_chunk_begin(w->first_chunk, n); i < sand_chunk_begin(w->last_chunk, n); i++) {
        const SandGridLevel *l = &g->levels[grid_level_of_extent(g, g->spheres[i].extent)];
        g->cell_of[i] = (int)grid_cell_of(l, g->spheres[i].center);
    }
    int64_t first = g->cell_count * w->id / w->count, last = g->cell_count * (w->id + 1) / w->count;
    memset(g->starts + first, 0, (size_t)(last - first) * sizeof *g->starts);
    sand_barrier(w);

    int mine = 0;
    for (int i = 0; i < n; i++)
        if (g->cell_of[i] >= first && g->cell_of[i] < last) {
            g->starts[g->cell_of[i]]++;
            mine++;
        }
    g->counts[w->id] = mine;
    sand_barrier(w);

    int sum = 0;
    for (int k = 0; k < w->id; k++) sum += g->counts[k];
    for (int64_t c = first; c < last; c++) {
        int count = g->starts[c];
        g->starts[c] = sum;
        sum += count;
    }
    for (int i = 0; i < n; i++)
        if (g->cell_of[i] >= first && g->cell_of[i] < last) g->order[g->starts[g->cell_of[i]]++] = i;
    sand_barrier(w); // filling moved every start to the end of its cell: from here on a cell begins at starts[c - 1]

    for (int64_t i = sand_chunk_begin(w->first_chunk, n); i < sand_chunk_begin(w->last_chunk, n); i++)
        g->sorted[i] = g->spheres[g->order[i]];
}

// --- checks for assertions --------------------------------------------------------------------------------

// Levels from fine to coarse, one behind the other in the sorted order and in the table of cells.
static bool levels_consistent(const SandBroadPhase *g) {
    int begin = 0;
    int64_t cells = 0;
    for (int k = 0; k < g->level_count; k++) {
        const SandGridLevel *l = &g->levels[k];
        if (l->begin != begin || l->end < begin || (!g->ranks && l->cell_begin != cells)) return false;
        if (k > 0 && l->largest < g->levels[k - 1].largest) return false;
        for (int a = 0; a < 3; a++)
            if (l->cells[a] < 4) return false;
        begin = l->end;
        cells += (int64_t)l->cells[0] * l->cells[1] * l->cells[2];
    }
    bool whole = cells == g->cell_count && cells <= grid_most_cells(g->sphere_count);
    return begin == g->sphere_count && (g->ranks || whole);
}

// Sorted by level, then by cell, then by the caller's order; starts[] ends each cell where the next begins.
static bool proxies_sorted(const SandBroadPhase *g) {
    int level = 0;
    for (int i = 0; i < g->sphere_count; i++) {
        int from = g->order[i], before = i > 0 ? g->order[i - 1] : -1, cell = g->cell_of[from];
        while (i >= g->levels[level].end) level++;
        const SandGridLevel *l = &g->levels[level];
        if (grid_level_of_extent(g, g->sorted[i].extent) != level || cell != grid_cell_of(l, g->sorted[i].center))
            return false;
        if (i > 0 && (g->cell_of[before] > cell || (g->cell_of[before] == cell && before >= from))) return false;
        if (i < grid_cell_start(g, cell) || i >= g->starts[cell]) return false;
    }
    return g->starts[g->cell_count - 1] == g->sphere_count;
}

static bool margins_bounded(const SandBroadPhase *g) {
    for (int i = 0; i < g->sphere_count; i++) {
        const SandSphereProxy *p = &g->spheres[i];
        if (!(p->impact_margin >= 0 && p->impact_margin <= SAND_MAX_IMPACT_MARGIN * p->radius)) return false;
        if (!(p->extent >= p->radius + p->impact_margin)) return false;
    }
    return true;
}

bool sand_broad_phase_size(SandBroadPhase *g, SandError *error) {
    if (g->ranks && !g->ranks->agree(g->ranks->user, 0, error)) return false;
    SandExtents extents = find_extents(g);
    SandLevelBounds bounds[SAND_MAX_LEVELS];
    g->level_count = 0;
    g->cell_count = 0;
    if (extents.count == 0) return true;
    if (extents.count > INT32_MAX / 2)
        return sand_fail(error, "more than %d spheres are more than the grid can number", INT32_MAX / 2);
    grid_choose_levels(g, extents.least, extents.most);
    find_level_bounds(g, bounds);
    sand_broad_phase_fit(g, (int)extents.count, bounds);
    if (g->cell_count > INT32_MAX)
        return sand_fail(error, "grid: %lld cells are more than it can number", (long long)g->cell_count);
    return true;
}

// Extends heights by those that proxies reach.
static void extend_heights(const SandBroadPhase *g, double *low, double *high) {
    for (int i = 0; i < g->sphere_count; i++) {
        const SandSphereProxy *p = &g->spheres[i];
        if (p->center.z - p->extent < *low) *low = p->center.z - p->extent;
        if (p->center.z + p->extent > *high) *high = p->center.z + p->extent;
    }
}

// Leaves out the layers of cells that no held proxy lies in or looks into. It looks as far as it reaches, and the farthest
// of a level, and into the layer above its own.
static void keep_layers(SandBroadPhase *g, const SandBroadPhase *visitors) {
    double low = INFINITY, high = -INFINITY;
    extend_heights(g, &low, &high);
    if (visitors) extend_heights(visitors, &low, &high);
    g->cell_count = 0;
    for (int k = 0; k < g->level_count; k++) {
        SandGridLevel *l = &g->levels[k];
        double beyond = l->largest + l->cell;
        grid_keep_layers(l, low - beyond, high + beyond, &g->cell_count);
    }
}

bool sand_broad_phase_place(SandBroadPhase *g, const SandBroadPhase *visitors, SandThreadPool *pool, SandError *error) {
    if (g->level_count == 0) return true;
    if (g->ranks) keep_layers(g, visitors);
    // The proxies of cell c are starts[c - 1] .. starts[c]; grid_cell_start treats the first cell.
    if (!SAND_GROW(g->starts, g->start_capacity, g->cell_count + 1, "grid", error)) return false;
    if (g->ranks) count_held(g);
    sand_thread_pool_run(pool, sort_work, g);
    SAND_ASSERT(levels_consistent(g));
    SAND_ASSERT(proxies_sorted(g));
    return true;
}

bool sand_broad_phase_sort(SandBroadPhase *g, SandThreadPool *pool, SandError *error) {
    return sand_broad_phase_size(g, error) && (g->ranks || sand_broad_phase_place(g, NULL, pool, error));
}

// --- impact margins ---------------------------------------------------------------------------------------

typedef struct ImpactJob {
    SandBroadPhase *grid;
    double envelope, horizon;
} ImpactJob;

// Atomic maximum, independent of the order of the workers: the bits of non-negative doubles are ordered as the numbers are.
static void raise_to(double *value, double other) {
    _Atomic uint64_t *bits = (_Atomic uint64_t *)(void *)value;
    uint64_t wanted, seen = atomic_load_explicit(bits, memory_order_relaxed);
    memcpy(&wanted, &other, sizeof wanted);
    while (seen < wanted &&
           !atomic_compare_exchange_weak_explicit(bits, &seen, wanted, memory_order_relaxed, memory_order_relaxed))
        continue;
}

// Raises the impact margins of sorted proxy i and of those in level k that it may hit.
static void find_impacts(const ImpactJob *s, int level, int i, int k) {
    SandBroadPhase *g = s->grid;
    SandSphereProxy *p = &g->sorted[i];
    SandCellRange range = cell_range_of(g, level, i, k);
    for (int r = 0; r < range.rows; r++) {
        SandCellRow row = cell_row(g, &range, r);
        for (int half = 0; half < 2; half++)
            for (int j = row.run[half].begin; j < row.run[half].end; j++) {
                double speed;
                SandSphereProxy *q = &g->sorted[j];
                if (!proxies_may_impact(p, q, s->envelope, s->horizon, &speed)) continue;
                raise_to(&p->impact_margin, impact_margin(p->radius, s->horizon * speed));
                raise_to(&q->impact_margin, impact_margin(q->radius, s->horizon * speed));
            }
    }
}

// Margins are raised in `sorted`, where pairs are found, and copied to `spheres`, which are sorted again.
static void impact_work(SandWorker *w, void *argument) {
    ImpactJob *s = argument;
    SandBroadPhase *g = s->grid;
    int begin = (int)sand_chunk_begin(w->first_chunk, g->sphere_count),
        end = (int)sand_chunk_begin(w->last_chunk, g->sphere_count);
    int level = begin < end ? grid_level_of(g, begin) : 0;
    for (int i = begin; i < end; i++) {
        while (i >= g->levels[level].end) level++;
        for (int k = 0; k < g->level_count; k++)
            if (impact_looks_in(level, k)) find_impacts(s, level, i, k);
    }
    sand_barrier(w);
    for (int i = begin; i < end; i++)
        proxy_set_impact_margin(&g->spheres[g->order[i]], g->sorted[i].impact_margin, s->envelope);
}

// A sphere and its images have one margin: the largest that one of them was given.
static void merge_images(SandBroadPhase *g, double envelope) {
    SandSphereProxy *image = g->spheres + g->sphere_count - g->image_count, *end = g->spheres + g->sphere_count;
    for (SandSphereProxy *i = image; i < end; i++) {
        SandSphereProxy *sphere = &g->spheres[i->source];
        proxy_set_impact_margin(sphere, fmax(sphere->impact_margin, i->impact_margin), envelope);
    }
    for (SandSphereProxy *i = image; i < end; i++) proxy_set_impact_margin(i, g->spheres[i->source].impact_margin, envelope);
}

bool sand_broad_phase_add_impact_margins(SandBroadPhase *g, double envelope, double horizon, SandThreadPool *pool,
                                         SandError *error) {
    if (g->level_count < 2) return true; // all alike: none is much faster than the others
    ImpactJob s = {g, envelope, horizon};
    int own = g->sphere_count;
    if (g->ranks && (!g->near->append(g->near, g, error) || !sand_broad_phase_place(g, NULL, pool, error))) return false;
    sand_thread_pool_run(pool, impact_work, &s);
    g->sphere_count = own;
    merge_images(g, envelope);
    SAND_ASSERT(margins_bounded(g));
    return sand_broad_phase_sort(g, pool, error);
}

// --- spatial order ----------------------------------------------------------------------------------------

enum { RADIX_BITS = 11, RADIX_ROUNDS = 3 }; // radix sort: bits of a digit, and digits: 33 bits number every cell

static bool keys_sorted(const uint32_t *key, int count) {
    for (int i = 1; i < count; i++)
        if (key[i - 1] > key[i]) return false;
    return true;
}

const int *sand_broad_phase_spatial_order(SandBroadPhase *g, int *count, SandError *error) {
    for (int k = 0; k < 2; k++)
        if (!SAND_GROW(g->key[k], g->key_capacity[k], g->sphere_count + 1, "grid", error) ||
            !SAND_GROW(g->spatial_order[k], g->spatial_order_capacity[k], g->sphere_count + 1, "grid", error))
            return NULL;
    int n = 0;
    for (int i = 0; i < g->sphere_count; i++) {
        if (g->sorted[i].sub != 0 || g->sorted[i].image) continue; // a body counts by its first sphere
        g->spatial_order[0][n++] = i;
    }
    *count = n;
    if (g->level_count <= 1) return g->spatial_order[0]; // the sorted order is that order already
    SAND_ASSERT(g->ranks || grid_most_spatial_cells(g->sphere_count) <= (int64_t)1 << RADIX_BITS * RADIX_ROUNDS);
    for (int k = 0; k < n; k++)
        g->key[0][k] = (uint32_t)grid_cell_of(&g->spatial_grid, g->sorted[g->spatial_order[0][k]].center);
    for (int round = 0; round < RADIX_ROUNDS; round++) {
        int from = round & 1, to = 1 - from, shift = round * RADIX_BITS;
        int begin[1 << RADIX_BITS] = {0};
        for (int i = 0; i < n; i++) begin[g->key[from][i] >> shift & ((1 << RADIX_BITS) - 1)]++;
        for (int d = 0, sum = 0; d < 1 << RADIX_BITS; d++) {
            int size = begin[d];
            begin[d] = sum;
            sum += size;
        }
        for (int i = 0; i < n; i++) {
            int at = begin[g->key[from][i] >> shift & ((1 << RADIX_BITS) - 1)]++;
            g->key[to][at] = g->key[from][i];
            g->spatial_order[to][at] = g->spatial_order[from][i];
        }
    }
    SAND_ASSERT(keys_sorted(g->key[RADIX_ROUNDS & 1], n));
    return g->spatial_order[RADIX_ROUNDS & 1];
}
