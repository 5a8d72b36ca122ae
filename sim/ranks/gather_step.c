// SPDX-License-Identifier: MIT
// Gathering the contacts of the last step on rank 0: collision, problem and solution of its host are then those that a
// single process would have. Ranks send own bodies and contacts in the order of solver indices, so received in rank order
// they are sorted.
#include "sim/ranks/subdomain.h"

#include "sim/core/array.h"

#include <string.h>

// A body of the problem, and its solved motion.
typedef struct SentBody {
    int id;
    SandProblemBody body;
    SandVec3 velocity, spin;
} SentBody;

// A contact, with global ids; b of a boundary is -1 - its index.
typedef struct SentContact {
    int a, b;
    SandContactCandidate candidate;
    SandContact contact;
    SandVec3 start, start_torque, impulse, torque;
    SandJointRows rows;
    bool is_joint;
} SentContact;

typedef struct Sent {
    const SentBody *bodies;
    const SentContact *contacts;
    int body_count, contact_count;
} Sent;

// --- sending ------------------------------------------------------------------------------------------------

static SentContact sent_contact(const SandSubdomain *subdomain, const SandHostState *s, int i) {
    const SandContactCandidate *c = &s->collision.contacts[i];
    const SandProblem *p = &s->problem;
    const SandJointRows *rows = sand_problem_joint(p, i);
    SentContact sent;
    memset(&sent, 0, sizeof sent);
    sent.a = sand_subdomain_global_id(subdomain, s->collision.body[c->index_a]);
    sent.b = c->b < 0 ? c->b : sand_subdomain_global_id(subdomain, s->collision.body[c->b]);
    sent.candidate = *c;
    if (!(c->key.other & (SAND_BOUNDARY_BIT | SAND_JOINT_BIT))) sent.candidate.key.other = (uint32_t)sent.b;
    sent.contact = p->contacts[i];
    sent.start = p->start[i];
    sent.impulse = s->solution.impulse[i];
    if (p->rolls) sent.start_torque = p->start[p->contact_count + i];
    if (p->rolls) sent.torque = s->solution.impulse[p->contact_count + i];
    sent.is_joint = rows != NULL;
    if (rows) sent.rows = *rows;
    return sent;
}

static bool put_contacts(SandMessages *messages, const SandSubdomain *subdomain, const SandHostState *s, int first, int end,
                         SandError *error) {
    for (int i = first; i < end; i++) {
        SentContact sent = sent_contact(subdomain, s, i);
        if (!sand_messages_put(messages, 0, &sent, sizeof sent, error)) return false;
    }
    return true;
}

static bool put_bodies(SandMessages *messages, const SandSubdomain *subdomain, const SandHostState *s, int first, int end,
                       SandError *error) {
    for (int k = first; k < end; k++) {
        SentBody sent;
        memset(&sent, 0, sizeof sent);
        sent.id = sand_subdomain_global_id(subdomain, s->collision.body[k]);
        sent.body = s->problem.bodies[k];
        sent.velocity = s->solution.velocity[k];
        sent.spin = s->solution.spin[k];
        if (!sand_messages_put(messages, 0, &sent, sizeof sent, error)) return false;
    }
    return true;
}

// --- receiving ----------------------------------------------------------------------------------------------

static bool reserve_collision(SandCollision *c, const SandWorld *w, const Sent *sent, SandError *error) {
    return SAND_GROW(c->solver_index, c->solver_index_capacity, w->body_count + 1, "bodies", error) &&
           SAND_GROW(c->body, c->body_capacity, w->body_count + 1, "bodies", error) &&
           SAND_GROW(c->first, c->first_capacity, w->body_count + 2, "bodies", error) &&
           SAND_GROW(c->contacts, c->contact_capacity, sent->contact_count + 1, "contacts", error) &&
           SAND_GROW(c->pose, c->pose_capacity, w->boundary_count + 1, "boundaries", error) &&
           SAND_GROW(c->guard, c->guard_capacity, w->boundary_count + 1, "boundaries", error) &&
           SAND_GROW(c->velocity, c->velocity_capacity, w->boundary_count + 1, "boundaries", error) &&
           SAND_GROW(c->spin, c->spin_capacity, w->boundary_count + 1, "boundaries", error);
}

// Copies poses and velocities of boundaries, which are the same on all ranks.
static void take_boundaries(SandCollision *to, const SandCollision *from, int count) {
    for (int b = 0; b < count; b++) {
        to->pose[b] = from->pose[b];
        to->guard[b] = from->guard[b];
        to->velocity[b] = from->velocity[b];
        to->spin[b] = from->spin[b];
    }
}

static bool fill_collision(SandHostState *host, const SandHostState *local, const Sent *sent, SandError *error) {
    SandCollision *c = &host->collision;
    const SandWorld *w = &host->world;
    if (!reserve_collision(c, w, sent, error)) return false;
    take_boundaries(c, &local->collision, w->boundary_count);
    c->body_count = sent->body_count;
    c->contact_count = sent->contact_count;
    for (int i = 0; i < w->body_count; i++) c->solver_index[i] = -1;
    for (int k = 0; k < sent->body_count; k++) c->solver_index[c->body[k] = sent->bodies[k].id] = k;
    for (int k = 0; k <= sent->body_count; k++) c->first[k] = 0;
    for (int i = 0; i < sent->contact_count; i++) {
        const SentContact *from = &sent->contacts[i];
        c->contacts[i] = from->candidate;
        c->contacts[i].index_a = c->solver_index[from->a];
        c->contacts[i].b = from->b < 0 ? from->b : c->solver_index[from->b];
        c->first[c->contacts[i].index_a + 1]++;
    }
    for (int k = 0; k < sent->body_count; k++) c->first[k + 1] += c->first[k];
    return true;
}

