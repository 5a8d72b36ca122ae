// SPDX-License-Identifier: MIT
// Scenes built by several processes: each has the bodies of its block as one process has them, no process but the first
// holds memory for those of others, and all that follows from all bodies is the same everywhere.
#define _DEFAULT_SOURCE // mincore
#include <malloc.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "sandglass/scene.h"
#include "sim/core/array.h"
#include "sim/core/ranks.h"

// Nothing but bodies has a bounding box here.
static const char open_ground[] =
    "name: heap\n"
    "about: Spheres on a plane.\n"
    "boundaries: [{name: floor, shape: plane}]\n"
    "fills: [{radii: [0.1, 0.2], count: 90, lattice: {spacing: 0.5, columns: 4, from: 0.3}}]\n";

static void load(SandScene *scene, const char *name, SandSceneOptions options) {
    SandError error;
    bool is_text = !strcmp(name, "open ground");
    if (!(is_text ? sand_scene_load_text(scene, open_ground, strlen(open_ground), "heap.yaml", &options, &error)
                  : sand_scene_load(scene, name, &options, &error)))
        fail_msg("%s", error.text);
}

// Whether all that is known of a body is the same in two worlds.
static bool same_body(const SandWorld *a, const SandWorld *b, int i) {
#define SAME(type, name) &&!memcmp(&a->name[i], &b->name[i], sizeof(type))
    return true SAND_BODY_ARRAYS(SAME);
#undef SAME
}

// A process has the bodies of its block, and may have others, such as those that the file lists one by one.
static void check_process(const char *name, const SandScene *whole, SandSceneOptions options) {
    SandScene scene;
    load(&scene, name, options);
    const SandWorld *a = &whole->world, *b = &scene.world;
    int n = a->body_count, first = sand_block_first(n, options.processes, options.process),
        end = sand_block_first(n, options.processes, options.process + 1), left_out = 0;
    assert_int_equal(b->body_count, n);
    for (int i = 0; i < n; i++) {
        bool has = sand_world_has(b, i);
        left_out += !has;
        if (i >= first && i < end && !has) fail_msg("%s: process %d lacks body %d", name, options.process, i);
        if (has && !same_body(a, b, i)) fail_msg("%s: body %d of process %d differs", name, i, options.process);
    }
    if (options.process == 0 || whole->settled) assert_int_equal(left_out, 0);
    if (options.process > 0 && !whole->settled) assert_true(left_out > 0);
    assert_memory_equal(&b->lower, &a->lower, sizeof a->lower);
    assert_memory_equal(&b->upper, &a->upper, sizeof a->upper);
    assert_memory_equal(&scene.view_lower, &whole->view_lower, sizeof whole->view_lower);
    assert_memory_equal(&scene.view_upper, &whole->view_upper, sizeof whole->view_upper);
    sand_scene_free(&scene);
}

static void check_scene(const char *name, int bodies, SandStart start) {
    SandSceneOptions options = {.bodies = bodies, .start = start, .processes = 3};
    SandScene whole;
    load(&whole, name, (SandSceneOptions){.bodies = bodies, .start = start});
    for (options.process = 0; options.process < options.processes; options.process++) check_process(name, &whole, options);
    sand_scene_free(&whole);
}

static void test_each_has_its_block(void **state) {
    (void)state;
    check_scene("hourglass", 2000, SAND_START_LATTICE); // a world as large as its boundary
    check_scene("rubble", 300, SAND_START_AS_SCENE);    // clumps and sizes drawn at random
    check_scene("heavy", 0, SAND_START_LATTICE);        // a single body and a fill
    check_scene("hopper", 0, SAND_START_AS_SCENE);      // bodies that wait at an inlet are everywhere
    check_scene("rover", 1000, SAND_START_LATTICE);     // stones that would overlap are left out
    check_scene("tracked", 5000, SAND_START_LATTICE);   // and those that would overlap the vehicle
    check_scene("open ground", 0, SAND_START_AS_SCENE); // the box of the world is that of all bodies
}

// All bodies take part in settling.
static void test_what_settles_is_whole(void **state) {
    (void)state;
    check_scene("hourglass", 500, SAND_START_SETTLED);
}

// The part of an array that is in memory.
static double resident(const void *array, size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = (uintptr_t)array / page * page, end = ((uintptr_t)array + bytes + page - 1) / page * page;
    size_t pages = (end - first) / page, in = 0;
    unsigned char *vector = malloc(pages);
    assert_non_null(vector);
    assert_int_equal(mincore((void *)first, end - first, vector), 0);
    for (size_t k = 0; k < pages; k++) in += vector[k] & 1;
    free(vector);
    return (double)in / (double)pages;
}

static void test_others_take_no_memory(void **state) {
    (void)state;
    SandScene scene;
    mallopt(M_MMAP_THRESHOLD, 1 << 20); // no memory that was freed before
    load(&scene, "hourglass",
         (SandSceneOptions){.bodies = 1000000, .start = SAND_START_LATTICE, .process = 2, .processes = 4});
    const SandWorld *w = &scene.world;
    double part = resident(w->position, (size_t)w->body_count * sizeof *w->position);
    if (part > 0.5) fail_msg("%.0f %% of the positions are in memory", 100 * part);
    assert_true(part > 0.2);
    sand_scene_free(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_has_its_block),
        cmocka_unit_test(test_what_settles_is_whole),
        cmocka_unit_test(test_others_take_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
