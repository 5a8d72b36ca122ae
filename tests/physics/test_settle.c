// SPDX-License-Identifier: MIT
// Settled starts: bodies at rest that do not overlap, the same bits for every number of threads, from the cache and computed
// anew, and a cache that is never trusted.
#include "sim/scene/packing.h"
#include "tests/lab/lab.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

static char folder[] = "/tmp/sandglass-settle-XXXXXX";

typedef struct Heard {
    int calls;
    bool cancel;
    char sentence[SAND_SENTENCE];
} Heard;

static bool on_progress(void *user, double done) {
    Heard *heard = user;
    assert_true(done >= 0 && done <= 1);
    heard->calls++;
    return !heard->cancel;
}

static void on_message(void *user, const char *sentence) {
    snprintf(((Heard *)user)->sentence, SAND_SENTENCE, "%s", sentence);
}

static void settle(SandScene *scene, const char *name, int bodies, int threads, const char *cache, Heard *heard) {
    SandError error;
    SandSceneOptions options = {.bodies = bodies, .start = SAND_START_SETTLED};
    *heard = (Heard){0};
    SandSettleDef def = {.cache = cache, .threads = threads, .tell = on_progress, .on_message = on_message, .user = heard};
    if (!sand_scene_load(scene, name, &options, &error) || !sand_scene_settle(scene, &def, &error))
        fail_msg("%s", error.text);
}

static uint64_t settled_hash(const char *name, int bodies, int threads, const char *cache, Heard *heard) {
    SandScene scene;
    settle(&scene, name, bodies, threads, cache, heard);
    uint64_t hash = sand_world_hash(&scene.world);
    sand_scene_free(&scene);
    return hash;
}

// After half a second of ordinary steps: the mean speed, as a share of that after falling by a radius, and how far the mean
// body sank, in radii.
static void run_on(SandScene *scene, double *speed, double *sunk) {
    SandSimulationDef def = sand_default_simulation();
    SandError error;
    def.threads = 2;
    double before = sand_world_potential_energy(&scene->world), mass = 0, radius = scene->world.scale[0];
    for (int i = 0; i < scene->world.body_count; i++) mass += scene->world.mass[i];
    SandSimulation *sim = sand_simulation_create(&scene->world, &def, &error);
    if (!sim) fail_msg("%s", error.text);
    for (int k = 0; k < 50; k++)
        if (!sand_simulation_step(sim, &error)) fail_msg("%s", error.text);
    const SandWorld *world = sand_simulation_world(sim);
    *speed = sqrt(2 * sand_world_kinetic_energy(world) / mass / (9.81 * radius));
    *sunk = (before - sand_world_potential_energy(world)) / (mass * 9.81 * radius);
    sand_simulation_free(sim);
}

static void settled_bodies_rest(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int bodies;
    } scenes[] = {{"cylinder", 1000}, {"hourglass", 1500}, {"pebble-bed", 800}, {"drum", 1500}};
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) {
        SandScene scene;
        SandOverlap overlap;
        SandError error;
        Heard heard;
        settle(&scene, scenes[k].name, scenes[k].bodies, 2, NULL, &heard);
        assert_true(heard.calls > 0);
        assert_true(sand_world_kinetic_energy(&scene.world) == 0);
        // Half of what a scene file may have where bodies are placed by hand.
        int found = sand_find_overlap(&scene.world, 0.005, &overlap, &error);
        if (found) fail_msg("%s: overlap %g m", scenes[k].name, overlap.depth);
        sand_scene_free(&scene);
    }
}

// On its lattice the same vessel falls by many radii in that time.
static void settled_bodies_stay(void **state) {
    (void)state;
    SandScene scene;
    SandError error;
    Heard heard;
    double speed, sunk, lattice_speed, lattice_sunk;
    settle(&scene, "cylinder", 1000, 2, NULL, &heard);
    run_on(&scene, &speed, &sunk);
    sand_scene_free(&scene);
    if (!sand_scene_load(&scene, "cylinder", NULL, &error)) fail_msg("%s", error.text);
    run_on(&scene, &lattice_speed, &lattice_sunk);
    sand_scene_free(&scene);
    print_message("settled: speed %.3f, sunk %.3f radii; lattice: speed %.3f, sunk %.3f radii\n", speed, sunk, lattice_speed,
                  lattice_sunk);
    // Single spheres still roll on the surface: without the damping they gather some speed.
    assert_true(speed < 0.2 && sunk < 0.15 && sunk > -0.01);
    assert_true(lattice_speed > 3 * speed && lattice_sunk > 5 * sunk);
}

