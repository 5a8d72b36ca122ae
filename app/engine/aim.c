// SPDX-License-Identifier: MIT
// The free stretches of the ray are found by sampling the signed distances of the boundaries along it.
#include "app/engine/aim.h"

#include <math.h>

enum { SAMPLES = 600 };
static const double NEAR_CAMERA = 0.35; // the share of the way to the target that a ball in the open does not fly
static const double SAFETY = 1.02;      // of the radius, so that a ball that starts at a wall does not touch it

// The distance (m) along the ray at which it meets the first active body; INFINITY: it meets none.
static double first_body(const SandWorld *world, SandVec3 from, SandVec3 direction, int *body) {
    double nearest = INFINITY;
    *body = -1;
    for (int i = 0; i < world->body_count; i++) {
        if (!sand_world_active(world, i)) continue;
        SandVec3 to = v3_sub(world->position[i], from);
        double radius = world->scale[i] * world->shapes[world->shape[i]].bound, along = v3_dot(to, direction);
        double inside = radius * radius - (v3_dot(to, to) - along * along);
        double entry = inside >= 0 ? along - sqrt(inside) : INFINITY;
        if (entry > 0 && entry < nearest) {
            nearest = entry;
            *body = i;
        }
    }
    return nearest;
}

// The active body whose center is nearest to the ray, -1: there is none.
static int nearest_body(const SandWorld *world, SandVec3 from, SandVec3 direction) {
    double nearest = INFINITY;
    int body = -1;
    for (int i = 0; i < world->body_count; i++) {
        if (!sand_world_active(world, i)) continue;
        SandVec3 to = v3_sub(world->position[i], from), off = v3_madd(to, -v3_dot(to, direction), direction);
        if (v3_dot(off, off) >= nearest) continue;
        nearest = v3_dot(off, off);
        body = i;
    }
    return body;
}

// Whether a ball here is within the world's box and on the allowed side of every boundary.
static bool within_boundaries(const SandWorld *world, SandVec3 center, double radius) {
    SandVec3 low = world->lower, high = world->upper;
    if (center.x < low.x || center.y < low.y || center.z < low.z || center.x > high.x || center.y > high.y ||
        center.z > high.z)
        return false;
    for (int b = 0; b < world->boundary_count; b++) {
        SandPose pose = sand_boundary_pose(&world->boundaries[b], world->time);
        if (sand_boundary_distance(&world->boundaries[b], &pose, center) < SAFETY * radius) return false;
    }
    return true;
}

static bool clear_of_bodies(const SandWorld *world, SandVec3 center, double radius) {
    for (int i = 0; i < world->body_count; i++) {
        if (!sand_world_active(world, i)) continue;
        double apart = radius + world->scale[i] * world->shapes[world->shape[i]].bound;
        SandVec3 to = v3_sub(world->position[i], center);
        if (v3_dot(to, to) < apart * apart) return false;
    }
    return true;
}

// The part of the ray within the sphere around the box of the view, widened by half.
static void view_range(const AimDef *def, double *begin, double *end) {
    SandVec3 middle = v3_scale(0.5, v3_add(def->lower, def->upper)), to = v3_sub(middle, def->from);
    double radius = 0.75 * v3_length(v3_sub(def->upper, def->lower)), along = v3_dot(to, def->direction);
    double half = sqrt(fmax(radius * radius - (v3_dot(to, to) - along * along), 0.25 * radius * radius));
    *begin = fmax(0, along - half);
    *end = fmax(*begin + radius, along + half);
}

// Looks for a start on the ray: in the last free stretch before the body that it meets, or, where it meets none, in the
// longest one.
static bool start_on_ray(const SandWorld *world, const AimDef *def, double radius, double hit, SandVec3 *start) {
    double begin, end, stretch = -1, best_from = 0, best_to = -1;
    view_range(def, &begin, &end);
    double step = (end - begin) / SAMPLES, stop = fmin(end, hit - radius);
    for (int k = 0; k <= SAMPLES + 1; k++) {
        double s = begin + k * step;
        bool free = k <= SAMPLES && s <= stop && within_boundaries(world, v3_madd(def->from, s, def->direction), radius);
        if (free && stretch < 0) stretch = s;
        if (free || stretch < 0) continue;
        bool better = isfinite(hit) || s - step - stretch > best_to - best_from;
        if (better) {
            best_from = stretch;
            best_to = s - step;
        }
        stretch = -1;
    }
    if (best_to < best_from) return false;
    for (double s = fmax(best_from, NEAR_CAMERA * best_to); s <= best_to; s += step) {
        *start = v3_madd(def->from, s, def->direction);
        if (clear_of_bodies(world, *start, radius)) return true;
    }
    return false;
}

// Looks upwards, against gravity, from the body that the ray meets.
static bool start_above(const SandWorld *world, const AimDef *def, double radius, int body, SandVec3 *start) {
    SandVec3 up = v3_unit_or(v3_neg(world->gravity), v3_make(0, 0, 1));
    double begin, end;
    view_range(def, &begin, &end);
    double step = (end - begin) / SAMPLES;
    for (int k = 0; k <= SAMPLES; k++) {
        *start = v3_madd(world->position[body], k * step, up);
        if (within_boundaries(world, *start, radius) && clear_of_bodies(world, *start, radius)) return true;
    }
    return false;
}

bool aim_throw(const SandWorld *world, const AimDef *def, Throw *out, SandError *error) {
    int body;
    double hit = first_body(world, def->from, def->direction, &body);
    if (body < 0) body = nearest_body(world, def->from, def->direction); // the mouse misses the vessel: drop it in
    for (double radius = def->radius;; radius = fmax(0.5 * radius, def->least)) {
        *out = (Throw){.radius = radius, .velocity = v3_scale(def->speed, def->direction)};
        if (start_on_ray(world, def, radius, hit, &out->start)) return true;
        if (body >= 0 && start_above(world, def, radius, body, &out->start)) {
            out->velocity = v3_scale(def->speed, v3_unit_or(world->gravity, v3_make(0, 0, -1)));
            return true;
        }
        if (radius <= def->least) break;
    }
    return sand_fail(error, "there is no room for a ball where the mouse points");
}

bool aim_act(const Act *aim, const SandScene *scene, const SandWorld *world, Act *ball, SandError *error) {
    AimDef def = {.from = aim->vector,
                  .direction = v3_unit_or(aim->direction, v3_make(0, 0, -1)),
                  .lower = scene->view_lower,
                  .upper = scene->view_upper,
                  .radius = aim->number,
                  .least = 0.2 * aim->number,
                  .speed = v3_length(aim->direction)};
    Throw found;
    if (!aim_throw(world, &def, &found, error)) return false;
    *ball = (Act){.kind = ACT_THROW, .vector = found.start, .direction = found.velocity, .number = found.radius};
    return true;
}
