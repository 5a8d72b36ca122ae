// The cut of a problem over ranks: every contact and body has one owner, a rank holds what its bodies touch, in the order
// of the whole problem, and what one rank sends is what another expects.
#include "sim/solver/subdomain.h"
#include "tests/lab/joint_problem.h"
#include "tests/lab/solver_lab.h"

enum { MOST_RANKS = SAND_CHUNKS, COUNTS = 7 };
static const int rank_counts[COUNTS] = {1, 2, 3, 4, 5, 8, MOST_RANKS};

static SandSubdomain parts[MOST_RANKS];

static void cut(const SandProblem *p, int count) {
    static SandRanks ranks[MOST_RANKS];
    SandError error;
    for (int r = 0; r < count; r++) {
        ranks[r] = (SandRanks){.rank = r, .count = count};
        if (!sand_subdomain_cut(&parts[r], p, &ranks[r], true, &error)) fail_msg("%s", error.text);
    }
}

static void free_parts(void) {
    for (int r = 0; r < MOST_RANKS; r++) sand_subdomain_free(&parts[r]);
}

static bool owns(const SandSubdomain *s, const int *first, int i) {
    return i >= first[s->ranks->rank] && i < first[s->ranks->rank + 1];
}

// --- who owns what ------------------------------------------------------------------------------------------

static void check_owners(const SandProblem *p, int count) {
    int contacts = 0, bodies = 0, chunks = 0;
    for (int r = 0; r < count; r++) {
        assert_memory_equal(parts[r].first_body, parts[0].first_body, (size_t)(count + 1) * sizeof(int));
        contacts += sand_subdomain_owned_contacts(&parts[r]);
        bodies += sand_subdomain_owned_bodies(&parts[r]);
        for (int k = 0; k < parts[r].spans.count; k++) chunks += parts[r].spans.span[k].chunk != SAND_HALO;
    }
    assert_int_equal(contacts, p->contact_count);
    assert_int_equal(bodies, p->dynamic_count);
    assert_int_equal(chunks, parts[0].spans.chunks);
}

// --- what is held -------------------------------------------------------------------------------------------

// A held contact is a copy of one of the whole problem, between the same bodies.
static void check_copies(const SandSubdomain *s, const SandProblem *p) {
    for (int i = 0; i < s->problem.contact_count; i++) {
        SandContact c = s->problem.contacts[i];
        const SandContact *whole = &p->contacts[s->contact[i]];
        assert_true(i == 0 || s->contact[i - 1] < s->contact[i]);
        assert_true(c.a < c.b);
        int moved = s->problem.dynamic_count - p->dynamic_count; // of boundaries
        assert_int_equal(s->body[c.a], whole->a);
        assert_int_equal(c.b < s->problem.dynamic_count ? s->body[c.b] : c.b - moved, whole->b);
        c.a = whole->a;
        c.b = whole->b;
        assert_memory_equal(&c, whole, sizeof c);
        assert_memory_equal(&s->problem.start[i], &p->start[s->contact[i]], sizeof *p->start);
        if (p->joint_count) assert_int_equal(s->problem.joint[i], p->joint[s->contact[i]]);
    }
    for (int k = 0; k < s->problem.dynamic_count; k++)
        assert_memory_equal(&s->problem.bodies[k], &p->bodies[s->body[k]], sizeof *p->bodies);
    for (int k = 0; k < s->problem.dynamic_count; k++)
        assert_int_equal(s->degree[k], sand_adjacency_degree(&s->whole, s->body[k]));
}

// An owned body gathers all its contacts, in the order that they have in the whole problem.
static void check_gathers(const SandSubdomain *s) {
    SandAdjacency held = {0};
    SandError error;
    if (!sand_adjacency_build(&held, &s->problem, &error)) fail_msg("%s", error.text);
    for (int k = 0; k < s->problem.dynamic_count; k++) {
        int whole = s->body[k];
        if (!owns(s, s->first_body, whole)) continue;
        assert_int_equal(sand_adjacency_degree(&held, k), sand_adjacency_degree(&s->whole, whole));
        for (int e = 0; e < held.first[k + 1] - held.first[k]; e++)
            assert_int_equal(s->contact[held.first[k] + e], s->whole.first[whole] + e);
        for (int e = 0; e < held.second[k + 1] - held.second[k]; e++)
            assert_int_equal(s->contact[held.list[held.second[k] + e]], s->whole.list[s->whole.second[whole] + e]);
    }
    sand_adjacency_free(&held);
}

