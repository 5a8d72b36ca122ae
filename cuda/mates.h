// How threads look for what is near a ball: the candidates in a row of cells; one thread alone, where cells are small; and
// the mates, who share out rows and what is near in them. After sim/grid.inl.
#pragma once

#include "sight.h"

// A row of cells as one list of candidates.
struct Candidates {
    SandGridRow row;
    int first, count; // of the first run, of both
};
static __device__ Candidates candidates_of(SandGridRow row) {
    int first = max(row.run[0].end - row.run[0].begin, 0), second = max(row.run[1].end - row.run[1].begin, 0);
    Candidates c = {row, first, first + second};
    return c;
}
static __device__ int candidate(const Candidates &c, int k) {
    return k < c.first ? c.row.run[0].begin + k : c.row.run[1].begin + k - c.first;
}

// Those of the first 64 candidates that are near a ball, as bits.
enum { NEAR_BITS = 64 };
static __device__ unsigned long long candidates_near(const Candidates &c, const float4 *near, float4 ball) {
    unsigned long long bits = 0;
    int count = min(c.count, NEAR_BITS);
#pragma unroll 4
    for (int k = 0; k < count; k++)
        if (near_meets(ball, near[candidate(c, k)])) bits |= 1ull << k;
    return bits;
}

// One thread alone: look(j) for each candidate near a ball, in the order of its rows. Those of a part of a row are told
// first, all together: then their numbers are on their way at once.
template <class Look>
static __device__ void look_alone(const SandGrid *g, const SandGridShelf &shelf, const float4 *near, float4 ball,
                                  Look look) {
    enum { PART = 32 };
    for (int row = 0; row < shelf.rows; row++) {
        Candidates c = candidates_of(grid_row(g, &shelf, row));
        for (int base = 0; base < c.count; base += PART) {
            unsigned bits = 0;
            int count = min(c.count - base, PART);
#pragma unroll 4
            for (int k = 0; k < count; k++)
                if (near_meets(ball, near[candidate(c, base + k)])) bits |= 1u << k;
            for (; bits; bits &= bits - 1) look(candidate(c, base + __ffs((int)bits) - 1));
        }
    }
}

// Balls of the finest levels have few candidates: each is for one thread. The others, which come behind them in the sorted
// order and have many, are for mates.
enum { ALONE_LEVELS = 1 };
static __device__ int alone_end(const SandGrid *g) {
    return g->level_count ? g->levels[min((int)ALONE_LEVELS, g->level_count) - 1].end : 0;
}

// Several threads look together for the partners of a ball, each in a row of cells of its own.
enum { MATES = 8 };
struct Mates {
    int64_t ball;
    int place;     // of this thread among them
    unsigned mask; // of them in the warp
};
static __device__ Mates mates_of(int64_t thread, int64_t begin) { // of the balls from `begin` on
    int first = (int)(threadIdx.x & 31) / MATES * MATES;
    Mates m = {begin + thread / MATES, (int)(threadIdx.x & 31) - first, ((1u << MATES) - 1) << first};
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

static __device__ Candidates candidates_from(Mates mates, const Candidates &c, int place) { // those of another mate
    Candidates o;
    for (int k = 0; k < 2; k++) o.row.run[k].begin = __shfl_sync(mates.mask, c.row.run[k].begin, place, MATES);
    o.first = __shfl_sync(mates.mask, c.first, place, MATES), o.count = __shfl_sync(mates.mask, c.count, place, MATES);
    return o;
}

// The candidates of a mate in its row of a shelf: the first mate's in row `base`, the next one's in the one after it.
static __device__ Candidates mates_candidates(Mates m, const SandGrid *g, const SandGridShelf *shelf, int base) {
    SandGridRow row = {{{0, 0}, {0, 0}}};
    if (base + m.place < shelf->rows) row = grid_row(g, shelf, base + m.place);
    return candidates_of(row);
}

// Most of the candidates near a ball lie in few of its rows. The mates share them out and look at as many at a time as they
// are: look(j) for each, in the order of the rows; j = -1 where there is none left. `bits` are those of the own row.
template <class Look>
static __device__ void look_closer(Mates mates, const Candidates &c, unsigned long long bits, Look look) {
    int mine = __popcll(bits), until = mates_sum(mates, mine);
    int total = __shfl_sync(mates.mask, until, MATES - 1, MATES);
    for (int base = 0; base < total; base += MATES) {
        int which = base + mates.place, whose = 0;
#pragma unroll
        for (int k = 0; k < MATES - 1; k++) whose += __shfl_sync(mates.mask, until, k, MATES) <= which;
        Candidates its = candidates_from(mates, c, whose);
        unsigned long long left = __shfl_sync(mates.mask, bits, whose, MATES);
        int before = __shfl_sync(mates.mask, until - mine, whose, MATES);
        for (int k = before; k < which && left; k++) left &= left - 1;
        look(which < total ? candidate(its, __ffsll((long long)left) - 1) : -1);
        __syncwarp(mates.mask);
    }
}
