// SPDX-License-Identifier: MIT
// The table of ranks filled by threads that meet at barriers: each publishes where its data is, all copy, and all meet
// again.
#include "tests/lab/ranks/local_ranks.h"
#include "sim/core/limits.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// What the ranks share: each publishes where its data is, then all meet, copy, and meet again.
typedef struct Shared {
    pthread_barrier_t barrier;
    int count;
    uint64_t key[SAND_MAX_RANKS];
    void *items[SAND_MAX_RANKS];
    const SandMessage *messages[SAND_MAX_RANKS];
    int message_count[SAND_MAX_RANKS];
} Shared;

typedef struct LocalRank {
    Shared *shared;
    SandRanks ranks;
    LocalWork *work;
    void *argument;
    LocalTraffic traffic;
    const SandMessage *begun; // the exchange that is under way
    int begun_count;
} LocalRank;

static bool agree(void *user, uint64_t key, SandError *error) {
    LocalRank *me = user;
    Shared *shared = me->shared;
    bool same = true;
    shared->key[me->ranks.rank] = key;
    pthread_barrier_wait(&shared->barrier);
    for (int r = 0; r < shared->count; r++) same = same && shared->key[r] == key;
    pthread_barrier_wait(&shared->barrier);
    return same || sand_fail(error, "the ranks do not have the same problem");
}

static void allgather(void *user, void *items, const int *first, size_t item_bytes) {
    LocalRank *me = user;
    Shared *shared = me->shared;
    shared->items[me->ranks.rank] = items;
    pthread_barrier_wait(&shared->barrier);
    for (int r = 0; r < shared->count; r++) {
        size_t begin = (size_t)first[r] * item_bytes, bytes = (size_t)(first[r + 1] - first[r]) * item_bytes;
        if (r != me->ranks.rank && bytes) memcpy((char *)items + begin, (char *)shared->items[r] + begin, bytes);
    }
    pthread_barrier_wait(&shared->barrier);
    me->traffic.allgathers++;
}

// The message that rank `from` has for rank `to`.
static const SandMessage *message_between(const Shared *shared, int from, int to) {
    for (int j = 0; j < shared->message_count[from]; j++)
        if (shared->messages[from][j].rank == to) return &shared->messages[from][j];
    assert(!"a neighbor sends nothing");
    return NULL;
}

static void exchange(void *user, const SandMessage *messages, int count) {
    LocalRank *me = user;
    Shared *shared = me->shared;
    shared->messages[me->ranks.rank] = messages;
    shared->message_count[me->ranks.rank] = count;
    pthread_barrier_wait(&shared->barrier);
    for (int j = 0; j < count; j++) {
        const SandMessage *other = message_between(shared, messages[j].rank, me->ranks.rank);
        assert(other->send_bytes == messages[j].receive_bytes);
        if (other->send_bytes) memcpy(messages[j].receive, other->send, other->send_bytes);
        me->traffic.messages++;
        me->traffic.bytes += (long)messages[j].send_bytes;
    }
    me->traffic.exchanges++;
    pthread_barrier_wait(&shared->barrier);
}

// Messages go when all ranks have ended their exchange: the latest that a rank may count on.
static void begin_exchange(void *user, const SandMessage *messages, int count) {
    LocalRank *me = user;
    me->begun = messages;
    me->begun_count = count;
}

static void end_exchange(void *user) {
    LocalRank *me = user;
    exchange(user, me->begun, me->begun_count);
}

static void sum(void *user, int64_t *numbers, int64_t count) {
    LocalRank *me = user;
    Shared *shared = me->shared;
    int64_t *sums = calloc((size_t)count + 1, sizeof *sums);
    assert(sums);
    shared->items[me->ranks.rank] = numbers;
    pthread_barrier_wait(&shared->barrier);
    for (int r = 0; r < shared->count; r++)
        for (int64_t k = 0; k < count; k++) sums[k] += ((const int64_t *)shared->items[r])[k];
    pthread_barrier_wait(&shared->barrier);
    memcpy(numbers, sums, (size_t)count * sizeof *sums);
    free(sums);
}

static void *run(void *argument) {
    LocalRank *me = argument;
    me->work(&me->ranks, me->argument);
    return NULL;
}

void local_ranks_run(int count, LocalWork *work, void *argument, LocalTraffic *traffic) {
    static LocalRank ranks[SAND_MAX_RANKS];
    pthread_t threads[SAND_MAX_RANKS];
    Shared shared = {.count = count};
    assert(count <= SAND_MAX_RANKS);
    pthread_barrier_init(&shared.barrier, NULL, (unsigned)count);
    for (int r = 0; r < count; r++) {
        ranks[r] = (LocalRank){.shared = &shared, .work = work, .argument = argument};
        ranks[r].ranks = (SandRanks){&ranks[r], r, count, agree, allgather, exchange, sum, begin_exchange, end_exchange};
    }
    for (int r = 1; r < count; r++) {
        int failed = pthread_create(&threads[r], NULL, run, &ranks[r]);
        assert(!failed);
        (void)failed;
    }
    run(&ranks[0]);
    for (int r = 1; r < count; r++) pthread_join(threads[r], NULL);
    for (int r = 0; r < count && traffic; r++) traffic[r] = ranks[r].traffic;
    pthread_barrier_destroy(&shared.barrier);
}
