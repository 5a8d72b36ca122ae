// SPDX-License-Identifier: MIT
// What the two halves of collision detection, cuda/collision/broad_phase.cu and cuda/collision/collide.cu, share: the
// contact sink that sim/collision/narrow_phase.inl writes to, that file itself, and the queries of the broad phase grid.
#pragma once
#include "cuda/device.h"

// Where the narrow phase puts contact candidates. Contacts are counted first, with `out` NULL, and then written to the range
// of their sphere.
typedef struct SandSink {
    SandContactCandidate *out;
    int count;
    int *mesh_overflow;
} SandSink;

SAND_HOST_DEVICE void sink_put(SandSink *sink, const SandContactCandidate *candidate) {
    if (sink->out) sink->out[sink->count] = *candidate;
    sink->count++;
}

SAND_HOST_DEVICE void sink_too_many(SandSink *sink, int body, int boundary, int count) {
    sink->mesh_overflow[0] = body;
    sink->mesh_overflow[1] = boundary;
    sink->mesh_overflow[2] = count;
}

#define SAND_SINK
#include "sim/collision/narrow_phase.inl"

#include "cuda/collision/neighbor_list.h"

static __device__ SandFinder finder_of(const SandWorld *world, const SandCollision *collision, SearchParams s) {
    SandFinder f = {world, collision, s.largest_mu, s.fall};
    return f;
}

inline CullArrays cull_arrays(const SandDevice *device) {
    return {device->cull_bounds.data, device->cull_motion.data, device->cull_size.data};
}

// Thread blocks of a kernel with a group for a sphere. How many spheres are queried by groups is known on the device alone,
// so that the number of blocks is limited and the groups loop.
inline int query_blocks(const SandDevice *device) {
    return device_blocks(device, QUERY_THREADS * ((int64_t)device->sphere_total + 1), QUERY_BLOCK_THREADS, 32);
}

// Raises a positive number to at least `other`. Mostly it is that high already, and a load is cheaper than an atomic.
static __device__ void raise_to(double *value, double other) {
    if (*(volatile double *)value >= other) return;
    atomicMax((unsigned long long *)value, (unsigned long long)__double_as_longlong(other));
}

// Raises the deepest penetration of all to that of the warp.
static __device__ void raise_deepest(double *of_all, double deepest) {
    for (int s = 16; s; s >>= 1) deepest = fmax(deepest, __shfl_down_sync(ALL_LANES, deepest, s));
    if ((threadIdx.x & 31) == 0 && deepest > 0) raise_to(of_all, deepest);
}

// The deepest penetration that a thread has seen, of all contacts and of those with boundaries.
struct Deepest {
    double any = 0, wall = 0;
};

// Notes the owners of the candidates that a thread has written, and how deep they are.
static __device__ void note_written(const SandContactCandidate *candidates, int begin, int end, uint32_t *owner,
                                    Deepest &deepest) {
    for (int k = begin; k < end; k++) {
        deepest.any = fmax(deepest.any, -candidates[k].gap);
        if (candidates[k].b < 0) deepest.wall = fmax(deepest.wall, -candidates[k].gap);
        owner[k] = (uint32_t)candidates[k].index_a;
    }
}

static __device__ void raise_deepest(Counts *counts, const Deepest &deepest) {
    raise_deepest(&counts->deepest, deepest.any);
    raise_deepest(&counts->deepest_wall, deepest.wall);
}
