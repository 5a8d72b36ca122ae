// What both halves of collision detection on the device share: the contact sink, the narrow phase of sim with it, and the
// queries of the broad phase grid.
#pragma once
#include "cuda/device.h"

// Contacts are counted first (no place to put them), then written to the ball's own place.
typedef struct SandSink {
    SandContactCandidate *out;
    int count;
    int *trouble;
} SandSink;

SAND_HOST_DEVICE void sink_put(SandSink *sink, const SandContactCandidate *found) {
    if (sink->out) sink->out[sink->count] = *found;
    sink->count++;
}

SAND_HOST_DEVICE void sink_too_many(SandSink *sink, int body, int boundary, int count) {
    sink->trouble[0] = body, sink->trouble[1] = boundary, sink->trouble[2] = count;
}

#include "sim/collision/narrow_phase.inl"

#include "cuda/neighbor_list.h"

static __device__ SandFinder finder_of(const SandWorld *world, const SandCollision *d, Search s) {
    SandFinder f = {world, d, s.largest_mu, s.fall, s.convex_body};
    return f;
}

inline CullArrays cull_arrays(const SandDevice *m) { return {m->near.data, m->move.data, m->size.data}; }

// Blocks of a kernel where mates look for a ball: how many balls there are for them is known to the device alone.
inline int query_blocks(const SandDevice *m) {
    return device_blocks(m, QUERY_THREADS * ((int64_t)m->sphere_total + 1), QUERY_BLOCK_THREADS, 32);
}

// Raises a positive number. Mostly it is that high already: a look is cheaper than an atomic.
static __device__ void raise_to(double *value, double other) {
    if (*(volatile double *)value >= other) return;
    atomicMax((unsigned long long *)value, (unsigned long long)__double_as_longlong(other));
}
