// SPDX-License-Identifier: MIT
// Updating ghosts from their owners, after a solve and after a step: a rank solves for and moves own bodies alone, and
// ghosts stay as they were received.
#include "sim/ranks/subdomain.h"

#include "sim/core/array.h"
#include "sim/ranks/body_records.h"

// The state of a body after a step, as it is sent.
typedef struct Moved {
    SandVec3 position, velocity;
} Moved;

static Moved *pack(const SandHostState *s, const SandSubproblem *shared, SandError *error) {
    Moved *moved = NULL;
    size_t capacity = 0;
    int send = shared->send_count;
    if (!SAND_GROW(moved, capacity, send + shared->receive_count + 1, "ghosts", error)) return NULL;
    for (int e = 0; e < send; e++) {
        int body = s->collision.body[shared->send[e]];
        moved[e] = (Moved){s->world.position[body], s->world.velocity[body]};
    }
    return moved;
}

static void exchange(const SandSubproblem *shared, const SandRanks *ranks, Moved *sent, Moved *received) {
    SandMessage messages[SAND_CHUNKS];
    for (int j = 0; j < shared->neighbor_count; j++) {
        const SandNeighbor *n = &shared->neighbors[j];
        messages[j] = (SandMessage){.rank = n->rank,
                                    .send = sent + n->first_send,
                                    .receive = received + n->first_receive,
                                    .send_bytes = (size_t)n->send_count * sizeof *sent,
                                    .receive_bytes = (size_t)n->receive_count * sizeof *received};
    }
    ranks->exchange(ranks->user, messages, shared->neighbor_count);
}

bool sand_subdomain_move_ghosts(SandSubdomain *subdomain, SandError *error) {
    SandHostState *s = sand_subdomain_state(subdomain);
    const SandRanks *ranks = sand_subdomain_ranks(subdomain);
    SandSubproblem shared = {0};
    Moved *moved = NULL;
    bool ok = sand_subproblem_share(&shared, &s->problem, sand_subdomain_partition(subdomain), false, error) &&
              (moved = pack(s, &shared, error)) && ranks->agree(ranks->user, 0, error);
    if (ok) exchange(&shared, ranks, moved, moved + shared.send_count);
    for (int e = 0; ok && e < shared.receive_count; e++) {
        int body = s->collision.body[shared.receive[e]];
        s->world.position[body] = moved[shared.send_count + e].position;
        s->world.velocity[body] = moved[shared.send_count + e].velocity;
    }
    sand_free(moved);
    sand_subproblem_free(&shared);
    return ok;
}

// The solved motion of a body, as it is sent.
typedef struct Motion {
    int64_t id;
    SandVec3 velocity, spin;
} Motion;

// Puts the motion of own bodies that rank `rank` has as ghosts into the message for it.
static bool put_motions(SandMessages *gathered, const SandSubdomain *subdomain, const SandHostState *s, int rank,
                        SandError *error) {
    const SandMessages *ghosts = sand_subdomain_ghosts(subdomain);
    const SandBodyRecord *record;
    for (size_t at = 0; at < ghosts->sent_bytes[rank]; at += (size_t)record->bytes) {
        record = (const SandBodyRecord *)(const void *)(ghosts->sent[rank] + at);
        int k = s->collision.solver_index[sand_subdomain_local_id(subdomain, record->number)];
        if (k < 0) continue;
        Motion motion = {record->number, s->solution.velocity[k], s->solution.spin[k]};
        if (!sand_messages_put(gathered, rank, &motion, sizeof motion, error)) return false;
    }
    return true;
}

static void take_motions(const SandMessages *gathered, const SandSubdomain *subdomain, SandHostState *s) {
    const Motion *motion = (const Motion *)(const void *)gathered->received;
    for (size_t i = 0; i < gathered->received_bytes / sizeof *motion; i++) {
        int k = s->collision.solver_index[sand_subdomain_local_id(subdomain, (int)motion[i].id)];
        s->solution.velocity[k] = motion[i].velocity;
        s->solution.spin[k] = motion[i].spin;
    }
}

bool sand_subdomain_share_motion(SandSubdomain *subdomain, SandError *error) {
    SandHostState *s = sand_subdomain_state(subdomain);
    const SandRanks *ranks = sand_subdomain_ranks(subdomain);
    SandMessages gathered = {0};
    bool ok = true;
    for (int r = 0; ok && r < ranks->count; r++) ok = put_motions(&gathered, subdomain, s, r, error);
    ok = ok && sand_messages_exchange(&gathered, ranks, error);
    if (ok) take_motions(&gathered, subdomain, s);
    sand_messages_free(&gathered);
    return ok;
}
