// SPDX-License-Identifier: MIT
// Spheres and clumps, and their mass properties; convex shapes are in convex_shape.c. Most of this file is the volume,
// center of mass and inertia of a clump, a union of spheres. A plane z = const cuts the union in a union of discs, whose
// area and moments are exact sums over its exposed arcs (Green's theorem). Only the integral over z is a quadrature: Gauss
// points between the heights where a sphere begins or ends.
#include "sandglass/geometry.h"

#include "sim/core/array.h"
#include "sim/core/assert.h"
#include "sim/core/within.h"
#include "sim/geometry/principal.h"

#include <stdlib.h>
#include <string.h>

typedef SandMoments Moments; // also of a plane region, without z

typedef struct Disc {
    double x, y, r;
} Disc;

// An interval of angle, 0 <= from <= to <= 2 pi.
typedef struct Span {
    double from, to;
} Span;

enum {
    PIECES = 96,                      // the quadrature has pieces of at most this part of the height
    FEW_SPHERES = 32,                 // up to this many, pieces also end where a sphere does; of more, each matters less
    MAX_SPANS = 2 * SAND_MAX_SPHERES, // a covered span across angle 0 becomes two
    FIRST_LOOK = 8,                   // covered spans after which to test whether the disc is buried
};

static const double TWO_PI = 6.283185307179586476925286766559;

// Adds sign times the antiderivatives at angle t of the boundary integrals along a circle:
// area = 1/2 (x dy - y dx), x = x^2/2 dy, y = -y^2/2 dx, xx = x^3/3 dy, yy = -y^3/3 dx, xy = x^2 y/2 dy.
static void add_arc_end(Moments *m, Disc d, double t, double sign) {
    double c = cos(t), s = sin(t), r = d.r, x = d.x, y = d.y;
    double c1 = s, c2 = 0.5 * (t + s * c), c3 = s - s * s * s / 3, c4 = 0.25 * c * c * c * s + 0.75 * c2; // of cos^k
    double s1 = -c, s2 = 0.5 * (t - s * c), s3 = -c + c * c * c / 3, s4 = -0.25 * s * s * s * c + 0.75 * s2;
    double c1s1 = 0.5 * s * s, c2s1 = -c * c * c / 3, c3s1 = -0.25 * c * c * c * c;
    double x2c = x * x * c1 + 2 * x * r * c2 + r * r * c3; // integral of (x + r cos)^2 cos

    m->one += sign * 0.5 * r * (x * c1 + y * s1 + r * t);
    m->x += sign * 0.5 * r * x2c;
    m->y += sign * 0.5 * r * (y * y * s1 + 2 * y * r * s2 + r * r * s3);
    m->xx += sign * r / 3 * (x * x * x * c1 + 3 * x * x * r * c2 + 3 * x * r * r * c3 + r * r * r * c4);
    m->yy += sign * r / 3 * (y * y * y * s1 + 3 * y * y * r * s2 + 3 * y * r * r * s3 + r * r * r * s4);
    m->xy += sign * 0.5 * r * (y * x2c + r * (x * x * c1s1 + 2 * x * r * c2s1 + r * r * c3s1));
}

// Adds the boundary integrals along an arc.
static void add_arc(Moments *m, Disc d, double from, double to) {
    if (to <= from) return;
    add_arc_end(m, d, to, 1);
    add_arc_end(m, d, from, -1);
}

