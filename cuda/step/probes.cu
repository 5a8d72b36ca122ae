// SPDX-License-Identifier: MIT
// The sums of probes on the GPU, by the terms of sim/step/probe.inl. Bodies go in the order of solver indices and contacts
// in that of their owners, so that neighbors in a warp are neighbors in space. Terms are added in double before one thread
// adds the result to an exact sum: where a probe has one cell, those of a thread and then by a tree those of its block, else
// by a tree those of a warp that are in the same cell. Which of them belong together depends on nothing but the step, and so
// the bits do not either. Of a rank every block has a chunk, whose bodies and contacts are the same whatever the number of
// ranks.
//   count_carrying                        contacts of each body that carry a force, for coordination
//   sum_bodies, sum_bodies_by_cell        terms of the bodies, for a probe with one cell and with several
//   sum_contacts, sum_contacts_by_cell    terms of the contacts
#include "cuda/hooks.h"

#include "sim/core/exact_sum.inl"
#include "sim/step/probe.inl"

enum { PROBE_BLOCKS = 1024 }; // that sum the terms of a probe with one cell

// What the kernels read of the step.
struct ProbeSource {
    const SandCollision *collision;
    const SandProblemBody *before;
    const int *order;         // of the contacts, by their owners
    const Impulse *impulse;   // in that order
    const Impulse *torque;    // NULL: there are none
    const uint32_t *carrying; // of each solver index
    const Counts *counts;
    const int *bodies, *contacts; // of a rank: where its chunks begin, and the end; NULL: all blocks share all of them
};

// The share of a thread block: items from `base` to `end`, of which its threads take one each, and go on by `stride`.
struct ProbeShare {
    int64_t base, end, stride;
};
static __device__ ProbeShare share_of(const int *chunks, int64_t count) {
    if (chunks) return {chunks[blockIdx.x], chunks[blockIdx.x + 1], blockDim.x};
    return {blockIdx.x * (int64_t)blockDim.x, count, (int64_t)gridDim.x * blockDim.x};
}
#define EACH_OF(i, share) for (int64_t i = (share).base + threadIdx.x; i < (share).end; i += (share).stride)
#define EACH_BLOCK_OF(first, share) for (int64_t first = (share).base; first < (share).end; first += (share).stride)

static __device__ ProbeView view_of(const SandWorld *w, const ProbeSource &from) {
    ProbeView view = {w, from.collision, from.before, from.carrying};
    return view;
}

