#include "cuda/device.h"

#include "sim/core/array.h"

bool machine_check(SandMachine *m, cudaError_t code, const char *doing) {
    if (code != cudaSuccess && m->code == cudaSuccess) m->code = code, m->doing = doing;
    return m->code == cudaSuccess;
}

bool machine_fail(SandMachine *m, SandError *error) {
    cudaError_t code = m->code;
    m->code = cudaSuccess; // it is told: what is on the device may be read, unless the device refuses again
    cudaGetLastError();
    if (code == cudaErrorMemoryAllocation)
        return sand_fail(error, "the GPU has no memory left for %s (%.0f MB are held)", m->doing, 1e-6 * (double)m->bytes);
    return sand_fail(error, "CUDA failed in %s: %s", m->doing ? m->doing : "a step", cudaGetErrorString(code));
}

bool machine_wait(SandMachine *m) { return machine_check(m, cudaStreamSynchronize(m->stream), "waiting for the GPU"); }

bool machine_fork(SandMachine *m, int asides) {
    bool ok = machine_check(m, cudaEventRecord(m->forked, m->stream), "forking");
    for (int k = 0; k < asides; k++) ok = ok && machine_check(m, cudaStreamWaitEvent(m->aside[k], m->forked), "forking");
    return ok;
}

bool machine_join(SandMachine *m, int aside) {
    return machine_check(m, cudaEventRecord(m->joined[aside], m->aside[aside]), "joining") &&
           machine_check(m, cudaStreamWaitEvent(m->stream, m->joined[aside]), "joining");
}

bool machine_reserve(SandMachine *m, void **data, size_t *capacity, size_t count, size_t size, bool keep) {
    if (m->code != cudaSuccess) return false;
    if (count <= *capacity) return true;
    size_t wanted = count + count / 4;
    void *fresh = NULL;
    if (!machine_check(m, cudaMalloc(&fresh, wanted * size), "an array")) return false;
    machine_check(m, cudaMemsetAsync(fresh, 0, wanted * size, m->stream), "clearing an array");
    if (keep && *capacity)
        machine_check(m, cudaMemcpyAsync(fresh, *data, *capacity * size, cudaMemcpyDeviceToDevice, m->stream),
                      "keeping an array");
    m->bytes += wanted * size;
    m->growths++;
    if (*data) {
        machine_wait(m);
        machine_release(m, data, capacity, size);
    }
    *data = fresh, *capacity = wanted;
    return m->code == cudaSuccess;
}

void machine_release(SandMachine *m, void **data, size_t *capacity, size_t size) {
    if (*data) cudaFree(*data);
    m->bytes -= *capacity * size;
    *data = NULL, *capacity = 0;
}

static __global__ void fill_iota(int *values, int64_t n) { EACH(i, n) values[i] = (int)i; }

bool reserve_iota(SandMachine *m, size_t count) {
    if (count <= m->iota.capacity) return true;
    if (!reserve(m, m->iota, count)) return false;
    LAUNCH(fill_iota, (int64_t)m->iota.capacity, m->iota.data, (int64_t)m->iota.capacity);
    return machine_check(m, cudaGetLastError(), "numbering");
}

// Asking CUB how much it wants takes longer than it should for every step.
bool reserve_scratch(SandMachine *m, Scratch &scratch, int64_t items) {
    if (items <= scratch.items) return true;
    if (!reserve(m, scratch.bytes, sort_scratch(items))) return false;
    scratch.items = items;
    return true;
}
