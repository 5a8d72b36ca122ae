// SPDX-License-Identifier: MIT
// The admissible set of one contact in its own frame, normal first, for every friction model: projections by the conditions
// of their sides, edges and corners, written from the definition of the sets and not from the solvers' formulas.
#pragma once
#include "sandglass/solver.h"
#include "sandglass/math.h"

typedef struct AdmissibleSet {
    const SandFrictionRow *model;
    double mu, bound; // 0: one row, along the normal; the bound is that of box, prism and cylinder
    int facets;
} AdmissibleSet;

// The tangents that the solvers use; the checks rely only on their being tangents.
void admissible_tangents(SandVec3 n, SandVec3 *t1, SandVec3 *t2);

// The nearest point to x in the set. `cone`: in the cone over the section, whatever the model's set.
SandVec3 admissible_nearest(const AdmissibleSet *set, bool cone, SandVec3 n, SandVec3 x);

// Distance of a point from the set. For a cone over a polygon it is the distance from its most violated plane, which is
// accurate to the last bit; the distance from the nearest point would not be.
double admissible_outside(const AdmissibleSet *set, bool cone, const double y[3]);

// The largest product of the tangential part of u with a point of the section of size 1.
double admissible_support(const AdmissibleSet *set, SandVec3 n, SandVec3 u);
