// SPDX-License-Identifier: MIT
// Where two convex bodies touch: up to four points with a common normal, each with its own gap and with the features that
// meet there; one source for CPU and GPU. Start at convex_manifold.
//
// Where a face of one body is the nearest feature, or as good as that, its normal is taken and the facing feature of the
// other is seen along it: the patch in which the two overlap has corners of either, and crossings of their edges. Else two
// edges, or a corner and something, touch in a point; nearly parallel edges touch in two.
//
//        +-----------+            o  corner of one that the other covers
//        |  A    +---x----+       x  crossing of two edges
//        |       |   |    |
//        +-------x---o    |       the patch is the quadrangle of these four
//                |     B  |
//                +--------+
#pragma once
#include "sim/geometry/convex_distance.inl"

enum { PATCH_POINTS = 48, FEATURE_POINTS = 64 };

// What of a body touches in a point: kind << 8 | number.
enum { FEATURE_CORNER = 1 << 8, FEATURE_EDGE = 2 << 8, FEATURE_FACE = 3 << 8, FEATURE_RIM = 4 << 8 };

// --- features ---------------------------------------------------------------------------------------------

// A point, a segment or a polygon of a body, the last with its plane; counter-clockwise seen from outside.
typedef struct Feature {
    int count;
    SandVec3 p[FEATURE_POINTS];
    uint16_t corner[FEATURE_POINTS], side[FEATURE_POINTS], face; // names for contact keys; side k starts at corner k
    SandVec3 normal;                                             // outward, of a polygon
} Feature;

SAND_HOST_DEVICE void feature_face(const Convex *c, int f, Feature *to) {
    const SandFace *face = &c->faces[f];
    to->count = face->count;
    to->normal = convex_face_normal(c, f);
    to->face = (uint16_t)(FEATURE_FACE | f);
    for (int k = 0; k < face->count; k++) {
        int corner = c->loop[face->first + k];
        to->p[k] = convex_corner(c, corner);
        to->corner[k] = (uint16_t)(FEATURE_CORNER | corner);
        to->side[k] = (uint16_t)(FEATURE_EDGE | c->sides[face->first + k]);
    }
}

SAND_HOST_DEVICE void feature_segment(const Convex *c, int from, int to_corner, Feature *to) {
    int low = from < to_corner ? from : to_corner, high = from < to_corner ? to_corner : from;
    to->count = 2;
    to->p[0] = convex_corner(c, low);
    to->p[1] = convex_corner(c, high);
    to->corner[0] = (uint16_t)(FEATURE_CORNER | low);
    to->corner[1] = (uint16_t)(FEATURE_CORNER | high);
    to->side[0] = to->side[1] = to->face = (uint16_t)(FEATURE_EDGE | ((low * 37 + high) & 255));
}

enum { CAP_CORNERS = 16 };

// The cap of a cylinder, upper or lower, as a polygon. One corner is where it reaches farthest along `d` (local); on a level
// cap that is noise, and the corners stay where they are in the body.
SAND_HOST_DEVICE void feature_cap(const Convex *c, SandVec3 d, Feature *to) {
    // cosines and sines of k / 16 of a turn
    const double turn[5] = {1, 0.92387953251128675613, 0.70710678118654752440, 0.38268343236508977173, 0};
    double across = sqrt(d.x * d.x + d.y * d.y), up = d.z < 0 ? -1 : 1;
    SandVec3 x = across > 1e-3 ? cylinder_radial(d) : v3_make(1, 0, 0);
    to->count = CAP_CORNERS;
    to->normal = v3_scale(up, convex_axis(c));
    to->face = (uint16_t)(FEATURE_FACE | (up > 0));
    for (int k = 0; k < CAP_CORNERS; k++) {
        int quarter = k / 4, part = k % 4;
        double cosine = turn[part], sine = turn[4 - part];
        double along = quarter == 0 ? cosine : quarter == 1 ? -sine : quarter == 2 ? -cosine : sine;
        double beside = up * (quarter == 0 ? sine : quarter == 1 ? cosine : quarter == 2 ? -sine : -cosine);
        SandVec3 p = v3_make(c->rim * (along * x.x - beside * x.y), c->rim * (along * x.y + beside * x.x), up * c->half);
        to->p[k] = v3_add(c->center, m3_apply(c->rotation, p));
        to->corner[k] = (uint16_t)(FEATURE_RIM | (up > 0 ? 0 : 32) | k);
        to->side[k] = (uint16_t)(FEATURE_RIM | (up > 0 ? 0 : 32) | 16 | k);
    }
}

