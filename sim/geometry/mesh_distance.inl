// Which faces, edges and vertices of a mesh a ball touches. Every point of space near the surface belongs to the
// features whose normals reach it: a face where its projection lies inside, an edge or a vertex where it lies between
// the normals of what meets there. Flat edges and vertices have no space of their own.
#pragma once
#include "sim/geometry/mesh.h"

#define SAND_MESH_SLACK 1e-9 // of the range: far above rounding, far below anything seen

typedef struct MeshQuery {
    const SandTriangleMesh *mesh;
    SandVec3 center;
    double range; // a feature nearer than this is touched
    double slack; // a point this close to a border counts as on it, so that rounding opens no crack
    double best;  // signed distance of the nearest feature of all
    SandTouch nearest;
    SandTouch *touches; // gaps are of the center until the end
    int capacity, count;
} MeshQuery;

// Neighbors may claim the same place where they meet: the first to come keeps it.
SAND_HOST_DEVICE bool mesh_taken(const MeshQuery *q, SandVec3 normal, double distance) {
    for (int i = 0; i < q->count && i < q->capacity; i++) {
        const SandTouch *other = &q->touches[i];
        if (v3_dot(other->normal, normal) < 0.999) continue; // at one place, but of two faces that meet at an angle
        SandVec3 apart = v3_sub(v3_scale(distance, normal), v3_scale(other->gap, other->normal));
        if (v3_length(apart) <= 8 * q->slack) return true;
    }
    return false;
}

SAND_HOST_DEVICE void mesh_put(MeshQuery *q, SandTouch touch) {
    if (q->count < q->capacity) q->touches[q->count] = touch;
    q->count++;
}

// `normal` points to the allowed side.
SAND_HOST_DEVICE void mesh_consider(MeshQuery *q, SandVec3 normal, double distance, uint32_t feature) {
    SandTouch touch = {v3_neg(normal), distance, feature};
    if (fabs(distance) < fabs(q->best)) q->best = distance, q->nearest = touch;
    if (distance >= 0 && distance <= q->range && !mesh_taken(q, touch.normal, distance)) mesh_put(q, touch);
}

SAND_HOST_DEVICE void mesh_consider_point(MeshQuery *q, SandVec3 away, SandVec3 pseudo, bool rim, uint32_t feature) {
    double distance = v3_length(away);
    double sign = rim || v3_dot(away, pseudo) >= 0 ? 1 : -1; // behind a rim is still outside
    mesh_consider(q, distance > 0 ? v3_scale(sign / distance, away) : pseudo, sign * distance, feature);
}

SAND_HOST_DEVICE void mesh_ask_edge(MeshQuery *q, int number) {
    const SandMeshEdge *e = &q->mesh->edges[number];
    if (e->fold == SAND_FOLD_FLAT) return;
    SandVec3 d = v3_sub(q->center, q->mesh->vertices[e->from]);
    double t = v3_dot(d, e->along);
    if (t < 0 || t > e->length) return;
    if (v3_dot(d, e->away) < -q->slack || (e->other >= 0 && v3_dot(d, e->away_other) < -q->slack)) return;
    mesh_consider_point(q, v3_madd(d, -t, e->along), e->normal, e->fold == SAND_FOLD_RIM,
                        (uint32_t)(q->mesh->face_count + number));
}

SAND_HOST_DEVICE void mesh_ask_vertex(MeshQuery *q, int v) {
    const SandTriangleMesh *m = q->mesh;
    SandVec3 d = v3_sub(q->center, m->vertices[v]);
    if (v3_dot(d, d) > q->range * q->range) return;
    for (int i = m->star_start[v]; i < m->star_start[v + 1]; i++) {
        const SandMeshEdge *e = &m->edges[m->star[i]];
        double t = v3_dot(d, e->along);
        if ((e->from == v ? t : -t) > q->slack) return; // the edge comes nearer
    }
    mesh_consider_point(q, d, m->vertex_normals[v], m->vertex_rim[v], (uint32_t)(m->face_count + m->edge_count + v));
}

