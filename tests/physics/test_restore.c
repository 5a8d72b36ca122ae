// SPDX-License-Identifier: MIT
// A checkpoint that cannot be restored changes nothing: the newer bodies of a device are still read from it, and the host's
// older ones are not uploaded in their place. The mock device of this test moves every body up by a meter a step.
#include "tests/lab/mock_backend.h"
#include "tests/lab/lab.h"
#include "sim/step/checkpoint.h"

struct SandDevice {
    double height[2]; // of the first two bodies
    int uploads;
};

static SandDevice device;

static SandDevice *create(const SandDeviceDef *def, SandError *error) { return (void)def, (void)error, &device; }
static void destroy(SandDevice *m) { (void)m; }
static bool upload(SandDevice *m, SandHostState *host, SandError *error) {
    (void)error;
    for (int i = 0; i < 2; i++) m->height[i] = host->world.position[i].z;
    m->uploads++;
    return true;
}
static bool integrate(SandDevice *m, SandError *error) {
    (void)error;
    for (int i = 0; i < 2; i++) m->height[i] += 1;
    return true;
}
static bool finish(SandDevice *m, SandStepReport *report, SandError *error) {
    (void)m, (void)error;
    *report = (SandStepReport){.status = SAND_SOLVED};
    return true;
}
static bool read_bodies(SandDevice *m, SandWorld *w, int first, int count, SandError *error) {
    (void)error;
    for (int i = first; i < first + count; i++) w->position[i].z = m->height[i];
    return true;
}
static bool read_warm_start(SandDevice *m, SandWarmStart *warm, SandError *error) {
    (void)m, (void)error;
    sand_warm_start_clear(warm);
    return true;
}

static const SandBackend lifting =
    MOCK_BACKEND(.name = "lifting", .create = create, .destroy = destroy, .upload = upload, .integrate = integrate,
                 .finish = finish, .read_bodies = read_bodies, .read_warm_start = read_warm_start);

static void a_failed_restore_changes_nothing(void **state) {
    (void)state;
    SandError error;
    SandSimulation *sim = lab_scene("two-spheres", 0, 1, SAND_DOUBLE);
    SandCheckpoint checkpoint = {0};
    assert_int_equal(sand_simulation_world(sim)->body_count, 2);
    double height = sand_simulation_world(sim)->position[0].z;
    assert_true(sand_simulation_move(sim, &lifting, &error));
    assert_true(sand_simulation_save_state(sim, &checkpoint, &error));
    assert_int_equal(device.uploads, 1);

    assert_true(sand_simulation_step(sim, &error));
    checkpoint.boundary_count++; // as that of another scene
    assert_false(sand_simulation_restore_state(sim, &checkpoint, &error));
    assert_non_null(strstr(error.text, "another scene"));
    assert_true(sand_simulation_step(sim, &error));
    assert_int_equal(device.uploads, 1);
    assert_true(sand_simulation_fetch(sim, &error));
    NEAR(sand_simulation_world(sim)->position[0].z, height + 2, 1e-12);

    checkpoint.boundary_count--;
    assert_true(sand_simulation_restore_state(sim, &checkpoint, &error));
    assert_true(sand_simulation_step(sim, &error));
    assert_int_equal(device.uploads, 2);
    assert_true(sand_simulation_fetch(sim, &error));
    NEAR(sand_simulation_world(sim)->position[0].z, height + 1, 1e-12);
    sand_checkpoint_free(&checkpoint);
    sand_simulation_free(sim);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_failed_restore_changes_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
