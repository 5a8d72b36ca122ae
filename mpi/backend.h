// The backend `mpi`: several processes take the steps of one simulation, each with the bodies that it owns and their
// neighbors (sim/step/ranks/subdomain.h), on its own threads. The bits are those of the CPU backend. The host of rank 0 has
// all bodies after a read.
#pragma once
#include "sim/step/ranks/subdomain.h"

#ifdef __cplusplus
extern "C" {
#endif

const SandBackend *sand_mpi_backend(void); // after sand_mpi_begin

// A picture that all ranks draw, each its own bodies: when rank 0 calls sand_mpi_draw, `draw` is called on every rank, on
// the others where they next agree. All of them set it before their first step.
typedef bool SandMpiDraw(void *user, const SandOwnBodies *own, SandError *error);
void sand_mpi_on_draw(SandMpiDraw *draw, void *user);
bool sand_mpi_draw(SandError *error);
// Within `draw`, by all ranks: the residuals of the contacts of own->state.
bool sand_mpi_residuals(const double **each, SandError *error);
// The same: the ghosts of own->world are then where their owners have them.
bool sand_mpi_move_ghosts(SandError *error);

#ifdef __cplusplus
}
#endif
