// SPDX-License-Identifier: MIT
// Making the subproblem of a rank: the bodies that it exchanges with each neighbor, its tiles with the halo before the owned
// contacts, inertia and free motion of ghosts from their owners, and the coloring of the whole problem.
#include "sim/solver/subproblem.h"

#include "sim/core/array.h"
#include "sim/core/assert.h"

#include <string.h>

_Static_assert(SAND_CHUNKS <= 64, "a bit of `holders` for each rank that owns bodies");

void sand_subproblem_free(SandSubproblem *s) {
    SAND_FREE_ARRAYS(&s->degree, &s->number, &s->holders, &s->messages, &s->graph_of);
    sand_free(s->send);
    sand_free(s->receive);
    sand_adjacency_free(&s->held);
    sand_adjacency_free(&s->whole);
    sand_problem_free(&s->graph);
    *s = (SandSubproblem){0};
}

static bool is_own(const SandSubproblem *s, int k) {
    return k >= s->partition->below && k < s->partition->below + sand_partition_owned(s->partition);
}

// --- tiles --------------------------------------------------------------------------------------------------

// The size of the parts that threads share the halo by, in whole tiles: that of a chunk, since every span costs its sums;
// but there are no more of them than chunks.
static int halo_part(const SandSubproblem *s) {
    const SandPartition *h = s->partition;
    int chunks = h->first_chunk[h->ranks->rank + 1] - h->first_chunk[h->ranks->rank];
    int least = s->lower / SAND_CHUNKS, chunk = chunks ? (s->problem->contact_count - s->lower) / chunks : 0;
    return ((least > chunk ? least : chunk) / SAND_LANES + 1) * SAND_LANES;
}

// The halo and the chunks.
static void lay_out_spans(SandSubproblem *s) {
    const SandPartition *h = s->partition;
    int me = h->ranks->rank, part = halo_part(s);
    SandSpans *spans = &s->spans;
    *spans = (SandSpans){.ranks = h->ranks, .chunks = sand_chunks_of(h->bodies), .first_chunk = h->first_chunk};
    for (int i = 0; i < s->lower; i += part) sand_spans_add(spans, SAND_HALO, i, s->lower - i < part ? s->lower - i : part);
    for (int c = h->first_chunk[me]; c < h->first_chunk[me + 1]; c++) {
        int shift = h->below - h->first_body[me];
        int first = s->held.first.data[sand_chunk_first_body(c, h->bodies) + shift];
        sand_spans_add(spans, c, first, s->held.first.data[sand_chunk_first_body(c + 1, h->bodies) + shift] - first);
    }
}

// --- what is exchanged --------------------------------------------------------------------------------------

// Finds the other ranks that have a contact of each held body. Both ranks of a contact across a border hold it, so that both
// find the same.
static bool find_holders(SandSubproblem *s, SandError *error) {
    const SandProblem *p = s->problem;
    if (!SAND_RESERVE(s->holders, p->dynamic_count + 1, "ghosts", error)) return false;
    memset(s->holders.data, 0, (size_t)p->dynamic_count * sizeof *s->holders.data);
    for (int i = 0; i < p->contact_count; i++) {
        const SandContact *c = &p->contacts[i];
        SAND_ASSERT(c->a < c->b && (is_own(s, c->a) || is_own(s, c->b)));
        if (c->b >= p->dynamic_count || is_own(s, c->a) == is_own(s, c->b)) continue;
        int own = is_own(s, c->a) ? c->a : c->b, ghost = is_own(s, c->a) ? c->b : c->a;
        uint64_t other = UINT64_C(1) << s->partition->owner[ghost];
        s->holders.data[own] |= other;
        s->holders.data[ghost] |= other;
    }
    return true;
}

// Lists the bodies exchanged with rank r, own ones or ghosts, by ascending solver index, which is the same order on both
// sides.
static bool list_exchanged(SandSubproblem *s, int r, bool own, int **list, size_t *capacity, int *count, SandError *error) {
    for (int k = 0; k < s->problem->dynamic_count; k++) {
        if (is_own(s, k) != own || !(s->holders.data[k] >> r & 1)) continue;
        if (!SAND_GROW(*list, *capacity, *count + 1, "ghosts", error)) return false;
        (*list)[(*count)++] = k;
    }
    return true;
}

