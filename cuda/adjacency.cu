// The adjacency of the problem, which the operator gathers by: the contacts of each body, and the segments that the contacts
// of high-degree bodies are summed in. Contacts are sorted by their first body, so that `first` says which ones a body owns;
// those where it is the second body are a CSR list. Made from the bodies a and b of the contacts, for a step of a world as
// for a standalone problem.
#include "cuda/device.h"
#include "cuda/csr.h"

#include <string.h>

// --- contacts by their second body ------------------------------------------------------------------------

// Writes the second body of each contact of a standalone problem as its key. In a step of a world the warm start has
// written the keys (cuda/integrate.cu).
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

static int64_t bodies_of(const SandDevice *m) { return m->standalone ? m->standalone_bodies : m->world.body_count; }

static bool adjacency_reserve(SandDevice *m) {
    int64_t bodies = bodies_of(m), contacts = m->contact_capacity;
    size_t rows = (size_t)bodies + 3, high_degree = (size_t)contacts / (SAND_HIGH_DEGREE / 2) + 2;
    if (rows < BATCH_COLOR + 4) rows = BATCH_COLOR + 4;
    return reserve(m, m->second, rows) && reserve(m, m->list, (size_t)contacts + 1) && reserve(m, m->row_counts, rows) &&
           reserve(m, m->high_degree, high_degree) && reserve(m, m->high_degree_segment, high_degree + 1) &&
           reserve(m, m->segment_body, 2 * high_degree) && reserve(m, m->segment_sum, 8 * 2 * high_degree);
}

// Needs both lists of contacts, by first and by second body.
static bool high_degree_enqueue(SandDevice *m, cudaStream_t stream) {
    LAUNCH_ON(stream, list_high_degree, bodies_of(m), m->first.data, m->second.data, m->high_degree.data,
              m->high_degree_segment.data, m->segment_body.data, m->counts);
    return device_check(m, cudaGetLastError(), "listing high-degree bodies");
}

// On a side stream, while the contacts are packed. The contacts by owner of a standalone problem come from the packed ones,
// so that its high-degree bodies are left to adjacency_finish.
bool adjacency_begin(SandDevice *m) {
    if (!adjacency_reserve(m) || !device_fork(m, 1)) return false;
    cudaStream_t stream = m->side_stream[0];
    if (m->standalone) LAUNCH_ON(stream, list_second_bodies, m->contact_capacity, m->contacts.data, m->keys.data, m->counts);
    CsrKeys seconds = {m->keys.data, &m->counts->contacts, m->contact_capacity, bodies_of(m)};
    return csr_count(m, seconds, m->row_counts, stream) &&
           csr_build(m, seconds, m->row_counts, m->second.data, m->list.data, stream) &&
           (m->standalone || high_degree_enqueue(m, stream));
}

// The contacts by owner of a standalone problem. They are sorted by owner, so that the rows are all that is missing.
static bool owners_enqueue(SandDevice *m) {
    CsrKeys owners = {(const uint32_t *)m->arrays.a, &m->counts->contacts, m->contact_capacity, bodies_of(m)};
    return csr_count(m, owners, m->row_counts, m->stream) &&
           csr_build(m, owners, m->row_counts, m->first.data, NULL, m->stream) && high_degree_enqueue(m, m->stream);
}

bool adjacency_finish(SandDevice *m, const SandSolveDef *def) {
    KernelArrays &t = m->arrays;
    if (!device_join(m, 0) || (m->standalone && !owners_enqueue(m))) return false;
    t.first = m->first.data;
    t.second = m->second.data;
    t.list = m->list.data;
    t.high_degree = m->high_degree.data;
    t.high_degree_segment = m->high_degree_segment.data;
    t.segment_body = m->segment_body.data;
    t.segment_sum = m->segment_sum.data;
    t.color_first = t.color_list = NULL;
    t.batch_step = NULL;

    if (sand_solve_needs_colors(def)) return colors_enqueue(m);
    return device_check(m, cudaGetLastError(), "making the adjacency");
}
