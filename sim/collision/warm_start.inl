// How a contact finds what was kept of it, one text for both machines.
#pragma once
#include "sim/collision/warm_start.h"

// The kept contact of a rank with this key, or -1.
SAND_SHARED int memory_find(const SandMemory *m, int rank, SandContactKey key) {
    for (int i = m->first[rank]; i < m->first[rank + 1]; i++)
        if (m->key[i].other == key.other && m->key[i].feature == key.feature) return i;
    return -1;
}

SAND_SHARED int memory_rank(const SandMemory *m, int body) { return body < m->world_count ? m->rank[body] : -1; }

// The kept contact that this one was, or -1. Ranks may have changed places since, and with them a and b: then its impulse is
// turned round.
SAND_SHARED int memory_recall(const SandMemory *m, const SandDetection *d, const SandFound *f, bool *turned) {
    int body_a = d->body[f->rank_a], rank_a = memory_rank(m, body_a);
    *turned = false;
    if (rank_a < 0) return -1;
    bool between = !(f->key.other & SAND_BOUNDARY_BIT);
    int rank_b = between ? memory_rank(m, (int)f->key.other) : -1;
    if (between && rank_b < 0) return -1;
    if (!between || rank_a < rank_b) return memory_find(m, rank_a, f->key);
    *turned = true;
    SandContactKey key = {(uint32_t)body_a, f->key.feature << 24 | f->key.feature >> 24};
    return memory_find(m, rank_b, key);
}
