// SPDX-License-Identifier: MIT
// Boundaries that convex bodies touch as convex bodies: a solid box, a solid sphere, and the triangles of a mesh. One source
// for CPU and GPU; everything is in the frame of the boundary.
#pragma once
#include "sim/geometry/convex_manifold.inl"
#include "sim/geometry/mesh_distance.inl"

// --- solids -----------------------------------------------------------------------------------------------

SAND_HOST_DEVICE bool boundary_is_solid(const SandBoundary *b) {
    return (b->kind == SAND_BOX_WALLS || b->kind == SAND_SPHERE_WALL) && b->side == SAND_OUTSIDE;
}

// Returns a solid boundary with its middle at `center`; `zero` is a zero vector that outlives it.
SAND_HOST_DEVICE Convex boundary_solid(const SandBoundary *b, SandVec3 center, const SandVec3 *zero) {
    if (b->kind == SAND_SPHERE_WALL) return convex_sphere(zero, center, b->radius);
    return convex_polytope(b->core, m3_identity(), center, v3_length(b->half));
}

// --- triangles --------------------------------------------------------------------------------------------

// One triangle as a polytope of two faces.
typedef struct TriangleBody {
    SandVec3 corners[3];
    SandEdge edges[3];
    SandFace faces[2];
    uint8_t loop[6], sides[6];
} TriangleBody;

SAND_HOST_DEVICE SandVec3 triangle_middle(const SandTriangleMesh *mesh, int f) {
    SandVec3 middle = v3_make(0, 0, 0);
    for (int k = 0; k < 3; k++) middle = v3_madd(middle, 1. / 3, mesh->vertices[mesh->faces[f][k]]);
    return middle;
}

SAND_HOST_DEVICE Convex triangle_body(const SandTriangleMesh *mesh, int f, SandVec3 origin, TriangleBody *t) {
    const uint8_t loop[6] = {0, 1, 2, 0, 2, 1}, sides[6] = {0, 1, 2, 2, 1, 0};
    SandVec3 middle = triangle_middle(mesh, f), normal = mesh->planes[f].normal;
    Convex c = {.corners = t->corners, .edges = t->edges, .faces = t->faces, .loop = t->loop, .sides = t->sides};
    c.bound = 0;
    for (int k = 0; k < 3; k++) {
        SandEdge edge = {(uint8_t)k, (uint8_t)((k + 1) % 3), 0, 1};
        t->edges[k] = edge;
        t->corners[k] = v3_sub(mesh->vertices[mesh->faces[f][k]], middle);
        c.bound = fmax(c.bound, v3_length(t->corners[k]));
    }
    for (int k = 0; k < 6; k++) {
        t->loop[k] = loop[k];
        t->sides[k] = sides[k];
    }
    for (int side = 0; side < 2; side++) {
        SandFace face = {side ? v3_neg(normal) : normal, 0, 3 * side, 3};
        face.offset = v3_dot(face.normal, t->corners[0]);
        t->faces[side] = face;
    }
    c.corner_count = c.edge_count = 3;
    c.face_count = 2;
    c.scale = 1;
    c.rotation = m3_identity();
    c.center = v3_sub(middle, origin);
    return c;
}

// Whether a triangle touches a body at `origin` with an edge of its own, along the normal from the body: the edge protrudes,
// the normal lies between those of its two faces, and this is the lower of them that the body is in front of, so that the
// edge touches once.
SAND_HOST_DEVICE bool triangle_edge_touches(const SandTriangleMesh *mesh, int f, SandVec3 normal, SandVec3 origin) {
    SandVec3 out = v3_neg(normal);
    const SandMeshPlane *plane = &mesh->planes[f];
    int side = 0;
    for (int k = 1; k < 3; k++)
        if (v3_dot(out, plane->away[k]) > v3_dot(out, plane->away[side])) side = k;
    const SandMeshEdge *edge = &mesh->edges[mesh->face_edges[f][side]];
    if (edge->fold == SAND_FOLD_FLAT || edge->fold == SAND_FOLD_CONCAVE) return false;
    const SandMeshPlane *lower = &mesh->planes[edge->face];
    if (edge->face != f && v3_dot(lower->normal, origin) - lower->offset >= 0) return false;
    return v3_dot(out, edge->away) >= -1e-6 && (edge->other < 0 || v3_dot(out, edge->away_other) >= -1e-6);
}

// Whether a body at `origin` may touch a triangle. One behind the surface is taken to be elsewhere.
SAND_HOST_DEVICE bool triangle_is_near(const SandTriangleMesh *mesh, int f, const Convex *c, SandVec3 origin, double reach) {
    const SandMeshPlane *plane = &mesh->planes[f];
    double height = v3_dot(plane->normal, origin) - plane->offset, range = c->bound + c->radius + reach, bound = 0;
    if (height < 0 || height > range) return false;
    SandVec3 middle = triangle_middle(mesh, f);
    for (int k = 0; k < 3; k++) bound = fmax(bound, v3_length(v3_sub(mesh->vertices[mesh->faces[f][k]], middle)));
    return v3_length(v3_sub(middle, origin)) <= bound + range;
}

// Fills the points in which a body touches one triangle that is this far from it, relative to the center of the body, which
// is at `origin`. Where the pair would touch at an edge that lies in the surface, or that another triangle owns, the face of
// the triangle is taken.
SAND_HOST_DEVICE void triangle_points(const SandTriangleMesh *mesh, int f, const Convex *c, const Convex *triangle,
                                      SandVec3 origin, double reach, const ConvexGap *gap, Manifold *m) {
    convex_touching_points(c, triangle, reach, gap, m);
    if (m->count && v3_dot(m->normal, mesh->planes[f].normal) > -0.9999 &&
        !triangle_edge_touches(mesh, f, m->normal, origin))
        convex_manifold_on_face(c, triangle, 0, reach, m);
}

// Fills the points in which a body touches one triangle that is near it.
SAND_HOST_DEVICE_NOINLINE void touch_triangle(const SandTriangleMesh *mesh, int f, const Convex *c, SandVec3 origin,
                                              double reach, Manifold *m) {
    TriangleBody arrays;
    ConvexGap gap;
    Convex triangle = triangle_body(mesh, f, origin, &arrays);
    m->count = 0;
    convex_distance(c, &triangle, convex_far(c, &triangle, reach), &gap);
    if (convex_touch(c, &triangle, reach, &gap)) triangle_points(mesh, f, c, &triangle, origin, reach, &gap, m);
}
