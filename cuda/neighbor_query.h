// How threads look for what is near a ball: the candidates in a row of cells; one thread alone, where cells are small; and
// the mates, who share out all candidates and what is near of them. After sim/grid.inl.
#pragma once

#include "cuda/float_cull.h"

// A row of cells as one list of candidates.
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

// One thread alone: look(j) for each candidate near a ball, in the order of its rows. Those of a part of a row are told
// first, all together: then their numbers are on their way at once.
template <class Look>
static __device__ void query_alone(const SandBroadPhase *g, const SandCellRange &range, const float4 *near, float4 sphere,
                                   Look look) {
    enum { PART = 32 };
    for (int row = 0; row < range.rows; row++) {
        Candidates c = candidates_of(cell_row(g, &range, row));
        for (int base = 0; base < c.count; base += PART) {
            unsigned bits = 0;
            int count = min(c.count - base, PART);
#pragma unroll 4
            for (int k = 0; k < count; k++)
                if (near_meets(sphere, near[candidate(c, base + k)])) bits |= 1u << k;
            for (; bits; bits &= bits - 1) look(candidate(c, base + __ffs((int)bits) - 1));
        }
    }
}

// Balls of the finest levels have few candidates: each is for one thread. The others, which come behind them in the sorted
// order and have many, are for mates.
enum { ALONE_LEVELS = 1 };
static __device__ int alone_end(const SandBroadPhase *g) {
    return g->level_count ? g->levels[min((int)ALONE_LEVELS, g->level_count) - 1].end : 0;
}

// Several threads look together for the partners of a ball.
enum { QUERY_THREADS = 16 };
struct QueryGroup {
    int64_t sphere;
    int place;     // of this thread among them
    unsigned mask; // of them in the warp
};
static __device__ QueryGroup query_group(int64_t thread, int64_t begin) { // of the balls from `begin` on
    int first = (int)(threadIdx.x & 31) / QUERY_THREADS * QUERY_THREADS;
    QueryGroup m = {begin + thread / QUERY_THREADS, (int)(threadIdx.x & 31) - first,
                    0xffffffffu >> (32 - QUERY_THREADS) << first};
    return m;
}
// Which of the mates say yes, by their places.
static __device__ unsigned group_vote(QueryGroup m, bool yes) {
    return __ballot_sync(m.mask, yes) >> ((threadIdx.x & 31) - m.place);
}
// The sum over the mates up to this one.
static __device__ int group_prefix_sum(QueryGroup m, int v) {
    for (int s = 1; s < QUERY_THREADS; s *= 2) {
        int before = __shfl_up_sync(m.mask, v, s, QUERY_THREADS);
        if (m.place >= s) v += before;
    }
    return v;
}
static __device__ double group_max(QueryGroup m, double v) {
    for (int s = QUERY_THREADS / 2; s; s >>= 1) v = fmax(v, __shfl_xor_sync(m.mask, v, s));
    return v;
}

// What the mates of a ball share: the rows that they are at, one after the other as one list of candidates, and those that
// were found to be near and wait until there is one for each mate.
enum { QUERY_BLOCK_THREADS = 128, QUERY_BLOCKS = 8, QUERY_AT_ONCE = 2, QUERY_QUEUE = 4 * QUERY_THREADS };
struct QueryRow {
    int first, begin; // of the first run; the first candidate
    int other;        // of the second run, as if it had begun with the first
    int end;          // in the list: how many there are with those of the rows before
};
struct QueryScratch {
    QueryRow row[QUERY_THREADS];
    int buffer[QUERY_QUEUE];
    int apart[QUERY_THREADS]; // so that neighbors are in different banks
};
static __device__ QueryScratch *group_scratch() {
    __shared__ QueryScratch desks[QUERY_BLOCK_THREADS / QUERY_THREADS];
    return &desks[threadIdx.x / QUERY_THREADS];
}

// Each mate lays a row of the shelf on the desk: the first mate row `base`, the next one the one after it. Returns how many
// candidates there are in all of them.
static __device__ int group_load_rows(QueryGroup m, QueryScratch *desk, const SandBroadPhase *g, const SandCellRange *range,
                                      int base) {
    SandCellRow row = {{{0, 0}, {0, 0}}};
    if (base + m.place < range->rows) row = cell_row(g, range, base + m.place);
    Candidates c = candidates_of(row);
    int end = group_prefix_sum(m, c.count), begin = end - c.count;
    desk->row[m.place] = {begin + c.first, row.run[0].begin - begin, row.run[1].begin - begin - c.first, end};
    int total = __shfl_sync(m.mask, end, QUERY_THREADS - 1, QUERY_THREADS);
    __syncwarp(m.mask);
    return total;
}

// The mates look together: look(j) for each candidate near their ball, in the order of levels, rows and places, as many at a
// time as they are; j = -1 where there is none left. in(k) says whether level k is looked at. All candidates of some rows
// are one list, of which the mates take the next ones side by side; most are far away.
template <class In, class Look>
static __device__ void query_together(QueryGroup group, const SandBroadPhase *g, int level, const float4 *near,
                                      float4 sphere, In in, Look look) {
    QueryScratch *desk = group_scratch();
    int held = 0, taken = 0; // of those that are near
    for (int k = 0; k < g->level_count; k++) {
        if (!in(k)) continue;
        SandCellRange range = cell_range_of(g, level, (int)group.sphere, k);
        for (int base = 0; base < range.rows; base += QUERY_THREADS) {
            int total = group_load_rows(group, desk, g, &range, base), at = 0;
            if (total == 0) continue;
            QueryRow row = desk->row[0];
            for (int begin = 0; begin < total; begin += QUERY_THREADS * QUERY_AT_ONCE) {
                int j[QUERY_AT_ONCE];
                float4 its[QUERY_AT_ONCE];
#pragma unroll
                for (int n = 0; n < QUERY_AT_ONCE; n++) {
                    int which = begin + QUERY_THREADS * n + group.place;
                    j[n] = -1;
                    if (which >= total) continue;
                    while (which >= row.end) row = desk->row[++at];
                    j[n] = which + (which < row.first ? row.begin : row.other);
                    its[n] = near[j[n]];
                }
#pragma unroll
                for (int n = 0; n < QUERY_AT_ONCE; n++) {
                    bool is_near = j[n] >= 0 && near_meets(sphere, its[n]);
                    unsigned votes = group_vote(group, is_near);
                    if (is_near) desk->buffer[(held + __popc(votes & ((1u << group.place) - 1))) % QUERY_QUEUE] = j[n];
                    held += __popc(votes);
                }
                __syncwarp(group.mask);
                for (; held - taken >= QUERY_THREADS; taken += QUERY_THREADS)
                    look(desk->buffer[(taken + group.place) % QUERY_QUEUE]);
                __syncwarp(group.mask);
            }
        }
    }
    if (held > taken) look(taken + group.place < held ? desk->buffer[(taken + group.place) % QUERY_QUEUE] : -1);
    __syncwarp(group.mask);
}
