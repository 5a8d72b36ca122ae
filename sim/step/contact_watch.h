// SPDX-License-Identifier: MIT
// Who touches whom, from step to step: events of pairs, kept until they are asked for (sandglass/query.h).
#pragma once
#include "sandglass/query.h"
#include "sim/step/backend.h"

// The share of one contact in the touch of a pair.
typedef struct SandTouchShare {
    uint64_t pair; // a << 32 | b, boundaries behind the bodies
    int contact;
    SandVec3 impulse; // N s, on b of the pair
} SandTouchShare;

typedef struct SandContactWatch {
    bool on;
    int count; // pairs that touched since they were last asked for
    SAND_ARRAY(SandContactEvent) pairs, merged;
    SAND_ARRAY(SandTouchShare) shares; // of the last step
} SandContactWatch;

void sand_contact_watch_free(SandContactWatch *watch);
// Counts what the last step did; the first `contacts` of the problem are solved.
bool sand_contact_watch_step(SandContactWatch *watch, const SandHostState *host, int contacts, SandError *error);
// Fills the events and begins anew; see sand_simulation_contact_events.
int sand_contact_watch_take(SandContactWatch *watch, SandContactEvent *events, int capacity);
