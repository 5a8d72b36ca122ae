// SPDX-License-Identifier: MIT
// The SPMD macros of sim/solver/kernel/spmd_cpu.h for a persistent cooperative kernel: the same solver code, with every
// thread of the launch as a worker. One thread block runs on each multiprocessor and stays there for the whole solve, so
// that iterations need no launches, only barriers.
//
//   launch   = gridDim.x thread blocks, one a multiprocessor, resident until the solve (or its slice) ends
//   block    = blockDim.x threads; threads of a block synchronize by __syncthreads
//   worker   = one thread; worker_is_first is thread 0 of block 0, worker_decides thread 0 of each block
//
//   SAND_FOR: items are dealt to the blocks in shares of neighbors, round by round
//
//     items     | 0 ... s-1 | s ... 2s-1 | 2s ...    |   ...   | Bs ...    | ...
//     block           0           1           2          B-1         0        ...        s = share_of(n) <= blockDim.x
//
//   sand_barrier: thread 0 of each block adds 1 to LaunchShared.arrived and spins until all B blocks have
//
//     block 0   ...work...| __syncthreads | arrived++ | spin . . . . . | __syncthreads |...work...
//     block 1   ......work......| __syncthreads | arrived++ | spin . . | __syncthreads |...work...
//     block 2   .........work.........| __syncthreads | arrived++      | __syncthreads |...work...
//                                                                      ^ arrived is a multiple of B
//
//   sum_total: a barrier with a reduction on both sides, in a fixed order and in double; the result has the same bits in
//   every thread, block and run
//
//     sum.part[k]               registers of each thread
//        |   stored
//     shared_parts[k][thread]   shared memory of each block
//        |   warp k of the block reduces its threads
//     part[table][k][block]     LaunchShared
//        |   the barrier; then warp k of every block reduces all blocks
//     shared_totals[k]          shared memory of each block
//
//   Two tables of `part` take turns: a fast block may write the next sum while a slow one still reads the last.
//
// With SAND_RANKS the launch is one rank of several: sums, loops over contacts and agreement are then those of
// cuda/solver/spmd_ranks.h.
#pragma once
#define SAND_SPMD_CUDA
#define SAND_LAYOUT_AOS 1
#include "sandglass/error.h"
#include "sim/solver/block_grid.h"
#include "sim/solver/kernel/variant.h"
#include <cuda_runtime.h>
#include <math.h>
#if SAND_RANKS
#include "cuda/solver/rank_problem.h"
#endif

typedef SAND_REAL real;
typedef int Index; // of a contact or of a body: 64 bits would cost twice the registers. The host refuses problems that are
                   // too large for it: see MAX_CONTACTS. Offsets of numbers in an array have 64 bits: see contact_index

#define SAND_INLINE static __device__ __forceinline__
#if SAND_COMPONENTS
#define SAND_KERNEL static __device__ __noinline__ // all methods are in one kernel: one copy of each function
#else
#define SAND_KERNEL static __device__ __forceinline__ // the state of a solve stays in registers
#endif

#define SAND_HOT static __device__ __noinline__ // a loop has all registers for itself

#define REAL_FUSED 1
#define REAL_ROUGH 1
// Approximate functions, one instruction each, for numbers that are neither denormal nor near overflow.
SAND_INLINE float real_rough_root(float a) {
    float root;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(a));
    return root;
}
SAND_INLINE float real_rough_inverse(float a) {
    float inverse;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(a));
    return inverse;
}
#include "sim/solver/kernel/spmd_math.inl"

#define SAND_UNCOORDINATED 1
#define SAND_GATHER_ORDER 0
#define SAND_RESTRICT __restrict__
#ifndef SAND_RANKS
#define SAND_RANKS 0 // one process has the whole problem
#endif
#define SAND_PRAGMA(pragma) _Pragma(#pragma)

enum { SOLVE_MAX_THREADS = 768 }; // of a thread block, at most; a multiprocessor has one block

