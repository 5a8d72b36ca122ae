// SPDX-License-Identifier: MIT
// Spheres, cylinders and vessels are profiles turned about z; polytopes are fans of their faces; a compound has those of its
// pieces.
#include "app/io/export/triangles.h"

#include "sim/geometry/mesh.h"

#include <math.h>
#include <string.h>

static const double TURN = 6.28318530717958647692;
enum { SIDES = 32, ARC = 8, MOST_PROFILE = 1024 }; // triangles around; rows of a quarter circle; corners of a profile

// Where points are put: in the frame of a piece, which is in that of the whole.
typedef struct Place {
    SandPose pose;
    double scale;
} Place;

static const Place HERE = {.pose = {.rotation = {.w = 1}}, .scale = 1};

void triangles_clear(Triangles *t) { t->point_count = t->corner_count = 0; }

void triangles_free(Triangles *t) { SAND_FREE_ARRAYS(&t->points, &t->corners); }

static bool reserve(Triangles *t, int points, int triangles, SandError *error) {
    size_t wanted_points = (size_t)t->point_count + (size_t)points;
    size_t wanted_corners = (size_t)t->corner_count + 3 * (size_t)triangles;
    return SAND_RESERVE(t->points, wanted_points, "export", error) &&
           SAND_RESERVE(t->corners, wanted_corners, "export", error);
}

static int add_point(Triangles *t, const Place *at, SandVec3 p) {
    t->points.data[t->point_count] = v3_add(at->pose.position, q_rotate(at->pose.rotation, v3_scale(at->scale, p)));
    return t->point_count++;
}

static void add_triangle(Triangles *t, int a, int b, int c) {
    if (a == b || b == c || c == a) return;
    int32_t *corner = &t->corners.data[t->corner_count];
    corner[0] = a;
    corner[1] = b;
    corner[2] = c;
    t->corner_count += 3;
}

// A profile (radius, height) turned about z; a corner on the axis is one point. Outside is to the right of a way up.
static bool add_turned(Triangles *t, const Place *at, const double (*profile)[2], int count, SandError *error) {
    if (!reserve(t, count * SIDES, 2 * count * SIDES, error)) return false;
    int below[SIDES], row[SIDES];
    for (int i = 0; i < count; i++) {
        double radius = profile[i][0], height = profile[i][1];
        for (int k = 0; k < SIDES; k++) {
            bool same = radius == 0 && k > 0;
            double turn = TURN * k / SIDES;
            row[k] = same ? row[0] : add_point(t, at, v3_make(radius * cos(turn), radius * sin(turn), height));
        }
        for (int k = 0; i > 0 && k < SIDES; k++) {
            int next = (k + 1) % SIDES;
            add_triangle(t, below[k], below[next], row[next]);
            add_triangle(t, below[k], row[next], row[k]);
        }
        memcpy(below, row, sizeof below);
    }
    return true;
}

// Two quarter circles about the ends of a segment of z from -half to half.
static bool add_round(Triangles *t, const Place *at, double radius, double half, SandError *error) {
    double profile[2 * ARC + 2][2];
    int count = 0;
    for (int i = -ARC; i <= ARC; i++) {
        double angle = 0.25 * TURN * i / ARC, across = i == -ARC || i == ARC ? 0 : radius * cos(angle);
        for (int side = i == 0 && half > 0 ? -1 : 1; side <= 1; side += 2) {
            double end = i < 0 ? -half : i > 0 ? half : side * half;
            profile[count][0] = across;
            profile[count++][1] = end + radius * sin(angle);
        }
    }
    return add_turned(t, at, profile, count, error);
}

static bool add_polytope(Triangles *t, const Place *at, const SandPolytope *core, SandError *error) {
    if (!reserve(t, core->corner_count, 2 * SAND_MAX_EDGES, error)) return false;
    int first = t->point_count;
    for (int k = 0; k < core->corner_count; k++) add_point(t, at, core->corners[k]);
    for (int f = 0; f < core->face_count; f++) {
        const uint8_t *loop = core->loop + core->faces[f].first;
        for (int k = 1; k + 1 < core->faces[f].count; k++)
            add_triangle(t, first + loop[0], first + loop[k], first + loop[k + 1]);
    }
    return true;
}

static bool add_shape(Triangles *t, const Place *at, const SandShape *s, SandError *error);

static bool add_spheres(Triangles *t, const Place *at, const SandShape *s, SandError *error) {
    for (int k = 0; k < s->sphere_count; k++) {
        Place ball = *at;
        ball.pose.position =
            v3_add(at->pose.position, q_rotate(at->pose.rotation, v3_scale(at->scale, s->spheres[k].center)));
        if (!add_round(t, &ball, s->spheres[k].radius, 0, error)) return false;
    }
    return true;
}

static bool add_pieces(Triangles *t, const Place *at, const SandShape *s, SandError *error) {
    for (int k = 0; k < s->piece_count; k++) {
        const SandPiece *piece = &s->pieces[k];
        Place there = {.scale = at->scale * piece->scale};
        there.pose.position =
            v3_add(at->pose.position, q_rotate(at->pose.rotation, v3_scale(at->scale, piece->pose.position)));
        there.pose.rotation = q_mul(at->pose.rotation, piece->pose.rotation);
        if (!add_shape(t, &there, &piece->shape, error)) return false;
    }
    return true;
}

