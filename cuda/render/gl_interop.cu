// SPDX-License-Identifier: MIT
// CUDA-OpenGL interop: an OpenGL buffer that the device writes, registered once and mapped for each copy, so that instances
// are drawn without going through the host. Everything here is called by the render thread, with its context current.
#include "cuda/device.h"
#include "cuda/render/instance_slot.h"

#if __has_include(<GL/gl.h>)
#include <GL/gl.h>
#include <cuda_gl_interop.h>

struct SandShare {
    cudaGraphicsResource_t resource;
    cudaStream_t stream; // of the renderer; its priority is above the solver's
};

// Whether the OpenGL context of this thread runs on the device of the simulation, which is the first.
static bool gl_on_this_device(SandError *error) {
    unsigned count = 0;
    int devices[16];
    cudaError_t code = cudaGLGetDevices(&count, devices, 16, cudaGLDeviceListAll);
    if (code != cudaSuccess) {
        cudaGetLastError();
        return sand_fail(error, "OpenGL runs on no CUDA device (%s)", cudaGetErrorString(code));
    }
    for (unsigned k = 0; k < count; k++)
        if (devices[k] == 0) return true;
    return sand_fail(error, "OpenGL runs on another device");
}

void share_free(SandShare *share) {
    if (share->stream) cudaStreamSynchronize(share->stream);
    if (share->resource) cudaGraphicsUnregisterResource(share->resource);
    if (share->stream) cudaStreamDestroy(share->stream);
    delete share;
}

SandShare *share_buffer(unsigned buffer, SandError *error) {
    if (!gl_on_this_device(error)) return NULL;
    SandShare *share = new SandShare();
    int least = 0, greatest = 0;
    cudaDeviceGetStreamPriorityRange(&least, &greatest);
    cudaError_t code = cudaStreamCreateWithPriority(&share->stream, cudaStreamNonBlocking, greatest);
    if (code == cudaSuccess)
        code = cudaGraphicsGLRegisterBuffer(&share->resource, buffer, cudaGraphicsRegisterFlagsWriteDiscard);
    if (code == cudaSuccess) return share;
    slot_fail(code, "sharing a buffer with OpenGL", error);
    share_free(share);
    return NULL;
}

// Copies a slot to the buffer while it is mapped. OpenGL must not touch it until share_copy unmaps it, which happens even if
// the copy fails.
static cudaError_t copy_mapped(SandShare *share, const SandSlot *slot, size_t bytes) {
    void *to = NULL;
    size_t capacity = 0;
    cudaError_t code = cudaGraphicsResourceGetMappedPointer(&to, &capacity, share->resource);
    if (code == cudaSuccess && capacity < bytes) code = cudaErrorInvalidValue;
    if (code == cudaSuccess) code = cudaMemcpyAsync(to, slot->data, bytes, cudaMemcpyDeviceToDevice, share->stream);
    return code;
}

bool share_copy(SandShare *share, SandSlot *slot, size_t bytes, SandError *error) {
    cudaError_t code = cudaGraphicsMapResources(1, &share->resource, share->stream);
    if (code == cudaSuccess) {
        code = cudaStreamWaitEvent(share->stream, slot->written, 0);
        if (code == cudaSuccess) code = copy_mapped(share, slot, bytes);
        if (code == cudaSuccess) code = cudaEventRecord(slot->copied, share->stream);
        cudaError_t unmapped = cudaGraphicsUnmapResources(1, &share->resource, share->stream);
        if (code == cudaSuccess) code = unmapped;
    }
    return code == cudaSuccess || slot_fail(code, "copying instances to OpenGL", error);
}

#else

SandShare *share_buffer(unsigned, SandError *error) { return sand_fail(error, "this build has no OpenGL"), nullptr; }
void share_free(SandShare *) {}
bool share_copy(SandShare *, SandSlot *, size_t, SandError *error) { return sand_fail(error, "this build has no OpenGL"); }

#endif
