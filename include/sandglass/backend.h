// SPDX-License-Identifier: MIT
// Backends: what can take the steps of a simulation, by name.
//
//     const SandBackend *cuda = sand_backend_find("cuda", &error); // NULL, with the reason, where there is none
//     if (cuda) def.backend = cuda;                                // of SandSimulationDef; NULL: the CPU
#pragma once
#include "sandglass/simulation.h"

#ifdef __cplusplus
extern "C" {
#endif

// The device that a backend uses.
typedef struct SandDeviceInfo {
    char name[128];  // for people, "NVIDIA H200"
    uint64_t memory; // bytes, all that it has
    int processors;  // cores of the CPU, multiprocessors of a GPU
    bool doubles;    // whether it solves in double precision too (SandSimulationDef.precision)
} SandDeviceInfo;

// The backends that this library was built with, from 0 to sand_backend_count() - 1; the first is the CPU. That one is
// listed does not say that this machine has its device.
SAND_API int sand_backend_count(void);
SAND_API const char *sand_backend_name(int index); // "cpu", "cuda"
// Finds a backend by its name, and a device for it. NULL, with a sentence: there is none of this name, the library was built
// without it, or this machine has no device.
SAND_API const SandBackend *sand_backend_find(const char *name, SandError *error);
// Describes the device of a backend (NULL: the CPU).
SAND_API bool sand_backend_describe(const SandBackend *backend, SandDeviceInfo *info, SandError *error);

#ifdef __cplusplus
}
#endif
