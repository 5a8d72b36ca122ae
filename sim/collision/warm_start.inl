// How a contact finds its stored impulse, one source for CPU and GPU.
#pragma once
#include "sim/collision/warm_start.h"

// Returns the stored contact of an owner, by its solver index then, with this key, or -1.
SAND_HOST_DEVICE int warm_start_find(const SandWarmStart *warm, int solver_index, SandContactKey key) {
    for (int i = warm->first[solver_index]; i < warm->first[solver_index + 1]; i++)
        if (warm->key[i].other == key.other && warm->key[i].feature == key.feature) return i;
    return -1;
}

// Returns the solver index that a body of the world had then, or -1.
SAND_HOST_DEVICE int warm_start_index(const SandWarmStart *warm, int body) {
    return body < warm->world_count ? warm->solver_index[body] : -1;
}

// The same of a block of a joint, whose key names the joint: it is stored with the body that had the lower index then.
SAND_HOST_DEVICE int warm_start_recall_joint(const SandWarmStart *warm, const SandCollision *collision,
                                             const SandContactCandidate *candidate, int index_a, bool *swapped) {
    if (candidate->b < 0) return warm_start_find(warm, index_a, candidate->key);
    int index_b = warm_start_index(warm, collision->body[candidate->b]);
    if (index_b < 0) return -1;
    *swapped = index_b < index_a;
    return warm_start_find(warm, *swapped ? index_b : index_a, candidate->key);
}

// Returns the stored contact that is the same as this one, or -1. The order of two solver indices may have changed since,
// and with it which body is a: then `swapped` is set, the stored impulse has the opposite sign and the feature's bytes
// are reversed.
SAND_HOST_DEVICE int warm_start_recall(const SandWarmStart *warm, const SandCollision *collision,
                                       const SandContactCandidate *candidate, bool *swapped) {
    int body_a = collision->body[candidate->index_a], index_a = warm_start_index(warm, body_a);
    *swapped = false;
    if (index_a < 0) return -1;
    if (sand_candidate_is_joint(candidate)) return warm_start_recall_joint(warm, collision, candidate, index_a, swapped);
    bool between = !(candidate->key.other & SAND_BOUNDARY_BIT);
    int index_b = between ? warm_start_index(warm, (int)candidate->key.other) : -1;
    if (between && index_b < 0) return -1;
    if (!between || index_a < index_b) return warm_start_find(warm, index_a, candidate->key);
    *swapped = true;
    uint32_t f = candidate->key.feature;
    SandContactKey key = {(uint32_t)body_a, f << 24 | (f << 8 & 0xff0000) | (f >> 8 & 0xff00) | f >> 24};
    return warm_start_find(warm, index_b, key);
}
