// SPDX-License-Identifier: MIT
// A slot: device memory for the instances of one picture, or for a snapshot of the bodies. cuda/render/instances.cu writes
// it, cuda/render/gl_interop.cu copies it to OpenGL.
#pragma once
#include "sim/step/backend.h"

#include <cuda_runtime.h>

// The simulation and the renderer use streams of their own, which wait for each other by events, without the host: the
// writer waits until the last picture is copied, the reader until the next one is written.
struct SandSlot {
    void *data, *host;              // on the device; of a snapshot, where it is brought to
    size_t capacity, host_capacity; // bytes
    cudaEvent_t written, copied;
};

// Reports a failure as a sentence, and clears CUDA's last error; false.
bool slot_fail(cudaError_t code, const char *doing, SandError *error);
