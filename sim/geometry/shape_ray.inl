// SPDX-License-Identifier: MIT
// The part of a ray within a convex shape, in closed form: slabs, a cylinder, balls, and the half spaces of a hull. A ray is
// from + t d for all t, in the frame of the shape; d may have any length. One source for CPU and GPU.
#pragma once
#include "sandglass/geometry.h"

// The t within a shape; empty where `from` is beyond `to`.
typedef struct RayRange {
    double from, to;
} RayRange;

SAND_HOST_DEVICE RayRange ray_all(void) { return (RayRange){-INFINITY, INFINITY}; }
SAND_HOST_DEVICE RayRange ray_nothing(void) { return (RayRange){INFINITY, -INFINITY}; }
SAND_HOST_DEVICE RayRange ray_both(RayRange a, RayRange b) {
    return (RayRange){a.from > b.from ? a.from : b.from, a.to < b.to ? a.to : b.to};
}
// Of two ranges of a convex whole.
SAND_HOST_DEVICE RayRange ray_either(RayRange a, RayRange b) {
    if (a.from > a.to) return b;
    if (b.from > b.to) return a;
    return (RayRange){a.from < b.from ? a.from : b.from, a.to > b.to ? a.to : b.to};
}
// Where a ray without begin enters; INFINITY: it does not.
SAND_HOST_DEVICE double ray_entry(RayRange r) { return r.from <= r.to ? r.from : INFINITY; }

// The part with a t <= b.
SAND_HOST_DEVICE RayRange ray_below(double a, double b) {
    if (a == 0) return b >= 0 ? ray_all() : ray_nothing();
    return a > 0 ? (RayRange){-INFINITY, b / a} : (RayRange){b / a, INFINITY};
}

SAND_HOST_DEVICE RayRange ray_slab(double from, double d, double half) {
    return ray_both(ray_below(d, half - from), ray_below(-d, half + from));
}

// The part with a t^2 + 2 b t + c <= 0, for a >= 0.
SAND_HOST_DEVICE RayRange ray_roots(double a, double b, double c) {
    double root = b * b - a * c;
    if (a == 0) return c <= 0 ? ray_all() : ray_nothing(); // b is 0 too: the ray is parallel to the axis
    if (root < 0) return ray_nothing();
    return (RayRange){(-b - sqrt(root)) / a, (-b + sqrt(root)) / a};
}

SAND_HOST_DEVICE RayRange ray_in_tube(double radius, SandVec3 from, SandVec3 d) {
    return ray_roots(d.x * d.x + d.y * d.y, from.x * d.x + from.y * d.y,
                     from.x * from.x + from.y * from.y - radius * radius);
}

SAND_HOST_DEVICE RayRange ray_in_ball(SandVec3 center, double radius, SandVec3 from, SandVec3 d) {
    SandVec3 off = v3_sub(from, center);
    return ray_roots(v3_dot(d, d), v3_dot(off, d), v3_dot(off, off) - radius * radius);
}

// --- the kinds of shapes, by their half extents -------------------------------------------------------------

SAND_HOST_DEVICE RayRange box_range(SandVec3 half, SandVec3 from, SandVec3 d) {
    return ray_both(ray_slab(from.x, d.x, half.x), ray_both(ray_slab(from.y, d.y, half.y), ray_slab(from.z, d.z, half.z)));
}

SAND_HOST_DEVICE RayRange cylinder_range(SandVec3 half, SandVec3 from, SandVec3 d) {
    return ray_both(ray_in_tube(half.x, from, d), ray_slab(from.z, d.z, half.z));
}

// A tube and two balls.
SAND_HOST_DEVICE RayRange capsule_range(SandVec3 half, SandVec3 from, SandVec3 d) {
    double end = half.z - half.x;
    RayRange tube = ray_both(ray_in_tube(half.x, from, d), ray_slab(from.z, d.z, end));
    RayRange low = ray_in_ball(v3_make(0, 0, -end), half.x, from, d);
    return ray_either(tube, ray_either(low, ray_in_ball(v3_make(0, 0, end), half.x, from, d)));
}

// The half spaces of the faces of a hull.
SAND_HOST_DEVICE RayRange hull_range(const SandPolytope *core, double scale, SandVec3 from, SandVec3 d) {
    RayRange range = ray_all();
    for (int f = 0; f < core->face_count; f++) {
        const SandFace *face = &core->faces[f];
        range = ray_both(range, ray_below(v3_dot(face->normal, d), scale * face->offset - v3_dot(face->normal, from)));
    }
    return range;
}

// Of any shape but a clump, at this scale.
#define SAND_RANGE_SPHERE(name) ray_in_ball(v3_make(0, 0, 0), scale, from, d)
#define SAND_RANGE_CLUMP(name) ray_nothing()
#define SAND_RANGE_PART(name) name##_range(v3_scale(scale, shape->half), from, d)
#define SAND_RANGE_STONE(name) hull_range(shape->core, scale, from, d)
#define SAND_RANGE_ROW(KIND, name, drawn, ...) \
    case SAND_##KIND: return SAND_RANGE_##drawn(name);
SAND_HOST_DEVICE RayRange shape_range(const SandShape *shape, double scale, SandVec3 from, SandVec3 d) {
    switch (shape->kind) {
        SAND_SHAPES(SAND_RANGE_ROW)
    default: return ray_nothing();
    }
}
#undef SAND_RANGE_ROW
#undef SAND_RANGE_STONE
#undef SAND_RANGE_PART
#undef SAND_RANGE_CLUMP
#undef SAND_RANGE_SPHERE
