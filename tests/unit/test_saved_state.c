// SPDX-License-Identifier: MIT
// A state that was saved with the public functions goes on with the same bits in the same simulation and in another one of
// the same world; what is not whole, or is of another world, is refused with a sentence and changes nothing.
#include "tests/lab/lab.h"
#include "sandglass/checkpoint.h"
#include "sim/core/random.h"

#include <unistd.h>

typedef struct Saved {
    void *bytes;
    size_t size;
} Saved;

static Saved save(SandSimulation *sim) {
    Saved saved;
    SandError error;
    if (!sand_simulation_save(sim, &saved.bytes, &saved.size, &error)) fail_msg("%s", error.text);
    return saved;
}

static void restore(SandSimulation *sim, Saved saved) {
    SandError error;
    if (!sand_simulation_restore(sim, saved.bytes, saved.size, &error)) fail_msg("%s", error.text);
}

static uint64_t steps(SandSimulation *sim, int count) {
    SandError error;
    for (int i = 0; i < count; i++)
        if (!sand_simulation_step(sim, &error)) fail_msg("%s", error.text);
    return sand_world_hash(sand_simulation_world(sim));
}

static bool same_bytes(Saved a, Saved b) { return a.size == b.size && memcmp(a.bytes, b.bytes, a.size) == 0; }

// --- round trips ----------------------------------------------------------------------------------------------

static SandSimulation *open_scene(const char *name, int bodies, const char *const *probes, int probe_count) {
    SandScene scene;
    SandError error;
    SandSceneOptions options = {.bodies = bodies, .probes = probes, .probe_count = probe_count};
    if (!sand_scene_load(&scene, name, &options, &error)) fail_msg("%s", error.text);
    SandSimulationDef def = sand_default_simulation();
    def.threads = 1;
    def.solve = scene.solve;
    SandSimulation *sim = lab_simulation(&scene.world, &def);
    sand_scene_free(&scene);
    return sim;
}

// Probes too: the sums since the last sample, and what has passed since the start.
static void same_samples(const SandWorld *a, const SandWorld *b) {
    for (int k = 0; k < a->probe_count; k++) {
        int count = sand_probe_cells(&a->probes[k]) * sand_probe_columns(&a->probes[k]);
        assert_int_equal(a->probes[k].sample_step, b->probes[k].sample_step);
        assert_memory_equal(sand_probe_values(a, k), sand_probe_values(b, k), (size_t)count * sizeof(double));
    }
}

// A run of `before` and `after` steps; its second part again by the same simulation, by a new one, and by one that has
// gone its own way.
static void same_bits(SandSimulation *whole, SandSimulation *fresh, SandSimulation *strayed, int before, int after) {
    uint64_t there = steps(whole, before);
    Saved saved = save(whole), end, again;
    uint64_t beyond = steps(whole, after);
    end = save(whole);
    assert_true(beyond != there);
    steps(strayed, before / 2 + 3);
    SandSimulation *others[] = {whole, fresh, strayed};
    for (int k = 0; k < 3; k++) {
        restore(others[k], saved);
        assert_int_equal(sand_simulation_solved_contacts(others[k]), 0);
        again = save(others[k]);
        assert_true(same_bytes(again, saved)); // nothing of the state was lost
        sand_free(again.bytes);
        assert_true(steps(others[k], after) == beyond);
        again = save(others[k]);
        assert_true(same_bytes(again, end));
        sand_free(again.bytes);
        same_samples(sand_simulation_world(whole), sand_simulation_world(others[k]));
    }
    sand_free(saved.bytes);
    sand_free(end.bytes);
    for (int k = 0; k < 3; k++) sand_simulation_free(others[k]);
}

static void scene_goes_on(const char *name, int bodies, const char *const *probes, int probe_count, int before, int after) {
    SandSimulation *sims[3];
    for (int k = 0; k < 3; k++) sims[k] = open_scene(name, bodies, probes, probe_count);
    same_bits(sims[0], sims[1], sims[2], before, after);
}

