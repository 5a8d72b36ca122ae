// SPDX-License-Identifier: MIT
// A run that goes on from a checkpoint file in a new simulation gives the bits of the run that was never stopped, with every
// solver and every kind of scene; a file that is not whole is refused.
#include "tests/lab/lab.h"
#include "sim/core/array.h"
#include "sim/step/checkpoint_file.h"

#include <unistd.h>

static char path[64];
static SandCheckpointNotes notes = {.origin = "scene: here\n", .progress = "step 7"};

static SandSimulation *open_scene(const char *name, int bodies, const char *solver) {
    SandScene scene;
    SandError error;
    SandSceneOptions options = {.bodies = bodies};
    if (!sand_scene_load(&scene, name, &options, &error)) fail_msg("%s", error.text);
    SandSimulationDef def = sand_default_simulation();
    def.threads = 1;
    def.solve = scene.solve;
    if (solver) {
        sand_solve_choose(&def.solve, sand_solver_find(solver));
        def.solve.iterations = 20;
    }
    SandSimulation *sim = sand_simulation_create(&scene.world, &def, &error);
    if (!sim) fail_msg("%s", error.text);
    sand_scene_free(&scene);
    return sim;
}

static uint64_t steps(SandSimulation *sim, int count) {
    SandError error;
    for (int i = 0; i < count; i++)
        if (!sand_simulation_step(sim, &error)) fail_msg("%s", error.text);
    return sand_world_hash(sand_simulation_world(sim));
}

static void write_file(SandSimulation *sim) {
    SandCheckpoint state = {0};
    SandError error;
    assert_true(sand_simulation_save_state(sim, &state, &error));
    if (!sand_checkpoint_write(&state, &notes, path, &error)) fail_msg("%s", error.text);
    sand_checkpoint_free(&state);
}

static void go_on(SandSimulation *sim) {
    SandCheckpoint state = {0};
    SandCheckpointNotes read;
    SandError error;
    if (!sand_checkpoint_read(&state, &read, path, &error)) fail_msg("%s", error.text);
    assert_string_equal(read.origin, notes.origin);
    assert_string_equal(read.progress, notes.progress);
    if (!sand_simulation_restore_state(sim, &state, &error)) fail_msg("%s", error.text);
    sand_simulation_restore_counters(sim, &state);
    sand_checkpoint_free(&state);
    sand_checkpoint_notes_free(&read);
}

// Some steps, a checkpoint, some more; and the latter again by a simulation that has only the file.
static void same_bits(const char *name, int bodies, const char *solver, int before, int after) {
    SandSimulation *whole = open_scene(name, bodies, solver), *resumed = open_scene(name, bodies, solver);
    uint64_t there = steps(whole, before);
    write_file(whole);
    uint64_t end = steps(whole, after);
    assert_true(end != there);
    go_on(resumed);
    assert_true(sand_world_hash(sand_simulation_world(resumed)) == there);
    if (steps(resumed, after) != end) fail_msg("%s with %s goes on with other bits", name, solver ? solver : "its solver");
    const SandCounters *a = sand_simulation_counters(whole), *b = sand_simulation_counters(resumed);
    assert_int_equal(a->warm_started, b->warm_started);
    assert_int_equal(a->left_total, b->left_total);
    assert_int_equal(a->entered_total, b->entered_total);
    sand_simulation_free(whole);
    sand_simulation_free(resumed);
}

static void every_solver(void **state) {
    (void)state;
    for (int k = 0; k < sand_solver_count(); k++)
        if (sand_solver_can(k, SAND_FRICTION_CONE)) same_bits("cylinder", 60, sand_solver_table[k].name, 70, 12);
}

static void every_kind_of_scene(void **state) {
    (void)state;
    same_bits("hourglass", 300, NULL, 40, 20);
    same_bits("hopper", 300, NULL, 120, 40); // bodies enter and leave
    same_bits("clumps", 60, NULL, 60, 20);
    same_bits("wrecking-ball", 0, NULL, 30, 30); // joints
    same_bits("drum", 200, NULL, 30, 20);        // a boundary moves
    same_bits("rubble", 40, NULL, 30, 20);       // convex bodies
}

static bool bounces_next(SandSimulation *sim) {
    SandCheckpoint state = {0};
    bool bounces = false;
    assert_true(sand_simulation_save_state(sim, &state, NULL));
    const SandWarmStart *warm = &state.warm_start;
    for (int i = 0; warm->step > 0 && warm->bounces && i < warm->first[warm->body_count]; i++)
        bounces = bounces || warm->approach[i] > 0;
    sand_checkpoint_free(&state);
    return bounces;
}

// A ball that falls on a plane from this height and hardly bounces.
static SandSimulation *drop(double height) {
    SandWorld world = lab_world(0.3);
    SandSimulationDef def = sand_default_simulation();
    def.threads = 1;
    lab_set_laws(&world, 0, 0.3, 0);
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    lab_body(&world, 0, 0.1, v3_make(0, 0, 0.1 + height));
    return lab_simulation(&world, &def);
}

// Between the step in which two bodies meet and the one in which they part: a rebound so low that it begins a step later.
static void in_the_middle_of_an_impact(void **state) {
    (void)state;
    int found = 0;
    for (double height = 0.05; height < 0.08; height += 0.001) {
        SandSimulation *whole = drop(height), *resumed = drop(height);
        for (int k = 0; k < 20 && !bounces_next(whole); k++) steps(whole, 1);
        if (bounces_next(whole)) {
            write_file(whole);
            go_on(resumed);
            assert_true(steps(whole, 5) == steps(resumed, 5));
            found++;
        }
        sand_simulation_free(whole);
        sand_simulation_free(resumed);
    }
    assert_true(found > 0);
}

