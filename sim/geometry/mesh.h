// SPDX-License-Identifier: MIT
// Triangle meshes as boundaries: closed, or with one outer rim. The allowed side is where the normals point. Internal to
// sim/geometry; boundaries own them (sandglass/geometry.h). mesh.c makes them, mesh_file.c reads them, mesh_distance.inl
// queries them.
#pragma once
#include "sandglass/geometry.h"

#ifdef __cplusplus
extern "C" {
#endif

// How the two faces of an edge meet.
typedef enum SandFold {
    SAND_FOLD_FLAT,    // in one plane
    SAND_FOLD_CONVEX,  // the edge protrudes into the allowed side
    SAND_FOLD_CONCAVE, // a valley
    SAND_FOLD_RIM,     // there is only one face
} SandFold;

typedef struct SandMeshEdge {
    int from, to;        // vertices, in the order of the first face
    int face, other;     // the lower face number first; other is -1 on the rim
    double length;       // m
    SandVec3 along;      // unit, from -> to
    SandVec3 away;       // unit, in the plane of `face`, out of it across this edge
    SandVec3 away_other; // the same for `other`
    SandVec3 normal;     // pseudo-normal: the mean of the faces' normals
    SandFold fold;
} SandMeshEdge;

// What a query reads of a face first: its plane and the lines of its three sides in it. Two cache lines.
typedef struct SandMeshPlane {
    SandVec3 normal;
    double offset;    // the plane is normal . x = offset
    SandVec3 away[3]; // unit, in the plane, out of the face across side k
    double border[3]; // side k is away . x = border
} SandMeshPlane;

struct SandTriangleMesh {
    int vertex_count, face_count, edge_count;
    bool closed;              // without a rim
    SandVec3 *vertices;       // m, local frame
    int (*faces)[3];          // vertices, counter-clockwise seen from the allowed side
    SandVec3 *normals;        // of the faces, unit
    SandMeshPlane *planes;    // of the faces
    int (*face_edges)[3];     // edge k of a face runs from corner k to corner k + 1
    SandMeshEdge *edges;      // each once, shared by its faces
    SandVec3 *vertex_normals; // pseudo-normals: the faces' normals, weighted by their angle at the vertex
    int *vertex_owner;        // the lowest face that has the vertex, -1: none
    bool *vertex_rim;         // the vertex lies on the rim
    int *star_start;          // CSR: the edges at vertex v are star[star_start[v]] .. star[star_start[v + 1] - 1]
    int *star;
    // A uniform grid over the bounding box; a face is listed in every cell that its own bounding box meets.
    SandVec3 lower, upper; // m, the bounding box
    double cell;           // m, side of a cell
    int dim[3];            // cells along each axis
    int *cell_start;       // CSR: entries of cell c are cell_start[c] .. cell_start[c + 1] - 1
    uint32_t *cell_faces;  // face times 8, plus 1, 2, 4 where this cell is the lowest of the face along x, y, z
};

// Makes a mesh from vertices and faces (both are copied) and derives the rest. `source` and `lines` say where a face came
// from, for error sentences; with lines = NULL faces are named by their index. NULL on failure.
SandTriangleMesh *sand_mesh_make(const SandVec3 *vertices, int vertex_count, const int (*faces)[3], int face_count,
                                 const char *source, const int *lines, SandError *error);
SandTriangleMesh *sand_mesh_read(const char *path, SandError *error); // from a file: sand_mesh_data_read
// See sand_boundary_terrain.
SandTriangleMesh *sand_mesh_terrain(const double *heights, int nx, int ny, SandVec3 half, SandError *error);
void sand_mesh_free(SandTriangleMesh *mesh);

// Returns the signed distance (m) in the local frame; touches are in mesh_distance.inl.
double sand_mesh_distance(const SandTriangleMesh *mesh, SandVec3 point);

#ifdef __cplusplus
}
#endif
