// Three slots between the simulation, which writes instances, and the window, which draws them. The writer always has a slot
// of its own, the reader has one, and the third is the newest that was finished: neither ever waits for the other.
//
// A slot that the reader gives up goes back to the writer only after the graphics driver has read the last byte of it: a
// fence tells. So the data are written once, where they are drawn from.
//
// What a slot is made of is behind a table of verbs: plain memory where nothing is drawn, or a persistently mapped GL buffer
// (ring_gl.c). Where another machine takes the steps, a slot is memory of its device, which is copied into a GL buffer: on
// the device where OpenGL runs on it as well, else through the host.
#pragma once
#include "app/render/render_scene.h"

enum { TRIPLE_BUFFER_SLOTS = 3 };

typedef struct TripleBufferVerbs {
    // Reader's thread. All may be NULL where there is nothing to do.
    bool (*fetch)(void *user, int slot, unsigned *gl_buffer,
                  SandError *error);     // the slot was taken: make it ready to be drawn
    void (*drawn)(void *user, int slot); // everything that reads the slot was given to the driver
    bool (*idle)(void *user, int slot);  // the driver is done with it
    void (*free)(void *user);
    const char *(*way)(void *user, int slot); // how the slot's bytes come to be drawn: see triple_buffer_way
} TripleBufferVerbs;

typedef struct TripleBuffer TripleBuffer;

// A ring of plain memory; with verbs, of what they make. `stores` are where the writer writes, one a slot, and belong to
// the maker. NULL when memory is out; then `user` is freed.
TripleBuffer *triple_buffer_create(const TripleBufferVerbs *verbs, InstanceStore *stores, void *user, SandError *error);
// ring_gl.c: the context is current on the calling thread, which is the reader's. `staged`: what is on a device goes through
// the host, even where it need not.
TripleBuffer *triple_buffer_create_gl(bool staged, SandError *error);
void triple_buffer_free(TripleBuffer *buffer); // on the reader's thread

// Writer's thread: the slot that is the writer's until it publishes, and its memory (NULL: the picture's own).
int triple_buffer_writing(const TripleBuffer *buffer);
InstanceStore *triple_buffer_store(TripleBuffer *buffer);
void triple_buffer_publish(TripleBuffer *buffer);

// Reader's thread: takes the newest slot where there is a newer one than the reader's and the reader's own is free to go.
bool triple_buffer_acquire(TripleBuffer *buffer);
int triple_buffer_reading(const TripleBuffer *buffer);
// Once after it took a slot: the GL buffer that has the slot's bytes; 0: none has, and the picture is to be copied.
bool triple_buffer_fetch(TripleBuffer *buffer, unsigned *gl_buffer, SandError *error);
void triple_buffer_drawn(TripleBuffer *buffer); // after the last draw of a frame that reads the slot
// How the bytes of the slot that was fetched last came to where they are drawn from, for people: `interop` (they never left
// the device), `staged: ` and why (a device's, through the host), or `host` (written there).
const char *triple_buffer_way(const TripleBuffer *buffer);