// What the thread blocks of a launch share, in global memory; zero before a solve.
enum { LAUNCH_BLOCKS = 1024 }; // at most
typedef struct LaunchShared {
    unsigned arrived; // arrivals of blocks at barriers so far
    double state[LAUNCH_BLOCKS][SAND_WORKER_STATE];
    int ticket[SAND_BLOCK_COLORS]; // of each color of blocks: how many warps have taken as their second or a later one
#if SAND_RANKS
    RankView rank;
    unsigned requests;                        // posted in the mailbox so far
    double part[RANK_CHUNKS * SAND_MAX_SUMS]; // of the own chunks: the sums of one behind those of the other
    double total[SAND_MAX_SUMS];              // over all ranks
#else
    double part[2][SAND_MAX_SUMS][LAUNCH_BLOCKS]; // of sums: two tables that take turns
#endif
} LaunchShared;

// One thread of the launch.
typedef struct Worker {
    LaunchShared *shared;
#if !SAND_RANKS
    int table; // of LaunchShared.part that the last sum used
#endif
} Worker;

SAND_INLINE Worker worker_make(LaunchShared *shared) {
    Worker w = {shared};
    return w;
}

// How many of n items a thread block takes at a time. Neighboring items touch the same bodies and should meet in the cache
// of one multiprocessor; the blocks take shares in turn, so that a dense region is spread over all of them; and where there
// are few items, every block gets some. The divisions are fast and need not be exact.
SAND_INLINE Index share_of(Index n) {
    float most = __fdividef((float)(n - 1), (float)gridDim.x), rounds = floorf(__fdividef(most, (float)blockDim.x)) + 1;
    return min(((Index)__fdividef(most, rounds) / 32 + 1) * 32, (Index)blockDim.x);
}
SAND_INLINE Index share_begin(Index share, Index n) {
    return (Index)threadIdx.x < share ? (Index)blockIdx.x * share + (Index)threadIdx.x : n;
}
// The last item of the same thread; negative where it has none.
SAND_INLINE Index share_last(Index share, Index n) {
    Index begin = share_begin(share, n), stride = share * (Index)gridDim.x;
    return begin < n ? begin + (n - 1 - begin) / stride * stride : -1;
}

// A run of consecutive items for each thread; neighboring runs go to different blocks.
SAND_INLINE Index run_of(Index n, Index least) { return max(n / (Index)(gridDim.x * blockDim.x) + 1, least); }
SAND_INLINE Index run_begin(Index run, Index n) {
    int64_t begin = ((int64_t)threadIdx.x * gridDim.x + blockIdx.x) * run;
    return begin < n ? (Index)begin : n;
}
SAND_INLINE void worker_add(real *number, real change) { atomicAdd(number, change); }

// The barrier of the launch: the first thread of each block arrives for it and waits for all others. Writes before it are
// visible after it (release, acquire).
SAND_INLINE void launch_barrier_inline(unsigned *arrived) {
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned ticket, seen;
        asm volatile("atom.add.release.gpu.global.u32 %0, [%1], 1;" : "=r"(ticket) : "l"(arrived) : "memory");
        unsigned goal = ticket - ticket % gridDim.x + gridDim.x;
        do {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrived) : "memory");
        } while ((int)(seen - goal) < 0);
    }
    __syncthreads();
}
static __device__ __noinline__ void launch_barrier(unsigned *arrived) { launch_barrier_inline(arrived); }

SAND_INLINE void sand_barrier(Worker *w) { launch_barrier(&w->shared->arrived); }

// The first thread of each block decides for it; all blocks know the same totals and decide the same.
SAND_INLINE bool worker_decides(const Worker *) { return threadIdx.x == 0; }
SAND_INLINE double *worker_state(const Worker *w) { return w->shared->state[blockIdx.x]; }
template <class T> SAND_INLINE const T *worker_learn(const Worker *, const T *value) {
    __shared__ T decided; // the next one is written after a sum, which is a barrier: by then all have read this one
    if (threadIdx.x == 0) decided = *value;
    __syncthreads();
    return &decided;
}

#define SAND_FIXED(p) __ldg(p)

SAND_INLINE bool worker_is_first(const Worker *w) { return (void)w, blockIdx.x == 0 && threadIdx.x == 0; }
SAND_INLINE double worker_seconds(const Worker *w) {
    unsigned long long ns = 0;
    if (worker_is_first(w)) asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return 1e-9 * (double)ns;
}

