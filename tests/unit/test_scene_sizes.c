// SPDX-License-Identifier: MIT
// Scenes of every size: each that has a `size` takes any number of bodies from 1 on.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/core/array.h"
#include "sandglass/scene.h"

// Loads a scene of this many bodies; the world is checked for overlaps as it is built.
static void load(SandScene *scene, const char *name, int bodies) {
    SandError error;
    if (!sand_scene_load(scene, name, &(SandSceneOptions){.bodies = bodies}, &error))
        fail_msg("%s --bodies %d: %s", name, bodies, error.text);
}

static bool has_size(const char *name) {
    SandScene scene;
    SandError error;
    assert_true(sand_scene_open(&scene, name, NULL, &error));
    bool sized = scene.bodies > 0;
    sand_scene_free(&scene);
    return sized;
}

static void test_every_scene_takes_every_size(void **state) {
    (void)state;
    static const int sizes[] = {1, 2, 3, 5, 10, 20, 50, 100, 200, 400, 800, 1000, 1600, 3000, 4000, 8000};
    SandSceneEntry *entries;
    SandError error;
    int count, sized = 0;
    assert_true(sand_scenes_list(&entries, &count, &error));
    for (int i = 0; i < count; i++) {
        if (!has_size(entries[i].name)) continue;
        sized++;
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            SandScene scene;
            load(&scene, entries[i].name, sizes[k]);
            assert_true(scene.bodies == sizes[k] && scene.world.body_count >= sizes[k]);
            sand_scene_free(&scene);
        }
    }
    assert_true(sized >= 14);
    sand_free(entries);
}

// A vessel is widened where its bodies would not fit and nowhere else, so that sizes which fit keep their bits.
static void test_only_too_small_vessels_are_widened(void **state) {
    (void)state;
    const struct {
        const char *name;
        int bodies, of;
        bool widened;
    } cases[] = {{"drum", 3000, 3000, false}, {"drum", 200, 3000, false},   {"drum", 100, 3000, true},
                 {"drum", 1, 3000, true},     {"rubble", 100, 1000, false}, {"rubble", 5, 1000, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        SandScene scene;
        load(&scene, cases[i].name, cases[i].bodies);
        double natural = cbrt((double)cases[i].bodies / cases[i].of);
        assert_true(cases[i].widened ? scene.scale > natural && scene.scale < 2.5 * natural : scene.scale == natural);
        sand_scene_free(&scene);
    }
}

static const char *const narrow = "name: t\n"
                                  "size: {bodies: 1000}\n"
                                  "start: {settled: true, plug: 1, scales: true}\n"
                                  "boundaries:\n"
                                  "  - {name: pipe, shape: cylinder, radius: 3, height: 10, scales: true}\n"
                                  "fills:\n"
                                  "  - {radius: 1, lattice: {spacing: 2.1}, region: {inside: true}, scales: true}\n"
                                  "knobs:\n"
                                  "  - {name: neck, kind: narrowest, of: pipe, least: 0, most: 20}\n";

// What was read with the scale follows it: the plug, and the knob's value until it is set.
static void test_plug_and_neck_follow(void **state) {
    (void)state;
    SandScene scene;
    SandError error;
    if (!sand_scene_load_text(&scene, narrow, strlen(narrow), "t.yaml", NULL, &error)) fail_msg("%s", error.text);
    assert_true(scene.scale > 1);
    assert_true(scene.plug == scene.scale);
    assert_true(scene.knobs[0].value == 3 * scene.scale && scene.knobs[0].most == 20 * scene.scale);

    // Built again, the scale is the same: it begins with the natural one.
    double scale = scene.scale;
    assert_true(sand_scene_build(&scene, &error));
    assert_true(scene.scale == scale);
    assert_true(sand_scene_set_knob(&scene, 0, 5 * scale, &error));
    assert_true(sand_scene_build(&scene, &error));
    assert_true(scene.knobs[0].value == 5 * scale);
    sand_scene_free(&scene);
}

// The highest body, where the world has so many.
static double height(const char *text, int bodies) {
    SandScene scene;
    SandError error;
    double highest = -INFINITY;
    if (!sand_scene_load_text(&scene, text, strlen(text), "t.yaml", NULL, &error)) fail_msg("%s", error.text);
    assert_int_equal(scene.world.body_count, bodies);
    for (int i = 0; i < bodies; i++) highest = fmax(highest, scene.world.position[i].z);
    sand_scene_free(&scene);
    return highest;
}

// Bodies that would start in one another, or in a single body, are left out: the lattice goes on above. Without them 200
// bodies fill eight layers of 25.
static void test_what_would_overlap_is_left_out(void **state) {
    (void)state;
    const char *sticks = "name: t\nshapes: [{name: stick, box: {size: [0.1, 0.1, 1.4]}}]\n"
                         "fills: [{shape: stick, sizes: [1, 1], count: 200, lattice: {spacing: 1, columns: 5}}]\n";
    assert_true(height(sticks, 200) > 7.5);
    const char *around = "name: t\nbodies: [{shape: sphere, radius: 1, position: [0, 0, 3]}]\n"
                         "fills: [{radius: 0.2, count: 200, lattice: {spacing: 1, columns: 5}}]\n";
    assert_true(height(around, 201) == 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_scene_takes_every_size), cmocka_unit_test(test_only_too_small_vessels_are_widened),
        cmocka_unit_test(test_plug_and_neck_follow), cmocka_unit_test(test_what_would_overlap_is_left_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
