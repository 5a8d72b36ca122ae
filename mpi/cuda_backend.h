// SPDX-License-Identifier: MIT
// The backend `mpi:cuda`: the ranks of an MPI run take the steps of one simulation, each for its own subdomain
// (cuda/ranks/subdomain.h) on a GPU; the ranks of a machine share GPUs where it has fewer GPUs than ranks. The bits do not
// depend on the number of ranks; they are not those of the backend `cuda`, which sums in another order.
#pragma once
#include "sim/step/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

const SandBackend *sand_mpi_cuda_backend(void); // after sand_mpi_begin

#ifdef __cplusplus
}
#endif
