// SPDX-License-Identifier: MIT
// Queries of the broad phase grid: visit every sphere whose bounds overlap those of one sphere. A query walks the rows of
// cells around the sphere in each level (sim/collision/broad_phase.inl); the spheres in them are its candidates. It comes in
// two forms, which visit the same spheres in the same order:
//
//   query_by_thread   one thread for a sphere, where cells are small and hold few candidates
//   query_by_group    QUERY_THREADS threads for a sphere (a QueryGroup), where there are many
//
//   candidates of up to QUERY_THREADS rows, one list:   r0 r0 r0 r1 r2 r2 r2 r2 r2 ...
//   lanes of the group take them side by side:           0  1  2  3  4  5 ... 15 | 0  1  2 ...
//   those that overlap are queued in shared memory:      .  x  .  .  x  x
//   and visited when there is one for each lane
#pragma once

#include "cuda/collision/float_cull.h"

// A row of cells as one list of candidates; a row that wraps around the grid is two runs.
struct Candidates {
    SandCellRow row;
    int first, count; // of the first run, of both
};
static __device__ Candidates candidates_of(SandCellRow row) {
    int first = max(row.run[0].end - row.run[0].begin, 0), second = max(row.run[1].end - row.run[1].begin, 0);
    Candidates c = {row, first, first + second};
    return c;
}
static __device__ int candidate(const Candidates &c, int k) {
    return k < c.first ? c.row.run[0].begin + k : c.row.run[1].begin + k - c.first;
}

// --- by a thread ------------------------------------------------------------------------------------------

// Calls visit(j) for each candidate whose bounds overlap those of the sphere, in the order of rows. The candidates of a
// chunk of a row are tested first, all together, so that their loads are in flight at once.
template <class Visit>
static __device__ void query_by_thread(const SandBroadPhase *g, const SandCellRange &range, const float4 *bounds,
                                       float4 sphere, Visit visit) {
    enum { CHUNK = 32 };
    for (int row = 0; row < range.rows; row++) {
        Candidates c = candidates_of(cell_row(g, &range, row));
        for (int base = 0; base < c.count; base += CHUNK) {
            unsigned bits = 0;
            int count = min(c.count - base, CHUNK);
#pragma unroll 4
            for (int k = 0; k < count; k++)
                if (cull_bounds_overlap(sphere, bounds[candidate(c, base + k)])) bits |= 1u << k;
            for (; bits; bits &= bits - 1) visit(candidate(c, base + __ffs((int)bits) - 1));
        }
    }
}

// Spheres of the finest levels have few candidates and are queried by threads. The others, which follow them in the sorted
// order and have many, are queried by groups.
enum { THREAD_QUERY_LEVELS = 1 };
static __device__ int thread_query_end(const SandBroadPhase *g) {
    return g->level_count ? g->levels[min((int)THREAD_QUERY_LEVELS, g->level_count) - 1].end : 0;
}

// --- by a group -------------------------------------------------------------------------------------------

// The threads of a warp that query one sphere together.
enum { QUERY_THREADS = 16 };
struct QueryGroup {
    int64_t sphere;
    int lane;      // of this thread in the group
    unsigned mask; // of the group in the warp
};
// The group of a thread, where the groups take the spheres from `begin` on.
static __device__ QueryGroup query_group(int64_t thread, int64_t begin) {
    int first = (int)(threadIdx.x & 31) / QUERY_THREADS * QUERY_THREADS;
    QueryGroup group = {begin + thread / QUERY_THREADS, (int)(threadIdx.x & 31) - first,
                        0xffffffffu >> (32 - QUERY_THREADS) << first};
    return group;
}
// Which lanes of the group say yes, as bits.
static __device__ unsigned group_vote(QueryGroup group, bool yes) {
    return __ballot_sync(group.mask, yes) >> ((threadIdx.x & 31) - group.lane);
}
// The sum over the lanes up to this one, inclusive.
static __device__ int group_prefix_sum(QueryGroup group, int v) {
    for (int s = 1; s < QUERY_THREADS; s *= 2) {
        int before = __shfl_up_sync(group.mask, v, s, QUERY_THREADS);
        if (group.lane >= s) v += before;
    }
    return v;
}
static __device__ double group_max(QueryGroup group, double v) {
    for (int s = QUERY_THREADS / 2; s; s >>= 1) v = fmax(v, __shfl_xor_sync(group.mask, v, s));
    return v;
}

