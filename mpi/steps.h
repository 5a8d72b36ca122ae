// SPDX-License-Identifier: MIT
// The stages of a step on a rank, as functions of a backend (sim/step/backend.h). Each calls the stage of the engine, which
// is the CPU or CUDA, and where that fails ends the run on all ranks.
#pragma once
#include "sim/step/backend.h"

// The engine of a rank: the backend that computes its steps, not the engine of a window (docs/glossary.md). A process has
// one.
typedef struct SandMpiEngine {
    const SandBackend *(*backend)(void);
    int (*ghosts)(SandDevice *device); // number of ghosts that contacts of the last step touch
    // Whether the device failed within a solve, where other ranks wait for its messages and not in an agreement. NULL: it
    // cannot.
    bool (*broken)(const SandDevice *device);
} SandMpiEngine;
void sand_mpi_compute_by(const SandMpiEngine *engine);

// Ends the run on all ranks if this one has failed (`ok` is false). Returns `ok`.
bool sand_mpi_told(bool ok, SandError *error);

void sand_mpi_step_destroy(SandDevice *device);
bool sand_mpi_step_upload(SandDevice *device, SandHostState *host, SandError *error);
bool sand_mpi_step_collide(SandDevice *device, const SandWorld *world, SandError *error);
bool sand_mpi_step_warm_start(SandDevice *device, SandError *error);
bool sand_mpi_step_build(SandDevice *device, const SandSolveDef *def, SandError *error);
bool sand_mpi_step_solve(SandDevice *device, const SandSolveDef *def, bool want_curve, bool want_metrics, const int *stop,
                         SandError *error);
bool sand_mpi_step_integrate(SandDevice *device, SandError *error);
bool sand_mpi_step_finish(SandDevice *device, SandStepReport *report, SandError *error);
bool sand_mpi_step_measure(SandDevice *device, SandProbeBatch *batch, SandError *error);
