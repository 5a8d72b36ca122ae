// SPDX-License-Identifier: MIT
// A warp on the CPU, for code of cuda/ that is apart from its kernels: the 32 lanes are contexts that take turns. A lane
// runs until the lanes exchange something; each leaves what it has, and reads what the others have once it is its turn
// again. Included before that code, after tests/lab/lab.h. C++.
#pragma once
#include <ucontext.h>

#include <cstring>
#include <vector>

#define __device__
#define ALL_LANES 0xffffffffu
enum { LANES = 32, STACK = 1 << 16 };
static struct { unsigned x; } threadIdx;

// What the lanes leave for each other. A lane is at most one exchange ahead of another, so that two places are enough.
static struct Exchange {
    ucontext_t lane[LANES], all;
    std::vector<char> stack[LANES];
    uint64_t left[2][LANES];
    int exchanges[LANES], running;
    void (*run)();
} warp;

// Leaves a value, lets the other lanes do so too, and returns those of all.
static const uint64_t *exchange(uint64_t value) {
    int lane = (int)threadIdx.x, place = warp.exchanges[lane]++ & 1;
    warp.left[place][lane] = value;
    threadIdx.x = (unsigned)(lane + 1) % LANES;
    swapcontext(&warp.lane[lane], &warp.lane[(lane + 1) % LANES]);
    return warp.left[place];
}

template <class T> static uint64_t to_bits(T value) {
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    return bits;
}
template <class T> static T __shfl_sync(unsigned, T value, int lane) {
    T other;
    memcpy(&other, &exchange(to_bits(value))[lane], sizeof other);
    return other;
}
template <class T> static T __shfl_xor_sync(unsigned mask, T value, int bits) {
    return __shfl_sync(mask, value, (int)threadIdx.x ^ bits);
}
[[maybe_unused]] static unsigned __ballot_sync(unsigned, bool vote) {
    const uint64_t *votes = exchange(vote);
    unsigned all = 0;
    for (int lane = 0; lane < LANES; lane++) all |= (unsigned)votes[lane] << lane;
    return all;
}
[[maybe_unused]] static bool __any_sync(unsigned mask, bool vote) { return __ballot_sync(mask, vote) != 0; }
[[maybe_unused]] static unsigned __match_any_sync(unsigned, int value) {
    const uint64_t *values = exchange(to_bits(value));
    unsigned same = 0;
    for (int lane = 0; lane < LANES; lane++) same |= (unsigned)(values[lane] == to_bits(value)) << lane;
    return same;
}
template <class T> static T __shfl_up_sync(unsigned mask, T value, int by) {
    int lane = (int)threadIdx.x;
    return __shfl_sync(mask, value, lane < by ? lane : lane - by);
}
[[maybe_unused]] static void __syncwarp() { exchange(0); }
[[maybe_unused]] static int __ffs(int bits) { return __builtin_ffs(bits); }
[[maybe_unused]] static int __ffsll(long long bits) { return __builtin_ffsll(bits); }
[[maybe_unused]] static int __clz(int bits) { return bits ? __builtin_clz((unsigned)bits) : 32; }
[[maybe_unused]] static int __popcll(unsigned long long bits) { return __builtin_popcountll(bits); }
[[maybe_unused]] static int __popc(unsigned bits) { return __builtin_popcount(bits); }

// Atomics of lanes that take turns.
[[maybe_unused]] static int atomicCAS(int *at, int expected, int wanted) {
    int before = *at;
    if (before == expected) *at = wanted;
    return before;
}
[[maybe_unused]] static int atomicAdd(int *at, int value) {
    int before = *at;
    *at += value;
    return before;
}
[[maybe_unused]] static int atomicMin(int *at, int value) {
    int before = *at;
    if (value < before) *at = value;
    return before;
}

// A lane that is done hands over to the next, and the last one to the test: all must have exchanged as often.
static void run_lane() {
    int lane = (int)threadIdx.x;
    warp.run();
    threadIdx.x = (unsigned)lane + 1;
    if (lane + 1 < LANES) setcontext(&warp.lane[lane + 1]);
    setcontext(&warp.all);
}

static void run_warp(void (*run)()) {
    warp.run = run;
    for (int lane = 0; lane < LANES; lane++) {
        warp.stack[lane].resize(STACK);
        warp.exchanges[lane] = 0;
        getcontext(&warp.lane[lane]);
        warp.lane[lane].uc_stack.ss_sp = warp.stack[lane].data();
        warp.lane[lane].uc_stack.ss_size = STACK;
        makecontext(&warp.lane[lane], run_lane, 0);
    }
    threadIdx.x = 0;
    swapcontext(&warp.all, &warp.lane[0]);
    for (int lane = 0; lane < LANES; lane++) assert_int_equal(warp.exchanges[lane], warp.exchanges[0]);
}
