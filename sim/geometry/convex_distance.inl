// SPDX-License-Identifier: MIT
// Signed distance of two convex bodies, one source for CPU and GPU: by GJK while their cores are apart, by the separating
// axis theorem where polytopes overlap, by the expanding polytope algorithm where one of them is a cylinder. Start at
// convex_distance.
#pragma once
#include "sim/geometry/convex_epa.inl"
#include "sim/geometry/convex_sat.inl"

// A direction across a segment or from a point, for cores that lie in each other and have no face.
SAND_HOST_DEVICE SandVec3 convex_any_normal(const Convex *a, const Convex *b) {
    const Convex *c = a->edge_count ? a : b;
    if (!c->edge_count) return v3_make(0, 0, 1);
    SandVec3 along = v3_sub(convex_corner(c, c->edges[0].to), convex_corner(c, c->edges[0].from));
    return v3_perpendicular(v3_unit_or(along, v3_make(0, 0, 1)));
}

// Fills the points where two polytopes touch once they are moved apart along an axis. Where that is not across two edges,
// on_a and on_b and their numbers are given as the farthest corners along it.
SAND_HOST_DEVICE void axis_witness(const Convex *a, const Convex *b, const ConvexAxis *axis, ConvexGap *gap) {
    gap->count_a = gap->count_b = 1;
    if (axis->face_a >= 0) gap->on_a = v3_madd(gap->on_b, -gap->distance, axis->normal);
    if (axis->face_b >= 0) gap->on_b = v3_madd(gap->on_a, gap->distance, axis->normal);
    if (axis->edge_a < 0) return;
    SandEdge p = a->edges[axis->edge_a], q = b->edges[axis->edge_b];
    gap->corner_a[0] = p.from;
    gap->corner_a[1] = p.to;
    gap->corner_b[0] = q.from;
    gap->corner_b[1] = q.to;
    gap->count_a = gap->count_b = 2;
    // The closest points of the two lines.
    SandVec3 from = convex_corner(a, p.from), along = v3_sub(convex_corner(a, p.to), from);
    SandVec3 start = convex_corner(b, q.from), other = v3_sub(convex_corner(b, q.to), start);
    SandVec3 across = v3_cross(other, axis->normal);
    double t = v3_dot(v3_sub(start, from), across) / v3_dot(along, across);
    gap->on_a = v3_madd(from, fmin(fmax(t, 0.), 1.), along);
    gap->on_b = v3_madd(gap->on_a, gap->distance, axis->normal);
}

// A direction from the middle of a to that of b.
SAND_HOST_DEVICE SandVec3 convex_way(const Convex *a, const Convex *b) {
    return v3_unit_or(v3_sub(b->center, a->center), v3_make(1, 0, 0));
}

// Whether GJK left a direction in gap->normal.
SAND_HOST_DEVICE bool gap_has_normal(const ConvexGap *gap) { return v3_dot(gap->normal, gap->normal) > 0.5; }

// Where to look first for the face that separates two cores most.
SAND_HOST_DEVICE SandVec3 sat_way(const Convex *a, const Convex *b, const ConvexGap *gap) {
    return gap_has_normal(gap) ? gap->normal : convex_way(a, b);
}

// Whether there is any axis at all: segments and points that lie in each other have neither faces nor edges that cross.
SAND_HOST_DEVICE bool axis_found(const ConvexAxis *axis) {
    return axis->face_a >= 0 || axis->face_b >= 0 || axis->edge_a >= 0;
}

// Takes the direction that GJK left, which separates by `known`, where that is better: of cores that just touch, as from a
// corner to a corner, it may be.
SAND_HOST_DEVICE void axis_improve(ConvexAxis *axis, const ConvexGap *gap, double known) {
    if (!gap_has_normal(gap) || !(known > axis->distance)) return;
    *axis = axis_none();
    axis->distance = known;
    axis->normal = gap->normal;
}

