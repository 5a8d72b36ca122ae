// SPDX-License-Identifier: MIT
// Probes in a scene file and in the options: what arrives in the world, and what is refused, each in one line with the key.
#include "tests/lab/lab.h"

// A scene with a named body, a floor, an outlet and these probes, and one more as text.
static bool load(SandScene *scene, const char *probes, const char *more, SandError *error) {
    char text[2048];
    SandSceneOptions options = {.probes = &more, .probe_count = more ? 1 : 0};
    snprintf(text, sizeof text,
             "name: test\n"
             "boundaries: [{name: floor, shape: plane}]\n"
             "outlets: [{name: drain, point: [0, 0, -1], normal: [0, 0, 1]}]\n"
             "bodies: [{shape: sphere, radius: 0.1, position: [0, 0, 1]}, {name: bob, shape: sphere, radius: 0.1, "
             "position: [0, 0, 2]}]\n"
             "probes: [%s]\n",
             probes);
    return sand_scene_load_text(scene, text, strlen(text), "test.yaml", &options, error);
}

static void probes_arrive(void **state) {
    (void)state;
    SandScene scene;
    SandError error = {""};
    const char *probes =
        "{name: neck, kind: flow, point: [1, 2, 3], normal: [0, 0, -2], size: [0.5, 4], axis: [0, 7, 1], rate: 5},"
        "{name: drained, kind: flow, outlet: drain},"
        "{name: load, kind: force, boundary: floor, about: [1, 0, 0]},"
        "{name: push, kind: force, body: bob},"
        "{name: first, kind: path, index: 0},"
        "{name: grid, kind: stress, lower: [0, 0, 0], upper: [1, 2, 3], cells: [2, 3, 4]},"
        "{name: line, kind: density, from: [0, 0, 1], to: [0, 0, 3], width: 0.5, bins: 8},"
        "{name: z, kind: coordination, lower: [0, 0, 0], upper: [1, 1, 1], least_force: 0.25}";
    if (!load(&scene, probes, "  disk flow point=0,0,1 normal=1,0,0 radius=0.2 ", &error)) fail_msg("%s", error.text);
    const SandProbe *p = scene.world.probes;
    assert_int_equal(scene.world.probe_count, 9);
    assert_string_equal(p[0].name, "neck");
    NEAR(p[0].rate, 5, 0);
    NEAR(p[0].axis[2].z, -1, 0);
    NEAR(p[0].axis[0].y, 1, 1e-15);
    NEAR(p[0].size[1], 4, 0);
    assert_int_equal(p[1].outlet, 0);
    assert_int_equal(p[2].boundary, 0);
    assert_true(p[2].about && p[2].origin.x == 1);
    assert_int_equal(p[3].body, 1);
    assert_int_equal(p[4].body, 0);
    assert_int_equal(sand_probe_cells(&p[5]), 24);
    SandVec3 center = sand_probe_cell_center(&p[5], 23), middle = sand_probe_cell_center(&p[6], 0);
    NEAR(center.x + center.y + center.z, 0.75 + 5.0 / 3 + 3 * 7.0 / 8, 1e-12);
    NEAR(middle.x, 0, 1e-12);
    NEAR(middle.z, 1.125, 1e-12);
    NEAR(p[7].least_force, 0.25, 0);
    assert_string_equal(p[8].name, "disk");
    NEAR(p[8].radius, 0.2, 0);
    sand_scene_free(&scene);
}

static void refused(const char *probes, const char *key, const char *words) {
    SandScene scene;
    SandError error = {""};
    if (load(&scene, probes, NULL, &error)) fail_msg("'%s' was taken", probes);
    if (!strstr(error.text, "test.yaml:5: ") || !strstr(error.text, key) || !strstr(error.text, words))
        fail_msg("'%s': got '%s'", probes, error.text);
}

static void wrong_probes_are_refused(void **state) {
    (void)state;
    refused("{name: a, kind: flaw}", "kind: ", "did you mean flow?");
    refused("{kind: flow}", "name", "missing");
    refused("{name: a, kind: flow, point: [0, 0, 0]}", "normal: ", "missing");
    refused("{name: a, kind: flow, outlet: dran}", "outlet: ", "did you mean drain?");
    refused("{name: a, kind: flow, outlet: drain, radius: 1}", "radius: ", "no such key when it is at an outlet");
    refused("{name: a, kind: flow, point: [0, 0, 0], normal: [0, 0, 1], radius: 1, size: [1, 1]}", "size: ", "give one");
    refused("{name: a, kind: flow, point: [0, 0, 0], normal: [0, 0, 1], axis: [0, 0, 3]}", "axis: ", "along the normal");
    refused("{name: a, kind: force}", "body: ", "expected a body");
    refused("{name: a, kind: force, boundary: floor, body: bob}", "boundary: ", "give one");
    refused("{name: a, kind: force, boundary: flor}", "boundary: ", "did you mean floor?");
    refused("{name: a, kind: path, body: bib}", "body: ", "no body 'bib'");
    refused("{name: a, kind: path, index: 2}", "index: ", "below 2");
    refused("{name: a, kind: stress, boundary: floor}", "boundary: ", "kind stress has no such key");
    refused("{name: a, kind: stress}", "name: ", "needs a region");
    refused("{name: a, kind: stress, lower: [0, 0, 0]}", "upper: ", "missing");
    refused("{name: a, kind: stress, lower: [0, 0, 0], upper: [1, 1, 1], cells: [0, 1, 1]}", "cells: ", "expected 1 to");
    refused("{name: a, kind: stress, from: [0, 0, 0], to: [1, 1, 1]}", "from: ", "width and bins");
    refused("{name: a, kind: energy, rate: 0}", "rate: ", "expected");
    refused("{name: a, kind: energy}, {name: a, kind: energy}", "name: ", "two probes 'a'");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(probes_arrive), cmocka_unit_test(wrong_probes_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
