// SPDX-License-Identifier: MIT
// Message buffers between ranks: an all-to-all exchange of bytes (alltoallv) in which only the sender knows in advance how
// long its messages are.
#pragma once
#include "sim/core/limits.h"
#include "sim/core/ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SandMessages {
    uint8_t *sent[SAND_MAX_RANKS]; // to each rank, itself included
    size_t sent_bytes[SAND_MAX_RANKS], sent_capacity[SAND_MAX_RANKS];
    uint8_t *received; // from all ranks, one behind the other in rank order
    size_t received_bytes, received_capacity;
} SandMessages;

void sand_messages_free(SandMessages *messages);
void sand_messages_begin(SandMessages *messages); // empties what is sent, and keeps its memory
// Reserves memory for `count` more bytes to a rank; put also appends them.
bool sand_messages_reserve(SandMessages *messages, int rank, size_t count, SandError *error);
bool sand_messages_put(SandMessages *messages, int rank, const void *bytes, size_t count, SandError *error);
// The two halves of an exchange, for callers with buffers of their own, such as pinned memory that a GPU copies from and to.
// Collective. announce exchanges lengths: coming[r] is the number of bytes that rank r will send to this rank. deliver
// exchanges the bytes, into `received` in rank order. In between every rank reserves memory for the bytes that come, and the
// ranks agree that all of them have it: deliver cannot fail.
bool sand_messages_announce(const SandRanks *ranks, const size_t *sent, size_t *coming, SandError *error);
void sand_messages_deliver(const SandRanks *ranks, uint8_t *const *out, const size_t *sent, uint8_t *received,
                           const size_t *coming);
// Both halves, with the buffers of `messages`. A message above 2 GB is sent in units of eight bytes, because counts of MPI
// are int; its length must be a multiple of that.
bool sand_messages_exchange(SandMessages *messages, const SandRanks *ranks, SandError *error);
// Gives every rank the messages that all ranks have put for themselves, in sent[own rank] (allgatherv). The length of each
// must be a multiple of eight bytes.
bool sand_messages_share(SandMessages *messages, const SandRanks *ranks, SandError *error);

#ifdef __cplusplus
}
#endif
