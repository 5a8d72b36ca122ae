// SPDX-License-Identifier: MIT
// Shared by unit and physics tests: small worlds made by hand, simulations that must not fail, and comparisons.
#pragma once
#include "sim/core/random.h"
#include "sandglass/scene.h"
#include "sandglass/simulation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// cmocka.h needs the headers above.
#include <cmocka.h>

static const double PI = 3.14159265358979323846;
static const double GRAVITY = 9.81;

static inline void lab_near(double got, double want, double tolerance, int line) {
    if (!(fabs(got - want) <= tolerance)) fail_msg("line %d: got %.17g, wanted %.17g within %g", line, got, want, tolerance);
}
#define NEAR(got, want, tolerance) lab_near(got, want, tolerance, __LINE__)

static inline void lab_set_laws(SandWorld *world, int material, double restitution, double cohesion) {
    SandMaterial m = world->materials[material];
    m.restitution = restitution;
    m.cohesion = cohesion;
    assert_true(sand_world_set_material(world, material, &m, NULL));
}

static inline void lab_set_rolling(SandWorld *world, int material, double rolling, double spinning) {
    SandMaterial m = world->materials[material];
    m.rolling = rolling;
    m.spinning = spinning;
    assert_true(sand_world_set_material(world, material, &m, NULL));
}

static inline void lab_set_pair_friction(SandWorld *world, int material_a, int material_b, double mu) {
    SandPair pair = *sand_world_pair(world, material_a, material_b);
    pair.mu = mu;
    sand_world_set_pair(world, material_a, material_b, &pair);
}

static inline void lab_set_pair_laws(SandWorld *world, int material_a, int material_b, double restitution, double cohesion) {
    SandPair pair = *sand_world_pair(world, material_a, material_b);
    pair.restitution = restitution;
    pair.cohesion = cohesion;
    sand_world_set_pair(world, material_a, material_b, &pair);
}

// A world with shape 0, the sphere, and material 0, of this friction coefficient and 2500 kg/m^3.
static inline SandWorld lab_world(double mu) {
    SandWorld world;
    SandShape shape;
    SandMaterial stone = {.name = "stone", .density = 2500, .mu = mu};
    sand_world_init(&world);
    assert_int_equal(sand_world_add_material(&world, &stone, NULL), 0);
    assert_true(sand_shape_sphere(&shape, NULL));
    assert_int_equal(sand_world_add_shape(&world, &shape, NULL), 0);
    return world;
}

static inline int lab_plane(SandWorld *world, SandVec3 point, SandVec3 normal) {
    SandBoundary b;
    assert_true(sand_boundary_plane(&b, point, normal, NULL));
    snprintf(b.name, sizeof b.name, "plane-%d", world->boundary_count);
    return sand_world_add_boundary(world, &b, NULL);
}

static inline int lab_body(SandWorld *world, int shape, double scale, SandVec3 position) {
    SandBodyDef def = sand_default_body();
    def.shape = shape;
    def.scale = scale;
    def.pose.position = position;
    int body = sand_world_add_body(world, &def, NULL);
    assert_true(body >= 0);
    return body;
}

// A box of spheres on a lattice, a little out of line, that falls and settles within 5 s. Where sleep_speed is above 0, what
// rests is left out.
enum { LAB_PILE_SIDE = 5, LAB_PILE = 8 * LAB_PILE_SIDE * LAB_PILE_SIDE };
static inline SandWorld lab_pile(double sleep_speed) {
    SandWorld world = lab_world(0.3);
    SandRandom random = sand_random(1);
    world.sleep_speed = sleep_speed;
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    for (int k = 0; k < 4; k++) {
        SandVec3 normal = v3_make(k == 0 ? 1 : k == 1 ? -1 : 0, k == 2 ? 1 : k == 3 ? -1 : 0, 0);
        lab_plane(&world, v3_scale(-0.11 * LAB_PILE_SIDE, normal), normal);
    }
    for (int i = 0, n = LAB_PILE_SIDE; i < LAB_PILE; i++) {
        SandVec3 cell = v3_make(i % n - 0.5 * (n - 1), i / n % n - 0.5 * (n - 1), i / n / n);
        SandVec3 off = v3_make(sand_random_unit(&random), sand_random_unit(&random), 15);
        lab_body(&world, 0, 0.1, v3_madd(v3_scale(0.21, cell), 0.008, off));
    }
    return world;
}

// Gravity on a slope of this angle, whose surface is z = 0 and whose downhill direction is +x.
static inline SandVec3 lab_slope(double angle) { return v3_make(GRAVITY * sin(angle), 0, -GRAVITY * cos(angle)); }

// Fails the test on a sentence that the simulation reports: a lost body, a solve that went wrong, a device that failed.
static inline void lab_hear(void *expected, const char *sentence) {
    if (!expected || !strstr(sentence, (const char *)expected)) fail_msg("unexpected report: %s", sentence);
}

// From here on the test expects reports with these words in them; NULL: none, as at the start.
static inline void lab_expect(SandSimulation *sim, const char *words) {
    sand_simulation_on_message(sim, lab_hear, (void *)words);
}

static inline SandSimulation *lab_simulation(SandWorld *world, const SandSimulationDef *def) {
    SandError error = {""};
    SandSimulation *sim = sand_simulation_create(world, def, &error);
    if (!sim) fail_msg("%s", error.text);
    lab_expect(sim, NULL);
    return sim;
}

// A simulation in double, solved until the residual is far below the tolerance of any test: the model is measured.
static inline SandSimulation *lab_exact(SandWorld *world) {
    SandSimulationDef def = sand_default_simulation();
    def.threads = 1;
    def.precision = SAND_DOUBLE;
    def.solve.iterations = 2000;
    def.solve.tolerance = 1e-12;
    return lab_simulation(world, &def);
}

static inline SandSimulation *lab_scene(const char *name, int bodies, int threads, SandPrecision precision) {
    SandError error = {""};
    SandScene scene;
    SandSceneOptions options = {.bodies = bodies};
    if (!sand_scene_load(&scene, name, &options, &error)) fail_msg("%s", error.text);
    SandSimulationDef def = {.threads = threads, .precision = precision, .solve = scene.solve};
    SandSimulation *sim = lab_simulation(&scene.world, &def);
    sand_scene_free(&scene);
    return sim;
}

static inline void lab_step(SandSimulation *sim) {
    SandError error = {""};
    if (!sand_simulation_step(sim, &error)) fail_msg("%s", error.text);
}

static inline void lab_run(SandSimulation *sim, int steps) {
    for (int i = 0; i < steps; i++) lab_step(sim);
}
