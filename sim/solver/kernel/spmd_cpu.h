// The SPMD core: the words in which a solver is written once for the CPU and for CUDA. All workers execute the
// same function together; a range is shared out, sums are the same for everyone and added in a fixed order.
//
//   SAND_FOR(w, i, n) { ... }              each worker takes its share of the blocks 0 .. n-1; SAND_CONTACT(op, i) says
//   where
//                                          block i lies in memory, and on a GPU fetches what is known of it
//   SAND_FOR_SUM(w, i, n, sum) { ... }     the same, with SAND_ADD(sum, at, k, value) inside
//   SAND_FOR_EACH(w, i, n) { ... }             the same for bodies and lists: n of any size, nothing side by side
//   SAND_FOR_BACKWARDS(w, i, n, sum) { ... }        as SAND_FOR_SUM; on a GPU from the end, whose numbers are still near
//   SAND_FOR_BODIES(w, i, mate, n) { ... }   as SAND_FOR_EACH, with SAND_THREADS_PER_BODY workers for each i, mate 0 and up;
//                                          vec4_over_lanes(four) adds up what they have
//   SAND_FOR_BODIES_SUM(w, i, mate, n, sum)  the same, with SAND_ADD_ONE(sum, k, value) inside
//   sand_barrier(w)                        everyone arrives, then everyone goes on
//   worker_agree(w, says)                  a barrier; everyone gets what the first worker says
//   sum_total(w, &sum)                     a barrier; then sum.total[k] holds the same value for everyone
//   if (worker_decides(w)) ...             what need not be computed by every thread of a GPU from the same totals
//   worker_learn(w, &value)                where everyone finds what was decided, until the next decision
//   worker_state(w)                       SAND_WORKER_STATE numbers that those who decide keep until the solve ends
//   SAND_UNCOORDINATED                     1: workers may work on the same numbers at the same time, where a text says so,
//                                          by SAND_RUNS(w, i, n, least), a run of at least so many of 0 .. n-1 for each,
//                                          worker_add(&number, change) and vec4_load_now(&numbers); 0: it has none of these
//   SAND_LAYOUT_AOS                           1: a number that is soon made again is not worth fetching, as on a GPU
//   SAND_LAYOUT_AOS                           1: an ContactRef holds the numbers of its block; 0: it says where they are
//   SAND_VEC4_ROWS                             1: vectors lie in memory as stored_impulses impulses do, and need not be
//   stored_impulses SAND_FIXED(&number)                    loads what does not change in a solve SAND_RESTRICT restrict:
//   lets the next round of a loop load before this one has stored
//
// n of SAND_FOR is a multiple of SAND_LANES. On the CPU the blocks of a tile are worked on side by side, each lane
// with its own partial sum; the lanes are folded into double every SAND_STRIP tiles. So the result does not depend
// on the number of threads. A sum is opened after the last one was totalled: one at a time.
//
// These are the words for the CPU; cuda/spmd_cuda.h has the same for a kernel. The including file defines SAND_REAL.
// The text of a solver stays in the common subset of C17 and CUDA C++.
#pragma once
#include "sim/core/thread_pool.h"
#include <math.h>

typedef SAND_REAL real;
typedef int64_t Index; // of a block or of a number in an array

#define SAND_INLINE static inline __attribute__((always_inline)) // as on CUDA: gcc gives up inside long functions
#define SAND_KERNEL static                                       // a larger piece of text
#define SAND_HOT static                                          // a loop in which most of the time is spent

#if (defined(FP_FAST_FMA) && defined(FP_FAST_FMAF)) || defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define REAL_FUSED 1
#else
#define REAL_FUSED 0
#endif
#define REAL_ROUGH 0
#include "sim/solver/kernel/spmd_math.inl"

// As on a GPU, for a test of that text on the CPU; else as it is quickest here.
#ifndef SAND_LAYOUT_AOS
#define SAND_LAYOUT_AOS 0
#endif
#define SAND_VEC4_ROWS (SAND_LAYOUT_AOS && SAND_ROWS == 3 && !SAND_LOCAL)

