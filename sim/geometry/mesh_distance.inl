// SPDX-License-Identifier: MIT
// The touches of a sphere with a triangle mesh, in its local frame, one source for CPU and GPU; start at mesh_touch. Every
// point of space near the surface belongs to the features whose normals reach it (their Voronoi regions): to a face where
// its projection lies inside, to an edge or a vertex where it lies between the normals of the faces that meet there. Flat
// edges and vertices have no region of their own.
#pragma once
#include "sim/geometry/mesh.h"

#define SAND_MESH_SLACK 1e-9 // relative to the range: far above rounding, far below anything visible

typedef struct MeshQuery {
    const SandTriangleMesh *mesh;
    SandVec3 center;
    double range;       // m, a feature within it is touched: radius plus reach
    double slack;       // m, a point this close to a border counts as on it, so that rounding opens no cracks
    double best;        // m, signed distance of the nearest feature of all
    SandTouch nearest;  // and its touch
    SandTouch *touches; // gaps are distances of the center until mesh_touch subtracts the radius
    int capacity, count;
} MeshQuery;

// Whether a touch at the same point is there already: neighboring features may both claim it where they meet, and the first
// one keeps it.
SAND_HOST_DEVICE bool mesh_taken(const MeshQuery *q, SandVec3 normal, double distance) {
    for (int i = 0; i < q->count && i < q->capacity; i++) {
        const SandTouch *other = &q->touches[i];
        if (v3_dot(other->normal, normal) < 0.999) continue; // at one point, but of faces that meet at an angle
        SandVec3 apart = v3_sub(v3_scale(distance, normal), v3_scale(other->gap, other->normal));
        if (v3_length(apart) <= 8 * q->slack) return true;
    }
    return false;
}

// Appends a touch.
SAND_HOST_DEVICE void mesh_put(MeshQuery *q, SandTouch touch) {
    if (q->count < q->capacity) q->touches[q->count] = touch;
    q->count++;
}

// Updates the nearest feature and emits a touch where it is in range and on the allowed side, to which `normal` points.
SAND_HOST_DEVICE void mesh_consider(MeshQuery *q, SandVec3 normal, double distance, uint32_t feature) {
    SandTouch touch = {v3_neg(normal), distance, feature};
    if (fabs(distance) < fabs(q->best)) {
        q->best = distance;
        q->nearest = touch;
    }
    if (distance >= 0 && distance <= q->range && !mesh_taken(q, touch.normal, distance)) mesh_put(q, touch);
}

// The same for a point of an edge or vertex: `away` is from it to the center, `pseudo` its pseudo-normal, which gives the
// sign.
SAND_HOST_DEVICE void mesh_consider_point(MeshQuery *q, SandVec3 away, SandVec3 pseudo, bool rim, uint32_t feature) {
    double distance = v3_length(away);
    double sign = rim || v3_dot(away, pseudo) >= 0 ? 1 : -1; // behind a rim is still the allowed side
    mesh_consider(q, distance > 0 ? v3_scale(sign / distance, away) : pseudo, sign * distance, feature);
}

// Queries an edge: the center must project inside it and lie beyond both of its faces.
SAND_HOST_DEVICE void mesh_query_edge(MeshQuery *q, int number) {
    const SandMeshEdge *e = &q->mesh->edges[number];
    if (e->fold == SAND_FOLD_FLAT) return;
    SandVec3 d = v3_sub(q->center, q->mesh->vertices[e->from]);
    double t = v3_dot(d, e->along);
    if (t < 0 || t > e->length) return;
    if (v3_dot(d, e->away) < -q->slack || (e->other >= 0 && v3_dot(d, e->away_other) < -q->slack)) return;
    mesh_consider_point(q, v3_madd(d, -t, e->along), e->normal, e->fold == SAND_FOLD_RIM,
                        (uint32_t)(q->mesh->face_count + number));
}

// Queries a vertex: no edge that meets there may be nearer.
SAND_HOST_DEVICE void mesh_query_vertex(MeshQuery *q, int v) {
    const SandTriangleMesh *m = q->mesh;
    SandVec3 d = v3_sub(q->center, m->vertices[v]);
    if (v3_dot(d, d) > q->range * q->range) return;
    for (int i = m->star_start[v]; i < m->star_start[v + 1]; i++) {
        const SandMeshEdge *e = &m->edges[m->star[i]];
        double t = v3_dot(d, e->along);
        if ((e->from == v ? t : -t) > q->slack) return; // a point of the edge is nearer
    }
    mesh_consider_point(q, d, m->vertex_normals[v], m->vertex_rim[v], (uint32_t)(m->face_count + m->edge_count + v));
}

// Queries a face, and the edges and vertices of which it is the lowest face, so that each is queried once.
SAND_HOST_DEVICE void mesh_query_face(MeshQuery *q, int f) {
    const SandTriangleMesh *m = q->mesh;
    const SandMeshPlane *plane = &m->planes[f];
    double distance = v3_dot(plane->normal, q->center) - plane->offset;
    if (fabs(distance) > q->range) return; // its edges and vertices lie in the plane too
    double beyond[3];
    for (int k = 0; k < 3; k++) beyond[k] = v3_dot(plane->away[k], q->center) - plane->border[k];
    double most = fmax(beyond[0], fmax(beyond[1], beyond[2]));
    if (most > 0 && most * most + distance * distance > q->range * q->range) return; // no point of it is nearer
    if (most <= q->slack) mesh_consider(q, plane->normal, distance, (uint32_t)f);
    if (most < -q->slack) return; // well inside, no edge and no vertex is nearer than the face

    for (int k = 0; k < 3; k++) {
        bool over = beyond[k] >= -q->slack, over_last = beyond[(k + 2) % 3] >= -q->slack;
        if (over && m->edges[m->face_edges[f][k]].face == f) mesh_query_edge(q, m->face_edges[f][k]);
        if ((over || over_last) && m->vertex_owner[m->faces[f][k]] == f) mesh_query_vertex(q, m->faces[f][k]);
    }
}

