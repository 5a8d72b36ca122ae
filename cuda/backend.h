// SPDX-License-Identifier: MIT
// The CUDA backend: the stages of a step on the GPU, behind the table of sim/step/backend.h.
#pragma once
#include "sim/solver/subproblem.h"
#include "sim/ranks/rank_engine.h"

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

// CUDA as the engine of a rank (cuda/ranks/subdomain.h). Ranks of a machine take its GPUs in turn, and share them where
// there are more ranks. A device of a rank only has the functions of a step and the reads of the engine.
const SandRankEngine *sand_cuda_rank_engine(void);
// Solves a standalone problem together with the other ranks, of which this one holds a subproblem, as
// sand_cpu_solve_subproblem does. `sharers`: number of ranks on its GPU.
bool sand_cuda_solve_subproblem(SandDevice *device, SandProblem *problem, const SandPartition *partition, int sharers,
                                const SandSolveDef *def, SandSolution *solution, SandError *error);

#ifdef __cplusplus
}
#endif
