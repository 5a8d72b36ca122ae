// SPDX-License-Identifier: MIT
// Making, moving and querying boundaries. The touches of each kind are in boundary_distance.inl, which the GPU shares.
#include "sandglass/geometry.h"

#include "sim/geometry/boundary_distance.inl"
#include "sim/core/array.h"
#include "sim/core/assert.h"
#include "sim/core/within.h"
#include "sim/geometry/hull.h"

#include <string.h>

// ---------------------------------------------------------------------------------------------------------------
// Making

static void start(SandBoundary *b, SandBoundaryKind kind, SandSide side) {
    *b = (SandBoundary){.kind = kind, .side = side, .pose.rotation = q_identity()};
}

// Returns the shortest rotation that takes +z to the unit vector n.
static SandQuat turn_z_to(SandVec3 n) {
    if (n.z < -1 + 1e-12) return (SandQuat){0, 1, 0, 0};
    return q_unit((SandQuat){1 + n.z, -n.y, n.x, 0});
}

bool sand_boundary_plane(SandBoundary *b, SandVec3 point, SandVec3 normal, SandError *error) {
    start(b, SAND_PLANE, SAND_INSIDE);
    if (!sand_vector_within(point)) return sand_fail(error, "point: it is not finite, or beyond %g m", SAND_FARTHEST);
    double length = v3_length(normal);
    if (!isfinite(length) || length < 1e-150) return sand_fail(error, "normal: it must be finite and not 0");
    b->pose = (SandPose){point, turn_z_to(v3_scale(1 / length, normal))};
    return true;
}

bool sand_boundary_box(SandBoundary *b, SandVec3 half, SandSide side, SandError *error) {
    start(b, SAND_BOX_WALLS, side);
    if (!sand_vector_within(half) || half.x <= 0 || half.y <= 0 || half.z <= 0)
        return sand_fail(error, "half: %g %g %g must be finite and above 0, at most %g m", half.x, half.y, half.z,
                         SAND_FARTHEST);
    b->half = half;
    if (side == SAND_OUTSIDE) b->core = sand_polytope_box(half, error);
    return side == SAND_INSIDE || b->core != NULL;
}

bool sand_boundary_sphere(SandBoundary *b, double radius, SandSide side, SandError *error) {
    start(b, SAND_SPHERE_WALL, side);
    if (!sand_within(radius) || radius <= 0)
        return sand_fail(error, "radius: %g must be finite and above 0, at most %g m", radius, SAND_FARTHEST);
    b->radius = radius;
    return true;
}

bool sand_boundary_revolution(SandBoundary *b, const double (*profile)[2], int count, SandSide side, SandError *error) {
    start(b, SAND_REVOLUTION, side);
    if (!sand_revolution_make(b, profile, count, error)) {
        sand_boundary_free(b);
        return false;
    }
    b->hollow = sand_revolution_hollow(b);
    return true;
}

bool sand_boundary_mesh_file(SandBoundary *b, const char *path, SandError *error) {
    start(b, SAND_MESH, SAND_OUTSIDE);
    b->mesh = sand_mesh_read(path, error);
    return b->mesh != NULL;
}

bool sand_boundary_mesh(SandBoundary *b, const SandVec3 *vertices, int vertex_count, const int (*faces)[3], int face_count,
                        SandError *error) {
    start(b, SAND_MESH, SAND_OUTSIDE);
    if (vertex_count < 0 || face_count < 0 || vertex_count > SAND_MAX_FEATURE || face_count > SAND_MAX_FEATURE)
        return sand_fail(error, "a mesh has %d vertices and %d triangles; at most %d of each are possible", vertex_count,
                         face_count, SAND_MAX_FEATURE);
    b->mesh = sand_mesh_make(vertices, vertex_count, faces, face_count, "mesh", NULL, error);
    return b->mesh != NULL;
}

