// What the operator needs beside its blocks and bodies: which contacts a body has, the pieces of bodies with very many,
// and the colors of gauss-seidel. From the bodies a and b of the blocks, however they came.
#include "cuda/device.h"
#include "cuda/csr.h"

#include <cooperative_groups.h>
#include <string.h>

// --- contacts where a body is b ---------------------------------------------------------------------------

// Of a problem that was given. In a step of a world the keys are there since its contacts were matched.
static __global__ void list_second_bodies(const SandContact *contacts, uint32_t *keys, const Counts *counts) {
    if (counts->again) return;
    EACH(i, counts->contacts)
    keys[i] = contacts[i].b < counts->bodies ? (uint32_t)contacts[i].b : CSR_NO_ROW; // boundaries have no list
}

// --- bodies of many contacts ------------------------------------------------------------------------------

static __device__ int contacts_of(const int *first, const int *second, int64_t k) {
    return first[k + 1] - first[k] + second[k + 1] - second[k];
}

// In any order, but the pieces of a hub lie side by side, and behind them those of the next one.
static __global__ void list_high_degree(const int *first, const int *second, int *high_degree, int *high_degree_segment,
                                        int *segment_body, Counts *counts) {
    if (counts->again) return;
    EACH(k, counts->bodies) {
        int all = contacts_of(first, second, k), segments = (all + SAND_HIGH_DEGREE - 1) / SAND_HIGH_DEGREE;
        if (all <= SAND_HIGH_DEGREE) continue;
        unsigned long long before = atomicAdd(&counts->high_degree, 1ull << 32 | (unsigned)segments);
        int j = (int)(before >> 32), p = (int)(unsigned)before;
        high_degree[j] = (int)k, high_degree_segment[j + 1] = p + segments; // the first begins at 0, which nobody writes
        for (int i = 0; i < segments; i++) segment_body[p + i] = j;
    }
}

// --- colors ----------------------------------------------------------------------------------------------

enum { NO_COLOR = 255, BATCH = 2 * SAND_HIGH_DEGREE };

struct Coloring {
    const int *a, *b, *first, *second, *list;
    uint32_t *color;          // of each contact
    int *won;                 // scratch
    unsigned long long *used; // two for each body: bits of the colors around it
    Counts *counts;
    int64_t capacity;
};

static __device__ uint32_t priority(uint32_t i) { // a fixed shuffle, so that neighbors do not wait in line
    i ^= i >> 16, i *= 0x7feb352du, i ^= i >> 15, i *= 0x846ca68bu, i ^= i >> 16;
    return i;
}

static __device__ bool beaten_by(const Coloring &c, int64_t i, int64_t j) {
    uint32_t p = priority((uint32_t)i), q = priority((uint32_t)j);
    return j != i && c.color[j] == NO_COLOR && (q > p || (q == p && j > i));
}

// Whether some contact of body k that has no color yet comes before i.
static __device__ bool waits(const Coloring &c, int64_t i, int k) {
    for (int e = c.first[k]; e < c.first[k + 1]; e++)
        if (beaten_by(c, i, e)) return true;
    for (int e = c.second[k]; e < c.second[k + 1]; e++)
        if (beaten_by(c, i, c.list[e])) return true;
    return false;
}

// In rounds: the contacts that come first among their neighbors take the lowest color that is free at both bodies.
// No two of them share a body, so that the result does not depend on the order.
static __global__ void __launch_bounds__(CUDA_THREADS) color_contacts(Coloring c) {
    cooperative_groups::grid_group launch = cooperative_groups::this_grid();
    if (c.counts->again) return;
    int bodies = c.counts->bodies, contacts = c.counts->contacts;
    EACH(k, 2 * (int64_t)bodies) c.used[k] = 0;
    EACH(i, c.capacity) {
        c.color[i] = NO_COLOR;
        if (i >= contacts) continue;
        bool high_degree = contacts_of(c.first, c.second, c.a[i]) > SAND_HIGH_DEGREE;
        if (c.b[i] < bodies) high_degree = high_degree || contacts_of(c.first, c.second, c.b[i]) > SAND_HIGH_DEGREE;
        if (high_degree) c.color[i] = BATCH;
    }
    for (bool left = true; left;) {
        launch.sync();
        if (launch.thread_rank() == 0) c.counts->colors = 0; // contacts still without a color, for now
        EACH(i, contacts)
        c.won[i] = c.color[i] == NO_COLOR && !waits(c, i, c.a[i]) && !(c.b[i] < bodies && waits(c, i, c.b[i]));
        launch.sync();
        int without = 0;
        EACH(i, contacts) {
            if (c.color[i] != NO_COLOR) continue;
            if (!c.won[i]) {
                without = 1;
                continue;
            }
            unsigned long long *ua = c.used + 2 * (int64_t)c.a[i], *ub = c.b[i] < bodies ? c.used + 2 * (int64_t)c.b[i] : ua;
            int half = ~(ua[0] | ub[0]) ? 0 : 1, bit = __ffsll((long long)~(ua[half] | ub[half])) - 1;
            ua[half] |= 1ull << bit, ub[half] |= 1ull << bit;
            c.color[i] = (uint32_t)(64 * half + bit);
        }
        if (without) c.counts->colors = 1;
        launch.sync();
        left = c.counts->colors != 0;
    }
}

