#include "sim/solver/subdomain.h"

#include "sim/core/array.h"
#include "sim/core/assert.h"

#include <string.h>

_Static_assert(SAND_CHUNKS <= 64, "a bit of `holders` for each rank");

void sand_subdomain_free(SandSubdomain *s) {
    void *arrays[] = {s->body, s->contact, s->degree, s->held, s->send, s->receive, s->held_body, s->holders};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) sand_free(arrays[k]);
    sand_adjacency_free(&s->whole);
    sand_problem_free(&s->problem);
    *s = (SandSubdomain){0};
}

// --- what each rank owns ------------------------------------------------------------------------------------

// The work up to this chunk: bodies, and contacts, of which each costs more.
static int64_t work_before(const SandSubdomain *s, int chunk, int bodies) {
    int body = sand_chunk_first_body(chunk, bodies);
    return body + (int64_t)2 * s->whole.first[body];
}

// Ranks get consecutive chunks with about equally much work. The first has the first chunk: it speaks for the others.
static void cut_ranges(SandSubdomain *s, const SandProblem *p) {
    int ranks = s->ranks->count, bodies = p->dynamic_count, chunks = sand_chunks_of(bodies), chunk = 0;
    int64_t all = work_before(s, chunks, bodies);
    for (int r = 0; r <= ranks; r++) {
        if (r == 1) chunk = 1;
        while (chunk < chunks && (r == ranks || work_before(s, chunk, bodies) * ranks < all * r)) chunk++;
        s->first_chunk[r] = r == 0 ? 0 : chunk;
        s->first_body[r] = sand_chunk_first_body(s->first_chunk[r], bodies);
        s->first_contact[r] = s->whole.first[s->first_body[r]];
    }
}

// The rank that owns body k.
static int owner_of(const SandSubdomain *s, int k) {
    int me = s->ranks->rank, r = k < s->first_body[me] ? 0 : me;
    while (k >= s->first_body[r + 1]) r++;
    return r;
}

static bool owns_body(const SandSubdomain *s, int k) {
    return k >= s->first_body[s->ranks->rank] && k < s->first_body[s->ranks->rank + 1];
}

// --- what this rank holds -----------------------------------------------------------------------------------

// All contacts of its bodies. Those that others own come first: the owner of a contact is the lower of its bodies.
static bool hold_contacts(SandSubdomain *s, const SandProblem *p, SandError *error) {
    int count = 0;
    if (!SAND_GROW(s->held, s->held_capacity, p->contact_count + 1, "contacts", error) ||
        !SAND_GROW(s->contact, s->contact_capacity, p->contact_count + 1, "contacts", error))
        return false;
    s->lower = 0;
    for (int i = 0; i < p->contact_count; i++) {
        const SandContact *c = &p->contacts[i];
        SAND_ASSERT(c->a < c->b);
        bool holds = owns_body(s, c->a) || owns_body(s, c->b);
        s->held[i] = holds ? count : -1;
        if (!holds) continue;
        s->contact[count++] = i;
        if (!owns_body(s, c->a)) s->lower++;
    }
    s->problem.contact_count = count;
    return true;
}

// Its own bodies and those that a held contact touches, in their order.
static bool hold_bodies(SandSubdomain *s, const SandProblem *p, SandError *error) {
    int count = 0;
    if (!SAND_GROW(s->held_body, s->held_body_capacity, p->dynamic_count + 1, "bodies", error) ||
        !SAND_GROW(s->body, s->body_capacity, p->dynamic_count + 1, "bodies", error) ||
        !SAND_GROW(s->degree, s->degree_capacity, p->dynamic_count + 1, "bodies", error))
        return false;
    for (int k = 0; k < p->dynamic_count; k++) s->held_body[k] = owns_body(s, k) ? 0 : -1;
    for (int i = 0; i < s->problem.contact_count; i++) {
        const SandContact *c = &p->contacts[s->contact[i]];
        s->held_body[c->a] = 0;
        if (c->b < p->dynamic_count) s->held_body[c->b] = 0;
    }
    s->below = 0;
    for (int k = 0; k < p->dynamic_count; k++) {
        if (s->held_body[k] < 0) continue;
        if (k < s->first_body[s->ranks->rank]) s->below++;
        s->body[count] = k;
        s->degree[count] = sand_adjacency_degree(&s->whole, k);
        s->held_body[k] = count++;
    }
    s->problem.dynamic_count = count;
    s->problem.body_count = count + p->body_count - p->dynamic_count;
    return true;
}

