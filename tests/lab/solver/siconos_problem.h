// SPDX-License-Identifier: MIT
// Contact problems in the form of Siconos' numerics.
#pragma once
#include "sandglass/problem.h"

#include <siconos/numerics/FrictionContactProblem.h>

// Converts a problem, as a sparse block matrix; a stored matrix as it is stored.
FrictionContactProblem *siconos_problem(const SandProblem *problem);
// A vector of contact i in the frame that Siconos gets, normal first; and back to the world.
void siconos_into(const SandProblem *problem, int i, SandVec3 v, double *out);
SandVec3 siconos_out(const SandProblem *problem, int i, const double *x);
