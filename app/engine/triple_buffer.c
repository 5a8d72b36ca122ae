#include "app/engine/triple_buffer.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { FRESH = 4 }; // a bit above every number of a slot: the reader has not seen it

struct Ring {
    RingVerbs verbs;
    PictureStore *stores;
    void *user;
    int writing, reading; // each touched by its own thread alone
    atomic_int newest;    // a slot, and whether it is fresh
};

Ring *ring_create(const RingVerbs *verbs, PictureStore *stores, void *user, SandError *error) {
    Ring *ring = calloc(1, sizeof *ring);
    if (!ring) {
        if (verbs && verbs->free) verbs->free(user);
        return sand_fail(error, "out of memory for the frames"), NULL;
    }
    if (verbs) ring->verbs = *verbs;
    ring->stores = stores;
    ring->user = user;
    ring->writing = 0, ring->reading = 1;
    atomic_store(&ring->newest, 2);
    return ring;
}

void ring_free(Ring *ring) {
    if (!ring) return;
    if (ring->verbs.free) ring->verbs.free(ring->user);
    free(ring);
}

int ring_writing(const Ring *ring) { return ring->writing; }
PictureStore *ring_store(Ring *ring) { return ring->stores ? &ring->stores[ring->writing] : NULL; }

void ring_publish(Ring *ring) { ring->writing = atomic_exchange(&ring->newest, ring->writing | FRESH) & ~FRESH; }

bool ring_take(Ring *ring) {
    if (!(atomic_load(&ring->newest) & FRESH)) return false;
    if (ring->verbs.idle && !ring->verbs.idle(ring->user, ring->reading)) return false;
    ring->reading = atomic_exchange(&ring->newest, ring->reading) & ~FRESH;
    return true;
}

int ring_reading(const Ring *ring) { return ring->reading; }

bool ring_fetch(Ring *ring, unsigned *buffer, SandError *error) {
    *buffer = 0;
    return !ring->verbs.fetch || ring->verbs.fetch(ring->user, ring->reading, buffer, error);
}

const char *ring_way(const Ring *ring) { return ring->verbs.way ? ring->verbs.way(ring->user, ring->reading) : "host"; }

void ring_drawn(Ring *ring) {
    if (ring->verbs.drawn) ring->verbs.drawn(ring->user, ring->reading);
}
