// SPDX-License-Identifier: MIT
// Meshes of convex bodies, free of GL: one for each stone among the shapes of a world, and unit meshes for kinds that are
// drawn as parts, boxes, cylinders and capsules, which an instance stretches by its half extents. Closed, counter-clockwise
// seen from outside; that of a compound is one closed mesh for each piece.
#pragma once
#include "sandglass/geometry.h"
#include "sim/core/array.h"

// A point of a mesh, in units of the instance's extents: half extents, or the bound of a hull.
typedef struct SolidPoint {
    float position[3];
    float end; // capsule: -1 or 1, the half ball at this end of its segment; a half ball is not stretched along the axis
} SolidPoint;

typedef struct SolidVertex {
    SolidPoint at;
    float normal[3];
} SolidVertex;

// An edge between two faces: where the silhouette may run, and where shading may jump. Four texels of a buffer texture.
typedef struct SolidEdge {
    SolidPoint from, to;
    float left[3]; // unit outward normals of its faces
    float sharp;   // 1: a crease, 0: between the facets of a round side
    float right[3];
    float unused;
} SolidEdge;

typedef struct SolidMesh {
    uint32_t first, count;           // indices, three for each triangle
    uint32_t edge_first, edge_count; // edges
} SolidMesh;

// Parts come in several degrees of detail: many bodies are small in a picture, and are drawn with fewer facets.
enum {
    SOLID_DETAILS = 3,
    SOLID_STONES = (SAND_FIRST_STONE - SAND_FIRST_PART) * SOLID_DETAILS, // the mesh of a stone of shape s: SOLID_STONES + s
};

typedef struct SolidMeshes {
    SAND_ARRAY(SolidVertex) vertices;
    SAND_ARRAY(uint32_t) indices;
    SAND_ARRAY(SolidEdge) edges;
    SAND_ARRAY(SolidMesh) meshes;
    uint32_t vertex_count, index_count, edge_count;
    int mesh_count, shape_count; // shape_count: of the world they were made for
    uint64_t key;                // of what they hold: equal meshes have equal keys; 0: none were made
} SolidMeshes;

// Makes the meshes of these shapes, in place of those it held.
bool solid_meshes_make(SolidMeshes *meshes, const SandShape *shapes, int count, SandError *error);
void solid_meshes_free(SolidMeshes *meshes);

// The index of the mesh for bodies of a kind that is drawn as a part, of which there are `count`.
int solid_part(int kind, int count);

// A point of a mesh in the frame of a body with these extents (m); shaders/solids/solid.glsl does the same.
SandVec3 solid_place(const SolidPoint *point, SandVec3 extent);
// The direction of the outward normal of a face at this point, of any length.
SandVec3 solid_normal(const SolidPoint *point, const float normal[3], SandVec3 extent);

// The distance at which a ray enters a body of this mesh and these extents, in the body's frame; INFINITY: it does not.
double solid_enter(const SolidMeshes *meshes, int mesh, SandVec3 extent, SandVec3 from, SandVec3 direction);