// Spans cover every tile and every held contact once, in their order; a chunk has the contacts of its range of bodies.
static void check_spans(const SandSubdomain *s, const SandProblem *p) {
    int64_t tile = 0;
    int contact = 0;
    for (int k = 0; k < s->spans.count; k++) {
        SandSpan span = s->spans.span[k];
        assert_int_equal(span.begin, tile);
        assert_int_equal(span.first, contact);
        assert_int_equal(span.end - span.begin, (span.count + SAND_LANES - 1) / SAND_LANES);
        tile = span.end;
        contact += span.count;
        if (span.chunk == SAND_HALO) continue;
        int first = p->dynamic_count * span.chunk / s->spans.chunks,
            end = p->dynamic_count * (span.chunk + 1) / s->spans.chunks;
        assert_int_equal(span.count, s->whole.first[end] - s->whole.first[first]);
        if (span.count) assert_int_equal(s->contact[span.first], s->whole.first[first]);
    }
    assert_int_equal(contact, s->problem.contact_count);
    assert_true(s->ranks->rank > 0 || s->spans.span[0].chunk == 0);
}

// Nothing is held that no owned contact or body needs.
static void check_halo(const SandSubdomain *s, const SandProblem *p) {
    int ghosts = s->problem.dynamic_count - sand_subdomain_owned_bodies(s);
    for (int i = 0; i < s->problem.contact_count; i++) {
        const SandContact *c = &p->contacts[s->contact[i]];
        assert_true(owns(s, s->first_body, c->a) || owns(s, s->first_body, c->b));
        assert_int_equal(owns(s, s->first_contact, s->contact[i]), owns(s, s->first_body, c->a));
    }
    assert_int_equal(s->receive_count, ghosts);
}

static void check_colors(const SandSubdomain *s) {
    SandAdjacency held = {0};
    SandError error;
    if (!sand_subdomain_color(s, &held, &error)) fail_msg("%s", error.text);
    assert_int_equal(held.color_first[held.color_count + 1], s->problem.contact_count);
    for (int c = 0, e = 0; c <= held.color_count; c++)
        for (int w = s->whole.color_first[c]; w < s->whole.color_first[c + 1]; w++)
            if (s->held[s->whole.color_list[w]] >= 0) {
                assert_in_range(e, held.color_first[c], held.color_first[c + 1] - 1);
                assert_int_equal(s->contact[held.color_list[e++]], s->whole.color_list[w]);
            }
    sand_adjacency_free(&held);
}

// --- what is exchanged --------------------------------------------------------------------------------------

static const SandNeighbor *neighbor_of(const SandSubdomain *s, int rank) {
    for (int j = 0; j < s->neighbor_count; j++)
        if (s->neighbors[j].rank == rank) return &s->neighbors[j];
    return NULL;
}

static void check_messages(const SandSubdomain *s) {
    for (int j = 0; j < s->neighbor_count; j++) {
        const SandNeighbor *n = &s->neighbors[j];
        const SandSubdomain *other = &parts[n->rank];
        const SandNeighbor *back = neighbor_of(other, s->ranks->rank);
        assert_non_null(back);
        assert_int_equal(n->send_count, back->receive_count);
        for (int e = 0; e < n->send_count; e++) {
            int sent = s->body[s->send[n->first_send + e]];
            assert_true(owns(s, s->first_body, sent));
            assert_int_equal(sent, other->body[other->receive[back->first_receive + e]]);
        }
    }
}

static void check_cuts(const char *name, const SandProblem *p) {
    for (int k = 0; k < COUNTS; k++) {
        int ghosts = 0, halo = 0;
        cut(p, rank_counts[k]);
        check_owners(p, rank_counts[k]);
        for (int r = 0; r < rank_counts[k]; r++) {
            const SandSubdomain *s = &parts[r];
            check_copies(s, p);
            check_gathers(s);
            check_spans(s, p);
            check_halo(s, p);
            check_colors(s);
            check_messages(s);
            ghosts += s->receive_count;
            halo += s->problem.contact_count - sand_subdomain_owned_contacts(s);
        }
        if (rank_counts[k] == 1) assert_true(ghosts == 0 && halo == 0);
        print_message("%s: %d contacts on %d ranks: %d more in halos, %d ghosts\n", name, p->contact_count, rank_counts[k],
                      halo, ghosts);
    }
    free_parts();
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
    cut(&plate, 4);
    int wide = parts[0].whole.high_degree[0], everywhere = 0;
    assert_true(parts[0].whole.high_degree_count > 0);
    for (int r = 0; r < 4; r++) everywhere += parts[r].held_body[wide] >= 0;
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

static void more_ranks_than_chunks_are_refused(void **state) {
    (void)state;
    SandProblem p = frozen_stored("spheres");
    SandRanks ranks = {.count = SAND_CHUNKS + 1};
    SandError error;
    assert_false(sand_subdomain_cut(&parts[0], &p, &ranks, false, &error));
    assert_string_equal(error.text, "65 ranks are too many: contacts are summed in 64 chunks, and each rank needs one");
    free_parts();
    sand_problem_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(piles_are_cut), cmocka_unit_test(a_high_degree_body_is_cut),
                                       cmocka_unit_test(few_contacts_are_cut),
                                       cmocka_unit_test(more_ranks_than_chunks_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
