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

// The nearest point of one face of a simplex: its corners as bits, and their weights.
typedef struct Nearest {
    double squared; // m^2, distance to the origin
    SandVec3 v;
    int bits;
    double weight[4];
} Nearest;

SAND_HOST_DEVICE void nearest_update(Nearest *best, SandVec3 v, int bits, const double *weight) {
    double squared = v3_dot(v, v);
    if (!(squared < best->squared)) return;
    best->squared = squared;
    best->v = v;
    best->bits = bits;
    for (int k = 0; k < 4; k++) best->weight[k] = weight[k];
}

SAND_HOST_DEVICE void nearest_on_edge(const Simplex *s, int i, int k, Nearest *best) {
    SandVec3 a = s->p[i].w, e = v3_sub(s->p[k].w, a);
    double ee = v3_dot(e, e), t = -v3_dot(a, e);
    if (!(t > 0 && t < ee)) return;
    double weight[4] = {0};
    t /= ee;
    weight[i] = 1 - t;
    weight[k] = t;
    SandVec3 v = v3_madd(a, t, e);
    v = v3_madd(v, -v3_dot(v, e) / ee, e); // where v is short, rounding leaves it askew
    nearest_update(best, v, 1 << i | 1 << k, weight);
}

// The nearest point of a triangle is along its normal, whose direction is known however near the origin is.
SAND_HOST_DEVICE void nearest_on_triangle(const Simplex *s, int i, int j, int k, Nearest *best) {
    SandVec3 a = s->p[i].w, b = s->p[j].w, c = s->p[k].w, ab = v3_sub(b, a), ac = v3_sub(c, a), n = v3_cross(ab, ac);
    double nn = v3_dot(n, n);
    if (!(nn > 1e-24 * v3_dot(ab, ab) * v3_dot(ac, ac))) return; // flat: its edges have the nearest point
    double to_a = v3_dot(n, v3_cross(b, c)), to_b = v3_dot(n, v3_cross(c, a)), to_c = v3_dot(n, v3_cross(a, b));
    if (!(to_a > 0 && to_b > 0 && to_c > 0)) return;
    double weight[4] = {0}, sum = to_a + to_b + to_c;
    weight[i] = to_a / sum;
    weight[j] = to_b / sum;
    weight[k] = to_c / sum;
    nearest_update(best, v3_scale(v3_dot(n, a) / nn, n), 1 << i | 1 << j | 1 << k, weight);
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

// Finds the nearest point of the simplex and drops the corners that it does not need.
SAND_HOST_DEVICE Nearest simplex_reduce(Simplex *s) {
    Nearest best = {.squared = INFINITY};
    for (int i = 0; i < s->count; i++) {
        double weight[4] = {0};
        weight[i] = 1;
        nearest_update(&best, s->p[i].w, 1 << i, weight);
        for (int j = i + 1; j < s->count; j++) {
            nearest_on_edge(s, i, j, &best);
            for (int k = j + 1; k < s->count; k++) nearest_on_triangle(s, i, j, k, &best);
        }
    }
    int count = 0;
    for (int k = 0; k < s->count; k++)
        if (best.bits >> k & 1) {
            best.weight[count] = best.weight[k];
            s->p[count++] = s->p[k];
        }
    s->count = count;
    return best;
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
    SandVec3 v = v3_neg(way);
    double size = a->bound + b->bound + 1e-300;
    *touching = false;
    gap->normal = v3_make(0, 0, 0);
    double squared = INFINITY, lower = -INFINITY; // of the distance
    for (int k = 0; k < GJK_ITERATIONS; k++) {
        SimplexPoint p = simplex_support(a, b, v3_neg(v));
        double along = v3_dot(v, p.w), length = v3_length(v);
        if (along > far * length) { // a plane that separates them by more than anyone asks
            gap->distance = along / length;
            gap->normal = v3_scale(-1 / length, v);
            return true;
        }
        lower = along / length;
        if (simplex.count && (simplex_has(&simplex, p.w) || squared - along <= 1e-15 * squared + 1e-13 * size * length))
            break;
        simplex.p[simplex.count++] = p;
        if (simplex.count == 4 && tetrahedron_has_origin(&simplex)) return false;
        Nearest nearest = simplex_reduce(&simplex);
        if (!(nearest.squared < squared)) break; // rounding: no more progress
        squared = nearest.squared;
        v = nearest.v;
        gap_witness(gap, &simplex, nearest.weight);
        *touching = !(squared > SAND_CONVEX_TOUCHING * SAND_CONVEX_TOUCHING * size * size);
        if (*touching) return false;
        gap->distance = sqrt(squared);
        gap->normal = v3_scale(-1 / gap->distance, v);
    }
    // A plane must separate them by what the closest points are apart: else rounding ended the search within an overlap.
    return gap->distance - lower <= 1e-9 * size;
}
