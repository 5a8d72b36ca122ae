// SPDX-License-Identifier: MIT
// What a simulation keeps to answer questions between two steps (sandglass/query.h), and how asking.c gets at its state.
#pragma once
#include "sim/collision/body_tree.h"
#include "sim/core/thread_pool.h"
#include "sim/step/contact_watch.h"

typedef struct SandAsking {
    SandBodyTree tree;
    bool current; // the tree has the bodies as they are
    SandFoundBodies found;
    SandContactWatch watch;
} SandAsking;

void sand_asking_free(SandAsking *asking);

// A simulation that is in use for a question.
typedef struct SandAsked {
    const SandHostState *host;
    SandThreadPool *pool;
    SandAsking *asking;
    int contacts; // of the last step that are solved and on the host
    const SandSolveDef *solve;
    bool changing; // the caller may be changing bodies: what is known of them does not last
} SandAsked;

// Begins a question, with these parts of the state (SAND_STATE_) on the host; the caller that gets true ends it.
bool sand_simulation_begin_asking(SandSimulation *sim, unsigned parts, SandAsked *asked, SandError *error);
bool sand_simulation_end_asking(SandSimulation *sim, bool result); // returns the result
