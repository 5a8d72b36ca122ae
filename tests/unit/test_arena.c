// SPDX-License-Identifier: MIT
// The layout of the arena that the stages of a step on the GPU share (cuda/arena.h): parts are aligned, overlap neither each
// other nor the hole, and use what is before the hole.
#include "cuda/arena.h"
#include "sim/core/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
// cmocka.h requires the headers above.
#include <cmocka.h>

// Two ranges of bytes have none in common, which empty ones never have.
static bool apart(size_t a, size_t a_end, size_t b, size_t b_end) {
    return a == a_end || b == b_end || a_end <= b || b_end <= a;
}

static void check_layout(ArenaHole hole, int count, const size_t *bytes) {
    size_t at[ARENA_PARTS], end = arena_layout(hole, count, bytes, at);
    assert_true(end >= hole.end);
    for (int k = 0; k < count; k++) {
        assert_true(at[k] % ARENA_ALIGNMENT == 0 && at[k] + bytes[k] <= end);
        assert_true(apart(at[k], at[k] + bytes[k], hole.begin, hole.end));
        for (int j = 0; j < k; j++) assert_true(apart(at[k], at[k] + bytes[k], at[j], at[j] + bytes[j]));
    }
}

static void any_parts(void **state) {
    (void)state;
    SandRandom random = sand_random(1);
    for (int n = 0; n < 2000; n++) {
        size_t bytes[ARENA_PARTS], begin = (size_t)(5000 * sand_random_unit(&random));
        ArenaHole hole = {begin, begin + (size_t)(5000 * sand_random_unit(&random))};
        int count = (int)(ARENA_PARTS * sand_random_unit(&random));
        for (int k = 0; k < count; k++) bytes[k] = (size_t)(2000 * sand_random_unit(&random));
        check_layout(hole, count, bytes);
    }
}

// A part that fits before the hole costs nothing behind it, also when one before it did not fit.
static void front_is_used(void **state) {
    (void)state;
    const ArenaHole hole = {1024, 4096};
    const size_t bytes[] = {600, 900, 256};
    size_t at[3], end = arena_layout(hole, 3, bytes, at);
    assert_int_equal(at[0], 0);
    assert_int_equal(at[1], 4096);
    assert_int_equal(at[2], 768);
    assert_int_equal(end, 4096 + 1024);
}

// Sizes of a hundred million bodies are past 32 bits.
static void many_bytes(void **state) {
    (void)state;
    const size_t contacts = 500000000, bytes[] = {144 * contacts, 8 * contacts};
    const ArenaHole hole = {32 * contacts, 112 * contacts};
    check_layout(hole, 2, bytes);
    size_t at[2];
    assert_true(arena_layout(hole, 2, bytes, at) == 256 * contacts && at[1] == 0);
}

// The contacts do not overlap each other; those that are given up leave the first vector alone, and the seven of p-spg-fb
// cover them.
static void contacts(void **state) {
    (void)state;
    enum { CANDIDATE = 80 };
    for (size_t n = 16; n < 1000000; n *= 3) {
        for (int given_up = 0; given_up < 2; given_up++) {
            ArenaContacts at = arena_contacts(n, CANDIDATE, given_up);
            size_t begin[] = {at.order, at.start, at.candidates}, bytes[] = {4 * n, 12 * n, CANDIDATE * n};
            for (int k = 0; k < 3; k++) {
                assert_true(begin[k] % 16 == 0);
                assert_true(begin[k] >= at.hole.begin && begin[k] + bytes[k] <= at.hole.end);
                for (int j = 0; j < k; j++) assert_true(apart(begin[k], begin[k] + bytes[k], begin[j], begin[j] + bytes[j]));
            }
            if (given_up) assert_true(at.hole.begin >= ARENA_VECTOR * n && at.hole.end <= 7 * ARENA_VECTOR * n);
        }
    }
}

// A hundred million spheres on a GPU of 149 GB: their contacts are kept as long as there are few.
static void gives_up(void **state) {
    (void)state;
    assert_false(arena_gives_up(1e6, 5e6, 149e9));
    assert_false(arena_gives_up(1e8, 1e8, 149e9));
    assert_true(arena_gives_up(1e8, 5e8, 149e9));
    assert_true(arena_gives_up(1000, 5000, 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_parts), cmocka_unit_test(front_is_used), cmocka_unit_test(many_bytes),
        cmocka_unit_test(contacts),  cmocka_unit_test(gives_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
