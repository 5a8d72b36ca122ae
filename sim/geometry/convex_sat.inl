// SPDX-License-Identifier: MIT
// The least translation that separates two polytopes which overlap, exactly: it is along a face normal of one of them, or
// across an edge of each (the separating axis theorem). An edge pair counts only where the arcs that the two edges make on
// the Gauss map cross, since only then is it an edge of the difference of the bodies (Gregorius 2013).
#pragma once
#include "sim/geometry/convex.inl"

// The axis along which two polytopes overlap least.
typedef struct ConvexAxis {
    double distance;                    // m, negative: overlap
    SandVec3 normal;                    // unit, from a to b
    int face_a, face_b, edge_a, edge_b; // which one it is; the others are -1
} ConvexAxis;

SAND_HOST_DEVICE ConvexAxis axis_none(void) {
    ConvexAxis axis = {-INFINITY, {0, 0, 0}, -1, -1, -1, -1};
    return axis;
}

// How far a point is from the plane of face f of a; negative: how deep it is behind it.
SAND_HOST_DEVICE double separation_at(const Convex *a, int f, SandVec3 point) {
    return v3_dot(convex_face_normal(a, f), v3_sub(point, a->center)) - a->scale * a->faces[f].offset;
}

// The same of b, by its deepest corner.
SAND_HOST_DEVICE double face_separation(const Convex *a, const Convex *b, int f) {
    int corner;
    return separation_at(a, f, convex_support(b, v3_neg(convex_face_normal(a, f)), &corner));
}

// A search for the face of a that separates it most from b. On the GPU the lanes of a warp scan the corners, and faces are
// tried in their order as here, so that the result is the same to the bit (cuda/collision/convex_depth.h). No face separates
// by more than its distance from a point of b: faces that are no better than the best by that are not tried. The slack is
// rounding, so that the corner of the last face tried, which depends on the order, takes out only what would lose anyway.
typedef struct FaceSearch {
    const Convex *a, *b;
    SandVec3 near, deepest; // m, points of b in the frame of a: the one farthest back along the way, that of the last face
    double slack;           // m
    double best;
    int face;
} FaceSearch;

// A point of the common frame in that of a.
SAND_HOST_DEVICE SandVec3 point_in_frame(const Convex *a, SandVec3 p) {
    return m3_apply_transposed(a->rotation, v3_sub(p, a->center));
}

// Begins a search. `near` is the corner of b that is farthest back along the way from a to b; only what separates by more
// than `floor` is taken.
SAND_HOST_DEVICE FaceSearch face_search(const Convex *a, const Convex *b, SandVec3 near, double floor) {
    SandVec3 local = point_in_frame(a, near);
    FaceSearch search = {a, b, local, local, 1e-12 * (a->bound + b->bound), floor, -1};
    return search;
}

// What a face separates by at most.
SAND_HOST_DEVICE double face_bound(const FaceSearch *search, int f) {
    const SandFace *face = &search->a->faces[f];
    double near = v3_dot(face->normal, search->near), deepest = v3_dot(face->normal, search->deepest) + search->slack;
    return (near < deepest ? near : deepest) - search->a->scale * face->offset;
}

// Takes a face that separates more than the best. `deepest` is the corner of b that reaches farthest behind it.
SAND_HOST_DEVICE void take_face(FaceSearch *search, int f, SandVec3 deepest) {
    double s = separation_at(search->a, f, deepest);
    search->deepest = point_in_frame(search->a, deepest);
    if (s <= search->best) return;
    search->best = s;
    search->face = f;
}

SAND_HOST_DEVICE void try_face(FaceSearch *search, int f) {
    if (face_bound(search, f) <= search->best) return;
    int corner;
    take_face(search, f, convex_support(search->b, v3_neg(convex_face_normal(search->a, f)), &corner));
}

SAND_HOST_DEVICE int face_along(const Convex *c, SandVec3 local) {
    int best = 0;
    for (int f = 1; f < c->face_count; f++)
        if (v3_dot(local, c->faces[f].normal) > v3_dot(local, c->faces[best].normal)) best = f;
    return best;
}

// The face of a that separates the two most, and by more than `floor`; -1: none does. `way` points from a to b: the face
// that faces along it comes first, so that most others are not worth a look at the corners of b.
SAND_HOST_DEVICE_NOINLINE double best_face(const Convex *a, const Convex *b, SandVec3 way, double floor, int *face) {
    int corner;
    FaceSearch search = face_search(a, b, convex_support(b, v3_neg(way), &corner), floor);
    if (a->face_count) try_face(&search, face_along(a, m3_apply_transposed(a->rotation, way)));
    for (int f = 0; f < a->face_count; f++) try_face(&search, f);
    *face = search.face;
    return search.best;
}

