// SPDX-License-Identifier: MIT
// Where a ray meets a boundary from its allowed side.
#pragma once
#include "sandglass/geometry.h"

#ifdef __cplusplus
extern "C" {
#endif

// The distance from `from` along the unit direction d, at least 0, with the unit normal to the allowed side there; INFINITY:
// the ray does not meet it. A ray that comes from behind passes through.
double sand_boundary_ray(const SandBoundary *b, const SandPose *pose, SandVec3 from, SandVec3 d, SandVec3 *normal);

// The point of the surface that is nearest, with the unit normal to the allowed side. *distance is signed, positive on the
// allowed side. False: it is not below `reach` (m).
bool sand_boundary_nearest(const SandBoundary *b, const SandPose *pose, SandVec3 point, double reach, double *distance,
                           SandVec3 *nearest, SandVec3 *normal);

#ifdef __cplusplus
}
#endif