bool sand_boundary_terrain(SandBoundary *b, const double *heights, int nx, int ny, SandVec3 half, SandError *error) {
    start(b, SAND_MESH, SAND_OUTSIDE);
    b->mesh = sand_mesh_terrain(heights, nx, ny, half, error);
    return b->mesh != NULL;
}

bool sand_boundary_path(SandBoundary *b, const SandMotionPoint *rows, int count, SandError *error) {
    SandMotionPoint *path = NULL;
    size_t capacity = 0;
    for (int k = 0; k < count; k++) {
        if (!isfinite(rows[k].time) || !v3_finite(rows[k].shift) || !isfinite(rows[k].angle))
            return sand_fail(error, "path: a number of row %d is not finite", k);
        if (k && !(rows[k].time > rows[k - 1].time))
            return sand_fail(error, "path: row %d is at %g s, not behind the one before it", k, rows[k].time);
    }
    if (count < 1) return sand_fail(error, "path: it has no row");
    if (!SAND_GROW(path, capacity, count, "a path", error)) return false;
    memcpy(path, rows, (size_t)count * sizeof *path);
    sand_free(b->path);
    b->path = path;
    b->path_count = count;
    b->motion.path = 1;
    b->moves = true;
    return true;
}

void sand_boundary_free(SandBoundary *b) {
    sand_free(b->path);
    sand_free(b->profile);
    sand_free(b->segments);
    sand_free(b->bands);
    sand_free(b->core);
    sand_mesh_free(b->mesh);
    *b = (SandBoundary){0};
}

// ---------------------------------------------------------------------------------------------------------------
// Motion

// Returns for how long the boundary has moved by this time.
static double time_moved(const SandMotion *m, double time) {
    double moved = fmax(time - m->start, 0);
    return m->stop > m->start ? fmin(moved, m->stop - m->start) : moved;
}

static SandVec3 unit_axis(const SandMotion *m) { return v3_unit_or(m->axis, v3_make(0, 0, 1)); }

// Returns where the path of a boundary is that has moved for this long: between two rows on the line from one to the other.
static SandMotionPoint on_path(const SandBoundary *b, double moved) {
    const SandMotionPoint *rows = b->path;
    int low = 0, high = b->path_count - 1;
    if (moved <= rows[low].time) return rows[low];
    if (moved >= rows[high].time) return rows[high];
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (rows[middle].time <= moved)
            low = middle;
        else
            high = middle;
    }
    double part = (moved - rows[low].time) / (rows[high].time - rows[low].time);
    return (SandMotionPoint){.time = moved,
                             .shift = v3_madd(rows[low].shift, part, v3_sub(rows[high].shift, rows[low].shift)),
                             .angle = rows[low].angle + part * (rows[high].angle - rows[low].angle)};
}

// Whether it does more than move and turn at constant rates.
static bool is_uneven(const SandBoundary *b) { return b->motion.path != 0 || b->motion.frequency != 0; }

// What an oscillation and a path add to that.
static SandMotionPoint uneven_part(const SandBoundary *b, double moved) {
    const double turn = 6.28318530717958647692;
    const SandMotion *m = &b->motion;
    SandMotionPoint path = {0};
    if (b->path_count) path = on_path(b, moved);
    double wave = sin(turn * m->frequency * moved + m->phase) - sin(m->phase);
    return (SandMotionPoint){.shift = v3_madd(v3_scale(m->path, path.shift), wave, m->amplitude),
                             .angle = m->path * path.angle + wave * m->swing};
}

// The axis of rotation travels with the boundary, so it rotates first and is translated after that.
SandPose sand_boundary_pose(const SandBoundary *b, double time) {
    if (!b->moves) return b->pose;
    const SandMotion *m = &b->motion;
    double moved = time_moved(m, time), angle = m->rate * moved;
    SandMotionPoint uneven = {0};
    if (is_uneven(b)) uneven = uneven_part(b, moved);
    SandQuat turn = q_exp(v3_scale(angle + uneven.angle, unit_axis(m)));
    SandVec3 arm = q_rotate(turn, v3_sub(b->pose.position, m->center));
    SandVec3 position = v3_madd(v3_add(m->center, arm), moved, m->velocity);
    return (SandPose){v3_add(position, uneven.shift), q_unit(q_mul(turn, b->pose.rotation))};
}

