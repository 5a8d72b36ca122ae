// SPDX-License-Identifier: MIT
// Scenes: every file loads, and initial states are what they promise. Mistakes are in test_scene_errors.c.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/scene/packing.h"
#include "sim/core/array.h"
#include "sandglass/scene.h"

static void load(SandScene *scene, const char *name, int bodies) {
    SandSceneOptions options = {.bodies = bodies};
    SandError error;
    if (!sand_scene_load(scene, name, &options, &error)) fail_msg("%s", error.text);
}

// ---- the scenes folder ----

static void test_every_scene_loads(void **state) {
    (void)state;
    const char *wanted[] = {"hourglass", "rubble", "cylinder", "heavy",       "ball-drop", "pebble-bed", "drum",  "heap",
                            "incline",   "stack",  "wedge",    "two-spheres", "peer-s1",   "peer-s2",    "rover", "hopper"};
    SandSceneEntry *entries;
    SandError error;
    int count;
    size_t found = 0;
    assert_true(sand_scenes_list(&entries, &count, &error));
    for (int i = 0; i < count; i++) {
        SandScene scene;
        if (i) assert_true(strcmp(entries[i - 1].name, entries[i].name) < 0);
        load(&scene, entries[i].name, strcmp(entries[i].name, "hourglass-1m") == 0 ? 5000 : 0);
        assert_string_equal(scene.name, entries[i].name);
        assert_string_equal(scene.about, entries[i].about);
        assert_true(strlen(scene.about) > 20);
        assert_true(scene.world.body_count > 0 && scene.world.boundary_count > 0 && scene.seconds > 0);
        // The scene starts inside its world's box and in the camera's view.
        for (int b = 0; b < scene.world.body_count; b++) {
            SandVec3 p = scene.world.position[b], low = scene.world.lower, high = scene.world.upper;
            assert_true(p.x > low.x && p.y > low.y && p.z > low.z && p.x < high.x && p.y < high.y && p.z < high.z);
        }
        for (size_t w = 0; w < sizeof wanted / sizeof *wanted; w++) found += strcmp(wanted[w], entries[i].name) == 0;
        sand_scene_free(&scene);
    }
    assert_int_equal(found, sizeof wanted / sizeof *wanted);
    sand_free(entries);
}

static void test_default_sizes(void **state) {
    (void)state;
    const struct {
        const char *name;
        int bodies;
    } sizes[] = {{"hourglass", 25000}, {"cylinder", 1000}, {"heavy", 1001},  {"ball-drop", 32811}, {"rubble", 1000},
                 {"peer-s1", 4000},    {"peer-s2", 25000}, {"wide", 100000}, {"stack", 10},        {"two-spheres", 2}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        SandScene scene;
        load(&scene, sizes[i].name, 0);
        assert_int_equal(scene.world.body_count, sizes[i].bodies);
        sand_scene_free(&scene);
    }
}

// ---- initial states ----

// The initial states of tests/bench/scene.h, written again independently.
static uint64_t peer_state;

static double peer_random(void) {
    peer_state ^= peer_state << 13;
    peer_state ^= peer_state >> 7;
    peer_state ^= peer_state << 17;
    return (double)(peer_state >> 11) * (2.0 / 9007199254740992.0) - 1.0;
}

static void check_peer(const SandWorld *world, int *next, double x, double y, double z, double jitter) {
    double at[3];
    at[0] = x + jitter * peer_random();
    at[1] = y + jitter * peer_random();
    at[2] = z + jitter * peer_random();
    assert_memory_equal(&world->position[(*next)++], at, sizeof at);
}

static void test_peer_starts(void **state) {
    (void)state;
    SandScene scene;
    int n = 0;
    load(&scene, "peer-s1", 0);
    peer_state = 88172645463325252ull;
    for (int k = 0; n < 4000; k++)
        for (int i = -9; i <= 9; i++)
            for (int j = -9; j <= 9; j++) {
                double x = i * 0.22, y = j * 0.22;
                if (x * x + y * y > 1.85 * 1.85 || n >= 4000) continue;
                check_peer(&scene.world, &n, x, y, 0.15 + k * 0.22, 0.008);
            }
    for (int i = 0; i < n; i++) assert_true(scene.world.mass[i] == 6.28 && scene.world.scale[i] == 0.1);
    assert_int_equal(scene.world.boundary_count, 37);
    sand_scene_free(&scene);

    n = 0;
    load(&scene, "peer-s2", 0);
    peer_state = 88172645463325252ull;
    for (int k = 0; n < 25000; k++)
        for (int i = 0; i < 23; i++)
            for (int j = 0; j < 23 && n < 25000; j++)
                check_peer(&scene.world, &n, (i - (23 - 1) / 2.) * 0.21, (j - (23 - 1) / 2.) * 0.21, 0.12 + k * 0.21,
                           0.0045);
    sand_scene_free(&scene);
}