static void scenes_go_on(void **state) {
    (void)state;
    const char *probes[] = {"waist flow point=0,0,0 normal=0,0,-1 rate=15", "push force boundary=glass rate=7"};
    scene_goes_on("hourglass", 300, probes, 2, 61, 20);
    scene_goes_on("hopper", 300, NULL, 0, 120, 40);     // bodies enter, where a seed says, and leave
    scene_goes_on("wrecking-ball", 0, NULL, 0, 30, 30); // joints
    scene_goes_on("drum", 150, NULL, 0, 30, 20);        // a boundary moves
    scene_goes_on("rubble", 40, NULL, 0, 30, 20);       // convex bodies, whose contacts are found again by their names
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
    Saved saved = save(whole);
    restore(resumed, saved);
    assert_int_equal(sand_simulation_counters(resumed)->asleep, sand_simulation_counters(whole)->asleep);
    assert_true(steps(whole, 5) == steps(resumed, 5));
    assert_int_equal(sand_simulation_counters(resumed)->asleep, sand_simulation_counters(whole)->asleep);
    sand_free(saved.bytes);
    sand_simulation_free(whole);
    sand_simulation_free(resumed);
}

// What a caller changed and a state holds comes back; bodies that were added since are gone.
static void changes_are_undone(void **state) {
    (void)state;
    SandError error;
    SandSimulation *sim = pile();
    steps(sim, 20);
    Saved saved = save(sim);
    int bodies = sand_simulation_world(sim)->body_count;
    uint64_t end = steps(sim, 10);
    SandWorld *w = sand_simulation_change_bodies(sim, &error);
    assert_non_null(w);
    w->gravity = v3_make(1, 0, 0);
    w->boundaries[0].pose.position.z -= 1;
    lab_body(w, 0, 0.02, v3_make(0, 0, 3));
    steps(sim, 10);
    restore(sim, saved);
    assert_int_equal(sand_simulation_world(sim)->body_count, bodies);
    assert_true(steps(sim, 10) == end);
    sand_free(saved.bytes);
    sand_simulation_free(sim);
}

// A copy of the world, with meshes, profiles and hulls of its own, is a world that the state belongs to.
static void a_copied_world_goes_on(void **state) {
    (void)state;
    static const char *const names[] = {"rubble", "hourglass", "hopper", "wrecking-ball"};
    for (int k = 0; k < 4; k++) {
        SandError error;
        SandWorld copy;
        SandSimulation *sim = open_scene(names[k], k < 3 ? 60 : 0, NULL, 0);
        SandSimulationDef def = sand_default_simulation();
        steps(sim, 30);
        Saved saved = save(sim);
        if (!sand_world_copy(&copy, sand_simulation_world(sim), &error)) fail_msg("%s", error.text);
        uint64_t end = steps(sim, 20);
        sand_simulation_free(sim); // with the world that was copied
        SandScene scene;
        if (!sand_scene_open(&scene, names[k], NULL, &error)) fail_msg("%s", error.text);
        def.threads = 1;
        def.solve = scene.solve;
        sand_scene_free(&scene);
        SandSimulation *other = lab_simulation(&copy, &def);
        restore(other, saved);
        if (steps(other, 20) != end) fail_msg("the copy of %s goes on with other bits", names[k]);
        sand_free(saved.bytes);
        sand_simulation_free(other);
    }
}

// --- files ----------------------------------------------------------------------------------------------------

static char path[64];

static void a_file_has_the_same_bytes(void **state) {
    (void)state;
    SandError error;
    SandSimulation *sim = pile(), *other = pile();
    uint64_t there = steps(sim, 30);
    Saved saved = save(sim), read = {malloc(saved.size + 1), 0};
    if (!sand_simulation_save_file(sim, path, &error)) fail_msg("%s", error.text);
    FILE *file = fopen(path, "rb");
    assert_true(file && read.bytes);
    read.size = fread(read.bytes, 1, saved.size + 1, file);
    fclose(file);
    assert_true(same_bytes(saved, read));
    if (!sand_simulation_restore_file(other, path, &error)) fail_msg("%s", error.text);
    assert_true(sand_world_hash(sand_simulation_world(other)) == there);
    assert_true(steps(sim, 5) == steps(other, 5));
    free(read.bytes);
    sand_free(saved.bytes);
    sand_simulation_free(sim);
    sand_simulation_free(other);
}

