// SPDX-License-Identifier: MIT
// The CPU as a backend: the same table of functions as CUDA, on the host state itself.
#pragma once
#include "sim/solver/cpu_kernel.h"
#include "sim/step/backend.h"
#include "sim/step/inlet.h"
#include "sim/step/probe.h"

#ifdef __cplusplus
extern "C" {
#endif

const SandBackend *sand_cpu_backend(void);

// The solver of a device of this backend, for residuals and for building problems on the host.
SandCpu *sand_cpu_backend_solver(SandDevice *device);

// A body that was taken out of the world in the step.
typedef struct SandTakenOut {
    int body, outlet;
    SandLoss loss;
    double mass; // kg
} SandTakenOut;

// What the stages of this backend leave to the one who holds the bodies: a simulation alone, or one rank of several
// (sim/ranks/cpu_engine.c). The functions of a rank are collective; `holder` is its own.
typedef struct SandCpuHooks {
    void (*free)(void *holder);
    // Takes over what was uploaded. Returns the state that the steps are taken of; NULL: it failed.
    SandHostState *(*upload)(void *holder, SandHostState *host, SandError *error);
    bool (*collide)(void *holder, SandHostState *state, SandInletScratch *inlets, int *entered, SandThreadPool *pool,
                    SandError *error);
    bool (*solve)(void *holder, SandCpu *solver, SandProblem *problem, const SandSolveDef *def, SandSolution *solution,
                  SandError *error);
    // After each solve, before anything is computed of what it moves: completes the velocities of ghosts.
    bool (*share_motion)(void *holder, SandError *error);
    void (*keep)(void *holder); // the impulses of the step have been stored
    // Lists the bodies that were taken out, of all ranks, from those of this one, which are `count` in `mine`.
    bool (*list_lost)(void *holder, SandTakenOut *mine, int count, const SandTakenOut **all, int *all_count,
                      SandError *error);
    // Completes a report, whose counts are those of own bodies and of the contacts that they own.
    bool (*report)(void *holder, SandStepReport *report, SandError *error);
    bool (*measure)(void *holder, SandProbeCpu *probes, SandHostState *state, SandProbeBatch *batch, SandThreadPool *pool,
                    SandError *error);
} SandCpuHooks;

// Creates a device of a rank; `ranks` for the few sums that its stages make by themselves. It takes `holder` over, also
// where it fails.
SandDevice *sand_cpu_backend_create(const SandDeviceDef *def, const SandCpuHooks *hooks, void *holder,
                                    const SandRanks *ranks, SandError *error);
void *sand_cpu_backend_holder(const SandDevice *device);
const SandSolveDef *sand_cpu_backend_solved(const SandDevice *device); // settings of the last solve

#ifdef __cplusplus
}
#endif
