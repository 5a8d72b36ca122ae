// SPDX-License-Identifier: MIT
// Images of spheres in a periodic world, for the broad phase (broad_phase.h).
#pragma once
#include "sandglass/world.h"
#include "sim/collision/broad_phase.h"

// Moves the proxies of bodies that are outside of the world's box into it, and appends the images that may be touched.
bool sand_add_images(SandBroadPhase *grid, const SandWorld *world, SandError *error);
// The same for all spheres that a rank holds, ghosts included: the borders are those that the first call found.
bool sand_add_images_again(SandBroadPhase *grid, const SandWorld *world, SandError *error);
