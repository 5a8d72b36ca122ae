// SPDX-License-Identifier: MIT
// What a world must be for a step to be taken with it. sand_world_check runs all of it once, before the first step;
// a simulation runs the part that a caller may have broken since, and only where one has changed something.
#pragma once
#include "sandglass/world.h"

#ifdef __cplusplus
extern "C" {
#endif

// Settings, materials, boundaries, joints and the mouse spring, and where `bodies` asks for it every body: a sentence names
// the first that is wrong, and its field. `whole`: no body is another process's, of which this one has nothing but zeros.
bool sand_world_check_changes(const SandWorld *world, bool bodies, bool whole, SandError *error);

// What adding a body and changing one have in common: that shape and material are there, and that the solvers, which work
// with the inverses in float, can do the mass and the principal moments.
bool sand_check_indices(const SandWorld *world, int body, int shape, int material, SandError *error);
bool sand_check_mass(int body, double mass, SandVec3 inertia, SandError *error);
// Whether a force and a torque on a body of the world are finite, and leave it in the world.
bool sand_check_force(const SandWorld *world, int body, SandVec3 force, SandVec3 torque, SandError *error);

#ifdef __cplusplus
}
#endif
