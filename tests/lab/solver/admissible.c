// SPDX-License-Identifier: MIT
// Projections on the admissible sets by the conditions of every side, edge, corner and tip, and the distance and support
// function that follow.
#include "tests/lab/solver/admissible.h"

#include "tests/lab/solver/dense.h"

#include <math.h>
#include <string.h>

void admissible_tangents(SandVec3 n, SandVec3 *t1, SandVec3 *t2) {
    double sign = n.z < 0 ? -1 : 1, a = -1 / (sign + n.z), b = n.x * n.y * a;
    *t1 = v3_make(1 + sign * n.x * n.x * a, sign * b, -sign * n.x);
    *t2 = v3_make(b, sign + n.y * n.y * a, -n.y);
}

// Writes the corners of a section of size 1, in order, and returns their number; 0 for a disc.
static int corners(const AdmissibleSet *set, double (*corner)[2]) {
    const double square[4][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}}, pi = acos(-1);
    if (set->model->section == SAND_SQUARE) {
        memcpy(corner, square, sizeof square);
        return 4;
    }
    if (set->model->section == SAND_DISC) return 0;
    for (int k = 0; k < set->facets; k++) {
        corner[k][0] = cos(2 * pi * k / set->facets);
        corner[k][1] = sin(2 * pi * k / set->facets);
    }
    return set->facets;
}

static double distance2(const double a[3], const double b[3]) {
    return (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]);
}

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// Projects y on a convex polygon given by its corners, in the tangent plane: y itself, or the nearest point of a corner or a
// side. Which of them is decided by the conditions that are its own, each a distance: of a corner that y lies beyond the end
// of one side and before the beginning of the next. Close to where two of them meet, conditions fail by rounding alone, and
// so does the point that is chosen; distances there are equal but for rounding, whose root a wrong choice would be off by.
static void nearest_in_polygon(const double (*corner)[2], int count, double r, double y[3]) {
    double above[SAND_MAX_FACETS], before[SAND_MAX_FACETS], after[SAND_MAX_FACETS], along[SAND_MAX_FACETS][2];
    double from[2] = {y[1], y[2]}, most = -INFINITY, least = INFINITY;
    for (int k = 0; k < count; k++) {
        const double *a = corner[k], *b = corner[(k + 1) % count];
        double length = hypot(b[0] - a[0], b[1] - a[1]), ex = (b[0] - a[0]) / length, ey = (b[1] - a[1]) / length;
        above[k] = (from[0] - r * a[0]) * ey - (from[1] - r * a[1]) * ex;
        before[k] = (r * a[0] - from[0]) * ex + (r * a[1] - from[1]) * ey;
        after[k] = (from[0] - r * b[0]) * ex + (from[1] - r * b[1]) * ey;
        along[k][0] = ex;
        along[k][1] = ey;
        most = fmax(most, above[k]);
    }
    if (most <= 0) return;
    for (int k = 0; k < count; k++) {
        double on_side = fmax(-above[k], fmax(before[k], after[k]));
        double on_corner = -fmin(before[k], after[(k + count - 1) % count]);
        if (on_side < least) {
            least = on_side;
            y[1] = from[0] - above[k] * along[k][1];
            y[2] = from[1] + above[k] * along[k][0];
        }
        if (on_corner < least) {
            least = on_corner;
            y[1] = r * corner[k][0];
            y[2] = r * corner[k][1];
        }
    }
}

// Where y lies beside side k of the cone over a polygon: distances from the plane of the side, outwards, and in that plane
// from its two generators, outwards too; and how far y reaches along the first of these.
typedef struct Beside {
    double above, before, after, along;
    double out[3], edge[3]; // unit vectors: the normal of the plane, and the first generator
} Beside;

static void scale(double f, double a[3]) {
    for (int c = 0; c < 3; c++) a[c] *= f;
}

static Beside beside(const double a[2], const double b[2], double mu, const double y[3]) {
    double nx = b[1] - a[1], ny = a[0] - b[0], half = 0.5 * mu * hypot(nx, ny);
    Beside s = {.out = {-mu * (nx * a[0] + ny * a[1]), nx, ny}, .edge = {1, mu * a[0], mu * a[1]}};
    // The axes of the plane: half the sum of the generators, and their difference over mu, which are perpendicular as the
    // section is regular.
    double mid[3] = {1, 0.5 * mu * (a[0] + b[0]), 0.5 * mu * (a[1] + b[1])}, across[3] = {0, -ny, nx};
    double length = sqrt(dot(mid, mid)), edge = hypot(length, half);
    s.above = dot(y, s.out) / sqrt(dot(s.out, s.out));
    scale(1 / sqrt(dot(s.out, s.out)), s.out);
    scale(1 / sqrt(dot(s.edge, s.edge)), s.edge);
    double up = dot(y, mid) / length, aside = dot(y, across) / hypot(nx, ny);
    s.before = (-aside * length - up * half) / edge;
    s.after = (aside * length - up * half) / edge;
    s.along = dot(y, s.edge);
    return s;
}

