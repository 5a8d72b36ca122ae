// SPDX-License-Identifier: MIT
// All-to-all exchanges of bytes between ranks: lengths first, so that every rank can reserve memory, then the bytes. Ranks
// agree (SandRanks.agree) before each collective operation, since one that ran out of memory would never come to it, and the
// others would wait forever.
#include "sim/ranks/messages.h"

#include "sim/core/array.h"
#include "sim/core/assert.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

void sand_messages_free(SandMessages *messages) {
    for (int r = 0; r < SAND_MAX_RANKS; r++) sand_free(messages->sent[r]);
    sand_free(messages->received);
    *messages = (SandMessages){0};
}

void sand_messages_begin(SandMessages *messages) {
    for (int r = 0; r < SAND_MAX_RANKS; r++) messages->sent_bytes[r] = 0;
}

bool sand_messages_reserve(SandMessages *messages, int rank, size_t count, SandError *error) {
    return SAND_GROW(messages->sent[rank], messages->sent_capacity[rank], messages->sent_bytes[rank] + count, "messages",
                     error);
}

bool sand_messages_put(SandMessages *messages, int rank, const void *bytes, size_t count, SandError *error) {
    size_t end = messages->sent_bytes[rank] + count;
    if (!sand_messages_reserve(messages, rank, count, error)) return false;
    if (count) memcpy(messages->sent[rank] + messages->sent_bytes[rank], bytes, count);
    messages->sent_bytes[rank] = end;
    return true;
}

bool sand_messages_announce(const SandRanks *ranks, const size_t *sent, size_t *coming, SandError *error) {
    const size_t most = 8 * (size_t)INT_MAX; // counts of MPI are int, in units of eight bytes
    size_t count = (size_t)ranks->count, me = (size_t)ranks->rank;
    int first[SAND_MAX_RANKS + 1];
    for (size_t r = 0; r < count; r++)
        if (sent[r] > most) return sand_fail(error, "a rank cannot send more than 16 GB to another in one step");
    int64_t *bytes = malloc(count * count * sizeof *bytes); // [from][to]; not an array that grows, which steps count
    if (!bytes) return sand_fail(error, "out of memory for messages");
    bool met = ranks->agree(ranks->user, 0, error);
    for (int r = 0; r <= ranks->count; r++) first[r] = r;
    for (size_t r = 0; r < count; r++) bytes[me * count + r] = (int64_t)sent[r];
    if (met) ranks->allgather(ranks->user, bytes, first, count * sizeof *bytes);
    for (size_t r = 0; r < count; r++) coming[r] = met ? (size_t)bytes[r * count + me] : 0;
    free(bytes);
    return met;
}

void sand_messages_deliver(const SandRanks *ranks, uint8_t *const *out, const size_t *sent, uint8_t *received,
                           const size_t *coming) {
    SandMessage messages[SAND_MAX_RANKS];
    int count = 0, me = ranks->rank;
    uint8_t *at = received;
    for (int r = 0; r < ranks->count; at += coming[r++]) {
        if (r == me && sent[me]) memcpy(at, out[me], sent[me]);
        if (r == me || !(sent[r] || coming[r])) continue;
        messages[count++] = (SandMessage){r, out[r], at, sent[r], coming[r]};
    }
    ranks->exchange(ranks->user, messages, count);
}

bool sand_messages_exchange(SandMessages *messages, const SandRanks *ranks, SandError *error) {
    size_t coming[SAND_MAX_RANKS];
    if (!sand_messages_announce(ranks, messages->sent_bytes, coming, error)) return false;
    messages->received_bytes = 0;
    for (int r = 0; r < ranks->count; r++) messages->received_bytes += coming[r];
    if (!SAND_GROW(messages->received, messages->received_capacity, messages->received_bytes + 1, "messages", error) ||
        !ranks->agree(ranks->user, 0, error))
        return false;
    sand_messages_deliver(ranks, messages->sent, messages->sent_bytes, messages->received, coming);
    return true;
}

bool sand_messages_share(SandMessages *messages, const SandRanks *ranks, SandError *error) {
    int64_t bytes[SAND_MAX_RANKS] = {0}, all = 0;
    int first[SAND_MAX_RANKS + 1] = {0}, me = ranks->rank;
    const int unit = 8;
    SAND_ASSERT(messages->sent_bytes[me] % (size_t)unit == 0);
    if (!ranks->agree(ranks->user, 0, error)) return false;
    bytes[me] = (int64_t)messages->sent_bytes[me];
    ranks->sum(ranks->user, bytes, ranks->count);
    for (int r = 0; r < ranks->count; r++) first[r + 1] = (int)((all += bytes[r]) / unit);
    if (all / unit > INT_MAX) return sand_fail(error, "the ranks cannot share more than %d GB in one step", unit * 2);
    if (!SAND_GROW(messages->received, messages->received_capacity, all + 1, "messages", error) ||
        !ranks->agree(ranks->user, 0, error))
        return false;
    messages->received_bytes = (size_t)all;
    if (bytes[me])
        memcpy(messages->received + (size_t)first[me] * (size_t)unit, messages->sent[me], messages->sent_bytes[me]);
    ranks->allgather(ranks->user, messages->received, first, (size_t)unit);
    return true;
}