static bool find_neighbors(SandSubproblem *s, SandError *error) {
    int owning = sand_owning_ranks(s->partition->ranks->count);
    uint64_t all = 0;
    if (!find_holders(s, error)) return false;
    for (int k = 0; k < s->problem->dynamic_count; k++) all |= s->holders.data[k];
    s->neighbor_count = s->send_count = s->receive_count = 0;
    for (int r = 0; r < owning; r++) {
        SandNeighbor n = {.rank = r, .first_send = s->send_count, .first_receive = s->receive_count};
        if (!(all >> r & 1)) continue;
        if (!list_exchanged(s, r, true, &s->send, &s->send_capacity, &s->send_count, error) ||
            !list_exchanged(s, r, false, &s->receive, &s->receive_capacity, &s->receive_count, error))
            return false;
        n.send_count = s->send_count - n.first_send;
        n.receive_count = s->receive_count - n.first_receive;
        s->neighbors[s->neighbor_count++] = n;
    }
    return true;
}

// --- completing ghosts ----------------------------------------------------------------------------------------

// Joints lift the inertia of a body and cohesion changes its free motion: both follow from all of its contacts, which only
// the owner of a ghost has.
typedef struct Ghost {
    SandProblemBody body;
    int degree, number;
} Ghost;

static bool exchange_bodies(SandSubproblem *s, SandProblem *p, SandError *error) {
    const SandRanks *ranks = s->partition->ranks;
    SandMessage messages[SAND_CHUNKS];
    size_t sent = (size_t)s->send_count * sizeof(Ghost), received = (size_t)s->receive_count * sizeof(Ghost);
    if (!SAND_RESERVE(s->messages, sent + received + 1, "ghosts", error)) return false;
    Ghost *out = (Ghost *)(void *)s->messages.data, *in = out + s->send_count;
    for (int e = 0; e < s->send_count; e++)
        out[e] = (Ghost){p->bodies[s->send[e]], s->degree.data[s->send[e]], s->number.data[s->send[e]]};
    for (int j = 0; j < s->neighbor_count; j++) {
        const SandNeighbor *n = &s->neighbors[j];
        messages[j] = (SandMessage){n->rank, out + n->first_send, in + n->first_receive, (size_t)n->send_count * sizeof *out,
                                    (size_t)n->receive_count * sizeof *in};
    }
    if (!ranks->agree(ranks->user, 0, error)) return false;
    ranks->exchange(ranks->user, messages, s->neighbor_count);
    for (int e = 0; e < s->receive_count; e++) {
        p->bodies[s->receive[e]] = in[e].body;
        s->degree.data[s->receive[e]] = in[e].degree;
        s->number.data[s->receive[e]] = in[e].number;
    }
    return true;
}

static bool number_bodies(SandSubproblem *s, SandError *error) {
    const SandPartition *h = s->partition;
    int count = s->problem->dynamic_count;
    if (!SAND_RESERVE(s->degree, count + 1, "bodies", error) || !SAND_RESERVE(s->number, count + 1, "bodies", error))
        return false;
    for (int k = 0; k < count; k++) {
        s->degree.data[k] = sand_adjacency_degree(&s->held, k);
        s->number.data[k] = k - h->below + h->first_body[h->ranks->rank];
    }
    return true;
}

// What decides which kernel solves, and the scale of the problem.
static void share_facts(SandSubproblem *s) {
    const SandProblem *p = s->problem;
    int64_t facts[3] = {p->contact_count - s->lower, 0, p->joint_count};
    for (int i = 0; i < p->contact_count && !facts[1]; i++) facts[1] = p->contacts[i].mu > 0;
    s->partition->ranks->sum(s->partition->ranks->user, facts, 3);
    s->all_contacts = (int)facts[0];
    s->rubs = facts[1] > 0;
    s->joined = facts[2] > 0;
}

// --- one coloring of all contacts -----------------------------------------------------------------------------

// The bodies of a contact, as numbers of the whole problem; a boundary is none of them.
typedef struct Edge {
    int a, b;
} Edge;

