// SPDX-License-Identifier: MIT
// Export from a device that has the bodies: it copies them within its memory, and what is written is what the CPU writes,
// although the simulation has long gone on when the bodies come to the host. The mock backend of this test steps a
// simulation of its own, and brings snapshots to the host only when the last step has been taken.
#include "app/io/export/exporter.h"
#include "tests/lab/lab.h"
#include "tests/lab/mock_backend.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct SandDevice {
    SandSimulation *inner;
};
struct SandSlot {
    uint8_t *bytes;
};

enum { STEPS = 3, BODIES = 5 }; // as many frames as the queue has, with the first: the simulation waits for none
static int slots, bodies_read;
static bool broken; // snapshots cannot be read
static pthread_mutex_t ended = PTHREAD_MUTEX_INITIALIZER;

static SandDevice *create(const SandDeviceDef *def, SandError *error) {
    return (void)def, (void)error, calloc(1, sizeof(SandDevice));
}
static void destroy(SandDevice *m) {
    sand_simulation_free(m->inner);
    free(m);
}

static SandWorld falling(void) {
    SandWorld world = lab_world(0.3);
    for (int i = 0; i < BODIES; i++) {
        lab_body(&world, 0, 0.1, v3_make(i, 0.5 * i, 10));
        world.velocity[i] = v3_make(i, 0, 1);
        world.spin[i] = v3_make(0, i, 2);
    }
    return world;
}
static bool upload(SandDevice *m, SandHostState *host, SandError *error) {
    (void)host;
    SandWorld world = falling();
    SandSimulationDef def = sand_default_simulation();
    def.threads = 1;
    m->inner = sand_simulation_create(&world, &def, error);
    return m->inner != NULL;
}
static bool integrate(SandDevice *m, SandError *error) { return sand_simulation_step(m->inner, error); }
static bool read_bodies(SandDevice *m, SandWorld *w, int first, int count, SandError *error) {
    (void)error;
    bodies_read++;
    mock_copy_bodies(w, sand_simulation_world(m->inner), first, count);
    return true;
}
static SandSlot *slot_create(SandError *error) { return (void)error, slots++, calloc(1, sizeof(SandSlot)); }
static void slot_free(SandSlot *slot) {
    slots--;
    free(slot->bytes);
    free(slot);
}
static bool snapshot(SandDevice *m, const SandWorld *world, SandSlot *slot, SandError *error) {
    (void)error, assert_int_equal(world->body_count, BODIES);
    const SandWorld *from = sand_simulation_world(m->inner);
    if (!slot->bytes) slot->bytes = calloc(1, sand_snapshot_bytes(BODIES));
    SandWorld to = sand_snapshot_view(from, slot->bytes);
    mock_copy_bodies(&to, from, 0, BODIES);
    return true;
}
static uint8_t *snapshot_read(SandSlot *slot, size_t bytes, SandError *error) {
    pthread_mutex_lock(&ended);
    pthread_mutex_unlock(&ended);
    assert_int_equal(bytes, sand_snapshot_bytes(BODIES));
    if (broken) sand_fail(error, "the device broke");
    return broken ? NULL : slot->bytes;
}

static const SandBackend device =
    MOCK_BACKEND(.name = "device", .create = create, .destroy = destroy, .upload = upload, .integrate = integrate,
                 .slot_create = slot_create, .slot_free = slot_free, .snapshot = snapshot, .snapshot_read = snapshot_read,
                 .read_bodies = read_bodies);

static void ignore(void *user, const char *sentence) { (void)user, (void)sentence; }

// Exports a few steps on a backend; returns whether everything was written.
static bool export_steps(const SandBackend *backend, const char *path, SandError *error) {
    SandWorld world = falling();
    SandSimulationDef def = sand_default_simulation();
    def.threads = 1;
    def.backend = backend;
    SandSimulation *sim = lab_simulation(&world, &def);
    const SandWorld *w = sand_simulation_world(sim);
    ExportDef wanted = {
        .path = path, .rate = 1e6, .box = v3_make(1, 1, 1), .shapes = w->shapes, .shape_count = w->shape_count};
    assert_true(export_choose(wanted.choice, NULL, false, error));
    Exporter *exporter = exporter_open(&wanted, ignore, NULL, error);
    assert_non_null(exporter);
    pthread_mutex_lock(&ended);
    for (int step = 0; step <= STEPS; step++) {
        assert_true(exporter_step(exporter, sim, error));
        if (step < STEPS) lab_run(sim, 1);
    }
    pthread_mutex_unlock(&ended);
    bool whole = exporter_close(exporter, error);
    sand_simulation_free(sim);
    return whole;
}

static size_t read_file(const char *path, char *text, size_t size) {
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    size_t length = fread(text, 1, size, f);
    fclose(f);
    return length;
}

static void test_frames_are_those_of_the_host(void **state) {
    (void)state;
    static char host[65536], shots[65536];
    SandError error;
    bodies_read = 0;
    assert_true(export_steps(NULL, "export_host.csv", &error));
    assert_true(export_steps(&device, "export_device.csv", &error));
    size_t length = read_file("export_host.csv", host, sizeof host);
    assert_true(length > 1000 && length < sizeof host);
    assert_int_equal(read_file("export_device.csv", shots, sizeof shots), length);
    assert_memory_equal(host, shots, length);
    assert_int_equal(bodies_read, 0);
    assert_int_equal(slots, 0);
}

static void test_a_device_that_breaks_ends_the_export_alone(void **state) {
    (void)state;
    SandError error;
    broken = true;
    assert_false(export_steps(&device, "export_broken.csv", &error));
    assert_non_null(strstr(error.text, "the device broke"));
    assert_int_equal(slots, 0);
    broken = false;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_frames_are_those_of_the_host),
                                       cmocka_unit_test(test_a_device_that_breaks_ends_the_export_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
