// SPDX-License-Identifier: MIT
// Shared by the rendering tests: a context with a renderer, drawing, and reading pixels back.
#pragma once
#include "tests/lab/lab.h"

#include <glad/gl.h>

#include "app/render/context.h"
#include "app/render/renderer.h"

static Context *context;
static Renderer *renderer;

static inline int open_context(Context *(*create)(const ContextDef *, SandError *), const ContextDef *def) {
    SandError error = {""};
    context = create(def, &error);
    renderer = context ? renderer_create(&error) : NULL;
    if (!renderer) fprintf(stderr, "%s\n", error.text);
    return renderer ? 0 : -1;
}

// Opens a context on Mesa's software renderer, which gives the same bits from run to run.
static inline int open_off_screen(void **state) {
    (void)state;
    ContextDef def = context_default();
    def.software = true;
    return open_context(context_create, &def);
}

static inline int close_context(void **state) {
    (void)state;
    renderer_free(renderer);
    context_free(context);
    return 0;
}

// Fails if the driver has reported an error in this or an earlier test.
static inline void no_errors(void) {
    if (context_error_count(context))
        fail_msg("the driver reported %d errors, the first: %s", context_error_count(context), context_error(context));
}

static inline void draw(const RenderScene *scene, const Camera *camera, const RendererDef *def, int width, int height) {
    SandError error = {""};
    if (!renderer_draw(renderer, scene, camera, def, width, height, &error)) fail_msg("%s", error.text);
    no_errors();
}

// Returns the pixels as RGBA, rows from the top down.
static inline unsigned char *read_back(int width, int height) {
    size_t row = (size_t)width * 4;
    unsigned char *up = malloc(row * (size_t)height), *down = malloc(row * (size_t)height);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, renderer_framebuffer(renderer));
    glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, up);
    for (int y = 0; y < height; y++) memcpy(down + (size_t)y * row, up + (size_t)(height - 1 - y) * row, row);
    free(up);
    return down;
}
