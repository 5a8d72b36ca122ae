// A surface of triangles that bodies touch: closed, or with one outer rim. The allowed side is where the normals point.
#pragma once
#include "sim/geometry/boundary.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum SandFold {
    SAND_FOLD_FLAT,    // the two faces lie in one plane
    SAND_FOLD_CONVEX,  // the edge pokes into the allowed side
    SAND_FOLD_CONCAVE, // a valley
    SAND_FOLD_RIM,     // only one face
} SandFold;

typedef struct SandMeshEdge {
    int from, to;    // vertices, in the order of the first face
    int face, other; // the lower face number first; other is -1 on the rim
    double length;
    SandVec3 along;      // unit, from -> to
    SandVec3 away;       // unit, in the plane of `face`, out of it across this edge
    SandVec3 away_other; // the same for `other`
    SandVec3 normal;     // pseudo-normal: the mean of the faces'
    SandFold fold;
} SandMeshEdge;

// What a query reads of a face first: its plane and, in it, its three sides. Two cache lines.
typedef struct SandMeshPlane {
    SandVec3 normal;
    double offset;    // the plane is normal . x = offset
    SandVec3 away[3]; // unit, in the plane, out of the face across side k
    double border[3]; // side k is away . x = border
} SandMeshPlane;

struct SandTriangleMesh {
    int vertex_count, face_count, edge_count;
    bool closed; // without a rim
    SandVec3 *vertices;
    int (*faces)[3];   // counter-clockwise seen from the allowed side
    SandVec3 *normals; // of the faces
    SandMeshPlane *planes;
    int (*face_edges)[3]; // edge k runs from corner k to corner k + 1
    SandMeshEdge *edges;
    SandVec3 *vertex_normals; // pseudo-normals: the faces', weighted by their angle
    int *vertex_owner;        // the lowest face that has the vertex, -1: none
    bool *vertex_rim;
    int *star_start; // edges at each vertex: star[star_start[v] .. star_start[v + 1])
    int *star;
    // A uniform grid; a face is listed in every cell that its bounding box meets.
    SandVec3 lower, upper;
    double cell;
    int dim[3];
    int *cell_start;      // per cell, and one more
    uint32_t *cell_faces; // face number times 8, plus 1, 2, 4 where this cell is the lowest of the face on x, y, z
};

// Takes vertices and faces (both are copied) and derives the rest. `source` and `lines` say where a face came from, for
// the sentences: lines may be NULL, then faces are named by their number.
SandTriangleMesh *sand_mesh_make(const SandVec3 *vertices, int vertex_count, const int (*faces)[3], int face_count,
                                 const char *source, const int *lines, SandError *error);
SandTriangleMesh *sand_mesh_read_obj(const char *path, SandError *error); // obj.c
SandTriangleMesh *sand_mesh_terrain(const double *heights, int nx, int ny, SandVec3 half, SandError *error);
void sand_mesh_free(SandTriangleMesh *mesh);

// Signed distance in the local frame; touches are in mesh_touch.inl.
double sand_mesh_distance(const SandTriangleMesh *mesh, SandVec3 point);

#ifdef __cplusplus
}
#endif
