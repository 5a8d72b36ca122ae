// SPDX-License-Identifier: MIT
// The cut of chunks among ranks, against what it promises: every chunk has one rank, in their order, rank 0 the first, and a
// rank takes chunks just until those before the next one are its share of the work. Ranks from SAND_CHUNKS on have none.
#include "tests/lab/lab.h"
#include "sim/core/limits.h"
#include "sim/core/random.h"
#include "sim/ranks/cut_chunks.h"

enum { MOST_CHUNKS = SAND_CHUNKS, MOST_RANKS = 100 };

static int64_t work_of(const int64_t *work, int first, int end) {
    int64_t sum = 0;
    for (int c = first; c < end; c++) sum += work[c];
    return sum;
}

// The share of the ranks before r is reached with the chunks before first[r], and was not without the last of these.
static void check_cut(const int64_t *work, int chunks, int ranks) {
    int first[MOST_RANKS + 1], owning = ranks < SAND_CHUNKS ? ranks : SAND_CHUNKS;
    int64_t all = work_of(work, 0, chunks);
    sand_cut_chunks(work, chunks, ranks, first);
    for (int r = owning; r <= ranks; r++) assert_int_equal(first[r], chunks);
    assert_int_equal(first[0], 0);
    assert_true(chunks == 0 || first[1] > 0);
    for (int r = 1; r < owning; r++) {
        assert_true(first[r] >= first[r - 1]);
        assert_true(first[r] == chunks || work_of(work, 0, first[r]) * owning >= all * r);
        if (first[r] > first[r - 1] && first[r] > 1) assert_true(work_of(work, 0, first[r] - 1) * owning < all * r);
    }
}

static void ranks_get_their_share(void **state) {
    SandRandom random = sand_random(7);
    int64_t work[MOST_CHUNKS];
    (void)state;
    for (int turn = 0; turn < 2000; turn++) {
        int chunks = 1 + (int)(sand_random_unit(&random) * MOST_CHUNKS),
            ranks = 1 + (int)(sand_random_unit(&random) * MOST_RANKS);
        for (int c = 0; c < chunks; c++) work[c] = 1 + (int64_t)(pow(sand_random_unit(&random), 4) * 1e6);
        check_cut(work, chunks > MOST_CHUNKS ? MOST_CHUNKS : chunks, ranks > MOST_RANKS ? MOST_RANKS : ranks);
    }
}

static void equal_work_is_cut_equally(void **state) {
    int64_t work[MOST_CHUNKS];
    int first[MOST_RANKS + 1];
    (void)state;
    for (int c = 0; c < MOST_CHUNKS; c++) work[c] = 5;
    for (int ranks = 1; ranks <= MOST_CHUNKS; ranks++) {
        sand_cut_chunks(work, MOST_CHUNKS, ranks, first);
        for (int r = 0; r < ranks; r++) {
            int chunks = first[r + 1] - first[r];
            assert_true(chunks == MOST_CHUNKS / ranks || chunks == MOST_CHUNKS / ranks + 1);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(ranks_get_their_share), cmocka_unit_test(equal_work_is_cut_equally)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
