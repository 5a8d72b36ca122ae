// SPDX-License-Identifier: MIT
// Triple-buffer slots as persistently mapped GL buffers: the simulation writes straight into what is drawn. What a device
// has written to its own memory is copied into one GL buffer that it shares with OpenGL; where it cannot share, the host
// copies it into the slot's buffer.
#include "app/engine/triple_buffer.h"
#include "sandglass/scene.h"

#include <stdio.h>
#include <stdlib.h>

#include <glad/gl.h>

// Readable as well: picking (input.c) searches the instances for the body under the mouse.
static const GLbitfield ACCESS = GL_MAP_READ_BIT | GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;
// ns, how long to wait for a frame that is still being drawn; then the old one is shown once more.
static const GLuint64 PATIENCE = 100000000;

typedef struct Slots {
    InstanceStore stores[TRIPLE_BUFFER_SLOTS]; // the mapped memory
    GLuint buffers[TRIPLE_BUFFER_SLOTS];
    GLsync fences[TRIPLE_BUFFER_SLOTS]; // after the last draw call that read the slot

    bool staged; // always copy through the host
    // The buffer that a device writes. One serves all slots: the device waits for draw calls that still read it.
    const SandBackend *backend; // that shares it; NULL: not asked yet
    SandShare *share;           // NULL: refused
    GLuint shared;
    size_t shared_capacity;
    char transfer[SAND_SENTENCE]; // see triple_buffer_transfer
} Slots;

// Replaces the storage of a slot by a larger one: mapped storage cannot grow.
static bool grow_slot(Slots *s, int k, size_t bytes, SandError *error) {
    GLuint buffer;
    glCreateBuffers(1, &buffer);
    glNamedBufferStorage(buffer, (GLsizeiptr)bytes, NULL, ACCESS);
    void *data = glMapNamedBufferRange(buffer, 0, (GLsizeiptr)bytes, ACCESS);
    if (!data) {
        glDeleteBuffers(1, &buffer);
        return sand_fail(error, "the graphics driver has no room for %.0f MB of bodies", 1e-6 * (double)bytes);
    }
    glDeleteBuffers(1, &s->buffers[k]); // unmaps it
    s->buffers[k] = buffer;
    s->stores[k].data = data;
    s->stores[k].capacity = bytes;
    return true;
}

static void end_share(Slots *s) {
    if (s->share) s->backend->share_free(s->share);
    s->share = NULL;
    glDeleteBuffers(1, &s->shared);
    s->shared = 0;
    s->shared_capacity = 0;
}

static void say_staged(Slots *s, const SandError *why) {
    snprintf(s->transfer, sizeof s->transfer, "staged: %.200s", why->text);
}

// Registers a buffer with the device, once for as long as it is large enough. A device that refused is not asked again.
static bool share(Slots *s, const SandBackend *backend, size_t bytes) {
    SandError why;
    if (s->backend == backend && (!s->share || bytes <= s->shared_capacity)) return s->share;
    end_share(s);
    s->backend = backend;
    s->shared_capacity = bytes + bytes / 2;
    glCreateBuffers(1, &s->shared);
    glNamedBufferData(s->shared, (GLsizeiptr)s->shared_capacity, NULL, GL_DYNAMIC_DRAW);
    s->share = s->staged ? sand_fail(&why, "as was asked"), NULL : backend->share(s->shared, &why);
    snprintf(s->transfer, sizeof s->transfer, "interop");
    if (!s->share) {
        end_share(s);
        say_staged(s, &why);
    }
    return s->share;
}

// Fetches a slot that is device memory. Where it cannot be shared, the host copies it through the mapped memory.
static bool fetch_from_device(Slots *s, int k, unsigned *buffer, SandError *error) {
    SandError why;
    InstanceStore *store = &s->stores[k];
    if (share(s, store->backend, store->bytes)) {
        if (store->backend->share_copy(s->share, store->slot, store->bytes, &why)) {
            *buffer = s->shared;
            return true;
        }
        end_share(s);
        say_staged(s, &why);
    }
    if (store->bytes > store->capacity && !grow_slot(s, k, store->bytes + store->bytes / 2, error)) return false;
    if (!store->backend->slot_read(store->slot, store->data, store->bytes, error)) return false;
    *buffer = s->buffers[k];
    return true;
}

// A render scene that found its slot too small is in its own memory and is copied this once; the slot grows for the next.
static bool fetch(void *user, int k, unsigned *buffer, SandError *error) {
    Slots *s = user;
    size_t needed = s->stores[k].bytes;
    if (s->stores[k].away && needed) return fetch_from_device(s, k, buffer, error);
    if (needed > s->stores[k].capacity) return grow_slot(s, k, needed + needed / 2, error);
    *buffer = s->buffers[k];
    return true;
}

static const char *transfer(void *user, int k) {
    Slots *s = user;
    return s->stores[k].away ? s->transfer : "host";
}

static void drawn(void *user, int k) {
    Slots *s = user;
    if (s->stores[k].away && s->share) return; // the copy is drawn; the device slot needs no fence
    if (s->fences[k]) glDeleteSync(s->fences[k]);
    s->fences[k] = glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
}

static bool idle(void *user, int k) {
    Slots *s = user;
    if (!s->fences[k]) return true;
    GLenum state = glClientWaitSync(s->fences[k], GL_SYNC_FLUSH_COMMANDS_BIT, PATIENCE);
    if (state == GL_TIMEOUT_EXPIRED) return false;
    glDeleteSync(s->fences[k]);
    s->fences[k] = NULL;
    return true;
}

static void free_slots(void *user) {
    Slots *s = user;
    end_share(s);
    for (int k = 0; k < TRIPLE_BUFFER_SLOTS; k++) {
        render_scene_close_slot(&s->stores[k]);
        if (s->fences[k]) glDeleteSync(s->fences[k]);
    }
    glDeleteBuffers(TRIPLE_BUFFER_SLOTS, s->buffers);
    free(s);
}

TripleBuffer *triple_buffer_create_gl(bool staged, SandError *error) {
    Slots *s = calloc(1, sizeof *s);
    if (!s) return sand_fail(error, "out of memory for the frames"), NULL;
    static const TripleBufferFunctions functions = {fetch, drawn, idle, free_slots, transfer};
    for (int k = 0; k < TRIPLE_BUFFER_SLOTS; k++) s->stores[k].takes_slots = true;
    s->staged = staged;
    return triple_buffer_create(&functions, s->stores, s, error);
}