static void test_seed_decides_the_start(void **state) {
    (void)state;
    SandScene a, b, c;
    SandError error;
    SandSceneOptions options = {.bodies = 50, .has_seed = true, .seed = 5};
    assert_true(sand_scene_load(&a, "rubble", &options, &error));
    assert_true(sand_scene_load(&b, "rubble", &options, &error));
    options.seed = 6;
    assert_true(sand_scene_load(&c, "rubble", &options, &error));
    assert_true(sand_world_hash(&a.world) == sand_world_hash(&b.world));
    assert_true(sand_world_hash(&a.world) != sand_world_hash(&c.world));
    // Building again resets the world.
    a.world.position[3].x += 1;
    assert_true(sand_scene_build(&a, &error));
    assert_true(sand_world_hash(&a.world) == sand_world_hash(&b.world));
    sand_scene_free(&a);
    sand_scene_free(&b);
    sand_scene_free(&c);
}

// Sand above the neck, space for it below, and a neck of six diameters, at every size.
static void test_hourglass_scales(void **state) {
    (void)state;
    const int sizes[] = {500, 1000, 3000, 25000, 200000, 1000000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        SandScene scene;
        load(&scene, "hourglass", sizes[s]);
        assert_int_equal(scene.world.body_count, sizes[s]);
        const SandBoundary *glass = &scene.world.boundaries[0];
        double neck = INFINITY, below = 0, sand = sizes[s] * 4.18879e-3;
        for (int i = 0; i < glass->profile_count; i++) {
            double r = glass->profile[i][0];
            if (r > 0) neck = fmin(neck, r);
            if (i == 0 || glass->profile[i][1] > 0) continue;
            double h = glass->profile[i][1] - glass->profile[i - 1][1], q = glass->profile[i - 1][0];
            below += 3.14159265 / 3 * h * (r * r + r * q + q * q);
        }
        assert_true(neck >= 0.6);
        assert_true(below > sand / 0.55);
        for (int i = 0; i < scene.world.body_count; i++) assert_true(scene.world.position[i].z > -0.1);
        assert_true(fabs(scene.world.scale[0] - 0.1) < 1e-15);
        assert_true(scene.knobs[sand_scene_knob(&scene, "neck")].value == neck);
        sand_scene_free(&scene);
    }
}

// ---- knobs ----

// Arrays grow by halves while bodies are added; what is left over is given back. A body has 163 bytes.
static void test_a_world_holds_no_more_than_its_bodies(void **state) {
    (void)state;
    SandScene scene;
    SandError error;
    SandSceneOptions options = {.bodies = 30000};
    uint64_t before = sand_bytes_held();
    if (!sand_scene_load(&scene, "hourglass", &options, &error)) fail_msg("%s", error.text);
    double each = (double)(sand_bytes_held() - before) / scene.world.body_count;
    sand_scene_free(&scene);
    if (each > 180) fail_msg("a body has %.0f bytes", each);
    assert_int_equal(sand_bytes_held(), before);
}

