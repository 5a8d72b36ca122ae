// SPDX-License-Identifier: MIT
// What a caller changed between two steps (sand_simulation_change, sand_simulation_change_bodies), looked at before the
// next one. A number that no step can be taken with is refused, and nothing has moved; a body that lies outside of the
// world's box is taken out as after a step. Where nobody changed anything nothing of this runs.
#pragma once
#include "sim/step/backend.h"

enum {
    SAND_EDIT_SETTINGS = 1, // anything but bodies
    SAND_EDIT_BODIES = 2,
    SAND_EDIT_START = 4, // bodies are those of the start, or restored: of several processes each may have its own alone
};

// What was done to bodies, for the one who tells people.
typedef struct SandEditReport {
    bool changed; // something was: a device needs the bodies again
    int lost_count, lost_more;
    SandLost lost[SAND_MAX_LOST];
} SandEditReport;

// Checks what was changed, bits of SAND_EDIT_, and, unless that fails, scales rotations to length 1 and takes out the bodies
// outside of the box. `whole`: the host has every body.
bool sand_edits_apply(SandWorld *world, unsigned edits, bool whole, SandEditReport *report, SandError *error);
