// The sums of probes on the GPU, by the terms of sim/step/probe.inl. Bodies go in the order of solver indices and contacts
// in that of their owners, so that neighbors in a thread block are neighbors in space. Terms are added by a tree in double
// before one thread adds the result to an exact sum: those of a thread block, where a probe has one cell, else those of a
// warp that are in the same cell. Which of them belong together depends on nothing but the step, and so the bits do not
// either.
//   count_carrying    contacts of each body that carry a force, for coordination
//   sum_bodies        terms of the bodies
//   sum_contacts      terms of the contacts
#include "cuda/device.h"

#include "sim/core/exact_sum.inl"
#include "sim/step/probe.inl"

#define WHOLE_WARP 0xffffffffu

// What the kernels read of the step.
struct ProbeSource {
    const SandCollision *collision;
    const SandProblemBody *before;
    const int *order;         // of the contacts, by their owners
    const Impulse *impulse;   // in that order
    const Impulse *torque;    // NULL: there are none
    const uint32_t *carrying; // of each solver index
    const Counts *counts;
};

static __device__ ProbeView view_of(const SandWorld *w, const ProbeSource &from) {
    ProbeView view = {w, from.collision, from.before, from.carrying};
    return view;
}

// The sum, or the largest, of a number of each lane; every lane gets it.
static __device__ double warp_reduce(double value, bool largest) {
    for (int s = 16; s; s >>= 1) {
        double other = __shfl_xor_sync(WHOLE_WARP, value, s);
        value = largest ? fmax(value, other) : value + other;
    }
    return value;
}

// Adds the terms of the lanes that are in cell `cell` to its sums from `first` to `last`, by the lane `leader`.
static __device__ void add_cell(const SandProbe &p, bool mine, int leader, int cell, const ProbeWalk &walk,
                                const double *value, int first, int last, SandExactSum *sums) {
    bool largest = p.kind == SAND_PROBE_SURFACE, leads = (int)(threadIdx.x & 31) == leader;
    SandExactSum *to = sums + (size_t)cell * probe_sums(p.kind);
    for (int j = first; j < last; j++) {
        double term = largest ? (mine ? value[j] : -INFINITY) : mine ? walk.share * value[j] : 0;
        double sum = warp_reduce(term, largest);
        if (leads && largest) exact_most(&to[j], sum);
        if (leads && !largest) exact_add(&to[j], sum, true);
    }
}

// Adds the terms of a warp, cell by cell of those that its lanes are in. All lanes call it together; `has`: the lane has a
// term.
static __device__ void add_warp(const SandWorld &w, const SandProbe &p, bool has, const double *value, ProbeWalk &walk,
                                int first, int last, SandExactSum *sums) {
    bool more = has && probe_next(&w, &p, &walk);
    for (unsigned left = __ballot_sync(WHOLE_WARP, more); left; left = __ballot_sync(WHOLE_WARP, more)) {
        while (left) {
            int leader = __ffs(left) - 1, cell = __shfl_sync(WHOLE_WARP, walk.number, leader);
            bool mine = more && walk.number == cell;
            add_cell(p, mine, leader, cell, walk, value, first, last, sums);
            left &= ~__ballot_sync(WHOLE_WARP, mine);
        }
        more = more && probe_next(&w, &p, &walk);
    }
}

// Adds the terms of a thread block to the one cell that a probe has. All threads call it together.
static __device__ void add_block(bool has, const double *value, int first, int last, SandExactSum *sums) {
    __shared__ double of_warp[BLOCK_THREADS / 32][PROBE_SUMS];
    if (!__syncthreads_or(has)) return;
    for (int j = first; j < last; j++) {
        double sum = warp_reduce(has ? value[j] : 0, false);
        if ((threadIdx.x & 31) == 0) of_warp[threadIdx.x / 32][j] = sum;
    }
    __syncthreads();
    int j = first + (int)threadIdx.x;
    double sum = 0;
    for (int k = 0; j < last && k < BLOCK_THREADS / 32; k++) sum += of_warp[k][j];
    if (j < last) exact_add(&sums[j], sum, true);
}

// SINGLE: the probe has one cell.
template <bool SINGLE>
static __device__ void add_terms(const SandWorld &w, const SandProbe &p, bool has, const double *value, ProbeWalk &walk,
                                 int first, int last, SandExactSum *sums) {
    if (SINGLE)
        add_block(has, value, first, last, sums);
    else
        add_warp(w, p, has, value, walk, first, last, sums);
}

// Of stress bodies and contacts have sums of their own.
static __device__ int body_sums(const SandProbe &p) { return p.kind == SAND_PROBE_STRESS ? 10 : probe_sums(p.kind); }

