// SPDX-License-Identifier: MIT
// Backends by name: the CPU is always there and says what it is; a name that is none, and CUDA in a program that is linked
// without it, are refused with a sentence.
#include "tests/lab/lab.h"
#include "sandglass/backend.h"
#include "sim/step/cpu_backend.h"

static void the_cpu_is_there(void **state) {
    (void)state;
    SandError error;
    SandDeviceInfo info, unnamed;
    assert_true(sand_backend_count() >= 1);
    assert_string_equal(sand_backend_name(0), "cpu");
    assert_null(sand_backend_name(-1));
    assert_null(sand_backend_name(sand_backend_count()));
    assert_true(sand_backend_find("cpu", &error) == sand_cpu_backend());
    assert_true(sand_backend_describe(sand_backend_find("cpu", &error), &info, &error));
    assert_true(*info.name && info.memory > 1 << 20 && info.processors >= 1 && info.doubles);
    assert_true(sand_backend_describe(NULL, &unnamed, &error));
    assert_string_equal(unnamed.name, info.name);
}

static void it_takes_the_steps(void **state) {
    (void)state;
    SandError error;
    SandWorld world = lab_world(0.3);
    SandSimulationDef def = sand_default_simulation();
    def.backend = sand_backend_find("cpu", &error);
    lab_body(&world, 0, 0.1, v3_make(0, 0, 1));
    SandSimulation *sim = lab_simulation(&world, &def);
    lab_run(sim, 3);
    assert_true(sand_simulation_backend(sim) == def.backend && sand_simulation_world(sim)->position[0].z < 1);
    sand_simulation_free(sim);
}

static void refused(const char *name, const char *words) {
    SandError error = {""};
    assert_null(sand_backend_find(name, &error));
    if (!strstr(error.text, words)) fail_msg("'%s' does not say '%s'", error.text, words);
}

static void others_are_refused(void **state) {
    (void)state;
    refused("cud", "did you mean cuda?");
    refused("", "there are cpu, cuda");
    refused("cuda", "without CUDA"); // as this test is linked
    assert_int_equal(sand_backend_count(), 1);
}

static void a_backend_without_a_device_of_its_own_is_refused(void **state) {
    (void)state;
    SandError error;
    SandDeviceInfo info;
    const SandBackend several = {.name = "several"};
    assert_false(sand_backend_describe(&several, &info, &error));
    assert_non_null(strstr(error.text, "several"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_cpu_is_there), cmocka_unit_test(it_takes_the_steps),
                                       cmocka_unit_test(others_are_refused),
                                       cmocka_unit_test(a_backend_without_a_device_of_its_own_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