static bool reserve_problem(SandProblem *p, const SandProblem *local, const Sent *sent, SandError *error) {
    int joints = 0;
    for (int i = 0; i < sent->contact_count; i++) joints += sent->contacts[i].is_joint;
    p->dynamic_count = sent->body_count;
    p->body_count = sent->body_count + local->body_count - local->dynamic_count;
    p->contact_count = sent->contact_count;
    p->step = local->step;
    p->recovery = local->recovery;
    p->bounces = local->bounces;
    p->rolls = local->rolls;
    p->radial = local->radial;
    return SAND_GROW(p->bodies, p->body_capacity, p->body_count + 1, "bodies", error) &&
           SAND_GROW(p->contacts, p->contact_capacity, p->contact_count + 1, "contacts", error) &&
           SAND_GROW(p->start, p->start_capacity, sand_problem_vectors(p) + 1, "contacts", error) &&
           sand_problem_reserve_joints(p, joints, error);
}

static bool fill_problem(SandHostState *host, const SandHostState *local, const Sent *sent, SandError *error) {
    SandProblem *p = &host->problem;
    const SandCollision *c = &host->collision;
    if (!reserve_problem(p, &local->problem, sent, error)) return false;
    int moved = p->dynamic_count - local->problem.dynamic_count, joints = 0;
    for (int k = 0; k < p->dynamic_count; k++) p->bodies[k] = sent->bodies[k].body;
    for (int k = p->dynamic_count; k < p->body_count; k++) p->bodies[k] = local->problem.bodies[k - moved];
    for (int i = 0; i < p->contact_count; i++) {
        const SentContact *from = &sent->contacts[i];
        p->contacts[i] = from->contact;
        p->contacts[i].a = c->contacts[i].index_a;
        p->contacts[i].b = from->b < 0 ? p->dynamic_count - 1 - from->b : c->contacts[i].b;
        p->start[i] = from->start;
        if (p->rolls) p->start[p->contact_count + i] = from->start_torque;
        if (!p->joint_count) continue;
        p->joint[i] = from->is_joint ? joints : -1;
        if (from->is_joint) p->joints[joints++] = from->rows;
    }
    return true;
}

static bool fill_solution(SandHostState *host, const SandHostState *local, const Sent *sent, SandError *error) {
    SandSolution *s = &host->solution;
    const SandProblem *p = &host->problem;
    const SandSolution *from = &local->solution;
    if (!SAND_GROW(s->impulse, s->impulse_capacity, sand_problem_vectors(p) + 1, "impulses", error) ||
        !SAND_GROW(s->velocity, s->velocity_capacity, p->body_count + 1, "velocities", error) ||
        !SAND_GROW(s->spin, s->spin_capacity, p->body_count + 1, "velocities", error))
        return false;
    s->status = from->status;
    s->metrics = from->metrics;
    s->iterations = from->iterations;
    s->seconds = from->seconds;
    s->least_energy = from->least_energy;
    for (int k = 0; k < p->body_count; k++) {
        s->velocity[k] = k < p->dynamic_count ? sent->bodies[k].velocity : p->bodies[k].velocity;
        s->spin[k] = k < p->dynamic_count ? sent->bodies[k].spin : p->bodies[k].spin;
    }
    for (int i = 0; i < p->contact_count; i++) {
        s->impulse[i] = sent->contacts[i].impulse;
        if (p->rolls) s->impulse[p->contact_count + i] = sent->contacts[i].torque;
    }
    return true;
}

bool sand_subdomain_read_step(SandSubdomain *subdomain, SandHostState *host, SandError *error) {
    const SandHostState *local = sand_subdomain_state(subdomain);
    const SandPartition *h = sand_subdomain_partition(subdomain);
    int first = h->below, end = first + sand_partition_owned(h);
    SandMessages bodies = {0}, contacts = {0};
    bool ok = put_bodies(&bodies, subdomain, local, first, end, error) && sand_messages_exchange(&bodies, h->ranks, error) &&
              put_contacts(&contacts, subdomain, local, local->collision.first[first], local->collision.first[end], error) &&
              sand_messages_exchange(&contacts, h->ranks, error);
    Sent sent = {(const SentBody *)(const void *)bodies.received, (const SentContact *)(const void *)contacts.received,
                 (int)(bodies.received_bytes / sizeof(SentBody)), (int)(contacts.received_bytes / sizeof(SentContact))};
    if (ok && h->ranks->rank == 0)
        ok = fill_collision(host, local, &sent, error) && fill_problem(host, local, &sent, error) &&
             fill_solution(host, local, &sent, error);
    sand_messages_free(&bodies);
    sand_messages_free(&contacts);
    return ok;
}