// The number of a body of the whole problem among those held; boundaries follow the moving bodies.
static int held_index(const SandSubdomain *s, const SandProblem *p, int k) {
    return k < p->dynamic_count ? s->held_body[k] : k - p->dynamic_count + s->problem.dynamic_count;
}

// All blocks of joints are kept, so that a rank without any solves the same kind of problem.
static bool copy_joints(SandSubdomain *s, const SandProblem *p, SandError *error) {
    SandProblem *to = &s->problem;
    if (!sand_problem_reserve_joints(to, p->joint_count, error)) return false;
    if (!p->joint_count) return true;
    memcpy(to->joints, p->joints, (size_t)p->joint_count * sizeof *to->joints);
    for (int i = 0; i < to->contact_count; i++) to->joint[i] = p->joint[s->contact[i]];
    return true;
}

static void copy_bodies(SandSubdomain *s, const SandProblem *p) {
    SandProblem *to = &s->problem;
    for (int k = 0; k < to->dynamic_count; k++) to->bodies[k] = p->bodies[s->body[k]];
    memcpy(to->bodies + to->dynamic_count, p->bodies + p->dynamic_count,
           (size_t)(p->body_count - p->dynamic_count) * sizeof *to->bodies);
}

static void copy_contacts(SandSubdomain *s, const SandProblem *p) {
    SandProblem *to = &s->problem;
    for (int i = 0; i < to->contact_count; i++) {
        int from = s->contact[i];
        to->contacts[i] = p->contacts[from];
        to->contacts[i].a = held_index(s, p, p->contacts[from].a);
        to->contacts[i].b = held_index(s, p, p->contacts[from].b);
        to->start[i] = p->start[from];
        if (p->rolls) to->start[to->contact_count + i] = p->start[p->contact_count + from];
    }
}

static bool copy_problem(SandSubdomain *s, const SandProblem *p, SandError *error) {
    SandProblem *to = &s->problem;
    to->radial = p->radial;
    to->bounces = p->bounces;
    to->rolls = p->rolls;
    to->step = p->step;
    to->recovery = p->recovery;
    if (!SAND_GROW(to->bodies, to->body_capacity, to->body_count + 1, "bodies", error) ||
        !SAND_GROW(to->contacts, to->contact_capacity, to->contact_count + 1, "contacts", error) ||
        !SAND_GROW(to->start, to->start_capacity, sand_problem_vectors(to) + 1, "start impulses", error))
        return false;
    copy_bodies(s, p);
    copy_contacts(s, p);
    return copy_joints(s, p, error);
}

// --- its tiles ----------------------------------------------------------------------------------------------

// The halo, in parts that threads can share, and the chunks.
static void lay_out_spans(SandSubdomain *s, int bodies) {
    int me = s->ranks->rank, part = (s->lower / SAND_CHUNKS / SAND_LANES + 1) * SAND_LANES;
    SandSpans *spans = &s->spans;
    *spans = (SandSpans){.ranks = s->ranks, .chunks = sand_chunks_of(bodies), .first_chunk = s->first_chunk};
    for (int i = 0; i < s->lower; i += part) sand_spans_add(spans, SAND_HALO, i, s->lower - i < part ? s->lower - i : part);
    for (int c = s->first_chunk[me]; c < s->first_chunk[me + 1]; c++) {
        int first = s->whole.first[sand_chunk_first_body(c, bodies)];
        int end = s->whole.first[sand_chunk_first_body(c + 1, bodies)];
        sand_spans_add(spans, c, s->lower + first - s->first_contact[me], end - first);
    }
}

// --- what is exchanged --------------------------------------------------------------------------------------

// The ranks that hold a contact: those of its bodies.
static uint64_t contact_holders(const SandSubdomain *s, const SandProblem *p, const SandContact *c) {
    uint64_t holders = UINT64_C(1) << owner_of(s, c->a);
    return c->b < p->dynamic_count ? holders | UINT64_C(1) << owner_of(s, c->b) : holders;
}