static void test_knobs(void **state) {
    (void)state;
    SandScene scene;
    SandError error;
    assert_true(sand_scene_open(&scene, "heavy", NULL, &error));
    assert_int_equal(sand_scene_knob(&scene, "nonsense"), -1);
    int mass = sand_scene_knob(&scene, "mass");
    assert_true(mass >= 0);
    assert_true(sand_scene_set_knob(&scene, mass, 16000, &error));
    assert_false(sand_scene_set_knob(&scene, mass, -1, &error));
    assert_non_null(strstr(error.text, "mass: expected 1 to 100000 kg, got -1"));
    assert_false(sand_scene_set_knob(&scene, mass, NAN, &error));
    assert_true(sand_scene_build(&scene, &error));
    assert_true(scene.world.mass[scene.knobs[mass].target] == 16000);
    sand_scene_free(&scene);

    assert_true(sand_scene_open(&scene, "hourglass", &(SandSceneOptions){.bodies = 1000}, &error));
    assert_true(sand_scene_set_knob(&scene, sand_scene_knob(&scene, "neck"), 0.3, &error));
    assert_true(sand_scene_build(&scene, &error));
    double neck = INFINITY;
    for (int i = 0; i < scene.world.boundaries[0].profile_count; i++)
        if (scene.world.boundaries[0].profile[i][0] > 0) neck = fmin(neck, scene.world.boundaries[0].profile[i][0]);
    assert_true(neck == 0.3);
    sand_scene_free(&scene);

    assert_true(sand_scene_open(&scene, "drum", NULL, &error));
    assert_true(sand_scene_set_knob(&scene, sand_scene_knob(&scene, "rate"), -2, &error));
    assert_true(sand_scene_build(&scene, &error));
    assert_true(scene.world.boundaries[0].motion.rate == -2);
    sand_scene_free(&scene);

    assert_true(sand_scene_open(&scene, "incline", NULL, &error));
    assert_true(sand_scene_set_knob(&scene, sand_scene_knob(&scene, "mu"), 0.25, &error));
    assert_true(sand_scene_set_knob(&scene, sand_scene_knob(&scene, "steeper"), -20, &error));
    assert_true(sand_scene_build(&scene, &error));
    assert_true(sand_world_pair(&scene.world, 0, 0)->mu == 0.25);
    // The slope is one of 20 degrees, downhill along +x: without the tilt gravity is straight into it.
    SandVec3 into =
        v3_scale(-9.81, v3_make(sin(20 * 3.14159265358979323846 / 180), 0, cos(20 * 3.14159265358979323846 / 180)));
    assert_true(v3_length(v3_sub(scene.world.gravity, into)) < 1e-6);
    sand_scene_free(&scene);
}

// ---- shapes and boundaries from a file ----

static bool parse(SandScene *scene, const char *text, SandError *error) {
    return sand_scene_load_text(scene, text, strlen(text), "t.yaml", NULL, error);
}

// Pieces of every kind, where they are described to be; and a hull that is given fewer corners than it has.
static void test_compounds(void **state) {
    (void)state;
    SandScene scene;
    SandError error;
    const char *text =
        "name: compounds\n"
        "shapes:\n"
        "  - {name: rock, stone: {seed: 3}}\n"
        "  - name: tool\n"
        "    compound:\n"
        "     pieces:\n"
        "      - {shape: box, size: [2, 0.2, 0.2], position: [1, 0, 0]}\n"
        "      - {shape: cylinder, radius: 0.3, height: 1, position: [2, 0, 0], rotation: {axis: [1, 0, 0], angle: 90}}\n"
        "      - {shape: sphere, radius: 0.5, position: [-1, 0, 0]}\n"
        "      - {shape: rock, scale: 0.4, position: [0, 2, 0]}\n"
        "  - name: gem\n"
        "    hull: {corners: 5, points: [[0, 0, 0], [2, 0, 0], [0, 2, 0], [0, 0, 2], [2, 2, 2], [0.9, 0.9, -0.1]]}\n"
        "bodies:\n"
        "  - {name: t, shape: tool, position: [0, 0, 5]}\n"
        "  - {shape: gem, position: [0, 0, 15]}\n";
    if (!parse(&scene, text, &error)) fail_msg("%s", error.text);
    const SandWorld *w = &scene.world;
    const SandShape *tool = &w->shapes[w->shape[0]];
    assert_int_equal(tool->kind, SAND_COMPOUND);
    assert_int_equal(tool->piece_count, 4);
    const double pi = 3.14159265358979323846;
    double volume = 0.08 + pi * 0.09 + pi / 6 + 4 * pi / 3 * 0.064;
    assert_true(fabs(tool->volume - volume) < 1e-9);
    // The frame of the file lies at z = 5, and in it the cylinder along y.
    SandPose body = {w->position[0], w->rotation[0]}, *piece = &tool->pieces[1].pose;
    SandVec3 at = pose_apply(body, piece->position);
    SandVec3 axis = q_rotate(body.rotation, q_rotate(piece->rotation, v3_make(0, 0, 1)));
    assert_true(v3_length(v3_sub(at, v3_make(2, 0, 5))) < 1e-12 && fabs(axis.y) > 1 - 1e-12);
    assert_int_equal(w->shapes[w->shape[1]].core->corner_count, 5);
    sand_scene_free(&scene);
}

