// SPDX-License-Identifier: MIT
// The running part of `sandglass converge`: the same scene once for each solver and budget, and what that does to the
// physics.
#pragma once
#include "app/cli/session/session.h"
#include "sim/step/checkpoint.h"
#include "sim/study/gap_study.h"

typedef struct RunRow {
    int solver, budget;
    bool ran;
    char refused[160];                  // why not
    const char *device;                 // name of the backend
    double kinetic, kinetic_mean;       // J, at the end; mean over the last quarter of the run
    double potential_lost;              // J, from --from to the end
    double overlap, overlap_boundaries; // m, at the end: largest between bodies, largest into boundaries
    double residual;                    // m/s, mean over the steps of the root mean square
    double step_ms;                     // mean
} RunRow;

enum { RUNS_MOST = SAND_RACE_MOST * SAND_GAP_BUDGETS + 1 };

typedef struct Runs {
    double seconds, from;   // s, length of each; since when potential energy is counted
    int converged;          // budget of the run to compare with
    RunRow rows[RUNS_MOST]; // the first is the converged one
    int count;
} Runs;

// Runs every solver with every budget from the same start.
bool runs_take(Runs *runs, Session *session, const SandGapStudyDef *def, const SandCheckpoint *start, SandError *error);
