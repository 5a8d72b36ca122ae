// SPDX-License-Identifier: MIT
// The SPMD layer on the CPU: ranges are covered exactly once, sums are right and have the same bits for every number of
// threads, and barriers hold with more threads than cores.
#define SAND_REAL float
#include "sim/solver/kernel/operator.inl"
#include "sim/core/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
// cmocka.h needs the headers above.
#include <cmocka.h>

enum { POOLS = 4, MOST = 8 };
static const int pool_sizes[POOLS] = {1, 2, 3, MOST};

static SandThreadPool *pool_of(int threads) {
    SandError error;
    SandThreadPool *pool = sand_thread_pool_create(threads, &error);
    if (!pool) fail_msg("%s", error.text);
    assert_int_equal(sand_thread_pool_threads(pool), threads);
    return pool;
}

// ---- ranges ----

typedef struct Range {
    int64_t n;
    int *blocks, *items; // how often each was visited
} Range;

static void visit(SandWorker *w, void *argument) {
    Range *r = argument;
    SAND_FOR(w, i, r->n) {
        ContactRef at = SAND_CONTACT(NULL, i);
        r->blocks[contact_index(at)] +=
            contact_index(at) == i && at.tile % SAND_LANES == 0 && at.lane >= 0 && at.lane < SAND_LANES;
    }
    SAND_FOR_EACH(w, k, r->n - 3) r->items[k]++;
}

static void every_index_is_visited_once(void **state) {
    (void)state;
    const int64_t sizes[] = {16, 48, 16 * 63, 16 * 64, 16 * 65, 16 * 64 * 33 + 16};
    for (int t = 0; t < POOLS; t++) {
        SandThreadPool *pool = pool_of(pool_sizes[t]);
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            Range r = {.n = sizes[s]};
            r.blocks = calloc((size_t)r.n, sizeof *r.blocks);
            r.items = calloc((size_t)r.n, sizeof *r.items);
            sand_thread_pool_run(pool, visit, &r);
            for (int64_t i = 0; i < r.n; i++) assert_int_equal(r.blocks[i], 1);
            for (int64_t i = 0; i < r.n; i++) assert_int_equal(r.items[i], i < r.n - 3);
            free(r.blocks);
            free(r.items);
        }
        sand_thread_pool_free(pool);
    }
}

// ---- sums ----

typedef struct Summing {
    int64_t n;
    const float *x;
    double total[MOST][4]; // of each worker
} Summing;

static void add_up(SandWorker *w, void *argument) {
    Summing *s = argument;
    Sum sum;
    sum_open(w, &sum, 4, 1u << 2);
    SAND_FOR_SUM(w, i, s->n, &sum) {
        ContactRef at = SAND_CONTACT(NULL, i);
        float x = s->x[i];
        SAND_ADD(sum, at, 0, x);
        SAND_ADD(sum, at, 1, x * x);
        SAND_MAX(sum, at, 2, real_abs(x));
        SAND_ADD(sum, at, 3, 1);
    }
    sum_total(w, &sum);
    memcpy(s->total[w->id], sum.total, sizeof s->total[0]);
}

static void sums_are_right_and_the_same(void **state) {
    (void)state;
    const int64_t sizes[] = {0, 16, 16 * 100, 16 * 64 * 40, 16 * 20011};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        int64_t n = sizes[k];
        float *x = calloc((size_t)n + 1, sizeof *x);
        SandRandom random = sand_random(k + 1);
        double sum = 0, squares = 0, sizes_sum = 0, top = 0;
        for (int64_t i = 0; i < n; i++) {
            // Sizes from 1e-3 to 1e3.
            x[i] = (float)(sand_random_signed(&random) * pow(10, 3 * sand_random_signed(&random)));
            sum += x[i];
            squares += (double)x[i] * x[i];
            sizes_sum += fabs(x[i]);
            top = fmax(top, fabs(x[i]));
        }
        Summing first = {.n = n, .x = x};
        for (int t = 0; t < POOLS; t++) {
            Summing s = {.n = n, .x = x};
            SandThreadPool *pool = pool_of(pool_sizes[t]);
            sand_thread_pool_run(pool, add_up, &s);
            sand_thread_pool_free(pool);
            if (t == 0) first = s;
            // The same bits for every worker and every number of threads.
            for (int w = 0; w < pool_sizes[t]; w++) assert_memory_equal(s.total[w], first.total[0], sizeof s.total[w]);
        }
        // In float only SAND_STRIP numbers of a lane are added before folding into double: at most 32 roundings of 6e-8.
        const double *total = first.total[0];
        assert_true(fabs(total[0] - sum) <= 2e-6 * sizes_sum);
        assert_true(fabs(total[1] - squares) <= 2e-6 * squares);
        assert_true(total[2] == top);
        assert_true(total[3] == (double)n);
        free(x);
    }
}

