// SPDX-License-Identifier: MIT
// What ranks find out about a problem of which each holds a part: chunks and tiles, who sends which bodies to whom, what
// their owners know of ghosts, and one coloring of all contacts. The ranks are threads here (tests/lab/ranks/local_ranks.h).
#include "sim/solver/subproblem.h"
#include "tests/lab/solver/cut_problem.h"
#include "tests/lab/solver/joint_problem.h"
#include "tests/lab/ranks/local_ranks.h"
#include "tests/lab/solver/solver_lab.h"

enum { MOST_RANKS = 16, COUNTS = 6 };
static const int rank_counts[COUNTS] = {1, 2, 3, 4, 5, MOST_RANKS};

static CutProblem cuts[MOST_RANKS];
static SandSubproblem parts[MOST_RANKS];

static void share(const SandRanks *ranks, void *argument) {
    SandError error;
    int me = ranks->rank;
    cut_problem(&cuts[me], argument, ranks);
    bool shared = sand_subproblem_share(&parts[me], &cuts[me].problem, &cuts[me].partition, true, &error);
    assert_true(shared);
}

static void free_parts(void) {
    for (int r = 0; r < MOST_RANKS; r++) sand_subproblem_free(&parts[r]);
    for (int r = 0; r < MOST_RANKS; r++) cut_problem_free(&cuts[r]);
}

static bool owns(int rank, int whole) {
    return whole >= cuts[rank].partition.first_body[rank] && whole < cuts[rank].partition.first_body[rank + 1];
}

// --- what is computed ---------------------------------------------------------------------------------------

// Spans cover every tile and every held contact once, in their order; a chunk has the contacts of its range of bodies.
static int check_spans(int rank, const SandProblem *p) {
    const SandSpans *spans = &parts[rank].spans;
    int64_t tile = 0;
    int contact = 0, chunks = 0;
    for (int k = 0; k < spans->count; k++) {
        SandSpan span = spans->span[k];
        assert_int_equal(span.begin, tile);
        assert_int_equal(span.first, contact);
        assert_int_equal(span.end - span.begin, (span.count + SAND_LANES - 1) / SAND_LANES);
        tile = span.end;
        contact += span.count;
        if (span.chunk == SAND_HALO) continue;
        int first = p->dynamic_count * span.chunk / spans->chunks, end = p->dynamic_count * (span.chunk + 1) / spans->chunks;
        const int *whole = cuts[rank].whole.first.data;
        assert_int_equal(span.count, whole[end] - whole[first]);
        if (span.count) assert_int_equal(cuts[rank].contact[span.first], whole[first]);
        chunks++;
    }
    assert_int_equal(contact, cuts[rank].problem.contact_count);
    assert_true(rank > 0 || spans->span[0].chunk == 0);
    return chunks;
}

// An owned body gathers all its contacts, in the order that they have in the whole problem.
static void check_gathers(int rank) {
    const SandAdjacency *held = &parts[rank].held, *all = &cuts[rank].whole;
    for (int k = 0; k < held->body_count; k++) {
        int whole = cuts[rank].body[k];
        if (!owns(rank, whole)) continue;
        assert_int_equal(sand_adjacency_degree(held, k), sand_adjacency_degree(all, whole));
        for (int e = 0; e < held->first.data[k + 1] - held->first.data[k]; e++)
            assert_int_equal(cuts[rank].contact[held->first.data[k] + e], all->first.data[whole] + e);
        for (int e = 0; e < held->second.data[k + 1] - held->second.data[k]; e++)
            assert_int_equal(cuts[rank].contact[held->list.data[held->second.data[k] + e]],
                             all->list.data[all->second.data[whole] + e]);
    }
}

// --- what is exchanged --------------------------------------------------------------------------------------

static const SandNeighbor *neighbor_of(const SandSubproblem *s, int rank) {
    for (int j = 0; j < s->neighbor_count; j++)
        if (s->neighbors[j].rank == rank) return &s->neighbors[j];
    return NULL;
}

// What one sends is what another expects, and every ghost is sent.
static void check_messages(int rank) {
    const SandSubproblem *s = &parts[rank];
    int ghosts = s->problem->dynamic_count - sand_partition_owned(&cuts[rank].partition);
    assert_int_equal(s->receive_count, ghosts);
    for (int j = 0; j < s->neighbor_count; j++) {
        const SandNeighbor *n = &s->neighbors[j], *back = neighbor_of(&parts[n->rank], rank);
        assert_non_null(back);
        assert_int_equal(n->send_count, back->receive_count);
        for (int e = 0; e < n->send_count; e++) {
            int sent = cuts[rank].body[s->send[n->first_send + e]];
            assert_true(owns(rank, sent));
            assert_int_equal(sent, cuts[n->rank].body[parts[n->rank].receive[back->first_receive + e]]);
        }
    }
}

