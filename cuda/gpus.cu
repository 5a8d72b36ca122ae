// SPDX-License-Identifier: MIT
// The GPUs of this machine: how many can be used, which one is, and what it is called.
#include "cuda/backend.h"

#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>

extern "C" int sand_cuda_devices(SandError *why) {
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count); // leaves the count as it was when there is no driver
    if (error != cudaSuccess) {
        cudaGetLastError();
        return sand_fail(why, "no CUDA device: %s", cudaGetErrorString(error)), 0;
    }
    int cooperative = 0;
    if (count > 0) cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0);
    if (!cooperative) return sand_fail(why, "no CUDA device that can launch a cooperative kernel"), 0;
    return count;
}

extern "C" bool sand_cuda_use(int device, SandError *error) {
    cudaError_t code = cudaSetDevice(device);
    return code == cudaSuccess || sand_fail(error, "CUDA device %d: %s", device, cudaGetErrorString(code));
}

extern "C" bool sand_cuda_name(uint8_t name[16], SandError *error) {
    cudaDeviceProp about;
    int device = 0;
    cudaError_t code = cudaGetDevice(&device);
    if (code == cudaSuccess) code = cudaGetDeviceProperties(&about, device);
    if (code != cudaSuccess) return sand_fail(error, "CUDA device %d: %s", device, cudaGetErrorString(code));
    static_assert(sizeof about.uuid == 16, "a name has 16 bytes");
    memcpy(name, &about.uuid, sizeof about.uuid);
    return true;
}

extern "C" bool sand_cuda_about(SandDeviceInfo *info, SandError *error) {
    cudaDeviceProp about;
    int device = 0;
    cudaError_t code = cudaGetDevice(&device);
    if (code == cudaSuccess) code = cudaGetDeviceProperties(&about, device);
    if (code != cudaSuccess) return sand_fail(error, "CUDA device %d: %s", device, cudaGetErrorString(code));
    snprintf(info->name, sizeof info->name, "%.*s", (int)sizeof info->name - 1, about.name);
    info->memory = about.totalGlobalMem;
    info->processors = about.multiProcessorCount;
    info->doubles = false;
    return true;
}
