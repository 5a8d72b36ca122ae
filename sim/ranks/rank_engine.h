// SPDX-License-Identifier: MIT
// The engine of a rank: the backend that takes its steps, the CPU or CUDA, and what it does beyond a step because it is one
// rank of several. mpi/backend.c makes a backend of an engine and MPI; tests make one of an engine and threads
// (tests/lab/ranks/local_ranks.h). All functions but `backend`, `ghosts`, `broken`, `knows`, `own` and `read_curve` are
// collective.
#pragma once
#include "sim/ranks/subdomain.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SandRankEngine {
    const char *name;                    // of the backend that its ranks are over MPI
    const SandBackend *(*backend)(void); // whose functions of a step, and `destroy`, it has
    // Creates the device of a rank, which is number `rank_here` among those of its machine.
    SandDevice *(*create)(const SandDeviceDef *def, const SandRanks *ranks, int rank_here, SandError *error);
    int (*ghosts)(SandDevice *device); // number of ghosts that contacts of the last step touch
    // Whether the device failed within a solve, where other ranks wait for its messages and not in an agreement. NULL: it
    // cannot.
    bool (*broken)(const SandDevice *device);
    bool (*knows)(const SandDevice *device); // every host has the bodies and impulses of the last step
    bool (*read_curve)(SandDevice *device, SandSolution *solution, SandError *error);

    bool (*share_state)(SandDevice *device, SandError *error);     // bodies and impulses, to every host
    bool (*gather_bodies)(SandDevice *device, SandError *error);   // to the host of rank 0
    bool (*gather_impulses)(SandDevice *device, SandError *error); // to the host of rank 0; bodies may come with them

    // The rest is NULL where an engine lacks it.
    bool (*gather_step)(SandDevice *device, SandError *error); // contacts of the last step, to the host of rank 0
    bool (*read_block)(SandDevice *device, int *first, int *end, SandError *error); // as in SandBackend
    bool (*write_checkpoint)(SandDevice *device, const SandCheckpointRequest *request, SandError *fault,
                             SandError *error);     // as sand_subdomain_write_checkpoint
    SandOwnBodies (*own)(const SandDevice *device); // the own bodies of this rank
    // The residual of each contact of the last step that this rank holds.
    bool (*residuals)(SandDevice *device, const double **each, SandError *error);
    bool (*move_ghosts)(SandDevice *device, SandError *error); // as sand_subdomain_move_ghosts
} SandRankEngine;

#ifdef __cplusplus
}
#endif