SandVec3 sand_boundary_center(const SandBoundary *b, double time) {
    SandPose pose = sand_boundary_pose(b, time);
    if (!b->moves) return pose.position;
    SandQuat turn = q_mul(pose.rotation, q_conjugate(b->pose.rotation));
    return v3_sub(pose.position, q_rotate(turn, v3_sub(b->pose.position, b->motion.center)));
}

// The velocity at which the surface of a conveyor runs, at a time at which the boundary moves.
static SandVec3 surface_velocity(const SandBoundary *b, double time) {
    SandQuat turn = q_mul(sand_boundary_pose(b, time).rotation, q_conjugate(b->pose.rotation));
    return q_rotate(turn, b->motion.surface);
}

void sand_boundary_velocity(const SandBoundary *b, double time, double step, SandVec3 *velocity, SandVec3 *spin) {
    *velocity = *spin = v3_make(0, 0, 0);
    if (!b->moves) return;
    SandVec3 from = sand_boundary_pose(b, time).position, to = sand_boundary_pose(b, time + step).position;
    double moved = time_moved(&b->motion, time + step) - time_moved(&b->motion, time);
    *velocity = v3_scale(1 / step, v3_sub(to, from)); // the chord, not the tangent: it lands on the arc
    double angle = b->motion.rate * moved;
    if (is_uneven(b))
        angle +=
            uneven_part(b, time_moved(&b->motion, time + step)).angle - uneven_part(b, time_moved(&b->motion, time)).angle;
    *spin = v3_scale(angle / step, unit_axis(&b->motion));
    SandVec3 surface = b->motion.surface;
    if (moved > 0 && v3_dot(surface, surface) > 0) *velocity = v3_add(*velocity, surface_velocity(b, time));
}

static bool touches_valid(const SandTouch *touches, int count) {
    for (int i = 0; i < count; i++)
        if (!(fabs(v3_length(touches[i].normal) - 1) < 1e-9) || touches[i].feature >= SAND_MAX_FEATURE) return false;
    return true;
}

int sand_boundary_touch(const SandBoundary *b, const SandPose *pose, SandVec3 center, double radius, double reach,
                        SandTouch *touches, int capacity) {
    int count = boundary_touch(b, pose, center, radius, reach, touches, capacity);
    SAND_ASSERT(touches_valid(touches, count < capacity ? count : capacity));
    return count;
}

double sand_boundary_distance(const SandBoundary *b, const SandPose *pose, SandVec3 point) {
    SandVec3 local = pose_apply_inverse(*pose, point), normal;
    uint32_t feature;
    double sign = b->side == SAND_INSIDE ? -1 : 1;
    switch (b->kind) {
    case SAND_PLANE: return local.z;
    case SAND_BOX_WALLS: return sign * box_distance(b->half, local, &normal, &feature);
    case SAND_REVOLUTION: return sand_revolution_distance(b, local);
    case SAND_SPHERE_WALL: return sign * (v3_length(local) - b->radius);
    case SAND_MESH: return sand_mesh_distance(b->mesh, local);
    }
    return INFINITY;
}

bool sand_boundary_flat_or_hollow(const SandBoundary *b) {
    switch (b->kind) {
    case SAND_PLANE: return true;
    case SAND_BOX_WALLS:
    case SAND_SPHERE_WALL: return b->side == SAND_INSIDE;
    case SAND_REVOLUTION: return sand_revolution_hollow(b);
    case SAND_MESH: return false;
    }
    return false;
}
