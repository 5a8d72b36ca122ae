// SPDX-License-Identifier: MIT
// Mass properties of a solid: from its moments to center of mass, principal axes and inertia. Internal to sim/geometry.
#pragma once
#include "sandglass/geometry.h"

#ifdef __cplusplus
extern "C" {
#endif

// Integrals over a solid of 1, x, y, z and of their products.
typedef struct SandMoments {
    double one, x, y, z, xx, yy, zz, xy, xz, yz;
} SandMoments;

// Adds the tetrahedron of the origin and these three corners, counter-clockwise from outside.
void sand_moments_add(SandMoments *m, SandVec3 a, SandVec3 b, SandVec3 c);

// Fills volume, inertia and from_input of a shape whose moments were taken about `origin`, a point of the frame it was
// described in, and returns the center of mass relative to `origin`. The columns of `axes` are the principal axes. False
// where the numbers cannot hold them.
bool sand_shape_set_moments(SandShape *shape, SandMoments m, SandVec3 origin, SandVec3 *center, SandMat3 *axes);

#ifdef __cplusplus
}
#endif
