// SPDX-License-Identifier: MIT
// Occlusion culling of balls in compute shaders: depth pyramid, visibility flags, order-preserving selection.
#include "app/render/cull.h"

#include <stdlib.h>

#include <glad/gl.h>

#include "app/render/shader.h"
#include "sim/world/render_instance.h"

enum { BLOCK = 256, TILE = 16, LEVELS = 14 };

typedef enum Pass { SEEN, SEEN_BY_LIGHT, PYRAMID, COUNT, SUM, KEEP, PASSES } Pass;
static const char *const pass_files[PASSES][2] = {[SEEN] = {"seen"},         [SEEN_BY_LIGHT] = {"seen", "LIGHT"},
                                                  [PYRAMID] = {"pyramid"},   [COUNT] = {"select", "COUNT"},
                                                  [SUM] = {"select", "SUM"}, [KEEP] = {"select"}};

enum { UNIFORM_COUNT = 0, UNIFORM_SIZE = 1, UNIFORM_WANTED = 1, UNIFORM_LIMIT = 2, UNIFORM_FROM = 0 };
enum { BUFFER_INSTANCES, BUFFER_FLAGS, BUFFER_BLOCKS, BUFFER_KEPT, BUFFER_COMMAND };
enum { WAS_DRAWN = 1, IS_SEEN = 2, LARGE = 4 }; // as in shaders/culling/cull.glsl

// Per view: the flags of the balls, and the depth pyramid.
typedef struct CullViewState {
    GLuint flags, pyramid;
    int width, height, levels; // of the pyramid
    int count;                 // of balls that have flags
} CullViewState;

struct Cull {
    GLuint programs[PASSES];
    GLuint blocks, kept, command;
    GLuint plain; // a sampler without depth comparison
    int capacity; // balls that fit
    GLuint instances;
    int count;
    CullViewState views[CULL_VIEWS];
};

Cull *cull_create(SandError *error) {
    Cull *c = calloc(1, sizeof *c);
    if (!c) return sand_fail(error, "out of memory for a renderer"), NULL;
    for (int i = 0; i < PASSES; i++) {
        c->programs[i] = shader_make_compute(pass_files[i][0], pass_files[i][1], error);
        if (!c->programs[i]) return cull_free(c), NULL;
    }
    GLuint buffers[3 + CULL_VIEWS];
    glCreateBuffers(3 + CULL_VIEWS, buffers);
    c->blocks = buffers[0];
    c->kept = buffers[1];
    c->command = buffers[2];
    for (int k = 0; k < CULL_VIEWS; k++) c->views[k].flags = buffers[3 + k];
    glCreateSamplers(1, &c->plain);
    glSamplerParameteri(c->plain, GL_TEXTURE_MIN_FILTER, GL_NEAREST_MIPMAP_NEAREST);
    glSamplerParameteri(c->plain, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glNamedBufferStorage(c->command, 4 * sizeof(GLuint), NULL, 0);
    return c;
}

void cull_free(Cull *c) {
    if (!c) return;
    for (int i = 0; i < PASSES; i++) glDeleteProgram(c->programs[i]);
    GLuint buffers[] = {c->blocks, c->kept, c->command};
    glDeleteBuffers(3, buffers);
    glDeleteSamplers(1, &c->plain);
    for (int k = 0; k < CULL_VIEWS; k++) {
        glDeleteBuffers(1, &c->views[k].flags);
        glDeleteTextures(1, &c->views[k].pyramid);
    }
    free(c);
}

static int blocks_of(int count, int size) { return (count + size - 1) / size; }

static void dispatch(const Cull *c, Pass pass, int blocks) {
    glUseProgram(c->programs[pass]);
    glDispatchCompute((GLuint)blocks, 1, 1);
    glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT);
}

// Selects the balls whose masked flags equal these.
static void select(Cull *c, GLuint look_at, GLuint wanted) {
    int blocks = blocks_of(c->count, BLOCK);
    for (Pass pass = COUNT; pass <= KEEP; pass++) {
        glProgramUniform1ui(c->programs[pass], UNIFORM_COUNT, (GLuint)c->count);
        if (pass != SUM) glProgramUniform2ui(c->programs[pass], UNIFORM_WANTED, look_at, wanted);
        dispatch(c, pass, pass == SUM ? 1 : blocks);
    }
    glMemoryBarrier(GL_VERTEX_ATTRIB_ARRAY_BARRIER_BIT | GL_COMMAND_BARRIER_BIT);
}

