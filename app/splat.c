#include "splat.h"

#include <stdlib.h>

#include <glad/gl.h>

#include "shader.h"

enum { BLOCK = 256 };

typedef enum Pass { SPLAT, SPLAT_BY_LIGHT, MERGE, MERGE_DATA, MERGE_SHADOW, PASSES } Pass;

enum { UNIFORM_COUNT, UNIFORM_SIZE, UNIFORM_LIMIT, UNIFORM_NUMBERING };
enum { IMAGE_DEPTHS, IMAGE_NUMBERS };
enum { BUFFER_INSTANCES };
static const GLuint nothing = 0, nobody = UINT32_MAX; // as in the shaders

// What a view sees in each pixel: the bits of a depth, and for the camera the number of the ball.
typedef struct Canvas {
    GLuint depths, numbers;
    int width, height;
} Canvas;

struct Splat {
    GLuint programs[PASSES];
    GLuint empty_array;
    Canvas canvases[CULL_VIEWS];
};

Splat *splat_create(SandError *error) {
    Splat *s = calloc(1, sizeof *s);
    if (!s) return sand_fail(error, "out of memory for a renderer"), NULL;
    s->programs[SPLAT] = shader_make_compute("splat", NULL, error);
    s->programs[SPLAT_BY_LIGHT] = shader_make_compute("splat", "LIGHT", error);
    s->programs[MERGE] = shader_make("screen", "merge", NULL, error);
    s->programs[MERGE_DATA] = shader_make("screen", "merge", "DATA", error);
    s->programs[MERGE_SHADOW] = shader_make("screen", "merge_shadow", NULL, error);
    for (int i = 0; i < PASSES; i++)
        if (!s->programs[i]) return splat_free(s), NULL;
    glCreateVertexArrays(1, &s->empty_array);
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
    c->width = width, c->height = height;
    c->depths = make_image(width, height);
    if (view == CULL_CAMERA) c->numbers = make_image(width, height);
}

static void clear_and_bind(GLuint unit, GLuint image, GLuint value) {
    glClearTexImage(image, 0, GL_RED_INTEGER, GL_UNSIGNED_INT, &value);
    glBindImageTexture(unit, image, 0, GL_FALSE, 0, GL_READ_WRITE, GL_R32UI);
}

static void dispatch(int count) {
    glDispatchCompute((GLuint)((count + BLOCK - 1) / BLOCK), 1, 1);
    glMemoryBarrier(GL_SHADER_IMAGE_ACCESS_BARRIER_BIT | GL_TEXTURE_UPDATE_BARRIER_BIT);
}

static void merge(const Splat *s, Pass pass) {
    glUseProgram(s->programs[pass]);
    glBindVertexArray(s->empty_array);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

void splat_draw(Splat *s, CullView view, bool data, unsigned instances, int count, int width, int height) {
    bool light = view == CULL_LIGHT;
    GLuint program = s->programs[light ? SPLAT_BY_LIGHT : SPLAT];
    Canvas *c = &s->canvases[view];
    fit(c, view, width, height);
    clear_and_bind(IMAGE_DEPTHS, c->depths, nothing);
    if (!light) clear_and_bind(IMAGE_NUMBERS, c->numbers, nobody);
    glBindBufferBase(GL_SHADER_STORAGE_BUFFER, BUFFER_INSTANCES, instances);
    glUseProgram(program);
    glUniform1ui(UNIFORM_COUNT, (GLuint)count);
    glUniform2f(UNIFORM_SIZE, (float)width, (float)height);
    glUniform1f(UNIFORM_LIMIT, SPLAT_LIMIT);
    if (!light) glUniform1i(UNIFORM_NUMBERING, false);
    dispatch(count);
    if (!light) {
        glUniform1i(UNIFORM_NUMBERING, true);
        dispatch(count);
    }
    merge(s, light ? MERGE_SHADOW : data ? MERGE_DATA : MERGE);
}
