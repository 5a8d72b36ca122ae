// SPDX-License-Identifier: MIT
// How a contact finds its stored impulse, one source for CPU and GPU. Start at warm_start_recall.
#pragma once
#include "sim/collision/warm_start.h"

// The contacts of the coming step, by owner: those of solver index k are contacts[order[i]] for i from first[k] to
// first[k + 1] - 1. Without an order they are sorted already.
typedef struct SandNewContacts {
    const SandContactCandidate *contacts;
    const int *order, *first;
} SandNewContacts;

SAND_HOST_DEVICE const SandContactCandidate *new_contact(const SandNewContacts *now, int i) {
    return &now->contacts[now->order ? now->order[i] : i];
}

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

// The feature of a key as it is where the two bodies are exchanged.
SAND_HOST_DEVICE uint32_t swapped_feature(uint32_t f) { return f << 24 | (f << 8 & 0xff0000) | (f >> 8 & 0xff00) | f >> 24; }

// Whether two features belong to the same pieces of two compounds, as far as their marks say (piece_mark).
SAND_HOST_DEVICE bool same_pieces(uint32_t f, uint32_t g) { return !((f ^ g) & SAND_PIECE_BITS); }

// Whether a feature is one of convex bodies, which names kinds.
SAND_HOST_DEVICE bool names_kinds(uint32_t feature) { return (feature & 0xffff00) != 0; }

// Whether the pair has a contact with this feature in the coming step.
SAND_HOST_DEVICE bool pair_has(const SandNewContacts *now, const SandContactCandidate *of, uint32_t feature) {
    for (int i = now->first[of->index_a]; i < now->first[of->index_a + 1]; i++) {
        const SandContactCandidate *c = new_contact(now, i);
        if (c->key.other == of->key.other && c->key.feature == feature) return true;
    }
    return false;
}

// How a pair of bodies is stored: with this owner, with this other, and exchanged or not.
typedef struct StoredPair {
    int owner;
    uint32_t other;
    bool swapped;
} StoredPair;

SAND_HOST_DEVICE SandContactKey stored_key(const StoredPair *pair, uint32_t feature) {
    SandContactKey key = {pair->other, pair->swapped ? swapped_feature(feature) : feature};
    return key;
}

// Returns how many contacts of the pair of pieces before this one are not stored by their names.
SAND_HOST_DEVICE int renamed_before(const SandWarmStart *warm, const SandNewContacts *now, const StoredPair *pair,
                                    const SandContactCandidate *of) {
    int count = 0;
    for (int i = now->first[of->index_a]; new_contact(now, i) != of; i++) {
        const SandContactCandidate *c = new_contact(now, i);
        if (c->key.other == of->key.other && same_pieces(c->key.feature, of->key.feature))
            count += warm_start_find(warm, pair->owner, stored_key(pair, c->key.feature)) < 0;
    }
    return count;
}

// Where features of two convex bodies coincide, as the edges of two bricks on each other, rounding says which of them a
// point is named after, and the name changes from step to step. So a point whose name is new takes what is left of the pair:
// of the stored points whose names are gone the one with the same place. Returns it, or -1.
SAND_HOST_DEVICE int warm_start_renamed(const SandWarmStart *warm, const SandNewContacts *now, const StoredPair *pair,
                                        const SandContactCandidate *of) {
    int place = renamed_before(warm, now, pair, of);
    for (int i = warm->first[pair->owner]; i < warm->first[pair->owner + 1]; i++) {
        uint32_t feature = stored_key(pair, warm->key[i].feature).feature;
        if (warm->key[i].other != pair->other || !same_pieces(feature, of->key.feature) || pair_has(now, of, feature))
            continue;
        if (place-- == 0) return i;
    }
    return -1;
}

// Returns the stored contact that is the same as this one, or -1. The order of two solver indices may have changed since,
// and with it which body is a: then `swapped` is set, the stored impulse has the opposite sign and the feature's bytes
// are reversed.
SAND_HOST_DEVICE int warm_start_recall(const SandWarmStart *warm, const SandCollision *collision, const SandNewContacts *now,
                                       const SandContactCandidate *candidate, bool *swapped) {
    int body_a = collision->body[candidate->index_a], index_a = warm_start_index(warm, body_a);
    *swapped = false;
    if (index_a < 0) return -1;
    if (sand_candidate_is_joint(candidate)) return warm_start_recall_joint(warm, collision, candidate, index_a, swapped);
    if (candidate->key.other & SAND_BOUNDARY_BIT) return warm_start_find(warm, index_a, candidate->key);
    int index_b = warm_start_index(warm, (int)candidate->key.other);
    if (index_b < 0) return -1;
    *swapped = index_b < index_a;
    StoredPair pair = {*swapped ? index_b : index_a, *swapped ? (uint32_t)body_a : candidate->key.other, *swapped};
    int found = warm_start_find(warm, pair.owner, stored_key(&pair, candidate->key.feature));
    return found >= 0 || !names_kinds(candidate->key.feature) ? found : warm_start_renamed(warm, now, &pair, candidate);
}
