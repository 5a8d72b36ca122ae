// SPDX-License-Identifier: MIT
// The CPU as a backend: the same table of functions as CUDA, on the host state itself.
#pragma once
#include "sim/step/ranks/subdomain.h"

const SandBackend *sand_cpu_backend(void);

// Makes a device without a world one of several ranks: its steps are those of a subdomain (ranks/subdomain.h), and the host
// has current bodies only after a read. Reads are collective.
bool sand_cpu_backend_join(SandDevice *device, const SandRanks *ranks, SandError *error);
bool sand_cpu_backend_read(SandDevice *device, SandError *error);         // bodies and impulses, to every host
bool sand_cpu_backend_gather_state(SandDevice *device, SandError *error); // bodies and impulses, to the host of rank 0
bool sand_cpu_backend_gather(SandDevice *device, SandError *error);       // bodies, to the host of rank 0
bool sand_cpu_backend_read_step(SandDevice *device, SandError *error);    // contacts of the last step, to the host of rank 0
bool sand_cpu_backend_read_block(SandDevice *device, int *first, int *end, SandError *error); // SandBackend.read_block
// Writes a checkpoint with the other ranks, as sand_subdomain_write_checkpoint.
bool sand_cpu_backend_write_checkpoint(SandDevice *device, const struct SandCheckpointRequest *request, SandError *fault,
                                       SandError *error);
bool sand_cpu_backend_knows(const SandDevice *device);        // the host has the bodies and impulses of the last step
SandOwnBodies sand_cpu_backend_own(const SandDevice *device); // the own bodies of this rank
// The residual of each contact of the last step that this rank holds. Collective.
bool sand_cpu_backend_residuals(SandDevice *device, const double **each, SandError *error);
bool sand_cpu_backend_move_ghosts(SandDevice *device, SandError *error); // sand_subdomain_move_ghosts
const SandSolution *sand_cpu_backend_solution(const SandDevice *device); // of the last step

// The solver of a device of this backend, for residuals and for building problems on the host.
SandCpu *sand_cpu_backend_solver(SandDevice *device);
