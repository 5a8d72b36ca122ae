// The CUDA backend: the same verbs as the CPU, on the device.
#pragma once
#include "sim/step/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

// How many CUDA devices can be used; 0, with a sentence why, where there is none.
int sand_cuda_devices(SandError *why);

const SandBackend *sand_cuda_backend(void);

#ifdef __cplusplus
}
#endif
