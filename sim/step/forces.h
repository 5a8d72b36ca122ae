// SPDX-License-Identifier: MIT
// The forces and torques that a caller puts on bodies for the coming step (sand_simulation_apply_force). They are summed
// here, an entry for each body, and the world points at them while there are any: a step without any reads and copies
// nothing.
#pragma once
#include "sandglass/simulation.h"
#include "sim/core/array.h"

#ifdef __cplusplus
extern "C" {
#endif

// Forces and torques on the bodies of a world; all zero where nothing acts.
typedef struct SandForceArrays {
    SAND_ARRAY(SandVec3) force;
    SAND_ARRAY(SandVec3) torque;
} SandForceArrays;

void sand_forces_free(SandForceArrays *arrays);
// Adds to what acts on the bodies of the world. Where points are given, its positions must be those of now. False, with a
// sentence that names the body: then nothing was added.
bool sand_forces_add(SandForceArrays *arrays, SandWorld *world, const SandForces *forces, SandError *error);
// Makes room for bodies that were added since.
bool sand_forces_fit(SandForceArrays *arrays, SandWorld *world, SandError *error);
// Takes those on some bodies of another world, by their numbers there.
bool sand_forces_take(SandForceArrays *arrays, SandWorld *world, const SandWorld *all, const int *number, SandError *error);
void sand_forces_clear(SandForceArrays *arrays, SandWorld *world);

#ifdef __cplusplus
}
#endif
