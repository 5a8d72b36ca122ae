// SPDX-License-Identifier: MIT
// The distance of two cores that do not overlap, by the algorithm of Gilbert, Johnson and Keerthi (1988): the point of the
// difference of the bodies that is nearest to the origin, found over simplices of at most four points. The nearest point
// of a simplex is looked for on every one of its faces, which is slower than following Voronoi regions and does not fail on
// flat simplices.
#pragma once
#include "sim/geometry/convex.inl"

typedef struct SimplexPoint {
    SandVec3 w, a, b; // m, w = a - b
    int corner_a, corner_b;
} SimplexPoint;

typedef struct Simplex {
    SimplexPoint p[4];
    int count;
} Simplex;

// The nearest point of one face of a simplex: its corners as bits, and their weights. Those of other corners say nothing.
typedef struct Nearest {
    double squared; // m^2, distance to the origin
    SandVec3 v;
    int bits;
    double weight[4];
} Nearest;

// Takes a point if it is nearer; the caller then fills the weights.
SAND_HOST_DEVICE bool nearest_update(Nearest *best, SandVec3 v, int bits) {
    double squared = v3_dot(v, v);
    if (!(squared < best->squared)) return false;
    best->squared = squared;
    best->v = v;
    best->bits = bits;
    return true;
}

SAND_HOST_DEVICE void nearest_on_edge(const Simplex *s, int i, int k, Nearest *best) {
    SandVec3 a = s->p[i].w, e = v3_sub(s->p[k].w, a);
    double ee = v3_dot(e, e), t = -v3_dot(a, e);
    if (!(t > 0 && t < ee)) return;
    t /= ee;
    SandVec3 v = v3_madd(a, t, e);
    v = v3_madd(v, -v3_dot(v, e) / ee, e); // where v is short, rounding leaves it askew
    if (!nearest_update(best, v, 1 << i | 1 << k)) return;
    best->weight[i] = 1 - t;
    best->weight[k] = t;
}

// The nearest point of a triangle is along its normal, whose direction is known however near the origin is.
SAND_HOST_DEVICE void nearest_on_triangle(const Simplex *s, int i, int j, int k, Nearest *best) {
    SandVec3 a = s->p[i].w, b = s->p[j].w, c = s->p[k].w, ab = v3_sub(b, a), ac = v3_sub(c, a), n = v3_cross(ab, ac);
    double nn = v3_dot(n, n);
    if (!(nn > 1e-24 * v3_dot(ab, ab) * v3_dot(ac, ac))) return; // flat: its edges have the nearest point
    double to_a = v3_dot(n, v3_cross(b, c)), to_b = v3_dot(n, v3_cross(c, a)), to_c = v3_dot(n, v3_cross(a, b));
    if (!(to_a > 0 && to_b > 0 && to_c > 0)) return;
    if (!nearest_update(best, v3_scale(v3_dot(n, a) / nn, n), 1 << i | 1 << j | 1 << k)) return;
    double sum = to_a + to_b + to_c;
    best->weight[i] = to_a / sum;
    best->weight[j] = to_b / sum;
    best->weight[k] = to_c / sum;
}

// Whether the origin is inside a tetrahedron: on the inner side of its four faces.
SAND_HOST_DEVICE bool tetrahedron_has_origin(const Simplex *s) {
    const int face[4][4] = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 3, 1}, {1, 2, 3, 0}};
    for (int f = 0; f < 4; f++) {
        SandVec3 a = s->p[face[f][0]].w, b = s->p[face[f][1]].w, c = s->p[face[f][2]].w;
        SandVec3 n = v3_cross(v3_sub(b, a), v3_sub(c, a));
        double origin = -v3_dot(n, a), other = v3_dot(n, v3_sub(s->p[face[f][3]].w, a));
        if (!(origin * other > 0)) return false;
    }
    return true;
}

// Finds the nearest point of a simplex that has got a corner more, and drops the corners that it does not need. Without that
// corner none is nearer than the one known, so that only its faces are looked at. False, and all is left as it is, where
// none of them is nearer either.
SAND_HOST_DEVICE bool simplex_reduce(Simplex *s, Nearest *nearest) {
    Nearest best = *nearest;
    int last = s->count - 1, count = 0;
    best.bits = 0;
    for (int i = 0; i < last; i++) {
        for (int j = i + 1; j < last; j++) nearest_on_triangle(s, i, j, last, &best);
        nearest_on_edge(s, i, last, &best);
    }
    if (nearest_update(&best, s->p[last].w, 1 << last)) best.weight[last] = 1;
    if (best.bits == 0) return false;
    for (int k = 0; k <= last; k++)
        if (best.bits >> k & 1) {
            best.weight[count] = best.weight[k];
            s->p[count++] = s->p[k];
        }
    s->count = count;
    *nearest = best;
    return true;
}

