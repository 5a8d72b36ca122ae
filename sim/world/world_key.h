// SPDX-License-Identifier: MIT
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

// What a saved state has to find in the world that it is restored into: hashes of all that decides a run and that the state
// does not hold, one for each kind of thing, so that a refusal can name what differs.
typedef enum SandTrait {
    SAND_TRAIT_SETTINGS,   // step, recovery, sleep, bounces, what repeats
    SAND_TRAIT_SHAPES,     // of bodies
    SAND_TRAIT_LAWS,       // of the pairs of materials
    SAND_TRAIT_BOUNDARIES, // their surfaces and materials; where they are and how they move is in the state
    SAND_TRAIT_FLOW,       // inlets and outlets
    SAND_TRAIT_PROBES,     // what they measure
    SAND_TRAIT_BODIES,     // masses, inertias, sizes, shapes, materials, when they enter
    SAND_TRAITS
} SandTrait;
typedef struct SandFingerprint {
    uint64_t hash[SAND_TRAITS];
} SandFingerprint;

// Of the world with its first `bodies` bodies and its first `probes` probes alone: what was added since a state was saved.
SandFingerprint sand_world_fingerprint(const SandWorld *world, int bodies, int probes);
const char *sand_trait_name(SandTrait trait); // plural, "boundaries"
