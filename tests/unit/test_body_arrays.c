// SPDX-License-Identifier: MIT
// Every array of bodies, as SAND_BODY_ARRAYS lists them, is kept where bodies are reserved, viewed, moved, sent between
// ranks, and stored: entries that all differ come back as they were.
#include "tests/lab/lab.h"
#include "sim/core/array.h"
#include "sim/step/checkpoint_file.h"
#include "sim/ranks/body_records.h"
#include "sim/world/body_arrays.h"

#include <unistd.h>

enum { BODIES = 7 };

// Different from all others: the number of the array and that of the body. Types that hold real numbers get such ones.
static void put_distinct(void *entry, size_t size, bool real, int array, int body) {
    double value = 1 + 100 * array + body;
    if (real)
        for (size_t k = 0; k < size / sizeof value; k++, value += 0.125) memcpy((char *)entry + k * sizeof value, &value, 8);
    else
        memset(entry, 1 + 8 * array + body, size);
}

#define IS_REAL(type) _Generic((type){0}, double : true, SandVec3 : true, SandQuat : true, default : false)

// A world with one shape and one material, whose bodies differ in all arrays.
static SandHostState make_host(int count) {
    SandHostState host = {0};
    SandError error;
    SandShape sphere;
    sand_world_init(&host.world);
    for (int k = 0; k <= count; k++)
        assert_true(sand_shape_sphere(&sphere, &error) && sand_world_add_shape(&host.world, &sphere, &error) == k);
    assert_true(sand_world_reserve(&host.world, count, &error));
    host.world.body_count = count;
    for (int i = 0; i < count; i++) {
        int array = 0;
#define PUT(type, name) put_distinct(&host.world.name[i], sizeof(type), IS_REAL(type), array++, i);
        SAND_BODY_ARRAYS(PUT)
#undef PUT
        host.world.shape[i] = 1 + i;
    }
    return host;
}

static void check_same(const SandWorld *a, int i, const SandWorld *b, int j) {
#define CHECK(type, name) \
    if (memcmp(&a->name[i], &b->name[j], sizeof(type))) fail_msg("%s of body %d differs from that of %d", #name, i, j);
    SAND_BODY_ARRAYS(CHECK)
#undef CHECK
}

static void body_arrays_are_what_a_view_moves(void **state) {
    (void)state;
    SandHostState host = make_host(BODIES);
    SandWorld view = sand_bodies_view(&host.world, 2, 3);
    assert_int_equal(view.body_count, 3);
    for (int k = 0; k < 3; k++) check_same(&view, k, &host.world, 2 + k);
    sand_world_free(&host.world);
}

static void bodies_that_are_kept_keep_all_arrays(void **state) {
    (void)state;
    const int list[] = {1, 2, 4, 6};
    SandHostState host = make_host(BODIES), whole = make_host(BODIES);
    sand_bodies_keep(&host.world, list, 4);
    assert_int_equal(host.world.body_count, 4);
    for (int k = 0; k < 4; k++) check_same(&host.world, k, &whole.world, list[k]);
    sand_world_free(&host.world);
    sand_world_free(&whole.world);
}

// Bodies 1, 3 and 5 of another host come by message between bodies 0, 2, 4 and 6.
static void bodies_that_migrate_bring_all_arrays(void **state) {
    (void)state;
    const int list[] = {0, 2, 4, 6}, from[] = {0, -1, 1, -2, 2, -3, 3};
    SandHostState host = make_host(BODIES), whole = make_host(BODIES);
    SandRecordSource source = {.state = &whole};
    SandMessages messages = {0};
    SandRecords records = {0};
    SandError error;
    sand_messages_begin(&messages);
    for (int i = 1; i < BODIES; i += 2) assert_non_null(sand_record_put(&messages, 0, &source, i, &error));
    assert_true(sand_records_add(&records, messages.sent[0], messages.sent_bytes[0], &error));
    assert_int_equal(records.count, 3);
    sand_bodies_keep(&host.world, list, 4);
    assert_true(sand_bodies_merge(&host.world, from, BODIES, &records, &error));
    for (int i = 0; i < BODIES; i++) check_same(&host.world, i, &whole.world, i);
    sand_records_free(&records);
    sand_messages_free(&messages);
    sand_world_free(&host.world);
    sand_world_free(&whole.world);
}

// Of another world, and of a file: both bring what a step changes, and nothing else.
static void check_restored(const SandCheckpoint *checkpoint, const SandWorld *saved) {
    SandHostState host = make_host(BODIES);
    SandError error;
    for (int i = 0; i < BODIES; i++) {
#define CLEAR(type, name) memset(&host.world.name[i], 0, sizeof(type));
        SAND_BODY_STATE(CLEAR)
#undef CLEAR
    }
    if (!sand_checkpoint_restore(checkpoint, &host.world, &host.warm_start, &error)) fail_msg("%s", error.text);
    for (int i = 0; i < BODIES; i++) check_same(&host.world, i, saved, i);
    sand_world_free(&host.world);
    sand_warm_start_free(&host.warm_start);
}

static void checkpoints_have_all_that_a_step_changes(void **state) {
    (void)state;
    SandHostState host = make_host(BODIES);
    SandCheckpoint saved = {0}, read = {0};
    SandCheckpointNotes notes = {.origin = "bodies\n", .progress = "\n"}, read_notes;
    SandError error;
    char path[] = "/tmp/sand_body_arrays_XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_true(sand_checkpoint_save(&saved, &host.world, &host.warm_start, &error));
    check_restored(&saved, &host.world);
    if (!sand_checkpoint_write(&saved, &notes, path, &error)) fail_msg("%s", error.text);
    if (!sand_checkpoint_read(&read, &read_notes, path, &error)) fail_msg("%s", error.text);
    check_restored(&read, &host.world);
    unlink(path);
    sand_checkpoint_notes_free(&read_notes);
    sand_checkpoint_free(&saved);
    sand_checkpoint_free(&read);
    sand_world_free(&host.world);
}

static void an_entry_is_all_that_a_step_changes(void **state) {
    (void)state;
    SandHostState host = make_host(BODIES), other = make_host(BODIES);
    SandBodyEntry entry = sand_body_entry(&host.world, 3);
#define CHECK(type, name) assert_memory_equal(&entry.name, &host.world.name[3], sizeof(type));
    SAND_BODY_STATE(CHECK)
#undef CHECK
    sand_body_set_entry(&other.world, 5, &entry);
#define CHECK(type, name) assert_memory_equal(&other.world.name[5], &host.world.name[3], sizeof(type));
    SAND_BODY_STATE(CHECK)
#undef CHECK
    sand_world_free(&host.world);
    sand_world_free(&other.world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(body_arrays_are_what_a_view_moves),    cmocka_unit_test(bodies_that_are_kept_keep_all_arrays),
        cmocka_unit_test(bodies_that_migrate_bring_all_arrays), cmocka_unit_test(checkpoints_have_all_that_a_step_changes),
        cmocka_unit_test(an_entry_is_all_that_a_step_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
