// SPDX-License-Identifier: MIT
// Arrays of sim/core/array.h keep their items when they grow, and a list of them is freed whole.
#include "sim/core/array.h"
#include "tests/lab/lab.h"

typedef struct Arrays {
    SAND_ARRAY(int) list;
    SAND_ARRAY(double) numbers[2];
} Arrays;

static void growing_keeps_items_and_adds_zeros(void **state) {
    (void)state;
    Arrays a = {0};
    assert_true(SAND_RESERVE(a.list, 3, "items", NULL));
    for (int k = 0; k < 3; k++) a.list.data[k] = k + 1;
    size_t before = a.list.capacity;
    assert_true(SAND_RESERVE(a.list, before + 1, "items", NULL));
    assert_true(a.list.capacity > before);
    for (int k = 0; k < (int)a.list.capacity; k++) assert_int_equal(a.list.data[k], k < 3 ? k + 1 : 0);
    SAND_FREE_ARRAYS(&a.list);
}

static void what_is_there_is_not_reserved_again(void **state) {
    (void)state;
    Arrays a = {0};
    assert_true(SAND_RESERVE(a.list, 8, "items", NULL));
    int *data = a.list.data;
    uint64_t growths = sand_growth_count();
    assert_true(SAND_RESERVE(a.list, 8, "items", NULL) && SAND_RESERVE(a.list, 0, "items", NULL));
    assert_ptr_equal(a.list.data, data);
    assert_int_equal(sand_growth_count(), growths);
    SAND_FREE_ARRAYS(&a.list);
}

static void arrays_are_freed_and_left_empty(void **state) {
    (void)state;
    Arrays a = {0};
    uint64_t held = sand_bytes_held();
    assert_true(SAND_RESERVE(a.list, 5, "items", NULL) && SAND_RESERVE(a.numbers[1], 7, "numbers", NULL));
    assert_true(sand_bytes_held() > held);
    SAND_FREE_ARRAYS(&a.list, &a.numbers[0], &a.numbers[1]); // one of them was empty
    assert_int_equal(sand_bytes_held(), held);
    assert_memory_equal(&a, &(Arrays){0}, sizeof a);
    assert_true(SAND_RESERVE(a.list, 5, "items", NULL));
    SAND_FREE_ARRAYS(&a.list);
}

static void too_many_items_leave_the_array_as_it_is(void **state) {
    (void)state;
    Arrays a = {0};
    SandError error;
    assert_true(SAND_RESERVE(a.list, 5, "items", NULL));
    a.list.data[4] = 9;
    size_t capacity = a.list.capacity;
    assert_false(SAND_RESERVE(a.list, SIZE_MAX / 2, "items of a test", &error));
    assert_non_null(strstr(error.text, "items of a test"));
    assert_int_equal(a.list.capacity, capacity);
    assert_int_equal(a.list.data[4], 9);
    SAND_FREE_ARRAYS(&a.list);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(growing_keeps_items_and_adds_zeros),
        cmocka_unit_test(what_is_there_is_not_reserved_again),
        cmocka_unit_test(arrays_are_freed_and_left_empty),
        cmocka_unit_test(too_many_items_leave_the_array_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
