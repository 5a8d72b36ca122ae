// SPDX-License-Identifier: MIT
// Shared by the boundary tests: random points, and the properties that every query must have.
#pragma once
#include "sandglass/geometry.h"
#include "tests/lab/lab.h"

static const SandPose AT_ORIGIN = {{0, 0, 0}, {1, 0, 0, 0}};

static SandRandom lab_random = {7};
static inline double uniform(double low, double high) { return low + (high - low) * sand_random_unit(&lab_random); }
static inline SandVec3 random_point(double half) {
    return v3_make(uniform(-half, half), uniform(-half, half), uniform(-half, half));
}

enum { CAPACITY = 64 };

// Checks a query: unit normals, gaps within reach, no feature and no point twice, and the nearest touch at the signed
// distance. Returns the number of touches.
static inline int check_touches(const SandBoundary *b, const SandPose *pose, SandVec3 c, double radius, double reach) {
    SandTouch t[CAPACITY];
    int n = sand_boundary_touch(b, pose, c, radius, reach, t, CAPACITY);
    assert_true(n <= CAPACITY);
    double distance = sand_boundary_distance(b, pose, c), least = INFINITY;
    for (int i = 0; i < n; i++) {
        NEAR(v3_length(t[i].normal), 1, 1e-13);
        assert_true(t[i].gap <= reach && t[i].feature < SAND_MAX_FEATURE);
        if (fabs(t[i].gap + radius) < fabs(least)) least = t[i].gap + radius;
        for (int j = 0; j < i; j++) {
            assert_int_not_equal(t[i].feature, t[j].feature);
            SandVec3 p = v3_scale(t[i].gap + radius, t[i].normal), q = v3_scale(t[j].gap + radius, t[j].normal);
            if (v3_length(v3_sub(p, q)) < 1e-10 && v3_dot(t[i].normal, t[j].normal) > 0.99)
                fail_msg("features %u and %u touch at one place", t[i].feature, t[j].feature);
        }
    }
    if (n > 0 && (b->kind != SAND_BOX_WALLS || distance >= 0)) NEAR(least, distance, 1e-12);
    if (n == 0) assert_true(distance > radius + reach - 1e-12 || distance < -0.5 * radius + 1e-12);
    return n;
}

// Checks that every touch ends on the surface, which holds away from edges.
static inline void check_feet(const SandBoundary *b, const SandPose *pose, SandVec3 c, double radius, double reach,
                              double tolerance) {
    SandTouch t[CAPACITY];
    int n = sand_boundary_touch(b, pose, c, radius, reach, t, CAPACITY);
    for (int i = 0; i < n; i++) {
        SandVec3 foot = v3_madd(c, t[i].gap + radius, t[i].normal);
        NEAR(sand_boundary_distance(b, pose, foot), 0, tolerance);
    }
}

// Checks that the distance is continuous: along a line it changes by no more than the length of the way.
static inline void check_continuity(const SandBoundary *b, double half, int lines) {
    for (int i = 0; i < lines; i++) {
        SandVec3 from = random_point(half), to = random_point(half);
        double step = v3_length(v3_sub(to, from)) / 1000, last = 0;
        for (int k = 0; k <= 1000; k++) {
            double d = sand_boundary_distance(b, &AT_ORIGIN, v3_madd(from, k / 1000.0, v3_sub(to, from)));
            if (k > 0 && fabs(d - last) > step + 1e-12) fail_msg("a jump from %g to %g in a way of %g", last, d, step);
            last = d;
        }
    }
}