typedef struct Sum {
    int count;
    unsigned largest; // bit k: sum k is a maximum
#if SAND_RANKS
    bool fresh; // no loop has added to it yet
#endif
    real part[SAND_MAX_SUMS];
    double total[SAND_MAX_SUMS];
} Sum;

// Unrolled, so that sums stay in registers.
#define SAND_ALL_SUMS(k) SAND_PRAGMA(unroll) for (int k = 0; k < SAND_MAX_SUMS; k++)

SAND_INLINE void sum_open(Worker *w, Sum *sum, int count, unsigned largest) {
    (void)w;
    sum->count = count;
    sum->largest = largest;
#if SAND_RANKS
    sum->fresh = true;
#endif
    SAND_ALL_SUMS(k) sum->part[k] = 0;
}

// Adds or takes the maximum, without branches. Maxima are of numbers that are not negative.
SAND_INLINE double sum_join(double a, double b, bool largest) {
    double sum = a + b, most = b > a ? b : a;
    return largest ? most : sum;
}

// Reduces the values of a warp; the first lane gets the total.
SAND_INLINE double sum_warp(double v, bool largest) {
    for (int s = 16; s; s >>= 1) v = sum_join(v, __shfl_down_sync(ALL_LANES, v, s), largest);
    return v;
}

static __shared__ real shared_parts[SAND_MAX_SUMS][SOLVE_MAX_THREADS];
static __shared__ double shared_totals[SAND_MAX_SUMS];

// Reduces the parts of the threads of a block by one warp; its first lane gets the total.
SAND_INLINE double sum_block(const real *parts, int lane, bool largest) {
    double v = 0;
    SAND_PRAGMA(unroll 8)
    for (int t = 0; t < (int)blockDim.x; t += 32) v = sum_join(v, (double)parts[t + lane], largest);
    return sum_warp(v, largest);
}

SAND_INLINE bool worker_stopped(const int *) { return false; } // the host ends a solve, between its slices
SAND_INLINE void worker_publish(int *, int) {}                 // and reads its curve when it has ended

#if !SAND_RANKS
// Reduces the parts of all blocks by one warp. Several loads are in flight at once.
enum { PARTS_AT_ONCE = 5 };
SAND_INLINE double sum_launch(const double *part, int lane, bool largest) {
    double v = 0;
    for (int b = lane; b < (int)gridDim.x; b += 32 * PARTS_AT_ONCE) {
        double some[PARTS_AT_ONCE];
        SAND_PRAGMA(unroll)
        for (int k = 0; k < PARTS_AT_ONCE; k++) some[k] = b + 32 * k < (int)gridDim.x ? __ldcg(&part[b + 32 * k]) : 0;
        SAND_PRAGMA(unroll)
        for (int k = 0; k < PARTS_AT_ONCE; k++) v = sum_join(v, some[k], largest);
    }
    return sum_warp(v, largest);
}

// From the parts of the threads in shared memory to the totals of the launch. One warp for each sum reduces the threads of
// its block, and after the barrier the blocks, every block for itself.
static __device__ __noinline__ void launch_totals(LaunchShared *shared, int table, int count, unsigned largest) {
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    bool is_max = largest >> warp & 1;
    double *part = shared->part[table][warp < count ? warp : 0];
    __syncthreads();
    if (warp < count) {
        double v = sum_block(shared_parts[warp], lane, is_max);
        if (lane == 0) part[blockIdx.x] = v;
    }
    launch_barrier_inline(&shared->arrived);
    if (warp < count) {
        double v = sum_launch(part, lane, is_max);
        if (lane == 0) shared_totals[warp] = v;
    }
    __syncthreads();
}

SAND_KERNEL void sum_total(Worker *w, Sum *sum) {
    SAND_ALL_SUMS(k) if (k < sum->count) shared_parts[k][threadIdx.x] = sum->part[k];
    w->table ^= 1;
    launch_totals(w->shared, w->table, sum->count, sum->largest);
    SAND_ALL_SUMS(k) sum->total[k] = shared_totals[k];
}

