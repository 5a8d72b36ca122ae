// Buffers, errors and streams of the device. A failed call is remembered in the device (device_check) and everything after
// it is skipped, so that the stages need no error handling of their own; device_fail turns it into a sentence.
#include "cuda/device.h"

#include "sim/core/array.h"

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

// Grows by a quarter more than asked for, so that slowly growing counts do not reallocate in every step.
bool device_reserve(SandDevice *device, void **data, size_t *capacity, size_t count, size_t size, bool keep) {
    if (device->code != cudaSuccess) return false;
    if (count <= *capacity) return true;
    size_t wanted = count + count / 4;
    void *fresh = NULL;
    if (!device_check(device, cudaMalloc(&fresh, wanted * size), "an array")) return false;
    device_check(device, cudaMemsetAsync(fresh, 0, wanted * size, device->stream), "clearing an array");
    if (keep && *capacity)
        device_check(device, cudaMemcpyAsync(fresh, *data, *capacity * size, cudaMemcpyDeviceToDevice, device->stream),
                     "keeping an array");
    device->bytes += wanted * size;
    device->growths++;
    if (*data) {
        device_wait(device);
        device_release(device, data, capacity, size);
    }
    *data = fresh;
    *capacity = wanted;
    return device->code == cudaSuccess;
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
    if (items <= scratch.items) return true;
    if (!reserve(device, scratch.bytes, sort_scratch(items))) return false;
    scratch.items = items;
    return true;
}