// Returns the cells along one axis that the query's box meets, low to high; false where there are none.
SAND_HOST_DEVICE bool mesh_cell_span(double center, double range, double lower, double upper, double cell, int dim, int *low,
                                     int *high) {
    if (!(center + range >= lower && center - range <= upper)) return false;
    double a = (center - range - lower) / cell, b = (center + range - lower) / cell;
    *low = a > 0 ? (int)fmin(a, (double)(dim - 1)) : 0;
    *high = (int)fmin(b, (double)(dim - 1));
    return true;
}

// A walk over the faces in the cells around a point, each once and in a fixed order.
typedef struct MeshCells {
    int low[3], high[3];
    int x, y, z, entry; // the next one
} MeshCells;

SAND_HOST_DEVICE bool mesh_cells_around(const SandTriangleMesh *m, SandVec3 center, double range, MeshCells *c) {
    if (!mesh_cell_span(center.x, range, m->lower.x, m->upper.x, m->cell, m->dim[0], &c->low[0], &c->high[0])) return false;
    if (!mesh_cell_span(center.y, range, m->lower.y, m->upper.y, m->cell, m->dim[1], &c->low[1], &c->high[1])) return false;
    if (!mesh_cell_span(center.z, range, m->lower.z, m->upper.z, m->cell, m->dim[2], &c->low[2], &c->high[2])) return false;
    c->x = c->low[0];
    c->y = c->low[1];
    c->z = c->low[2];
    c->entry = m->cell_start[(c->z * m->dim[1] + c->y) * m->dim[0] + c->x];
    return true;
}

// Returns the next face, or -1. A face listed in many cells comes in the first of them, as in mesh_query_all.
SAND_HOST_DEVICE int mesh_cells_next(const SandTriangleMesh *m, MeshCells *c) {
    while (c->z <= c->high[2]) {
        int cell = (c->z * m->dim[1] + c->y) * m->dim[0] + c->x;
        uint32_t later = (c->x > c->low[0] ? 1u : 0) | (c->y > c->low[1] ? 2u : 0) | (c->z > c->low[2] ? 4u : 0);
        while (c->entry < m->cell_start[cell + 1]) {
            uint32_t face = m->cell_faces[c->entry++];
            if (!(later & ~face)) return (int)(face / 8);
        }
        if (++c->x > c->high[0]) {
            c->x = c->low[0];
            if (++c->y > c->high[1]) {
                c->y = c->low[1];
                c->z++;
            }
        }
        if (c->z <= c->high[2]) c->entry = m->cell_start[(c->z * m->dim[1] + c->y) * m->dim[0] + c->x];
    }
    return -1;
}

// Queries every face in the cells around the center.
SAND_HOST_DEVICE void mesh_query_all(MeshQuery *q) {
    const SandTriangleMesh *m = q->mesh;
    int low[3], high[3];
    if (!mesh_cell_span(q->center.x, q->range, m->lower.x, m->upper.x, m->cell, m->dim[0], &low[0], &high[0])) return;
    if (!mesh_cell_span(q->center.y, q->range, m->lower.y, m->upper.y, m->cell, m->dim[1], &low[1], &high[1])) return;
    if (!mesh_cell_span(q->center.z, q->range, m->lower.z, m->upper.z, m->cell, m->dim[2], &low[2], &high[2])) return;
    for (int z = low[2]; z <= high[2]; z++)
        for (int y = low[1]; y <= high[1]; y++)
            for (int x = low[0]; x <= high[0]; x++) {
                int cell = (z * m->dim[1] + y) * m->dim[0] + x;
                // A face listed in many cells is queried in the first of them that is visited: along each axis that is
                // the query's lowest cell or the face's.
                uint32_t later = (x > low[0] ? 1u : 0) | (y > low[1] ? 2u : 0) | (z > low[2] ? 4u : 0);
                for (int i = m->cell_start[cell]; i < m->cell_start[cell + 1]; i++)
                    if (!(later & ~m->cell_faces[i])) mesh_query_face(q, (int)(m->cell_faces[i] / 8));
            }
}

// Finds the touches of a sphere: see sand_boundary_touch.
SAND_HOST_DEVICE int mesh_touch(const SandTriangleMesh *mesh, SandVec3 center, double radius, double reach,
                                SandTouch *touches, int capacity) {
    double range = radius + reach;
    MeshQuery q = {.mesh = mesh,
                   .center = center,
                   .range = range,
                   .slack = SAND_MESH_SLACK * range,
                   .best = INFINITY,
                   .touches = touches,
                   .capacity = capacity};
    mesh_query_all(&q);
    // A feature seen from behind is hidden by something nearer, unless it is itself the nearest: then the center is below
    // the surface. A sphere deeper than its radius does not touch: it is taken to be elsewhere.
    if (q.best < -radius) return 0;
    if (q.best < 0) mesh_put(&q, q.nearest);
    for (int i = 0; i < q.count && i < capacity; i++) touches[i].gap -= radius;
    return q.count;
}
