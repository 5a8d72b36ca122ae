// Images of spheres in a periodic world, for the broad phase (broad_phase.h).
#pragma once
#include "sandglass/world.h"
#include "sim/collision/broad_phase.h"

// Moves the proxies of bodies that are outside of the world's box into it, and appends the images that may be touched.
bool sand_add_images(SandBroadPhase *grid, const SandWorld *world, SandError *error);
// The same for other spheres beside the same borders, on a rank of several.
bool sand_add_images_again(SandBroadPhase *grid, const SandWorld *world, SandError *error);
