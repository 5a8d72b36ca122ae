// SPDX-License-Identifier: MIT
// How two convex bodies meet: their distance (convex_distance.inl), and the points in which they touch
// (convex_manifold.inl).
#pragma once
#include "sandglass/geometry.h"

// The signed distance of two cores: how far apart they are, or minus the least translation that separates them.
typedef struct ConvexGap {
    double distance;     // m, without the roundings
    SandVec3 normal;     // unit, from a to b; along it the cores are `distance` apart
    SandVec3 on_a, on_b; // m, the closest points, or where they touch after the translation
    // Which feature that is: a corner, an edge between two corners, or three corners of a face.
    int corner_a[3], corner_b[3], count_a, count_b;
} ConvexGap;

enum { MANIFOLD_POINTS = 4 };

typedef struct ManifoldPoint {
    SandVec3 point; // m, common frame, in the middle of the gap
    double gap;     // m, of the rounded bodies along the normal
    uint16_t of_a, of_b;
} ManifoldPoint;

typedef struct Manifold {
    int count;
    SandVec3 normal; // unit, from a to b
    ManifoldPoint point[MANIFOLD_POINTS];
} Manifold;
