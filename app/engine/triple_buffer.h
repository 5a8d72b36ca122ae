// SPDX-License-Identifier: MIT
// Triple buffer between the simulation, which writes instances, and the window, which draws them. The writer owns one slot,
// the reader owns one, and the third is the newest finished one: neither ever waits for the other.
//
// A slot that the reader gives up goes back to the writer only after the graphics driver has finished reading it, by a
// fence. So instances are written once, where they are drawn from.
//
// A table of functions says what a slot is: plain memory where nothing is drawn, or a persistently mapped GL buffer
// (triple_buffer_gl.c). When a device takes the steps, a slot is device memory that is copied into a GL buffer: on the
// device where OpenGL runs on it too, else through the host.
#pragma once
#include "app/render/render_scene.h"

enum { TRIPLE_BUFFER_SLOTS = 3 };

typedef struct TripleBufferFunctions {
    // Called on the reader's thread. Any may be NULL.
    // After acquire: makes the slot ready to be drawn.
    bool (*fetch)(void *user, int slot, unsigned *gl_buffer, SandError *error);
    void (*drawn)(void *user, int slot); // every draw call that reads the slot has been issued
    bool (*idle)(void *user, int slot);  // the driver has finished reading it
    void (*free)(void *user);
    const char *(*transfer)(void *user, int slot); // how the slot's bytes reach the GL buffer: see triple_buffer_transfer
} TripleBufferFunctions;

typedef struct TripleBuffer TripleBuffer;

// Creates a triple buffer of plain memory or, with `functions`, of their slots. `stores`: where the writer writes, one for
// each slot, owned by the caller. Returns NULL when out of memory; `user` is freed then.
TripleBuffer *triple_buffer_create(const TripleBufferFunctions *functions, InstanceStore *stores, void *user,
                                   SandError *error);
// triple_buffer_gl.c. Needs the context current on the calling thread, which is the reader's. `staged`: device memory goes
// through the host even where it could be shared.
TripleBuffer *triple_buffer_create_gl(bool staged, SandError *error);
void triple_buffer_free(TripleBuffer *buffer); // on the reader's thread

// Writer's thread: the slot being written, its memory (NULL: the render scene's own), and its publication.
int triple_buffer_writing(const TripleBuffer *buffer);
InstanceStore *triple_buffer_store(TripleBuffer *buffer);
void triple_buffer_publish(TripleBuffer *buffer);

// Reader's thread: exchanges the reader's slot for the newest if that is newer and the driver is done with the old one.
bool triple_buffer_acquire(TripleBuffer *buffer);
int triple_buffer_reading(const TripleBuffer *buffer);
// Once after acquire: the GL buffer that holds the slot's bytes; 0: none does, and the renderer copies them.
bool triple_buffer_fetch(TripleBuffer *buffer, unsigned *gl_buffer, SandError *error);
void triple_buffer_drawn(TripleBuffer *buffer); // after the last draw call that reads the slot
// How the bytes of the last fetched slot reached the GL buffer, for display: `interop` (they never left the device),
// `staged:` with the reason (device memory copied through the host), or `host` (written there).
const char *triple_buffer_transfer(const TripleBuffer *buffer);
