// Slots that are persistently mapped GL buffers: the simulation writes straight into what is drawn.
#include "ring.h"

#include <stdlib.h>

#include <glad/gl.h>

// Reading is allowed as well: the hands look for the body under the mouse in there.
static const GLbitfield ACCESS = GL_MAP_READ_BIT | GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT | GL_MAP_COHERENT_BIT;
static const GLuint64 PATIENCE = 100000000; // ns: a frame that is still being drawn; then the old one is shown once more

typedef struct Slots {
    PictureStore stores[RING_SLOTS]; // the mapped memory
    GLuint buffers[RING_SLOTS];
    GLsync fences[RING_SLOTS]; // after the last draw that read the slot
} Slots;

// Mapped storage cannot grow: another takes its place.
static bool make_room(Slots *s, int k, size_t bytes, SandError *error) {
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
    s->stores[k] = (PictureStore){.data = data, .room = bytes, .bytes = s->stores[k].bytes};
    return true;
}

// A picture that found the slot too small lies in its own memory and is copied this once; the slot then grows.
static bool fetch(void *user, int k, unsigned *buffer, SandError *error) {
    Slots *s = user;
    size_t needed = s->stores[k].bytes;
    if (needed > s->stores[k].room) return make_room(s, k, needed + needed / 2, error);
    *buffer = s->buffers[k];
    return true;
}

static void drawn(void *user, int k) {
    Slots *s = user;
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
    for (int k = 0; k < RING_SLOTS; k++)
        if (s->fences[k]) glDeleteSync(s->fences[k]);
    glDeleteBuffers(RING_SLOTS, s->buffers);
    free(s);
}

Ring *ring_create_gl(SandError *error) {
    Slots *s = calloc(1, sizeof *s);
    if (!s) return sand_fail(error, "out of memory for the frames"), NULL;
    static const RingVerbs verbs = {fetch, drawn, idle, free_slots};
    return ring_create(&verbs, s->stores, s, error);
}