// The line on the side of a cylinder that faces along `d` (local).
SAND_HOST_DEVICE void feature_side(const Convex *c, SandVec3 d, Feature *to) {
    SandVec3 p = v3_scale(c->rim, cylinder_radial(d));
    to->count = 2;
    for (int k = 0; k < 2; k++) {
        p.z = k ? c->half : -c->half;
        to->p[k] = v3_add(c->center, m3_apply(c->rotation, p));
        to->corner[k] = (uint16_t)(FEATURE_RIM | 64 | k);
        to->side[k] = (uint16_t)(FEATURE_RIM | 66);
    }
    to->face = (uint16_t)(FEATURE_RIM | 66);
}

// Returns the face that faces most along `d`, and how much: the cosine of the angle.
SAND_HOST_DEVICE int facing_face(const Convex *c, SandVec3 d, double *cosine) {
    SandVec3 local = m3_apply_transposed(c->rotation, d);
    int best = -1;
    *cosine = -2;
    for (int f = 0; f < c->face_count; f++) {
        double along = v3_dot(local, c->faces[f].normal);
        if (along <= *cosine) continue;
        *cosine = along;
        best = f;
    }
    return best;
}

// The same among the faces at the corner that is farthest along `d`: a patch must have that corner.
SAND_HOST_DEVICE int face_at_support(const Convex *c, SandVec3 d, double *cosine) {
    SandVec3 local = m3_apply_transposed(c->rotation, d);
    int best = -1, corner;
    convex_support(c, d, &corner);
    *cosine = -2;
    for (int e = 0; e < c->edge_count; e++) {
        if (c->edges[e].from != corner && c->edges[e].to != corner) continue;
        for (int side = 0; side < 2; side++) {
            int f = side ? c->edges[e].right : c->edges[e].left;
            double along = v3_dot(local, c->faces[f].normal);
            if (along < *cosine || (along == *cosine && f >= best)) continue;
            *cosine = along;
            best = f;
        }
    }
    return best;
}

// The feature of a body that faces along `d`, for clipping against a face of the other.
SAND_HOST_DEVICE void feature_facing(const Convex *c, SandVec3 d, Feature *to) {
    double cosine;
    to->count = 0;
    if (c->corner_count == 0) {
        SandVec3 local = m3_apply_transposed(c->rotation, d);
        if (fabs(local.z) > 0.3)
            feature_cap(c, local, to);
        else
            feature_side(c, local, to);
    } else if (c->face_count == 0) {
        if (c->corner_count == 2) feature_segment(c, 0, 1, to);
        if (c->corner_count != 1) return;
        to->count = 1;
        to->p[0] = convex_corner(c, 0);
        to->corner[0] = FEATURE_CORNER;
    } else {
        int face = face_at_support(c, d, &cosine);
        if (cosine > 0.1) feature_face(c, face, to); // a needle's tip has no such face
    }
}

// --- the patch --------------------------------------------------------------------------------------------

typedef struct Patch {
    const Convex *a, *b;
    SandVec3 normal;
    double reach, near; // m, points of a larger gap are dropped; points this near to each other are one
    int count;
    ManifoldPoint point[PATCH_POINTS];
} Patch;