#if !SAND_LAYOUT_AOS
// Where a block lies. The numbers of the blocks of a tile are side by side: all first components, then all second.
typedef struct ContactRef {
    Index tile, lane; // first block of its tile, place in the tile
} ContactRef;
SAND_INLINE ContactRef contact_ref_make(Index i, Index tile) {
    ContactRef ref = {tile, i - tile};
    return ref;
}
SAND_INLINE ContactRef contact_ref_bare(Index i) { return contact_ref_make(i, i & ~(Index)(SAND_LANES - 1)); }
SAND_INLINE Index contact_index(ContactRef ref) { return ref.tile + ref.lane; }
// Component k of `count` in an array of blocks.
SAND_INLINE Index contact_number(ContactRef ref, int count, int k) { return count * ref.tile + k * SAND_LANES + ref.lane; }
SAND_INLINE Index contact_lane(ContactRef ref) { return ref.lane; }
#define SAND_CONTACT(op, i) contact_ref_make(i, tile_) // inside SAND_FOR
#else
#define SAND_CONTACT(op, i) contact_ref(op, i)
#endif

typedef SandWorker Worker;

typedef struct Sum {
    int count;
    unsigned largest; // bits of those that are maxima
    real lane[SAND_MAX_SUMS][SAND_LANES];
    double total[SAND_MAX_SUMS];
} Sum;

SAND_INLINE void sum_open(Worker *w, Sum *sum, int count, unsigned largest) {
    sum->count = count;
    sum->largest = largest;
    for (int k = 0; k < count; k++)
        for (int l = 0; l < SAND_LANES; l++) sum->lane[k][l] = 0;
    for (int c = w->first_chunk; c < w->last_chunk; c++)
        for (int k = 0; k < count; k++) sand_partials(w, c)[k] = 0;
}

SAND_INLINE void sum_total(Worker *w, Sum *sum) { sand_totals(w, sum->count, sum->largest, sum->total); }

// The strip of blocks a worker is at.
typedef struct Cursor {
    int chunk;
    int64_t tiles, tile, chunk_end; // in tiles
    int64_t begin, end;             // the strip, in blocks
} Cursor;

SAND_INLINE Cursor cursor_begin(const Worker *w, int64_t n) {
    Cursor c = {.chunk = w->first_chunk - 1, .tiles = n / SAND_LANES};
    return c;
}

// Folds the lanes of the last strip into its chunk's partial sums, in double.
SAND_INLINE void sum_fold(Worker *w, int chunk, Sum *sum) {
    double *partial = sand_partials(w, chunk);
    for (int k = 0; k < sum->count; k++) {
        double s = 0;
        for (int l = 0; l < SAND_LANES; l++) {
            double v = (double)sum->lane[k][l];
            s = sum->largest & 1u << k ? (v > s ? v : s) : s + v;
            sum->lane[k][l] = 0;
        }
        partial[k] = sum->largest & 1u << k ? (s > partial[k] ? s : partial[k]) : partial[k] + s;
    }
}

SAND_INLINE bool cursor_next(Worker *w, Cursor *c, Sum *sum) {
    if (sum && c->end > c->begin) sum_fold(w, c->chunk, sum);
    while (c->tile == c->chunk_end) {
        if (++c->chunk >= w->last_chunk) return false;
        c->tile = sand_chunk_begin(c->chunk, c->tiles);
        c->chunk_end = sand_chunk_begin(c->chunk + 1, c->tiles);
    }
    int64_t last = c->tile + SAND_STRIP < c->chunk_end ? c->tile + SAND_STRIP : c->chunk_end;
    c->begin = c->tile * SAND_LANES;
    c->end = last * SAND_LANES;
    c->tile = last;
    return true;
}

// clang-format off
#define SAND_FOR_SUM(w, i, n, sum) \
    for (Cursor cursor_ = cursor_begin(w, n); cursor_next(w, &cursor_, sum);) \
        for (int64_t tile_ = cursor_.begin; tile_ < cursor_.end; tile_ += SAND_LANES) \
            _Pragma("omp simd") for (Index i = tile_; i < tile_ + SAND_LANES; i++)
// clang-format on
#define SAND_FOR(w, i, n) SAND_FOR_SUM(w, i, n, NULL)
#define SAND_FOR_BACKWARDS(w, i, n, sum) SAND_FOR_SUM(w, i, n, sum)
#define SAND_ADD(sum, ref, k, value) ((sum).lane[k][contact_lane(ref)] += (value))
#define SAND_MAX(sum, ref, k, value) ((sum).lane[k][contact_lane(ref)] = real_max(value, (sum).lane[k][contact_lane(ref)]))

