// How a contact finds its stored impulse, one source for CPU and GPU.
#pragma once
#include "sim/collision/warm_start.h"

// Returns the stored contact of an owner, by its solver index then, with this key, or -1.
SAND_HOST_DEVICE int warm_start_find(const SandWarmStart *m, int solver_index, SandContactKey key) {
    for (int i = m->first[solver_index]; i < m->first[solver_index + 1]; i++)
        if (m->key[i].other == key.other && m->key[i].feature == key.feature) return i;
    return -1;
}

// Returns the solver index that a body of the world had then, or -1.
SAND_HOST_DEVICE int warm_start_index(const SandWarmStart *m, int body) {
    return body < m->world_count ? m->solver_index[body] : -1;
}

// Returns the stored contact that is the same as this one, or -1. The order of two solver indices may have changed since,
// and with it which body is a: then `turned` is set, the stored impulse has the opposite sign and the feature's halves swap.
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
