// What a device solves as one rank of several, each of which holds a part of the problem (sim/solver/subproblem.h):
//
//   contacts  [halo][chunk][ chunk ][chunk] ...      halo: contacts of its bodies that bodies of lower ranks own
//
// The caller cuts the contacts of all ranks into chunks, in a way that does not depend on the number of ranks; each rank
// owns whole chunks, which lie one behind the other without padding. Sums go over the contacts of a chunk, then over all
// chunks: that is why a solve gives the same bits on any number of ranks.
#pragma once
#include "cuda/solver/mailbox.h"
#include "sim/solver/subproblem.h"

struct RankProblem {
    const SandRanks *ranks;
    int bodies;             // moving ones of the whole problem
    int chunks;             // of all ranks, at most RANK_CHUNKS
    const int *first_chunk; // on the host: of each rank, and one more for the end
    const int *chunk_first; // on the device: contact where each own chunk begins, and one more for the end of the last
    // Exchanged bodies by their solver index, neighbor by neighbor; on the device.
    const int *send, *receive;
    int send_count, receive_count, neighbor_count;
    SandNeighbor neighbors[SAND_CHUNKS];
};

// What is summed over all chunks before a solve: the mean diagonals of the blocks of N, and the number of contacts.
enum { RANK_DIAGONALS, RANK_CONTACTS, RANK_FACTS };

// The same as the kernel sees it.
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
