// SPDX-License-Identifier: MIT
// Convex hulls of points, as polytopes whose coplanar triangles are merged to polygons. Internal to sim/geometry.
#pragma once
#include "sim/geometry/principal.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SAND_HULL_TOLERANCE 1e-9 // of the size of the points: within it a point lies on a face, and triangles are coplanar

// Makes the hull of `count` points, in their frame; corners keep the order of the points. Refuses numbers that are not
// finite, points in one plane, and hulls of more than SAND_MAX_CORNERS corners. With `at_most` corners, at least 4, it stops
// where it has them; -1: it does not.
bool sand_hull_make(SandPolytope *hull, const SandVec3 *points, int count, int at_most, SandError *error);

// Fills normals, offsets, sides and edges of a polytope from its corners and the loops of its faces. False where an edge
// has not exactly two faces.
bool sand_polytope_connect(SandPolytope *p);

SandPolytope *sand_polytope_box(SandVec3 half, SandError *error); // in an array of sand_grow; NULL when memory runs out

// Returns the moments of a polytope, as exact sums over tetrahedra.
SandMoments sand_polytope_moments(const SandPolytope *p);

#ifdef __cplusplus
}
#endif
