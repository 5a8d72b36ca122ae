// SPDX-License-Identifier: MIT
// Random deposition: a packing of bodies that lie on each other, made one by one by geometry alone. Internal to sim/scene.
#pragma once
#include "sim/core/random.h"
#include "sandglass/world.h"

// Called now and then with the share that is done; false cancels.
typedef bool SandShareDone(void *user, double done);

// Moves every body that is there from the start to where it comes to lie when the bodies fall one after another, the lowest
// first, and each rolls down over those below it (Visscher and Bolsterli 1972). A body counts as its bounding sphere. Bodies
// from index `first` on are moved; those before are in the way. Fails, with a sentence, where there is no room.
bool sand_deposit(SandWorld *world, int first, SandRandom *random, SandShareDone *tell, void *user, SandError *error);