// Rows of all colors to rows of those in use, with the batch behind them.
static __global__ void close_colors(const int *rows, int *color_first, Counts *counts) {
    if (counts->again) return;
    int count = 0;
    for (int c = 0; c < BATCH; c++)
        if (rows[c + 1] > rows[c]) count = c + 1;
    for (int c = 0; c < count; c++) color_first[c] = rows[c];
    color_first[count] = rows[BATCH];
    color_first[count + 1] = rows[BATCH + 1];
    counts->colors = count;
}

static bool colors_enqueue(SandDevice *m) {
    size_t contacts = (size_t)m->contact_capacity;
    if (!reserve(m, m->keys_sorted, contacts + 1) || !reserve_iota(m, contacts) || !reserve(m, m->color_rows, BATCH + 4) ||
        !reserve(m, m->color_first, BATCH + 4) || !reserve(m, m->color_list, contacts + 1) ||
        !reserve(m, m->color_won, contacts + 1) || !reserve(m, m->batch_step, contacts + 1) ||
        !reserve(m, m->colors, 2 * m->body.capacity + 2 * (size_t)m->given_bodies + 2))
        return false;
    const KernelArrays &t = m->arrays;
    Coloring c = {t.a,
                  t.b,
                  t.first,
                  t.second,
                  t.list,
                  m->keys.data,
                  m->color_won.data,
                  m->colors.data,
                  m->counts,
                  m->contact_capacity};
    int fit = 0;
    device_check(m, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, color_contacts, CUDA_THREADS, 0), "coloring");
    void *arguments[] = {&c};
    device_check(m,
                 cudaLaunchCooperativeKernel((const void *)color_contacts,
                                             m->processors * (fit < 1   ? 1
                                                              : fit > 4 ? 4
                                                                        : fit),
                                             CUDA_THREADS, arguments, 0, m->stream),
                 "coloring");
    if (!device_check(m,
                      sort_pairs(m->scratch.bytes.data, m->scratch.bytes.capacity, m->keys.data, m->keys_sorted.data,
                                 m->iota.data, m->color_list.data, m->contact_capacity, 8, m->stream),
                      "sorting by color"))
        return false;
    CsrKeys colors = {m->keys_sorted.data, &m->counts->contacts, m->contact_capacity, BATCH + 1};
    if (!csr_count(m, colors, m->row_counted, m->stream) ||
        !csr_build(m, colors, m->row_counted, m->color_rows.data, NULL, m->stream))
        return false;
    close_colors<<<1, 1, 0, m->stream>>>(m->color_rows.data, m->color_first.data, m->counts);
    m->arrays.color_first = m->color_first.data, m->arrays.color_list = m->color_list.data;
    m->arrays.batch_step = m->batch_step.data;
    m->kernel->pack_batch(m->pack_source, m->arrays, m->stream);
    return device_check(m, cudaGetLastError(), "coloring");
}

// --- the stage --------------------------------------------------------------------------------------------

static int64_t bodies_of(const SandDevice *m) { return m->given ? m->given_bodies : m->world.body_count; }

static bool adjacency_reserve(SandDevice *m) {
    int64_t bodies = bodies_of(m), contacts = m->contact_capacity;
    size_t rows = (size_t)bodies + 3, high_degree = (size_t)contacts / (SAND_HIGH_DEGREE / 2) + 2;
    if (rows < BATCH + 4) rows = BATCH + 4;
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
