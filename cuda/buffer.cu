// SPDX-License-Identifier: MIT
// Buffers, errors and streams of the device. A failed call is remembered in the device (device_check) and everything after
// it is skipped, so that the stages need no error handling of their own; device_fail turns it into a sentence.
#include "cuda/device.h"

#include "sim/core/array.h"

constexpr size_t LARGE_BUFFER = (size_t)1 << 28, HUGE_BUFFER = (size_t)1 << 34; // bytes

bool device_check(SandDevice *device, cudaError_t code, const char *doing) {
    if (code != cudaSuccess && device->code == cudaSuccess) {
        device->code = code;
        device->doing = doing;
    }
    return device->code == cudaSuccess;
}

bool device_fail(SandDevice *device, SandError *error) {
    cudaError_t code = device->code;
    device->code = cudaSuccess; // it is reported: what is on the device may still be read, unless the device refuses again
    cudaGetLastError();
    if (code == cudaErrorMemoryAllocation)
        return sand_fail(error, "the GPU has no memory left for %s (%.0f MB are held)", device->doing,
                         1e-6 * (double)device->bytes);
    return sand_fail(error, "CUDA failed in %s: %s", device->doing ? device->doing : "a step", cudaGetErrorString(code));
}

bool device_wait(SandDevice *device) {
    return device_check(device, cudaStreamSynchronize(device->stream), "waiting for the GPU");
}

bool device_fork(SandDevice *device, int side_streams) {
    bool ok = device_check(device, cudaEventRecord(device->forked, device->stream), "forking");
    for (int k = 0; k < side_streams; k++)
        ok = ok && device_check(device, cudaStreamWaitEvent(device->side_stream[k], device->forked), "forking");
    return ok;
}

bool device_join(SandDevice *device, int side_stream) {
    return device_check(device, cudaEventRecord(device->joined[side_stream], device->side_stream[side_stream]), "joining") &&
           device_check(device, cudaStreamWaitEvent(device->stream, device->joined[side_stream]), "joining");
}

// Items to allocate for `count` of them. A buffer that grows gets more than asked for, so that slowly growing counts do not
// reallocate in every step: the less the larger it is, and the scarcer memory. The first time it gets what is asked for,
// which mostly is right.
static size_t grown_capacity(const SandDevice *device, size_t capacity, size_t count, size_t size) {
    if (capacity == 0 || count * size > HUGE_BUFFER) return count;
    if (device->gives_up) return count + count / 64;
    return count + (count * size < LARGE_BUFFER ? count / 4 : count / 16);
}

// Allocates *wanted items, or `count` where memory does not suffice for them; NULL where it does not for these either.
static void *allocate(size_t *wanted, size_t count, size_t size) {
    void *fresh = NULL;
    if (cudaMalloc(&fresh, *wanted * size) == cudaSuccess) return fresh;
    cudaGetLastError();
    *wanted = count;
    if (cudaMalloc(&fresh, count * size) == cudaSuccess) return fresh;
    cudaGetLastError();
    return NULL;
}

// Replaces a buffer by one of *wanted items, at least `count`, with contents that begin with `bytes` of `from`, which may be
// the old buffer: it is released when they are copied.
static bool replace(SandDevice *device, void **data, size_t *capacity, void *fresh, size_t wanted, size_t size,
                    const void *from, size_t bytes) {
    device_check(device, cudaMemsetAsync(fresh, 0, wanted * size, device->stream), "clearing an array");
    if (bytes)
        device_check(device, cudaMemcpyAsync(fresh, from, bytes, cudaMemcpyDefault, device->stream), "keeping an array");
    device->bytes += wanted * size;
    device->growths++;
    if (bytes) device_wait(device);
    if (*data) device_release(device, data, capacity, size);
    *data = fresh;
    *capacity = wanted;
    return device->code == cudaSuccess;
}

static bool no_memory(SandDevice *device) { return device_check(device, cudaErrorMemoryAllocation, "an array"); }

// Grows a buffer that keeps its contents where the old and the new one do not fit together: the host holds them meanwhile.
static bool grow_by_host(SandDevice *device, void **data, size_t *capacity, size_t count, size_t size) {
    size_t wanted = count, bytes = *capacity * size;
    std::vector<uint8_t> held(bytes);
    if (!download(device, held.data(), (const uint8_t *)*data, bytes) || !device_wait(device)) return false;
    device_release(device, data, capacity, size);
    void *fresh = allocate(&wanted, count, size);
    if (!fresh) return no_memory(device);
    return replace(device, data, capacity, fresh, wanted, size, held.data(), bytes);
}

bool device_reserve(SandDevice *device, void **data, size_t *capacity, size_t count, size_t size, bool keep) {
    if (device->code != cudaSuccess) return false;
    if (count <= *capacity) return true;
    size_t wanted = grown_capacity(device, *capacity, count, size), kept = keep ? *capacity * size : 0;
    if (*data && !keep) { // before the new one is there: both together may not fit
        device_wait(device);
        device_release(device, data, capacity, size);
    }
    void *fresh = allocate(&wanted, count, size);
    if (!fresh) return kept ? grow_by_host(device, data, capacity, count, size) : no_memory(device);
    return replace(device, data, capacity, fresh, wanted, size, *data, kept);
}

void device_release(SandDevice *device, void **data, size_t *capacity, size_t size) {
    if (*data) cudaFree(*data);
    device->bytes -= *capacity * size;
    *data = NULL;
    *capacity = 0;
}

static __global__ void fill_iota(int *values, int64_t n) {
    EACH(i, n) values[i] = (int)i;
}

bool reserve_iota(SandDevice *device, size_t count) {
    if (count <= device->iota.capacity) return true;
    if (!reserve(device, device->iota, count)) return false;
    LAUNCH(device, fill_iota, (int64_t)device->iota.capacity, device->iota.data, (int64_t)device->iota.capacity);
    return device_check(device, cudaGetLastError(), "numbering");
}

// Remembers for how many items it suffices: asking CUB for the size takes too long to do it in every step.
bool reserve_scratch(SandDevice *device, Scratch &scratch, int64_t items) {
    if (items <= scratch.scanned) return true;
    if (!reserve(device, scratch.bytes, scan_scratch(items))) return false;
    scratch.scanned = items;
    return true;
}

bool reserve_sorting(SandDevice *device, Scratch &scratch, int64_t items) {
    if (items <= scratch.sorted) return true;
    if (!reserve(device, scratch.bytes, sort_scratch(items))) return false;
    scratch.sorted = items;
    return true;
}