// The axis of the better one of two faces: of b, where it has one that is better than that of a.
SAND_HOST_DEVICE ConvexAxis face_axis(const Convex *a, const Convex *b, int of_a, double on_a, int of_b, double on_b) {
    ConvexAxis axis = axis_none();
    if (of_b >= 0) {
        axis.distance = on_b;
        axis.normal = v3_neg(convex_face_normal(b, of_b));
        axis.face_b = of_b;
    } else if (of_a >= 0) {
        axis.distance = on_a;
        axis.normal = convex_face_normal(a, of_a);
        axis.face_a = of_a;
    }
    return axis;
}

SAND_HOST_DEVICE ConvexAxis best_face_axis(const Convex *a, const Convex *b, SandVec3 way) {
    int of_a, of_b;
    double on_a = best_face(a, b, way, -INFINITY, &of_a), on_b = best_face(b, a, v3_neg(way), on_a, &of_b);
    return face_axis(a, b, of_a, on_a, of_b, on_b);
}

enum { EDGE_WORDS = (SAND_MAX_EDGES + 31) / 32 };

// Whether both ends of an edge of a, in the frame of b, are beyond some face of b by more than `depth`.
SAND_HOST_DEVICE bool edge_is_off(const Convex *b, SandVec3 from, SandVec3 to, double depth) {
    for (int f = 0; f < b->face_count; f++) {
        double beyond = b->scale * b->faces[f].offset + depth;
        if (v3_dot(b->faces[f].normal, from) > beyond && v3_dot(b->faces[f].normal, to) > beyond) return true;
    }
    return false;
}

// A search for the edges of a that come within `depth` of b; others are no part of a shallower translation. An edge is off
// where it is beyond a plane that b is behind: the one across n, which points to b, first, and then those of its faces.
typedef struct EdgeSearch {
    const Convex *a, *b;
    double depth;
    SandVec3 along; // n in the frame of a, scaled
    double least;   // m, along n from the center of a: what is below is off
} EdgeSearch;

// `near` is the corner of b that is farthest back along n.
SAND_HOST_DEVICE EdgeSearch edge_search(const Convex *a, const Convex *b, SandVec3 n, SandVec3 near, double depth) {
    EdgeSearch search = {a, b, depth, v3_scale(a->scale, m3_apply_transposed(a->rotation, n)), 0};
    search.least = v3_dot(n, v3_sub(near, a->center)) - depth;
    return search;
}

SAND_HOST_DEVICE bool corner_is_beyond(const EdgeSearch *search, int k) {
    return !(v3_dot(search->along, search->a->corners[k]) < search->least);
}

// Whether an edge of which a corner is beyond comes near.
SAND_HOST_DEVICE bool edge_is_near(const EdgeSearch *search, int e) {
    const Convex *a = search->a, *b = search->b;
    int p = a->edges[e].from, q = a->edges[e].to;
    SandVec3 from = m3_apply_transposed(b->rotation, v3_sub(convex_corner(a, p), b->center));
    SandVec3 to = m3_apply_transposed(b->rotation, v3_sub(convex_corner(a, q), b->center));
    return !edge_is_off(b, from, to, search->depth);
}

// Marks the edges of a that come near b.
SAND_HOST_DEVICE_NOINLINE void near_edges(const Convex *a, const Convex *b, SandVec3 n, double depth, uint32_t *near) {
    int corner;
    EdgeSearch search = edge_search(a, b, n, convex_support(b, v3_neg(n), &corner), depth);
    uint64_t beyond = 0;
    for (int k = 0; k < a->corner_count; k++) beyond |= (uint64_t)corner_is_beyond(&search, k) << k;
    for (int k = 0; k < EDGE_WORDS; k++) near[k] = 0;
    for (int e = 0; e < a->edge_count; e++) {
        if (!((beyond >> a->edges[e].from | beyond >> a->edges[e].to) & 1)) continue;
        if (edge_is_near(&search, e)) near[e / 32] |= 1u << (e % 32);
    }
}

// An edge as the pair test needs it: a point, its direction, and the normals of its two faces.
typedef struct GaussEdge {
    SandVec3 from, along, left, right;
    bool bare; // a segment, which has no faces
} GaussEdge;