// Adds a point of the core of a that is `apart` (m) from the core of b along the normal.
SAND_HOST_DEVICE void patch_add(Patch *patch, SandVec3 on_a, double apart, uint16_t of_a, uint16_t of_b) {
    double gap = apart - patch->a->radius - patch->b->radius;
    if (gap > patch->reach || patch->count >= PATCH_POINTS) return;
    ManifoldPoint p = {v3_madd(on_a, patch->a->radius + 0.5 * gap, patch->normal), gap, of_a, of_b};
    for (int k = 0; k < patch->count; k++) {
        SandVec3 d = v3_sub(patch->point[k].point, p.point);
        d = v3_madd(d, -v3_dot(d, patch->normal), patch->normal);
        if (!(v3_dot(d, d) < patch->near * patch->near)) continue;
        if (gap < patch->point[k].gap - patch->near) patch->point[k] = p;
        return;
    }
    patch->point[patch->count++] = p;
}

// Whether a point is within a polygon, seen along n; `sign` is 1 where the polygon is counter-clockwise about n.
SAND_HOST_DEVICE bool feature_covers(const Feature *f, SandVec3 n, double sign, SandVec3 x, double slack) {
    if (f->count < 3) return false;
    for (int k = 0; k < f->count; k++) {
        SandVec3 p = f->p[k], e = v3_sub(f->p[k + 1 < f->count ? k + 1 : 0], p);
        SandVec3 inward = v3_scale(sign, v3_cross(n, e));
        if (v3_dot(inward, v3_sub(x, p)) < -slack * v3_length(inward)) return false;
    }
    return true;
}

// How far a point is below the plane of a polygon, along n.
SAND_HOST_DEVICE double feature_height(const Feature *f, SandVec3 n, SandVec3 x) {
    return v3_dot(f->normal, v3_sub(f->p[0], x)) / v3_dot(f->normal, n);
}

SAND_HOST_DEVICE void patch_corners(Patch *patch, const Feature *f, const Feature *g) {
    SandVec3 n = patch->normal;
    double slack = 0.25 * patch->near;
    for (int k = 0; k < f->count; k++)
        if (feature_covers(g, n, -1, f->p[k], slack))
            patch_add(patch, f->p[k], feature_height(g, n, f->p[k]), f->corner[k], g->face);
    for (int k = 0; k < g->count; k++)
        if (feature_covers(f, n, 1, g->p[k], slack)) {
            double apart = -feature_height(f, n, g->p[k]);
            patch_add(patch, v3_madd(g->p[k], -apart, n), apart, f->face, g->corner[k]);
        }
}

// The number of sides: a segment has one.
SAND_HOST_DEVICE int feature_sides(const Feature *f) { return f->count > 2 ? f->count : f->count - 1; }

// Where the sides of two features cross, seen along the normal.
SAND_HOST_DEVICE void patch_crossings(Patch *patch, const Feature *f, const Feature *g) {
    for (int i = 0; i < feature_sides(f); i++) {
        SandVec3 p = f->p[i], e = v3_sub(f->p[i + 1 < f->count ? i + 1 : 0], p);
        SandVec3 across = v3_cross(patch->normal, e);
        for (int k = 0; k < feature_sides(g); k++) {
            SandVec3 q = g->p[k], d = v3_sub(g->p[k + 1 < g->count ? k + 1 : 0], q);
            double from = v3_dot(across, v3_sub(q, p)), to = from + v3_dot(across, d);
            if (!((from < 0) != (to < 0))) continue;
            double t = from / (from - to);
            SandVec3 on_b = v3_madd(q, t, d);
            SandVec3 along = v3_sub(e, v3_scale(v3_dot(e, patch->normal), patch->normal));
            double s = v3_dot(along, v3_sub(on_b, p)) / v3_dot(along, along);
            if (!(s >= 0 && s <= 1)) continue;
            SandVec3 on_a = v3_madd(p, s, e);
            patch_add(patch, on_a, v3_dot(patch->normal, v3_sub(on_b, on_a)), f->side[i], g->side[k]);
        }
    }
}

