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
static __device__ void look_alone(const SandBroadPhase *g, const SandCellRange &range, const float4 *near, float4 sphere,
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
enum { MATES = 16 };
struct Mates {
    int64_t sphere;
    int place;     // of this thread among them
    unsigned mask; // of them in the warp
};
static __device__ Mates mates_of(int64_t thread, int64_t begin) { // of the balls from `begin` on
    int first = (int)(threadIdx.x & 31) / MATES * MATES;
    Mates m = {begin + thread / MATES, (int)(threadIdx.x & 31) - first, 0xffffffffu >> (32 - MATES) << first};
    return m;
}
// Which of the mates say yes, by their places.
static __device__ unsigned mates_vote(Mates m, bool yes) {
    return __ballot_sync(m.mask, yes) >> ((threadIdx.x & 31) - m.place);
}
// The sum over the mates up to this one.
static __device__ int mates_sum(Mates m, int v) {
    for (int s = 1; s < MATES; s *= 2) {
        int before = __shfl_up_sync(m.mask, v, s, MATES);
        if (m.place >= s) v += before;
    }
    return v;
}
static __device__ double mates_most(Mates m, double v) {
    for (int s = MATES / 2; s; s >>= 1) v = fmax(v, __shfl_xor_sync(m.mask, v, s));
    return v;
}

// What the mates of a ball share: the rows that they are at, one after the other as one list of candidates, and those that
// were found to be near and wait until there is one for each mate.
enum { MATES_THREADS = 128, MATES_BLOCKS = 8, MATES_AT_ONCE = 2, MATES_RING = 4 * MATES };
struct MatesRow {
    int first, begin; // of the first run; the first candidate
    int other;        // of the second run, as if it had begun with the first
    int end;          // in the list: how many there are with those of the rows before
};
struct Desk {
    MatesRow row[MATES];
    int ring[MATES_RING];
    int apart[MATES]; // so that neighbours are in different banks
};
static __device__ Desk *mates_desk() {
    __shared__ Desk desks[MATES_THREADS / MATES];
    return &desks[threadIdx.x / MATES];
}

// Each mate lays a row of the shelf on the desk: the first mate row `base`, the next one the one after it. Returns how many
// candidates there are in all of them.
static __device__ int mates_lay(Mates m, Desk *desk, const SandBroadPhase *g, const SandCellRange *range, int base) {
    SandCellRow row = {{{0, 0}, {0, 0}}};
    if (base + m.place < range->rows) row = cell_row(g, range, base + m.place);
    Candidates c = candidates_of(row);
    int end = mates_sum(m, c.count), begin = end - c.count;
    desk->row[m.place] = {begin + c.first, row.run[0].begin - begin, row.run[1].begin - begin - c.first, end};
    int total = __shfl_sync(m.mask, end, MATES - 1, MATES);
    __syncwarp(m.mask);
    return total;
}

// The mates look together: look(j) for each candidate near their ball, in the order of levels, rows and places, as many at a
// time as they are; j = -1 where there is none left. in(k) says whether level k is looked at. All candidates of some rows
// are one list, of which the mates take the next ones side by side; most are far away.
template <class In, class Look>
static __device__ void look_together(Mates mates, const SandBroadPhase *g, int level, const float4 *near, float4 sphere,
                                     In in, Look look) {
    Desk *desk = mates_desk();
    int held = 0, taken = 0; // of those that are near
    for (int k = 0; k < g->level_count; k++) {
        if (!in(k)) continue;
        SandCellRange range = cell_range_of(g, level, (int)mates.sphere, k);
        for (int base = 0; base < range.rows; base += MATES) {
            int total = mates_lay(mates, desk, g, &range, base), at = 0;
            if (total == 0) continue;
            MatesRow row = desk->row[0];
            for (int begin = 0; begin < total; begin += MATES * MATES_AT_ONCE) {
                int j[MATES_AT_ONCE];
                float4 its[MATES_AT_ONCE];
#pragma unroll
                for (int n = 0; n < MATES_AT_ONCE; n++) {
                    int which = begin + MATES * n + mates.place;
                    j[n] = -1;
                    if (which >= total) continue;
                    while (which >= row.end) row = desk->row[++at];
                    j[n] = which + (which < row.first ? row.begin : row.other);
                    its[n] = near[j[n]];
                }
#pragma unroll
                for (int n = 0; n < MATES_AT_ONCE; n++) {
                    bool is_near = j[n] >= 0 && near_meets(sphere, its[n]);
                    unsigned votes = mates_vote(mates, is_near);
                    if (is_near) desk->ring[(held + __popc(votes & ((1u << mates.place) - 1))) % MATES_RING] = j[n];
                    held += __popc(votes);
                }
                __syncwarp(mates.mask);
                for (; held - taken >= MATES; taken += MATES) look(desk->ring[(taken + mates.place) % MATES_RING]);
                __syncwarp(mates.mask);
            }
        }
    }
    if (held > taken) look(taken + mates.place < held ? desk->ring[(taken + mates.place) % MATES_RING] : -1);
    __syncwarp(mates.mask);
}