// What a rank holds: its chunks, here all of them, between two halos. Nobody else is there to gather from.
static void gather_nothing(void *user, void *items, const int *first, size_t item_bytes) {
    (void)user, (void)items, (void)first, (void)item_bytes;
}

static SandSpans spans_between(const SandRanks *ranks, const int *first_chunk, int64_t below, int64_t tiles, int64_t above) {
    SandSpans spans = {.ranks = ranks, .chunks = SAND_CHUNKS, .first_chunk = first_chunk};
    if (below) spans.span[spans.count++] = (SandSpan){.chunk = SAND_HALO, .end = below};
    for (int c = 0; c < SAND_CHUNKS; c++)
        spans.span[spans.count++] = (SandSpan){
            .chunk = c, .begin = below + sand_chunk_begin(c, tiles), .end = below + sand_chunk_begin(c + 1, tiles)};
    for (int64_t t = 0; t < above; t += 3)
        spans.span[spans.count++] = (SandSpan){
            .chunk = SAND_HALO, .begin = below + tiles + t, .end = below + tiles + (t + 3 < above ? t + 3 : above)};
    for (int s = 0; s < spans.count; s++) spans.span[s].count = 16 * (int)(spans.span[s].end - spans.span[s].begin);
    return spans;
}

static void halos_are_walked_and_not_summed(void **state) {
    (void)state;
    enum { BELOW = 5, TILES = 64 * 40 + 7, ABOVE = 11, ALL = 16 * (BELOW + TILES + ABOVE) };
    static const int first_chunk[] = {0, SAND_CHUNKS};
    const SandRanks ranks = {.count = 1, .allgather = gather_nothing};
    static float x[ALL];
    SandRandom random = sand_random(7);
    for (int64_t i = 0; i < ALL; i++) x[i] = (float)sand_random_signed(&random);
    SandSpans spans = spans_between(&ranks, first_chunk, BELOW, TILES, ABOVE);
    for (int t = 0; t < POOLS; t++) {
        SandThreadPool *pool = pool_of(pool_sizes[t]);
        Summing alone = {.n = 16 * TILES, .x = x + 16 * BELOW}, held = {.n = ALL, .x = x};
        sand_thread_pool_run(pool, add_up, &alone);
        sand_thread_pool_run_spans(pool, &spans, add_up, &held);
        for (int w = 0; w < pool_sizes[t]; w++) assert_memory_equal(held.total[w], alone.total[0], sizeof held.total[w]);
        static int blocks[ALL], items[ALL];
        Range r = {.n = ALL, .blocks = blocks, .items = items};
        memset(blocks, 0, sizeof blocks);
        sand_thread_pool_run_spans(pool, &spans, visit, &r);
        for (int64_t i = 0; i < ALL; i++) assert_int_equal(blocks[i], 1);
        sand_thread_pool_free(pool);
    }
}

// Many reductions back to back, of alternating kinds: the tables of partial sums are double-buffered, and a slow reader of
// one must not race with the writers of the next.
enum { SUMS = 500, SHORT = 16 * 128 };

typedef struct Repeated {
    int wrong[MOST];
} Repeated;

static void sum_again_and_again(SandWorker *w, void *argument) {
    Repeated *r = argument;
    for (int k = 0; k < SUMS; k++) {
        Sum sum;
        bool top = k % 3 == 0;
        sum_open(w, &sum, 1 + k % SAND_MAX_SUMS, top ? 1 : 0);
        SAND_FOR_SUM(w, i, SHORT, &sum) {
            ContactRef at = SAND_CONTACT(NULL, i);
            if (top)
                SAND_MAX(sum, at, 0, (float)(k + 1));
            else
                SAND_ADD(sum, at, 0, (float)(k + 1));
        }
        sum_total(w, &sum);
        // Integers below 2^24: exact.
        r->wrong[w->id] += sum.total[0] != (top ? 1.0 : SHORT) * (k + 1);
        for (int j = 1; j < sum.count; j++) r->wrong[w->id] += sum.total[j] != 0;
    }
}

static void sums_in_a_row_do_not_mix(void **state) {
    (void)state;
    for (int t = 0; t < POOLS; t++) {
        Repeated r = {{0}};
        SandThreadPool *pool = pool_of(pool_sizes[t]);
        sand_thread_pool_run(pool, sum_again_and_again, &r);
        sand_thread_pool_run(pool, sum_again_and_again, &r); // whether an odd or even number of sums came before
        sand_thread_pool_free(pool);
        for (int w = 0; w < MOST; w++) assert_int_equal(r.wrong[w], 0);
    }
}

// ---- barriers and agreement ----

enum { ROUNDS = 1000 };

