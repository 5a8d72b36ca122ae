// SPDX-License-Identifier: MIT
// The backend `mpi`: the ranks of an MPI run take the steps of one simulation, each for its own subdomain
// (sim/step/ranks/subdomain.h) with its own threads. The bits are those of the CPU backend. A read brings all bodies to
// the host of rank 0, or one body alone where no more is asked for.
#pragma once
#include "sim/step/ranks/subdomain.h"

#ifdef __cplusplus
extern "C" {
#endif

const SandBackend *sand_mpi_backend(void); // after sand_mpi_begin

// A picture that all ranks draw together, each its own bodies. sand_mpi_draw, called by rank 0, makes every rank call
// `draw`: the others at their next agreement. All ranks set it before their first step.
typedef bool SandMpiDraw(void *user, const SandOwnBodies *own, SandError *error);
void sand_mpi_on_draw(SandMpiDraw *draw, void *user);
bool sand_mpi_draw(SandError *error);
// Within `draw`, called by all ranks: computes the residual of each contact of own->state.
bool sand_mpi_residuals(const double **each, SandError *error);
// Within `draw`, called by all ranks: copies position and velocity of ghosts of own->world from their owners.
bool sand_mpi_move_ghosts(SandError *error);

#ifdef __cplusplus
}
#endif
