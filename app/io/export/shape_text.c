// SPDX-License-Identifier: MIT
// Writing one shape as the JSON of GSD's type_shapes: a polyhedron of its corners, a union of spheres, a mesh of the pieces
// of a compound, or nothing for a sphere, which is what a type is without it.
#include "app/io/export/shape_text.h"

#include "sim/geometry/convex.inl"

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

// --- compounds ----------------------------------------------------------------------------------------------

// Fills points of the surface of a round piece, in its frame: two rings of a cylinder, else rings of two half balls.
static int round_points(const Convex *c, const SandShape *s, SandVec3 *points) {
    enum { RIM = 24, AROUND = 10, LATITUDES = 3 };
    int count = 0;
    for (int k = 0; !s->core && k < 2 * RIM; k++)
        points[count++] =
            v3_make(c->rim * cos(TURN * (k / 2) / RIM), c->rim * sin(TURN * (k / 2) / RIM), k & 1 ? c->half : -c->half);
    for (int k = 0; s->core && k < 2 * LATITUDES * AROUND; k++) {
        double up = 0.25 * TURN * (k % LATITUDES) / LATITUDES, turn = TURN * (k / LATITUDES % AROUND) / AROUND;
        bool top = k >= LATITUDES * AROUND;
        SandVec3 end = v3_scale(c->scale, s->core->corners[top ? s->core->corner_count - 1 : 0]);
        SandVec3 out = v3_make(cos(up) * cos(turn), cos(up) * sin(turn), top ? sin(up) : -sin(up));
        points[count++] = v3_madd(end, c->radius, out);
    }
    return count;
}

// A piece as a polytope: itself, or a hull of points of its surface. False where memory runs out.
static bool faceted(const SandShape *s, double scale, SandShape *hull) {
    SandVec3 points[SAND_MAX_CORNERS];
    Convex c = convex_make(s, scale, q_identity(), v3_make(0, 0, 0));
    if (!s->core || !s->core->face_count) return sand_shape_hull(hull, points, round_points(&c, s, points), NULL);
    for (int k = 0; k < s->core->corner_count; k++) points[k] = v3_scale(scale, s->core->corners[k]);
    return sand_shape_hull(hull, points, s->core->corner_count, NULL);
}

// Writes the corners of a piece, or its triangles, whose corners are numbered from `base` on.
static void put_piece(FILE *out, bool *first, const SandPiece *piece, const SandShape *hull, double scale, int base,
                      bool triangles) {
    const SandPolytope *core = hull->core;
    for (int k = 0; !triangles && k < core->corner_count; k++) {
        SandVec3 local = q_unrotate(hull->from_input.rotation, v3_sub(core->corners[k], hull->from_input.position));
        put_point(out, first, v3_add(v3_scale(scale, piece->pose.position), q_rotate(piece->pose.rotation, local)));
    }
    for (int f = 0; triangles && f < core->face_count; f++)
        for (int k = 1; k + 1 < core->faces[f].count; k++) {
            const uint8_t *loop = core->loop + core->faces[f].first;
            fprintf(out, "%s[%d, %d, %d]", *first ? "" : ", ", base + loop[0], base + loop[k], base + loop[k + 1]);
            *first = false;
        }
}

static void put_pieces(FILE *out, const SandShape *s, double scale, bool triangles) {
    bool first = true;
    int base = 0;
    for (int k = 0; k < s->piece_count; k++) {
        const SandPiece *piece = &s->pieces[k];
        SandShape hull;
        if (!faceted(&piece->shape, scale * piece->scale, &hull)) continue;
        put_piece(out, &first, piece, &hull, scale, base, triangles);
        base += hull.core->corner_count;
        sand_shape_free(&hull);
    }
}

static void write_mesh(FILE *out, const SandShape *s, double scale) {
    fputs("{\"type\": \"Mesh\", \"vertices\": [", out);
    put_pieces(out, s, scale, false);
    fputs("], \"indices\": [", out);
    put_pieces(out, s, scale, true);
    fputs("]}", out);
}

void shape_text_write(FILE *out, const SandShape *shape, double scale) {
    if (shape->kind == SAND_SPHERE)
        fputs("{}", out);
    else if (shape->kind == SAND_CLUMP)
        write_union(out, shape, scale);
    else if (shape->kind == SAND_COMPOUND)
        write_mesh(out, shape, scale);
    else
        write_polyhedron(out, shape, scale);
}