typedef struct Rounds {
    int round[MOST], wrong[MOST]; // not atomic: only the barrier orders them, which the thread sanitizer checks
} Rounds;

static void meet(SandWorker *w, void *argument) {
    Rounds *r = argument;
    for (int k = 1; k <= ROUNDS; k++) {
        r->round[w->id] = k;
        sand_barrier(w);
        for (int other = 0; other < w->count; other++) r->wrong[w->id] += r->round[other] != k;
        sand_barrier(w);
    }
}

static void barriers_hold(void **state) {
    (void)state;
    for (int t = 0; t < POOLS; t++) {
        SandThreadPool *pool = pool_of(pool_sizes[t]);
        for (int again = 0; again < 2; again++) {
            Rounds r = {{0}, {0}};
            sand_thread_pool_run(pool, meet, &r);
            for (int w = 0; w < MOST; w++) {
                assert_int_equal(r.wrong[w], 0);
                assert_int_equal(r.round[w], w < pool_sizes[t] ? ROUNDS : 0);
            }
        }
        sand_thread_pool_free(pool);
    }
}

// A worker that is late, each in turn: the others stop polling and sleep at the barrier, and must be woken.
static void keep_waiting(SandWorker *w, void *argument) {
    Rounds *r = argument;
    for (int k = 1; k <= 3 * MOST; k++) {
        if (k % w->count == w->id) nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        r->round[w->id] = k;
        sand_barrier(w);
        for (int other = 0; other < w->count; other++) r->wrong[w->id] += r->round[other] != k;
        sand_barrier(w);
    }
}

static void sleepers_are_woken(void **state) {
    (void)state;
    for (int t = 0; t < POOLS; t++) {
        SandThreadPool *pool = pool_of(pool_sizes[t]);
        for (int again = 0; again < 3; again++) {
            Rounds r = {{0}, {0}};
            sand_thread_pool_run(pool, keep_waiting, &r);
            for (int w = 0; w < MOST; w++) {
                assert_int_equal(r.wrong[w], 0);
                assert_int_equal(r.round[w], w < pool_sizes[t] ? 3 * MOST : 0);
            }
            nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL); // workers without a run sleep, too
        }
        sand_thread_pool_free(pool);
    }
    sand_thread_pool_free(pool_of(MOST)); // it never ran, and has no threads
}

static void agree(SandWorker *w, void *argument) {
    Rounds *r = argument;
    for (int k = 0; k < 200; k++) {
        bool first_says = k % 3 == 0;
        // The other workers propose something else, and are ignored.
        r->wrong[w->id] += worker_agree(w, w->id == 0 ? first_says : !first_says) != first_says;
        r->round[w->id]++;
    }
}

static void everyone_gets_what_the_first_says(void **state) {
    (void)state;
    for (int t = 0; t < POOLS; t++) {
        Rounds r = {{0}, {0}};
        SandThreadPool *pool = pool_of(pool_sizes[t]);
        sand_thread_pool_run(pool, agree, &r);
        sand_thread_pool_free(pool);
        for (int w = 0; w < pool_sizes[t]; w++) {
            assert_int_equal(r.wrong[w], 0);
            assert_int_equal(r.round[w], 200);
        }
    }
}

static void pools_have_sane_sizes(void **state) {
    (void)state;
    SandError error = {""};
    assert_null(sand_thread_pool_create(-1, &error));
    assert_true(strlen(error.text) > 10);
    SandThreadPool *pool = sand_thread_pool_create(0, &error); // one for each core
    assert_in_range(sand_thread_pool_threads(pool), 1, SAND_MAX_THREADS);
    sand_thread_pool_free(pool);
    pool = sand_thread_pool_create(100000, &error);
    assert_int_equal(sand_thread_pool_threads(pool), SAND_MAX_THREADS);
    sand_thread_pool_free(pool);
    // Every item of a range belongs to exactly one chunk, also with fewer items than chunks.
    for (int64_t n = 0; n < 200; n++) {
        assert_int_equal(sand_chunk_begin(0, n), 0);
        assert_int_equal(sand_chunk_begin(SAND_CHUNKS, n), n);
        for (int c = 0; c < SAND_CHUNKS; c++) assert_true(sand_chunk_begin(c, n) <= sand_chunk_begin(c + 1, n));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_index_is_visited_once),
        cmocka_unit_test(sums_are_right_and_the_same),
        cmocka_unit_test(halos_are_walked_and_not_summed),
        cmocka_unit_test(sums_in_a_row_do_not_mix),
        cmocka_unit_test(barriers_hold),
        cmocka_unit_test(sleepers_are_woken),
        cmocka_unit_test(everyone_gets_what_the_first_says),
        cmocka_unit_test(pools_have_sane_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
