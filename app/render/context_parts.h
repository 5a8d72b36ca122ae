// SPDX-License-Identifier: MIT
// What the two kinds of context share: the off-screen one of context.c and the window of window_context.c.
#pragma once
#include "app/render/context.h"

#include <glad/gl.h>

struct Context {
    void (*close)(Context *context); // gives back what its kind has opened; NULL: nothing is open
    void *window;                    // GLFWwindow; NULL off-screen
    void *display, *egl;             // EGLDisplay and EGLContext, off-screen
    int width, height;               // off-screen
    char renderer[128];
    int error_count;
    char first_error[400];
};

typedef bool ContextOpener(Context *context, const ContextDef *def, SandError *error);
// Creates a context that `open` opens; NULL with a sentence on failure.
Context *context_create_by(ContextOpener *open, const ContextDef *def, SandError *error);
// Loads the functions of the context that is current, and listens to its driver.
bool context_load(Context *context, GLADloadfunc find, SandError *error);
