// The backend `mpi:cuda`: several processes take the steps of one simulation, each on a GPU of its own or on one that it
// shares with others, with the bodies that it owns and their neighbors (cuda/ranks/subdomain.h). The bits do not depend on
// the number of processes; they are not those of the backend `cuda`, which adds up in another order.
#pragma once
#include "sim/step/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

const SandBackend *sand_mpi_cuda_backend(void); // after sand_mpi_begin

#ifdef __cplusplus
}
#endif
