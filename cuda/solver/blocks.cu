// SPDX-License-Identifier: MIT
// The contacts of the problem cut into blocks for block-sweeps, by the rule of sim/solver/blocks.h. The kernels in order,
// after bodies and contacts have been packed and the box around the bodies is known:
//
//   choose_grid      the diameter of the bodies, and the grid
//   place_bodies     the cell of each body
//   key_contacts     the cell of each contact; a radix sort by it lists the contacts of each cell in ascending order
//   list_blocks      the cells that have contacts
//   fill_parts       the parts and tiles of each block, one warp a block
//   link_blocks      the blocks that each one comes after, the order in which warps take them, and which part of a pass is
//                    the first to have a body
//
// A part is a run of contacts of a block with at most SAND_PART_BODIES bodies, which a warp keeps in shared memory while it
// sweeps them; a block rarely has more than one. Within a part the contacts are in tiles of up to 32 that share no moving
// body, each contact in the first tile that has room for it. Everything follows from the problem alone, but for the order of
// the bodies of a part, on which nothing depends.
#include "cuda/csr.h"
#include "cuda/sort.h"
#include "sim/solver/block_grid.h"
#include "cuda/solver/part_fill.h"

// --- the grid -----------------------------------------------------------------------------------------------

enum { GRID_THREADS = 1024, GRID_SAMPLE = 1 << 12 };

// The distance of a body's center from the surface of contact i.
static __device__ double arm_length(const KernelArrays &arrays, int64_t i, int k, const float *arms) {
    const float *arm = arms + 4 * i;
    if (arms) return norm3d(arm[0], arm[1], arm[2]);
    return (double)((const float *)arrays.free)[8 * (int64_t)k + 7] + arrays.record[4 * i + 3]; // radius and half the gap
}

