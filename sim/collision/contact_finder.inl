// SPDX-License-Identifier: MIT
// What every search of the narrow phase needs: the constants of a collision pass, and the making of contact candidates. One
// source for CPU and GPU; narrow_phase.inl is where to start reading.
//
// The including file defines where contacts go, and then SAND_SINK to say so:
//   SandSink                                        the type
//   sink_put(sink, &found)                          takes a contact
//   sink_too_many(sink, body, boundary, count)      reports a mesh so fine that a sphere touches it in more than MAX_TOUCHES
//                                                   places
#pragma once
#include "sim/collision/collide.h"

#include "sim/geometry/boundary_distance.inl"
#include "sim/geometry/convex.inl"
#include "sim/collision/broad_phase.inl"
#include "sim/world/push.inl"

// Without a sink, as when an editor opens this file by itself: one that counts.
#ifndef SAND_SINK
#define SAND_SINK
typedef struct SandSink {
    int count;
    double tolerance; // m, of a second look (sim/step/second_look.inl)
} SandSink;
SAND_HOST_DEVICE void sink_put(SandSink *sink, const SandContactCandidate *found) { sink->count += found != NULL; }
SAND_HOST_DEVICE void sink_too_many(SandSink *sink, int body, int boundary, int count) {
    (void)body, (void)boundary, (void)count;
    sink->count = -1;
}
#endif

// The constants of one collision pass, shared by all searches.
typedef struct SandFinder {
    const SandWorld *world;
    const SandCollision *collision;
    double largest_mu; // over all pairs of materials
    double fall;       // m/s, the speed one step of gravity gives: a body at rest now may move at it
} SandFinder;

SAND_HOST_DEVICE SandFinder finder_make(const SandWorld *world, const SandCollision *collision) {
    SandFinder finder = {world, collision, 0, sand_fall_in_a_step(world)};
    for (int i = 0; i < world->material_count; i++)
        for (int j = 0; j <= i; j++) finder.largest_mu = fmax(finder.largest_mu, sand_world_pair(world, i, j)->mu);
    return finder;
}

// Whether a body is a ghost: contacts between ghosts are found by their owners.
SAND_HOST_DEVICE bool is_ghost_body(const SandFinder *finder, int body) {
    return finder->collision->is_ghost && finder->collision->is_ghost[body];
}

// The speed that the surface of a sphere of a body has about its center, and what pushes the body may add in the step, m/s;
// `arm` is the distance (m) of that center from the body's.
SAND_HOST_DEVICE double turning_speed(const SandWorld *w, int body, double radius, double arm) {
    double turning = v3_length(w->spin[body]) * radius;
    return w->force || w->torque ? turning + push_speed(w, body, radius + arm) : turning;
}

// Returns sphere k of a body as a proxy for the broad phase.
SAND_HOST_DEVICE SandSphereProxy sphere_proxy(const SandFinder *finder, int body, int k) {
    const SandWorld *w = finder->world;
    const SandShape *shape = &w->shapes[w->shape[body]];
    SandVec3 arm = shape->kind == SAND_SPHERE
                       ? v3_make(0, 0, 0)
                       : q_rotate(w->rotation[body], v3_scale(w->scale[body], shape->spheres[k].center));
    SandSphereProxy sphere;
    sphere.center = v3_add(w->position[body], arm);
    sphere.radius = w->scale[body] * shape->spheres[k].radius;
    sphere.velocity = v3_add(w->velocity[body], v3_cross(w->spin[body], arm));
    sphere.turning = turning_speed(w, body, sphere.radius, v3_length(arm));
    double speed = v3_length(sphere.velocity), horizon = w->step * (1 + finder->largest_mu);
    sphere.extent = sphere.radius + 0.5 * w->envelope + horizon * (speed + sphere.turning + finder->fall);
    sphere.impact_margin = impact_margin(sphere.radius, horizon * speed);
    sphere.image = sphere.source = 0;
    sphere.body = body;
    sphere.sub = k;
    return sphere;
}

// Returns a convex body, or piece k of a compound, as a proxy: the sphere around it. It has no impact margin: only the own
// motion of a body counts.
SAND_HOST_DEVICE SandSphereProxy convex_proxy(const SandFinder *finder, int body, int k) {
    const SandWorld *w = finder->world;
    const SandShape *shape = &w->shapes[w->shape[body]];
    SandSphereProxy sphere;
    sphere.center = w->position[body];
    sphere.radius = w->scale[body] * shape->bound;
    sphere.velocity = w->velocity[body];
    double arm = 0;
    if (shape->piece_count) {
        PlacedPiece piece = shape_piece(shape, w->scale[body], w->rotation[body], k);
        sphere.center = v3_add(sphere.center, piece.arm);
        sphere.radius = piece.scale * piece.shape->bound;
        sphere.velocity = v3_add(sphere.velocity, v3_cross(w->spin[body], piece.arm));
        arm = v3_length(piece.arm);
    }
    sphere.turning = turning_speed(w, body, sphere.radius, arm);
    double speed = v3_length(sphere.velocity), horizon = w->step * (1 + finder->largest_mu);
    sphere.extent = sphere.radius + 0.5 * w->envelope + horizon * (speed + sphere.turning + finder->fall);
    sphere.impact_margin = 0;
    sphere.image = sphere.source = 0;
    sphere.body = body;
    sphere.sub = k;
    return sphere;
}