// Vec4 numbers that are loaded, stored and worked on as one.
typedef real Vec4 __attribute__((vector_size(4 * sizeof(real)), may_alias));
SAND_INLINE Vec4 vec4_load(const real *p) { return *(const Vec4 *)p; } // p is aligned to four numbers
SAND_INLINE void vec4_store(real *p, Vec4 f) { *(Vec4 *)p = f; }
SAND_INLINE Vec4 vec4_zero(void) { return (Vec4){0, 0, 0, 0}; }
SAND_INLINE Vec4 vec4_add(Vec4 a, Vec4 b) { return a + b; }
SAND_INLINE Vec4 vec4_sub(Vec4 a, Vec4 b) { return a - b; }
SAND_INLINE Vec4 vec4_mul(Vec4 a, Vec4 b) { return a * b; }
SAND_INLINE Vec4 vec4_mul_sub(Vec4 a, Vec4 b, Vec4 c) { return a * b - c; }
SAND_INLINE Vec4 vec4_madd(Vec4 a, real s, Vec4 b) { return a + s * b; }
SAND_INLINE real vec4_last(Vec4 a) { return a[3]; }
SAND_INLINE Vec4 vec4_with_last(Vec4 a, real last) { return a[3] = last, a; }
SAND_INLINE Vec4 vec4_yzx(Vec4 a) { return __builtin_shufflevector(a, a, 1, 2, 0, 3); } // y, z, x

#define VEC4_X(f) (f)[0]
#define VEC4_Y(f) (f)[1]
#define VEC4_Z(f) (f)[2]
// In a loop whose rounds go side by side.
SAND_INLINE void vec4_write(real *p, real x, real y, real z, real w) { p[0] = x, p[1] = y, p[2] = z, p[3] = w; }
SAND_INLINE Vec4 vec4_load_fixed(const real *p) { return vec4_load(p); }

SAND_INLINE real real_rough_inverse(real a) { return 1 / a; }

#if SAND_LAYOUT_AOS
SAND_INLINE Vec4 vec4_make(real x, real y, real z, real w) { return (Vec4){x, y, z, w}; }
SAND_INLINE void vec4_store_pair(real *pairs, Index i, Vec4 a, Vec4 b) {
    vec4_store(pairs + 8 * i, a);
    vec4_store(pairs + 8 * i + 4, b);
}
#include "sim/solver/kernel/contact_ref_aos.inl"
SAND_INLINE Index contact_lane(ContactRef ref) { return ref.block % SAND_LANES; }
#endif

#define SAND_RESTRICT restrict
#define SAND_THREADS_PER_BODY 1
#define SAND_FOR_BODIES(w, i, lane, n) \
    for (int lane = 0; lane < 1; lane++) SAND_FOR_EACH(w, i, n)
#define SAND_FOR_BODIES_SUM(w, i, lane, n, sum) \
    for (int lane = 0, chunk_ = (w)->first_chunk; chunk_ < (w)->last_chunk; sum_fold(w, chunk_++, sum)) \
        for (int64_t i = sand_chunk_begin(chunk_, n), end_ = sand_chunk_begin(chunk_ + 1, n); i < end_; i++)
#define SAND_ADD_ONE(sum, k, value) ((sum).lane[k][0] += (value))
SAND_INLINE Vec4 vec4_over_lanes(Vec4 f) { return f; }
#define SAND_UNCOORDINATED 0
#define SAND_FIXED(p) (*(p))
#define worker_decides(w) ((void)(w), true) // each for itself
#define worker_learn(w, value) ((void)(w), (value))
SAND_INLINE double *worker_state(Worker *w) { return w->memory; }

SAND_INLINE bool worker_is_first(const Worker *w) { return w->id == 0; }
SAND_INLINE double worker_seconds(const Worker *w) { return w->id == 0 ? sand_seconds() : 0; } // the first one's clock

// Whether another thread wants the work to end.
SAND_INLINE bool worker_stopped(const int *stop) { return __atomic_load_n(stop, __ATOMIC_RELAXED) != 0; }

// What the first worker says, told to everyone.
SAND_INLINE bool worker_agree(Worker *w, bool first_says) {
    Sum sum;
    sum_open(w, &sum, 1, 0);
    if (w->id == 0 && first_says) sand_partials(w, 0)[0] = 1;
    sum_total(w, &sum);
    return sum.total[0] > 0;
}

#define SAND_UNROLL(n) // a processor looks ahead by itself
#define SAND_FOR_EACH(w, i, n) \
    for (int64_t i = sand_chunk_begin((w)->first_chunk, n), end_ = sand_chunk_begin((w)->last_chunk, n); i < end_; i++)
