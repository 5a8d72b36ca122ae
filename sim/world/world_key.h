// Keys of worlds: hashes of all that a run starts from, so that a state kept in a file is never taken for that of another
// world.
#pragma once
#include "sandglass/world.h"

// Extends a hash by what settling depends on: bodies where they are, shapes, boundaries as they stand at time 0, joints,
// laws of the pairs, and the settings of a step.
uint64_t sand_world_hash_matter(const SandWorld *world, uint64_t hash);

// Returns a key of everything that decides a run from here on: the above, the velocities, how boundaries move, inlets,
// outlets and the box.
uint64_t sand_world_key(const SandWorld *world);
