// A solve on the GPU: the very texts of sim/, in one persistent cooperative kernel.
#pragma once
#include "sim/cpu_text.h"

#ifdef __cplusplus
extern "C" {
#endif

// How many CUDA devices can be used; 0, with a sentence why, where there is none.
int sand_cuda_devices(SandError *why);

// Solves on the device what a CPU text in float has laid out, and fills impulse, status, iterations, seconds and
// metrics of the solution, whose impulses must have room. `rows` says which text it was.
bool sand_cuda_solve(const SandTextLayout *layout, const SandProblem *problem, int rows, const SandSolveDef *def,
                     SandSolution *solution, SandError *error);

#ifdef __cplusplus
}
#endif
