// SPDX-License-Identifier: MIT
// The backends `mpi` and `mpi:cuda`: the ranks of an MPI run take the steps of one simulation, each for its own subdomain,
// with an engine (sim/ranks/rank_engine.h): the CPU, whose bits are those of one process, or CUDA, where the ranks of a
// machine share GPUs if it has fewer GPUs than ranks. A read brings all bodies to the host of rank 0, or one body alone
// where no more is asked for.
//
// Nothing is kept outside of the objects that these functions are given: a process may have any number of simulations, on
// either engine, whose steps alternate as they like, in the same order on all ranks. Where rank 0 may still read a
// simulation, all ranks call sand_mpi_agree before they free it.
#pragma once
#include "mpi/communicator.h"
#include "sim/ranks/rank_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

// A picture that all ranks draw together, each its own bodies. sand_mpi_draw, called by rank 0, makes every rank call
// `draw` for that device: the others at their next agreement.
typedef bool SandMpiDraw(void *user, SandDevice *device, const SandOwnBodies *own, SandError *error);

typedef struct SandMpiBackend {
    SandBackend backend; // the first member: simulations are given its address
    SandMpi *mpi;
    const SandRankEngine *engine;
    SandMpiDraw *draw; // set on all ranks before their first step; NULL: nothing is drawn
    void *user;
} SandMpiBackend;

// Makes the backend; it must outlive its simulations, and `mpi` must outlive it.
SandMpiBackend sand_mpi_backend(SandMpi *mpi, const SandRankEngine *engine);

bool sand_mpi_draw(SandDevice *device, SandError *error);
// Within `draw`, called by all ranks: computes the residual of each contact of own->state.
bool sand_mpi_residuals(SandDevice *device, const double **each, SandError *error);
// Within `draw`, called by all ranks: copies position and velocity of ghosts of own->world from their owners.
bool sand_mpi_move_ghosts(SandDevice *device, SandError *error);

#ifdef __cplusplus
}
#endif
