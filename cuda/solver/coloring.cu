// SPDX-License-Identifier: MIT
// Coloring of the contacts for colored gauss-seidel: no two contacts of one color share a moving body, so that the contacts
// of a color are relaxed in parallel, color after color. Boundaries do not move and impose nothing.
//
// Contacts of high-degree bodies would need a color each; they go into one last batch instead, which is relaxed like a
// Jacobi iteration with steps that are short enough for it (SolverKernel.pack_batch). All other bodies have at most
// SAND_HIGH_DEGREE contacts, so that a contact has less than BATCH_COLOR neighbors and finds a free color below that.
//
// The greedy coloring runs in rounds with hashed priorities, in the manner of Jones and Plassmann, in one cooperative
// kernel; colors_enqueue then sorts the contacts by color.
#include "cuda/device.h"
#include "cuda/csr.h"

#include <cooperative_groups.h>

enum { NO_COLOR = 255 };

struct Coloring {
    const int *a, *b, *first, *second, *list;
    uint32_t *color;          // of each contact
    int *ready;               // of each contact: it takes a color in this round
    unsigned long long *used; // two for each body: bits of the colors around it
    Counts *counts;
    int64_t capacity;
};

// A fixed hash of the contact's number: priorities that rise along a chain of neighbors would make them wait in line.
static __device__ uint32_t priority(uint32_t i) {
    i ^= i >> 16;
    i *= 0x7feb352du;
    i ^= i >> 15;
    i *= 0x846ca68bu;
    i ^= i >> 16;
    return i;
}

// Whether contact j has no color yet and a higher priority than contact i.
static __device__ bool outranked_by(const Coloring &c, int64_t i, int64_t j) {
    uint32_t p = priority((uint32_t)i), q = priority((uint32_t)j);
    return j != i && c.color[j] == NO_COLOR && (q > p || (q == p && j > i));
}

// Whether some contact of body k outranks contact i.
static __device__ bool waits(const Coloring &c, int64_t i, int k) {
    for (int e = c.first[k]; e < c.first[k + 1]; e++)
        if (outranked_by(c, i, e)) return true;
    for (int e = c.second[k]; e < c.second[k + 1]; e++)
        if (outranked_by(c, i, c.list[e])) return true;
    return false;
}

// Colors the contacts in rounds: those of highest priority among their neighbors take the lowest color that is free at both
// bodies. No two of them share a body, so that the result does not depend on the order of the threads.
static __global__ void __launch_bounds__(BLOCK_THREADS) color_contacts(Coloring c) {
    cooperative_groups::grid_group launch = cooperative_groups::this_grid();
    if (c.counts->retry) return;
    int bodies = c.counts->bodies, contacts = c.counts->contacts;
    EACH(k, 2 * (int64_t)bodies) c.used[k] = 0;
    EACH(i, c.capacity) {
        c.color[i] = NO_COLOR;
        if (i >= contacts) continue;
        bool high_degree = body_degree(c.first, c.second, c.a[i]) > SAND_HIGH_DEGREE;
        if (c.b[i] < bodies) high_degree = high_degree || body_degree(c.first, c.second, c.b[i]) > SAND_HIGH_DEGREE;
        if (high_degree) c.color[i] = BATCH_COLOR;
    }
    for (bool left = true; left;) {
        launch.sync();
        if (launch.thread_rank() == 0) c.counts->uncolored = 0;
        EACH(i, contacts)
            c.ready[i] = c.color[i] == NO_COLOR && !waits(c, i, c.a[i]) && !(c.b[i] < bodies && waits(c, i, c.b[i]));
        launch.sync();
        int without = 0;
        EACH(i, contacts) {
            if (c.color[i] != NO_COLOR) continue;
            if (!c.ready[i]) {
                without = 1;
                continue;
            }
            unsigned long long *ua = c.used + 2 * (int64_t)c.a[i], *ub = c.b[i] < bodies ? c.used + 2 * (int64_t)c.b[i] : ua;
            int half = ~(ua[0] | ub[0]) ? 0 : 1, bit = __ffsll((long long)~(ua[half] | ub[half])) - 1;
            ua[half] |= 1ull << bit;
            ub[half] |= 1ull << bit;
            c.color[i] = (uint32_t)(64 * half + bit);
        }
        if (without) c.counts->uncolored = 1;
        launch.sync();
        left = c.counts->uncolored != 0;
    }
}

