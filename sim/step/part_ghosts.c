// Ghosts after a step: a rank moves its own bodies, and those of others are where they were before.
#include "sim/step/part.h"

#include "sim/core/array.h"

// What a step changes of a body.
typedef struct Moved {
    SandVec3 position, velocity;
} Moved;

static Moved *pack(const SandHostState *s, const SandSubdomain *shared, SandError *error) {
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

static void exchange(const SandSubdomain *shared, const SandRanks *ranks, Moved *sent, Moved *received) {
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

bool sand_part_move_ghosts(SandPart *part, SandError *error) {
    SandHostState *s = sand_part_state(part);
    const SandRanks *ranks = sand_part_ranks(part);
    SandSubdomain shared = {0};
    Moved *moved = NULL;
    bool ok = sand_subdomain_share(&shared, &s->problem, sand_part_holding(part), false, error) &&
              (moved = pack(s, &shared, error)) && ranks->agree(ranks->user, 0, error);
    if (ok) exchange(&shared, ranks, moved, moved + shared.send_count);
    for (int e = 0; ok && e < shared.receive_count; e++) {
        int body = s->collision.body[shared.receive[e]];
        s->world.position[body] = moved[shared.send_count + e].position;
        s->world.velocity[body] = moved[shared.send_count + e].velocity;
    }
    sand_free(moved);
    sand_subdomain_free(&shared);
    return ok;
}
