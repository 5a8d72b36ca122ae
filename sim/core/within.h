// SPDX-License-Identifier: MIT
// Lengths that can be computed with: finite, and so far below the range of double that squares and products of them are.
#pragma once
#include "sandglass/math.h"

#define SAND_FARTHEST 1e12 // m; bits of such a number are 0.1 mm apart

// False for what is not a number, too.
static inline bool sand_within(double length) { return fabs(length) <= SAND_FARTHEST; }
static inline bool sand_vector_within(SandVec3 v) { return sand_within(v.x) && sand_within(v.y) && sand_within(v.z); }