static void test_everything_in_one_file(void **state) {
    (void)state;
    SandScene scene;
    SandError error;
    const char *text =
        "name: all\n"
        "friction: frictionless\n"
        "solver: {name: jacobi, iterations: 7, tolerance: 1e-3}\n"
        "materials: [{name: a, mu: 0.1}, {name: b, mu: 0.9, look: brass}]\n"
        "pairs: [{a: a, b: b, mu: 0.7}]\n"
        "shapes:\n"
        "  - {name: pair, spheres: [{center: [1, 0, 0], radius: 1}, {center: [2, 0, 0], radius: 1}]}\n"
        "boundaries:\n"
        "  - {shape: frustum, radii: [2, 4], height: 3, caps: none, material: b}\n"
        "  - {shape: frustum, radii: [0, 4], height: 3, position: [30, 0, 0], side: outside}\n"
        "  - {shape: sphere, radius: 90, position: [0, 0, 0]}\n"
        "  - {shape: terrain, width: 20, length: 10, cells: 8, amplitude: 1, wavelength: 4, position: [0, 0, -40]}\n"
        "  - {shape: box, size: [1, 2, 3], side: outside, position: [50, 0, 0],\n"
        "     rotation: {axis: [0, 0, 2], angle: 90}, motion: {rate: 1, start: 1, stop: 2}}\n"
        "bodies:\n"
        "  - {name: p, shape: pair, scale: 0.5, position: [10, 0, 40], material: b, spin: [1, 2, 3], enter: 2}\n"
        "  - {shape: sphere, radius: 0.5, mass: 3, position: [0, 20, 0]}\n";
    if (!parse(&scene, text, &error)) fail_msg("%s", error.text);
    const SandWorld *w = &scene.world;
    assert_int_equal(scene.solve.friction, SAND_FRICTIONLESS);
    assert_string_equal(sand_solver_table[scene.solve.solver].name, "jacobi");
    assert_int_equal(scene.solve.iterations, 7);
    assert_true(scene.solve.tolerance == 1e-3);
    assert_true(sand_world_pair(w, 0, 1)->mu == 0.7 && sand_world_pair(w, 1, 0)->mu == 0.7 &&
                sand_world_pair(w, 1, 1)->mu == 0.9);
    assert_int_equal(w->boundary_count, 5);
    assert_int_equal(w->boundaries[0].material, 1);
    assert_int_equal(w->boundaries[0].profile_count, 2);
    assert_int_equal(w->boundaries[1].profile_count, 3);
    assert_string_equal(w->boundaries[4].name, "box-5");
    assert_true(w->boundaries[4].moves && w->boundaries[4].motion.center.x == 50);
    // The file places the clump's own origin; its center of mass is 1.5 m away from it, at half the scale.
    assert_true(fabs(w->position[0].x - 10.75) < 1e-3 && fabs(w->position[0].z - 40) < 1e-3);
    assert_true(w->enter[0] == 2 && w->spin[0].z == 3 && w->material[0] == 1);
    assert_true(w->mass[1] == 3 && w->scale[1] == 0.5 && w->materials[1].look == SAND_LOOK_BRASS);
    sand_scene_free(&scene);
}

// Angles of a motion are in degrees; its path is a table.
static void test_motions(void **state) {
    (void)state;
    SandScene scene;
    SandError error;
    const char *text = "name: all\n"
                       "boundaries:\n"
                       "  - {name: belt, shape: plane, motion: {surface: [1, 2, 0]}}\n"
                       "  - {name: table, shape: box, size: [1, 1, 1], motion: {amplitude: [0, 0, 0.1], swing: 90,\n"
                       "     frequency: 5, phase: 180, axis: [1, 0, 0]}}\n"
                       "  - {name: ram, shape: plane, motion: {path: [[0, 0, 0, 0, 0], [2, 1, 2, 3, 180]], start: 1}}\n";
    if (!parse(&scene, text, &error)) fail_msg("%s", error.text);
    const SandWorld *w = &scene.world;
    const SandMotion *belt = &w->boundaries[sand_world_find_boundary(w, "belt")].motion, *table = &w->boundaries[1].motion;
    assert_true(belt->surface.y == 2 && belt->frequency == 0 && table->amplitude.z == 0.1 && table->frequency == 5);
    const double half_turn = 3.14159265358979323846;
    assert_true(fabs(table->swing - 0.5 * half_turn) < 1e-15 && fabs(table->phase - half_turn) < 1e-15);
    SandPose ram = sand_boundary_pose(&w->boundaries[2], 2);
    assert_true(fabs(ram.position.z - 1.5) < 1e-15 && fabs(ram.rotation.z - sin(0.25 * half_turn)) < 1e-15);
    assert_int_equal(sand_world_find_boundary(w, "door"), -1);
    sand_scene_free(&scene);
}

