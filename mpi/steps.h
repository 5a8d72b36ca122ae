// The functions of a step as one rank of several, for a table of sim/step/backend.h: those of the engine that computes, the
// CPU or CUDA. Where one fails the other ranks are told.
#pragma once
#include "sim/step/backend.h"

// What a rank computes by. A process has one of them.
typedef struct SandMpiEngine {
    const SandBackend *(*backend)(void);
    int (*ghosts)(SandDevice *device);        // bodies of other ranks that contacts of the last step touch
    bool (*broken)(const SandDevice *device); // it failed in a solve, in which the others wait for it; NULL: that cannot be
} SandMpiEngine;
void sand_mpi_compute_by(const SandMpiEngine *engine);

// Ends the run of all ranks where this one has failed.
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
