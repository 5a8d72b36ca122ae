// The backend `mpi`: several processes take the steps of one simulation. Every rank has the whole world and does all but the
// solve by itself, on its own threads; they solve together (sim/solver/subdomain.h). The bits are those of the CPU backend.
#pragma once
#include "sim/step/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

const SandBackend *sand_mpi_backend(void); // after sand_mpi_begin

#ifdef __cplusplus
}
#endif
