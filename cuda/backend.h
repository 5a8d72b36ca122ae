// The CUDA backend: the stages of a step on the GPU, behind the table of sim/step/backend.h.
#pragma once
#include "sim/step/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

// How many CUDA devices can be used; 0, with the reason, where there is none.
int sand_cuda_devices(SandError *why);

const SandBackend *sand_cuda_backend(void);

#ifdef __cplusplus
}
#endif
