// SPDX-License-Identifier: MIT
// Where a ray enters a convex body as it is drawn: parts by their kind (sim/geometry/shape_ray.inl), stones by the triangles
// of their mesh.
#include "app/render/solid_mesh.h"

#include "sim/geometry/shape_ray.inl"

// The half spaces of the triangles, of which those of one face have the same.
static double enter_stone(const SolidMeshes *m, const SolidMesh *mesh, SandVec3 extent, SandVec3 from, SandVec3 d) {
    RayRange range = ray_all();
    for (uint32_t i = mesh->first; i < mesh->first + mesh->count; i += 3) {
        const SolidVertex *v = &m->vertices.data[m->indices.data[i]];
        SandVec3 normal = v3_make(v->normal[0], v->normal[1], v->normal[2]);
        range = ray_both(range, ray_below(v3_dot(normal, d), v3_dot(normal, v3_sub(solid_place(&v->at, extent), from))));
    }
    return mesh->count ? ray_entry(range) : INFINITY;
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
