// The CPU as a backend: the same table of functions as CUDA, on the host state itself.
#pragma once
#include "sim/step/ranks/subdomain.h"

const SandBackend *sand_cpu_backend(void);

// Lets a device, which has no world yet, take the steps of one rank of several: it then has a part of the world (part.h),
// and the host has the rest after sand_cpu_backend_read alone.
bool sand_cpu_backend_join(SandDevice *device, const SandRanks *ranks, SandError *error);
bool sand_cpu_backend_read(SandDevice *device, SandError *error);         // bodies and impulses, for every host
bool sand_cpu_backend_gather_state(SandDevice *device, SandError *error); // the same for the host of rank 0
bool sand_cpu_backend_gather(SandDevice *device, SandError *error);       // bodies, for the host of rank 0
bool sand_cpu_backend_read_step(SandDevice *device, SandError *error);    // contacts of the last step, for the same
bool sand_cpu_backend_read_block(SandDevice *device, int *first, int *end, SandError *error); // as in the table
// Writes a checkpoint with the other ranks, as sand_subdomain_write_checkpoint.
bool sand_cpu_backend_write_checkpoint(SandDevice *device, const struct SandCheckpointRequest *request, SandError *fault,
                                       SandError *error);
bool sand_cpu_backend_knows(const SandDevice *device);        // the host has what the last step left
SandOwnBodies sand_cpu_backend_own(const SandDevice *device); // of this rank
// The residual of each contact that this rank has of the last step. All ranks call it.
bool sand_cpu_backend_residuals(SandDevice *device, const double **each, SandError *error);
bool sand_cpu_backend_move_ghosts(SandDevice *device, SandError *error); // sand_subdomain_move_ghosts
const SandSolution *sand_cpu_backend_solution(const SandDevice *device); // of the last step

// The solver of a device of this backend, for residuals and for building problems on the host.
SandCpu *sand_cpu_backend_solver(SandDevice *device);
