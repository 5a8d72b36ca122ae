// SPDX-License-Identifier: MIT
// Reading bodies back in the order of files, by global_id: own bodies, which lie close together in space, are sent to the
// ranks of their blocks (sand_block_first), or all to rank 0. Only what a step changes is sent; hosts have the rest from the
// scene.
#include "sim/ranks/subdomain.h"

#include "sim/ranks/body_records.h"

// The solver index of held body i in the last step, among the bodies of all ranks; -1: none.
static int world_index(const SandSubdomain *subdomain, const SandHostState *local, int i) {
    const SandWarmStart *warm = &local->warm_start;
    const SandPartition *h = sand_subdomain_partition(subdomain);
    if (!(warm->step > 0) || warm->solver_index[i] < 0) return -1;
    return warm->solver_index[i] - h->below + h->first_body[h->ranks->rank];
}

static SandReadBody motion_of(const SandSubdomain *subdomain, const SandHostState *local, int i) {
    return (SandReadBody){.number = sand_subdomain_global_id(subdomain, i),
                          .index = world_index(subdomain, local, i),
                          .entry = sand_body_entry(&local->world, i)};
}

// The rank whose block has a body; the quotient may be one too low.
static int block_of(int body, int bodies, const SandRanks *ranks) {
    int rank = (int)((int64_t)body * sand_owning_ranks(ranks->count) / bodies);
    while (sand_block_first(bodies, ranks->count, rank + 1) <= body) rank++;
    return rank;
}

// Sends own bodies to the ranks of their blocks, or all to rank 0.
static bool send_motions(SandSubdomain *subdomain, SandMessages *messages, bool by_block, SandError *error) {
    const SandHostState *local = sand_subdomain_state(subdomain);
    const SandRanks *ranks = sand_subdomain_ranks(subdomain);
    int bodies = sand_subdomain_host(subdomain)->world.body_count;
    for (int i = 0; i < local->world.body_count; i++) {
        if (local->collision.is_ghost[i]) continue;
        SandReadBody sent = motion_of(subdomain, local, i);
        if (!sand_messages_put(messages, by_block ? block_of(sent.number, bodies, ranks) : 0, &sent, sizeof sent, error))
            return false;
    }
    return sand_messages_exchange(messages, ranks, error);
}

// The solver indices of a block, from the warm start of a host that is up to date.
static void take_indices(const SandWarmStart *warm, int first, int end, int *index) {
    for (int i = first; index && i < end; i++)
        index[i - first] = warm->step > 0 && i < warm->world_count ? warm->solver_index[i] : -1;
}

bool sand_subdomain_read_block(SandSubdomain *subdomain, int *index, SandError *error) {
    const SandRanks *ranks = sand_subdomain_ranks(subdomain);
    SandHostState *host = sand_subdomain_host(subdomain);
    int bodies = host->world.body_count, first = sand_block_first(bodies, ranks->count, ranks->rank),
        end = sand_block_first(bodies, ranks->count, ranks->rank + 1);
    SandMessages messages = {0};
    if (sand_subdomain_known(subdomain)) return take_indices(&host->warm_start, first, end, index), true;
    bool ok = send_motions(subdomain, &messages, true, error) &&
              sand_read_bodies(&host->world, &messages, first, end, index, error);
    sand_messages_free(&messages);
    return ok;
}

bool sand_subdomain_gather(SandSubdomain *subdomain, SandError *error) {
    const SandRanks *ranks = sand_subdomain_ranks(subdomain);
    SandWorld *w = &sand_subdomain_host(subdomain)->world;
    SandMessages messages = {0};
    if (sand_subdomain_known(subdomain)) return true;
    bool ok = send_motions(subdomain, &messages, false, error) &&
              sand_read_bodies(w, &messages, 0, ranks->rank == 0 ? w->body_count : 0, NULL, error);
    sand_messages_free(&messages);
    return ok;
}
