// SPDX-License-Identifier: MIT
// The SPMD macros of spmd.h for a thread pool. A worker is a thread; the contacts are cut into up to SAND_CHUNKS chunks,
// whatever the number of threads, and walked in strips of SAND_STRIP tiles of SAND_LANES contacts:
//
//   chunk   |----------------|----------------|-- ...        a worker owns consecutive chunks
//   strip   |-------|-------|                                partial sums are folded into double after each
//   tile    |-|-|-|-|                                        SAND_LANES contacts, one SIMD lane each
//
// A chunk has the contacts of a range of bodies, and is padded to whole tiles (sim/solver/chunks.h). On a rank of several a
// worker also walks spans that are no chunks (thread_pool.h).
#pragma once
#include "sim/core/clock.h"
#include "sim/core/thread_pool.h"
#include "sim/solver/kernel/variant.h"
#include <math.h>

typedef SAND_REAL real;
typedef int64_t Index; // of a contact, or of a number in an array

// always_inline as on CUDA: gcc gives up inlining inside long functions.
#define SAND_INLINE static inline __attribute__((always_inline))
#define SAND_KERNEL static // a larger function that solver code calls
// Never inlined: what every loop calls once per strip. Inlined everywhere it took more than half of the compiler's time.
#define SAND_OUTLINE static __attribute__((noinline, unused))
#define SAND_HOT static // a loop in which most of the time is spent

#if (defined(FP_FAST_FMA) && defined(FP_FAST_FMAF)) || defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define REAL_FUSED 1
#else
#define REAL_FUSED 0
#endif
#define REAL_ROUGH 0
#include "sim/solver/kernel/spmd_math.inl"

#define SAND_RESTRICT restrict
#define SAND_RANKS 1 // a problem may be solved by several processes
#define SAND_UNCOORDINATED 0
#define SAND_THREADS_PER_BODY 1
#define SAND_GATHER_ORDER 1 // a processor predicts how many contacts the next body has: those with as many follow each other
#define SAND_FIXED(p) (*(p))
#define SAND_UNROLL(n) // out-of-order execution looks ahead by itself

// --- sums ---------------------------------------------------------------------------------------------------

typedef SandWorker Worker;

// Up to SAND_MAX_SUMS sums of one loop.
typedef struct Sum {
    int count;
    unsigned largest; // bit k: sum k is a maximum
    real lane[SAND_MAX_SUMS][SAND_LANES];
    double total[SAND_MAX_SUMS];
} Sum;

// Opens `count` sums at zero.
SAND_OUTLINE void sum_open(Worker *w, Sum *sum, int count, unsigned largest) {
    sum->count = count;
    sum->largest = largest;
    for (int k = 0; k < count; k++)
        for (int l = 0; l < SAND_LANES; l++) sum->lane[k][l] = 0;
    for (int span = w->first_span; span < w->last_span; span++)
        for (int k = 0; k < count; k++) sand_partials(w, span)[k] = 0;
}

// Adds up all workers; a barrier.
SAND_INLINE void sum_total(Worker *w, Sum *sum) { sand_totals(w, sum->count, sum->largest, sum->total); }

// The sum and the largest of the lanes, in their order. Functions of their own: a compiler that sees all sums of a loop at
// once takes one of each together, which costs more than it saves.
SAND_OUTLINE double lanes_sum(const real *lane) {
    double s = 0;
    for (int l = 0; l < SAND_LANES; l++) s += (double)lane[l];
    return s;
}
SAND_OUTLINE double lanes_largest(const real *lane) {
    double s = 0;
    for (int l = 0; l < SAND_LANES; l++) s = (double)lane[l] > s ? (double)lane[l] : s;
    return s;
}

// Folds the lanes of the last strip into the partial sums of its span, in double.
SAND_OUTLINE void sum_fold(Worker *w, int span, Sum *restrict sum) {
    double *restrict partial = sand_partials(w, span);
    for (int k = 0; k < sum->count; k++) {
        if (sum->largest & 1u << k) {
            double s = lanes_largest(sum->lane[k]);
            partial[k] = s > partial[k] ? s : partial[k];
        } else {
            partial[k] += lanes_sum(sum->lane[k]);
        }
        for (int l = 0; l < SAND_LANES; l++) sum->lane[k][l] = 0;
    }
}

#define SAND_ADD(sum, ref, k, value) ((sum).lane[k][contact_lane(ref)] += (value))
#define SAND_MAX(sum, ref, k, value) ((sum).lane[k][contact_lane(ref)] = real_max(value, (sum).lane[k][contact_lane(ref)]))
#define SAND_ADD_ONE(sum, k, value) ((sum).lane[k][0] += (value))

