// SPDX-License-Identifier: MIT
// Where a ray enters a convex body, in closed form: slabs, a cylinder, balls, and the half spaces of a stone.
#include "app/render/solid_mesh.h"

// The part of a ray inside a body so far; empty where `from` is beyond `to`.
typedef struct Range {
    double from, to;
} Range;

static const Range all_of_it = {-INFINITY, INFINITY}, nothing = {INFINITY, -INFINITY};

static Range both(Range a, Range b) { return (Range){fmax(a.from, b.from), fmin(a.to, b.to)}; }

static double entry(Range range) { return range.from <= range.to ? range.from : INFINITY; }

// The part with a t <= b.
static Range below(double a, double b) {
    if (a == 0) return b >= 0 ? all_of_it : nothing;
    return a > 0 ? (Range){-INFINITY, b / a} : (Range){b / a, INFINITY};
}

static Range slab(double from, double direction, double half) {
    return both(below(direction, half - from), below(-direction, half + from));
}

// The part with a t^2 + 2 b t + c <= 0, for a >= 0.
static Range roots(double a, double b, double c) {
    double root = b * b - a * c;
    if (a == 0) return c <= 0 ? all_of_it : nothing; // b is 0 too: the ray is parallel to the axis
    return root < 0 ? nothing : (Range){(-b - sqrt(root)) / a, (-b + sqrt(root)) / a};
}

static Range in_tube(double radius, SandVec3 from, SandVec3 d) {
    return roots(d.x * d.x + d.y * d.y, from.x * d.x + from.y * d.y, from.x * from.x + from.y * from.y - radius * radius);
}

static Range in_ball(double z, double radius, SandVec3 from, SandVec3 d) {
    SandVec3 off = v3_make(from.x, from.y, from.z - z);
    return roots(v3_dot(d, d), v3_dot(off, d), v3_dot(off, off) - radius * radius);
}

static Range in_cylinder(double radius, double half, SandVec3 from, SandVec3 d) {
    return both(in_tube(radius, from, d), slab(from.z, d.z, half));
}

static double enter_box(SandVec3 extent, SandVec3 from, SandVec3 d) {
    return entry(both(slab(from.x, d.x, extent.x), both(slab(from.y, d.y, extent.y), slab(from.z, d.z, extent.z))));
}

static double enter_cylinder(SandVec3 extent, SandVec3 from, SandVec3 d) {
    return entry(in_cylinder(extent.x, extent.z, from, d));
}

// A tube and two balls.
static double enter_capsule(SandVec3 extent, SandVec3 from, SandVec3 d) {
    double half = extent.z - extent.x;
    double tube = entry(in_cylinder(extent.x, half, from, d)), low = entry(in_ball(-half, extent.x, from, d)),
           high = entry(in_ball(half, extent.x, from, d));
    return fmin(tube, fmin(low, high));
}

// The half spaces of the triangles, of which those of one face have the same.
static double enter_stone(const SolidMeshes *m, const SolidMesh *mesh, SandVec3 extent, SandVec3 from, SandVec3 d) {
    Range range = all_of_it;
    for (uint32_t i = mesh->first; i < mesh->first + mesh->count; i += 3) {
        const SolidVertex *v = &m->vertices.data[m->indices.data[i]];
        SandVec3 normal = v3_make(v->normal[0], v->normal[1], v->normal[2]);
        range = both(range, below(v3_dot(normal, d), v3_dot(normal, v3_sub(solid_place(&v->at, extent), from))));
    }
    return mesh->count ? entry(range) : INFINITY;
}

// The function of each kind that is drawn as a part, enter_box for boxes and so on: a kind without one does not compile.
#define ENTER_SPHERE(name) NULL
#define ENTER_CLUMP(name) NULL
#define ENTER_STONE(name) NULL
#define ENTER_PART(name) enter_##name
#define ROW(KIND, name, drawn, ...) [SAND_##KIND] = ENTER_##drawn(name),
static double (*const enter_part[])(SandVec3 extent, SandVec3 from, SandVec3 d) = {SAND_SHAPES(ROW)};

double solid_enter(const SolidMeshes *m, int mesh, SandVec3 extent, SandVec3 from, SandVec3 d) {
    if (extent.x <= 0) return INFINITY; // hidden
    if (mesh >= SOLID_STONES) return enter_stone(m, &m->meshes.data[mesh], extent, from, d);
    return enter_part[SAND_FIRST_PART + mesh / SOLID_DETAILS](extent, from, d);
}
