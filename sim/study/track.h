// SPDX-License-Identifier: MIT
// Where frozen problems are solved: on the CPU, and on the device of a backend for the methods that it has.
#pragma once
#include "sim/step/backend.h"

typedef struct SandTrack {
    SandCpu *cpu;
    const SandBackend *backend; // NULL: the CPU alone
    SandDevice *device;
} SandTrack;

// `precision` is that of the CPU. Close it whatever the outcome.
bool sand_track_open(SandTrack *track, const SandBackend *backend, int threads, SandPrecision precision, SandError *error);
void sand_track_close(SandTrack *track);
// The name of the device that solves this: the backend's, unless it lacks the method or N is a matrix.
const char *sand_track_device(const SandTrack *track, const SandProblem *problem, const SandSolveDef *def);
bool sand_track_solve(SandTrack *track, const SandProblem *problem, const SandSolveDef *def, SandSolution *solution,
                      SandError *error);