// Two segments that are nearly parallel touch where they overlap, at its two ends. False where they are not, or do not
// overlap.
SAND_HOST_DEVICE bool patch_parallel(Patch *patch, const Feature *f, const Feature *g) {
    SandVec3 e = v3_sub(f->p[1], f->p[0]), d = v3_sub(g->p[1], g->p[0]), c = v3_cross(e, d);
    double ee = v3_dot(e, e);
    if (!(v3_dot(c, c) < 0.0025 * ee * v3_dot(d, d))) return false; // 3 degrees
    double start = v3_dot(e, v3_sub(g->p[0], f->p[0])) / ee, end = v3_dot(e, v3_sub(g->p[1], f->p[0])) / ee;
    if (!(fmin(fmax(start, end), 1.) > fmax(fmin(start, end), 0.))) return false; // one behind the other
    for (int k = 0; k < 2; k++) { // the lower end of the overlap, then the upper one
        double of_b = k ? fmax(start, end) : fmin(start, end), of_a = k, t = k ? fmin(of_b, 1.) : fmax(of_b, 0.);
        SandVec3 on_a = v3_madd(f->p[0], t, e);
        SandVec3 on_b = v3_madd(g->p[0], fmin(fmax((t - start) / (end - start), 0.), 1.), d);
        int its = (end > start) == (k == 1);
        bool corner_of_a = t == of_a;
        patch_add(patch, on_a, v3_dot(patch->normal, v3_sub(on_b, on_a)), corner_of_a ? f->corner[k] : f->face,
                  corner_of_a ? g->face : g->corner[its]);
    }
    return true;
}

// --- four of them -----------------------------------------------------------------------------------------

// Whether all points have about the same gap: the nearest one is noise then, and would change from step to step.
SAND_HOST_DEVICE bool patch_is_level(const Patch *patch) {
    double least = INFINITY, most = -INFINITY;
    for (int k = 0; k < patch->count; k++) {
        least = fmin(least, patch->point[k].gap);
        most = fmax(most, patch->point[k].gap);
    }
    return most - least < patch->near;
}

SAND_HOST_DEVICE int patch_nearest(const Patch *patch) {
    int best = 0;
    for (int k = 1; k < patch->count; k++)
        if (patch->point[k].gap < patch->point[best].gap) best = k;
    return best;
}

SAND_HOST_DEVICE int patch_extreme(const Patch *patch, SandVec3 way) {
    int best = 0;
    double most = -INFINITY;
    for (int k = 0; k < patch->count; k++) {
        double along = v3_dot(way, patch->point[k].point);
        if (along <= most) continue;
        most = along;
        best = k;
    }
    return best;
}

// The points that are farthest along `way`, against it and to both sides. Patches are often symmetric, as the octagon in
// which two squares meet: so is this choice, and it loads both halves alike. False where two of the four are the same.
SAND_HOST_DEVICE bool patch_extremes(const Patch *patch, SandVec3 way, int *chosen) {
    SandVec3 side = v3_cross(patch->normal, way);
    chosen[0] = patch_extreme(patch, way);
    chosen[1] = patch_extreme(patch, v3_neg(way));
    chosen[2] = patch_extreme(patch, side);
    chosen[3] = patch_extreme(patch, v3_neg(side));
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < i; k++)
            if (chosen[i] == chosen[k]) return false;
    return true;
}

SAND_HOST_DEVICE int patch_farthest(const Patch *patch, SandVec3 from) {
    int best = 0;
    double most = -1;
    for (int k = 0; k < patch->count; k++) {
        SandVec3 d = v3_sub(patch->point[k].point, from);
        double away = v3_dot(d, d);
        if (away <= most) continue;
        most = away;
        best = k;
    }
    return best;
}

// The point that is farthest to the left (sign 1) or right (-1) of a line, or -1.
SAND_HOST_DEVICE int patch_beside(const Patch *patch, SandVec3 from, SandVec3 to, double sign) {
    SandVec3 across = v3_scale(sign, v3_cross(patch->normal, v3_sub(to, from)));
    double most = patch->near * v3_length(across);
    int best = -1;
    for (int k = 0; k < patch->count; k++) {
        double away = v3_dot(across, v3_sub(patch->point[k].point, from));
        if (away <= most) continue;
        most = away;
        best = k;
    }
    return best;
}

