// SPDX-License-Identifier: MIT
// The ranks of a run: processes that solve one problem together, each with a part of its contacts and bodies. The solver
// knows no more of them than this table, which mpi/communicator.c fills with MPI, and tests/lab/ranks/local_ranks.c with
// threads of one process. All functions are collective: every rank calls them in the same order.
#pragma once
#include "sandglass/error.h"
#include "sim/core/limits.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// What one rank sends to a neighbor and receives from it.
typedef struct SandMessage {
    int rank; // the neighbor
    const void *send;
    void *receive;
    size_t send_bytes, receive_bytes;
} SandMessage;

typedef struct SandRanks {
    void *user;
    int rank, count; // this one; how many there are, at most SAND_MAX_RANKS
    // Waits for all ranks. False, with a sentence, where one of them has failed, the run is over, or their keys differ,
    // which means that they are about to do different things. Ranks call it before the functions below wherever one of them
    // may have failed alone: within those functions the others would wait for that rank forever.
    bool (*agree)(void *user, uint64_t key, SandError *error);
    // Completes an array on every rank, each of which has the items first[rank] .. first[rank + 1] - 1.
    void (*allgather)(void *user, void *items, const int *first, size_t item_bytes);
    // Exchanges one message with each neighbor, and waits for all of them.
    void (*exchange)(void *user, const SandMessage *messages, int count);
    // Replaces each number by its sum over all ranks.
    void (*sum)(void *user, int64_t *numbers, int64_t count);
    // The two halves of an exchange: a rank computes between them while messages are on their way. Until end_exchange the
    // messages and their buffers must not change, and no other function of this table may be called.
    void (*begin_exchange)(void *user, const SandMessage *messages, int count);
    void (*end_exchange)(void *user);
} SandRanks;

// How many of this many ranks may own bodies: a rank has a chunk or nothing to do, and a bit of a mask is enough for each.
static inline int sand_owning_ranks(int ranks) { return ranks < SAND_CHUNKS ? ranks : SAND_CHUNKS; }

// The first body of a block. Blocks are equal ranges of the bodies of a world by global_id, one for each rank that may own
// bodies; those of other ranks are empty. Files are written block by block, because they have bodies in this order;
// subdomains are cut along space instead.
static inline int sand_block_first(int bodies, int ranks, int rank) {
    int blocks = sand_owning_ranks(ranks);
    return rank < blocks ? (int)((int64_t)bodies * rank / blocks) : bodies;
}

// Collective check after an operation that may fail on some ranks without ending the run, such as writing a file. Sets
// *all_well; where that is false, `fault` has the sentence of the lowest rank that failed. Returns false where the run has
// ended.
bool sand_ranks_check(const SandRanks *ranks, bool well, bool *all_well, SandError *fault, SandError *error);

#ifdef __cplusplus
}
#endif
