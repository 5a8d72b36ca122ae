// SPDX-License-Identifier: MIT
// What is wrong in a scene file gets one line, with the file, its line and the key: mistakes, hostile files, missing ones.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sandglass/scene.h"
#include "sim/scene/yaml_file.h"

static bool parse(SandScene *scene, const char *text, SandError *error) {
    return sand_scene_load_text(scene, text, strlen(text), "t.yaml", NULL, error);
}

#define HEAD "name: t\n"
#define SPHERE "bodies: [{shape: sphere, radius: 1}]\n"

static const struct {
    const char *text, *message; // how the message starts
} wrongs[] = {
    {"", "t.yaml:1: expected a scene, got an empty file"},
    {"# only words\n", "t.yaml:2: expected a scene, got an empty file"},
    {"3\n", "t.yaml:1: expected keys with values, got '3'"},
    {"[1, 2]\n", "t.yaml:1: expected keys with values, got a list"},
    {"{}\n", "t.yaml:1: name: missing"},
    {"name: t\nbodies: [\n", "t.yaml:3: not YAML: "},
    {HEAD "step: 0.01\n\tx: 3\n", "t.yaml:3: not YAML: "},
    {HEAD "\nradiu: 3\n", "t.yaml:3: radiu: unknown key; there are name, like, about, step"},
    {HEAD "bodies:\n  - shape: sphere\n    radius: 1\n  - shape: sphere\n    radiu: 1\n", "t.yaml:6: radiu: unknown key"},
    {HEAD "step: fast\n", "t.yaml:2: step: expected a number, got 'fast'"},
    {HEAD "step: 0.01x\n", "t.yaml:2: step: expected a number, got '0.01x'"},
    {HEAD "step:\n", "t.yaml:2: step: expected a number, got nothing"},
    {HEAD "step: [1]\n", "t.yaml:2: step: expected a number, got a list"},
    {HEAD "step: {a: 1}\n", "t.yaml:2: step: expected a number, got keys with values"},
    {HEAD "step: nan\n", "t.yaml:2: step: expected a number, got 'nan'"},
    {HEAD "step: .inf\n", "t.yaml:2: step: expected a number, got '.inf'"},
    {HEAD "step: 1e999\n", "t.yaml:2: step: expected a number, got '1e999'"},
    {HEAD "step: 0\n", "t.yaml:2: step: expected a number from 1e-09 to 10, got 0"},
    {HEAD "step: -0.01\n", "t.yaml:2: step: expected a number from 1e-09 to 10, got -0.01"},
    {HEAD "step: 1\nstep: 2\n", "t.yaml:3: step: given twice"},
    {HEAD "seed: -1\n", "t.yaml:2: seed: expected a whole number, got '-1'"},
    {HEAD "seed: 1.5\n", "t.yaml:2: seed: expected a whole number, got '1.5'"},
    {HEAD "seed: 99999999999999999999\n", "t.yaml:2: seed: expected a whole number"},
    {HEAD "gravity: [0, 0]\n", "t.yaml:2: gravity: expected a list of 3 numbers, got 2"},
    {HEAD "gravity: [0, 0, 1, 2]\n", "t.yaml:2: gravity: expected a list of 3 numbers, got more than 3"},
    {HEAD "gravity: [0, 0, down]\n", "t.yaml:2: gravity: expected a number, got 'down'"},
    {HEAD "gravity: &g [0, 0, 1]\nworld: {lower: *g, upper: *g}\n",
     "t.yaml:3: lower: expected a list of 3 numbers, got an alias"},
    {HEAD "---\nname: u\n", "t.yaml:2: expected one document, got another"},
    {HEAD "solver: {name: magic}\n", "t.yaml:2: name: magic: there is no such solver; there are "},
    {HEAD "look: {floor: tiles}\n", "t.yaml:2: floor: expected one of studio, grid, none"},
    {HEAD "look: {set: mars}\n", "t.yaml:2: set: expected one of studio, table, workshop, stage, laboratory, gallery, hall, "
                                 "yard, quarry, regolith, moon, "
                                 "desert, snow, reactor"},
    {HEAD "materials: [{name: a, color: [0, 2, 0]}]\n", "t.yaml:2: color: expected a number from 0 to 1, got 2"},
    {HEAD "scenery: [{shape: rod, from: [0, 0, 0], to: [0, 0, 1], look: steel}]\n", "t.yaml:2: radius: missing: how wide"},
    {HEAD "scenery: [{shape: box, from: [0, 0, 0], to: [1, 1, 1], radius: 1, look: steel}]\n",
     "t.yaml:2: radius: a piece of this shape has none"},
    {HEAD "scenery: [{shape: box, from: [0, 0, 0], to: [0, 0, 0], look: steel}]\n", "t.yaml:2: to: expected it away from"},
    {HEAD "scenery: [{shape: box, from: [0, 0, 0], to: [1, 1, 1], look: steel, body: nobody}]\n", "t.yaml:2: body: "},
    {HEAD "cameras: [{name: a, eye: [1, 0, 0], target: [1, 0, 0]}]\n",
     "t.yaml:2: target: expected a point away from the eye"},
    {HEAD "cameras: [{name: a, eye: [1, 0, 0], target: [0, 0, 0]}, {name: a, eye: [1, 0, 0], target: [0, 0, 0]}]\n",
     "t.yaml:2: name: there is a camera 'a' already"},
    {HEAD "look: {frame: gold}\n", "t.yaml:2: frame: expected one of none, wood, brass"},
    {HEAD "look: {exposure: -1}\n", "t.yaml:2: exposure: expected a number from 0 to 100, got -1"},
    {HEAD "look:\n  key: {direction: [1, 0, -1]}\n", "t.yaml:3: direction: expected [x, y, z] to a light above the ground"},
    {HEAD "look:\n  fill: {color: [1, -1, 0]}\n", "t.yaml:3: color: expected red, green and blue from 0 to 100, got -1"},
    {HEAD "look:\n  fill: {direction: [1, 1, 1]}\n", "t.yaml:3: direction: unknown key; there are color, strength"},
    {HEAD "solver: {accuracy: 100}\n", "t.yaml:2: accuracy: expected a number from 0 to 99.999, got 100"},
    {HEAD "solver: {accuracy: -1}\n", "t.yaml:2: accuracy: expected a number from 0 to 99.999, got -1"},
    {HEAD "solver: {tolerance: 1e-3, accuracy: 99}\n",
     "t.yaml:2: accuracy: a solve ends at an accuracy or at a tolerance; give one of them"},
    {HEAD "solver: {iterations: 0}\n", "t.yaml:2: iterations: expected 1 to 1000000, got 0"},
    {HEAD "solver:\n  set:\n    - {name: magic, value: 3}\n", "t.yaml:4: set: "},
    {HEAD "friction: sticky\n", "t.yaml:2: friction: sticky: there is no such friction model; there are frictionless, "},
    {HEAD "bodies:\n  - shape: sphere\n    radius: -1\n", "t.yaml:4: radius: expected a number from 1e-06 to 1e+07, got -1"},
    {HEAD "bodies:\n  - shape: sphere\n", "t.yaml:3: radius: missing: a sphere needs it"},
    {HEAD "bodies:\n  - shape: sphere\n    radius: 1\n    height: 2\n", "t.yaml:5: height: a sphere has no such key"},
    {HEAD "bodies:\n  - {shape: egg}\n", "t.yaml:3: shape: unknown shape 'egg'; there are sphere, box, cylinder, capsule"},
    {HEAD "bodies:\n  - {shape: sphere, radius: 1, material: jam}\n",
     "t.yaml:3: material: unknown material 'jam'; there are stone"},
    {HEAD "bodies:\n  - {shape: box, size: [1, 1, 1]}\n  - {shape: box, size: [1, 1, 1], position: [0.9, 0, 0]}\n",
     "t.yaml:3: bodies: body 1 and body 2 overlap by 0.1 m at the start"},
    {HEAD "materials: [{name: a, mu: -0.1}]\n", "t.yaml:2: mu: expected a number from 0 to 100, got -0.1"},
    {HEAD "materials:\n  - {name: a}\n  - {name: a}\n", "t.yaml:4: name: "},
    {HEAD "materials: [{name: a, look: gold}]\n", "t.yaml:2: look: "},
    {HEAD "materials: [{name: a}]\npairs: [{a: a, b: c, mu: 1}]\n", "t.yaml:3: b: unknown material 'c'; there are a"},
    {HEAD "boundaries:\n  - {shape: torus}\n", "t.yaml:3: shape: expected one of plane, box, cylinder"},
    {HEAD "boundaries:\n  - shape: plane\n    radius: 1\n", "t.yaml:4: radius: a boundary of shape plane has no such key"},
    {HEAD "boundaries:\n  - shape: cylinder\n    radius: 1\n",
     "t.yaml:3: height: missing: a boundary of shape cylinder needs it"},
    {HEAD "boundaries:\n  - shape: revolution\n    profile:\n      - [1, 0]\n      - [-1, 2]\n",
     "t.yaml:6: profile: expected a number from 0 to 1e+07, got -1"},
    {HEAD "boundaries:\n  - {shape: plane, normal: [0, 0, 0]}\n", "t.yaml:3: shape: "},
    {HEAD "boundaries:\n  - {shape: plane, scales: maybe}\n", "t.yaml:3: scales: expected true or false, got 'maybe'"},
    {HEAD "boundaries:\n  - shape: mesh\n    file: none.obj\n", "t.yaml:4: file: "},
    {HEAD "boundaries:\n  - {shape: plane, motion: {start: 2, stop: 1}}\n",
     "t.yaml:3: stop: expected it after start, 2, got 1"},
    {HEAD
     "shapes:\n  - name: c\n    spheres:\n      - {center: [0, 0, 0], radius: 1}\n      - {center: [9, 0, 0], radius: 1}\n",
     "t.yaml:4: spheres: "},
    {HEAD "shapes:\n  - name: c\n    spheres:\n      - {center: [0, 0, 0], radius: 0}\n",
     "t.yaml:5: radius: expected a number from 1e-06 to 1e+07, got 0"},
    {HEAD "shapes: [{name: sphere, spheres: [{center: [0, 0, 0], radius: 1}]}]\n",
     "t.yaml:2: name: there is a shape 'sphere'"},
    {HEAD "shapes:\n  - name: c\n    compound:\n     pieces:\n      - {shape: box}\n",
     "t.yaml:6: size: missing: a box needs it"},
    {HEAD "shapes:\n  - name: c\n    compound:\n      pieces:\n        - {shape: later}\n"
          "  - {name: later, box: {size: [1, 1, 1]}}\n",
     "t.yaml:6: shape: expected a shape that stands before this one, got 'later'"},
    {HEAD "shapes:\n  - name: c\n    compound:\n      pieces:\n        - {shape: c}\n",
     "t.yaml:6: shape: expected a shape that stands before this one, got 'c'"},
    {HEAD "shapes:\n  - {name: p, spheres: [{center: [0, 0, 0], radius: 1}]}\n  - name: c\n"
          "    compound: {pieces: [{shape: p}]}\n",
     "t.yaml:5: compound: piece 0 of the compound is a clump"},
    {HEAD "shapes:\n  - name: c\n    compound:\n      solid: none.stl\n      pieces: [{shape: sphere, radius: 1}]\n",
     "t.yaml:5: solid: "},
    {HEAD "shapes:\n  - name: c\n    hull: {corners: 3, points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}\n",
     "t.yaml:4: corners: expected 4 to 64, got 3"},
    {HEAD "fills:\n  - radius: 1\n    count: 10\n", "t.yaml:3: lattice: missing"},
    {HEAD "fills:\n  - radius: 1\n    count: 200000001\n    lattice: {spacing: 3, columns: 9}\n",
     "t.yaml:4: count: expected 1 to 200000000 bodies, got 200000001"},
    {HEAD "fills:\n  - radius: 1\n    count: 5000000000\n    lattice: {spacing: 3, columns: 9}\n",
     "t.yaml:4: count: expected a whole number, got '5000000000'"},
    {HEAD "fills:\n  - radius: 1\n    lattice: {spacing: 3, columns: 9}\n",
     "t.yaml:3: count: missing: the scene has no `size`"},
    {HEAD "size: {bodies: 5}\n" SPHERE, "t.yaml:2: size: no fill or inlet takes its count from it"},
    {HEAD "boundaries: [{shape: box, size: [10, 10, 10]}]\nfills:\n  - radius: 1\n    count: 1000\n"
          "    lattice: {spacing: 2.1, from: -5}\n    region: {inside: true}\n",
     "t.yaml:4: fills: fill 1: only 36 of 1000 spheres fit; `count: 36` fits"},
    {HEAD "size: {bodies: 1000}\nboundaries: [{shape: box, size: [10, 10, 10]}]\nfills:\n  - radius: 1\n"
          "    lattice: {spacing: 2.1, from: -5}\n    region: {inside: true}\n",
     "t.yaml:5: fills: fill 1: only 36 of 1000 spheres fit; 36 is the nearest size that does (--bodies 36)"},
    {HEAD "size: {bodies: 10}\nboundaries: [{shape: box, size: [1, 1, 1], scales: true}]\nfills:\n  - radius: 1\n"
          "    lattice: {spacing: 2.1, from: 0, columns: 1, to: 5}\n    region: {inside: true}\n",
     "t.yaml:5: fills: fill 1: only 0 of 10 spheres fit"},
    {HEAD "fills:\n  - radius: 1\n    count: 100\n    lattice: {spacing: 1.9, columns: 10}\n",
     "t.yaml:3: fills: body 1 of fill 1 and body 11 of fill 1 overlap by 0.1 m at the start"},
    {HEAD "boundaries: [{name: floor, shape: plane}]\nbodies:\n  - {name: low, shape: sphere, radius: 1, position: [0, 0, "
          "0.9]}\n",
     "t.yaml:4: bodies: body 'low' and boundary 'floor' overlap by 0.1 m at the start"},
    {HEAD "bodies:\n  - {shape: box, size: [2, 2, 2]}\n  - {name: s, shape: sphere, radius: 1, position: [0, 0, 1.5]}\n",
     "t.yaml:3: bodies: body 1 and body 's' overlap by 0.5 m at the start"},
    {HEAD "world: {lower: [0, 0, 0], upper: [1, 1, 0]}\n" SPHERE, "t.yaml:2: upper: expected it above lower"},
    {HEAD "knobs:\n  - {name: m, kind: mass, of: ball, least: 0, most: 1}\n",
     "t.yaml:3: of: unknown 'ball'; there are none"},
    {HEAD "bodies: [{name: ball, shape: sphere, radius: 1, mass: 5}]\nknobs:\n  - {name: m, kind: mass, of: ball, least: 0, "
          "most: 1}\n",
     "t.yaml:4: knobs: expected least <= value <= most, got 0, 5 and 1"},
    {"name: \"a\\0b\"\n", "t.yaml:1: name: expected text"},
    {HEAD "\"x\\ny\": 1\n", "t.yaml:2: x?y: unknown key"},
};

