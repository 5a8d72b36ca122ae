// The CUDA backend: the stages of a step on the GPU, behind the table of sim/step/backend.h.
#pragma once
#include "sim/solver/subdomain.h"
#include "sim/step/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

// How many CUDA devices can be used; 0, with the reason, where there is none.
int sand_cuda_devices(SandError *why);

const SandBackend *sand_cuda_backend(void);

// Solves a problem of which this rank holds a part, together with the other ranks, as sand_cpu_solve_part does. `sharers`:
// of the ranks, how many have the same GPU.
bool sand_cuda_solve_part(SandDevice *device, SandProblem *problem, const SandHolding *holding, int sharers,
                          const SandSolveDef *def, SandSolution *solution, SandError *error);

#ifdef __cplusplus
}
#endif
