// SPDX-License-Identifier: MIT
// Settled states as files: the poses of the bodies, under a key made from everything that decides them. Internal to
// sim/scene.
#pragma once
#include "sandglass/scene.h"

// The key of the state that settling the built, unsettled scene gives.
uint64_t sand_settled_key(const SandScene *scene);

// Reads the state of this key into the poses of the world's bodies. False where there is none, or one that is damaged or of
// another scene: the world is unchanged then.
bool sand_settled_load(const char *folder, uint64_t key, SandWorld *world);
// Keeps the poses of the world's bodies, whole or not at all, and makes the folder where it is missing.
bool sand_settled_save(const char *folder, uint64_t key, const SandWorld *world, SandError *error);
