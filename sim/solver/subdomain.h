// The part of a problem that one rank of several solves: a range of the bodies, which is that of whole chunks of the
// contacts (chunks.h), and copies of what lies beyond its border.
//
//   contacts  [halo][owned: whole chunks]
//   bodies    [ghosts][owned range][ghosts][boundaries]
//
// A rank holds every contact of its own bodies; those that a lower body of another rank owns are its halo, computed on both
// sides from equal inputs. Ghosts are bodies of others that a held contact touches: their velocities come with each
// exchange. What is held keeps the order of the whole problem, so that a body adds up its contacts, and a chunk its lanes,
// in the order that they have in one process: that is why a solve gives the same bits on any number of ranks.
#pragma once
#include "sim/core/ranks.h"
#include "sim/core/thread_pool.h"
#include "sim/solver/chunks.h"

#ifdef __cplusplus
extern "C" {
#endif

// The bodies that are exchanged with one other rank: entries of `send` and `receive`.
typedef struct SandNeighbor {
    int rank;
    int first_send, send_count, first_receive, receive_count;
} SandNeighbor;

typedef struct SandSubdomain {
    const SandRanks *ranks;
    uint64_t key; // of the solve, the same on all ranks
    // What each rank owns, and one more entry for the end: chunks, contacts and bodies of the whole problem.
    int first_chunk[SAND_CHUNKS + 1], first_contact[SAND_CHUNKS + 1], first_body[SAND_CHUNKS + 1];
    SandAdjacency whole; // of the whole problem
    // What this rank holds.
    SandProblem problem;
    int *body, *contact; // of each held moving body and contact: which one it is of the whole problem
    int *degree;         // of each held moving body: its contacts in the whole problem
    int *held;           // of each contact of the whole problem: which one it is of those held, or -1
    int lower;           // contacts in front of the owned ones: the halo
    int below;           // ghosts in front of the owned bodies
    SandSpans spans;     // of the held contacts
    // Exchanged bodies, as numbers among those held, neighbor by neighbor.
    int neighbor_count, send_count, receive_count;
    SandNeighbor neighbors[SAND_CHUNKS];
    int *send, *receive;
    int *held_body;    // scratch: of each moving body of the whole problem, as `held`
    uint64_t *holders; // scratch: of each owned body, a bit for each rank that has it as a ghost
    size_t body_capacity, contact_capacity, held_capacity, send_capacity, receive_capacity, held_body_capacity;
    size_t holders_capacity, degree_capacity;
} SandSubdomain;

void sand_subdomain_free(SandSubdomain *subdomain);

// Cuts the whole problem, which every rank has, and keeps the part of this rank. `colors`: with a coloring of the whole
// problem. False, with a sentence, when there are more ranks than chunks, or memory is out.
bool sand_subdomain_cut(SandSubdomain *subdomain, const SandProblem *problem, const SandRanks *ranks, bool colors,
                        SandError *error);

// Lists the held contacts of each color of the whole problem in the adjacency of the held ones.
bool sand_subdomain_color(const SandSubdomain *subdomain, SandAdjacency *adjacency, SandError *error);

static inline int sand_subdomain_owned_contacts(const SandSubdomain *s) {
    return s->first_contact[s->ranks->rank + 1] - s->first_contact[s->ranks->rank];
}
static inline int sand_subdomain_owned_bodies(const SandSubdomain *s) {
    return s->first_body[s->ranks->rank + 1] - s->first_body[s->ranks->rank];
}

#ifdef __cplusplus
}
#endif