static void refused_motion(const char *motion, const char *key, const char *words) {
    SandScene scene;
    SandError error = {""};
    char text[256];
    snprintf(text, sizeof text, "name: all\nboundaries:\n  - {name: belt, shape: plane, motion: {%s}}\n", motion);
    assert_false(parse(&scene, text, &error));
    if (!strstr(error.text, key) || !strstr(error.text, words)) fail_msg("%s: no %s, %s", error.text, key, words);
}

static void test_wrong_motions_are_refused(void **state) {
    (void)state;
    refused_motion("amplitude: [0, 0, 1]", "frequency", "missing");
    refused_motion("amplitude: [0, 0, 1], frequency: -1", "frequency", "-1");
    refused_motion("amplitude: [0, 0, 0.1], frequency: 40", "belt", "it oscillates at 40 Hz; with a step of 0.01 s it may");
    refused_motion("surface: [0, 0, 1]", "belt", "must lead along it");
    refused_motion("path: [[1, 0, 0, 0, 0], [0, 0, 0, 0, 0]]", "path", "row 1 is at 0 s");
}

static void test_accuracy_and_islands(void **state) {
    (void)state;
    SandScene scene;
    SandError error;
    if (!parse(&scene, "name: t\nsolver: {iterations: 200, accuracy: 99.5}\n", &error)) fail_msg("%s", error.text);
    assert_true(scene.solve.accuracy == 99.5 && scene.solve.tolerance == 0 && scene.solve.iterations == 200);
    assert_int_equal(scene.solve.islands, 0);
    sand_scene_free(&scene);
    if (!parse(&scene, "name: t\nsolver: {islands: 4000}\n", &error)) fail_msg("%s", error.text);
    assert_int_equal(scene.solve.islands, 4000);
    sand_scene_free(&scene);
    assert_false(parse(&scene, "name: t\nsolver: {islands: 1000001}\n", &error));
    assert_non_null(strstr(error.text, "islands"));
}

static void test_sizes_of_a_fill(void **state) {
    (void)state;
    SandScene scene;
    SandError error;
    const char *text = "name: mix\nfills: [{radii: [0.1, 0.4], count: 500, lattice: {spacing: 1, columns: 10}}]\n";
    if (!parse(&scene, text, &error)) fail_msg("%s", error.text);
    double least = 1, most = 0;
    for (int i = 0; i < 500; i++) {
        least = fmin(least, scene.world.scale[i]);
        most = fmax(most, scene.world.scale[i]);
    }
    assert_true(least >= 0.1 && least < 0.11 && most < 0.4 && most > 0.39);
    sand_scene_free(&scene);
}

// Poured layers start at the same height, each when the one before has cleared it.
static void test_poured_and_dense_layers(void **state) {
    (void)state;
    SandScene scene;
    SandError error;
    const char *text =
        "name: pour\nfills: [{radius: 0.4, count: 12, lattice: {spacing: 1, columns: 2, from: 5, pour: 4}}]\n";
    if (!parse(&scene, text, &error)) fail_msg("%s", error.text);
    for (int i = 0; i < 12; i++) {
        assert_true(scene.world.enter[i] == i / 4 * 0.25);
        assert_true(scene.world.position[i].z == 5 && scene.world.velocity[i].z == -4);
    }
    sand_scene_free(&scene);

    // The densest lattice: twelve neighbors in the middle, all one spacing away.
    text = "name: dense\nfills: [{radius: 0.5, count: 250, lattice: {spacing: 1, columns: 5, dense: true}}]\n";
    if (!parse(&scene, text, &error)) fail_msg("%s", error.text);
    int neighbors = 0, middle = 5 * 25 + 12;
    for (int i = 0; i < 250; i++)
        neighbors += fabs(v3_length(v3_sub(scene.world.position[i], scene.world.position[middle])) - 1) < 1e-9;
    assert_int_equal(neighbors, 12);
    sand_scene_free(&scene);
}