static SandSimulation *pile(void) {
    SandWorld world = lab_pile(0.02);
    SandSimulationDef def = sand_default_simulation();
    def.threads = 1;
    return lab_simulation(&world, &def);
}

static void what_sleeps_goes_on_sleeping(void **state) {
    (void)state;
    SandSimulation *whole = pile(), *resumed = pile();
    steps(whole, 300);
    assert_true(sand_simulation_counters(whole)->asleep > 0);
    write_file(whole);
    go_on(resumed);
    assert_true(steps(whole, 5) == steps(resumed, 5));
    assert_int_equal(sand_simulation_counters(whole)->asleep, sand_simulation_counters(resumed)->asleep);
    sand_simulation_free(whole);
    sand_simulation_free(resumed);
}

// The largest penetration is that of the last step, also before the first step after.
static void counters_come_back(void **state) {
    (void)state;
    SandSimulation *whole = open_scene("hopper", 300, NULL), *resumed = open_scene("hopper", 300, NULL);
    steps(whole, 150);
    write_file(whole);
    go_on(resumed);
    const SandCounters *a = sand_simulation_counters(whole), *b = sand_simulation_counters(resumed);
    assert_true(a->contacts > 0 && a->contacts == b->contacts);
    assert_true(a->metrics.residual == b->metrics.residual && a->penetration_max == b->penetration_max);
    assert_true(a->entered_total > 0 && a->entered_total == b->entered_total);
    sand_simulation_free(whole);
    sand_simulation_free(resumed);
}

static size_t read_bytes(unsigned char *bytes, size_t most) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, most, file);
    fclose(file);
    return size;
}

static void put_bytes(const unsigned char *bytes, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_true(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

static void refused(const char *words) {
    SandCheckpoint state = {0};
    SandCheckpointNotes read;
    SandError error;
    if (sand_checkpoint_read(&state, &read, path, &error)) fail_msg("a damaged file was read");
    if (words && !strstr(error.text, words)) fail_msg("'%s' does not say '%s'", error.text, words);
    sand_checkpoint_free(&state);
}

static void damage_is_found(void **state) {
    (void)state;
    static unsigned char bytes[200000], other[sizeof bytes];
    SandSimulation *sim = open_scene("newtons-cradle", 0, NULL);
    steps(sim, 60);
    write_file(sim);
    sand_simulation_free(sim);
    size_t size = read_bytes(bytes, sizeof bytes);
    assert_true(size > 1000 && size < sizeof bytes);
    for (size_t k = 0; k < size; k += 1 + k % 3) { // one bit of a byte
        memcpy(other, bytes, size);
        other[k] ^= (unsigned char)(1 << k % 8);
        put_bytes(other, size);
        refused(NULL);
    }
    for (size_t k = 0; k < size; k += 13) { // cut off
        put_bytes(bytes, k);
        refused(NULL);
    }
    memcpy(other, bytes, size);
    other[8]++;
    put_bytes(other, size);
    refused("another version");
    memcpy(other, "nonsense", 8);
    put_bytes(other, size);
    refused("no checkpoint");
    other[8]--;
    memcpy(other, bytes, size);
    memset(other + size, 0, 8);
    put_bytes(other, size + 8);
    refused("behind its end");
}

// A checkpoint of more bodies than the scene has, or of other boundaries, changes nothing.
static void another_scene_is_refused(void **state) {
    (void)state;
    SandSimulation *large = open_scene("cylinder", 60, NULL), *small = open_scene("two-spheres", 0, NULL);
    SandCheckpoint checkpoint = {0};
    SandCheckpointNotes read;
    SandError error;
    steps(large, 3);
    write_file(large);
    assert_true(sand_checkpoint_read(&checkpoint, &read, path, &error));
    uint64_t before = sand_world_hash(sand_simulation_world(small));
    assert_false(sand_simulation_restore_state(small, &checkpoint, &error));
    assert_true(sand_world_hash(sand_simulation_world(small)) == before);
    sand_checkpoint_free(&checkpoint);
    sand_checkpoint_notes_free(&read);
    sand_simulation_free(large);
    sand_simulation_free(small);
}

static void a_failed_write_keeps_the_last(void **state) {
    (void)state;
    SandSimulation *sim = open_scene("two-spheres", 0, NULL);
    SandCheckpoint checkpoint = {0};
    SandError error;
    assert_true(sand_simulation_save_state(sim, &checkpoint, &error));
    assert_false(sand_checkpoint_write(&checkpoint, &notes, "/nowhere/at/all", &error));
    assert_non_null(strstr(error.text, "/nowhere/at/all"));
    sand_checkpoint_free(&checkpoint);
    sand_simulation_free(sim);
}

int main(void) {
    snprintf(path, sizeof path, "/tmp/sandglass-checkpoint-%ld", (long)getpid());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_solver),
        cmocka_unit_test(every_kind_of_scene),
        cmocka_unit_test(damage_is_found),
        cmocka_unit_test(what_sleeps_goes_on_sleeping),
        cmocka_unit_test(in_the_middle_of_an_impact),
        cmocka_unit_test(counters_come_back),
        cmocka_unit_test(another_scene_is_refused),
        cmocka_unit_test(a_failed_write_keeps_the_last),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove(path);
    return failed;
}
