// SPDX-License-Identifier: MIT
// Cutting a whole problem into parts of ranks: owners by chunks, the contacts of their bodies, ghosts with wrong inertias
// that only an exchange can mend.
#include "tests/lab/solver/cut_problem.h"

#include "sim/core/array.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void *reserve(size_t count, size_t bytes) {
    void *array = calloc(count + 1, bytes);
    assert(array);
    return array;
}

void cut_problem_free(CutProblem *subproblem) {
    free(subproblem->body);
    free(subproblem->contact);
    free(subproblem->owner);
    sand_adjacency_free(&subproblem->whole);
    sand_problem_free(&subproblem->problem);
    *subproblem = (CutProblem){0};
}

// Equally many chunks for each, and one for rank 0 at least.
static void cut_ranges(CutProblem *subproblem, const SandProblem *p) {
    SandPartition *h = &subproblem->partition;
    int ranks = h->ranks->count, chunks = sand_chunks_of(p->dynamic_count);
    h->bodies = p->dynamic_count;
    for (int r = 0; r <= ranks; r++) {
        h->first_chunk[r] = r == 0 ? 0 : (chunks * r + ranks - 1) / ranks;
        h->first_body[r] = sand_chunk_first_body(h->first_chunk[r], p->dynamic_count);
        subproblem->first_contact[r] = subproblem->whole.first.data[h->first_body[r]];
    }
}

static int owner_of(const SandPartition *h, int k) {
    int r = 0;
    while (k >= h->first_body[r + 1]) r++;
    return r;
}

static bool owns(const SandPartition *h, const SandProblem *p, int k) {
    return k < p->dynamic_count && owner_of(h, k) == h->ranks->rank;
}

// All contacts of its bodies.
static void hold_contacts(CutProblem *subproblem, const SandProblem *p) {
    SandProblem *to = &subproblem->problem;
    subproblem->contact = reserve((size_t)p->contact_count, sizeof *subproblem->contact);
    for (int i = 0; i < p->contact_count; i++)
        if (owns(&subproblem->partition, p, p->contacts[i].a) || owns(&subproblem->partition, p, p->contacts[i].b))
            subproblem->contact[to->contact_count++] = i;
}

// Its own bodies, and those that a held contact touches. `held`: which one each of the whole problem is here, or -1.
static void hold_bodies(CutProblem *subproblem, const SandProblem *p, int *held) {
    SandPartition *h = &subproblem->partition;
    SandProblem *to = &subproblem->problem;
    subproblem->body = reserve((size_t)p->dynamic_count, sizeof *subproblem->body);
    subproblem->owner = reserve((size_t)p->dynamic_count, sizeof *subproblem->owner);
    for (int k = 0; k < p->dynamic_count; k++) held[k] = owns(h, p, k) ? 0 : -1;
    for (int i = 0; i < to->contact_count; i++) {
        const SandContact *c = &p->contacts[subproblem->contact[i]];
        held[c->a] = 0;
        if (c->b < p->dynamic_count) held[c->b] = 0;
    }
    h->below = 0;
    for (int k = 0; k < p->dynamic_count; k++) {
        if (held[k] < 0) continue;
        h->below += owner_of(h, k) < h->ranks->rank;
        subproblem->body[to->dynamic_count] = k;
        subproblem->owner[to->dynamic_count] = owner_of(h, k);
        held[k] = to->dynamic_count++;
    }
    h->owner = subproblem->owner;
    to->body_count = to->dynamic_count + p->body_count - p->dynamic_count;
}

static void copy_contact(CutProblem *subproblem, const SandProblem *p, const int *held, int i) {
    SandProblem *to = &subproblem->problem;
    int from = subproblem->contact[i], moved = to->dynamic_count - p->dynamic_count;
    SandContact *c = &to->contacts[i];
    *c = p->contacts[from];
    c->a = held[c->a];
    c->b = c->b < p->dynamic_count ? held[c->b] : c->b + moved;
    to->start[i] = p->start[from];
    if (p->rolls) to->start[to->contact_count + i] = p->start[p->contact_count + from];
    if (p->joint_count) to->joint[i] = p->joint[from];
}

// Copies what is held. Ghosts are wrong on purpose: only their owners know them, and send them.
static void copy_problem(CutProblem *subproblem, const SandProblem *p, const int *held) {
    SandProblem *to = &subproblem->problem;
    SandError error;
    to->radial = p->radial;
    to->bounces = p->bounces;
    to->rolls = p->rolls;
    to->step = p->step;
    to->recovery = p->recovery;
    bool ok = SAND_GROW(to->bodies, to->body_capacity, to->body_count + 1, "bodies", &error) &&
              SAND_GROW(to->contacts, to->contact_capacity, to->contact_count + 1, "contacts", &error) &&
              SAND_GROW(to->start, to->start_capacity, sand_problem_vectors(to) + 1, "contacts", &error) &&
              sand_problem_reserve_joints(to, p->joint_count, &error);
    assert(ok);
    (void)ok;
    for (int k = 0; k < to->dynamic_count; k++) {
        to->bodies[k] = p->bodies[subproblem->body[k]];
        if (subproblem->owner[k] != subproblem->partition.ranks->rank) to->bodies[k].velocity = v3_make(1e3, 1e3, 1e3);
    }
    for (int k = to->dynamic_count; k < to->body_count; k++)
        to->bodies[k] = p->bodies[k - to->dynamic_count + p->dynamic_count];
    for (int k = 0; k < p->joint_count; k++) to->joints[k] = p->joints[k];
    for (int i = 0; i < to->contact_count; i++) copy_contact(subproblem, p, held, i);
}

void cut_problem(CutProblem *subproblem, const SandProblem *p, const SandRanks *ranks) {
    SandError error;
    int *held = reserve((size_t)p->dynamic_count, sizeof *held);
    *subproblem = (CutProblem){.partition = {.ranks = ranks}};
    bool ok = sand_adjacency_build(&subproblem->whole, p, &error) && sand_adjacency_color(&subproblem->whole, p, &error);
    assert(ok);
    (void)ok;
    cut_ranges(subproblem, p);
    hold_contacts(subproblem, p);
    hold_bodies(subproblem, p, held);
    copy_problem(subproblem, p, held);
    free(held);
}
