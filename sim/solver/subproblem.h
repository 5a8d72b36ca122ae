// The part of a problem that one rank of several solves: a range of the bodies, which is that of whole chunks of the
// contacts (chunks.h), and copies of what lies beyond its border. No rank needs more than its part.
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
#include "sim/solver/chunks.h"

#ifdef __cplusplus
extern "C" {
#endif

// Who has what of a problem.
typedef struct SandPartition {
    const SandRanks *ranks;
    int bodies; // moving bodies of the whole problem
    // What each rank owns, and one more entry for the end: chunks and bodies of the whole problem. Rank 0 has the first
    // chunk.
    int first_chunk[SAND_CHUNKS + 1], first_body[SAND_CHUNKS + 1];
    int below;        // ghosts of this rank in front of its own bodies
    const int *owner; // rank of each moving body that this one holds
} SandPartition;

// The bodies that are exchanged with one other rank: entries of `send` and `receive`.
typedef struct SandNeighbor {
    int rank;
    int first_send, send_count, first_receive, receive_count;
} SandNeighbor;

typedef struct SandSubproblem {
    const SandPartition *partition;
    uint64_t key;               // of the solve, the same on all ranks
    const SandProblem *problem; // what this rank holds
    SandAdjacency held;         // its contacts by bodies
    int lower;                  // contacts in front of the owned ones: the halo
    SandSpans spans;
    // Of the whole problem.
    int all_contacts;
    bool rubs, joined; // a contact has friction; there are joints
    int *degree;       // of each held body: its contacts there
    int *number;       // of each held body: which one it is there
    // Exchanged bodies, as numbers among those held, neighbor by neighbor.
    int neighbor_count, send_count, receive_count;
    SandNeighbor neighbors[SAND_CHUNKS];
    int *send, *receive;
    uint64_t *holders; // scratch: of each held body, a bit for each other rank that has a contact of it
    uint8_t *messages; // scratch: what is sent, then what is received
    // The contact graph of all ranks, where contacts are colored: bodies of each contact, then the coloring.
    SandProblem graph;
    SandAdjacency whole;
    int *graph_of; // of each contact there: which one it is of those held, or -1
    size_t degree_capacity, number_capacity, send_capacity, receive_capacity, holders_capacity, message_capacity;
    size_t graph_of_capacity;
} SandSubproblem;

void sand_subproblem_free(SandSubproblem *subproblem);

// Finds out what is computed and exchanged of the problem that this rank holds, and completes its ghosts, whose contacts it
// does not have. `colors`: with a coloring of the whole problem. All ranks call it. Both must outlive the subproblem.
bool sand_subproblem_share(SandSubproblem *subproblem, SandProblem *problem, const SandPartition *partition, bool colors,
                           SandError *error);

// Lists the held contacts of each color of the whole problem in the adjacency of the held ones.
bool sand_subproblem_color(const SandSubproblem *subproblem, SandAdjacency *adjacency, SandError *error);

static inline int sand_partition_owned(const SandPartition *h) {
    return h->first_body[h->ranks->rank + 1] - h->first_body[h->ranks->rank];
}

#ifdef __cplusplus
}
#endif