static void bind(const Cull *c, CullView view) {
    const GLuint buffers[] = {[BUFFER_INSTANCES] = c->instances,
                              [BUFFER_FLAGS] = c->views[view].flags,
                              [BUFFER_BLOCKS] = c->blocks,
                              [BUFFER_KEPT] = c->kept,
                              [BUFFER_COMMAND] = c->command};
    glBindBuffersBase(GL_SHADER_STORAGE_BUFFER, 0, sizeof buffers / sizeof *buffers, buffers);
}

static void fit(Cull *c, int count) {
    if (count <= c->capacity) return;
    c->capacity = count + count / 4;
    glNamedBufferData(c->kept, (GLsizeiptr)((size_t)c->capacity * sizeof(SandInstance)), NULL, GL_DYNAMIC_COPY);
    glNamedBufferData(c->blocks, (GLsizeiptr)((size_t)blocks_of(c->capacity, BLOCK) * sizeof(GLuint)), NULL,
                      GL_DYNAMIC_COPY);
}

void cull_begin(Cull *c, CullView view, unsigned instances, int count) {
    CullViewState *s = &c->views[view];
    c->instances = instances;
    c->count = count;
    fit(c, count);
    if (s->count != count) { // another set of balls: none was seen yet
        glNamedBufferData(s->flags, (GLsizeiptr)((size_t)count * sizeof(GLuint)), NULL, GL_DYNAMIC_COPY);
        glClearNamedBufferData(s->flags, GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT, NULL);
        s->count = count;
    }
    bind(c, view);
    select(c, IS_SEEN | LARGE, IS_SEEN | LARGE);
}

static int power_of_two(int least) {
    int power = 1;
    while (power < least) power *= 2;
    return power;
}

// Half the target, rounded up to powers of two, so that every level is exactly half of the one below.
static void make_pyramid(CullViewState *s, int width, int height) {
    int w = power_of_two(blocks_of(width, 2)), h = power_of_two(blocks_of(height, 2));
    if (s->width == w && s->height == h) return;
    glDeleteTextures(1, &s->pyramid);
    s->width = w;
    s->height = h;
    s->levels = 1;
    while (s->levels < LEVELS && (w >> s->levels || h >> s->levels)) s->levels++;
    glCreateTextures(GL_TEXTURE_2D, 1, &s->pyramid);
    glTextureStorage2D(s->pyramid, s->levels, GL_R32F, w, h);
}

static void fill_pyramid(const Cull *c, const CullViewState *s, GLuint depth) {
    glUseProgram(c->programs[PYRAMID]);
    for (int k = 0; k < s->levels; k++) {
        int w = s->width >> k, h = s->height >> k;
        glBindTextureUnit(0, k ? s->pyramid : depth);
        glBindImageTexture(0, s->pyramid, k, GL_FALSE, 0, GL_WRITE_ONLY, GL_R32F);
        glUniform1i(UNIFORM_FROM, k ? k - 1 : 0);
        glDispatchCompute((GLuint)blocks_of(w ? w : 1, TILE), (GLuint)blocks_of(h ? h : 1, TILE), 1);
        glMemoryBarrier(GL_TEXTURE_FETCH_BARRIER_BIT);
    }
}

void cull_go_on(Cull *c, CullView view, unsigned depth, int width, int height, int limit) {
    CullViewState *s = &c->views[view];
    Pass pass = view == CULL_LIGHT ? SEEN_BY_LIGHT : SEEN;
    make_pyramid(s, width, height);
    glBindSampler(0, c->plain);
    fill_pyramid(c, s, depth);
    bind(c, view);
    glBindTextureUnit(0, s->pyramid);
    glProgramUniform1ui(c->programs[pass], UNIFORM_COUNT, (GLuint)c->count);
    glProgramUniform2f(c->programs[pass], UNIFORM_SIZE, (float)width, (float)height);
    glProgramUniform1f(c->programs[pass], UNIFORM_LIMIT, (float)limit);
    dispatch(c, pass, blocks_of(c->count, BLOCK));
    select(c, WAS_DRAWN | IS_SEEN | LARGE, IS_SEEN | LARGE);
    glBindTextureUnit(0, 0);
    glBindSampler(0, 0);
}

void cull_keep_seen(Cull *c, CullView view) {
    bind(c, view);
    select(c, IS_SEEN, IS_SEEN);
}

void cull_draw(const Cull *c, unsigned array) {
    glBindVertexArray(array);
    glVertexArrayVertexBuffer(array, 0, c->kept, 0, sizeof(SandInstance));
    glBindBuffer(GL_DRAW_INDIRECT_BUFFER, c->command);
    glDrawArraysIndirect(GL_TRIANGLE_STRIP, NULL);
}
