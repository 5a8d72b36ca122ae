// SPDX-License-Identifier: MIT
// Slot exchange by one atomic: the writer swaps its slot in with the FRESH bit set, the reader swaps its own for a fresh
// one.
#include "app/engine/triple_buffer.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { FRESH = 4 }; // flag bit above the slot number: not acquired yet

struct TripleBuffer {
    TripleBufferFunctions functions;
    InstanceStore *stores;
    void *user;
    int writing, reading; // each accessed by its own thread only
    atomic_int newest;    // slot number, and FRESH
};

TripleBuffer *triple_buffer_create(const TripleBufferFunctions *functions, InstanceStore *stores, void *user,
                                   SandError *error) {
    TripleBuffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer) {
        if (functions && functions->free) functions->free(user);
        return sand_fail(error, "out of memory for the frames"), NULL;
    }
    if (functions) buffer->functions = *functions;
    buffer->stores = stores;
    buffer->user = user;
    buffer->writing = 0;
    buffer->reading = 1;
    atomic_store(&buffer->newest, 2);
    return buffer;
}

void triple_buffer_free(TripleBuffer *buffer) {
    if (!buffer) return;
    if (buffer->functions.free) buffer->functions.free(buffer->user);
    free(buffer);
}

int triple_buffer_writing(const TripleBuffer *buffer) { return buffer->writing; }
InstanceStore *triple_buffer_store(TripleBuffer *buffer) { return buffer->stores ? &buffer->stores[buffer->writing] : NULL; }

void triple_buffer_publish(TripleBuffer *buffer) {
    buffer->writing = atomic_exchange(&buffer->newest, buffer->writing | FRESH) & ~FRESH;
}

bool triple_buffer_acquire(TripleBuffer *buffer) {
    if (!(atomic_load(&buffer->newest) & FRESH)) return false;
    if (buffer->functions.idle && !buffer->functions.idle(buffer->user, buffer->reading)) return false;
    buffer->reading = atomic_exchange(&buffer->newest, buffer->reading) & ~FRESH;
    return true;
}

int triple_buffer_reading(const TripleBuffer *buffer) { return buffer->reading; }

bool triple_buffer_fetch(TripleBuffer *buffer, unsigned *gl_buffer, SandError *error) {
    *gl_buffer = 0;
    return !buffer->functions.fetch || buffer->functions.fetch(buffer->user, buffer->reading, gl_buffer, error);
}

const char *triple_buffer_transfer(const TripleBuffer *buffer) {
    return buffer->functions.transfer ? buffer->functions.transfer(buffer->user, buffer->reading) : "host";
}

void triple_buffer_drawn(TripleBuffer *buffer) {
    if (buffer->functions.drawn) buffer->functions.drawn(buffer->user, buffer->reading);
}