SAND_INLINE bool worker_agree(Worker *w, bool first_says) {
    Sum sum;
    sum_open(w, &sum, 1, 0);
    if (worker_is_first(w) && first_says) sum.part[0] = 1;
    sum_total(w, &sum);
    return sum.total[0] > 0;
}

#endif

#define SAND_UNROLL(n) SAND_PRAGMA(unroll n) // several loads are in flight at once
#define SAND_FOR_EACH(w, i, n) \
    for (Index all_ = (n), share_ = share_of(all_), i = share_begin(share_, all_); i < all_; i += share_ * (Index)gridDim.x)
// Adjacent threads of a warp that share the contacts of a body. More of them save rounds where bodies have different numbers
// of contacts; fewer save additions.
#define SAND_THREADS_PER_BODY 2
#define SAND_GATHERS_AT_ONCE 3 // contacts of a body whose loads a thread has in flight at once
#define SAND_FOR_BODIES(w, i, lane, n) \
    for (Index lane = threadIdx.x % SAND_THREADS_PER_BODY, once_ = 1; once_; once_ = 0) \
        for (Index all_ = (n)*SAND_THREADS_PER_BODY, share_ = share_of(all_), at_ = share_begin(share_, all_), \
                   i = at_ / SAND_THREADS_PER_BODY; \
             at_ < all_; at_ += share_ * (Index)gridDim.x, i = at_ / SAND_THREADS_PER_BODY)
#define SAND_FOR_BODIES_SUM(w, i, lane, n, sum) SAND_FOR_BODIES(w, i, lane, n)
#define SAND_ADD_ONE(sum, k, value) ((sum).part[k] += (value))
#define SAND_RUNS(w, i, n, least) \
    for (Index all_ = (n), run_ = run_of(all_, least), i = run_begin(run_, all_), end_ = min(i + run_, all_); i < end_; i++)
#if SAND_RANKS
#include "cuda/solver/spmd_ranks.h"
#else
#define SAND_FOR(w, i, n) SAND_FOR_EACH(w, i, n)
// From the end to the beginning: what the loop before has touched last is still in the cache.
#define SAND_FOR_BACKWARDS(w, i, n, sum) \
    SAND_UNROLL(2) \
    for (Index all_ = (n), share_ = share_of(all_), i = share_last(share_, all_); i >= 0; i -= share_ * (Index)gridDim.x)
#define SAND_FOR_SUM(w, i, n, sum) SAND_FOR(w, i, n)
#endif
#define SAND_ADD(sum, at, k, value) ((sum).part[k] += (value))
#define SAND_MAX(sum, at, k, value) ((sum).part[k] = real_max(value, (sum).part[k]))

// Four numbers that are loaded, stored and computed with as one.
typedef struct __align__(4 * sizeof(real)) Vec4 {
    real x, y, z, w;
}
Vec4;
SAND_INLINE Vec4 vec4_make(real x, real y, real z, real w) {
    Vec4 f = {x, y, z, w};
    return f;
}
SAND_INLINE Vec4 vec4_load(const real *p) { return *(const Vec4 *)p; }
SAND_INLINE Vec4 vec4_load_fixed(const real *p) {
    float4 f = __ldg((const float4 *)p);
    return vec4_make(f.x, f.y, f.z, f.w);
}
SAND_INLINE Vec4 vec4_load_now(const real *p) { // past the L1 cache: other multiprocessors may have written it
    float4 f = __ldcg((const float4 *)p);
    return vec4_make(f.x, f.y, f.z, f.w);
}
SAND_INLINE void vec4_store(real *p, Vec4 f) { *(Vec4 *)p = f; }
// Past the L1 cache, to memory that the compiler then knows is not shared memory.
SAND_INLINE void vec4_store_now(real *p, Vec4 f) { __stcg((float4 *)p, make_float4(f.x, f.y, f.z, f.w)); }

// Copies to shared memory that go on while the thread does. What was sent for since the last one is a group, which
// fetch_close ends; fetch_wait(n) waits for all groups but the last n.
SAND_INLINE void fetch_vec4(Vec4 *to, const real *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from)
                 : "memory");
}
SAND_INLINE void fetch_word(uint32_t *to, const uint32_t *from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from)
                 : "memory");
}
SAND_INLINE void fetch_real(real *to, const real *from) { fetch_word((uint32_t *)to, (const uint32_t *)from); }
SAND_INLINE void fetch_close(void) { asm volatile("cp.async.commit_group;" ::: "memory"); }
#define fetch_wait(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")

