// SPDX-License-Identifier: MIT
// The levels of a grid: chosen from the extents of its proxies, and sized by the bounding boxes and numbers of those of each
// level. Both are gathered by atomics, of spheres and of convex bodies alike.
// Included after sim/collision/broad_phase.inl.
#pragma once
#include "cuda/device.h"

#include <string.h>

// The bits of a double as an integer of the same order, for integer atomics.
static __device__ unsigned long long ordered_bits(double v) {
    long long bits = __double_as_longlong(v);
    return bits < 0 ? ~(unsigned long long)bits : (unsigned long long)bits | 1ull << 63;
}
static inline __host__ __device__ double from_ordered(unsigned long long bits) {
    unsigned long long b = bits >> 63 ? bits & ~(1ull << 63) : ~bits;
    double number;
    memcpy(&number, &b, sizeof number);
    return number;
}

static __device__ void tally_clear(LevelTally *t, int l) {
    t->count[l] = 0;
    for (int a = 0; a < 3; a++) {
        t->low[l][a] = ~0ull;
        t->high[l][a] = 0;
    }
}

static __device__ void tally_add(LevelTally *t, int l, int count, double low[3], double high[3]) {
    atomicAdd(&t->count[l], count);
    for (int a = 0; a < 3; a++) {
        atomicMin(&t->low[l][a], ordered_bits(low[a]));
        atomicMax(&t->high[l][a], ordered_bits(high[a]));
    }
}

// Chooses the levels of the grid from the extents of all proxies, and clears the tally and the extents. One thread. With
// several ranks the host chooses them, from the extents of all.
static __device__ void choose_levels(SandBroadPhase *g, LevelTally *tally, Counts *counts) {
    tally->least = __longlong_as_double((long long)counts->min_extent);
    tally->most = __longlong_as_double((long long)counts->max_extent);
    if (!g->ranks) g->level_count = 0;
    if (!g->ranks && g->sphere_count) grid_choose_levels(g, tally->least, tally->most);
    for (int l = 0; l < SAND_MAX_LEVELS; l++) tally_clear(tally, l);
    counts->min_extent = ~0ull;
    counts->max_extent = 0;
}

// Reduces the extents that each thread has seen to the least and greatest of all proxies; the last block to finish chooses
// the levels. All threads of a block call it together, and one does the atomics for all, since atomics on one address are
// serialized.
static __device__ void fold_extents(double least, double most, SandBroadPhase *g, LevelTally *tally, Counts *counts) {
    __shared__ double warp_least[BLOCK_THREADS / 32], warp_most[BLOCK_THREADS / 32];
    for (int s = 16; s; s >>= 1) {
        least = fmin(least, __shfl_down_sync(ALL_LANES, least, s));
        most = fmax(most, __shfl_down_sync(ALL_LANES, most, s));
    }
    if ((threadIdx.x & 31) == 0) {
        warp_least[threadIdx.x >> 5] = least;
        warp_most[threadIdx.x >> 5] = most;
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int k = 1; k < BLOCK_THREADS / 32; k++) {
        least = fmin(least, warp_least[k]);
        most = fmax(most, warp_most[k]);
    }
    if (most > 0) {
        atomicMin(&counts->min_extent, (unsigned long long)__double_as_longlong(least));
        atomicMax(&counts->max_extent, (unsigned long long)__double_as_longlong(most));
    }
    if (last_block_done(counts)) choose_levels(g, tally, counts);
}

// Tallies the proxies of a grid whose levels are chosen: within a warp where they are of one level, then in shared memory,
// then in global memory. All threads of a block call it together.
static __device__ void tally_proxies(const SandBroadPhase *g, LevelTally *tally) {
    __shared__ LevelTally mine;
    if (threadIdx.x < SAND_MAX_LEVELS) tally_clear(&mine, threadIdx.x);
    __syncthreads();
    EACH_BLOCK(base, g->sphere_count) {
        int64_t i = base + threadIdx.x;
        bool have = i < g->sphere_count;
        int level = have ? grid_level_of_extent(g, g->spheres[i].extent) : -1;
        SandVec3 c = have ? g->spheres[i].center : v3_make(0, 0, 0);
        double low[3] = {c.x, c.y, c.z}, high[3] = {c.x, c.y, c.z};
        int together;
        __match_all_sync(ALL_LANES, level, &together);
        if (together && have) {
            for (int s = 16; s; s >>= 1)
                for (int a = 0; a < 3; a++) {
                    low[a] = fmin(low[a], __shfl_down_sync(ALL_LANES, low[a], s));
                    high[a] = fmax(high[a], __shfl_down_sync(ALL_LANES, high[a], s));
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
}

// Says where the proxies of each level lie in the sorted order. One thread.
static inline __host__ __device__ void tally_place_levels(SandBroadPhase *g, const LevelTally *t) {
    for (int k = 0, begin = 0; k < g->level_count; begin += t->count[k++]) {
        g->levels[k].begin = begin;
        g->levels[k].end = begin + t->count[k];
    }
}

// Sizes the grids of the levels, when all proxies are counted. One thread.
static __device__ void tally_size_grids(SandBroadPhase *g, const LevelTally *t) {
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
    grid_size_spatial(g, lowest, highest);
}
