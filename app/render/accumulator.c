// SPDX-License-Identifier: MIT
// Sums pictures in a target of full floats by blending; the last pass divides and encodes.
#include "app/render/accumulator.h"

#include <stdlib.h>

#include <glad/gl.h>

#include "app/render/shader.h"

struct Accumulator {
    GLuint add, mean; // programs
    GLuint sum, pass, empty_array;
    int width, height;
    int count; // pictures added
};

Accumulator *accumulator_create(int width, int height, SandError *error) {
    Accumulator *a = calloc(1, sizeof *a);
    if (!a) return sand_fail(error, "out of memory for the sum of pictures"), NULL;
    a->width = width;
    a->height = height;
    a->add = shader_make("screen", "sum", NULL, error);
    a->mean = a->add ? shader_make("screen", "mean", NULL, error) : 0;
    if (!a->mean) return accumulator_free(a), NULL;
    glCreateVertexArrays(1, &a->empty_array);
    glCreateTextures(GL_TEXTURE_2D, 1, &a->sum);
    glTextureStorage2D(a->sum, 1, GL_RGBA32F, width, height);
    glCreateFramebuffers(1, &a->pass);
    glNamedFramebufferTexture(a->pass, GL_COLOR_ATTACHMENT0, a->sum, 0);
    if (glCheckNamedFramebufferStatus(a->pass, GL_DRAW_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE) return a;
    accumulator_free(a);
    sand_fail(error, "the driver has no room for the sum of pictures of %d x %d pixels", width, height);
    return NULL;
}

void accumulator_free(Accumulator *a) {
    if (!a) return;
    glDeleteProgram(a->add);
    glDeleteProgram(a->mean);
    glDeleteVertexArrays(1, &a->empty_array);
    glDeleteFramebuffers(1, &a->pass);
    glDeleteTextures(1, &a->sum);
    free(a);
}

void accumulator_clear(Accumulator *a) {
    static const float nothing[4] = {0};
    glClearNamedFramebufferfv(a->pass, GL_COLOR, 0, nothing);
    a->count = 0;
}

static void draw(const Accumulator *a, GLuint program, GLuint from, GLuint to) {
    glBindFramebuffer(GL_FRAMEBUFFER, to);
    glViewport(0, 0, a->width, a->height);
    glDisable(GL_DEPTH_TEST);
    glBindTextureUnit(0, from);
    glBindVertexArray(a->empty_array);
    glUseProgram(program);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glBindTextureUnit(0, 0);
}

void accumulator_add(Accumulator *a, unsigned texture) {
    glEnable(GL_BLEND);
    glBlendFunc(GL_ONE, GL_ONE);
    draw(a, a->add, texture, a->pass);
    glDisable(GL_BLEND);
    a->count++;
}

void accumulator_finish(Accumulator *a, unsigned framebuffer) {
    glProgramUniform1f(a->mean, 0, (float)a->count);
    draw(a, a->mean, a->sum, framebuffer);
}
