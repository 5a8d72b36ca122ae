// SPDX-License-Identifier: MIT
// The CUDA backend: the stages of a step on the GPU, behind the table of sim/step/backend.h.
#pragma once
#include "sim/solver/subproblem.h"
#include "sim/step/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

// How many CUDA devices can be used; 0, with the reason, where there is none.
int sand_cuda_devices(SandError *why);
// Selects the CUDA device that this thread creates devices on from now on; its UUID, which no other GPU has.
bool sand_cuda_use(int device, SandError *error);
bool sand_cuda_name(uint8_t name[16], SandError *error);
bool sand_cuda_about(SandDeviceInfo *info, SandError *error); // that device

const SandBackend *sand_cuda_backend(void);

// Makes a device one of several ranks (cuda/ranks/subdomain.h), before anything is uploaded; `sharers` ranks share its GPU.
// From then on it only has the functions of a step and two collective reads: sand_cuda_read brings all bodies and impulses
// to every host, sand_cuda_gather all bodies, or all impulses, to the host of rank 0.
bool sand_cuda_join(SandDevice *device, const SandRanks *ranks, int sharers, SandError *error);
bool sand_cuda_read(SandDevice *device, SandError *error);
bool sand_cuda_gather(SandDevice *device, bool impulses, SandError *error);
bool sand_cuda_broken(const SandDevice *device); // its kernel failed in a solve, where other ranks wait for its messages
int sand_cuda_ghosts(const SandDevice *device);  // number of ghosts that contacts of the last step touch
// Solves a standalone problem together with the other ranks, of which this one holds a subproblem, as
// sand_cpu_solve_subproblem does. `sharers`: number of ranks on its GPU.
bool sand_cuda_solve_subproblem(SandDevice *device, SandProblem *problem, const SandPartition *partition, int sharers,
                                const SandSolveDef *def, SandSolution *solution, SandError *error);

#ifdef __cplusplus
}
#endif
