// How a contact finds what was kept of it, one text for both machines.
#pragma once
#include "sim/collision/warm_start.h"

// The kept contact of a rank with this key, or -1.
SAND_HOST_DEVICE int warm_start_find(const SandWarmStart *m, int solver_index, SandContactKey key) {
    for (int i = m->first[solver_index]; i < m->first[solver_index + 1]; i++)
        if (m->key[i].other == key.other && m->key[i].feature == key.feature) return i;
    return -1;
}

SAND_HOST_DEVICE int warm_start_index(const SandWarmStart *m, int body) {
    return body < m->world_count ? m->solver_index[body] : -1;
}

// The kept contact that this one was, or -1. Ranks may have changed places since, and with them a and b: then its impulse is
// turned round.
SAND_HOST_DEVICE int warm_start_recall(const SandWarmStart *m, const SandCollision *d, const SandContactCandidate *f,
                                       bool *turned) {
    int body_a = d->body[f->index_a], index_a = warm_start_index(m, body_a);
    *turned = false;
    if (index_a < 0) return -1;
    bool between = !(f->key.other & SAND_BOUNDARY_BIT);
    int index_b = between ? warm_start_index(m, (int)f->key.other) : -1;
    if (between && index_b < 0) return -1;
    if (!between || index_a < index_b) return warm_start_find(m, index_a, f->key);
    *turned = true;
    SandContactKey key = {(uint32_t)body_a, f->key.feature << 24 | f->key.feature >> 24};
    return warm_start_find(m, index_b, key);
}
