// The words of sim/spmd.h for a persistent cooperative kernel: all threads of the grid are the team, a barrier is one of
// the whole grid, and a sum is added block by block in double, in the same order every time.
#pragma once
#include "sim/core/error.h"
#include <cuda_runtime.h>
#include <math.h>

typedef SAND_REAL real;
typedef int Index; // of a block or of a number in an array: addresses cost half the registers. The host refuses more

#define SAND_INLINE static __device__ __forceinline__
#if SAND_LOCAL
#define SAND_KERNEL static __device__ __noinline__ // many methods with much text: one copy for all
#else
#define SAND_KERNEL static __device__ __forceinline__ // so that the state of a solve stays in registers
#endif

#define SAND_HOT static __device__ __noinline__ // so that a loop has all registers for itself

#define REAL_FUSED 1
#define REAL_ROUGH 1
// Of numbers that are neither too small nor too large for it: then one instruction is enough.
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

#define SAND_LAYOUT_AOS 1
#define SAND_VEC4_ROWS (SAND_ROWS == 3 && !SAND_LOCAL)
#define SAND_UNCOORDINATED 1
#define SAND_RESTRICT __restrict__
#define SAND_PRAGMA(kernel) _Pragma(#kernel)

enum { SAND_CUDA_THREADS = 768 }; // of a block, at most; a multiprocessor has one block

// What the grid shares; zero before a solve.
enum { LAUNCH_BLOCKS = 1024 }; // at most
typedef struct LaunchShared {
    unsigned arrived; // how many blocks have come to barriers so far
    double memory[LAUNCH_BLOCKS][SAND_WORKER_STATE];
    double part[2][SAND_MAX_SUMS]
               [LAUNCH_BLOCKS]; // of sums; two tables take turns, since some blocks still read the last one
} LaunchShared;

// One thread of the grid.
typedef struct Worker {
    LaunchShared *shared;
    int turn; // which table the last sum was in
} Worker;

SAND_INLINE Worker worker_make(LaunchShared *shared) {
    Worker w = {shared, 0};
    return w;
}

// How many of n items a block of threads takes at a time. Neighbors touch the same bodies and should meet in the cache of
// one multiprocessor; all blocks take turns, so that none gets more than its share of a crowded place; and where there
// are few items, every block gets some.
SAND_INLINE Index share_of(Index n) { // by divisions that are quick and need not be exact
    float most = __fdividef((float)(n - 1), (float)gridDim.x), rounds = floorf(__fdividef(most, (float)blockDim.x)) + 1;
    return min(((Index)__fdividef(most, rounds) / 32 + 1) * 32, (Index)blockDim.x);
}
SAND_INLINE Index share_begin(Index share, Index n) {
    return (Index)threadIdx.x < share ? (Index)blockIdx.x * share + (Index)threadIdx.x : n;
}
// The last item of the same thread; below zero where it has none.
SAND_INLINE Index share_last(Index share, Index n) {
    Index begin = share_begin(share, n), stride = share * (Index)gridDim.x;
    return begin < n ? begin + (n - 1 - begin) / stride * stride : -1;
}

// A run of items for each thread; neighboring runs go to different blocks.
SAND_INLINE Index run_of(Index n, Index least) { return max(n / (Index)(gridDim.x * blockDim.x) + 1, least); }
SAND_INLINE Index run_begin(Index run, Index n) {
    int64_t begin = ((int64_t)threadIdx.x * gridDim.x + blockIdx.x) * run;
    return begin < n ? (Index)begin : n;
}
SAND_INLINE void worker_add(real *number, real change) { atomicAdd(number, change); }