// Who has each owned body as a ghost: the holders of its contacts.
static bool find_holders(SandSubdomain *s, const SandProblem *p, SandError *error) {
    int owned = sand_subdomain_owned_bodies(s);
    if (!SAND_GROW(s->holders, s->holders_capacity, owned + 1, "ghosts", error)) return false;
    memset(s->holders, 0, (size_t)owned * sizeof *s->holders);
    for (int i = 0; i < s->problem.contact_count; i++) {
        const SandContact *c = &p->contacts[s->contact[i]];
        uint64_t holders = contact_holders(s, p, c) & ~(UINT64_C(1) << s->ranks->rank);
        if (owns_body(s, c->a)) s->holders[c->a - s->first_body[s->ranks->rank]] |= holders;
        if (owns_body(s, c->b)) s->holders[c->b - s->first_body[s->ranks->rank]] |= holders;
    }
    return true;
}

// Lists the owned bodies that rank r has as ghosts.
static bool list_sent(SandSubdomain *s, int r, SandError *error) {
    int owned = sand_subdomain_owned_bodies(s);
    for (int k = 0; k < owned; k++) {
        if (!(s->holders[k] >> r & 1)) continue;
        if (!SAND_GROW(s->send, s->send_capacity, s->send_count + 1, "ghosts", error)) return false;
        s->send[s->send_count++] = s->below + k;
    }
    return true;
}

// Lists the ghosts that rank r owns. Bodies are held in their order, so those of a rank lie together.
static bool list_received(SandSubdomain *s, int r, SandError *error) {
    for (int k = s->receive_count + (r > s->ranks->rank ? sand_subdomain_owned_bodies(s) : 0);
         k < s->problem.dynamic_count && s->body[k] < s->first_body[r + 1]; k++) {
        if (!SAND_GROW(s->receive, s->receive_capacity, s->receive_count + 1, "ghosts", error)) return false;
        s->receive[s->receive_count++] = k;
    }
    return true;
}

static bool find_neighbors(SandSubdomain *s, const SandProblem *p, SandError *error) {
    if (!find_holders(s, p, error)) return false;
    s->neighbor_count = s->send_count = s->receive_count = 0;
    for (int r = 0; r < s->ranks->count; r++) {
        SandNeighbor n = {.rank = r, .first_send = s->send_count, .first_receive = s->receive_count};
        if (r == s->ranks->rank) continue;
        if (!list_sent(s, r, error) || !list_received(s, r, error)) return false;
        n.send_count = s->send_count - n.first_send;
        n.receive_count = s->receive_count - n.first_receive;
        if (n.send_count || n.receive_count) s->neighbors[s->neighbor_count++] = n;
    }
    return true;
}

bool sand_subdomain_cut(SandSubdomain *s, const SandProblem *p, const SandRanks *ranks, bool colors, SandError *error) {
    SAND_ASSERT(!p->matrix);
    if (ranks->count > SAND_CHUNKS)
        return sand_fail(error, "%d ranks are too many: contacts are summed in %d chunks, and each rank needs one",
                         ranks->count, SAND_CHUNKS);
    s->ranks = ranks;
    if (!sand_adjacency_build(&s->whole, p, error) || (colors && !sand_adjacency_color(&s->whole, p, error))) return false;
    cut_ranges(s, p);
    if (!hold_contacts(s, p, error) || !hold_bodies(s, p, error) || !copy_problem(s, p, error)) return false;
    lay_out_spans(s, p->dynamic_count);
    return find_neighbors(s, p, error);
}

bool sand_subdomain_color(const SandSubdomain *s, SandAdjacency *a, SandError *error) {
    const SandAdjacency *whole = &s->whole;
    int count = 0;
    if (!SAND_GROW(a->color_first, a->color_first_capacity, whole->color_count + 2, "colors", error) ||
        !SAND_GROW(a->color_list, a->color_list_capacity, s->problem.contact_count + 1, "colors", error))
        return false;
    a->color_count = whole->color_count;
    for (int c = 0; c <= whole->color_count; c++) { // the last is the batch
        a->color_first[c] = count;
        for (int e = whole->color_first[c]; e < whole->color_first[c + 1]; e++)
            if (s->held[whole->color_list[e]] >= 0) a->color_list[count++] = s->held[whole->color_list[e]];
    }
    a->color_first[whole->color_count + 1] = count;
    return true;
}
