// What the operator needs beside its blocks and bodies: which contacts a body has, the pieces of bodies with very many,
// and the colors of gauss-seidel. From the bodies a and b of the blocks, however they came.
#include "cuda/device.h"
#include "cuda/csr.h"

#include <string.h>

// --- contacts where a body is b ---------------------------------------------------------------------------

// Of a problem that was given. In a step of a world the keys are there since its contacts were matched.
static __global__ void list_second_bodies(const SandContact *contacts, uint32_t *keys, const Counts *counts) {
    if (counts->again) return;
    EACH(i, counts->contacts)
    keys[i] = contacts[i].b < counts->bodies ? (uint32_t)contacts[i].b : CSR_NO_ROW; // boundaries have no list
}

// --- bodies of many contacts ------------------------------------------------------------------------------

// In any order, but the pieces of a hub lie side by side, and behind them those of the next one.
static __global__ void list_high_degree(const int *first, const int *second, int *high_degree, int *high_degree_segment,
                                        int *segment_body, Counts *counts) {
    if (counts->again) return;
    EACH(k, counts->bodies) {
        int all = body_degree(first, second, k), segments = (all + SAND_HIGH_DEGREE - 1) / SAND_HIGH_DEGREE;
        if (all <= SAND_HIGH_DEGREE) continue;
        unsigned long long before = atomicAdd(&counts->high_degree, 1ull << 32 | (unsigned)segments);
        int j = (int)(before >> 32), p = (int)(unsigned)before;
        high_degree[j] = (int)k, high_degree_segment[j + 1] = p + segments; // the first begins at 0, which nobody writes
        for (int i = 0; i < segments; i++) segment_body[p + i] = j;
    }
}

// --- the stage --------------------------------------------------------------------------------------------

static int64_t bodies_of(const SandDevice *m) { return m->given ? m->given_bodies : m->world.body_count; }

static bool adjacency_reserve(SandDevice *m) {
    int64_t bodies = bodies_of(m), contacts = m->contact_capacity;
    size_t rows = (size_t)bodies + 3, high_degree = (size_t)contacts / (SAND_HIGH_DEGREE / 2) + 2;
    if (rows < BATCH_COLOR + 4) rows = BATCH_COLOR + 4;
    return reserve(m, m->second, rows) && reserve(m, m->list, (size_t)contacts + 1) && reserve(m, m->row_counted, rows) &&
           reserve(m, m->high_degree, high_degree) && reserve(m, m->high_degree_segment, high_degree + 1) &&
           reserve(m, m->segment_body, 2 * high_degree) && reserve(m, m->segment_sum, 8 * 2 * high_degree);
}

// When it is known which contacts a body has.
static bool high_degree_enqueue(SandDevice *m, cudaStream_t stream) {
    LAUNCH_ON(stream, list_high_degree, bodies_of(m), m->first.data, m->second.data, m->high_degree.data,
              m->high_degree_segment.data, m->segment_body.data, m->counts);
    return device_check(m, cudaGetLastError(), "listing hubs");
}

// On an aside, while the blocks are laid out.
bool adjacency_begin(SandDevice *m) {
    if (!adjacency_reserve(m) || !device_fork(m, 1)) return false;
    cudaStream_t stream = m->side_stream[0];
    if (m->given) LAUNCH_ON(stream, list_second_bodies, m->contact_capacity, m->contacts.data, m->keys.data, m->counts);
    CsrKeys seconds = {m->keys.data, &m->counts->contacts, m->contact_capacity, bodies_of(m)};
    return csr_count(m, seconds, m->row_counted, stream) &&
           csr_build(m, seconds, m->row_counted, m->second.data, m->list.data, stream) &&
           (m->given || high_degree_enqueue(m, stream));
}

// Of a problem that was given: its contacts are in the order of their owners, and that is all that is known.
static bool owners_enqueue(SandDevice *m) {
    CsrKeys owners = {(const uint32_t *)m->arrays.a, &m->counts->contacts, m->contact_capacity, bodies_of(m)};
    return csr_count(m, owners, m->row_counted, m->stream) &&
           csr_build(m, owners, m->row_counted, m->first.data, NULL, m->stream) && high_degree_enqueue(m, m->stream);
}

bool adjacency_finish(SandDevice *m, const SandSolveDef *def) {
    KernelArrays &t = m->arrays;
    if (!device_join(m, 0) || (m->given && !owners_enqueue(m))) return false;
    t.first = m->first.data, t.second = m->second.data, t.list = m->list.data;
    t.high_degree = m->high_degree.data, t.high_degree_segment = m->high_degree_segment.data,
    t.segment_body = m->segment_body.data, t.segment_sum = m->segment_sum.data;
    t.color_first = t.color_list = NULL, t.batch_step = NULL;

    int order = sand_param_find(&sand_solver_table[def->solver], "order");
    bool colored =
        order >= 0 && strcmp(sand_solver_table[def->solver].params[order].choices[(int)def->params[order]], "colored") == 0;
    if (colored) return colors_enqueue(m);
    return device_check(m, cudaGetLastError(), "making the lists");
}