// Projects y on the cone over a polygon: y itself, or the nearest point of the tip, an edge or a side. Which of them is
// decided by the conditions that are its own, each a distance: of an edge that y reaches along it and lies outward of it in
// the planes of both sides. Close to where two of them meet, conditions fail by rounding alone, and so does the point that
// is chosen; lengths and distances there are equal but for their rounding, whose root a wrong choice would be off by.
static void nearest_in_cone(const double (*corner)[2], int count, double mu, double y[3]) {
    Beside side[SAND_MAX_FACETS];
    double most = -INFINITY, reach = -INFINITY, found[3] = {0, 0, 0};
    for (int k = 0; k < count; k++) {
        side[k] = beside(corner[k], corner[(k + 1) % count], mu, y);
        most = fmax(most, side[k].above);
        reach = fmax(reach, side[k].along);
    }
    if (most <= 0) return;
    double least = reach; // the condition of the tip
    for (int k = 0; k < count; k++) {
        const Beside *s = &side[k], *last = &side[(k + count - 1) % count];
        double on_side = fmax(-s->above, fmax(s->before, s->after)),
               on_edge = fmax(-s->along, -fmin(s->before, last->after));
        if (on_side < least) {
            least = on_side;
            for (int c = 0; c < 3; c++) found[c] = y[c] - s->above * s->out[c];
        }
        if (on_edge < least) {
            least = on_edge;
            for (int c = 0; c < 3; c++) found[c] = s->along * s->edge[c];
        }
    }
    memcpy(y, found, sizeof found);
}

// Projects y on the set, in the contact frame. `cone`: on the cone over the section, whatever the model's set.
static void nearest(const AdmissibleSet *set, bool cone, double y[3]) {
    double corner[SAND_MAX_FACETS][2];
    int count = corners(set, corner);
    if (set->mu == 0) {
        y[0] = fmax(y[0], 0);
        y[1] = y[2] = 0;
    } else if (cone && count) {
        nearest_in_cone(corner, count, set->mu, y);
    } else if (cone) {
        SandVec3 p = dense_project(v3_make(y[0], y[1], y[2]), v3_make(1, 0, 0), set->mu);
        y[0] = p.x;
        y[1] = p.y;
        y[2] = p.z;
    } else {
        y[0] = fmax(y[0], 0);
        double length = hypot(y[1], y[2]);
        if (count) {
            nearest_in_polygon(corner, count, set->bound, y);
        } else if (length > set->bound) {
            y[1] *= set->bound / length;
            y[2] *= set->bound / length;
        }
    }
}

double admissible_outside(const AdmissibleSet *set, bool cone, const double y[3]) {
    double corner[SAND_MAX_FACETS][2], near[3] = {y[0], y[1], y[2]}, worst = 0;
    int count = corners(set, corner);
    if (!cone || !count || set->mu == 0) {
        nearest(set, cone, near);
        return sqrt(distance2(y, near));
    }
    for (int k = 0; k < count; k++) worst = fmax(worst, beside(corner[k], corner[(k + 1) % count], set->mu, y).above);
    return worst;
}

SandVec3 admissible_nearest(const AdmissibleSet *set, bool cone, SandVec3 n, SandVec3 x) {
    SandVec3 t1, t2;
    admissible_tangents(n, &t1, &t2);
    double y[3] = {v3_dot(x, n), v3_dot(x, t1), v3_dot(x, t2)};
    nearest(set, cone, y);
    return v3_madd(v3_madd(v3_scale(y[0], n), y[1], t1), y[2], t2);
}

double admissible_support(const AdmissibleSet *set, SandVec3 n, SandVec3 u) {
    double corner[SAND_MAX_FACETS][2], most = 0;
    int count = corners(set, corner);
    SandVec3 t1, t2;
    admissible_tangents(n, &t1, &t2);
    double u1 = v3_dot(u, t1), u2 = v3_dot(u, t2);
    if (!count) return hypot(u1, u2);
    for (int k = 0; k < count; k++) most = fmax(most, corner[k][0] * u1 + corner[k][1] * u2);
    return most;
}