static bool add_shape(Triangles *t, const Place *at, const SandShape *s, SandError *error) {
    const double rim = s->half.x, end = s->half.z;
    switch (s->kind) {
    case SAND_SPHERE: return add_round(t, at, 1, 0, error);
    case SAND_CLUMP: return add_spheres(t, at, s, error);
    case SAND_COMPOUND: return add_pieces(t, at, s, error);
    case SAND_CAPSULE: return add_round(t, at, s->rounding, end - s->rounding, error);
    case SAND_CYLINDER:
        return add_turned(t, at, (const double[4][2]){{0, -end}, {rim, -end}, {rim, end}, {0, end}}, 4, error);
    default: return add_polytope(t, at, s->core, error);
    }
}

bool triangles_add_shape(Triangles *t, const SandShape *shape, SandError *error) {
    return add_shape(t, &HERE, shape, error);
}

// --- boundaries ---------------------------------------------------------------------------------------------

static bool add_quad(Triangles *t, const Place *at, const SandVec3 corner[4], SandError *error) {
    int point[4];
    if (!reserve(t, 4, 2, error)) return false;
    for (int k = 0; k < 4; k++) point[k] = add_point(t, at, corner[k]);
    add_triangle(t, point[0], point[1], point[2]);
    add_triangle(t, point[0], point[2], point[3]);
    return true;
}

// A square about where the middle of the view lies above the plane, as far as the view reaches from there.
static bool add_plane(Triangles *t, const Place *at, SandVec3 lower, SandVec3 upper, SandError *error) {
    SandVec3 middle = v3_scale(0.5, v3_add(lower, upper));
    SandVec3 m = q_unrotate(at->pose.rotation, v3_sub(middle, at->pose.position));
    double reach = 0.5 * v3_length(v3_sub(upper, lower));
    const SandVec3 corner[4] = {v3_make(m.x - reach, m.y - reach, 0), v3_make(m.x + reach, m.y - reach, 0),
                                v3_make(m.x + reach, m.y + reach, 0), v3_make(m.x - reach, m.y + reach, 0)};
    return add_quad(t, at, corner, error);
}

static bool add_box(Triangles *t, const Place *at, SandVec3 half, SandError *error) {
    for (int axis = 0; axis < 3; axis++)
        for (int side = -1; side <= 1; side += 2) {
            SandVec3 corner[4];
            for (int k = 0; k < 4; k++) {
                double u = k == 1 || k == 2 ? 1 : -1, v = k >= 2 ? 1 : -1, w[3];
                w[axis] = side;
                w[(axis + 1) % 3] = side > 0 ? u : v;
                w[(axis + 2) % 3] = side > 0 ? v : u;
                corner[k] = v3_make(w[0] * half.x, w[1] * half.y, w[2] * half.z);
            }
            if (!add_quad(t, at, corner, error)) return false;
        }
    return true;
}

// Adds the part of the way from one corner to the next that lies between two heights.
static int clip(const double from[2], const double to[2], double low, double high, double (*out)[2]) {
    double begin = 0, end = 1, rise = to[1] - from[1];
    if (rise == 0 && (from[1] < low || from[1] > high)) return 0;
    if (rise != 0) {
        double a = (low - from[1]) / rise, b = (high - from[1]) / rise;
        begin = fmax(0, fmin(a, b));
        end = fmin(1, fmax(a, b));
        if (begin > end) return 0;
    }
    for (int k = 0; k < 2; k++) {
        double at = k ? end : begin;
        out[k][0] = at == 0 ? from[0] : at == 1 ? to[0] : from[0] + at * (to[0] - from[0]);
        out[k][1] = at == 0 ? from[1] : at == 1 ? to[1] : from[1] + at * rise;
    }
    return 2;
}

static bool add_vessel(Triangles *t, const Place *at, const SandBoundary *b, SandVec3 lower, SandVec3 upper,
                       SandError *error) {
    bool upright = fabs(at->pose.rotation.w) > 0.9999;
    double margin = 0.02 * (upper.z - lower.z);
    double low = upright ? lower.z - margin - at->pose.position.z : -INFINITY;
    double high = upright ? upper.z + margin - at->pose.position.z : INFINITY;
    for (int i = 0; i + 1 < b->profile_count; i++) {
        double band[2][2];
        if (clip(b->profile[i], b->profile[i + 1], low, high, band) && !add_turned(t, at, band, 2, error)) return false;
    }
    return true;
}

static bool add_mesh(Triangles *t, const Place *at, const SandTriangleMesh *mesh, SandError *error) {
    int first = t->point_count;
    if (!reserve(t, mesh->vertex_count, mesh->face_count, error)) return false;
    for (int i = 0; i < mesh->vertex_count; i++) add_point(t, at, mesh->vertices[i]);
    for (int i = 0; i < mesh->face_count; i++)
        add_triangle(t, first + mesh->faces[i][0], first + mesh->faces[i][1], first + mesh->faces[i][2]);
    return true;
}

bool triangles_add_boundary(Triangles *t, const SandBoundary *b, SandPose pose, SandVec3 lower, SandVec3 upper,
                            SandError *error) {
    const Place at = {pose, 1};
    switch (b->kind) {
    case SAND_PLANE: return add_plane(t, &at, lower, upper, error);
    case SAND_BOX_WALLS: return add_box(t, &at, b->half, error);
    case SAND_SPHERE_WALL: return add_round(t, &at, b->radius, 0, error);
    case SAND_REVOLUTION: return add_vessel(t, &at, b, lower, upper, error);
    default: return add_mesh(t, &at, b->mesh, error);
    }
}