// Drops the unused colors from the CSR rows: those in use, with the batch behind them. One thread.
static __global__ void close_colors(const int *rows, int *color_first, Counts *counts) {
    if (counts->retry) return;
    int count = 0;
    for (int c = 0; c < BATCH_COLOR; c++)
        if (rows[c + 1] > rows[c]) count = c + 1;
    for (int c = 0; c < count; c++) color_first[c] = rows[c];
    color_first[count] = rows[BATCH_COLOR];
    color_first[count + 1] = rows[BATCH_COLOR + 1];
    counts->colors = count;
}

static bool colors_reserve(SandDevice *device) {
    size_t contacts = (size_t)device->contact_capacity;
    return reserve(device, device->keys_sorted, contacts + 1) && reserve_iota(device, contacts) &&
           reserve_sorting(device, device->scratch, (int64_t)contacts) &&
           reserve(device, device->color_rows, BATCH_COLOR + 4) && reserve(device, device->color_first, BATCH_COLOR + 4) &&
           reserve(device, device->color_list, contacts + 1) && reserve(device, device->color_ready, contacts + 1) &&
           reserve(device, device->batch_step, contacts + 1) &&
           reserve(device, device->used_colors, 2 * device->body.capacity + 2 * (size_t)device->standalone_bodies + 2);
}

// Enqueues the coloring; the colors are in device->keys.
static bool color_contacts_enqueue(SandDevice *device) {
    const KernelArrays &arrays = device->arrays;
    Coloring c = {
        .a = arrays.a,
        .b = arrays.b,
        .first = arrays.first,
        .second = arrays.second,
        .list = arrays.list,
        .color = device->keys.data,
        .ready = device->color_ready.data,
        .used = device->used_colors.data,
        .counts = device->counts,
        .capacity = device->contact_capacity,
    };
    int fit = 0;
    device_check(device, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, color_contacts, BLOCK_THREADS, 0), "coloring");
    int blocks = device->processors * (fit < 1 ? 1 : fit > 4 ? 4 : fit);
    void *arguments[] = {&c};
    return device_check(
        device,
        cudaLaunchCooperativeKernel((const void *)color_contacts, blocks, BLOCK_THREADS, arguments, 0, device->stream),
        "coloring");
}

// Sorts the contacts by color: color_list, and in color_rows where each color begins.
static bool sort_by_color_enqueue(SandDevice *device) {
    if (!device_check(device,
                      sort_pairs(device->scratch.bytes.data, device->scratch.bytes.capacity, device->keys.data,
                                 device->keys_sorted.data, device->iota.data, device->color_list.data,
                                 device->contact_capacity, 8, device->stream),
                      "sorting by color"))
        return false;
    CsrKeys colors = {device->keys_sorted.data, &device->counts->contacts, device->contact_capacity, BATCH_COLOR + 1};
    return csr_count(device, colors, device->row_counts.data, device->stream) &&
           csr_build(device, colors, device->row_counts.data, device->color_rows.data, NULL, device->stream);
}

bool colors_enqueue(SandDevice *device) {
    if (!colors_reserve(device) || !color_contacts_enqueue(device) || !sort_by_color_enqueue(device)) return false;
    close_colors<<<1, 1, 0, device->stream>>>(device->color_rows.data, device->color_first.data, device->counts);
    device->arrays.color_first = device->color_first.data;
    device->arrays.color_list = device->color_list.data;
    device->arrays.batch_step = device->batch_step.data;
    device->kernel->pack_batch(device->pack_source, device->arrays, device->stream);
    return device_check(device, cudaGetLastError(), "coloring");
}
