// SPDX-License-Identifier: MIT
// The bodies of the problem by the cells of a grid, for the coarse correction: as sim/solver/cells.c does it on the CPU,
// with the same result. The kernels in order, after the bodies have been packed:
//
//   find_box       the box around all bodies; its last thread block chooses the grid
//   place_bodies   where each body is in the grid, and its cell
//
// A radix sort by cell makes the lists: the rows are few and long, which csr_build would sort slowly.
#include "cuda/csr.h"
#include "sim/solver/cell_grid.h"

#include <math.h>

struct Box {
    SandVec3 low, high;
};

static __device__ Box box_join(Box a, Box b) {
    return {v3_make(fmin(a.low.x, b.low.x), fmin(a.low.y, b.low.y), fmin(a.low.z, b.low.z)),
            v3_make(fmax(a.high.x, b.high.x), fmax(a.high.y, b.high.y), fmax(a.high.z, b.high.z))};
}
static __device__ Box box_none(void) {
    return {v3_make(INFINITY, INFINITY, INFINITY), v3_make(-INFINITY, -INFINITY, -INFINITY)};
}

// Joins the boxes of the threads of a block; the first thread gets the result. Minima do not depend on the order.
static __device__ Box box_of_block(Box mine) {
    __shared__ Box boxes[BLOCK_THREADS];
    boxes[threadIdx.x] = mine;
    for (int half = BLOCK_THREADS / 2; half; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half) boxes[threadIdx.x] = box_join(boxes[threadIdx.x], boxes[threadIdx.x + half]);
    }
    __syncthreads();
    return boxes[0];
}

static __global__ void __launch_bounds__(BLOCK_THREADS) find_box(const SandProblemBody *bodies, Box *parts, Counts *counts) {
    if (counts->retry) return;
    Box mine = box_none();
    EACH(k, counts->bodies) mine = box_join(mine, {bodies[k].position, bodies[k].position});
    Box box = box_of_block(mine);
    bool last = false;
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = box;
        last = last_block_done(counts);
    }
    if (!__syncthreads_or(last)) return;
    mine = box_none();
    for (int k = threadIdx.x; k < (int)gridDim.x; k += BLOCK_THREADS) mine = box_join(mine, parts[k]);
    box = box_of_block(mine);
    if (threadIdx.x > 0) return;
    counts->box_low = box.low;
    counts->box_high = box.high;
    counts->grid = sand_cell_grid(box.low, box.high, counts->bodies);
}

static __global__ void place_bodies(const SandProblemBody *bodies, float *place, uint32_t *cell_of, int64_t capacity,
                                    const Counts *counts) {
    if (counts->retry) return;
    SandCellGrid grid = counts->grid;
    EACH(k, capacity) {
        if (k >= counts->bodies) {
            cell_of[k] = SAND_MAX_CELLS; // behind all cells
            continue;
        }
        SandVec3 p = sand_cell_place(&grid, bodies[k].position);
        ((float4 *)place)[k] = make_float4((float)p.x, (float)p.y, (float)p.z, 0);
        cell_of[k] = (uint32_t)sand_cell_of(&grid, p);
    }
}

enum { BOX_BLOCKS = 512 };

bool box_enqueue(SandDevice *device) {
    if (!reserve(device, device->boxes, BOX_BLOCKS * sizeof(Box))) return false;
    int blocks = device_blocks(device, device->arrays.bodies, BLOCK_THREADS, 3);
    if (blocks > BOX_BLOCKS) blocks = BOX_BLOCKS;
    find_box<<<blocks, BLOCK_THREADS, 0, device->stream>>>(device->bodies.data, (Box *)device->boxes.data, device->counts);
    return device_check(device, cudaGetLastError(), "the box around the bodies");
}

bool cells_enqueue(SandDevice *device) {
    KernelArrays &arrays = device->arrays;
    size_t bodies = (size_t)arrays.bodies + 2, cells = SAND_MAX_CELLS;
    bool ok = reserve(device, device->place, 4 * bodies) && reserve(device, device->field, 4 * bodies) &&
              reserve(device, device->body_cell, bodies) && reserve(device, device->body_cell_counts, cells + 2) &&
              reserve(device, device->body_cell_first, cells + 2) && reserve(device, device->body_cell_list, bodies) &&
              reserve(device, device->body_cell_sorted, bodies) && reserve_iota(device, bodies) &&
              reserve_sorting(device, device->scratch, (int64_t)bodies) &&
              reserve_scratch(device, device->scratch, (int64_t)cells) &&
              reserve(device, device->moments, device->kernel->moment_count * bodies) &&
              reserve(device, device->coarse, device->kernel->coarse_size);
    if (!ok) return false;
    LAUNCH(device, place_bodies, arrays.bodies, device->bodies.data, device->place.data, device->body_cell.data,
           arrays.bodies, device->counts);
    CsrKeys keys = {device->body_cell.data, &device->counts->bodies, arrays.bodies, (int64_t)cells};
    arrays.place = device->place.data;
    arrays.field = device->field.data;
    arrays.cell_first = device->body_cell_first.data;
    arrays.cell_list = device->body_cell_list.data;
    arrays.coarse = device->coarse.data;
    arrays.moments = device->moments.data;
    return csr_count(device, keys, device->body_cell_counts.data, device->stream) &&
           csr_build(device, keys, device->body_cell_counts.data, device->body_cell_first.data, NULL, device->stream) &&
           device_check(device,
                        sort_pairs(device->scratch.bytes.data, device->scratch.bytes.capacity, device->body_cell.data,
                                   device->body_cell_sorted.data, device->iota.data, device->body_cell_list.data,
                                   arrays.bodies, bits_for(SAND_MAX_CELLS + 1), device->stream),
                        "sorting the bodies by cells");
}
