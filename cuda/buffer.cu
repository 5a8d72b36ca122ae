// Buffers, errors and streams of the device. A failed call is remembered in the device (device_check) and everything after
// it is skipped, so that the stages need no error handling of their own; device_fail turns it into a sentence.
#include "cuda/device.h"

#include "sim/core/array.h"

bool device_check(SandDevice *m, cudaError_t code, const char *doing) {
    if (code != cudaSuccess && m->code == cudaSuccess) {
        m->code = code;
        m->doing = doing;
    }
    return m->code == cudaSuccess;
}

bool device_fail(SandDevice *m, SandError *error) {
    cudaError_t code = m->code;
    m->code = cudaSuccess; // it is reported: what is on the device may still be read, unless the device refuses again
    cudaGetLastError();
    if (code == cudaErrorMemoryAllocation)
        return sand_fail(error, "the GPU has no memory left for %s (%.0f MB are held)", m->doing, 1e-6 * (double)m->bytes);
    return sand_fail(error, "CUDA failed in %s: %s", m->doing ? m->doing : "a step", cudaGetErrorString(code));
}

bool device_wait(SandDevice *m) { return device_check(m, cudaStreamSynchronize(m->stream), "waiting for the GPU"); }

bool device_fork(SandDevice *m, int side_streams) {
    bool ok = device_check(m, cudaEventRecord(m->forked, m->stream), "forking");
    for (int k = 0; k < side_streams; k++)
        ok = ok && device_check(m, cudaStreamWaitEvent(m->side_stream[k], m->forked), "forking");
    return ok;
}

bool device_join(SandDevice *m, int side_stream) {
    return device_check(m, cudaEventRecord(m->joined[side_stream], m->side_stream[side_stream]), "joining") &&
           device_check(m, cudaStreamWaitEvent(m->stream, m->joined[side_stream]), "joining");
}

// Grows by a quarter more than asked for, so that slowly growing counts do not reallocate in every step.
bool device_reserve(SandDevice *m, void **data, size_t *capacity, size_t count, size_t size, bool keep) {
    if (m->code != cudaSuccess) return false;
    if (count <= *capacity) return true;
    size_t wanted = count + count / 4;
    void *fresh = NULL;
    if (!device_check(m, cudaMalloc(&fresh, wanted * size), "an array")) return false;
    device_check(m, cudaMemsetAsync(fresh, 0, wanted * size, m->stream), "clearing an array");
    if (keep && *capacity)
        device_check(m, cudaMemcpyAsync(fresh, *data, *capacity * size, cudaMemcpyDeviceToDevice, m->stream),
                     "keeping an array");
    m->bytes += wanted * size;
    m->growths++;
    if (*data) {
        device_wait(m);
        device_release(m, data, capacity, size);
    }
    *data = fresh;
    *capacity = wanted;
    return m->code == cudaSuccess;
}

void device_release(SandDevice *m, void **data, size_t *capacity, size_t size) {
    if (*data) cudaFree(*data);
    m->bytes -= *capacity * size;
    *data = NULL;
    *capacity = 0;
}

static __global__ void fill_iota(int *values, int64_t n) { EACH(i, n) values[i] = (int)i; }

bool reserve_iota(SandDevice *m, size_t count) {
    if (count <= m->iota.capacity) return true;
    if (!reserve(m, m->iota, count)) return false;
    LAUNCH(fill_iota, (int64_t)m->iota.capacity, m->iota.data, (int64_t)m->iota.capacity);
    return device_check(m, cudaGetLastError(), "numbering");
}

// Remembers for how many items it suffices: asking CUB for the size takes too long to do it in every step.
bool reserve_scratch(SandDevice *m, Scratch &scratch, int64_t items) {
    if (items <= scratch.items) return true;
    if (!reserve(m, scratch.bytes, sort_scratch(items))) return false;
    scratch.items = items;
    return true;
}
