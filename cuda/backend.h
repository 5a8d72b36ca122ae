// The CUDA backend: the stages of a step on the GPU, behind the table of sim/step/backend.h.
#pragma once
#include "sim/solver/subproblem.h"
#include "sim/step/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

// How many CUDA devices can be used; 0, with the reason, where there is none.
int sand_cuda_devices(SandError *why);
// Devices that this thread creates from now on are on this one, which has this name among all in the world.
bool sand_cuda_use(int device, SandError *error);
bool sand_cuda_name(uint8_t name[16], SandError *error);

const SandBackend *sand_cuda_backend(void);

// Makes a device one rank of several, before anything is uploaded; `sharers` ranks use its GPU. Only the functions of a step
// may follow, and those that all ranks call to read: sand_cuda_read gives every host all bodies and impulses,
// sand_cuda_gather gives that of rank 0 all bodies, or all impulses.
bool sand_cuda_join(SandDevice *device, const SandRanks *ranks, int sharers, SandError *error);
bool sand_cuda_read(SandDevice *device, SandError *error);
bool sand_cuda_gather(SandDevice *device, bool impulses, SandError *error);
bool sand_cuda_broken(const SandDevice *device); // its kernel has died in a solve, in which the others wait for it
int sand_cuda_ghosts(const SandDevice *device);  // bodies of other ranks that contacts of the last step touch
// Solves a problem of which this rank holds a part, together with the other ranks, as sand_cpu_solve_subproblem does.
// `sharers`: of the ranks, how many have the same GPU.
bool sand_cuda_solve_subproblem(SandDevice *device, SandProblem *problem, const SandPartition *partition, int sharers,
                                const SandSolveDef *def, SandSolution *solution, SandError *error);

#ifdef __cplusplus
}
#endif
