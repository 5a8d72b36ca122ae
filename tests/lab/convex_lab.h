// SPDX-License-Identifier: MIT
// Random convex bodies, and their distance by brute force: every direction that could be the one, every feature against
// every other. Written without the code under test, for tests/unit/test_convex_*.c.
#pragma once
#include "sim/geometry/convex.inl"
#include "tests/lab/lab.h"

enum { LAB_BOX, LAB_STONE, LAB_NEEDLE, LAB_PLATE, LAB_TETRAHEDRON, LAB_CAPSULE, LAB_SPHERE, LAB_CYLINDER, LAB_KINDS };
static const char *const lab_kind_names[LAB_KINDS] = {"box",         "stone",   "needle", "plate",
                                                      "tetrahedron", "capsule", "sphere", "cylinder"};

static SandRandom lab_dice = {SAND_DEFAULT_SEED};
static inline double lab_uniform(double a, double b) { return a + (b - a) * sand_random_unit(&lab_dice); }
// Numbers are drawn one by one, so that every compiler makes the same bodies of them.
static inline SandVec3 lab_vector(double a, double b) {
    double z = lab_uniform(a, b), y = lab_uniform(a, b), x = lab_uniform(a, b);
    return v3_make(x, y, z);
}
static inline SandVec3 lab_point(double r) { return lab_vector(-r, r); }
static inline SandVec3 lab_direction(void) { return v3_unit_or(lab_point(1), v3_make(1, 0, 0)); }

static const SandVec3 lab_origin = {0, 0, 0};

// A body of a test: its shape, and where it is.
typedef struct LabConvex {
    SandShape shape;
    int kind;
    double scale;
    SandPose pose;
} LabConvex;

static inline void lab_hull_of(SandShape *shape, int count, SandVec3 stretch) {
    for (;;) {
        SandVec3 points[40];
        for (int k = 0; k < count; k++) {
            SandVec3 d = lab_direction();
            points[k] = v3_make(stretch.x * d.x, stretch.y * d.y, stretch.z * d.z);
        }
        if (sand_shape_hull(shape, points, count, NULL)) return;
    }
}

static inline LabConvex lab_convex(int kind) {
    LabConvex c = {.kind = kind, .scale = lab_uniform(0.5, 2), .pose = {{0, 0, 0}, {1, 0, 0, 0}}};
    SandVec3 ones = {1, 1, 1}, needle = {1, 0.02, 0.03}, plate = {1, 0.8, 0.01};
    double length;
    bool ok = true;
    switch (kind) {
    case LAB_BOX: ok = sand_shape_box(&c.shape, lab_vector(0.3, 1), NULL); break;
    case LAB_STONE: lab_hull_of(&c.shape, 6 + (int)lab_uniform(0, 12), ones); break;
    case LAB_NEEDLE: lab_hull_of(&c.shape, 8, needle); break;
    case LAB_PLATE: lab_hull_of(&c.shape, 10, plate); break;
    case LAB_TETRAHEDRON: lab_hull_of(&c.shape, 4, ones); break;
    case LAB_CAPSULE:
        length = lab_uniform(0.2, 2);
        ok = sand_shape_capsule(&c.shape, lab_uniform(0.1, 0.5), length, NULL);
        break;
    case LAB_SPHERE: ok = sand_shape_sphere(&c.shape, NULL); break;
    default: length = lab_uniform(0.2, 2); ok = sand_shape_cylinder(&c.shape, lab_uniform(0.2, 1), length, NULL);
    }
    assert_true(ok);
    return c;
}

static inline Convex lab_view(const LabConvex *c) {
    if (c->kind == LAB_SPHERE) return convex_sphere(&lab_origin, c->pose.position, c->scale);
    return convex_make(&c->shape, c->scale, c->pose.rotation, c->pose.position);
}

// The corners of the core in the world, of which a cylinder has none.
static inline int lab_corners(const LabConvex *c, SandVec3 *at) {
    if (c->kind == LAB_SPHERE) {
        at[0] = c->pose.position;
        return 1;
    }
    int count = c->shape.core ? c->shape.core->corner_count : 0;
    for (int k = 0; k < count; k++) at[k] = pose_apply(c->pose, v3_scale(c->scale, c->shape.core->corners[k]));
    return count;
}

// How far the core reaches along a unit direction.
static inline double lab_reach(const LabConvex *c, SandVec3 n) {
    SandVec3 at[SAND_MAX_CORNERS], local = q_unrotate(c->pose.rotation, n);
    double most = -INFINITY;
    int count = lab_corners(c, at);
    for (int k = 0; k < count; k++) most = fmax(most, v3_dot(n, at[k]));
    if (count) return most;
    double across = sqrt(local.x * local.x + local.y * local.y);
    return v3_dot(n, c->pose.position) + c->scale * (c->shape.half.x * across + c->shape.half.z * fabs(local.z));
}
static inline double lab_separation(const LabConvex *a, const LabConvex *b, SandVec3 n) {
    return -lab_reach(b, v3_neg(n)) - lab_reach(a, n);
}