// What a group keeps in shared memory: the rows it is at, as one list of candidates, and a queue of those whose bounds
// overlap, which wait until there is one for each lane.
enum { QUERY_BLOCK_THREADS = 128, QUERY_BLOCKS = 8, QUERY_UNROLL = 2, QUERY_QUEUE = 4 * QUERY_THREADS };
struct QueryRow {
    int first; // position in the list where the first run ends
    int begin; // added to a position in the first run: the candidate
    int other; // the same for the second run
    int end;   // position in the list where the row ends
};
struct QueryScratch {
    QueryRow row[QUERY_THREADS];
    int queue[QUERY_QUEUE];
    int padding[QUERY_THREADS]; // so that the groups of a warp use different banks
};
static __device__ QueryScratch *group_scratch() {
    __shared__ QueryScratch scratch[QUERY_BLOCK_THREADS / QUERY_THREADS];
    return &scratch[threadIdx.x / QUERY_THREADS];
}

// Loads the rows of a cell range from row `base` on, one a lane, into the scratch memory. Returns how many candidates they
// have together.
static __device__ int group_load_rows(QueryGroup group, QueryScratch *scratch, const SandBroadPhase *g,
                                      const SandCellRange *range, int base) {
    SandCellRow row = {{{0, 0}, {0, 0}}};
    if (base + group.lane < range->rows) row = cell_row(g, range, base + group.lane);
    Candidates c = candidates_of(row);
    int end = group_prefix_sum(group, c.count), begin = end - c.count;
    scratch->row[group.lane] = {begin + c.first, row.run[0].begin - begin, row.run[1].begin - begin - c.first, end};
    int total = __shfl_sync(group.mask, end, QUERY_THREADS - 1, QUERY_THREADS);
    __syncwarp(group.mask);
    return total;
}

// Calls visit(j) for each candidate whose bounds overlap those of the group's sphere, in the order of levels, rows and
// positions, QUERY_THREADS at a time; lanes for which none is left get j = -1, so that visit may use group operations.
// wants(k) says whether to look in level k. The lanes take the candidates of several rows side by side, since rows are short
// and most candidates are far away.
template <class Wants, class Visit>
static __device__ void query_by_group(QueryGroup group, const SandBroadPhase *g, int level, const float4 *bounds,
                                      float4 sphere, Wants wants, Visit visit) {
    QueryScratch *scratch = group_scratch();
    int queued = 0, visited = 0; // so far, of those that overlap
    for (int k = 0; k < g->level_count; k++) {
        if (!wants(k)) continue;
        SandCellRange range = cell_range_of(g, level, (int)group.sphere, k);
        for (int base = 0; base < range.rows; base += QUERY_THREADS) {
            int total = group_load_rows(group, scratch, g, &range, base), at = 0;
            if (total == 0) continue;
            QueryRow row = scratch->row[0];
            for (int begin = 0; begin < total; begin += QUERY_THREADS * QUERY_UNROLL) {
                int j[QUERY_UNROLL];
                float4 other[QUERY_UNROLL];
#pragma unroll
                for (int n = 0; n < QUERY_UNROLL; n++) {
                    int which = begin + QUERY_THREADS * n + group.lane;
                    j[n] = -1;
                    if (which >= total) continue;
                    while (which >= row.end) row = scratch->row[++at];
                    j[n] = which + (which < row.first ? row.begin : row.other);
                    other[n] = bounds[j[n]];
                }
#pragma unroll
                for (int n = 0; n < QUERY_UNROLL; n++) {
                    bool overlaps = j[n] >= 0 && cull_bounds_overlap(sphere, other[n]);
                    unsigned votes = group_vote(group, overlaps);
                    int before = __popc(votes & ((1u << group.lane) - 1));
                    if (overlaps) scratch->queue[(queued + before) % QUERY_QUEUE] = j[n];
                    queued += __popc(votes);
                }
                __syncwarp(group.mask);
                for (; queued - visited >= QUERY_THREADS; visited += QUERY_THREADS)
                    visit(scratch->queue[(visited + group.lane) % QUERY_QUEUE]);
                __syncwarp(group.mask);
            }
        }
    }
    if (queued > visited) visit(visited + group.lane < queued ? scratch->queue[(visited + group.lane) % QUERY_QUEUE] : -1);
    __syncwarp(group.mask);
}