// Packs the features of a and b into that of a contact key: the number of a sphere of a clump, or kind << 8 | number of a
// feature of a convex body. The bytes of a mirror those of b, so that reversing them exchanges the two.
SAND_HOST_DEVICE uint32_t two_subs(int a, int b) {
    return (uint32_t)(a & 255) << 24 | (uint32_t)(a >> 8) << 16 | (uint32_t)b;
}

// The mark of a piece on the names of its features: bits that no kind uses for five bits of its number, and bits of the
// name for the other three. So up to 32 pieces never share a name, and what more do costs a warm start at most.
SAND_HOST_DEVICE int piece_mark(int piece) { return (piece & 31) << 11 | (piece >> 5) << 5; }

// Emits a contact between two bodies, owned by the one of lower solver index, unless a joint keeps them from colliding.
SAND_HOST_DEVICE void add_pair(const SandFinder *finder, SandSink *sink, int body_a, int sub_a, int body_b, int sub_b,
                               SandVec3 normal, SandVec3 point, double gap) {
    const SandCollision *collision = finder->collision;
    if (sand_world_apart(finder->world, body_a, body_b)) return;
    if (collision->solver_index[body_a] > collision->solver_index[body_b]) {
        int body = body_a, sub = sub_a;
        body_a = body_b;
        sub_a = sub_b;
        body_b = body;
        sub_b = sub;
        normal = v3_neg(normal);
    }
    const SandWorld *w = finder->world;
    SandContactCandidate candidate = {.index_a = collision->solver_index[body_a],
                                      .b = collision->solver_index[body_b],
                                      .key = {(uint32_t)body_b, two_subs(sub_a, sub_b)},
                                      .normal = normal,
                                      .point = point,
                                      .gap = gap,
                                      .mu = sand_world_pair(w, w->material[body_a], w->material[body_b])->mu};
    sink_put(sink, &candidate);
}

// Emits the contact of a sphere, or of a point of radius 0, with a boundary. `sub` is a feature of the body | piece << 8;
// the piece is added in the upper bits of the boundary's feature, which only meshes of more than 65,536 triangles use.
SAND_HOST_DEVICE void add_touch(const SandFinder *finder, SandSink *sink, int body, int sub, int boundary, SandVec3 center,
                                double radius, const SandTouch *t) {
    const SandWorld *w = finder->world;
    SandContactCandidate candidate = {
        .index_a = finder->collision->solver_index[body],
        .b = -1 - boundary,
        .key = {SAND_BOUNDARY_BIT | (uint32_t)boundary, ((uint32_t)sub << 24 | t->feature) ^ (uint32_t)(sub >> 8) << 16},
        .normal = t->normal,
        .point = v3_madd(center, radius + 0.5 * t->gap, t->normal),
        .gap = t->gap,
        .mu = sand_world_pair(w, w->material[body], w->boundaries[boundary].material)->mu};
    sink_put(sink, &candidate);
}

enum { MAX_TOUCHES = 64 }; // of one sphere with one boundary

// Finds all touches of a sphere with a boundary; returns how many, or -1 where they exceed MAX_TOUCHES.
SAND_HOST_DEVICE_NOINLINE int find_touches(const SandFinder *finder, SandSink *sink, int body, int boundary, SandVec3 center,
                                           double radius, double reach, SandTouch *touches) {
    const SandBoundary *b = &finder->world->boundaries[boundary];
    int count = boundary_touch(b, &finder->collision->pose[boundary], center, radius, reach, touches, MAX_TOUCHES);
    if (count <= MAX_TOUCHES) return count;
    sink_too_many(sink, body, boundary, count);
    return -1;
}

// Returns how far to look for a boundary: h (1 + mu) |u| of the motion relative to it, the envelope or the impact margin.
SAND_HOST_DEVICE double boundary_reach(const SandFinder *finder, int body, int boundary, SandVec3 center, SandVec3 velocity,
                                       double turning, double impact_margin) {
    const SandWorld *w = finder->world;
    const SandCollision *collision = finder->collision;
    double mu = sand_world_pair(w, w->material[body], w->boundaries[boundary].material)->mu;
    SandVec3 boundary_velocity = collision->velocity[boundary];
    if (w->boundaries[boundary].moves)
        boundary_velocity = v3_add(boundary_velocity,
                                   v3_cross(collision->spin[boundary], v3_sub(center, collision->pose[boundary].position)));
    double speed = v3_length(v3_sub(velocity, boundary_velocity)) + turning + finder->fall;
    return fmax(fmax(w->envelope, impact_margin), w->step * (1 + mu) * speed);
}

// Tests a sphere, or a corner of radius 0, against every boundary.
SAND_HOST_DEVICE void touch_boundaries(const SandFinder *finder, SandSink *sink, int body, int sub, SandVec3 center,
                                       double radius, SandVec3 velocity, double turning, double impact_margin) {
    SandTouch touches[MAX_TOUCHES];
    const SandWorld *w = finder->world;
    double speed = v3_length(velocity) + turning + finder->fall; // relative to what does not move
    double far = radius + fmax(fmax(w->envelope, impact_margin), w->step * (1 + finder->largest_mu) * speed);
    for (int b = 0; b < w->boundary_count; b++) {
        const SandGuard *guard = &finder->collision->guard[b];
        if (v3_dot(guard->normal, center) - guard->offset > far) continue; // a fixed plane that is far away
        double reach = boundary_reach(finder, body, b, center, velocity, turning, impact_margin);
        int count = find_touches(finder, sink, body, b, center, radius, reach, touches);
        for (int k = 0; k < count; k++) add_touch(finder, sink, body, sub, b, center, radius, &touches[k]);
    }
}