// A ghost is what its owner says it is, with the contacts that it has in the whole problem.
static void check_ghosts(int rank, const SandProblem *p) {
    const SandSubproblem *s = &parts[rank];
    for (int k = 0; k < s->problem->dynamic_count; k++) {
        int whole = cuts[rank].body[k];
        assert_memory_equal(&s->problem->bodies[k], &p->bodies[whole], sizeof *p->bodies);
        assert_int_equal(s->number.data[k], whole);
        assert_int_equal(s->degree.data[k], sand_adjacency_degree(&cuts[rank].whole, whole));
    }
}

static void check_colors(int rank) {
    const SandSubproblem *s = &parts[rank];
    const SandAdjacency *all = &cuts[rank].whole;
    SandAdjacency held = {0};
    SandError error;
    int e = 0;
    if (!sand_subproblem_color(s, &held, &error)) fail_msg("%s", error.text);
    assert_int_equal(held.color_count, all->color_count);
    assert_int_equal(held.color_first.data[held.color_count + 1], s->problem->contact_count);
    for (int c = 0; c <= all->color_count; c++)
        for (int w = all->color_first.data[c]; w < all->color_first.data[c + 1]; w++) {
            if (e == s->problem->contact_count || cuts[rank].contact[held.color_list.data[e]] != all->color_list.data[w])
                continue;
            assert_in_range(e, held.color_first.data[c], held.color_first.data[c + 1] - 1);
            e++;
        }
    assert_int_equal(e, s->problem->contact_count); // all of them, in the order of the whole list
    sand_adjacency_free(&held);
}

static void check_cuts(const char *name, SandProblem *p) {
    for (int k = 0; k < COUNTS; k++) {
        int ghosts = 0, halo = 0, chunks = 0, ranks = rank_counts[k];
        local_ranks_run(ranks, share, p, NULL);
        for (int r = 0; r < ranks; r++) {
            chunks += check_spans(r, p);
            check_gathers(r);
            check_messages(r);
            check_ghosts(r, p);
            check_colors(r);
            assert_int_equal(parts[r].all_contacts, p->contact_count);
            assert_int_equal(parts[r].rubs, parts[0].rubs);
            ghosts += parts[r].receive_count;
            halo += parts[r].lower;
        }
        assert_int_equal(chunks, sand_chunks_of(p->dynamic_count));
        if (ranks == 1) assert_true(ghosts == 0 && halo == 0);
        print_message("%s: %d contacts on %d ranks: %d more in halos, %d ghosts\n", name, p->contact_count, ranks, halo,
                      ghosts);
        free_parts();
    }
}

static void piles_are_cut(void **state) {
    (void)state;
    SandProblem spheres = frozen_stored("spheres"), clumps = frozen_stored("clumps"), joints = joint_problem(3);
    check_cuts("spheres", &spheres);
    check_cuts("clumps", &clumps);
    check_cuts("joints", &joints);
    sand_problem_free(&spheres);
    sand_problem_free(&clumps);
    sand_problem_free(&joints);
}

// One body touches a bed that is cut over all ranks: its owner holds all its contacts.
static void a_high_degree_body_is_cut(void **state) {
    (void)state;
    SandProblem plate = frozen_text(plate_scene, 10, 50);
    check_cuts("plate", &plate);
    local_ranks_run(4, share, &plate, NULL);
    int wide = cuts[0].whole.high_degree.data[0], everywhere = 0;
    assert_true(cuts[0].whole.high_degree_count > 0);
    for (int r = 0; r < 4; r++)
        for (int k = 0; k < cuts[r].problem.dynamic_count; k++) everywhere += cuts[r].body[k] == wide;
    assert_int_equal(everywhere, 4);
    free_parts();
    sand_problem_free(&plate);
}

// Fewer contacts than ranks, and none: then the bodies have owners all the same.
static void few_contacts_are_cut(void **state) {
    (void)state;
    SandProblem p = frozen_stored("spheres");
    int all = p.contact_count;
    for (p.contact_count = 0; p.contact_count < 70; p.contact_count = 2 * p.contact_count + 1) check_cuts("few", &p);
    p.contact_count = all;
    sand_problem_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(piles_are_cut), cmocka_unit_test(a_high_degree_body_is_cut),
                                       cmocka_unit_test(few_contacts_are_cut)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