static void a_file_that_cannot_be_had_is_named(void **state) {
    (void)state;
    SandError error;
    SandSimulation *sim = pile(), *other = open_scene("two-spheres", 0, NULL, 0);
    assert_false(sand_simulation_restore_file(sim, "/nowhere/at/all", &error));
    assert_non_null(strstr(error.text, "/nowhere/at/all"));
    assert_false(sand_simulation_save_file(sim, "/nowhere/at/all", &error));
    assert_non_null(strstr(error.text, "/nowhere/at/all"));
    assert_true(sand_simulation_save_file(other, path, &error));
    assert_false(sand_simulation_restore_file(sim, path, &error));
    assert_true(strstr(error.text, path) && strstr(error.text, "another world"));
    sand_simulation_free(sim);
    sand_simulation_free(other);
}

// --- refusals -------------------------------------------------------------------------------------------------

// Refuses it with these words, and goes on as a twin does that was never asked.
static void refused(SandSimulation *sim, const void *bytes, size_t size, const char *words) {
    SandError error = {""};
    uint64_t before = sand_world_hash(sand_simulation_world(sim));
    if (sand_simulation_restore(sim, bytes, size, &error)) fail_msg("%zu bytes were restored", size);
    if (!*error.text || strchr(error.text, '\n') || !strstr(error.text, words))
        fail_msg("'%s' does not say '%s'", error.text, words);
    assert_true(sand_world_hash(sand_simulation_world(sim)) == before);
}

static void goes_on_like_a_twin(SandSimulation *sim, SandSimulation *twin) {
    Saved a = save(sim), b = save(twin);
    assert_true(same_bytes(a, b));
    assert_true(steps(sim, 5) == steps(twin, 5)); // the impulses of its last step too
    sand_free(a.bytes);
    sand_free(b.bytes);
}

static void every_length_is_refused(void **state) {
    (void)state;
    SandSimulation *sim = open_scene("newtons-cradle", 0, NULL, 0), *twin = open_scene("newtons-cradle", 0, NULL, 0);
    steps(sim, 60);
    steps(twin, 60);
    Saved saved = save(sim);
    refused(sim, NULL, 0, "empty");
    for (size_t size = 1; size < saved.size; size++) {
        void *cut = malloc(size); // so that the address sanitizer knows its end
        assert_non_null(cut);
        memcpy(cut, saved.bytes, size);
        refused(sim, cut, size, "the state: ");
        free(cut);
    }
    unsigned char *more = calloc(saved.size + 8, 1);
    assert_non_null(more);
    memcpy(more, saved.bytes, saved.size);
    refused(sim, more, saved.size + 8, "behind its end");
    free(more);
    goes_on_like_a_twin(sim, twin);
    sand_free(saved.bytes);
    sand_simulation_free(sim);
    sand_simulation_free(twin);
}

// One bit of every byte, and some bits here and there.
static void every_flipped_bit_is_refused(void **state) {
    (void)state;
    SandSimulation *sim = open_scene("newtons-cradle", 0, NULL, 0), *twin = open_scene("newtons-cradle", 0, NULL, 0);
    SandRandom random = sand_random(7);
    steps(sim, 60);
    steps(twin, 60);
    Saved saved = save(sim);
    unsigned char *bytes = saved.bytes;
    for (size_t k = 0; k < saved.size; k++) {
        bytes[k] ^= (unsigned char)(1 << k % 8);
        refused(sim, bytes, saved.size, "the state: ");
        bytes[k] ^= (unsigned char)(1 << k % 8);
    }
    for (int round = 0; round < 2000; round++) {
        size_t places[3];
        for (int i = 0; i < 3; i++) places[i] = (size_t)(sand_random_bits(&random) % saved.size);
        for (int i = 0; i < 3; i++) bytes[places[i]] ^= (unsigned char)(0x11 << i);
        refused(sim, bytes, saved.size, "the state: ");
        for (int i = 0; i < 3; i++) bytes[places[i]] ^= (unsigned char)(0x11 << i);
    }
    goes_on_like_a_twin(sim, twin);
    restore(sim, saved); // its bytes are what they were
    sand_free(saved.bytes);
    sand_simulation_free(sim);
    sand_simulation_free(twin);
}

// A world of two balls on a plane, with one thing changed.
typedef enum Change {
    CHANGE_NOTHING,
    CHANGE_STEP,
    CHANGE_RADIUS,
    CHANGE_FRICTION,
    CHANGE_SHAPE,
    CHANGE_BOUNDARY,
    CHANGE_OUTLET,
    CHANGE_PROBE,
    CHANGE_PROBES,
    CHANGE_JOINT,
    CHANGE_COUNT,
    CHANGES
} Change;