static int compare_spans(const void *a, const void *b) {
    double x = ((const Span *)a)->from, y = ((const Span *)b)->from;
    return (x > y) - (x < y);
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int compare_discs(const void *a, const void *b) { // large ones first: they cover most
    double x = ((const Disc *)a)->r, y = ((const Disc *)b)->r;
    return (x < y) - (x > y);
}

// Sorts the spans, merges those that overlap, and returns how many are left.
static int merge_spans(Span *spans, int count) {
    qsort(spans, (size_t)count, sizeof *spans, compare_spans);
    int n = 0;
    for (int k = 0; k < count; k++) {
        if (n > 0 && spans[k].from <= spans[n - 1].to)
            spans[n - 1].to = fmax(spans[n - 1].to, spans[k].to);
        else
            spans[n++] = spans[k];
    }
    return n;
}

static bool whole_circle(const Span *spans, int count) { return count == 1 && spans[0].from <= 0 && spans[0].to >= TWO_PI; }

// Finds the spans of the circle of disc i that other discs cover, sorted and disjoint; returns how many, or -1 where the
// whole circle is covered. Of equal discs the first counts.
static int covered_spans(const Disc *discs, int count, int i, Span *spans) {
    Disc a = discs[i];
    int n = 0, look = FIRST_LOOK;
    for (int j = 0; j < count; j++) {
        if (j == i) continue;
        Disc b = discs[j];
        double dx = b.x - a.x, dy = b.y - a.y, dd = dx * dx + dy * dy;
        if (dd >= (a.r + b.r) * (a.r + b.r)) continue; // disjoint
        if (dd <= (a.r - b.r) * (a.r - b.r)) {         // one contains the other
            bool equal = a.r == b.r;
            if (b.r > a.r || (equal && j < i)) return -1;
            continue;
        }
        double cosine = (dd + a.r * a.r - b.r * b.r) / (2 * a.r * sqrt(dd));
        double half = acos(fmin(fmax(cosine, -1), 1)), middle = atan2(dy, dx);
        double from = middle - half;
        if (from < 0) from += TWO_PI;
        double to = from + 2 * half;
        SAND_ASSERT(n + 2 <= MAX_SPANS);
        spans[n++] = (Span){from, fmin(to, TWO_PI)};
        if (to > TWO_PI) spans[n++] = (Span){0, to - TWO_PI};
        if (n >= look) { // most discs of a large clump are buried: find out early
            n = merge_spans(spans, n);
            if (whole_circle(spans, n)) return -1;
            look = n + FIRST_LOOK;
        }
    }
    n = merge_spans(spans, n);
    return whole_circle(spans, n) ? -1 : n;
}

// Returns the moments of a union of discs, which it sorts by radius.
static Moments union_of_discs(Disc *discs, int count) {
    Moments m = {0};
    Span spans[MAX_SPANS];
    qsort(discs, (size_t)count, sizeof *discs, compare_discs);
    for (int i = 0; i < count; i++) {
        int n = covered_spans(discs, count, i, spans);
        if (n < 0) continue;
        double open = 0;
        for (int k = 0; k < n; k++) {
            add_arc(&m, discs[i], open, spans[k].from);
            open = spans[k].to;
        }
        add_arc(&m, discs[i], open, TWO_PI);
    }
    return m;
}

// Returns the moments of the cut at height z.
static Moments slice(const SandShapeSphere *spheres, int count, double z) {
    Disc discs[SAND_MAX_SPHERES];
    int n = 0;
    for (int i = 0; i < count; i++) {
        double dz = z - spheres[i].center.z, rr = spheres[i].radius * spheres[i].radius - dz * dz;
        if (rr > 0) discs[n++] = (Disc){spheres[i].center.x, spheres[i].center.y, sqrt(rr)};
    }
    return union_of_discs(discs, n);
}

// Adds a slice of this height and weight to the moments of the solid.
static void add_slice(Moments *sum, Moments s, double z, double weight) {
    sum->one += weight * s.one;
    sum->x += weight * s.x;
    sum->y += weight * s.y;
    sum->z += weight * z * s.one;
    sum->xx += weight * s.xx;
    sum->yy += weight * s.yy;
    sum->zz += weight * z * z * s.one;
    sum->xy += weight * s.xy;
    sum->xz += weight * z * s.x;
    sum->yz += weight * z * s.y;
}

// Finds the heights between which the integrand is smooth, in order; returns how many.
static int cut_heights(const SandShapeSphere *spheres, int count, double *cuts) {
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < count; i++) {
        cuts[2 * i] = spheres[i].center.z - spheres[i].radius;
        cuts[2 * i + 1] = spheres[i].center.z + spheres[i].radius;
        low = fmin(low, cuts[2 * i]);
        high = fmax(high, cuts[2 * i + 1]);
    }
    if (count > FEW_SPHERES) {
        cuts[0] = low;
        cuts[1] = high;
        return 2;
    }
    qsort(cuts, (size_t)(2 * count), sizeof *cuts, compare_doubles);
    return 2 * count;
}

// Integrates over z with three Gauss points a piece: exact for a single sphere, whose second moments are quartic in z. The
// error that remains comes from the heights where discs begin to overlap.
static Moments union_of_spheres(const SandShapeSphere *spheres, int count) {
    static const double node[3] = {-0.77459666924148337704, 0, 0.77459666924148337704};
    static const double weight[3] = {5.0 / 18, 8.0 / 18, 5.0 / 18};
    double cuts[2 * SAND_MAX_SPHERES];
    int n = cut_heights(spheres, count, cuts);
    double height = cuts[n - 1] - cuts[0];

    Moments sum = {0};
    for (int i = 0; i + 1 < n; i++) {
        double gap = cuts[i + 1] - cuts[i];
        int pieces = (int)ceil(PIECES * gap / height);
        for (int k = 0; k < pieces; k++)
            for (int g = 0; g < 3; g++) {
                double width = gap / pieces, z = cuts[i] + width * (k + 0.5 + 0.5 * node[g]);
                add_slice(&sum, slice(spheres, count, z), z, weight[g] * width);
            }
    }
    return sum;
}

