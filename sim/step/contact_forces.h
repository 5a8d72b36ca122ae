// SPDX-License-Identifier: MIT
// The forces of contacts, from the impulses of a step.
#pragma once
#include "sandglass/problem.h"

// Sums over the first `contacts` contacts of a solved problem, without the blocks of joints: forces (N) on each body of the
// problem whose index is from `first` to before `end`, and their torques (N m) about the center of mass (NULL: not wanted),
// in the arrays at the number of the body: order[index] (NULL: index - first). Adds to what is in the arrays.
void sand_contact_forces_add(const SandProblem *problem, const SandSolution *solution, int contacts, int first, int end,
                             const int *order, SandVec3 *force, SandVec3 *torque);
