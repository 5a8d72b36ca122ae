// SPDX-License-Identifier: MIT
// The solid that a closed mesh encloses: volume, center of mass and inertia as exact sums over the tetrahedra between its
// triangles and one point.
#include "sim/core/array.h"
#include "sim/core/within.h"
#include "sim/geometry/principal.h"

#include <stdlib.h>

// One side of a triangle, from vertex to vertex.
typedef struct Side {
    int low, high;
    bool upwards; // it runs from the lower vertex to the higher one
} Side;

static int compare_sides(const void *a, const void *b) {
    const Side *p = a, *q = b;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    if (p->high != q->high) return p->high < q->high ? -1 : 1;
    return (int)p->upwards - (int)q->upwards;
}

// Whether every edge has as many triangles on one side as on the other.
static bool sides_meet(const Side *sides, int count) {
    for (int first = 0, end; first < count; first = end) {
        int balance = 0;
        for (end = first; end < count && sides[end].low == sides[first].low && sides[end].high == sides[first].high; end++)
            balance += sides[end].upwards ? 1 : -1;
        if (balance) return false;
    }
    return true;
}

static bool check_closed(const SandMeshData *mesh, SandError *error) {
    Side *sides = NULL;
    size_t capacity = 0;
    int count = 3 * mesh->face_count;
    if (!SAND_GROW(sides, capacity, count + 1, "sides of a mesh", error)) return false;
    for (int k = 0; k < count; k++) {
        int from = mesh->faces[k / 3][k % 3], to = mesh->faces[k / 3][(k + 1) % 3];
        sides[k] = (Side){from < to ? from : to, from < to ? to : from, from < to};
    }
    qsort(sides, (size_t)count, sizeof *sides, compare_sides);
    bool closed = sides_meet(sides, count);
    sand_free(sides);
    return closed || sand_fail(error, "the mesh is open, or turned over in parts; only a closed one has a volume");
}

static bool check_data(const SandMeshData *mesh, SandError *error) {
    if (mesh->vertex_count < 1 || mesh->face_count < 1 || mesh->face_count > SAND_MAX_FEATURE)
        return sand_fail(error, "a mesh of %d vertices and %d triangles encloses nothing", mesh->vertex_count,
                         mesh->face_count);
    for (int k = 0; k < mesh->vertex_count; k++)
        if (!sand_vector_within(mesh->vertices[k]))
            return sand_fail(error, "vertex %d of the mesh is not finite, or beyond %g m", k, SAND_FARTHEST);
    for (int k = 0; k < 3 * mesh->face_count; k++)
        if (mesh->faces[k / 3][k % 3] < 0 || mesh->faces[k / 3][k % 3] >= mesh->vertex_count)
            return sand_fail(error, "triangle %d: there is no vertex %d", k / 3, mesh->faces[k / 3][k % 3]);
    return true;
}

bool sand_solid_of_mesh(SandSolid *solid, const SandMeshData *mesh, SandError *error) {
    SandMoments m = {0};
    *solid = (SandSolid){0};
    if (!check_data(mesh, error) || !check_closed(mesh, error)) return false;
    SandVec3 origin = mesh->vertices[0];
    for (int f = 0; f < mesh->face_count; f++) {
        const int *v = mesh->faces[f];
        sand_moments_add(&m, v3_sub(mesh->vertices[v[0]], origin), v3_sub(mesh->vertices[v[1]], origin),
                         v3_sub(mesh->vertices[v[2]], origin));
    }
    if (!(m.one > 0)) return sand_fail(error, "the mesh is inside out: its triangles are clockwise seen from outside");
    SandVec3 c = v3_make(m.x / m.one, m.y / m.one, m.z / m.one);
    double xx = m.xx - c.x * m.x, yy = m.yy - c.y * m.y, zz = m.zz - c.z * m.z;
    solid->volume = m.one;
    solid->center = v3_add(origin, c);
    solid->moments = v3_make(yy + zz, xx + zz, xx + yy);
    solid->products = v3_make(c.x * m.y - m.xy, c.x * m.z - m.xz, c.y * m.z - m.yz);
    return true;
}
