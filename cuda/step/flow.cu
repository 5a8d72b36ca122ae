// SPDX-License-Identifier: MIT
// What enters and leaves the world on the device.
#include "cuda/hooks.h"

#include "sim/step/inlet.inl"

#include <cmath>

void flow_weigh(SandDevice *device, double mass) { device->mass_unit = std::ldexp(mass > 0 ? mass : 1, -62); }

bool flow_upload(SandDevice *device, const SandWorld *w) {
    return upload(device, device->outlets, w->outlets, (size_t)w->outlet_count);
}

static __global__ void block_cells(const __grid_constant__ SandWorld w, const int *number, const uint8_t *left_out,
                                   uint8_t *blocked) {
    EACH(i, w.body_count) {
        if ((left_out && left_out[i]) || !sand_world_active(&w, (int)i)) continue;
        if (inlet_waits(&w, number ? number[i] : (int)i)) continue;
        uint8_t *of_inlet = blocked;
        for (int k = 0; k < w.inlet_count; k++) {
            inlet_block(&w, &w.inlets[k], (int)i, of_inlet);
            of_inlet += inlet_cells(&w.inlets[k]);
        }
    }
}

// The number of threads of the block before this one that have `mine` set, and of all that have.
static __device__ int place_in_block(bool mine, int *all) {
    __shared__ int of_warp[BLOCK_THREADS / 32];
    unsigned mask = __ballot_sync(ALL_LANES, mine);
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, before = __popc(mask & ((1u << lane) - 1));
    __syncthreads();
    if (lane == 0) of_warp[warp] = __popc(mask);
    __syncthreads();
    *all = 0;
    for (int k = 0; k < BLOCK_THREADS / 32; k++) {
        if (k < warp) before += of_warp[k];
        *all += of_warp[k];
    }
    return before;
}

// Lets bodies enter in the order of the cells that are tried: one block for each inlet.
static __global__ void __launch_bounds__(BLOCK_THREADS) enter_bodies(SandWorld w, const uint8_t *blocked, Counts *counts) {
    const SandInlet *in = &w.inlets[blockIdx.x];
    for (int k = 0; k < (int)blockIdx.x; k++) blocked += inlet_cells(&w.inlets[k]);
    int due = inlet_due(&w, in), cells = inlet_cells(in), next = in->first + in->entered, entered = 0;
    for (int base = 0; base < cells && entered < due; base += BLOCK_THREADS) {
        int k = base + threadIdx.x, cell = k < cells ? inlet_cell_at(&w, in, k) : 0, all;
        bool free = k < cells && !blocked[cell];
        int at = entered + place_in_block(free, &all);
        if (free && at < due) inlet_enter(&w, in, next + at, cell);
        entered = entered + all < due ? entered + all : due;
    }
    for (int k = entered + threadIdx.x; k < cells; k += BLOCK_THREADS) inlet_wait(&w, in, next + k);
    if (threadIdx.x == 0) counts->entered[blockIdx.x] = entered;
}

bool inlets_block_enqueue(SandDevice *device, const SandWorld *w, const int *number, const uint8_t *left_out) {
    if (w->inlet_count == 0) return true;
    size_t cells = 0;
    for (int k = 0; k < w->inlet_count; k++) cells += (size_t)inlet_cells(&w->inlets[k]);
    if (!upload(device, device->inlets, w->inlets, (size_t)w->inlet_count) || !reserve(device, device->blocked, cells) ||
        !device_check(device, cudaMemsetAsync(device->blocked.data, 0, cells, device->stream), "the inlets"))
        return false;
    device->world.inlets = device->inlets.data;
    LAUNCH(device, block_cells, device->world.body_count, device->world, number, left_out, device->blocked.data);
    return device_check(device, cudaGetLastError(), "the inlets");
}

bool inlets_enter_enqueue(SandDevice *device) {
    if (device->world.inlet_count == 0) return true;
    enter_bodies<<<device->world.inlet_count, BLOCK_THREADS, 0, device->stream>>>(device->world, device->blocked.data,
                                                                                  device->counts);
    return device_check(device, cudaGetLastError(), "letting bodies enter");
}

void flow_report(const SandDevice *device, const Counts *c, SandStepReport *r) {
    for (int k = 0; k < SAND_MAX_OUTLETS; k++) {
        r->left[k] = c->left[k];
        r->left_mass[k] = device->mass_unit * (double)c->left_mass[k];
    }
    for (int k = 0; k < SAND_MAX_INLETS; k++) r->entered[k] = c->entered[k];
}
