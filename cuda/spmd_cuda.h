// The words of sim/spmd.h for a persistent cooperative kernel: all threads of the grid are the team, a barrier is a
// grid barrier, and a sum is added block by block in double, in the same order every time.
#pragma once
#include "sim/base.h"
#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <math.h>

typedef SAND_REAL real;

#define SAND_INLINE static __device__ __forceinline__
#if SAND_LOCAL
#define SAND_TEXT static __device__ __noinline__ // many methods with much text: one copy for all
#else
#define SAND_TEXT static __device__ __forceinline__ // so that the operator stays in registers and constants
#endif

#define REAL_FUSED 1
#include "sim/spmd_common.inl"

#define SAND_PRAGMA(text) _Pragma(#text)

enum { SAND_CUDA_THREADS = 512, SAND_CUDA_BLOCKS = 1 }; // of a block; blocks of a multiprocessor

// One thread of the grid.
typedef struct Worker {
    int64_t thread, threads;
    unsigned parity;  // which of the two tables of partial sums is in use
    double *partials; // 2 x blocks x SAND_MAX_SUMS
} Worker;

SAND_INLINE Worker worker_make(double *partials) {
    Worker w;
    w.thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    w.threads = (int64_t)gridDim.x * blockDim.x;
    w.parity = 0;
    w.partials = partials;
    return w;
}

// One copy of what every loop ends with: the text around it is inlined whole, so that the operator and the sums stay in
// registers.
static __device__ __noinline__ void grid_barrier(void) { cooperative_groups::this_grid().sync(); }

SAND_INLINE void sand_barrier(Worker *w) {
    (void)w;
    grid_barrier();
}

SAND_INLINE bool worker_is_first(const Worker *w) { return w->thread == 0; }
SAND_INLINE double worker_seconds(const Worker *w) {
    unsigned long long ns = 0;
    if (w->thread == 0) asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return 1e-9 * (double)ns;
}

typedef struct Sum {
    int count;
    unsigned largest; // bits of those that are maxima
    real part[SAND_MAX_SUMS];
    double total[SAND_MAX_SUMS];
} Sum;

// Unrolled, so that sums are registers.
#define SAND_ALL_SUMS(k) SAND_PRAGMA(unroll) for (int k = 0; k < SAND_MAX_SUMS; k++)

SAND_INLINE void sum_open(Worker *w, Sum *sum, int count, unsigned largest) {
    (void)w;
    sum->count = count, sum->largest = largest;
    SAND_ALL_SUMS(k) sum->part[k] = 0;
}

SAND_INLINE double sum_join(double a, double b, bool largest) { return largest ? (b > a ? b : a) : a + b; }

// Adds up a warp's values; the first lane gets the total.
SAND_INLINE double sum_warp(double v, bool largest) {
    for (int s = 16; s; s >>= 1) v = sum_join(v, __shfl_down_sync(0xffffffffu, v, s), largest);
    return v;
}

static __shared__ double shared_sums[SAND_MAX_SUMS][32];

// From the sums of the warps in shared memory to the sums of the grid, in their first column: within the block, then
// over the blocks by every block for itself.
static __device__ __noinline__ void grid_totals(double *table, int count, unsigned largest) {
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    bool top = largest >> warp & 1;
    __syncthreads();
    if (warp < count) {
        double v = sum_warp(lane < warps ? shared_sums[warp][lane] : 0, top);
        if (lane == 0) table[(size_t)warp * gridDim.x + blockIdx.x] = v;
    }
    cooperative_groups::this_grid().sync();
    if (warp < count) {
        double v = 0;
        SAND_PRAGMA(unroll 8)
        for (int b = lane; b < (int)gridDim.x; b += 32) v = sum_join(v, table[(size_t)warp * gridDim.x + b], top);
        v = sum_warp(v, top);
        if (lane == 0) shared_sums[warp][0] = v;
    }
    __syncthreads();
}

SAND_TEXT void sum_total(Worker *w, Sum *sum) {
    SAND_ALL_SUMS(k) if (k < sum->count) {
        double v = sum_warp((double)sum->part[k], sum->largest >> k & 1);
        if ((threadIdx.x & 31) == 0) shared_sums[k][threadIdx.x >> 5] = v;
    }
    grid_totals(w->partials + (size_t)w->parity * gridDim.x * SAND_MAX_SUMS, sum->count, sum->largest);
    SAND_ALL_SUMS(k) sum->total[k] = shared_sums[k][0];
    __syncthreads();
    w->parity ^= 1;
}

SAND_INLINE bool worker_stopped(const int *) { return false; } // nobody can tell a kernel yet

SAND_INLINE bool worker_agree(Worker *w, bool first_says) {
    Sum sum;
    sum_open(w, &sum, 1, 0);
    if (w->thread == 0 && first_says) sum.part[0] = 1;
    sum_total(w, &sum);
    return sum.total[0] > 0;
}

#define SAND_UNROLL(n) SAND_PRAGMA(unroll n) // so that several loads are under way at once
#define SAND_EACH(w, i, n) for (int64_t i = (w)->thread; i < (n); i += (w)->threads)
#define SAND_FOR(w, i, n) SAND_EACH(w, i, n)
#define SAND_FOR_SUM(w, i, n, sum) SAND_EACH(w, i, n)
#define SAND_AT(i) at_of(i) // blocks lie in tiles as on the CPU, which suits a warp as well
#define SAND_ADD(sum, at, k, value) ((sum).part[k] += (value))
#define SAND_TOP(sum, at, k, value) ((sum).part[k] = real_max(value, (sum).part[k]))

// Four numbers that are loaded, stored and worked on as one.
typedef struct __align__(4 * sizeof(real)) Four {
    real x, y, z, w;
}
Four;
SAND_INLINE Four four_make(real x, real y, real z, real w) {
    Four f = {x, y, z, w};
    return f;
}
SAND_INLINE Four four_load(const real *p) { return *(const Four *)p; }
SAND_INLINE void four_store(real *p, Four f) { *(Four *)p = f; }
SAND_INLINE Four four_zero(void) { return four_make(0, 0, 0, 0); }
SAND_INLINE Four four_add(Four a, Four b) { return four_make(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
SAND_INLINE Four four_sub(Four a, Four b) { return four_make(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w); }
SAND_INLINE Four four_mul(Four a, Four b) { return four_make(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w); }
SAND_INLINE Four four_scale(real s, Four a) { return four_make(s * a.x, s * a.y, s * a.z, s * a.w); }
SAND_INLINE real four_last(Four a) { return a.w; }
SAND_INLINE Four four_with_last(Four a, real last) { return four_make(a.x, a.y, a.z, last); }
SAND_INLINE Four four_turned(Four a) { return four_make(a.y, a.z, a.x, a.w); }