// A number that one warp leaves for another: what it stored before, the other one reads after.
SAND_INLINE int load_acquire(const int *from) {
    int value;
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
    return value;
}
SAND_INLINE void store_release(int *to, int value) {
    asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}

#if SAND_RANKS
// Stores the pair (a, b) of contact i. Chunks begin anywhere, so that a neighboring thread may have nothing to store.
SAND_INLINE void vec4_store_pair(real *pairs, Index i, Vec4 a, Vec4 b) {
    vec4_store(pairs + 8 * (int64_t)i, a);
    vec4_store(pairs + 8 * (int64_t)i + 4, b);
}
#else
// Stores the pair (a, b) of contact i, while the neighboring thread stores that of the neighboring contact: they exchange
// halves and write one pair after the other together, so that memory is written in whole sectors.
SAND_INLINE void vec4_store_pair(real *pairs, Index i, Vec4 a, Vec4 b) {
    bool odd = threadIdx.x & 1;
    unsigned both = 3u << (threadIdx.x & 30);
    Vec4 give = odd ? a : b, got;
    got.x = __shfl_xor_sync(both, give.x, 1);
    got.y = __shfl_xor_sync(both, give.y, 1);
    got.z = __shfl_xor_sync(both, give.z, 1);
    got.w = __shfl_xor_sync(both, give.w, 1);
    real *first = pairs + 8 * (int64_t)(i - odd) + 4 * odd;
    vec4_store(first, odd ? got : a);
    vec4_store(first + 8, odd ? b : got);
}
#endif
#define VEC4_X(f) (f).x
#define VEC4_Y(f) (f).y
#define VEC4_Z(f) (f).z
SAND_INLINE void vec4_write(real *p, real x, real y, real z, real w) { vec4_store(p, vec4_make(x, y, z, w)); }
SAND_INLINE Vec4 vec4_zero(void) { return vec4_make(0, 0, 0, 0); }
SAND_INLINE Vec4 vec4_add(Vec4 a, Vec4 b) { return vec4_make(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
SAND_INLINE Vec4 vec4_sub(Vec4 a, Vec4 b) { return vec4_make(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w); }
SAND_INLINE Vec4 vec4_mul(Vec4 a, Vec4 b) { return vec4_make(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w); }
SAND_INLINE Vec4 vec4_mul_sub(Vec4 a, Vec4 b, Vec4 c) {
    return vec4_make(real_ma(a.x, b.x, -c.x), real_ma(a.y, b.y, -c.y), real_ma(a.z, b.z, -c.z), real_ma(a.w, b.w, -c.w));
}
SAND_INLINE Vec4 vec4_madd(Vec4 a, real s, Vec4 b) {
    return vec4_make(real_ma(s, b.x, a.x), real_ma(s, b.y, a.y), real_ma(s, b.z, a.z), real_ma(s, b.w, a.w));
}
SAND_INLINE real vec4_last(Vec4 a) { return a.w; }
SAND_INLINE Vec4 vec4_with_last(Vec4 a, real last) { return vec4_make(a.x, a.y, a.z, last); }
SAND_INLINE Vec4 vec4_yzx(Vec4 a) { return vec4_make(a.y, a.z, a.x, a.w); }

// The sum over the threads of a body, in the same order for all of them.
SAND_INLINE real real_over_lanes(real v) {
    unsigned group = ((1u << SAND_THREADS_PER_BODY) - 1)
                     << (threadIdx.x % 32 / SAND_THREADS_PER_BODY * SAND_THREADS_PER_BODY);
    for (int s = 1; s < SAND_THREADS_PER_BODY; s *= 2) v += __shfl_xor_sync(group, v, s);
    return v;
}
SAND_INLINE Vec4 vec4_over_lanes(Vec4 f) {
    return vec4_make(real_over_lanes(f.x), real_over_lanes(f.y), real_over_lanes(f.z), 0);
}