static void the_plug_holds_and_goes(void **state) {
    (void)state;
    SandScene scene;
    Heard heard;
    settle(&scene, "hourglass", 1500, 2, NULL, &heard);
    double lowest = INFINITY;
    for (int i = 0; i < scene.world.body_count; i++) lowest = fmin(lowest, scene.world.position[i].z);
    assert_true(lowest > 0.099 && lowest < 0.11); // spheres of 0.1 m lie on the plug at height 0
    assert_int_equal(scene.world.boundary_count, 1);
    sand_scene_free(&scene);
}

static void bits_do_not_depend_on_threads(void **state) {
    (void)state;
    Heard heard;
    uint64_t one = settled_hash("hourglass", 600, 1, NULL, &heard);
    assert_true(settled_hash("hourglass", 600, 3, NULL, &heard) == one);
    assert_true(settled_hash("hourglass", 601, 1, NULL, &heard) != one);
}

// The only file of the cache.
static void find_state(char *path, size_t size) {
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    int count = 0;
    for (struct dirent *item; (item = readdir(dir));) {
        if (item->d_name[0] == '.') continue;
        snprintf(path, size, "%s/%s", folder, item->d_name);
        count++;
    }
    closedir(dir);
    assert_int_equal(count, 1);
}

static void write_at(const char *path, long at, int byte) {
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, at, SEEK_SET);
    int before = fgetc(file);
    fseek(file, at, SEEK_SET);
    fputc(before ^ byte, file);
    fclose(file);
}

static void the_cache_is_not_trusted(void **state) {
    (void)state;
    Heard heard;
    char path[400];
    uint64_t hash = settled_hash("hourglass", 300, 1, folder, &heard);
    assert_true(heard.calls > 0);
    find_state(path, sizeof path);
    assert_true(settled_hash("hourglass", 300, 2, folder, &heard) == hash);
    assert_int_equal(heard.calls, 0); // from the cache
    static const long damaged[] = {0, 9, 17, 25, 40, 9000};
    for (size_t k = 0; k < sizeof damaged / sizeof *damaged; k++) {
        write_at(path, damaged[k], 4);
        assert_true(settled_hash("hourglass", 300, 1, folder, &heard) == hash);
        assert_true(heard.calls > 0); // computed anew, and kept again
        assert_true(settled_hash("hourglass", 300, 1, folder, &heard) == hash);
        assert_int_equal(heard.calls, 0);
    }
    assert_int_equal(truncate(path, 5000), 0);
    assert_true(settled_hash("hourglass", 300, 1, folder, &heard) == hash && heard.calls > 0);
    FILE *file = fopen(path, "ab");
    fputc(0, file);
    fclose(file);
    assert_true(settled_hash("hourglass", 300, 1, folder, &heard) == hash && heard.calls > 0);
    assert_true(settled_hash("hourglass", 300, 1, "/dev/null/nowhere", &heard) == hash);
    assert_non_null(strstr(heard.sentence, "the settled start is not kept"));
    unlink(path);
}

static void what_cannot_settle_says_so(void **state) {
    (void)state;
    SandScene scene;
    SandError error;
    Heard heard = {.cancel = true};
    SandSettleDef def = {.tell = on_progress, .user = &heard};
    assert_true(sand_scene_load(&scene, "wedge", NULL, &error));
    assert_false(sand_scene_settle(&scene, &def, &error));
    assert_non_null(strstr(error.text, "wedge.yaml: start: settled: there is no gravity"));
    sand_scene_free(&scene);
    assert_true(sand_scene_load(&scene, "cylinder", NULL, &error));
    assert_false(sand_scene_settle(&scene, &def, &error));
    assert_non_null(strstr(error.text, "canceled"));
    assert_true(sand_scene_build(&scene, &error)); // the scene is still open
    sand_scene_free(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settled_bodies_rest),      cmocka_unit_test(settled_bodies_stay),
        cmocka_unit_test(the_plug_holds_and_goes),  cmocka_unit_test(bits_do_not_depend_on_threads),
        cmocka_unit_test(the_cache_is_not_trusted), cmocka_unit_test(what_cannot_settle_says_so),
    };
    if (!mkdtemp(folder)) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
