// The backend `mpi`: several processes take the steps of one simulation, each with the bodies that it owns and their
// neighbors (sim/step/part.h), on its own threads. The bits are those of the CPU backend. A host has all bodies after a
// read.
#pragma once
#include "sim/step/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

const SandBackend *sand_mpi_backend(void); // after sand_mpi_begin

#ifdef __cplusplus
}
#endif
