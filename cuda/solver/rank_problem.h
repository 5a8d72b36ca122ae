// SPDX-License-Identifier: MIT
// The subproblem of a rank on a device (as sim/solver/subproblem.h on the CPU):
//
//   contacts  [halo][chunk][ chunk ][chunk] ...      halo: contacts of its bodies that bodies of lower ranks own
//
// The caller divides the contacts of all ranks into chunks, in a way that does not depend on the number of ranks. A rank
// owns whole chunks, which are stored one behind the other without padding. Sums go over the contacts of a chunk, then over
// the chunks of all ranks in order: that is why a solve gives the same bits on any number of ranks.
#pragma once
#include "cuda/solver/mailbox.h"
#include "sim/solver/subproblem.h"

struct RankProblem {
    const SandRanks *ranks;
    int bodies;             // moving bodies of the whole problem
    int chunks;             // of all ranks, at most RANK_CHUNKS
    const int *first_chunk; // on the host: first chunk of each rank, and the end
    const int *chunk_first; // on the device: first contact of each own chunk, and the end
    // Exchanged bodies by their solver index, neighbor by neighbor; on the device.
    const int *send, *receive;
    int send_count, receive_count, neighbor_count;
    SandNeighbor neighbors[SAND_CHUNKS];
};

// Sums over the chunks of all ranks that a solve needs before it starts: of the mean diagonals of the blocks of N, and of
// contacts.
enum { RANK_DIAGONALS, RANK_CONTACTS, RANK_FACTS };

// The subproblem as the kernel gets it.
struct RankView {
    Mailbox *mailbox;
    int ranks;  // how many there are
    int bodies; // moving ones of the whole problem
    int first_chunk, chunks;
    const int *chunk_first;
    int send_count, receive_count;
    const int *send, *receive;
    float *outgoing, *incoming;    // MAIL_NUMBERS of each body
    double contacts, diagonal_sum; // of the whole problem: see RANK_FACTS
};
