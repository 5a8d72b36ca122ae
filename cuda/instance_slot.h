// What instances.cu writes and interop.cu hands on.
#pragma once
#include "sim/step/backend.h"

#include <cuda_runtime.h>

// The machine and who draws work on streams of their own, and each waits for the other on the device alone: the writer for
// the last copy of the slot, the reader for the last picture in it.
struct SandSlot {
    SandInstance *data;
    size_t capacity; // instances
    cudaEvent_t written, copied;
};

bool slot_fail(cudaError_t code, const char *doing,
               SandError *error); // false, with the sentence; the error is taken note of
