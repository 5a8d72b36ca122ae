// SPDX-License-Identifier: MIT
// Questions to a world answered in another way than the code under test: every body and boundary is asked, one by one, for
// its signed distance. A ray goes on by that distance until it is at a surface.
#pragma once
#include "sandglass/query.h"
#include "sim/geometry/shape_distance.inl"
#include "tests/lab/convex_lab.h"

static inline double lab_distance_to_body(const SandWorld *w, int body, SandVec3 point) {
    const SandShape *shape = &w->shapes[w->shape[body]];
    SandVec3 local = q_unrotate(w->rotation[body], v3_sub(point, w->position[body])), normal;
    uint32_t feature;
    double scale = w->scale[body], best = INFINITY;
    for (int k = 0; k < shape->sphere_count; k++) {
        SandVec3 off = v3_sub(local, v3_scale(scale, shape->spheres[k].center));
        best = fmin(best, v3_length(off) - scale * shape->spheres[k].radius);
    }
    for (int k = 0; k < shape->piece_count; k++) {
        const SandPiece *piece = &shape->pieces[k];
        SandVec3 in_piece = q_unrotate(piece->pose.rotation, v3_sub(local, v3_scale(scale, piece->pose.position)));
        best = fmin(best, sand_shape_distance(&piece->shape, scale * piece->scale, in_piece, &normal, &feature));
    }
    bool whole = !shape->sphere_count && !shape->piece_count;
    return whole ? sand_shape_distance(shape, scale, local, &normal, &feature) : best;
}

static inline double lab_distance_to_boundary(const SandWorld *w, int boundary, SandVec3 point) {
    SandPose pose = sand_boundary_pose(&w->boundaries[boundary], w->time);
    return sand_boundary_distance(&w->boundaries[boundary], &pose, point);
}

// Where a ray meets one body or boundary that it starts outside of; INFINITY: not within reach.
static inline double lab_trace(const SandWorld *w, int body, int boundary, SandVec3 from, SandVec3 d, double reach) {
    const double at_surface = 1e-9;
    double t = 0;
    while (t <= reach) {
        SandVec3 point = v3_madd(from, t, d);
        double away = body >= 0 ? lab_distance_to_body(w, body, point) : lab_distance_to_boundary(w, boundary, point);
        if (away < at_surface) return t;
        t += fmax(away, 0.1 * at_surface);
    }
    return INFINITY;
}

// The first hit of a ray of length 1, by asking everybody; no points and normals.
static inline SandHit lab_raycast(const SandWorld *w, SandVec3 from, SandVec3 d, double reach) {
    SandHit hit = {.distance = reach, .body = -1, .boundary = -1};
    for (int i = 0; i < w->body_count; i++) {
        double bound = w->scale[i] * w->shapes[w->shape[i]].bound, along = v3_dot(v3_sub(w->position[i], from), d);
        SandVec3 beside = v3_sub(v3_madd(from, along, d), w->position[i]);
        if (v3_length(beside) > bound + 1e-6) continue; // saves time: the line misses the sphere around it
        double t = lab_trace(w, i, -1, from, d, hit.distance);
        if (t < hit.distance) hit = (SandHit){.distance = t, .body = i, .boundary = -1};
    }
    for (int k = 0; k < w->boundary_count; k++) {
        double t = lab_trace(w, -1, k, from, d, hit.distance);
        if (t < hit.distance) hit = (SandHit){.distance = t, .body = -1, .boundary = k};
    }
    if (hit.body < 0 && hit.boundary < 0) hit.distance = INFINITY;
    return hit;
}

static inline SandHit lab_closest(const SandWorld *w, SandVec3 point) {
    SandHit hit = {.distance = INFINITY, .body = -1, .boundary = -1};
    for (int i = 0; i < w->body_count; i++) {
        double away = lab_distance_to_body(w, i, point);
        if (away < hit.distance) hit = (SandHit){.distance = away, .body = i, .boundary = -1};
    }
    for (int k = 0; k < w->boundary_count; k++) {
        double away = lab_distance_to_boundary(w, k, point);
        if (away < hit.distance) hit = (SandHit){.distance = away, .body = -1, .boundary = k};
    }
    return hit;
}
