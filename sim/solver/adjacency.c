// SPDX-License-Identifier: MIT
// Building the lists of contacts of each body, cutting those of high-degree bodies into segments, and coloring the contacts
// greedily in their order.
#include "sim/solver/adjacency.h"

#include "sim/core/array.h"
#include "sim/core/assert.h"

#include <string.h>

void sand_adjacency_free(SandAdjacency *a) {
    SAND_FREE_ARRAYS(&a->first, &a->second, &a->list, &a->high_degree, &a->high_degree_segment, &a->segment_body,
                     &a->color_first, &a->color_list, &a->colors_at);
    *a = (SandAdjacency){0};
}

// Cuts the contacts of high-degree bodies into segments.
static bool cut_segments(SandAdjacency *a, SandError *error) {
    static const char *const what = "high-degree bodies";
    a->high_degree_count = 0;
    a->segment_count = 0;
    for (int k = 0; k < a->body_count; k++) {
        int degree = sand_adjacency_degree(a, k);
        if (degree <= SAND_HIGH_DEGREE) continue;
        int segments = (degree + SAND_HIGH_DEGREE - 1) / SAND_HIGH_DEGREE;
        if (!SAND_RESERVE(a->high_degree, a->high_degree_count + 1, what, error) ||
            !SAND_RESERVE(a->high_degree_segment, a->high_degree_count + 2, what, error) ||
            !SAND_RESERVE(a->segment_body, a->segment_count + segments, what, error))
            return false;
        a->high_degree.data[a->high_degree_count] = k;
        a->high_degree_segment.data[a->high_degree_count] = a->segment_count;
        for (int j = 0; j < segments; j++) a->segment_body.data[a->segment_count + j] = a->high_degree_count;
        a->segment_count += segments;
        a->high_degree_segment.data[++a->high_degree_count] = a->segment_count;
    }
    return true;
}

bool sand_adjacency_build(SandAdjacency *a, const SandProblem *p, SandError *error) {
    int bodies = p->dynamic_count, contacts = p->contact_count;
    a->body_count = bodies;
    a->color_count = 0;
    if (!SAND_RESERVE(a->first, bodies + 2, "contact lists", error) ||
        !SAND_RESERVE(a->second, bodies + 2, "contact lists", error) ||
        !SAND_RESERVE(a->list, contacts + 1, "contact lists", error))
        return false;
    for (int k = 0; k <= bodies; k++) a->first.data[k] = a->second.data[k] = 0;
    for (int i = 0; i < contacts; i++) {
        SAND_ASSERT(i == 0 || p->contacts[i - 1].a <= p->contacts[i].a);
        SAND_ASSERT(p->contacts[i].a >= 0 && p->contacts[i].a < bodies);
        a->first.data[p->contacts[i].a + 1]++;
        if (p->contacts[i].b < bodies) a->second.data[p->contacts[i].b + 1]++;
    }
    for (int k = 0; k < bodies; k++) {
        a->first.data[k + 1] += a->first.data[k];
        a->second.data[k + 1] += a->second.data[k];
    }
    for (int i = 0; i < contacts; i++)
        if (p->contacts[i].b < bodies) a->list.data[a->second.data[p->contacts[i].b]++] = i;
    for (int k = bodies; k > 0; k--) a->second.data[k] = a->second.data[k - 1]; // filling moved every begin to its end
    a->second.data[0] = 0;
    return cut_segments(a, error);
}

enum { COLORS = 2 * SAND_HIGH_DEGREE, BATCH = COLORS };

// The lowest color that neither body of contact c has yet, which is then taken; or the batch.
static int choose_color(SandAdjacency *a, const SandProblem *p, const SandContact *c) {
    bool moving_b = c->b < p->dynamic_count;
    if (sand_adjacency_degree(a, c->a) > SAND_HIGH_DEGREE) return BATCH;
    if (moving_b && sand_adjacency_degree(a, c->b) > SAND_HIGH_DEGREE) return BATCH;
    uint64_t *in_a = a->colors_at.data[c->a], *in_b = a->colors_at.data[moving_b ? c->b : c->a];
    int half = ~(in_a[0] | in_b[0]) ? 0 : 1;
    int bit = __builtin_ctzll(~(in_a[half] | in_b[half]));
    in_a[half] |= 1ull << bit;
    in_b[half] |= 1ull << bit;
    return 64 * half + bit;
}

bool sand_adjacency_color(SandAdjacency *a, const SandProblem *p, SandError *error) {
    int contacts = p->contact_count, counts[COLORS + 2] = {0}, begin[COLORS + 2];
    if (!SAND_RESERVE(a->color_first, COLORS + 2, "colors", error) ||
        !SAND_RESERVE(a->color_list, 2 * (contacts + 1), "colors", error) ||
        !SAND_RESERVE(a->colors_at, a->body_count + 1, "colors", error))
        return false;
    memset(a->colors_at.data, 0, (size_t)a->body_count * sizeof *a->colors_at.data);
    int *color_of = a->color_list.data + contacts + 1; // scratch behind the list
    for (int i = 0; i < contacts; i++) counts[color_of[i] = choose_color(a, p, &p->contacts[i])]++;

    a->color_count = 0;
    for (int c = 0; c < COLORS; c++)
        if (counts[c]) a->color_count = c + 1;
    for (int c = 0, sum = 0; c <= a->color_count; c++) {
        int color = c == a->color_count ? BATCH : c;
        a->color_first.data[c] = begin[color] = sum;
        sum += counts[color];
        a->color_first.data[c + 1] = sum;
    }
    for (int i = 0; i < contacts; i++) a->color_list.data[begin[color_of[i]]++] = i;
    return true;
}