static void check_one_line(const char *message, const char *wanted) {
    if (strncmp(message, wanted, strlen(wanted)) != 0) fail_msg("got     %s\n wanted %s", message, wanted);
    assert_null(strchr(message, '\n'));
    assert_true(strlen(message) > 10);
}

static void test_bad_input_gets_one_line(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        SandScene scene;
        SandError error = {""};
        if (parse(&scene, wrongs[i].text, &error)) fail_msg("accepted:\n%s", wrongs[i].text);
        check_one_line(error.text, wrongs[i].message);
        sand_scene_free(&scene); // may be freed nevertheless
    }
}

static void test_hostile_files(void **state) {
    (void)state;
    SandScene scene;
    SandError error;
    size_t size = 70u << 20;
    char *text = calloc(1, size);
    assert_non_null(text);

    // A file of zeros, short and as long as allowed.
    assert_false(sand_scene_load_text(&scene, text, 1000, "zeros.yaml", NULL, &error));
    check_one_line(error.text, "zeros.yaml:1: not YAML: ");
    assert_false(sand_scene_load_text(&scene, text, SAND_MAX_YAML_BYTES, "zeros.yaml", NULL, &error));
    check_one_line(error.text, "zeros.yaml:1: not YAML: ");
    assert_false(sand_scene_load_text(&scene, text, size, "huge.yaml", NULL, &error));
    check_one_line(error.text, "huge.yaml: 70 MB is too long for a scene, at most 64");

    memset(text, '[', 20000);
    assert_false(sand_scene_load_text(&scene, text, 20000, "deep.yaml", NULL, &error));
    check_one_line(error.text, "deep.yaml:1: expected keys with values, got a list");
    memcpy(text, "gravity: ", 9);
    assert_false(sand_scene_load_text(&scene, text, 20000, "deep.yaml", NULL, &error));
    check_one_line(error.text, "deep.yaml:1: gravity: expected a number, got a list");
    for (size_t i = 0; i < 20000; i++) text[i] = '{';
    assert_false(sand_scene_load_text(&scene, text, 20000, "deep.yaml", NULL, &error));
    check_one_line(error.text, "deep.yaml:1: expected a key");

    // An unterminated list.
    strcpy(text, "name: t\nbodies:\n");
    size_t used = strlen(text);
    while (used < 10u << 20) used += (size_t)sprintf(text + used, " - {shape: sphere, radius: 1}\n");
    assert_false(sand_scene_load_text(&scene, text, used, "long.yaml", NULL, &error));
    check_one_line(error.text, "long.yaml:3: bodies: expected a list of at least 0 and at most 100000");
    free(text);
}

static void test_missing_files(void **state) {
    (void)state;
    SandScene scene;
    SandError error;
    assert_false(sand_scene_load(&scene, "/nowhere/at/all.yaml", NULL, &error));
    check_one_line(error.text, "/nowhere/at/all.yaml: No such file or directory");
    assert_false(sand_scene_load(&scene, "./", NULL, &error));
    check_one_line(error.text, "./: Is a directory");
    assert_false(sand_scene_load(&scene, "no-such-scene", NULL, &error));
    check_one_line(error.text, "no-such-scene: no scene of that name; there are ball-drop, clumps");
    SandSceneOptions options = {.bodies = 7};
    assert_false(sand_scene_load(&scene, "stack", &options, &error));
    assert_non_null(strstr(error.text, "--bodies: this scene has a fixed number"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_input_gets_one_line),
        cmocka_unit_test(test_hostile_files),
        cmocka_unit_test(test_missing_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