SAND_HOST_DEVICE bool simplex_has(const Simplex *s, SandVec3 w) {
    for (int k = 0; k < s->count; k++)
        if (s->p[k].w.x == w.x && s->p[k].w.y == w.y && s->p[k].w.z == w.z) return true;
    return false;
}

SAND_HOST_DEVICE SimplexPoint simplex_support(const Convex *a, const Convex *b, SandVec3 direction) {
    SimplexPoint p;
    p.a = convex_support(a, direction, &p.corner_a);
    p.b = convex_support(b, v3_neg(direction), &p.corner_b);
    p.w = v3_sub(p.a, p.b);
    return p;
}

// Adds a corner to a list without repetition.
SAND_HOST_DEVICE void gap_add_corner(int *corners, int *count, int corner) {
    for (int k = 0; k < *count; k++)
        if (corners[k] == corner) return;
    if (*count < 3) corners[(*count)++] = corner;
}

// Fills the closest points and the corners of their features from the last simplex.
SAND_HOST_DEVICE void gap_witness(ConvexGap *gap, const Simplex *s, const double *weight) {
    gap->on_a = gap->on_b = v3_make(0, 0, 0);
    gap->count_a = gap->count_b = 0;
    for (int k = 0; k < s->count; k++) {
        gap->on_a = v3_madd(gap->on_a, weight[k], s->p[k].a);
        gap->on_b = v3_madd(gap->on_b, weight[k], s->p[k].b);
        gap_add_corner(gap->corner_a, &gap->count_a, s->p[k].corner_a);
        gap_add_corner(gap->corner_b, &gap->count_b, s->p[k].corner_b);
    }
}

#define SAND_CONVEX_TOUCHING 1e-10 // of the size of the pair: nearer cores are treated as overlapping
enum { GJK_ITERATIONS = 96 };

// Finds the distance of two cores. False where they overlap or touch; where they touch,
// `touching` is set and the closest points are filled. gap->normal is then the last direction tried, 0: none. Ends early,
// with a lower bound of the distance, where that exceeds `far`. `way` is where it begins, from a to b.
SAND_HOST_DEVICE_NOINLINE bool convex_gjk(const Convex *a, const Convex *b, SandVec3 way, double far, ConvexGap *gap,
                                          bool *touching) {
    Simplex simplex = {.count = 0};
    Nearest nearest = {.squared = INFINITY};
    SandVec3 v = v3_neg(way);
    double size = a->bound + b->bound + 1e-300;
    double squared = INFINITY, along = 0, length = 1; // of the distance; of the last plane, whose distance is along / length
    bool overlap = false;
    *touching = false;
    gap->normal = v3_make(0, 0, 0);
    for (int k = 0; k < GJK_ITERATIONS; k++) {
        SimplexPoint p = simplex_support(a, b, v3_neg(v));
        along = v3_dot(v, p.w);
        length = v3_length(v);
        if (along > far * length) { // a plane that separates them by more than anyone asks
            gap->distance = along / length;
            gap->normal = v3_scale(-1 / length, v);
            return true;
        }
        if (simplex.count && (simplex_has(&simplex, p.w) || squared - along <= 1e-15 * squared + 1e-13 * size * length))
            break;
        simplex.p[simplex.count++] = p;
        overlap = simplex.count == 4 && tetrahedron_has_origin(&simplex);
        if (overlap || !simplex_reduce(&simplex, &nearest)) { // or rounding: no more progress
            simplex.count--;
            break;
        }
        *touching = !(nearest.squared > SAND_CONVEX_TOUCHING * SAND_CONVEX_TOUCHING * size * size);
        if (*touching) break;
        squared = nearest.squared;
        v = nearest.v;
    }
    gap_witness(gap, &simplex, nearest.weight);
    if (squared < INFINITY) {
        gap->distance = sqrt(squared);
        gap->normal = v3_scale(-1 / gap->distance, v);
    }
    // A plane must separate them by what the closest points are apart: else rounding ended the search within an overlap.
    return !overlap && !*touching && gap->distance - along / length <= 1e-9 * size;
}