template <bool SINGLE>
static __global__ void __launch_bounds__(BLOCK_THREADS)
    sum_bodies(const __grid_constant__ SandWorld w, const __grid_constant__ SandProbe p, ProbeSource from,
               SandExactSum *sums) {
    ProbeView view = view_of(&w, from);
    EACH_BLOCK(base, from.counts->bodies) {
        int64_t k = base + threadIdx.x;
        double value[PROBE_SUMS];
        ProbeWalk walk = ProbeWalk();
        bool has = k < from.counts->bodies && probe_body_terms(&view, &p, (int)k, value, &walk);
        add_terms<SINGLE>(w, p, has, value, walk, 0, body_sums(p), sums);
    }
}

template <bool SINGLE>
static __global__ void __launch_bounds__(BLOCK_THREADS)
    sum_contacts(const __grid_constant__ SandWorld w, const __grid_constant__ SandProbe p, ProbeSource from,
                 SandExactSum *sums) {
    ProbeView view = view_of(&w, from);
    EACH_BLOCK(base, from.counts->found) {
        int64_t i = base + threadIdx.x;
        double value[PROBE_SUMS];
        ProbeWalk walk = ProbeWalk();
        bool has = i < from.counts->found &&
                   probe_contact_terms(&view, &p, &from.collision->contacts[from.order[i]], impulse_vector(from.impulse[i]),
                                       from.torque ? impulse_vector(from.torque[i]) : v3_make(0, 0, 0), value, &walk);
        int first = p.kind == SAND_PROBE_STRESS ? body_sums(p) : 0;
        add_terms<SINGLE>(w, p, has, value, walk, first, probe_sums(p.kind), sums);
    }
}

static __global__ void count_carrying(const __grid_constant__ SandWorld w, const __grid_constant__ SandProbe p,
                                      ProbeSource from, uint32_t *carrying) {
    ProbeView view = view_of(&w, from);
    EACH(i, from.counts->found) {
        const SandContactCandidate *c = &from.collision->contacts[from.order[i]];
        if (!probe_carries(&view, &p, c, impulse_vector(from.impulse[i]))) continue;
        atomicAdd(&carrying[c->index_a], 1u);
        if (c->b >= 0) atomicAdd(&carrying[c->b], 1u);
    }
}

static bool carrying_enqueue(SandDevice *device, const SandProbe &p, ProbeSource &from) {
    size_t bodies = (size_t)device->world.body_count + 1;
    if (!reserve(device, device->carrying, bodies) ||
        !device_check(device, cudaMemsetAsync(device->carrying.data, 0, bodies * sizeof(uint32_t), device->stream),
                      "probes"))
        return false;
    LAUNCH(device, count_carrying, device->contact_capacity, device->world, p, from, device->carrying.data);
    from.carrying = device->carrying.data;
    return device_check(device, cudaGetLastError(), "probes");
}

template <bool SINGLE>
static void sums_enqueue(SandDevice *device, const SandProbe &p, const ProbeSource &from, SandExactSum *sums) {
    int bodies = device_blocks(device, device->world.body_count, BLOCK_THREADS, 8),
        contacts = device_blocks(device, device->host_counts->found, BLOCK_THREADS, 8);
    if (probe_has_bodies(&p)) sum_bodies<SINGLE><<<bodies, BLOCK_THREADS, 0, device->stream>>>(device->world, p, from, sums);
    if (probe_has_contacts(p.kind))
        sum_contacts<SINGLE><<<contacts, BLOCK_THREADS, 0, device->stream>>>(device->world, p, from, sums);
}

static bool probe_enqueue(SandDevice *device, const SandProbe &p, ProbeSource from, SandExactSum *sums) {
    if (p.kind == SAND_PROBE_COORDINATION && !carrying_enqueue(device, p, from)) return false;
    (probe_is_single(&p) ? sums_enqueue<true> : sums_enqueue<false>)(device, p, from, sums);
    return device_check(device, cudaGetLastError(), "probes");
}

bool probes_measure(SandDevice *device, SandProbeBatch *batch, SandError *error) {
    size_t count = batch->first[batch->count];
    ProbeSource from = {device->device_collision.data,
                        device->bodies.data,
                        device->candidate_order.data,
                        device->kept_impulse.data,
                        device->torques ? device->kept_torque.data : NULL,
                        NULL,
                        device->counts};
    bool ok = reserve(device, device->probe_sums, count) &&
              device_check(device, cudaMemsetAsync(device->probe_sums.data, 0, count * sizeof(SandExactSum), device->stream),
                           "probes");
    for (int k = 0; ok && k < batch->count; k++)
        ok = probe_enqueue(device, *batch->probe[k], from, device->probe_sums.data + batch->first[k]);
    ok = ok && download(device, batch->sums, device->probe_sums.data, count) && device_wait(device);
    return ok || device_fail(device, error);
}
