// SPDX-License-Identifier: MIT
// The convex shapes: box, cylinder, capsule, hull and random stone, with volume, center of mass and inertia in closed form
// or as exact sums over tetrahedra.
#include "sim/core/array.h"
#include "sim/core/random.h"
#include "sim/core/within.h"
#include "sim/geometry/hull.h"
#include "sim/geometry/mesh.h"
#include "sim/geometry/shape_distance.inl"

#include <string.h>

static const double PI = 3.14159265358979323846;

static bool make_core(SandShape *shape, SandError *error) {
    size_t capacity = 0;
    return SAND_GROW(shape->core, capacity, 1, "a convex shape", error);
}

// --- box, cylinder and capsule ----------------------------------------------------------------------------

// The corners in binary: 1 is x, 2 is y, 4 is z. Faces: -x, +x, -y, +y, -z, +z.
static void fill_box(SandPolytope *p, SandVec3 half) {
    static const uint8_t loops[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    p->corner_count = 8;
    p->face_count = 6;
    for (int k = 0; k < 8; k++)
        p->corners[k] = v3_make(k & 1 ? half.x : -half.x, k & 2 ? half.y : -half.y, k & 4 ? half.z : -half.z);
    for (int f = 0; f < 6; f++) {
        p->faces[f] = (SandFace){.first = 4 * f, .count = 4};
        memcpy(p->loop + 4 * f, loops[f], 4);
    }
    sand_polytope_connect(p);
}

SandPolytope *sand_polytope_box(SandVec3 half, SandError *error) {
    SandPolytope *p = NULL;
    size_t capacity = 0;
    if (SAND_GROW(p, capacity, 1, "a convex shape", error)) fill_box(p, half);
    return p;
}

bool sand_shape_box(SandShape *shape, SandVec3 half, SandError *error) {
    *shape = (SandShape){.kind = SAND_BOX, .half = half, .from_input.rotation = q_identity()};
    if (!sand_vector_within(half) || half.x <= 0 || half.y <= 0 || half.z <= 0)
        return sand_fail(error, "a box has half extents %g %g %g; each must be finite and above 0, at most %g", half.x,
                         half.y, half.z, SAND_FARTHEST);
    double xx = half.x * half.x, yy = half.y * half.y, zz = half.z * half.z;
    shape->volume = 8 * half.x * half.y * half.z;
    shape->inertia = v3_scale(shape->volume / 3, v3_make(yy + zz, xx + zz, xx + yy));
    shape->bound = v3_length(half);
    shape->core = sand_polytope_box(half, error);
    return shape->core != NULL;
}

bool sand_shape_cylinder(SandShape *shape, double radius, double height, SandError *error) {
    *shape = (SandShape){.kind = SAND_CYLINDER, .from_input.rotation = q_identity()};
    if (!sand_within(radius) || !sand_within(height) || radius <= 0 || height <= 0)
        return sand_fail(error, "a cylinder has radius %g and height %g; each must be finite and above 0, at most %g",
                         radius, height, SAND_FARTHEST);
    shape->half = v3_make(radius, radius, 0.5 * height);
    shape->volume = PI * radius * radius * height;
    double across = radius * radius / 4 + height * height / 12;
    shape->inertia = v3_scale(shape->volume, v3_make(across, across, radius * radius / 2));
    shape->bound = hypot(radius, 0.5 * height);
    return true;
}

// The moment across sums a cylinder and two half balls, whose centers of mass are 3/8 r from their flat sides.
bool sand_shape_capsule(SandShape *shape, double radius, double length, SandError *error) {
    *shape = (SandShape){.kind = SAND_CAPSULE, .rounding = radius, .from_input.rotation = q_identity()};
    if (!sand_within(radius) || !sand_within(length) || radius <= 0 || length <= 0)
        return sand_fail(error, "a capsule has radius %g and length %g; each must be finite and above 0, at most %g", radius,
                         length, SAND_FARTHEST);
    double rr = radius * radius, tube = PI * rr * length, ball = 4 * PI / 3 * rr * radius, half = 0.5 * length;
    double across = tube * (rr / 4 + length * length / 12) + ball * (0.4 * rr + half * half + 0.75 * half * radius);
    shape->volume = tube + ball;
    shape->inertia = v3_make(across, across, tube * rr / 2 + ball * 0.4 * rr);
    shape->half = v3_make(radius, radius, half + radius);
    shape->bound = half + radius;
    if (!make_core(shape, error)) return false;
    shape->core->corner_count = 2;
    shape->core->corners[0] = v3_make(0, 0, -half);
    shape->core->corners[1] = v3_make(0, 0, half);
    shape->core->edge_count = 1;
    shape->core->edges[0] = (SandEdge){.from = 0, .to = 1};
    return true;
}

// --- shapes by their sizes --------------------------------------------------------------------------------

static bool make_box(SandShape *shape, const SandShapeSizes *s, SandError *error) {
    return sand_shape_box(shape, v3_scale(0.5, s->size), error);
}

static bool make_cylinder(SandShape *shape, const SandShapeSizes *s, SandError *error) {
    return sand_shape_cylinder(shape, s->radius, s->height, error);
}

static bool make_capsule(SandShape *shape, const SandShapeSizes *s, SandError *error) {
    return sand_shape_capsule(shape, s->radius, s->length, error);
}

// The function of each kind, make_box for boxes and so on: one without it does not compile.
#define ROW(KIND, name, ...) [SAND_##KIND] = make_##name,
static bool (*const make_sized[SAND_SHAPE_KINDS])(SandShape *, const SandShapeSizes *,
                                                  SandError *) = {SAND_SIZED_SHAPES(ROW)};
#undef ROW

bool sand_shape_make(SandShape *shape, SandShapeKind kind, const SandShapeSizes *sizes, SandError *error) {
    bool known = (int)kind >= 0 && kind < SAND_SHAPE_KINDS && make_sized[kind];
    if (!known) return sand_fail(error, "a %s is not made from sizes", sand_shape_kind_name(kind));
    return make_sized[kind](shape, sizes, error);
}

// --- hulls ------------------------------------------------------------------------------------------------

// Moves the core to its center of mass and principal axes, and derives the sizes.
static bool place_core(SandShape *shape, SandVec3 origin, SandError *error) {
    SandPolytope *p = shape->core;
    SandVec3 center, low = v3_make(INFINITY, INFINITY, INFINITY), high = v3_neg(low);
    SandMat3 axes;
    if (!sand_shape_set_moments(shape, sand_polytope_moments(p), origin, &center, &axes))
        return sand_fail(error, "the hull's volume and inertia are beyond what numbers can hold; change its unit");
    for (int k = 0; k < p->corner_count; k++) {
        SandVec3 c = p->corners[k] = m3_apply_transposed(axes, v3_sub(p->corners[k], center));
        shape->bound = fmax(shape->bound, v3_length(c));
        low = v3_make(fmin(low.x, c.x), fmin(low.y, c.y), fmin(low.z, c.z));
        high = v3_make(fmax(high.x, c.x), fmax(high.y, c.y), fmax(high.z, c.z));
    }
    shape->half = v3_scale(0.5, v3_sub(high, low));
    return sand_polytope_connect(p) || sand_fail(error, "the convex hull is too thin to have faces");
}

// Makes a hull of at most this many corners of the points; -1: of all, or it fails.
static bool make_hull(SandShape *shape, const SandVec3 *points, int count, int at_most, SandError *error) {
    *shape = (SandShape){.kind = SAND_HULL};
    SandVec3 *near = NULL, origin = count > 0 ? points[0] : v3_make(0, 0, 0);
    size_t capacity = 0;
    if (!SAND_GROW(near, capacity, count, "points of a hull", error)) return false;
    for (int i = 0; i < count; i++) near[i] = v3_sub(points[i], origin); // far from the origin no digits are lost
    bool ok = make_core(shape, error) && sand_hull_make(shape->core, near, count, at_most, error) &&
              place_core(shape, origin, error);
    sand_free(near);
    if (!ok) sand_shape_free(shape);
    return ok;
}

bool sand_shape_hull(SandShape *shape, const SandVec3 *points, int count, SandError *error) {
    return make_hull(shape, points, count, -1, error);
}

// How far the farthest of the points is outside of the hull.
static double farthest_beyond(const SandShape *hull, const SandVec3 *points, int count) {
    double most = 0;
    for (int i = 0; i < count; i++) {
        SandVec3 normal, local = pose_apply(hull->from_input, points[i]);
        uint32_t feature;
        most = fmax(most, sand_shape_distance(hull, 1, local, &normal, &feature));
    }
    return most > SAND_HULL_TOLERANCE * hull->bound * 10 ? most : 0; // less is rounding
}

bool sand_shape_hull_within(SandShape *shape, const SandVec3 *points, int count, int at_most, double *beyond,
                            SandError *error) {
    *shape = (SandShape){0};
    if (at_most < 4 || at_most > SAND_MAX_CORNERS)
        return sand_fail(error, "a hull of at most %d corners; 4 to %d are possible", at_most, SAND_MAX_CORNERS);
    if (!make_hull(shape, points, count, at_most, error)) return false;
    if (beyond) *beyond = farthest_beyond(shape, points, count);
    return true;
}

bool sand_shape_hull_file(SandShape *shape, const char *path, SandError *error) {
    SandError reason;
    *shape = (SandShape){0};
    SandTriangleMesh *mesh = sand_mesh_read(path, error);
    if (!mesh) return false;
    bool ok = mesh->closed || sand_fail(error, "%s: the mesh is open; a body needs a closed one", path);
    if (ok && !sand_shape_hull(shape, mesh->vertices, mesh->vertex_count, &reason))
        ok = sand_fail(error, "%s: %.400s", path, reason.text);
    sand_mesh_free(mesh);
    return ok;
}

// --- stones -----------------------------------------------------------------------------------------------

enum { MOST_POINTS = 32, MOST_CUTS = 8 };

SandStoneDef sand_default_stone(void) {
    return (SandStoneDef){.points = 18, .cuts = 3, .elongation = 0.75, .flatness = 0.8};
}

// A uniformly distributed direction, by rejection: no sine or cosine, so that a seed gives the same stone everywhere.
static SandVec3 random_direction(SandRandom *random) {
    for (;;) {
        SandVec3 v = {sand_random_signed(random), 0, 0};
        v.y = sand_random_signed(random);
        v.z = sand_random_signed(random);
        double l = v3_dot(v, v);
        if (l > 1e-4 && l <= 1) return v3_scale(1 / sqrt(l), v);
    }
}

// Cuts the hull of the points by normal . x <= offset: points beyond are replaced by where the edges cross the plane.
static int cut(const SandPolytope *hull, SandVec3 normal, double offset, SandVec3 *points) {
    int count = 0;
    for (int k = 0; k < hull->corner_count; k++)
        if (v3_dot(normal, hull->corners[k]) <= offset) points[count++] = hull->corners[k];
    for (int e = 0; e < hull->edge_count; e++) {
        SandVec3 a = hull->corners[hull->edges[e].from], b = hull->corners[hull->edges[e].to];
        double from = v3_dot(normal, a) - offset, to = v3_dot(normal, b) - offset;
        if ((from > 0) != (to > 0)) points[count++] = v3_madd(a, from / (from - to), v3_sub(b, a));
    }
    return count;
}

// Fills the points of a stone of no particular size; returns how many, or 0 with a sentence.
static int stone_points(const SandStoneDef *def, SandVec3 *points, SandError *error) {
    SandRandom random = sand_random(def->seed);
    for (int i = 0; i < 8; i++) sand_random_bits(&random); // small seeds are alike at first
    SandPolytope hull;
    SandVec3 after[SAND_MAX_CORNERS + SAND_MAX_EDGES];
    double middle = def->elongation, least = def->elongation * def->flatness;
    int count = def->points;
    for (int i = 0; i < count; i++) {
        SandVec3 d = random_direction(&random);
        points[i] = v3_make(d.x, middle * d.y, least * d.z);
    }
    for (int i = 0; i < def->cuts; i++) {
        if (!sand_hull_make(&hull, points, count, -1, error)) return 0;
        SandVec3 d = random_direction(&random);
        double most = -INFINITY;
        for (int k = 0; k < hull.corner_count; k++) most = fmax(most, v3_dot(d, hull.corners[k]));
        int left = cut(&hull, d, most * (0.65 + 0.25 * sand_random_unit(&random)), after);
        if (left > SAND_MAX_CORNERS) continue; // a cut that leaves too many corners is not made
        memcpy(points, after, (size_t)left * sizeof *after);
        count = left;
    }
    return count;
}

static bool check_stone(const SandStoneDef *def, SandError *error) {
    if (def->points < 4 || def->points > MOST_POINTS)
        return sand_fail(error, "a stone has %d points; 4 to %d are possible", def->points, MOST_POINTS);
    if (def->cuts < 0 || def->cuts > MOST_CUTS)
        return sand_fail(error, "a stone has %d cuts; 0 to %d are possible", def->cuts, MOST_CUTS);
    if (!(def->elongation >= 0.05 && def->elongation <= 1) || !(def->flatness >= 0.05 && def->flatness <= 1))
        return sand_fail(error, "a stone has elongation %g and flatness %g; each must be from 0.05 to 1", def->elongation,
                         def->flatness);
    return true;
}

// The cube root by Newton's method: IEEE 754 does not specify cbrt, and a seed gives the same stone everywhere.
static double cube_root(double a) {
    double x = a < 1 ? 1 : a;
    for (int k = 0; k < 200; k++) {
        double next = x - (x * x * x - a) / (3 * x * x);
        if (!(next < x)) break; // from above the iterates fall until they are rounding noise
        x = next;
    }
    return x;
}

bool sand_shape_stone(SandShape *shape, const SandStoneDef *def, SandError *error) {
    SandVec3 points[SAND_MAX_CORNERS];
    *shape = (SandShape){0};
    if (!check_stone(def, error)) return false;
    int count = stone_points(def, points, error);
    if (!count || !sand_shape_hull(shape, points, count, error)) return false;
    double unit = cube_root(4 * PI / 3 / shape->volume);
    sand_shape_free(shape);
    for (int i = 0; i < count; i++) points[i] = v3_scale(unit, points[i]);
    return sand_shape_hull(shape, points, count, error);
}
