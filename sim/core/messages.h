// Bytes that ranks send each other, of which only the sender knows before how many there are.
#pragma once
#include "sim/core/limits.h"
#include "sim/core/ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SandMessages {
    uint8_t *sent[SAND_CHUNKS]; // to each rank, itself included
    size_t sent_bytes[SAND_CHUNKS], sent_capacity[SAND_CHUNKS];
    uint8_t *received; // from all ranks, in their order
    size_t received_bytes, received_capacity;
} SandMessages;

void sand_messages_free(SandMessages *messages);
void sand_messages_begin(SandMessages *messages); // nothing is sent yet
// Makes room for more bytes behind what is sent to a rank, and appends bytes there.
bool sand_messages_reserve(SandMessages *messages, int rank, size_t count, SandError *error);
bool sand_messages_put(SandMessages *messages, int rank, const void *bytes, size_t count, SandError *error);
// The two halves of an exchange, for those that have memory of their own: announces how many bytes this rank has for each,
// and says how many come from each; then, when all ranks have memory for these, sends and receives them. What comes lies in
// the order of the ranks.
bool sand_messages_announce(const SandRanks *ranks, const size_t sent[SAND_CHUNKS], size_t coming[SAND_CHUNKS],
                            SandError *error);
void sand_messages_deliver(const SandRanks *ranks, uint8_t *const out[SAND_CHUNKS], const size_t sent[SAND_CHUNKS],
                           uint8_t *received, const size_t coming[SAND_CHUNKS]);
// Sends and receives. Messages above 2 GB are sent in units of eight bytes, because counts of MPI are int.
bool sand_messages_exchange(SandMessages *messages, const SandRanks *ranks, SandError *error);
// Gives every rank what each has put for itself. Lengths are padded to eight bytes.
bool sand_messages_share(SandMessages *messages, const SandRanks *ranks, SandError *error);

#ifdef __cplusplus
}
#endif