// A face also answers for the edges and vertices of which it is the lowest face, so that each is asked once.
SAND_HOST_DEVICE void mesh_ask_face(MeshQuery *q, int f) {
    const SandTriangleMesh *m = q->mesh;
    const SandMeshPlane *plane = &m->planes[f];
    double distance = v3_dot(plane->normal, q->center) - plane->offset;
    if (fabs(distance) > q->range) return; // edges and vertices lie in the plane too, so they are as far
    double beyond[3];
    for (int k = 0; k < 3; k++) beyond[k] = v3_dot(plane->away[k], q->center) - plane->border[k];
    double most = fmax(beyond[0], fmax(beyond[1], beyond[2]));
    if (most > 0 && most * most + distance * distance > q->range * q->range) return; // nor is any part of it nearer
    if (most <= q->slack) mesh_consider(q, plane->normal, distance, (uint32_t)f);
    if (most < -q->slack) return; // well inside, no edge and no vertex is nearer than the face

    for (int k = 0; k < 3; k++) {
        bool over = beyond[k] >= -q->slack, over_last = beyond[(k + 2) % 3] >= -q->slack;
        if (over && m->edges[m->face_edges[f][k]].face == f) mesh_ask_edge(q, m->face_edges[f][k]);
        if ((over || over_last) && m->vertex_owner[m->faces[f][k]] == f) mesh_ask_vertex(q, m->faces[f][k]);
    }
}

// The cells from low to high on one axis that the ball's box meets; false where there are none.
SAND_HOST_DEVICE bool mesh_cell_span(double center, double range, double lower, double upper, double cell, int dim, int *low,
                                     int *high) {
    if (!(center + range >= lower && center - range <= upper)) return false;
    double a = (center - range - lower) / cell, b = (center + range - lower) / cell;
    *low = a > 0 ? (int)fmin(a, (double)(dim - 1)) : 0;
    *high = (int)fmin(b, (double)(dim - 1));
    return true;
}

SAND_HOST_DEVICE void mesh_ask_all(MeshQuery *q) {
    const SandTriangleMesh *m = q->mesh;
    int low[3], high[3];
    if (!mesh_cell_span(q->center.x, q->range, m->lower.x, m->upper.x, m->cell, m->dim[0], &low[0], &high[0])) return;
    if (!mesh_cell_span(q->center.y, q->range, m->lower.y, m->upper.y, m->cell, m->dim[1], &low[1], &high[1])) return;
    if (!mesh_cell_span(q->center.z, q->range, m->lower.z, m->upper.z, m->cell, m->dim[2], &low[2], &high[2])) return;
    for (int z = low[2]; z <= high[2]; z++)
        for (int y = low[1]; y <= high[1]; y++)
            for (int x = low[0]; x <= high[0]; x++) {
                int cell = (z * m->dim[1] + y) * m->dim[0] + x;
                // A face in many cells is asked in the first of them that the query visits: on each axis that is the
                // query's first cell or the face's own.
                uint32_t later = (x > low[0] ? 1u : 0) | (y > low[1] ? 2u : 0) | (z > low[2] ? 4u : 0);
                for (int i = m->cell_start[cell]; i < m->cell_start[cell + 1]; i++)
                    if (!(later & ~m->cell_faces[i])) mesh_ask_face(q, (int)(m->cell_faces[i] / 8));
            }
}

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
    mesh_ask_all(&q);
    // What is seen from behind is hidden by something nearer, unless it is itself the nearest: then the center is below
    // the surface. Deeper than its radius a ball is taken to be elsewhere.
    if (q.best < -radius) return 0;
    if (q.best < 0) mesh_put(&q, q.nearest);
    for (int i = 0; i < q.count && i < capacity; i++) touches[i].gap -= radius;
    return q.count;
}