// How far a point is outside of the core, at most: 0 where it is in it. By planes, so that it is not a distance.
static inline double lab_outside(const LabConvex *c, SandVec3 point) {
    SandVec3 p = v3_scale(1 / c->scale, pose_apply_inverse(c->pose, point));
    const SandPolytope *core = c->shape.core;
    double most = 0;
    if (c->kind == LAB_SPHERE) return v3_length(p) * c->scale;
    if (!core) return c->scale * fmax(fmax(sqrt(p.x * p.x + p.y * p.y) - c->shape.half.x, fabs(p.z) - c->shape.half.z), 0);
    if (!core->face_count) {
        double beyond = fmax(fabs(p.z) - core->corners[1].z, 0);
        return c->scale * sqrt(p.x * p.x + p.y * p.y + beyond * beyond);
    }
    for (int f = 0; f < core->face_count; f++) most = fmax(most, v3_dot(core->faces[f].normal, p) - core->faces[f].offset);
    return c->scale * most;
}

// The largest separation over all face normals and all crosses of edges, without any pruning: minus the depth of two
// polytopes that overlap.
static inline double lab_best_axis(const LabConvex *a, const LabConvex *b, SandVec3 *normal) {
    const LabConvex *both[2] = {a, b};
    double best = -INFINITY;
    for (int side = 0; side < 2; side++) {
        const SandPolytope *core = both[side]->shape.core;
        for (int f = 0; core && f < core->face_count; f++) {
            SandVec3 n = q_rotate(both[side]->pose.rotation, core->faces[f].normal);
            if (side) n = v3_neg(n);
            double s = lab_separation(a, b, n);
            if (s <= best) continue;
            best = s;
            *normal = n;
        }
    }
    SandVec3 at_a[SAND_MAX_CORNERS], at_b[SAND_MAX_CORNERS];
    lab_corners(a, at_a);
    lab_corners(b, at_b);
    const SandPolytope *p = a->shape.core, *q = b->shape.core;
    for (int i = 0; p && i < p->edge_count; i++)
        for (int k = 0; q && k < q->edge_count; k++) {
            SandVec3 e = v3_sub(at_a[p->edges[i].to], at_a[p->edges[i].from]);
            SandVec3 g = v3_sub(at_b[q->edges[k].to], at_b[q->edges[k].from]), n = v3_cross(e, g);
            if (v3_length(n) < 1e-7 * v3_length(e) * v3_length(g)) continue;
            n = v3_unit_or(n, e);
            for (int sign = 0; sign < 2; sign++, n = v3_neg(n)) {
                double s = lab_separation(a, b, n);
                if (s <= best) continue;
                best = s;
                *normal = n;
            }
        }
    return best;
}

// The largest separation over directions, from many starts by a pattern search: for cylinders, to some 1e-9.
static inline double lab_searched_axis(const LabConvex *a, const LabConvex *b, int starts) {
    double best = -INFINITY;
    for (int k = 0; k < starts; k++) {
        SandVec3 n = lab_direction();
        double s = lab_separation(a, b, n);
        if (s < best - 0.3 * (a->scale + b->scale)) continue;
        double width = 0.3;
        for (int step = 0; step < 300 && width > 1e-9; step++) {
            SandVec3 u = v3_perpendicular(n), v = v3_cross(n, u), found = n;
            for (int d = 0; d < 8; d++) {
                double x = d % 4 < 3 ? (d < 4 ? 1 : -1) * (d % 4 != 1) : (d < 4 ? 1 : -1);
                double y = (d < 4 ? 1 : -1) * (d % 4 == 3 ? -1 : d % 4 != 0);
                SandVec3 m = v3_unit_or(v3_madd(v3_madd(n, width * x, u), width * y, v), n);
                double t = lab_separation(a, b, m);
                if (t <= s) continue;
                s = t;
                found = m;
            }
            if (v3_dot(v3_sub(found, n), v3_sub(found, n)) == 0) width *= 0.5;
            n = found;
        }
        best = fmax(best, s);
    }
    return best;
}

// Places b beside a: anywhere from deep inside to well apart; aligned with it in some cases, and just touching in others.
static inline void lab_place(LabConvex *a, LabConvex *b, int trial) {
    a->pose.position = lab_point(1);
    a->pose.rotation = sand_random_rotation(&lab_dice);
    b->pose = (SandPose){a->pose.position, sand_random_rotation(&lab_dice)};
    if (trial % 4 == 1) b->pose.rotation = a->pose.rotation; // parallel faces and edges
    if (trial % 4 == 2) {                                    // a quarter turn, and a little off it
        const SandVec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        double angle = 0.5 * PI + (trial % 8 == 2 ? 0 : 1e-7 * lab_uniform(-1, 1));
        b->pose.rotation = q_unit(q_mul(a->pose.rotation, q_exp(v3_scale(angle, axes[trial / 4 % 3]))));
    }
    SandVec3 way = lab_direction();
    if (trial % 3 == 1) way = q_rotate(a->pose.rotation, v3_make(0, 0, 1));
    double touching =
        lab_reach(a, way) - v3_dot(way, a->pose.position) + lab_reach(b, v3_neg(way)) + v3_dot(way, b->pose.position);
    double factor = trial % 5 == 0 ? 1 : trial % 5 == 1 ? lab_uniform(0.95, 1.0) : lab_uniform(0, 1.3);
    if (trial % 35 == 34) factor = 0;
    b->pose.position = v3_madd(b->pose.position, factor * touching, way);
}