// All blocks meet: the first thread of each arrives for it and waits for all others. What was written before is seen after.
SAND_INLINE void launch_meet(unsigned *arrived) {
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
static __device__ __noinline__ void launch_barrier(unsigned *arrived) { launch_meet(arrived); }

SAND_INLINE void sand_barrier(Worker *w) { launch_barrier(&w->shared->arrived); }

// The first thread of each block decides; all blocks know the same.
SAND_INLINE bool worker_decides(const Worker *) { return threadIdx.x == 0; }
SAND_INLINE double *worker_state(const Worker *w) { return w->shared->memory[blockIdx.x]; }
template <class T> SAND_INLINE const T *worker_learn(const Worker *, const T *value) {
    __shared__ T told; // the next one is written after a sum, which is a barrier: by then all have read it
    if (threadIdx.x == 0) told = *value;
    __syncthreads();
    return &told;
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

// Without branches. What is summed up for its maximum is not negative.
SAND_INLINE double sum_join(double a, double b, bool largest) {
    double sum = a + b, most = b > a ? b : a;
    return largest ? most : sum;
}

// Adds up a warp's values; the first lane gets the total.
SAND_INLINE double sum_warp(double v, bool largest) {
    for (int s = 16; s; s >>= 1) v = sum_join(v, __shfl_down_sync(0xffffffffu, v, s), largest);
    return v;
}

static __shared__ real shared_parts[SAND_MAX_SUMS][SAND_CUDA_THREADS];
static __shared__ double shared_totals[SAND_MAX_SUMS];

// Adds up the threads of the block. The first lane of a warp gets the total.
SAND_INLINE double sum_block(const real *parts, int lane, bool largest) {
    double v = 0;
    SAND_PRAGMA(unroll 8)
    for (int t = 0; t < (int)blockDim.x; t += 32) v = sum_join(v, (double)parts[t + lane], largest);
    return sum_warp(v, largest);
}

// Adds up the blocks. Several parts are on their way at once.
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

// From the sums of the threads in shared memory to the sums of the grid. A warp for each sum adds up the threads of its
// block; when all blocks have met, it adds up those, every block for itself. So this is a barrier as well.
static __device__ __noinline__ void launch_totals(LaunchShared *shared, int turn, int count, unsigned largest) {
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    bool top = largest >> warp & 1;
    double *part = shared->part[turn][warp < count ? warp : 0];
    __syncthreads();
    if (warp < count) {
        double v = sum_block(shared_parts[warp], lane, top);
        if (lane == 0) part[blockIdx.x] = v;
    }
    launch_meet(&shared->arrived);
    if (warp < count) {
        double v = sum_launch(part, lane, top);
        if (lane == 0) shared_totals[warp] = v;
    }
    __syncthreads();
}

SAND_KERNEL void sum_total(Worker *w, Sum *sum) {
    SAND_ALL_SUMS(k) if (k < sum->count) shared_parts[k][threadIdx.x] = sum->part[k];
    w->turn ^= 1;
    launch_totals(w->shared, w->turn, sum->count, sum->largest);
    SAND_ALL_SUMS(k) sum->total[k] = shared_totals[k];
}

SAND_INLINE bool worker_stopped(const int *) { return false; } // the host ends a solve, between its pieces

SAND_INLINE bool worker_agree(Worker *w, bool first_says) {
    Sum sum;
    sum_open(w, &sum, 1, 0);
    if (worker_is_first(w) && first_says) sum.part[0] = 1;
    sum_total(w, &sum);
    return sum.total[0] > 0;
}

#define SAND_UNROLL(n) SAND_PRAGMA(unroll n) // so that several loads are under way at once
#define SAND_FOR_EACH(w, i, n) \
    for (Index all_ = (n), share_ = share_of(all_), i = share_begin(share_, all_); i < all_; i += share_ * (Index)gridDim.x)
// Threads of a warp, side by side. More of them spare rounds where numbers of items differ; fewer spare additions.
#define SAND_THREADS_PER_BODY 2
#define SAND_GATHERS_AT_ONCE 3 // contacts of a body that a thread has under way at once
#define SAND_FOR_BODIES(w, i, mate, n) \
    for (Index mate = threadIdx.x % SAND_THREADS_PER_BODY, once_ = 1; once_; once_ = 0) \
        for (Index all_ = (n)*SAND_THREADS_PER_BODY, share_ = share_of(all_), at_ = share_begin(share_, all_), \
                   i = at_ / SAND_THREADS_PER_BODY; \
             at_ < all_; at_ += share_ * (Index)gridDim.x, i = at_ / SAND_THREADS_PER_BODY)
#define SAND_FOR_BODIES_SUM(w, i, mate, n, sum) SAND_FOR_BODIES(w, i, mate, n)
#define SAND_ADD_ONE(sum, k, value) ((sum).part[k] += (value))
#define SAND_FOR(w, i, n) SAND_FOR_EACH(w, i, n)
// From the end to the begin: what the loop before has touched last is still in the cache.
#define SAND_FOR_BACKWARDS(w, i, n, sum) \
    for (Index all_ = (n), share_ = share_of(all_), i = share_last(share_, all_); i >= 0; i -= share_ * (Index)gridDim.x)
#define SAND_RUNS(w, i, n, least) \
    for (Index all_ = (n), run_ = run_of(all_, least), i = run_begin(run_, all_), end_ = min(i + run_, all_); i < end_; i++)
#define SAND_FOR_SUM(w, i, n, sum) SAND_FOR(w, i, n)
#define SAND_CONTACT(op, i) contact_ref(op, i)
#define SAND_ADD(sum, at, k, value) ((sum).part[k] += (value))
#define SAND_MAX(sum, at, k, value) ((sum).part[k] = real_max(value, (sum).part[k]))

// Vec4 numbers that are loaded, stored and worked on as one.
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
SAND_INLINE Vec4 vec4_load_now(const real *p) { // past the cache of the multiprocessor
    float4 f = __ldcg((const float4 *)p);
    return vec4_make(f.x, f.y, f.z, f.w);
}
SAND_INLINE void vec4_store(real *p, Vec4 f) { *(Vec4 *)p = f; }

// Stores the pair (a, b) of block i, whose neighbor is stored by the neighboring thread: together they write one pair
// after the other, so that bytes go to memory in whole sectors.
SAND_INLINE void vec4_store_pair(real *pairs, Index i, Vec4 a, Vec4 b) {
    bool odd = threadIdx.x & 1;
    unsigned both = 3u << (threadIdx.x & 30);
    Vec4 give = odd ? a : b, got;
    got.x = __shfl_xor_sync(both, give.x, 1), got.y = __shfl_xor_sync(both, give.y, 1);
    got.z = __shfl_xor_sync(both, give.z, 1), got.w = __shfl_xor_sync(both, give.w, 1);
    real *first = pairs + 8 * (i - odd) + 4 * odd;
    vec4_store(first, odd ? got : a);
    vec4_store(first + 8, odd ? b : got);
}
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

// The sum over the mates, in the same order for all of them.
SAND_INLINE real real_over_lanes(real v) {
    unsigned group = ((1u << SAND_THREADS_PER_BODY) - 1)
                     << (threadIdx.x % 32 / SAND_THREADS_PER_BODY * SAND_THREADS_PER_BODY);
    for (int s = 1; s < SAND_THREADS_PER_BODY; s *= 2) v += __shfl_xor_sync(group, v, s);
    return v;
}
SAND_INLINE Vec4 vec4_over_lanes(Vec4 f) {
    return vec4_make(real_over_lanes(f.x), real_over_lanes(f.y), real_over_lanes(f.z), 0);
}

#include "sim/solver/kernel/contact_ref_aos.inl"
