// SPDX-License-Identifier: MIT
// An OpenGL 4.5 core context, in a window (GLFW) or off-screen (EGL), behind one interface. One at a time.
#pragma once
#include "sandglass/error.h"

typedef struct ContextDef {
    int width, height; // of the window in screen units; off-screen pictures have their own targets
    const char *title;
    bool visible;  // false: the window stays hidden, for tests
    bool software; // off-screen: Mesa's software renderer even where there is a GPU, for golden pictures
} ContextDef;
ContextDef context_default(void);

typedef struct Context Context;

// NULL with a sentence on failure. Leave the context current on the calling thread.
Context *context_create(const ContextDef *def, SandError *error); // off-screen: needs neither display nor window system
Context *context_create_window(const ContextDef *def, SandError *error);
void context_free(Context *context);
// Makes an off-screen context current on the calling thread, or takes it from there, so that another thread may have it.
bool context_bind(const Context *context, bool current, SandError *error);

void context_swap(Context *context);                 // presents the frame; no effect off-screen
void context_poll(Context *context, double seconds); // handles events, waiting this long for the first; no effect off-screen
void context_finish(const Context *context);         // waits until all issued draw calls are done
bool context_is_software(void);                      // whether the current context is Mesa's software renderer
bool context_closing(const Context *context);        // the user closed the window
void context_close(Context *context);
void context_stay(Context *context);                                // takes a close back
void context_size(const Context *context, int *width, int *height); // of the framebuffer, in pixels
float context_scale(const Context *context);                        // pixels for each unit of text and widgets
void *context_window(const Context *context);                       // GLFWwindow for input, NULL off-screen

const char *context_renderer(const Context *context); // GL_RENDERER
int context_error_count(const Context *context);      // errors the driver reported since the start
const char *context_error(const Context *context);    // the first of them, "" when there was none