// --- loops --------------------------------------------------------------------------------------------------

// The strip of contacts that a worker is at.
typedef struct Cursor {
    int span;
    int64_t tiles, tile, span_end; // in tiles
    int64_t begin, end;            // the strip, in contacts
} Cursor;

SAND_INLINE Cursor cursor_begin(const Worker *w, int64_t n) {
    Cursor c = {.span = w->first_span - 1, .tiles = n / SAND_LANES};
    return c;
}

// Moves on to the next strip and folds the sums of the last one. False at the end of the worker's spans.
SAND_INLINE bool cursor_next(Worker *w, Cursor *c, Sum *sum) {
    if (sum && c->end > c->begin) sum_fold(w, c->span, sum);
    while (c->tile == c->span_end) {
        if (++c->span >= w->last_span) return false;
        SandSpan span = sand_span(w, c->span, c->tiles);
        c->tile = span.begin;
        c->span_end = span.end;
    }
    int64_t last = c->tile + SAND_STRIP < c->span_end ? c->tile + SAND_STRIP : c->span_end;
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
#define SAND_FOR_EACH(w, i, n) \
    for (int64_t i = sand_chunk_begin((w)->first_chunk, n), end_ = sand_chunk_begin((w)->last_chunk, n); i < end_; i++)
#define SAND_FOR_NUMBERS(w, i, c, n, size) \
    SAND_FOR_EACH(w, i, n) \
    for (int c = 0; c < (size); c++)
#define SAND_FOR_BODIES(w, i, lane, n) \
    for (int lane = 0; lane < 1; lane++) SAND_FOR_EACH(w, i, n)
#define SAND_FOR_BODIES_SUM(w, i, lane, n, sum) \
    for (int lane = 0, span_ = (w)->first_span; span_ < (w)->last_span; sum_fold(w, span_++, sum)) \
        for (int64_t i = sand_span_begin(w, span_, n), end_ = sand_span_begin(w, span_ + 1, n); i < end_; i++)

// --- agreement ----------------------------------------------------------------------------------------------

// Every worker computes scalars for itself, from the same totals.
#define worker_decides(w) ((void)(w), true)
#define worker_learn(w, value) ((void)(w), (value))
SAND_INLINE double *worker_state(Worker *w) { return w->state; }

SAND_INLINE bool worker_is_first(const Worker *w) { return w->id == 0; }
SAND_INLINE double worker_seconds(const Worker *w) { return w->id == 0 ? sand_seconds() : 0; } // the first worker's clock

// Whether another thread has asked for the solve to end.
SAND_INLINE bool worker_stopped(const int *stop) { return __atomic_load_n(stop, __ATOMIC_RELAXED) != 0; }

// Tells other threads how many points of the curve they can read. The first worker calls it.
SAND_INLINE void worker_publish(int *live, int count) { __atomic_store_n(live, count, __ATOMIC_RELEASE); }

// Gives everyone the flag of the first worker, of the first rank where there are several; a barrier.
SAND_INLINE bool worker_agree(Worker *w, bool first_says) {
    Sum sum;
    sum_open(w, &sum, 1, 0);
    if (sand_worker_speaks(w) && first_says) sand_partials(w, 0)[0] = 1; // its first span is chunk 0
    sum_total(w, &sum);
    return sum.total[0] > 0;
}

// The first worker exchanges messages with other ranks, after a barrier; all go on computing before they wait for the end.
SAND_INLINE void worker_begin_exchange(Worker *w, const SandRanks *ranks, const SandMessage *messages, int count) {
    sand_barrier(w);
    if (worker_is_first(w)) ranks->begin_exchange(ranks->user, messages, count);
}
SAND_INLINE void worker_end_exchange(Worker *w, const SandRanks *ranks) {
    if (worker_is_first(w)) ranks->end_exchange(ranks->user);
    sand_barrier(w);
}
#define SAND_RECEIVED(p) (*(p))

// --- four numbers in one register ---------------------------------------------------------------------------

typedef real Vec4 __attribute__((vector_size(4 * sizeof(real)), may_alias));
SAND_INLINE Vec4 vec4_load(const real *p) { return *(const Vec4 *)p; } // p is aligned to four numbers
SAND_INLINE Vec4 vec4_load_fixed(const real *p) { return vec4_load(p); }
SAND_INLINE void vec4_store(real *p, Vec4 f) { *(Vec4 *)p = f; }
SAND_INLINE Vec4 vec4_make(real x, real y, real z, real w) { return (Vec4){x, y, z, w}; }
SAND_INLINE Vec4 vec4_zero(void) { return (Vec4){0, 0, 0, 0}; }
SAND_INLINE Vec4 vec4_add(Vec4 a, Vec4 b) { return a + b; }
SAND_INLINE Vec4 vec4_sub(Vec4 a, Vec4 b) { return a - b; }
SAND_INLINE Vec4 vec4_mul(Vec4 a, Vec4 b) { return a * b; }
SAND_INLINE Vec4 vec4_mul_sub(Vec4 a, Vec4 b, Vec4 c) { return a * b - c; }
SAND_INLINE Vec4 vec4_madd(Vec4 a, real s, Vec4 b) { return a + s * b; }
SAND_INLINE real vec4_last(Vec4 a) { return a[3]; }
SAND_INLINE Vec4 vec4_with_last(Vec4 a, real last) { return a[3] = last, a; }
SAND_INLINE Vec4 vec4_yzx(Vec4 a) { return __builtin_shufflevector(a, a, 1, 2, 0, 3); }
// Turns four rows into four columns.
SAND_INLINE void vec4_transpose(const Vec4 *row, Vec4 *column) {
    Vec4 low02 = __builtin_shufflevector(row[0], row[2], 0, 4, 1, 5),
         low13 = __builtin_shufflevector(row[1], row[3], 0, 4, 1, 5);
    Vec4 high02 = __builtin_shufflevector(row[0], row[2], 2, 6, 3, 7),
         high13 = __builtin_shufflevector(row[1], row[3], 2, 6, 3, 7);
    column[0] = __builtin_shufflevector(low02, low13, 0, 4, 1, 5);
    column[1] = __builtin_shufflevector(low02, low13, 2, 6, 3, 7);
    column[2] = __builtin_shufflevector(high02, high13, 0, 4, 1, 5);
    column[3] = __builtin_shufflevector(high02, high13, 2, 6, 3, 7);
}

// Two of these, or eight lanes.
typedef real Vec8 __attribute__((vector_size(8 * sizeof(real)), aligned(sizeof(real)), may_alias));
SAND_INLINE Vec8 vec8_load(const real *p) { return *(const Vec8 *)p; }
SAND_INLINE void vec8_store(real *p, Vec8 f) { *(Vec8 *)p = f; }
SAND_INLINE Vec8 vec8_zero(void) { return (Vec8){0, 0, 0, 0, 0, 0, 0, 0}; }
SAND_INLINE Vec8 vec8_join(Vec4 low, Vec4 high) { return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7); }
// The lower halves of two, and the upper ones.
SAND_INLINE Vec8 vec8_lows(Vec8 a, Vec8 b) { return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11); }
SAND_INLINE Vec8 vec8_highs(Vec8 a, Vec8 b) { return __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15); }
// Turns four rows into four columns, half by half.
SAND_INLINE void vec8_transpose(const Vec8 *row, Vec8 *column) {
    Vec8 low02 = __builtin_shufflevector(row[0], row[2], 0, 8, 1, 9, 4, 12, 5, 13),
         low13 = __builtin_shufflevector(row[1], row[3], 0, 8, 1, 9, 4, 12, 5, 13);
    Vec8 high02 = __builtin_shufflevector(row[0], row[2], 2, 10, 3, 11, 6, 14, 7, 15),
         high13 = __builtin_shufflevector(row[1], row[3], 2, 10, 3, 11, 6, 14, 7, 15);
    column[0] = __builtin_shufflevector(low02, low13, 0, 8, 1, 9, 4, 12, 5, 13);
    column[1] = __builtin_shufflevector(low02, low13, 2, 10, 3, 11, 6, 14, 7, 15);
    column[2] = __builtin_shufflevector(high02, high13, 0, 8, 1, 9, 4, 12, 5, 13);
    column[3] = __builtin_shufflevector(high02, high13, 2, 10, 3, 11, 6, 14, 7, 15);
}
#define VEC4_X(f) (f)[0]
#define VEC4_Y(f) (f)[1]
#define VEC4_Z(f) (f)[2]

// A store by components, for loops whose iterations are SIMD lanes.
SAND_INLINE void vec4_write(real *p, real x, real y, real z, real w) {
    p[0] = x;
    p[1] = y;
    p[2] = z;
    p[3] = w;
}

// Stores the pair (a, b) of contact i. On a GPU neighboring threads do it together.
SAND_INLINE void vec4_store_pair(real *pairs, Index i, Vec4 a, Vec4 b) {
    vec4_store(pairs + 8 * i, a);
    vec4_store(pairs + 8 * i + 4, b);
}

// Adds up the workers of one body: there is one.
SAND_INLINE Vec4 vec4_over_lanes(Vec4 f) { return f; }

// 1 / a; on a GPU accurate to two units in the last place.
SAND_INLINE real real_rough_inverse(real a) { return 1 / a; }
