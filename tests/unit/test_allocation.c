// SPDX-License-Identifier: MIT
// A steady step allocates nothing, and memory grows in proportion to the number of bodies. The linker wraps the allocator
// (--wrap), so that the count does not rely on the library's own.
#include "sim/core/array.h"
#include "tests/lab/lab.h"

#include <stdatomic.h>

static atomic_int calls;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_posix_memalign(void **out, size_t alignment, size_t size);

void *__wrap_malloc(size_t size) {
    calls++;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
    calls++;
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size) {
    calls++;
    return __real_realloc(old, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    calls++;
    return __real_aligned_alloc(alignment, size);
}

int __wrap_posix_memalign(void **out, size_t alignment, size_t size) {
    calls++;
    return __real_posix_memalign(out, alignment, size);
}

// Once the sums of a probe have their size, measuring allocates nothing either.
static void steady_probes_allocate_nothing(SandSimulation *sim) {
    SandProbe probe = sand_probe_of(SAND_PROBE_COORDINATION);
    snprintf(probe.name, sizeof probe.name, "z");
    sand_probe_box(&probe, v3_make(-1, -1, 0), v3_make(1, 1, 1));
    probe.cells[2] = 4;
    assert_true(sand_world_add_probe(sand_simulation_change(sim), &probe, NULL) >= 0);
    lab_step(sim);
    int before = calls;
    lab_run(sim, 20);
    assert_int_equal(calls - before, 0);
    assert_true(sand_probe_values(sand_simulation_world(sim), 0)[0] > 1); // it has measured
}

static void a_steady_step_allocates_nothing(void **state) {
    (void)state;
    for (int threads = 1; threads <= 2; threads++) {
        int before = calls;
        uint64_t growths = sand_growth_count();
        SandSimulation *sim = lab_scene("cylinder", 1000, threads, SAND_FLOAT);
        lab_run(sim, 400); // four seconds: the heap is at rest and every array has reached its largest size
        // The count works: it is no smaller than the library's own.
        assert_true(calls - before >= (int)(sand_growth_count() - growths) && sand_growth_count() > growths + 20);
        before = calls;
        growths = sand_growth_count();
        for (int i = 0; i < 50; i++) {
            lab_step(sim);
            assert_int_equal(sand_simulation_counters(sim)->growths, 0);
        }
        assert_int_equal(calls - before, 0);
        assert_true(sand_growth_count() == growths);
        steady_probes_allocate_nothing(sim);
        sand_simulation_free(sim);
    }
    assert_true(sand_bytes_held() == 0); // everything is freed
}

static void memory_grows_with_the_bodies(void **state) {
    (void)state;
    double bytes[3];
    for (int k = 0; k < 3; k++) {
        int bodies = 1000 << k;
        SandSimulation *sim = lab_scene("cylinder", bodies, 2, SAND_FLOAT);
        lab_run(sim, 150); // most have landed
        int contacts = sand_simulation_counters(sim)->contacts;
        bytes[k] = (double)sand_bytes_held();
        print_message("%d bodies, %d contacts: %.0f bytes a body, %.0f a contact\n", bodies, contacts, bytes[k] / bodies,
                      bytes[k] / contacts);
        sand_simulation_free(sim);
    }
    // Linear within a factor of 1.3: arrays grow by half, so two of the same need may differ by that much, and the grids of
    // the broad phase have a constant share of cells.
    for (int k = 1; k < 3; k++) assert_true(bytes[k] < 1.3 * 2 * bytes[k - 1] && bytes[k] > 2 * bytes[k - 1] / 1.3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_steady_step_allocates_nothing),
        cmocka_unit_test(memory_grows_with_the_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