// Edge e of a body in its own frame, scaled.
SAND_HOST_DEVICE GaussEdge gauss_edge(const Convex *c, int e) {
    GaussEdge g;
    SandEdge edge = c->edges[e];
    g.from = v3_scale(c->scale, c->corners[edge.from]);
    g.along = v3_scale(c->scale, v3_sub(c->corners[edge.to], c->corners[edge.from]));
    g.bare = c->face_count == 0;
    g.left = g.bare ? v3_make(0, 0, 0) : c->faces[edge.left].normal;
    g.right = g.bare ? v3_make(0, 0, 0) : c->faces[edge.right].normal;
    return g;
}

// Edge e of a in the frame of b.
SAND_HOST_DEVICE GaussEdge gauss_edge_in(const Convex *a, int e, const Convex *b) {
    GaussEdge g = gauss_edge(a, e);
    SandVec3 from = v3_add(a->center, m3_apply(a->rotation, g.from));
    g.from = m3_apply_transposed(b->rotation, v3_sub(from, b->center));
    g.along = m3_apply_transposed(b->rotation, m3_apply(a->rotation, g.along));
    g.left = m3_apply_transposed(b->rotation, m3_apply(a->rotation, g.left));
    g.right = m3_apply_transposed(b->rotation, m3_apply(a->rotation, g.right));
    return g;
}

// Whether the arcs of two edges cross, those of b seen from the other side. The arc of a segment is a whole circle.
SAND_HOST_DEVICE bool arcs_cross(const GaussEdge *a, const GaussEdge *b) {
    double left_b = v3_dot(b->left, a->along), right_b = v3_dot(b->right, a->along);
    double left_a = -v3_dot(a->left, b->along), right_a = -v3_dot(a->right, b->along);
    if (!b->bare && !(left_b * right_b < 0)) return false;
    if (!a->bare && !(left_a * right_a < 0)) return false;
    return a->bare || b->bare || left_b * right_a > 0;
}

// The axis across two edges, from a, whose center is given, to b, whose center is the origin. False where they are parallel:
// then a face has it.
SAND_HOST_DEVICE bool edge_axis(SandVec3 center, const GaussEdge *p, const GaussEdge *q, ConvexAxis *axis) {
    SandVec3 n = v3_cross(p->along, q->along);
    double nn = v3_dot(n, n);
    if (!(nn > 1e-12 * v3_dot(p->along, p->along) * v3_dot(q->along, q->along))) return false;
    n = v3_scale(1 / sqrt(nn), n);
    SandVec3 across = v3_sub(q->from, p->from);
    double outward = v3_dot(n, v3_sub(v3_sub(p->from, center), q->from));
    if (p->bare && q->bare) outward = v3_dot(n, across);
    if (outward < 0) n = v3_neg(n);
    axis->normal = n;
    axis->distance = v3_dot(n, across);
    return true;
}

// Turns an axis across two edges into the common frame. Nearly parallel edges have an uncertain normal: what it separates is
// what counts.
SAND_HOST_DEVICE void axis_measure(const Convex *a, const Convex *b, ConvexAxis *axis) {
    axis->normal = m3_apply(b->rotation, axis->normal);
    axis->distance = convex_separation(a, b, axis->normal);
}

// How deep edges may be to be part of a translation that is no longer than that along the axis.
SAND_HOST_DEVICE double edge_depth(const Convex *a, const Convex *b, const ConvexAxis *axis) {
    return fmax(-axis->distance, 0.) + 1e-9 * (a->bound + b->bound);
}

// Improves the axis by the edge pairs of two polytopes that overlap by -axis->distance along it. Pairs are tested in the
// frame of b, so that its edges need not be turned for each of them.
SAND_HOST_DEVICE_NOINLINE void improve_by_edges(const Convex *a, const Convex *b, ConvexAxis *axis) {
    uint32_t near_a[EDGE_WORDS], near_b[EDGE_WORDS];
    double depth = edge_depth(a, b, axis);
    near_edges(a, b, axis->normal, depth, near_a);
    near_edges(b, a, v3_neg(axis->normal), depth, near_b);
    SandVec3 center = m3_apply_transposed(b->rotation, v3_sub(a->center, b->center));
    for (int i = 0; i < a->edge_count; i++) {
        if (!(near_a[i / 32] >> (i % 32) & 1)) continue;
        GaussEdge p = gauss_edge_in(a, i, b);
        for (int k = 0; k < b->edge_count; k++) {
            if (!(near_b[k / 32] >> (k % 32) & 1)) continue;
            GaussEdge q = gauss_edge(b, k);
            ConvexAxis found = {0, {0, 0, 0}, -1, -1, i, k};
            if (!arcs_cross(&p, &q) || !edge_axis(center, &p, &q, &found) || found.distance <= axis->distance) continue;
            axis_measure(a, b, &found);
            if (found.distance > axis->distance) *axis = found;
        }
    }
}