static void write_text(const char *folder, const char *name, const char *text) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

// A mesh file is found relative to the scene that names it.
static void test_mesh_beside_the_scene(void **state) {
    (void)state;
    char folder[] = "/tmp/sand-scene-XXXXXX", path[256];
    SandScene scene;
    SandError error;
    assert_non_null(mkdtemp(folder));
    write_text(folder, "scene.yaml", "name: m\nboundaries:\n  - {name: ground, shape: mesh, file: ground.obj}\n");
    snprintf(path, sizeof path, "%s/scene.yaml", folder);
    write_text(folder, "ground.obj", "v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nf 1 2 3\nf 1 3 4\n");
    if (!sand_scene_load(&scene, path, NULL, &error)) fail_msg("%s", error.text);
    assert_int_equal(scene.world.boundaries[0].kind, SAND_MESH);
    sand_scene_free(&scene);
    write_text(folder, "ground.obj", "v -1 -1 0\nv 1 -1 nan\nv 1 1 0\nv -1 1 0\nf 1 2 3\nf 1 3 4\n");
    assert_false(sand_scene_load(&scene, path, NULL, &error));
    assert_non_null(strstr(error.text, "scene.yaml:3: file: "));
    assert_non_null(strstr(error.text, "ground.obj"));
    SandSceneOptions options = {.no_files = true};
    assert_false(sand_scene_load(&scene, path, &options, &error));
    assert_non_null(strstr(error.text, "files may not be opened here"));
    remove(path);
    snprintf(path, sizeof path, "%s/ground.obj", folder);
    remove(path);
    remove(folder);
}

// A scene like another: its own size, solver and description, everything else from the other.
static void test_like_another(void **state) {
    (void)state;
    SandScene big, plain;
    SandError error;
    SandSceneOptions small = {.bodies = 700};
    assert_true(sand_scene_open(&big, "hourglass-1m", NULL, &error));
    assert_false(big.settled); // more bodies than settle by themselves
    assert_string_equal(big.like, "hourglass");
    assert_int_equal(big.bodies, 1000000);
    assert_int_equal(big.solve.iterations, 20);
    sand_scene_free(&big);

    // At the same size the two have the same initial bits.
    if (!sand_scene_load(&big, "hourglass-1m", &small, &error)) fail_msg("%s", error.text);
    if (!sand_scene_load(&plain, "hourglass", &small, &error)) fail_msg("%s", error.text);
    assert_true(sand_world_hash(&big.world) == sand_world_hash(&plain.world));
    assert_int_equal(big.knob_count, plain.knob_count);
    sand_scene_free(&big);
    sand_scene_free(&plain);

    const struct {
        const char *text, *wanted;
    } bad[] = {
        {"name: a\nlike: nowhere\n", "a.yaml:2: like: "},
        {"name: a\nlike: hourglass\nstep: 0.1\n", "a.yaml:2: like: a scene like another has no other keys than"},
        {"name: a\nlike: ../hourglass\n", "a.yaml:2: like: expected the name of a scene beside this one"},
        {"name: a\nlike: hourglass-1m\n", "a.yaml:2: like: hourglass-1m is itself like another"},
    };
    char file[4200];
    snprintf(file, sizeof file, "%s/a.yaml", sand_scenes_folder());
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        assert_false(sand_scene_open_text(&big, bad[k].text, strlen(bad[k].text), file, NULL, &error));
        if (!strstr(error.text, bad[k].wanted)) fail_msg("%s", error.text);
    }
}

// A folder that a library was given comes before the one compiled in, and can be taken back.
static void test_the_folder_of_scenes_can_be_given(void **state) {
    (void)state;
    SandError error;
    SandScene scene;
    char own[4200], long_path[5000];
    snprintf(own, sizeof own, "%s", sand_scenes_folder());
    assert_true(sand_scenes_use("/nowhere/scenes", &error));
    if (!getenv("SANDGLASS_SCENES")) {
        assert_string_equal(sand_scenes_folder(), "/nowhere/scenes");
        assert_false(sand_scene_open(&scene, "hourglass", NULL, &error));
        assert_true(strncmp(error.text, "/nowhere/scenes: ", 17) == 0);
    }
    memset(long_path, 'x', sizeof long_path - 1);
    long_path[sizeof long_path - 1] = 0;
    assert_false(sand_scenes_use(long_path, &error));
    assert_true(sand_scenes_use(NULL, &error));
    assert_string_equal(sand_scenes_folder(), own);
}

