// Bounding boxes and numbers of the proxies of each level of a grid, gathered by atomics, and the grids sized by them.
// Included after sim/collision/broad_phase.inl.
#pragma once
#include "cuda/device.h"

// The bits of a double as an integer of the same order, for integer atomics.
static __device__ unsigned long long ordered_bits(double v) {
    long long bits = __double_as_longlong(v);
    return bits < 0 ? ~(unsigned long long)bits : (unsigned long long)bits | 1ull << 63;
}
static __device__ double from_ordered(unsigned long long bits) {
    return __longlong_as_double((long long)(bits >> 63 ? bits & ~(1ull << 63) : ~bits));
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
