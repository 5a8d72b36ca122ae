// SPDX-License-Identifier: MIT
// Writing one shape as the JSON of GSD's type_shapes: a polyhedron of its corners, a union of spheres, or nothing for a
// sphere, which is what a type is without it.
#include "app/io/export/shape_text.h"

#include <math.h>

static const double TURN = 6.28318530717958647692;
enum { SIDES = 24, RINGS = 5 }; // corners around a round part; rings from the rim of a half sphere to its pole

static void put_point(FILE *out, bool *first, SandVec3 p) {
    fprintf(out, "%s[%.9g, %.9g, %.9g]", *first ? "" : ", ", p.x, p.y, p.z);
    *first = false;
}

// A circle about z.
static void put_ring(FILE *out, bool *first, double radius, double z) {
    for (int k = 0; k < SIDES; k++)
        put_point(out, first, v3_make(radius * cos(TURN * k / SIDES), radius * sin(TURN * k / SIDES), z));
}

static void put_cylinder(FILE *out, const SandShape *s, double scale) {
    bool first = true;
    put_ring(out, &first, scale * s->half.x, -scale * s->half.z);
    put_ring(out, &first, scale * s->half.x, scale * s->half.z);
}

// half.z is that of the segment and the radius together.
static void put_capsule(FILE *out, const SandShape *s, double scale) {
    bool first = true;
    double radius = scale * s->rounding, end = scale * s->half.z - radius;
    for (int side = -1; side <= 1; side += 2) {
        for (int k = 0; k < RINGS; k++)
            put_ring(out, &first, radius * cos(0.25 * TURN * k / RINGS),
                     side * (end + radius * sin(0.25 * TURN * k / RINGS)));
        put_point(out, &first, v3_make(0, 0, side * (end + radius)));
    }
}

static void put_corners(FILE *out, const SandPolytope *core, double scale) {
    bool first = true;
    for (int k = 0; k < core->corner_count; k++) put_point(out, &first, v3_scale(scale, core->corners[k]));
}

static void write_polyhedron(FILE *out, const SandShape *s, double scale) {
    fputs("{\"type\": \"ConvexPolyhedron\", \"rounding_radius\": 0, \"vertices\": [", out);
    if (s->kind == SAND_CYLINDER)
        put_cylinder(out, s, scale);
    else if (s->kind == SAND_CAPSULE)
        put_capsule(out, s, scale);
    else
        put_corners(out, s->core, scale);
    fputs("]}", out);
}

static void write_union(FILE *out, const SandShape *s, double scale) {
    bool first = true;
    fputs("{\"type\": \"SphereUnion\", \"diameters\": [", out);
    for (int k = 0; k < s->sphere_count; k++) fprintf(out, k ? ", %.9g" : "%.9g", 2 * scale * s->spheres[k].radius);
    fputs("], \"centers\": [", out);
    for (int k = 0; k < s->sphere_count; k++) put_point(out, &first, v3_scale(scale, s->spheres[k].center));
    fputs("]}", out);
}

void shape_text_write(FILE *out, const SandShape *shape, double scale) {
    if (shape->kind == SAND_SPHERE)
        fputs("{}", out);
    else if (shape->kind == SAND_CLUMP)
        write_union(out, shape, scale);
    else
        write_polyhedron(out, shape, scale);
}