// A point, the one that is farthest from it, and one on each side of the line between them, if there are any (-1).
SAND_HOST_DEVICE void patch_span(const Patch *patch, int first, int *chosen) {
    SandVec3 from = patch->point[first].point;
    chosen[0] = first;
    chosen[1] = patch_farthest(patch, from);
    chosen[2] = patch_beside(patch, from, patch->point[chosen[1]].point, 1);
    chosen[3] = patch_beside(patch, from, patch->point[chosen[1]].point, -1);
}

// Takes at most four points that span the patch; `way` is a direction that moves with the body.
SAND_HOST_DEVICE void patch_choose(const Patch *patch, SandVec3 way, Manifold *to) {
    int chosen[MANIFOLD_POINTS] = {0, 1, 2, 3};
    to->normal = patch->normal;
    to->count = 0;
    if (patch->count > MANIFOLD_POINTS) {
        bool level = patch_is_level(patch);
        if (!level || !patch_extremes(patch, way, chosen))
            patch_span(patch, level ? patch_extreme(patch, way) : patch_nearest(patch), chosen);
    }
    for (int k = 0; k < MANIFOLD_POINTS; k++)
        if (chosen[k] >= 0 && chosen[k] < patch->count) to->point[to->count++] = patch->point[chosen[k]];
}

// --- the manifold -----------------------------------------------------------------------------------------

#define SAND_FACE_PREFERENCE 1e-3 // of the smaller body: a face that is worse by less is taken, for its four points

// How far the face of `c` that faces along `d` separates the two; -INFINITY where it has none.
SAND_HOST_DEVICE double facing_separation(const Convex *c, const Convex *other, SandVec3 d, int *face) {
    double cosine;
    *face = -1;
    if (c->corner_count == 0) {
        SandVec3 axis = convex_axis(c);
        double up = v3_dot(axis, d);
        return fabs(up) < 0.9 ? -INFINITY : convex_separation(c, other, v3_scale(up < 0 ? -1 : 1, axis));
    }
    *face = facing_face(c, d, &cosine);
    return *face < 0 || cosine < 0.9 ? -INFINITY : face_separation(c, other, *face);
}

SAND_HOST_DEVICE void reference_feature(const Convex *c, SandVec3 d, int face, Feature *to) {
    if (face >= 0)
        feature_face(c, face, to);
    else
        feature_cap(c, v3_make(0, 0, v3_dot(convex_axis(c), d)), to);
}

// A name for the feature of a body in which the closest point lies.
SAND_HOST_DEVICE uint16_t witness_name(const int *corner, int count) {
    if (corner[0] < 0) return FEATURE_RIM | 80;
    if (count == 1) return (uint16_t)(FEATURE_CORNER | corner[0]);
    int low = corner[0] < corner[1] ? corner[0] : corner[1], high = corner[0] < corner[1] ? corner[1] : corner[0];
    return (uint16_t)(count == 2 ? FEATURE_EDGE | ((low * 37 + high) & 255) : FEATURE_FACE);
}

// Adds the closest points where the patch has none that is as near: `apart` is the distance along the normal.
SAND_HOST_DEVICE void patch_witness(Patch *patch, const ConvexGap *gap, double apart) {
    double least = INFINITY;
    for (int k = 0; k < patch->count; k++) least = fmin(least, patch->point[k].gap);
    if (least <= apart - patch->a->radius - patch->b->radius + patch->near) return;
    SandVec3 middle = v3_scale(0.5, v3_add(gap->on_a, gap->on_b));
    patch_add(patch, v3_madd(middle, -0.5 * apart, patch->normal), apart, witness_name(gap->corner_a, gap->count_a),
              witness_name(gap->corner_b, gap->count_b));
}

// The edge in which a body touches, where it is one: that of the closest point, or the side of a cylinder.
SAND_HOST_DEVICE void touching_edge(const Convex *c, const int *corner, int count, SandVec3 d, Feature *to) {
    to->count = 0;
    if (c->corner_count == 0) {
        SandVec3 local = m3_apply_transposed(c->rotation, d);
        if (fabs(local.z) < 0.05) feature_side(c, local, to);
    } else if (c->corner_count == 2) {
        feature_segment(c, 0, 1, to);
    } else if (count == 2) {
        feature_segment(c, corner[0], corner[1], to);
    }
}

