// SPDX-License-Identifier: MIT
// Settling: bodies are laid on each other (deposition.c), relax in damped steps, and are kept (settled_state.c).
#include "sandglass/scene.h"
#include "sandglass/simulation.h"
#include "sim/core/array.h"
#include "sim/scene/deposition.h"
#include "sim/scene/scene_file.h"
#include "sim/scene/settled_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Few iterations and long steps: the deposition is close to rest, and 25,000 spheres of the hourglass take 45 steps and 7 s
// of processor time, where 50 iterations and the scene's own step take 19 s and end no deeper than half a percent of a
// radius either (tests/physics/test_settle.c).
enum { LEAST_STEPS = 20, MOST_STEPS = 1000, ITERATIONS = 25 };
static const double LONGER = 2;
// The share of every velocity that a step keeps: nothing gains speed on its way down, and bodies at rest do not feel it.
// Spins are not kept at all, so that spheres roll slowly.
static const double KEPT = 0.5;
// Mean speed, as a share of that after falling by the mean radius, below which the bodies are at rest.
static const double REST = 0.03;
static const double DEPOSITION_SHARE = 0.1; // of the work, for the progress

typedef struct Settling {
    const SandSettleDef *def;
    double from, share; // of the whole, that the present stage has
    SandPose *poses;    // of the settled bodies
    size_t capacity;
} Settling;

static bool tell(void *user, double done) {
    const Settling *s = user;
    return !s->def->tell || s->def->tell(s->def->user, s->from + s->share * done);
}

// Bodies that come later must not enter while the others settle, and none leave; boundaries stand where they are at the
// start, motors that want a speed hold, and the plug closes the vessel.
static bool prepare_world(SandScene *scene, SandError *error) {
    SandWorld *world = &scene->world;
    world->outlet_count = world->inlet_count = world->probe_count = 0;
    for (int i = 0; i < world->body_count; i++)
        if (world->enter[i] > 0) world->enter[i] = INFINITY;
    for (int b = 0; b < world->boundary_count; b++) {
        SandBoundary *boundary = &world->boundaries[b];
        boundary->pose = sand_boundary_pose(boundary, 0);
        boundary->moves = false;
    }
    for (int k = 0; k < world->joint_count; k++)
        if (world->joints[k].drive.motor == SAND_MOTOR_SPEED) world->joints[k].drive.target = 0;
    world->step *= LONGER;
    memset(world->velocity, 0, (size_t)world->body_count * sizeof *world->velocity);
    memset(world->spin, 0, (size_t)world->body_count * sizeof *world->spin);
    if (!scene->has_plug) return true;
    SandBoundary plug;
    return sand_boundary_plane(&plug, v3_make(0, 0, scene->plug), v3_make(0, 0, 1), error) &&
           sand_world_add_boundary(world, &plug, error) >= 0;
}

// The speed that counts as rest, m/s.
static double sleep_speed(const SandWorld *world) {
    double size = 0;
    for (int i = 0; i < world->body_count; i++) size += world->scale[i] * world->shapes[world->shape[i]].bound;
    return REST * sqrt(v3_length(world->gravity) * size / fmax(1, world->body_count));
}

// Damps every velocity. Returns the root of the mean of their squares, by mass.
static double damp(SandWorld *world) {
    double mass = 0, kinetic = sand_world_kinetic_energy(world);
    for (int i = 0; i < world->body_count; i++) {
        if (sand_world_active(world, i)) mass += world->mass[i];
        world->velocity[i] = v3_scale(KEPT, world->velocity[i]);
        world->spin[i] = v3_make(0, 0, 0);
    }
    return mass > 0 ? sqrt(2 * kinetic / mass) : 0;
}

// Steps until everything rests.
static bool relax(SandSimulation *sim, Settling *s, SandError *error) {
    double limit = sleep_speed(sand_simulation_world(sim)), first = 0;
    for (int k = 0; k < MOST_STEPS; k++) {
        if (!sand_simulation_step(sim, error)) return false;
        SandWorld *world = sand_simulation_change_bodies(sim, error);
        if (!world) return false;
        double speed = damp(world);
        if (k >= LEAST_STEPS && speed < limit) return true;
        first = fmax(first, speed);
        double done = first > limit ? log(first / fmax(limit, speed)) / log(first / limit) : 0;
        if (!tell(s, done)) return sand_fail(error, "settling was canceled");
    }
    return sand_fail(error, "the bodies do not come to rest in %d steps", MOST_STEPS);
}

static bool copy_poses(Settling *s, const SandWorld *world, SandError *error) {
    if (!SAND_GROW(s->poses, s->capacity, world->body_count + 1, "settled bodies", error)) return false;
    for (int i = 0; i < world->body_count; i++) s->poses[i] = (SandPose){world->position[i], world->rotation[i]};
    return true;
}

// Finds the poses at rest. The world of the scene is used up.
static bool compute(SandScene *scene, Settling *s, SandError *error) {
    SandRandom random = sand_random(scene->seed + 1); // not the numbers that built the world
    SandSimulationDef def = sand_default_simulation();
    def.threads = s->def->threads;
    def.solve = sand_default_solve();
    def.solve.iterations = ITERATIONS;
    s->share = DEPOSITION_SHARE;
    if (!prepare_world(scene, error) ||
        !sand_deposit(&scene->world, (int)scene->file->def->bodies_count, &random, tell, s, error))
        return false;
    s->from = DEPOSITION_SHARE;
    s->share = 1 - DEPOSITION_SHARE;
    SandSimulation *sim = sand_simulation_create(&scene->world, &def, error);
    bool ok = sim && relax(sim, s, error) && copy_poses(s, sand_simulation_world(sim), error);
    ok = ok && (!sand_simulation_counters(sim)->lost_total || sand_fail(error, "bodies are lost on the way"));
    sand_simulation_free(sim);
    return ok;
}

static void keep(const SandScene *scene, const SandSettleDef *def, uint64_t key) {
    SandError why;
    char sentence[SAND_SENTENCE];
    if (!def->cache || sand_settled_save(def->cache, key, &scene->world, &why)) return;
    snprintf(sentence, sizeof sentence, "%.200s; the settled start is not kept", why.text);
    if (def->on_message) def->on_message(def->user, sentence);
}

bool sand_scene_settle(SandScene *scene, const SandSettleDef *def, SandError *error) {
    uint64_t key = sand_settled_key(scene);
    if (def->cache && sand_settled_load(def->cache, key, &scene->world)) return true;
    Settling s = {.def = def};
    SandError why;
    bool ok = v3_length(scene->world.gravity) > 0 || sand_fail(&why, "there is no gravity");
    ok = ok && (!sand_world_repeats(&scene->world) || sand_fail(&why, "the world is periodic"));
    ok = ok && compute(scene, &s, &why);
    if (ok) {
        ok = sand_scene_build(scene, error);
        for (int i = 0; ok && i < scene->world.body_count; i++) {
            if (scene->world.enter[i] > 0) continue;
            scene->world.position[i] = s.poses[i].position;
            scene->world.rotation[i] = s.poses[i].rotation;
        }
        if (ok) keep(scene, def, key);
    } else {
        sand_fail(error, "%.200s: start: settled: %.200s", scene->file->yaml.name, why.text);
        sand_world_free(&scene->world);
    }
    sand_free(s.poses);
    return ok;
}