// The depth of two polytopes, segments or points whose cores overlap, or only touch: then GJK has the closest points.
SAND_HOST_DEVICE_NOINLINE void convex_sat(const Convex *a, const Convex *b, bool touching, ConvexGap *gap) {
    ConvexAxis axis = best_face_axis(a, b, sat_way(a, b, gap));
    improve_by_edges(a, b, &axis);
    if (!axis_found(&axis)) {
        axis.normal = convex_any_normal(a, b);
        axis.distance = convex_separation(a, b, axis.normal);
    }
    axis_improve(&axis, gap, convex_separation(a, b, gap->normal));
    gap->distance = axis.distance;
    gap->normal = axis.normal;
    if (touching) return;
    if (axis.edge_a < 0) {
        gap->on_a = convex_support(a, axis.normal, &gap->corner_a[0]);
        gap->on_b = convex_support(b, v3_neg(axis.normal), &gap->corner_b[0]);
    }
    axis_witness(a, b, &axis, gap);
}

// Takes a direction where it separates the cores more.
SAND_HOST_DEVICE void gap_improve(const Convex *a, const Convex *b, SandVec3 n, ConvexGap *gap) {
    double distance = convex_separation(a, b, n);
    if (distance <= gap->distance) return;
    gap->distance = distance;
    gap->normal = n;
}

// Tries the flat features of a body that face along the normal, and the side of a cylinder, which the expanding polytope
// only comes close to: about a common axis every direction is as good, and it spends its points on all of them.
SAND_HOST_DEVICE void gap_snap(const Convex *a, const Convex *b, const Convex *of, ConvexGap *gap) {
    double sign = of == a ? 1 : -1;
    if (of->corner_count == 0) {
        double up = v3_dot(convex_axis(of), gap->normal);
        SandVec3 across = v3_madd(gap->normal, -up, convex_axis(of));
        gap_improve(a, b, v3_scale(up < 0 ? -1 : 1, convex_axis(of)), gap);
        gap_improve(a, b, v3_unit_or(across, gap->normal), gap);
    }
    for (int f = 0; f < of->face_count; f++) {
        SandVec3 n = v3_scale(sign, convex_face_normal(of, f));
        if (v3_dot(n, gap->normal) > 0.999) gap_improve(a, b, n, gap);
    }
}

// The depth where one core is a cylinder.
SAND_HOST_DEVICE_NOINLINE void convex_depth_of_cylinder(const Convex *a, const Convex *b, ConvexGap *gap) {
    if (!convex_epa(a, b, gap)) {
        SandVec3 way = v3_unit_or(v3_sub(b->center, a->center), v3_make(0, 0, 1));
        gap->normal = gap_has_normal(gap) ? gap->normal : way;
        gap->distance = convex_separation(a, b, gap->normal);
    }
    gap_snap(a, b, a, gap);
    gap_snap(a, b, b, gap);
}

// Whether two cores are farther apart than `far` along the line between their centers, as most pairs near each other in a
// pile are.
SAND_HOST_DEVICE bool convex_far_apart(const Convex *a, const Convex *b, double far) {
    return convex_separation(a, b, convex_way(a, b)) > far;
}

SAND_HOST_DEVICE bool convex_has_cylinder(const Convex *a, const Convex *b) {
    return a->corner_count == 0 || b->corner_count == 0;
}

// Fills the signed distance of two cores. Where they are farther apart than `far` (m), distance and normal are those of some
// plane between them that is farther than `far` from both, and the points are not filled.
SAND_HOST_DEVICE_NOINLINE void convex_distance(const Convex *a, const Convex *b, double far, ConvexGap *gap) {
    bool touching;
    if (convex_gjk(a, b, convex_way(a, b), far, gap, &touching)) return;
    if (convex_has_cylinder(a, b))
        convex_depth_of_cylinder(a, b, gap);
    else
        convex_sat(a, b, touching, gap);
}
