// SPDX-License-Identifier: MIT
// Triangles of shapes and boundaries, for formats that have no shapes of their own. Those of a shape are counter-clockwise
// seen from outside, those of a boundary either way.
#pragma once
#include "sandglass/geometry.h"
#include "sim/core/array.h"

typedef struct Triangles {
    SAND_ARRAY(SandVec3) points; // m
    SAND_ARRAY(int32_t) corners; // three points of each triangle
    int point_count, corner_count;
} Triangles;

void triangles_clear(Triangles *t); // keeps its memory
void triangles_free(Triangles *t);
// Adds those of a body at scale 1 about its center of mass, in its principal axes.
bool triangles_add_shape(Triangles *t, const SandShape *shape, SandError *error);
// Adds those of a boundary at this pose, as far as a view from lower to upper shows: planes and upright vessels go on.
bool triangles_add_boundary(Triangles *t, const SandBoundary *boundary, SandPose pose, SandVec3 lower, SandVec3 upper,
                            SandError *error);