// Overlaps of small and large bodies are found wherever they are.
static void test_overlap_is_found_at_all_sizes(void **state) {
    (void)state;
    for (int power = -8; power < 9; power++) {
        SandWorld world;
        SandError error;
        SandShape sphere;
        SandOverlap overlap;
        sand_world_init(&world);
        assert_true(sand_shape_sphere(&sphere, &error));
        assert_true(sand_world_add_shape(&world, &sphere, &error) == 0);
        assert_true(sand_world_add_material(&world, &(SandMaterial){.name = "stone", .density = 2500, .mu = 0.5}, &error) ==
                    0);
        double small = ldexp(1.3, power);
        SandBodyDef body = sand_default_body();
        body.scale = 1;
        assert_int_equal(sand_world_add_body(&world, &body, &error), 0);
        body.scale = small;
        body.pose.position = v3_scale((1 + small) / 3, v3_make(1, -2, 2));
        assert_int_equal(sand_world_add_body(&world, &body, &error), 1);
        assert_int_equal(sand_find_overlap(&world, 0.01, &overlap, &error), 0);
        world.position[1] = v3_scale((1 + 0.98 * small + fmin(0, 0.98 * (1 - small))) / (1 + small), world.position[1]);
        assert_int_equal(sand_find_overlap(&world, 0.01, &overlap, &error), 1);
        assert_true(overlap.body == 0 && overlap.other == 1 && overlap.boundary == -1);
        world.enter[1] = 1; // it enters later
        assert_int_equal(sand_find_overlap(&world, 0.01, &overlap, &error), 0);
        sand_world_free(&world);
    }
}

// Of so many bodies that several threads look at them: of two overlaps the first is found, and none where there is none.
static void test_first_overlap_of_many_is_found(void **state) {
    (void)state;
    enum { SIDE = 40, BODIES = SIDE * SIDE * SIDE, FIRST = 30000, SECOND = 60000 };
    SandError error;
    SandOverlap overlap;
    SandWorld world;
    SandShape sphere;
    SandBodyDef body = sand_default_body();
    sand_world_init(&world);
    assert_true(sand_shape_sphere(&sphere, &error));
    assert_true(sand_world_add_shape(&world, &sphere, &error) == 0);
    assert_true(sand_world_add_material(&world, &(SandMaterial){.name = "stone", .density = 2500, .mu = 0.5}, &error) == 0);
    body.scale = 0.1;
    for (int i = 0; i < BODIES; i++) {
        body.pose.position = v3_make(i % SIDE, i / SIDE % SIDE, i / SIDE / SIDE);
        assert_int_equal(sand_world_add_body(&world, &body, &error), i);
    }
    assert_int_equal(sand_find_overlap(&world, 0.01, &overlap, &error), 0);
    world.position[SECOND + 1].x -= 0.9;
    assert_int_equal(sand_find_overlap(&world, 0.01, &overlap, &error), 1);
    assert_int_equal(overlap.body, SECOND);
    world.position[FIRST + 1].x -= 0.9;
    assert_int_equal(sand_find_overlap(&world, 0.01, &overlap, &error), 1);
    assert_int_equal(overlap.body, FIRST);
    assert_int_equal(overlap.other, FIRST + 1);
    sand_world_free(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_scene_loads),
        cmocka_unit_test(test_default_sizes),
        cmocka_unit_test(test_peer_starts),
        cmocka_unit_test(test_seed_decides_the_start),
        cmocka_unit_test(test_hourglass_scales),
        cmocka_unit_test(test_a_world_holds_no_more_than_its_bodies),
        cmocka_unit_test(test_knobs),
        cmocka_unit_test(test_compounds),
        cmocka_unit_test(test_everything_in_one_file),
        cmocka_unit_test(test_motions),
        cmocka_unit_test(test_wrong_motions_are_refused),
        cmocka_unit_test(test_accuracy_and_islands),
        cmocka_unit_test(test_sizes_of_a_fill),
        cmocka_unit_test(test_poured_and_dense_layers),
        cmocka_unit_test(test_mesh_beside_the_scene),
        cmocka_unit_test(test_like_another),
        cmocka_unit_test(test_the_folder_of_scenes_can_be_given),
        cmocka_unit_test(test_overlap_is_found_at_all_sizes),
        cmocka_unit_test(test_first_overlap_of_many_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
