// SPDX-License-Identifier: MIT
// Splatting in two passes: atomic maximum of depth, then the index of the ball that left it (shaders/balls/splat.comp).
#include "app/render/splat.h"

#include <stdlib.h>

#include <glad/gl.h>

#include "app/render/shader.h"

enum { BLOCK = 256, TILE = 16 };

typedef enum Pass { SPLAT, SPLAT_BY_LIGHT, PAINT, PAINT_DATA, MERGE, PASSES } Pass;

enum { UNIFORM_COUNT, UNIFORM_SIZE, UNIFORM_LIMIT, UNIFORM_NUMBERING };
enum { IMAGE_DEPTHS, IMAGE_NUMBERS, IMAGE_COLORS, IMAGE_NORMALS };
enum { BUFFER_INSTANCES, BUFFER_CONTENDERS };
static const GLuint nothing = 0, nobody = UINT32_MAX; // as in the shaders

// Per view and pixel: the bits of the depth and, for the camera, the index of the ball.
typedef struct Canvas {
    GLuint depths, numbers;
    int width, height;
} Canvas;

struct Splat {
    GLuint programs[PASSES];
    GLuint empty_array;
    GLuint contenders; // per ball: whether it was nearest in some pixel
    int capacity;      // of `contenders`
    Canvas canvases[CULL_VIEWS];
};

Splat *splat_create(SandError *error) {
    Splat *s = calloc(1, sizeof *s);
    if (!s) return sand_fail(error, "out of memory for a renderer"), NULL;
    s->programs[SPLAT] = shader_make_compute("splat", NULL, error);
    s->programs[SPLAT_BY_LIGHT] = shader_make_compute("splat", "LIGHT", error);
    s->programs[PAINT] = shader_make_compute("paint", NULL, error);
    s->programs[PAINT_DATA] = shader_make_compute("paint", "DATA", error);
    s->programs[MERGE] = shader_make("screen", "merge", NULL, error);
    for (int i = 0; i < PASSES; i++)
        if (!s->programs[i]) return splat_free(s), NULL;
    glCreateVertexArrays(1, &s->empty_array);
    glCreateBuffers(1, &s->contenders);
    return s;
}

static void free_canvas(Canvas *c) {
    glDeleteTextures(1, &c->depths);
    glDeleteTextures(1, &c->numbers);
    *c = (Canvas){0};
}

void splat_free(Splat *s) {
    if (!s) return;
    for (int i = 0; i < PASSES; i++) glDeleteProgram(s->programs[i]);
    for (int k = 0; k < CULL_VIEWS; k++) free_canvas(&s->canvases[k]);
    glDeleteVertexArrays(1, &s->empty_array);
    glDeleteBuffers(1, &s->contenders);
    free(s);
}

static GLuint make_image(int width, int height) {
    GLuint name;
    glCreateTextures(GL_TEXTURE_2D, 1, &name);
    glTextureStorage2D(name, 1, GL_R32UI, width, height);
    return name;
}

static void fit(Canvas *c, CullView view, int width, int height) {
    if (c->width == width && c->height == height) return;
    free_canvas(c);
    c->width = width;
    c->height = height;
    c->depths = make_image(width, height);
    if (view == CULL_CAMERA) c->numbers = make_image(width, height);
}

static void fit_contenders(Splat *s, int count) {
    if (count <= s->capacity) return;
    s->capacity = count + count / 4;
    glNamedBufferData(s->contenders, (GLsizeiptr)((size_t)s->capacity * sizeof(GLuint)), NULL, GL_DYNAMIC_COPY);
}

static void clear_and_bind(GLuint unit, GLuint image, GLuint value) {
    glClearTexImage(image, 0, GL_RED_INTEGER, GL_UNSIGNED_INT, &value);
    glBindImageTexture(unit, image, 0, GL_FALSE, 0, GL_READ_WRITE, GL_R32UI);
}

static int blocks_of(int count, int size) { return (count + size - 1) / size; }

static void dispatch(int count) {
    glDispatchCompute((GLuint)blocks_of(count, BLOCK), 1, 1);
    glMemoryBarrier(GL_SHADER_IMAGE_ACCESS_BARRIER_BIT | GL_SHADER_STORAGE_BARRIER_BIT | GL_TEXTURE_UPDATE_BARRIER_BIT);
}

// Writes color and normal where a ball or the ground is in front of what is drawn so far.
static void paint(const Splat *s, const Targets *t, bool data) {
    glUseProgram(s->programs[data ? PAINT_DATA : PAINT]);
    glBindTextureUnit(0, t->depth);
    glBindImageTexture(IMAGE_COLORS, t->color, 0, GL_FALSE, 0, GL_WRITE_ONLY, GL_RGBA8);
    glBindImageTexture(IMAGE_NORMALS, t->normal, 0, GL_FALSE, 0, GL_WRITE_ONLY, GL_RG16);
    glDispatchCompute((GLuint)blocks_of(t->width, TILE), (GLuint)blocks_of(t->height, TILE), 1);
    glMemoryBarrier(GL_SHADER_IMAGE_ACCESS_BARRIER_BIT | GL_FRAMEBUFFER_BARRIER_BIT | GL_TEXTURE_FETCH_BARRIER_BIT);
    glBindTextureUnit(0, 0);
}

static void merge(const Splat *s) {
    glUseProgram(s->programs[MERGE]);
    glBindVertexArray(s->empty_array);
    glColorMask(GL_FALSE, GL_FALSE, GL_FALSE, GL_FALSE);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glColorMask(GL_TRUE, GL_TRUE, GL_TRUE, GL_TRUE);
}

void splat_draw(Splat *s, CullView view, const Targets *t, bool data, unsigned instances, int count) {
    bool light = view == CULL_LIGHT;
    int width = light ? t->shadow_size : t->width, height = light ? t->shadow_size : t->height;
    GLuint program = s->programs[light ? SPLAT_BY_LIGHT : SPLAT];
    Canvas *c = &s->canvases[view];
    fit(c, view, width, height);
    clear_and_bind(IMAGE_DEPTHS, c->depths, nothing);
    if (!light) clear_and_bind(IMAGE_NUMBERS, c->numbers, nobody);
    fit_contenders(s, count);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, BUFFER_INSTANCES, instances);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, BUFFER_CONTENDERS, s->contenders);
    glUseProgram(program);
    glUniform1ui(UNIFORM_COUNT, (GLuint)count);
    glUniform2f(UNIFORM_SIZE, (float)width, (float)height);
    glUniform1f(UNIFORM_LIMIT, SPLAT_LIMIT);
    if (!light) glUniform1i(UNIFORM_NUMBERING, false);
    dispatch(count);
    if (!light) {
        glUniform1i(UNIFORM_NUMBERING, true);
        dispatch(count);
        paint(s, t, data);
    }
    merge(s);
}
