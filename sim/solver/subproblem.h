// SPDX-License-Identifier: MIT
// The subproblem of a rank: a range of the bodies of the whole problem, which is that of whole chunks of the contacts
// (chunks.h), and copies of what lies beyond its border. No rank needs more of the problem.
//
//   contacts  [halo][owned: whole chunks]
//   bodies    [ghosts][owned range][ghosts][boundaries]
//
// A rank holds every contact of its own bodies; those that a lower body of another rank owns are its halo, computed on both
// sides from equal inputs. Ghosts are bodies of others that a held contact touches: their velocities come with each
// exchange. What is held keeps the order of the whole problem, so that a body adds up its contacts, and a chunk its lanes,
// in the order that they have in one process: that is why a solve gives the same bits on any number of ranks.
#pragma once
#include "sim/core/array.h"
#include "sim/core/ranks.h"
#include "sim/solver/chunks.h"

#ifdef __cplusplus
extern "C" {
#endif

// The partition of the bodies and chunks of a problem among ranks.
typedef struct SandPartition {
    const SandRanks *ranks;
    int bodies; // moving bodies of the whole problem
    // First chunk and first body, among those of the whole problem, that each rank owns, with an entry for the end. Rank 0
    // has the first chunk, and ranks from SAND_CHUNKS on have none.
    int first_chunk[SAND_MAX_RANKS + 1], first_body[SAND_MAX_RANKS + 1];
    int below;        // ghosts of this rank before its own bodies, by solver index
    const int *owner; // rank of each moving body that this rank holds, by solver index
} SandPartition;

// A neighbor: another rank, and the bodies exchanged with it, as ranges of `send` and `receive`.
typedef struct SandNeighbor {
    int rank;
    int first_send, send_count, first_receive, receive_count;
} SandNeighbor;

typedef struct SandSubproblem {
    const SandPartition *partition;
    uint64_t key;               // of the solve, the same on all ranks
    const SandProblem *problem; // held contacts and bodies
    SandAdjacency held;         // held contacts of each held body
    int lower;                  // halo contacts, which come before the owned ones
    SandSpans spans;
    // Of the whole problem.
    int all_contacts;
    bool rubs, joined;      // a contact has friction; there are joints
    SAND_ARRAY(int) degree; // of each held body: number of its contacts
    SAND_ARRAY(int) number; // of each held body: its solver index
    // Exchanged bodies, by local solver index, neighbor by neighbor.
    int neighbor_count, send_count, receive_count;
    SandNeighbor neighbors[SAND_CHUNKS];
    int *send, *receive;
    size_t send_capacity, receive_capacity;
    SAND_ARRAY(uint64_t) holders; // scratch: of each held body, a bit for each other rank that has a contact of it
    SAND_ARRAY(uint8_t) messages; // scratch: bytes sent, then bytes received
    // The contact graph of all ranks, where contacts are colored: bodies of each contact, then the coloring.
    SandProblem graph;
    SandAdjacency whole;
    SAND_ARRAY(int) graph_of; // of each contact of the graph: its index among held contacts, or -1
} SandSubproblem;

void sand_subproblem_free(SandSubproblem *subproblem);

// Makes the subproblem: what this rank computes, and what it exchanges with which neighbor. Completes the ghosts in the
// problem, since only their owners have all of their contacts. `colors`: with a coloring of the whole problem. Collective.
// Problem and partition must outlive the subproblem.
bool sand_subproblem_share(SandSubproblem *subproblem, SandProblem *problem, const SandPartition *partition, bool colors,
                           SandError *error);

// Lists the held contacts of each color of the whole problem in an adjacency of the held contacts.
bool sand_subproblem_color(const SandSubproblem *subproblem, SandAdjacency *adjacency, SandError *error);

static inline int sand_partition_owned(const SandPartition *h) {
    return h->first_body[h->ranks->rank + 1] - h->first_body[h->ranks->rank];
}

#ifdef __cplusplus
}
#endif