// Returns the first sphere that no chain of touching spheres connects to sphere 0, or -1.
static int detached_sphere(const SandShapeSphere *spheres, int count) {
    bool reached[SAND_MAX_SPHERES] = {true};
    int queue[SAND_MAX_SPHERES] = {0}, head = 0, tail = 1;
    while (head < tail) {
        int i = queue[head++];
        for (int j = 1; j < count; j++) {
            double sum = spheres[i].radius + spheres[j].radius;
            if (reached[j] || v3_length(v3_sub(spheres[i].center, spheres[j].center)) > sum * (1 + 1e-9)) continue;
            reached[j] = true;
            queue[tail++] = j;
        }
    }
    for (int i = 0; i < count; i++)
        if (!reached[i]) return i;
    return -1;
}

static bool check_spheres(const SandShapeSphere *spheres, int count, SandError *error) {
    if (count < 1) return sand_fail(error, "a clump needs at least one sphere");
    if (count > SAND_MAX_SPHERES)
        return sand_fail(error, "a clump has at most %d spheres, this one has %d", SAND_MAX_SPHERES, count);
    for (int i = 0; i < count; i++) {
        if (!sand_vector_within(spheres[i].center) || !sand_within(spheres[i].radius))
            return sand_fail(error, "sphere %d of the clump has a number that is not finite, or beyond %g m", i,
                             SAND_FARTHEST);
        if (spheres[i].radius <= 0)
            return sand_fail(error, "sphere %d of the clump has radius %g; it must be above 0", i, spheres[i].radius);
    }
    int loose = detached_sphere(spheres, count);
    if (loose >= 0)
        return sand_fail(error, "the clump is in two parts: no chain of spheres joins sphere %d to sphere 0", loose);
    return true;
}

static bool copy_spheres(SandShape *shape, const SandShapeSphere *spheres, int count, SandError *error) {
    size_t capacity = 0;
    if (!SAND_GROW(shape->spheres, capacity, count, "spheres of a shape", error)) return false;
    memcpy(shape->spheres, spheres, (size_t)count * sizeof *spheres);
    shape->sphere_count = count;
    return true;
}

const char *sand_shape_kind_name(SandShapeKind kind) {
#define NAME(KIND, name, ...) #name,
    static const char *const names[] = {SAND_SHAPES(NAME)};
#undef NAME
    return (int)kind >= 0 && kind < SAND_SHAPE_KINDS ? names[kind] : "shape";
}

bool sand_shape_sphere(SandShape *shape, SandError *error) {
    *shape = (SandShape){.kind = SAND_SPHERE, .volume = 2 * TWO_PI / 3, .bound = 1, .from_input.rotation = q_identity()};
    double i = 0.4 * shape->volume;
    shape->inertia = v3_make(i, i, i);
    return copy_spheres(shape, &(SandShapeSphere){.radius = 1}, 1, error);
}

bool sand_shape_clump(SandShape *shape, const SandShapeSphere *spheres, int count, SandError *error) {
    *shape = (SandShape){.kind = SAND_CLUMP};
    if (!check_spheres(spheres, count, error) || !copy_spheres(shape, spheres, count, error)) return false;

    // Moments about the first sphere, so that a clump described far from the origin loses no digits.
    SandVec3 origin = spheres[0].center;
    for (int i = 0; i < count; i++) shape->spheres[i].center = v3_sub(spheres[i].center, origin);
    Moments m = union_of_spheres(shape->spheres, count);
    SandVec3 c;
    SandMat3 axes;
    if (!sand_shape_set_moments(shape, m, origin, &c, &axes)) {
        sand_shape_free(shape);
        return sand_fail(error, "the clump's volume and inertia are beyond what numbers can hold; change its unit");
    }
    for (int i = 0; i < count; i++) {
        SandShapeSphere *sphere = &shape->spheres[i];
        sphere->center = m3_apply_transposed(axes, v3_sub(sphere->center, c));
        shape->bound = fmax(shape->bound, v3_length(sphere->center) + sphere->radius);
    }
    return true;
}

SandPose sand_shape_place(const SandShape *shape, double scale, SandPose input) {
    SandQuat rotation = q_mul(input.rotation, q_conjugate(shape->from_input.rotation));
    SandVec3 offset = q_rotate(rotation, v3_scale(scale, shape->from_input.position));
    return (SandPose){v3_sub(input.position, offset), rotation};
}

void sand_shape_free(SandShape *shape) {
    for (int k = 0; k < shape->piece_count; k++) sand_shape_free(&shape->pieces[k].shape);
    sand_free(shape->pieces);
    sand_free(shape->spheres);
    sand_free(shape->core);
    *shape = (SandShape){0};
}