static SandSimulation *two_balls(Change change) {
    SandError error;
    SandWorld world = lab_world(change == CHANGE_FRICTION ? 0.4 : 0.3);
    SandSimulationDef def = sand_default_simulation();
    SandProbe probe = sand_probe_of(SAND_PROBE_CENTER), path_of = sand_probe_of(SAND_PROBE_PATH);
    SandOutlet outlet = sand_outlet_plane(v3_make(0, 0, change == CHANGE_OUTLET ? -2 : -1), v3_make(0, 0, 1));
    SandJointDef joint = sand_default_joint();
    SandShape box;
    def.threads = 1;
    if (change == CHANGE_STEP) world.step *= 0.5;
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    if (change == CHANGE_BOUNDARY)
        assert_true(sand_boundary_box(&world.boundaries[0], v3_make(1, 1, 1), SAND_INSIDE, &error));
    if (change == CHANGE_SHAPE) {
        assert_true(sand_shape_box(&box, v3_make(1, 1, 1), &error));
        assert_true(sand_world_add_shape(&world, &box, &error) >= 0);
    }
    lab_body(&world, 0, change == CHANGE_RADIUS ? 0.11 : 0.1, v3_make(0, 0, 0.5));
    lab_body(&world, 0, 0.1, v3_make(0.3, 0, 0.5));
    if (change != CHANGE_COUNT) lab_body(&world, 0, 0.1, v3_make(0.6, 0, 0.5));
    assert_true(sand_world_add_outlet(&world, &outlet, &error) >= 0);
    joint.anchor = v3_make(0, 0, 0.5);
    joint.b = change == CHANGE_JOINT ? 1 : 0;
    assert_true(sand_world_add_joint(&world, &joint, &error) >= 0);
    path_of.body = 1;
    probe.rate = change == CHANGE_PROBE ? 11 : 10;
    snprintf(probe.name, sizeof probe.name, "center");
    snprintf(path_of.name, sizeof path_of.name, "path");
    assert_true(sand_world_add_probe(&world, &probe, &error) >= 0);
    if (change != CHANGE_PROBES) assert_true(sand_world_add_probe(&world, &path_of, &error) >= 0);
    return lab_simulation(&world, &def);
}

static void a_state_of_another_world_is_refused(void **state) {
    (void)state;
    static const char *const words[CHANGES] = {
        [CHANGE_STEP] = "settings",       [CHANGE_RADIUS] = "its bodies",
        [CHANGE_FRICTION] = "materials",  [CHANGE_SHAPE] = "shapes",
        [CHANGE_BOUNDARY] = "boundaries", [CHANGE_OUTLET] = "outlets",
        [CHANGE_PROBE] = "its probes",    [CHANGE_PROBES] = "2 probes",
        [CHANGE_JOINT] = "another scene", [CHANGE_COUNT] = "3 bodies and this one 2",
    };
    SandSimulation *sim = two_balls(CHANGE_NOTHING), *same = two_balls(CHANGE_NOTHING);
    steps(sim, 20);
    Saved saved = save(sim);
    restore(same, saved);
    for (int change = 1; change < CHANGES; change++) {
        SandSimulation *other = two_balls((Change)change), *twin = two_balls((Change)change);
        steps(other, 7);
        steps(twin, 7);
        refused(other, saved.bytes, saved.size, words[change]);
        goes_on_like_a_twin(other, twin);
        sand_simulation_free(other);
        sand_simulation_free(twin);
    }
    sand_free(saved.bytes);
    sand_simulation_free(sim);
    sand_simulation_free(same);
}

int main(void) {
    snprintf(path, sizeof path, "/tmp/sandglass-state-%ld", (long)getpid());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenes_go_on),
        cmocka_unit_test(what_sleeps_goes_on_sleeping),
        cmocka_unit_test(changes_are_undone),
        cmocka_unit_test(a_copied_world_goes_on),
        cmocka_unit_test(a_file_has_the_same_bytes),
        cmocka_unit_test(a_file_that_cannot_be_had_is_named),
        cmocka_unit_test(every_length_is_refused),
        cmocka_unit_test(every_flipped_bit_is_refused),
        cmocka_unit_test(a_state_of_another_world_is_refused),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    remove(path);
    return failed;
}
