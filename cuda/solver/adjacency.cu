// SPDX-License-Identifier: MIT
// The adjacency of the problem, which the operator gathers by: the contacts of each body, and the segments that the contacts
// of high-degree bodies are summed in. Contacts are sorted by their first body, so that `first` says which ones a body owns;
// those where it is the second body are a CSR list. Made from the bodies a and b of the contacts, for a step of a world as
// for a standalone problem.
#include "cuda/device.h"
#include "cuda/csr.h"
#include "sim/solver/method_traits.h"

#include <string.h>

// --- contacts by their second body ------------------------------------------------------------------------

// Writes the second body of each contact of a standalone problem as its key. In a step of a world the warm start has
// written the keys (cuda/step/integrate.cu).
static __global__ void list_second_bodies(const SandContact *contacts, uint32_t *keys, const Counts *counts) {
    if (counts->retry) return;
    EACH(i, counts->contacts)
        keys[i] = contacts[i].b < counts->bodies ? (uint32_t)contacts[i].b : CSR_NO_ROW; // a boundary has no row
}

// --- high-degree bodies -----------------------------------------------------------------------------------

// Lists the high-degree bodies, in any order, and splits their contacts into segments. One atomic reserves a place for the
// body and for its segments, so that the segments of a body are contiguous and in the order of the bodies.
static __global__ void list_high_degree(const int *first, const int *second, int *high_degree, int *high_degree_segment,
                                        int *segment_body, Counts *counts) {
    if (counts->retry) return;
    EACH(k, counts->bodies) {
        int all = body_degree(first, second, k), segments = (all + SAND_HIGH_DEGREE - 1) / SAND_HIGH_DEGREE;
        if (all <= SAND_HIGH_DEGREE) continue;
        unsigned long long before = atomicAdd(&counts->high_degree, 1ull << 32 | (unsigned)segments);
        int j = (int)(before >> 32), p = (int)(unsigned)before;
        high_degree[j] = (int)k;
        high_degree_segment[j + 1] = p + segments; // entry 0 is 0 since the buffer was cleared, and never written
        for (int i = 0; i < segments; i++) segment_body[p + i] = j;
    }
}

// --- the stage --------------------------------------------------------------------------------------------

static int64_t bodies_of(const SandDevice *device) {
    return device->standalone ? device->standalone_bodies : device->world.body_count;
}

static bool adjacency_reserve(SandDevice *device) {
    int64_t bodies = bodies_of(device), contacts = device->contact_capacity;
    size_t rows = (size_t)bodies + 3, high_degree = (size_t)contacts / (SAND_HIGH_DEGREE / 2) + 2;
    if (rows < BATCH_COLOR + 4) rows = BATCH_COLOR + 4;
    return reserve(device, device->second, rows) && reserve(device, device->list, (size_t)contacts + 1) &&
           reserve(device, device->row_counts, rows) && reserve(device, device->high_degree, high_degree) &&
           reserve(device, device->high_degree_segment, high_degree + 1) &&
           reserve(device, device->segment_body, 2 * high_degree) &&
           reserve(device, device->segment_sum, 8 * 2 * high_degree);
}

// Needs both lists of contacts, by first and by second body.
static bool high_degree_enqueue(SandDevice *device, cudaStream_t stream) {
    LAUNCH_ON(stream, list_high_degree, bodies_of(device), device->problem.first, device->second.data,
              device->high_degree.data, device->high_degree_segment.data, device->segment_body.data, device->counts);
    return device_check(device, cudaGetLastError(), "listing high-degree bodies");
}

// On a side stream, while the contacts are packed. The contacts by owner of a standalone problem come from the packed ones,
// so that its high-degree bodies are left to adjacency_finish.
bool adjacency_begin(SandDevice *device) {
    if (!adjacency_reserve(device) || !device_fork(device, 1)) return false;
    device->arrays.first = device->problem.first;
    device->arrays.second = device->second.data;
    device->arrays.list = device->list.data;
    cudaStream_t stream = device->side_stream[0];
    if (device->standalone)
        LAUNCH_ON(stream, list_second_bodies, device->contact_capacity, device->contacts.data, device->keys.data,
                  device->counts);
    CsrKeys seconds = {device->problem.second, &device->counts->contacts, device->contact_capacity, bodies_of(device)};
    return csr_count(device, seconds, device->row_counts.data, stream) &&
           csr_build(device, seconds, device->row_counts.data, device->second.data, device->list.data, stream) &&
           (device->standalone || high_degree_enqueue(device, stream));
}

// The contacts by owner of a standalone problem. They are sorted by owner, so that the rows are all that is missing.
static bool owners_enqueue(SandDevice *device) {
    CsrKeys owners = {(const uint32_t *)device->arrays.a, &device->counts->contacts, device->contact_capacity,
                      bodies_of(device)};
    return csr_count(device, owners, device->row_counts.data, device->stream) &&
           csr_build(device, owners, device->row_counts.data, device->first.data, NULL, device->stream) &&
           high_degree_enqueue(device, device->stream);
}

bool adjacency_finish(SandDevice *device, const SandSolveDef *def) {
    KernelArrays &arrays = device->arrays;
    if (!device_join(device, 0) || (device->standalone && !owners_enqueue(device))) return false;
    arrays.high_degree = device->high_degree.data;
    arrays.high_degree_segment = device->high_degree_segment.data;
    arrays.segment_body = device->segment_body.data;
    arrays.segment_sum = device->segment_sum.data;
    arrays.color_first = arrays.color_list = NULL;
    arrays.batch_step = NULL;
    arrays.place = NULL;

    int needs = sand_solver_table[def->solver].needs;
    bool corrects = sand_solve_needs_cells(def, bodies_of(device));
    if ((corrects || needs & SAND_NEEDS_BLOCKS) && !box_enqueue(device)) return false;
    if (corrects && !cells_enqueue(device)) return false;
    if (needs & SAND_NEEDS_BLOCKS && !blocks_enqueue(device, sand_solve_param(def, "edge"))) return false;
    if (sand_solve_needs_colors(def)) return colors_enqueue(device);
    return device_check(device, cudaGetLastError(), "making the adjacency");
}
