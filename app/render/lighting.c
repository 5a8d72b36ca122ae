// SPDX-License-Identifier: MIT
// The screen-space passes, each once as a compute shader and once as a full-screen triangle.
#include "app/render/lighting.h"

#include <stdlib.h>

#include <glad/gl.h>

#include "app/render/shader.h"

enum { TILE = 8 }; // work group size in pixels, as in the shaders

typedef enum Pass { AMBIENT, LIGHT, LIGHT_SET, DIRECT, DIRECT_SET, TONE, PASSES } Pass; // SET: in a set, not before a sweep
static const char *const pass_files[PASSES][2] = {[AMBIENT] = {"ambient"},
                                                  [LIGHT] = {"light"},
                                                  [LIGHT_SET] = {"light", "SET"},
                                                  [DIRECT] = {"light", "DIRECT"},
                                                  [DIRECT_SET] = {"light", "DIRECT SET"},
                                                  [TONE] = {"tone"}};

enum { UNIFORM_SAMPLES, UNIFORM_TWICE };

struct Lighting {
    bool compute;
    GLuint programs[PASSES];
    GLuint sky[2]; // the sky of the direct pass by triangles, and in a set
    GLuint plain;  // a sampler without depth comparison, for the shadow map
    GLuint empty_array;
};

// The targets of a pass: textures for a compute shader, and the framebuffer that holds them.
typedef struct Canvas {
    GLuint framebuffer, first, second;
    GLenum first_format, second_format;
    int width, height;
} Canvas;

Lighting *lighting_create(bool compute, SandError *error) {
    Lighting *l = calloc(1, sizeof *l);
    if (!l) return sand_fail(error, "out of memory for a renderer"), NULL;
    l->compute = compute;
    for (int i = 0; i < PASSES; i++) {
        const char *name = pass_files[i][0], *words = pass_files[i][1];
        l->programs[i] = compute ? shader_make_compute(name, words, error) : shader_make("screen", name, words, error);
        if (!l->programs[i]) return lighting_free(l), NULL;
    }
    static const char *const skies[2] = {"DIRECT SKY", "DIRECT SKY SET"};
    for (int k = 0; k < 2; k++)
        if (!compute && !(l->sky[k] = shader_make("screen", "light", skies[k], error))) return lighting_free(l), NULL;
    glCreateVertexArrays(1, &l->empty_array);
    glCreateSamplers(1, &l->plain);
    glSamplerParameteri(l->plain, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glSamplerParameteri(l->plain, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    return l;
}

void lighting_free(Lighting *l) {
    if (!l) return;
    for (int i = 0; i < PASSES; i++) glDeleteProgram(l->programs[i]);
    for (int k = 0; k < 2; k++) glDeleteProgram(l->sky[k]);
    glDeleteSamplers(1, &l->plain);
    glDeleteVertexArrays(1, &l->empty_array);
    free(l);
}

static int tiles_of(int pixels) { return (pixels + TILE - 1) / TILE; }

// Orders the pass after earlier accesses to its targets, and later accesses after it.
static void dispatch(GLuint program, const Canvas *c) {
    glUseProgram(program);
    glBindImageTexture(0, c->first, 0, GL_FALSE, 0, GL_WRITE_ONLY, c->first_format);
    if (c->second) glBindImageTexture(1, c->second, 0, GL_FALSE, 0, GL_WRITE_ONLY, c->second_format);
    glMemoryBarrier(GL_SHADER_IMAGE_ACCESS_BARRIER_BIT);
    glDispatchCompute((GLuint)tiles_of(c->width), (GLuint)tiles_of(c->height), 1);
    glMemoryBarrier(GL_TEXTURE_FETCH_BARRIER_BIT | GL_FRAMEBUFFER_BARRIER_BIT);
}

static void draw(const Lighting *l, GLuint program, const Canvas *c) {
    glBindFramebuffer(GL_FRAMEBUFFER, c->framebuffer);
    glViewport(0, 0, c->width, c->height);
    glBindVertexArray(l->empty_array);
    glUseProgram(program);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

// The software renderer skips whole blocks by a depth test, so the sky (depth 0) is not lit.
static void draw_direct(const Lighting *l, Pass pass, const Canvas *c) {
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_LESS);
    draw(l, l->programs[pass], c);
    glDepthFunc(GL_EQUAL);
    draw(l, l->sky[pass == DIRECT_SET], c);
    glDepthFunc(GL_GREATER);
}

static void sweep(const Lighting *l, Pass pass, const Canvas *c) {
    glDisable(GL_DEPTH_TEST);
    if (l->compute)
        dispatch(l->programs[pass], c);
    else if (pass == DIRECT || pass == DIRECT_SET)
        draw_direct(l, pass, c);
    else
        draw(l, l->programs[pass], c);
}

void lighting_ambient(const Lighting *l, const Targets *t) {
    int scale = t->ambient_scale;
    glBindTextureUnit(0, t->depth);
    glBindTextureUnit(1, t->normal);
    sweep(l, AMBIENT,
          &(Canvas){.framebuffer = t->ambient_pass,
                    .first = t->ambient,
                    .first_format = GL_R8,
                    .width = (t->width + scale - 1) / scale,
                    .height = (t->height + scale - 1) / scale});
}

static void bind_surfaces(const Lighting *l, const Targets *t) {
    glBindTextureUnit(0, t->depth);
    glBindTextureUnit(1, t->normal);
    glBindTextureUnit(2, t->ambient);
    glBindTextureUnit(4, t->shadow);
    glBindTextureUnit(5, t->color);
    glBindTextureUnit(6, t->glass_shadow);
    glBindTextureUnit(7, t->shadow);
    glBindSampler(7, l->plain);
}

void lighting_light(const Lighting *l, const Targets *t, bool set) {
    bind_surfaces(l, t);
    sweep(l, set ? LIGHT_SET : LIGHT,
          &(Canvas){.framebuffer = t->light_pass,
                    .first = t->light,
                    .second = t->kind,
                    .first_format = t->light_format,
                    .second_format = GL_RG8,
                    .width = t->width,
                    .height = t->height});
}

static Canvas out_canvas(const Targets *t, GLuint framebuffer) {
    return (Canvas){.framebuffer = framebuffer,
                    .first = t->out,
                    .first_format = GL_RGBA8,
                    .width = t->out_width,
                    .height = t->out_height};
}

void lighting_direct(const Lighting *l, const Targets *t, bool set) {
    Canvas out = out_canvas(t, t->direct_pass);
    bind_surfaces(l, t);
    sweep(l, set ? DIRECT_SET : DIRECT, &out);
}

void lighting_tone(const Lighting *l, const Targets *t, int samples, bool twice) {
    Canvas out = out_canvas(t, t->out_pass);
    glBindTextureUnit(0, t->light);
    glBindTextureUnit(1, t->kind);
    glBindTextureUnit(2, t->glass);
    glProgramUniform1i(l->programs[TONE], UNIFORM_SAMPLES, samples);
    glProgramUniform1i(l->programs[TONE], UNIFORM_TWICE, twice);
    sweep(l, TONE, &out);
}