// Fills the patch of a face, of b or of a, and what of the other faces it; its normal becomes that of the patch. Returns a
// direction that moves with the face.
SAND_HOST_DEVICE SandVec3 patch_on_face(Patch *patch, bool of_b, int face, Feature *f, Feature *g) {
    const Convex *reference = of_b ? patch->b : patch->a, *other = of_b ? patch->a : patch->b;
    Feature *flat = of_b ? g : f, *facing = of_b ? f : g;
    reference_feature(reference, of_b ? v3_neg(patch->normal) : patch->normal, face, flat);
    patch->normal = of_b ? v3_neg(flat->normal) : flat->normal;
    feature_facing(other, v3_neg(flat->normal), facing);
    patch_corners(patch, f, g);
    patch_crossings(patch, f, g);
    SandVec3 along = v3_sub(flat->p[1], flat->p[0]);
    return v3_madd(along, 0.13, v3_cross(flat->normal, along)); // askew, so that no side of a box lies across it
}

// Fills the points in which a body touches a face of b, whatever else of b may be nearer.
SAND_HOST_DEVICE_NOINLINE void convex_manifold_on_face(const Convex *a, const Convex *b, int face, double reach,
                                                       Manifold *to) {
    Feature f, g;
    Patch patch = {
        .a = a, .b = b, .normal = {0, 0, 0}, .reach = reach, .near = SAND_FACE_PREFERENCE * (a->bound + a->radius)};
    patch.normal = v3_neg(convex_face_normal(b, face));
    SandVec3 way = patch_on_face(&patch, true, face, &f, &g);
    patch_choose(&patch, way, to);
}

// Whether two bodies, whose cores are this far apart, touch with a gap up to `reach` (m).
SAND_HOST_DEVICE bool convex_touch(const Convex *a, const Convex *b, double reach, const ConvexGap *gap) {
    return gap->distance - a->radius - b->radius <= reach;
}

// How far apart cores may be to touch so.
SAND_HOST_DEVICE double convex_far(const Convex *a, const Convex *b, double reach) { return reach + a->radius + b->radius; }

// Fills the points in which two bodies touch that are this far apart.
SAND_HOST_DEVICE_NOINLINE void convex_touching_points(const Convex *a, const Convex *b, double reach, const ConvexGap *gap,
                                                      Manifold *to) {
    Feature f, g;
    double size = fmin(a->bound + a->radius, b->bound + b->radius);
    Patch patch = {.a = a, .b = b, .normal = gap->normal, .reach = reach, .near = SAND_FACE_PREFERENCE * size};
    int face_a, face_b;
    double on_a = facing_separation(a, b, gap->normal, &face_a);
    double on_b = facing_separation(b, a, v3_neg(gap->normal), &face_b);
    double apart = gap->distance;
    SandVec3 way = gap->normal; // without a face there are two points at most
    bool of_b = on_b > on_a + 0.1 * patch.near;
    to->count = 0;
    to->normal = gap->normal;
    if (fmax(on_a, on_b) >= gap->distance - patch.near) {
        way = patch_on_face(&patch, of_b, of_b ? face_b : face_a, &f, &g);
        apart = of_b ? on_b : on_a;
    } else {
        touching_edge(a, gap->corner_a, gap->count_a, gap->normal, &f);
        touching_edge(b, gap->corner_b, gap->count_b, v3_neg(gap->normal), &g);
        if (f.count == 2 && g.count == 2) patch_parallel(&patch, &f, &g);
    }
    patch_witness(&patch, gap, apart);
    patch_choose(&patch, way, to);
}

// Fills the points in which two bodies touch with gaps up to `reach` (m).
SAND_HOST_DEVICE void convex_manifold(const Convex *a, const Convex *b, double reach, Manifold *to) {
    ConvexGap gap;
    convex_distance(a, b, convex_far(a, b, reach), &gap);
    to->count = 0;
    to->normal = gap.normal;
    if (convex_touch(a, b, reach, &gap)) convex_touching_points(a, b, reach, &gap, to);
}
