// The ranks of a run: processes that solve one problem together, each with a part of its contacts and bodies. The solver
// knows no more of them than this table, which mpi/communicator.c fills with MPI, and tests/lab/ranks/local_ranks.c with
// threads of one process. All functions are collective: every rank calls them in the same order.
#pragma once
#include "sandglass/error.h"

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
    int rank, count; // this one; how many there are, at most SAND_CHUNKS
    // Waits for all ranks. False, with a sentence, when one of them has failed, the run is over, or their keys differ: then
    // they are not about to do the same. Where one of them may have failed, it comes before the functions below, in which a
    // rank would wait for it forever.
    bool (*agree)(void *user, uint64_t key, SandError *error);
    // Completes an array of which every rank has the items first[rank] .. first[rank + 1] - 1.
    void (*allgather)(void *user, void *items, const int *first, size_t item_bytes);
    // Exchanges one message with each neighbor, and waits for all of them.
    void (*exchange)(void *user, const SandMessage *messages, int count);
    // Adds up numbers over all ranks.
    void (*sum)(void *user, int64_t *numbers, int64_t count);
    // The halves of an exchange, between which a rank computes while messages are on their way. Until the end the messages
    // must stay, and what they send, and no other function may be called.
    void (*begin_exchange)(void *user, const SandMessage *messages, int count);
    void (*end_exchange)(void *user);
} SandRanks;

// The first body of a block: those of a world by number, cut into as many blocks as there are ranks.
static inline int sand_block_first(int bodies, int blocks, int block) { return (int)((int64_t)bodies * block / blocks); }

// Collective check after a step that may fail on some ranks without ending the run, such as writing a file. Sets *all_well;
// where it is false, `fault` has the message of the lowest rank that failed. Returns false where the run has ended.
bool sand_ranks_check(const SandRanks *ranks, bool well, bool *all_well, SandError *fault, SandError *error);

#ifdef __cplusplus
}
#endif
