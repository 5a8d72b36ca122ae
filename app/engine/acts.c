// SPDX-License-Identifier: MIT
// Acts: how each changes the simulation, and the log that a replay applies again. act_apply is the one place where a request
// of a person touches the world; the engine, takes and the command line all go through it.
#include "app/engine/acts.h"

#include <string.h>

#include "app/engine/backends.h"
#include "sim/core/array.h"

static const double FLIP_SECONDS = 4, HAND_RATE = 12, HEAVY_DENSITY = 8000;

bool act_changes_motion(ActKind kind) {
    switch (kind) {
    case ACT_SOLVE:
    case ACT_BACKEND:
    case ACT_GRAVITY:
    case ACT_FLIP:
    case ACT_DRIVE:
    case ACT_PUSH:
    case ACT_MOTOR:
    case ACT_MOVE:
    case ACT_REMOVE:
    case ACT_GRAB:
    case ACT_DRAG:
    case ACT_RELEASE:
    case ACT_THROW: return true;
    default: return false;
    }
}

// --- applying them -------------------------------------------------------------------------------------------

static int sphere_shape(SandWorld *world, SandError *error) {
    for (int k = 0; k < world->shape_count; k++)
        if (world->shapes[k].kind == SAND_SPHERE) return k;
    SandShape shape;
    return sand_shape_sphere(&shape, error) ? sand_world_add_shape(world, &shape, error) : -1;
}

static bool throw_ball(SandWorld *world, const Act *act, SandError *error) {
    SandBodyDef def = sand_default_body();
    def.shape = sphere_shape(world, error);
    def.scale = act->number;
    def.mass = HEAVY_DENSITY * 4.18879020478639 * act->number * act->number * act->number;
    def.pose.position = act->vector;
    def.velocity = act->direction;
    return def.shape >= 0 && sand_world_add_body(world, &def, error) >= 0;
}

static void flip(SandWorld *world, const SandScene *scene) {
    SandVec3 middle = v3_scale(0.5, v3_add(scene->view_lower, scene->view_upper));
    for (int b = 0; b < world->boundary_count; b++)
        if (world->boundaries[b].kind == SAND_REVOLUTION) sand_world_flip(world, b, middle, v3_make(1, 0, 0), FLIP_SECONDS);
}

static bool drive(SandWorld *world, const SandScene *scene, const Act *act, SandError *error) {
    const SandVehicle *vehicle = &scene->vehicle;
    if (!vehicle->wheel_count) return sand_fail(error, "the scene %s has no vehicle to drive", scene->name);
    for (int i = 0; i < vehicle->wheel_count; i++) {
        const SandWheel *wheel = &vehicle->wheels[i];
        world->joints[wheel->joint].drive.target = wheel->right ? act->vector.y : act->vector.x;
    }
    return true;
}

static bool push(SandSimulation *sim, const Act *act, SandError *error) {
    SandForces forces = {.count = 1, .body = &act->body, .force = &act->vector};
    return sand_simulation_apply_force(sim, &forces, error);
}

static bool set_motor(SandWorld *world, const Act *act, SandError *error) {
    int joint = sand_world_find_joint(world, act->text);
    if (joint < 0) return sand_fail(error, "there is no joint %.60s", act->text);
    SandDrive *drive = &world->joints[joint].drive;
    if (drive->motor == SAND_MOTOR_NONE) return sand_fail(error, "the joint %.60s has no motor", act->text);
    drive->target = act->number;
    return true;
}

// It turns about the axis that it has, through the point of it that has come along with the boundary.
static bool move(SandWorld *world, const Act *act, SandError *error) {
    int index = sand_world_find_boundary(world, act->text);
    if (index < 0) return sand_fail(error, "there is no boundary %.60s", act->text);
    const SandBoundary *b = &world->boundaries[index];
    SandVec3 up = v3_make(0, 0, 1);
    SandMotion motion = {.velocity = act->vector,
                         .center = sand_boundary_center(b, world->time),
                         .axis = b->moves ? v3_unit_or(b->motion.axis, up) : up,
                         .rate = act->number};
    sand_world_set_motion(world, index, &motion);
    return true;
}

static bool grab(SandWorld *world, const Act *act, SandError *error) {
    if (act->body < 0 || act->body >= world->body_count) return sand_fail(error, "there is no body %d to grab", act->body);
    SandVec3 arm = v3_sub(act->vector, world->position[act->body]);
    world->spring = (SandSpring){
        .body = act->body, .point = q_unrotate(world->rotation[act->body], arm), .target = act->vector, .rate = HAND_RATE};
    return true;
}

// Moves the simulation to another backend; fails, with the reason, where that one lacks the solver or the precision.
static bool use_backend(Backend choice, const SandSolveDef *solve, SandSimulation *sim, SandError *error) {
    const SandBackend *backend;
    return backends_choose(choice, solve, sand_simulation_precision(sim), &backend, error) &&
           sand_simulation_move(sim, backend, error);
}

bool act_apply(const Act *act, const SandScene *scene, SandSimulation *sim, SandSolveDef *solve, SandError *error) {
    bool bodies = act->kind == ACT_GRAB || act->kind == ACT_THROW || act->kind == ACT_REMOVE; // with those on the host
    SandWorld *world = bodies ? sand_simulation_change_bodies(sim, error) : sand_simulation_change(sim);
    if (!world) return false;
    switch (act->kind) {
    case ACT_BACKEND: return use_backend((Backend)act->number, solve, sim, error);
    case ACT_SOLVE:
        if (!use_backend(backends_kind(sand_simulation_backend(sim)), &act->solve, sim, error)) return false;
        if (!sand_simulation_set_solve(sim, &act->solve, error)) return false;
        *solve = act->solve;
        return true;
    case ACT_GRAVITY: world->gravity = act->vector; return true;
    case ACT_FLIP: flip(world, scene); return true;
    case ACT_DRIVE: return drive(world, scene, act, error);
    case ACT_PUSH: return push(sim, act, error);
    case ACT_MOTOR: return set_motor(world, act, error);
    case ACT_MOVE: return move(world, act, error);
    case ACT_REMOVE: return sand_world_remove_body(world, act->body, error);
    case ACT_GRAB: return grab(world, act, error);
    case ACT_DRAG: world->spring.target = act->vector; return true;
    case ACT_RELEASE: world->spring.body = -1; return true;
    case ACT_THROW: return throw_ball(world, act, error);
    default: return true;
    }
}

// --- the log ----------------------------------------------------------------------------------------------

bool acts_add(ActLog *log, uint64_t step, const Act *act, SandError *error) {
    size_t wanted = (size_t)log->count + 1;
    if (wanted > log->capacity && !SAND_GROW(log->items, log->capacity, wanted + wanted / 2, "acts", error)) return false;
    log->items[log->count++] = (LoggedAct){step, *act};
    return true;
}

bool acts_copy(ActLog *to, const ActLog *from, SandError *error) {
    if (!SAND_GROW(to->items, to->capacity, from->count, "acts", error)) return false;
    if (from->count) memcpy(to->items, from->items, (size_t)from->count * sizeof *to->items);
    to->count = from->count;
    return true;
}

void acts_free(ActLog *log) {
    sand_free(log->items);
    *log = (ActLog){0};
}

bool acts_replay(const ActLog *log, int *done, const SandScene *scene, SandSimulation *sim, SandSolveDef *solve,
                 SandError *error) {
    uint64_t step = sand_simulation_world(sim)->step_index;
    while (*done < log->count && log->items[*done].step <= step)
        if (!act_apply(&log->items[(*done)++].act, scene, sim, solve, error)) return false;
    return true;
}
