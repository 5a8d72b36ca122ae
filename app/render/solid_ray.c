// SPDX-License-Identifier: MIT
// Where a ray enters a convex body as it is drawn: parts by their kind (sim/geometry/shape_ray.inl), stones and compounds
// by the triangles of their mesh.
#include "app/render/solid_mesh.h"

#include "sim/geometry/shape_ray.inl"

// Where a ray comes into a triangle from outside, on its border too; INFINITY: nowhere.
static double enter_triangle(const SandVec3 corner[3], SandVec3 from, SandVec3 d) {
    SandVec3 normal = v3_cross(v3_sub(corner[1], corner[0]), v3_sub(corner[2], corner[0]));
    double down = v3_dot(normal, d), t = v3_dot(normal, v3_sub(corner[0], from)) / down;
    if (down >= 0) return INFINITY;
    SandVec3 at = v3_madd(from, t, d);
    const double border = -1e-9 * v3_dot(normal, normal);
    for (int k = 0; k < 3; k++) {
        SandVec3 side = v3_sub(corner[(k + 1) % 3], corner[k]);
        if (v3_dot(normal, v3_cross(side, v3_sub(at, corner[k]))) < border) return INFINITY;
    }
    return t;
}

// The first of the triangles: a compound is not convex.
static double enter_stone(const SolidMeshes *m, const SolidMesh *mesh, SandVec3 extent, SandVec3 from, SandVec3 d) {
    double first = INFINITY;
    for (uint32_t i = mesh->first; i < mesh->first + mesh->count; i += 3) {
        SandVec3 corner[3];
        for (int k = 0; k < 3; k++) corner[k] = solid_place(&m->vertices.data[m->indices.data[i + k]].at, extent);
        first = fmin(first, enter_triangle(corner, from, d));
    }
    return first;
}

// The function of each kind that is drawn as a part, box_range for boxes and so on: a kind without one does not compile.
#define RANGE_SPHERE(name) NULL
#define RANGE_CLUMP(name) NULL
#define RANGE_STONE(name) NULL
#define RANGE_PART(name) name##_range
#define ROW(KIND, name, drawn, ...) [SAND_##KIND] = RANGE_##drawn(name),
static RayRange (*const part_range[])(SandVec3 extent, SandVec3 from, SandVec3 d) = {SAND_SHAPES(ROW)};

double solid_enter(const SolidMeshes *m, int mesh, SandVec3 extent, SandVec3 from, SandVec3 d) {
    if (extent.x <= 0) return INFINITY; // hidden
    if (mesh >= SOLID_STONES) return enter_stone(m, &m->meshes.data[mesh], extent, from, d);
    return ray_entry(part_range[SAND_FIRST_PART + mesh / SOLID_DETAILS](extent, from, d));
}