// Adds up the threads of the one thread block, in a fixed order.
static __device__ double sum_of_block(double mine) {
    __shared__ double parts[GRID_THREADS];
    parts[threadIdx.x] = mine;
    for (int half = GRID_THREADS / 2; half; half /= 2) {
        __syncthreads();
        if ((int)threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
    }
    __syncthreads();
    return parts[0];
}

// Chooses cells of `diameters` mean distances of bodies in contact, of a sample of the contacts.
static __global__ void __launch_bounds__(GRID_THREADS)
    choose_grid(const KernelArrays arrays, double diameters, int64_t most, Counts *counts) {
    if (counts->retry) return;
    int contacts = counts->contacts, sample = min(contacts, (int)GRID_SAMPLE);
    double sum = 0;
    for (int s = threadIdx.x; s < sample; s += GRID_THREADS) {
        int64_t i = (int64_t)s * contacts / sample;
        double own = arm_length(arrays, i, arrays.a[i], arrays.arm_a_record);
        sum += own + (arrays.b[i] < counts->bodies ? arm_length(arrays, i, arrays.b[i], arrays.arm_b_record) : own);
    }
    sum = sum_of_block(sum);
    if (threadIdx.x > 0) return;
    double edge = sample ? diameters * sum / sample : 0, cells = (double)contacts / SAND_PART_CONTACTS_A_CELL;
    counts->block_grid = sand_block_grid(counts->box_low, counts->box_high, counts->bodies, edge, fmin(cells, (double)most));
}

// --- blocks -------------------------------------------------------------------------------------------------

enum { CELL_BITS = 21 };
static __device__ unsigned long long cell_pack(SandBlockCell c) {
    return (unsigned long long)c.along[0] | (unsigned long long)c.along[1] << CELL_BITS |
           (unsigned long long)c.along[2] << 2 * CELL_BITS;
}
static __device__ SandBlockCell cell_unpack(const SandBlockGrid *grid, unsigned long long p) {
    constexpr unsigned long long mask = (1ull << CELL_BITS) - 1;
    return sand_block_cell_at(grid, (int)(p & mask), (int)(p >> CELL_BITS & mask), (int)(p >> 2 * CELL_BITS & mask));
}

static __global__ void place_bodies(const SandProblemBody *bodies, unsigned long long *cell, const Counts *counts) {
    if (counts->retry) return;
    SandBlockGrid grid = counts->block_grid;
    EACH(k, counts->bodies) cell[k] = cell_pack(sand_block_cell(&grid, bodies[k].position));
}

// Whether contact i has no impulse when the solve starts, and its bodies move apart without one, by more than
// SAND_IDLE_SHARE of their size a step: most such contacts stay without.
static __device__ bool is_idle(const KernelArrays &arrays, int64_t i, int row_size, double step) {
    const float *start = arrays.vectors + row_size * i, *n = arrays.record + 4 * i, *free = (const float *)arrays.free;
    for (int k = 0; k < row_size; k++)
        if (start[k] != 0) return false;
    const float *a = free + 8 * (int64_t)arrays.a[i], *b = free + 8 * (int64_t)arrays.b[i];
    float apart = (b[0] - a[0]) * n[0] + (b[1] - a[1]) * n[1] + (b[2] - a[2]) * n[2], per_step = (float)(2 / step);
    return apart + per_step * n[3] > per_step * SAND_IDLE_SHARE * (a[7] + b[7] + 2 * n[3]);
}

// The key of a contact: its cell, and behind the others of the cell those that are idle.
static __global__ void key_contacts(const __grid_constant__ KernelArrays arrays, const unsigned long long *cell,
                                    int row_size, double step, uint32_t *key, const Counts *counts) {
    if (counts->retry) return;
    SandBlockGrid grid = counts->block_grid;
    EACH(i, arrays.capacity) {
        if (i >= counts->contacts) {
            key[i] = CSR_NO_ROW; // behind all cells
            continue;
        }
        int a = arrays.a[i], b = arrays.b[i];
        SandBlockCell own = cell_unpack(&grid, cell[a]), other = b < counts->bodies ? cell_unpack(&grid, cell[b]) : own;
        key[i] = 2 * (uint32_t)sand_block_order(&grid, &own, &other) + is_idle(arrays, i, row_size, step);
    }
}

// Marks the cells that have contacts: rows 2c and 2c + 1.
static __global__ void mark_cells(const int *rows, int *filled, int64_t cells, const Counts *counts) {
    if (counts->retry) return;
    int64_t all = sand_block_cells(&counts->block_grid) + 1;
    EACH(c, cells) filled[c] = c < all && rows[2 * c + 2] > rows[2 * c];
}

// Lists them, and where each color begins. number[c]: blocks before cell c.
static __global__ void list_blocks(const int *rows, const int *number, int *block_first, int *block_place, int *color_first,
                                   const Counts *counts) {
    if (counts->retry) return;
    int cells = sand_block_cells(&counts->block_grid), each = cells / 8;
    EACH(c, (int64_t)cells + 2) {
        if (c % each == 0 && c / each < SAND_BLOCK_COLORS) color_first[c / each] = number[c];
        if (c == cells + 1) color_first[SAND_BLOCK_COLORS] = number[c];
        if (c == cells + 1 || number[c + 1] > number[c]) {
            block_first[number[c]] = rows[2 * c];
            block_place[number[c]] = (int)c;
        }
    }
}

// --- parts --------------------------------------------------------------------------------------------------

enum { FILL_WARPS = 4, WEIGHTS = 64 };

// How blocks follow each other.
struct BlockLinks {
    const int *number, *place; // blocks before each cell; the place of each block's cell
    int *weight;               // of each block: its bin
    int *bin;                  // of blocks by color, the heaviest first: how many; then where the next one goes
    int *near;
    BlockHead *head;
};

static __device__ int color_of_block(const int *color_first, int q) {
    int color = 0;
    while (q >= color_first[color + 1]) color++;
    return color;
}

// The weight of a block is the tiles that its warp sweeps in most passes, and one for each part.
static __global__ void __launch_bounds__(32 * FILL_WARPS)
    fill_parts(const __grid_constant__ PartArrays p, const __grid_constant__ BlockLinks links, const Counts *counts) {
    __shared__ PartTable tables[FILL_WARPS];
    if (counts->retry) return;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, blocks = p.color[SAND_BLOCK_COLORS];
    for (int q = blockIdx.x * FILL_WARPS + warp; q < blocks; q += gridDim.x * FILL_WARPS) {
        int weight = 0;
        for (int begin = p.first[q], end = p.first[q + 1], next; begin < end; begin = next) {
            next = take_part(p, &tables[warp], begin, end, counts->bodies, lane);
            write_part(p, &tables[warp], begin, next, counts->bodies, lane);
            weight += 1 + tables[warp].busy;
            __syncwarp();
        }
        if (lane > 0) continue;
        links.weight[q] = WEIGHTS * color_of_block(p.color, q) + WEIGHTS - 1 - min(weight, WEIGHTS - 1);
        atomicAdd(&links.bin[links.weight[q]], 1);
    }
}

// The block before block q in the cell that is its n-th neighbor; -1: there is none. Blocks of the last color come after all
// others.
static __device__ int block_near(const BlockLinks &links, const SandBlockGrid &grid, int q, int n) {
    int place = links.place[q];
    if (n >= SAND_BLOCK_NEIGHBORS || place >= sand_block_cells(&grid)) return -1;
    int neighbor = sand_block_neighbor(&grid, place, n), block = neighbor < 0 ? q : links.number[neighbor];
    return block < q && links.number[neighbor + 1] > block ? block : -1;
}

// Links the blocks, one warp each. In which order those of one weight come does not matter: blocks of a color share no body.
static __global__ void link_blocks(const __grid_constant__ PartArrays p, const __grid_constant__ BlockLinks links,
                                   const Counts *counts) {
    if (counts->retry) return;
    SandBlockGrid grid = counts->block_grid;
    int warps = blockDim.x / 32, lane = threadIdx.x % 32, blocks = p.color[SAND_BLOCK_COLORS];
    for (int q = blockIdx.x * warps + threadIdx.x / 32; q < blocks; q += gridDim.x * warps) {
        links.near[SAND_BLOCK_NEAR * (int64_t)q + lane] = block_near(links, grid, q, lane);
        int begin = p.first[q], end = p.first[q + 1];
        if (lane == 0) links.head[atomicAdd(&links.bin[links.weight[q]], 1)] = {q, begin, end, p.header[begin]};
        while (begin < end) {
            uint32_t header = p.header[begin], *body = p.body + 2 * (int64_t)begin;
            for (int j = lane; j < part_bodies_of(header); j += 32)
                if ((int)body[j] < counts->bodies && p.first_part[body[j]] == begin) body[j] |= SAND_PART_FIRST;
            begin += part_contacts_of(header);
        }
    }
}

// --- the stage ----------------------------------------------------------------------------------------------

enum { BINS = WEIGHTS * SAND_BLOCK_COLORS };

static bool blocks_reserve(SandDevice *device, size_t contacts, size_t cells) {
    size_t bodies = (size_t)device->arrays.bodies + 2;
    return reserve(device, device->keys, contacts + 1) && reserve(device, device->keys_sorted, contacts + 1) &&
           reserve_iota(device, contacts) && reserve_sorting(device, device->scratch, (int64_t)contacts) &&
           reserve_scratch(device, device->scratch, 2 * (int64_t)cells) && reserve(device, device->block_cell, bodies) &&
           reserve(device, device->block_cell_counts, 2 * cells) && reserve(device, device->block_cell_rows, 2 * cells) &&
           reserve(device, device->block_list, contacts + 1) && reserve(device, device->block_first, cells + 1) &&
           reserve(device, device->block_color_first, SAND_BLOCK_COLORS + 1) &&
           reserve(device, device->block_place, cells + 1) && reserve(device, device->block_weight, cells) &&
           reserve(device, device->block_bin, 2 * BINS) && reserve(device, device->block_near, SAND_BLOCK_NEAR * cells) &&
           reserve(device, device->block_head, cells) && reserve(device, device->block_done, cells) &&
           reserve(device, device->body_first_part, bodies) && reserve(device, device->block_sum, 2 * cells) &&
           reserve(device, device->part_header, contacts + 1) && reserve(device, device->part_tile_end, contacts + 1) &&
           reserve(device, device->part_sleep, contacts + 1) && reserve(device, device->part_body, 2 * contacts + 2) &&
           reserve(device, device->part_contact, contacts + 1) && reserve(device, device->part_pair, contacts + 1);
}

bool blocks_enqueue(SandDevice *device, double diameters) {
    if (!(diameters > 0)) diameters = SAND_BLOCK_EDGE_GPU;
    KernelArrays &arrays = device->arrays;
    int64_t contacts = arrays.capacity, most = contacts / SAND_PART_CONTACTS_A_CELL;
    if (most < SAND_BLOCK_LEAST_CELLS) most = SAND_BLOCK_LEAST_CELLS;
    size_t cells = (size_t)most + 4;
    if (!blocks_reserve(device, (size_t)contacts, cells)) return false;
    choose_grid<<<1, GRID_THREADS, 0, device->stream>>>(arrays, diameters, most, device->counts);
    LAUNCH(device, place_bodies, arrays.bodies, device->bodies.data, device->block_cell.data, device->counts);
    LAUNCH(device, key_contacts, contacts, arrays, device->block_cell.data, device->kernel->row_size, device->world.step,
           device->keys.data, device->counts);
    bool ok = device_check(device,
                           sort_pairs(device->scratch.bytes.data, device->scratch.bytes.capacity, device->keys.data,
                                      device->keys_sorted.data, device->iota.data, device->block_list.data, contacts,
                                      bits_for(2 * (most + 2)), device->stream),
                           "sorting the contacts by blocks");
    CsrKeys keys = {device->keys_sorted.data, &device->counts->contacts, contacts, 2 * (int64_t)cells - 1};
    ok = ok && csr_count(device, keys, device->block_cell_counts.data, device->stream) &&
         csr_build(device, keys, device->block_cell_counts.data, device->block_cell_rows.data, NULL, device->stream);
    if (!ok) return false;
    int *number = device->block_cell_counts.data; // of the blocks before each cell: the counts are done with
    LAUNCH(device, mark_cells, (int64_t)cells - 1, device->block_cell_rows.data, device->block_first.data,
           (int64_t)cells - 1, device->counts);
    ok = device_check(device,
                      scan_sum(device->scratch.bytes.data, device->scratch.bytes.capacity, device->block_first.data, number,
                               (int64_t)cells - 1, device->stream),
                      "numbering blocks");
    LAUNCH(device, list_blocks, (int64_t)cells, device->block_cell_rows.data, number, device->block_first.data,
           device->block_place.data, device->block_color_first.data, device->counts);
    PartArrays parts = {arrays.a,
                        arrays.b,
                        device->block_list.data,
                        device->keys_sorted.data,
                        device->block_first.data,
                        device->block_color_first.data,
                        device->part_header.data,
                        device->part_body.data,
                        device->part_tile_end.data,
                        device->part_contact.data,
                        device->part_pair.data,
                        device->body_first_part.data};
    int *count = device->block_bin.data, *bin = count + BINS;
    BlockLinks links = {number, device->block_place.data, device->block_weight.data,
                        count,  device->block_near.data,  device->block_head.data};
    ok =
        ok && device_check(device, cudaMemsetAsync(count, 0, BINS * sizeof *count, device->stream), "counting blocks") &&
        device_check(
            device, cudaMemsetAsync(device->body_first_part.data, 0x7f, (size_t)arrays.bodies * sizeof(int), device->stream),
            "finding first parts");
    int blocks = device_blocks(device, (int64_t)cells, FILL_WARPS, 16);
    fill_parts<<<blocks, 32 * FILL_WARPS, 0, device->stream>>>(parts, links, device->counts);
    ok = ok &&
         device_check(device,
                      scan_sum(device->scratch.bytes.data, device->scratch.bytes.capacity, count, bin, BINS, device->stream),
                      "sorting blocks");
    links.bin = bin;
    link_blocks<<<blocks, 32 * FILL_WARPS, 0, device->stream>>>(parts, links, device->counts);
    arrays.block_color_first = device->block_color_first.data;
    arrays.block_sum = device->block_sum.data;
    arrays.parts = {device->block_first.data, device->block_head.data,    device->block_near.data, device->block_done.data,
                    device->part_header.data, device->part_tile_end.data, device->part_body.data,  device->part_contact.data,
                    device->part_pair.data,   device->part_sleep.data};
    return ok && device_check(device, cudaGetLastError(), "cutting the contacts into blocks");
}
