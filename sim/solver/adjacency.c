// Building the lists of contacts of each body, cutting those of high-degree bodies into segments, and coloring the contacts
// greedily in their order.
#include "sim/solver/adjacency.h"

#include "sim/core/array.h"
#include "sim/core/assert.h"

#include <string.h>

void sand_adjacency_free(SandAdjacency *a) {
    void *arrays[] = {a->first,        a->second,      a->list,       a->high_degree, a->high_degree_segment,
                      a->segment_body, a->color_first, a->color_list, a->colors_at};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) sand_free(arrays[k]);
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
        if (!SAND_GROW(a->high_degree, a->high_degree_capacity, a->high_degree_count + 1, what, error) ||
            !SAND_GROW(a->high_degree_segment, a->high_degree_segment_capacity, a->high_degree_count + 2, what, error) ||
            !SAND_GROW(a->segment_body, a->segment_body_capacity, a->segment_count + segments, what, error))
            return false;
        a->high_degree[a->high_degree_count] = k;
        a->high_degree_segment[a->high_degree_count] = a->segment_count;
        for (int j = 0; j < segments; j++) a->segment_body[a->segment_count + j] = a->high_degree_count;
        a->segment_count += segments;
        a->high_degree_segment[++a->high_degree_count] = a->segment_count;
    }
    return true;
}

bool sand_adjacency_build(SandAdjacency *a, const SandProblem *p, SandError *error) {
    int bodies = p->dynamic_count, contacts = p->contact_count;
    a->body_count = bodies;
    a->color_count = 0;
    if (!SAND_GROW(a->first, a->first_capacity, bodies + 2, "contact lists", error) ||
        !SAND_GROW(a->second, a->second_capacity, bodies + 2, "contact lists", error) ||
        !SAND_GROW(a->list, a->list_capacity, contacts + 1, "contact lists", error))
        return false;
    for (int k = 0; k <= bodies; k++) a->first[k] = a->second[k] = 0;
    for (int i = 0; i < contacts; i++) {
        SAND_ASSERT(i == 0 || p->contacts[i - 1].a <= p->contacts[i].a);
        SAND_ASSERT(p->contacts[i].a >= 0 && p->contacts[i].a < bodies);
        a->first[p->contacts[i].a + 1]++;
        if (p->contacts[i].b < bodies) a->second[p->contacts[i].b + 1]++;
    }
    for (int k = 0; k < bodies; k++) {
        a->first[k + 1] += a->first[k];
        a->second[k + 1] += a->second[k];
    }
    for (int i = 0; i < contacts; i++)
        if (p->contacts[i].b < bodies) a->list[a->second[p->contacts[i].b]++] = i;
    for (int k = bodies; k > 0; k--) a->second[k] = a->second[k - 1]; // filling moved every begin to its end
    a->second[0] = 0;
    return cut_segments(a, error);
}

enum { COLORS = 2 * SAND_HIGH_DEGREE, BATCH = COLORS };

// The lowest color that neither body of contact c has yet, which is then taken; or the batch.
static int choose_color(SandAdjacency *a, const SandProblem *p, const SandContact *c) {
    bool moving_b = c->b < p->dynamic_count;
    if (sand_adjacency_degree(a, c->a) > SAND_HIGH_DEGREE) return BATCH;
    if (moving_b && sand_adjacency_degree(a, c->b) > SAND_HIGH_DEGREE) return BATCH;
    uint64_t *in_a = a->colors_at[c->a], *in_b = a->colors_at[moving_b ? c->b : c->a];
    int half = ~(in_a[0] | in_b[0]) ? 0 : 1;
    int bit = __builtin_ctzll(~(in_a[half] | in_b[half]));
    in_a[half] |= 1ull << bit;
    in_b[half] |= 1ull << bit;
    return 64 * half + bit;
}

bool sand_adjacency_color(SandAdjacency *a, const SandProblem *p, SandError *error) {
    int contacts = p->contact_count, counts[COLORS + 2] = {0}, begin[COLORS + 2];
    if (!SAND_GROW(a->color_first, a->color_first_capacity, COLORS + 2, "colors", error) ||
        !SAND_GROW(a->color_list, a->color_list_capacity, 2 * (contacts + 1), "colors", error) ||
        !SAND_GROW(a->colors_at, a->colors_at_capacity, a->body_count + 1, "colors", error))
        return false;
    memset(a->colors_at, 0, (size_t)a->body_count * sizeof *a->colors_at);
    int *color_of = a->color_list + contacts + 1; // scratch behind the list
    for (int i = 0; i < contacts; i++) counts[color_of[i] = choose_color(a, p, &p->contacts[i])]++;

    a->color_count = 0;
    for (int c = 0; c < COLORS; c++)
        if (counts[c]) a->color_count = c + 1;
    for (int c = 0, sum = 0; c <= a->color_count; c++) {
        int color = c == a->color_count ? BATCH : c;
        a->color_first[c] = begin[color] = sum;
        sum += counts[color];
        a->color_first[c + 1] = sum;
    }
    for (int i = 0; i < contacts; i++) a->color_list[begin[color_of[i]]++] = i;
    return true;
}
