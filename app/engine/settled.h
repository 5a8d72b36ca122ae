// SPDX-License-Identifier: MIT
// Building scenes whose bodies may start settled: sand_scene_build and sand_scene_settle with the user's folder of settled
// states, $XDG_CACHE_HOME/sandglass or ~/.cache/sandglass.
#pragma once
#include "sandglass/scene.h"

typedef struct SettledDef {
    int threads;                           // 0: one for each core
    bool (*tell)(void *user, double done); // the share that is done, 0 to 1; false cancels. NULL: nobody hears
    void (*on_message)(void *user, const char *sentence); // hears that a state could not be kept; NULL: nobody does
    void *user;                                           // passed to both
} SettledDef;

// Builds the scene, and settles its bodies where they are to start settled. `tell` is called only where their state is not
// kept yet. The folder is held below some 64 states; the oldest go.
bool settled_build(SandScene *scene, const SettledDef *def, SandError *error);
