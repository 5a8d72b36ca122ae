// SPDX-License-Identifier: MIT
// Determinism: the same scene gives the same bits whatever the number of threads. With the argument `short` the runs are
// small enough for the thread sanitizer.
#include "tests/lab/lab.h"

static bool is_short;

static uint64_t hash_after(const char *name, int bodies, int threads, SandPrecision precision, int steps, int *contacts) {
    SandSimulation *sim = lab_scene(name, bodies, threads, precision);
    SandSolveDef solve = sand_default_solve();
    if (is_short) {
        solve.iterations = 5;
        assert_true(sand_simulation_set_solve(sim, &solve, NULL));
    }
    lab_run(sim, steps);
    *contacts = sand_simulation_counters(sim)->contacts;
    uint64_t hash = sand_world_hash(sand_simulation_world(sim));
    sand_simulation_free(sim);
    return hash;
}

static void same_for_all_thread_counts(const char *name, int bodies, int steps) {
    static const int pools[] = {2, 3, 8};
    int contacts, same;
    for (int precision = SAND_FLOAT; precision <= SAND_DOUBLE; precision++) {
        uint64_t alone = hash_after(name, bodies, 1, precision, steps, &contacts);
        print_message("%s, %s: %016llx, %d contacts\n", name, precision == SAND_FLOAT ? "float" : "double",
                      (unsigned long long)alone, contacts);
        assert_true(contacts > 0); // a hash of bodies in free fall would prove nothing
        for (int k = 0; k < (is_short ? 2 : 3); k++) {
            uint64_t pool = hash_after(name, bodies, pools[k], precision, steps, &same);
            if (pool != alone) fail_msg("%s with %d threads: %016llx", name, pools[k], (unsigned long long)pool);
            assert_int_equal(same, contacts);
        }
    }
}

static void hourglass(void **state) {
    (void)state;
    same_for_all_thread_counts("hourglass", is_short ? 300 : 3000, is_short ? 8 : 200);
}

static void clumps(void **state) {
    (void)state;
    same_for_all_thread_counts("clumps", is_short ? 30 : 400, is_short ? 80 : 200); // the rocks have to fall first
}

static void heavy(void **state) {
    (void)state;
    same_for_all_thread_counts("heavy", 0, is_short ? 15 : 200);
}

static void stones(void **state) {
    (void)state;
    same_for_all_thread_counts(SAND_SOURCE_DIR "/tests/lab/stones.yaml", is_short ? 40 : 200, is_short ? 40 : 150);
}

int main(int argc, char **argv) {
    is_short = argc > 1 && !strcmp(argv[1], "short");
    const struct CMUnitTest tests[] = {cmocka_unit_test(hourglass), cmocka_unit_test(clumps), cmocka_unit_test(heavy),
                                       cmocka_unit_test(stones)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