static bool gather_graph(SandSubproblem *s, int *first, SandError *error) {
    const SandRanks *ranks = s->partition->ranks;
    const SandProblem *p = s->problem;
    SandProblem *graph = &s->graph;
    int64_t counts[SAND_MAX_RANKS] = {0};
    counts[ranks->rank] = p->contact_count - s->lower;
    ranks->sum(ranks->user, counts, ranks->count);
    first[0] = 0;
    for (int r = 0; r < ranks->count; r++) first[r + 1] = first[r] + (int)counts[r];
    graph->dynamic_count = s->partition->bodies;
    graph->body_count = graph->dynamic_count + 1;
    graph->contact_count = s->all_contacts;
    if (!SAND_GROW(graph->contacts, graph->contact_capacity, s->all_contacts + 1, "colors", error) ||
        !SAND_RESERVE(s->messages, (size_t)(s->all_contacts + 1) * sizeof(Edge), "colors", error))
        return false;
    Edge *edges = (Edge *)(void *)s->messages.data;
    for (int i = s->lower; i < p->contact_count; i++) {
        const SandContact *c = &p->contacts[i];
        int b = c->b < p->dynamic_count ? s->number.data[c->b] : graph->dynamic_count;
        edges[first[ranks->rank] + i - s->lower] = (Edge){s->number.data[c->a], b};
    }
    if (!ranks->agree(ranks->user, 0, error)) return false;
    ranks->allgather(ranks->user, edges, first, sizeof *edges);
    for (int i = 0; i < s->all_contacts; i++) graph->contacts[i] = (SandContact){.a = edges[i].a, .b = edges[i].b};
    return true;
}

// Which contact of all a contact of the halo is: of those between its bodies the one with the same place.
static int find_halo(const SandSubproblem *s, int i) {
    const SandContact *c = &s->problem->contacts[i], *graph = s->graph.contacts;
    int a = s->number.data[c->a], b = s->number.data[c->b], before = 0;
    for (int j = i - 1; j >= 0 && s->problem->contacts[j].a == c->a; j--) before += s->problem->contacts[j].b == c->b;
    for (int e = s->whole.first.data[a]; e < s->whole.first.data[a + 1]; e++)
        if (graph[e].b == b && before-- == 0) return e;
    SAND_ASSERT(!"a contact is held on both sides");
    return 0;
}

static bool color_all(SandSubproblem *s, SandError *error) {
    int first[SAND_MAX_RANKS + 1], me = s->partition->ranks->rank;
    if (!gather_graph(s, first, error) || !sand_adjacency_build(&s->whole, &s->graph, error) ||
        !sand_adjacency_color(&s->whole, &s->graph, error) ||
        !SAND_RESERVE(s->graph_of, s->all_contacts + 1, "colors", error))
        return false;
    for (int e = 0; e < s->all_contacts; e++) s->graph_of.data[e] = -1;
    for (int i = 0; i < s->problem->contact_count; i++)
        s->graph_of.data[i < s->lower ? find_halo(s, i) : first[me] + i - s->lower] = i;
    return true;
}

bool sand_subproblem_color(const SandSubproblem *s, SandAdjacency *a, SandError *error) {
    const SandAdjacency *whole = &s->whole;
    int count = 0;
    if (!SAND_RESERVE(a->color_first, whole->color_count + 2, "colors", error) ||
        !SAND_RESERVE(a->color_list, s->problem->contact_count + 1, "colors", error))
        return false;
    a->color_count = whole->color_count;
    for (int c = 0; c <= whole->color_count; c++) { // the last is the batch
        a->color_first.data[c] = count;
        for (int e = whole->color_first.data[c]; e < whole->color_first.data[c + 1]; e++)
            if (s->graph_of.data[whole->color_list.data[e]] >= 0)
                a->color_list.data[count++] = s->graph_of.data[whole->color_list.data[e]];
    }
    a->color_first.data[whole->color_count + 1] = count;
    return true;
}

bool sand_subproblem_share(SandSubproblem *s, SandProblem *p, const SandPartition *partition, bool colors,
                           SandError *error) {
    SAND_ASSERT(!p->matrix);
    s->partition = partition;
    s->problem = p;
    if (!sand_adjacency_build(&s->held, p, error) || !number_bodies(s, error)) return false;
    s->lower = s->held.first.data[partition->below];
    SAND_ASSERT(s->held.first.data[partition->below + sand_partition_owned(partition)] == p->contact_count);
    lay_out_spans(s);
    if (!find_neighbors(s, error) || !exchange_bodies(s, p, error)) return false;
    share_facts(s);
    return !colors || color_all(s, error);
}