// The sum, or the largest, of a number of each lane; every lane gets it.
static __device__ double warp_reduce(double value, bool largest) {
    for (int s = 16; s; s >>= 1) {
        double other = __shfl_xor_sync(ALL_LANES, value, s);
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
    for (unsigned left = __ballot_sync(ALL_LANES, more); left; left = __ballot_sync(ALL_LANES, more)) {
        while (left) {
            int leader = __ffs(left) - 1, cell = __shfl_sync(ALL_LANES, walk.number, leader);
            bool mine = more && walk.number == cell;
            add_cell(p, mine, leader, cell, walk, value, first, last, sums);
            left &= ~__ballot_sync(ALL_LANES, mine);
        }
        more = more && probe_next(&w, &p, &walk);
    }
}

// Adds what the threads of a block have summed to the one cell that a probe has. All threads call it together.
static __device__ void add_block(const double *total, int first, int last, SandExactSum *sums) {
    __shared__ double of_warp[BLOCK_THREADS / 32][PROBE_SUMS];
#pragma unroll // total stays in registers
    for (int j = 0; j < PROBE_SUMS; j++) {
        if (j < first || j >= last) continue;
        double sum = warp_reduce(total[j], false);
        if ((threadIdx.x & 31) == 0) of_warp[threadIdx.x / 32][j] = sum;
    }
    __syncthreads();
    int j = first + (int)threadIdx.x;
    double sum = 0;
    for (int k = 0; j < last && k < BLOCK_THREADS / 32; k++) sum += of_warp[k][j];
    if (j < last) exact_add(&sums[j], sum, true);
}

// Adds a term to what the thread has summed for the one cell that a probe has; nothing has images, as no world is periodic
// on CUDA.
template <bool SINGLE>
static __device__ void add_thread(const SandProbe &p, const double *value, const ProbeWalk &walk, double *total) {
    double share = SINGLE ? 1 : probe_only_share(&p, &walk);
#pragma unroll
    for (int j = 0; j < PROBE_SUMS; j++) total[j] += share * value[j];
}

// Of stress bodies and contacts have sums of their own.
static __device__ int body_sums(const SandProbe &p) { return p.kind == SAND_PROBE_STRESS ? 10 : probe_sums(p.kind); }
static __device__ int first_contact_sum(const SandProbe &p) { return p.kind == SAND_PROBE_STRESS ? 10 : 0; }

// What contact i, in the order of owners, adds to a probe; false: nothing.
static __device__ bool contact_terms(const ProbeView &view, const SandProbe &p, const ProbeSource &from, int64_t i,
                                     double *value, ProbeWalk *walk) {
    SandVec3 torque = from.torque ? impulse_vector(from.torque[i]) : v3_make(0, 0, 0);
    return probe_contact_terms(&view, &p, &from.collision->contacts[from.order[i]], impulse_vector(from.impulse[i]), torque,
                               value, walk);
}

// The kernels for a probe with one cell know its kind, and whether that cell is everything (probe_is_single), so that they
// need few registers.
template <SandProbeKind KIND, bool SINGLE>
static __global__ void __launch_bounds__(BLOCK_THREADS, 3)
    sum_bodies(const __grid_constant__ SandWorld w, const __grid_constant__ SandProbe p, ProbeSource from,
               SandExactSum *sums) {
    __builtin_assume(p.kind == KIND);
    ProbeView view = view_of(&w, from);
    double total[PROBE_SUMS] = {};
    ProbeShare share = share_of(from.bodies, from.counts->bodies);
    EACH_OF(k, share) {
        double value[PROBE_SUMS] = {};
        ProbeWalk walk = ProbeWalk();
        if (probe_body_terms(&view, &p, (int)k, value, &walk)) add_thread<SINGLE>(p, value, walk, total);
    }
    add_block(total, 0, body_sums(p), sums);
}

template <SandProbeKind KIND, bool SINGLE>
static __global__ void __launch_bounds__(BLOCK_THREADS, 3)
    sum_contacts(const __grid_constant__ SandWorld w, const __grid_constant__ SandProbe p, ProbeSource from,
                 SandExactSum *sums) {
    __builtin_assume(p.kind == KIND);
    ProbeView view = view_of(&w, from);
    double total[PROBE_SUMS] = {};
    ProbeShare share = share_of(from.contacts, from.counts->found);
    EACH_OF(i, share) {
        double value[PROBE_SUMS] = {};
        ProbeWalk walk = ProbeWalk();
        if (contact_terms(view, p, from, i, value, &walk)) add_thread<SINGLE>(p, value, walk, total);
    }
    add_block(total, first_contact_sum(p), probe_sums(p.kind), sums);
}

static __global__ void __launch_bounds__(BLOCK_THREADS)
    sum_bodies_by_cell(const __grid_constant__ SandWorld w, const __grid_constant__ SandProbe p, ProbeSource from,
                       SandExactSum *sums) {
    ProbeView view = view_of(&w, from);
    ProbeShare share = share_of(from.bodies, from.counts->bodies);
    EACH_BLOCK_OF(base, share) {
        int64_t k = base + threadIdx.x;
        double value[PROBE_SUMS];
        ProbeWalk walk = ProbeWalk();
        bool has = k < share.end && probe_body_terms(&view, &p, (int)k, value, &walk);
        add_warp(w, p, has, value, walk, 0, body_sums(p), sums);
    }
}

static __global__ void __launch_bounds__(BLOCK_THREADS)
    sum_contacts_by_cell(const __grid_constant__ SandWorld w, const __grid_constant__ SandProbe p, ProbeSource from,
                         SandExactSum *sums) {
    ProbeView view = view_of(&w, from);
    ProbeShare share = share_of(from.contacts, from.counts->found);
    EACH_BLOCK_OF(base, share) {
        int64_t i = base + threadIdx.x;
        double value[PROBE_SUMS];
        ProbeWalk walk = ProbeWalk();
        bool has = i < share.end && contact_terms(view, p, from, i, value, &walk);
        add_warp(w, p, has, value, walk, first_contact_sum(p), probe_sums(p.kind), sums);
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

// The number of blocks is the same on every GPU, as it decides which terms a thread adds.
template <SandProbeKind KIND, bool SINGLE>
static void one_cell_enqueue(SandDevice *device, const SandProbe &p, const ProbeSource &from, SandExactSum *sums) {
    int blocks = device->hooks->probe_blocks(device, PROBE_BLOCKS);
    if (probe_has_bodies(&p))
        sum_bodies<KIND, SINGLE><<<blocks, BLOCK_THREADS, 0, device->stream>>>(device->world, p, from, sums);
    if constexpr (KIND == SAND_PROBE_FORCE || KIND == SAND_PROBE_STRESS)
        sum_contacts<KIND, SINGLE><<<blocks, BLOCK_THREADS, 0, device->stream>>>(device->world, p, from, sums);
}

static void by_cell_enqueue(SandDevice *device, const SandProbe &p, const ProbeSource &from, SandExactSum *sums) {
    int bodies = device_blocks(device, device->world.body_count, BLOCK_THREADS, 8),
        contacts = device_blocks(device, device->host_counts->found, BLOCK_THREADS, 8);
    bodies = device->hooks->probe_blocks(device, bodies);
    contacts = device->hooks->probe_blocks(device, contacts);
    if (probe_has_bodies(&p)) sum_bodies_by_cell<<<bodies, BLOCK_THREADS, 0, device->stream>>>(device->world, p, from, sums);
    if (probe_has_contacts(p.kind))
        sum_contacts_by_cell<<<contacts, BLOCK_THREADS, 0, device->stream>>>(device->world, p, from, sums);
}

using Enqueue = void (*)(SandDevice *, const SandProbe &, const ProbeSource &, SandExactSum *);
#define EITHER(kind) \
    { one_cell_enqueue<kind, false>, one_cell_enqueue<kind, true> }
// For a probe with one cell, by kind, and by probe_is_single. The highest point of a surface is no sum.
static const Enqueue one_cell[][2] = {EITHER(SAND_PROBE_FLOW),
                                      EITHER(SAND_PROBE_FORCE),
                                      EITHER(SAND_PROBE_DENSITY),
                                      EITHER(SAND_PROBE_VELOCITY),
                                      EITHER(SAND_PROBE_STRESS),
                                      EITHER(SAND_PROBE_COORDINATION),
                                      {by_cell_enqueue, by_cell_enqueue},
                                      EITHER(SAND_PROBE_CENTER),
                                      EITHER(SAND_PROBE_ENERGY),
                                      EITHER(SAND_PROBE_PATH)};
static_assert(sizeof one_cell / sizeof *one_cell == SAND_PROBE_KINDS, "an entry for each kind");

static bool probe_enqueue(SandDevice *device, const SandProbe &p, ProbeSource from, SandExactSum *sums) {
    if (p.kind == SAND_PROBE_COORDINATION && !carrying_enqueue(device, p, from)) return false;
    (sand_probe_cells(&p) == 1 ? one_cell[p.kind][probe_is_single(&p)] : by_cell_enqueue)(device, p, from, sums);
    return device_check(device, cudaGetLastError(), "probes");
}

// The probe as this device knows it: a rank has other numbers of bodies.
static bool probe_here(SandDevice *device, const SandProbe *probe, SandProbe *here) {
    *here = *probe;
    return here->body < 0 || device->hooks->find(device, probe->body, &here->body);
}

bool probes_measure(SandDevice *device, SandProbeBatch *batch, SandError *error) {
    for (int k = 0; k < batch->count; k++)
        if (device->gives_up && probe_reads_contacts(batch->probe[k]->kind)) return fail_given_up(device, error);
    size_t count = batch->first[batch->count];
    ProbeSource from = {device->device_collision.data,
                        device->bodies.data,
                        device->candidate_order.data,
                        device->kept_impulse.data,
                        device->torques ? device->kept_torque.data : NULL,
                        NULL,
                        device->counts,
                        device->chunk_body.data,
                        device->chunk_contact.data};
    bool ok = reserve(device, device->probe_sums, count) &&
              device_check(device, cudaMemsetAsync(device->probe_sums.data, 0, count * sizeof(SandExactSum), device->stream),
                           "probes");
    bool any = device->hooks->probe_blocks(device, PROBE_BLOCKS) > 0;
    for (int k = 0; ok && any && k < batch->count; k++) {
        SandProbe probe;
        ok = probe_here(device, batch->probe[k], &probe) &&
             probe_enqueue(device, probe, from, device->probe_sums.data + batch->first[k]);
    }
    ok = ok && download(device, batch->sums, device->probe_sums.data, count) && device_wait(device);
    if (!ok) return device_fail(device, error);
    return device->hooks->measured(device, batch, error);
}
