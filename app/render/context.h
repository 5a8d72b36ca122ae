// An OpenGL 4.5 core context: a window (GLFW), or off-screen (EGL) with the same interface. One at a time in a program.
#pragma once
#include "sandglass/error.h"

typedef struct ContextDef {
    bool window;       // false: off-screen, which needs neither a display nor a window system
    int width, height; // of the window in screen units; off-screen pictures have a target of their own
    const char *title;
    bool visible;  // false: the window stays hidden, for tests
    bool software; // off-screen: take Mesa's software renderer even where there is a GPU, for golden pictures
} ContextDef;
ContextDef context_default(void);

typedef struct Context Context;

// NULL with a sentence where it cannot be had. The context is current on the calling thread.
Context *context_create(const ContextDef *def, SandError *error);
void context_free(Context *context);

void context_swap(Context *context);                 // shows what was drawn; off-screen nothing
void context_poll(Context *context, double seconds); // takes events in, waiting so long for the first; off-screen nothing
void context_finish(const Context *context);         // waits until all that was given to the driver is drawn
bool context_is_software(void);                      // a processor draws: Mesa's, in the context that is current
bool context_closing(const Context *context);        // the person closed the window
void context_close(Context *context);
void context_size(const Context *context, int *width, int *height); // of the framebuffer, in pixels
float context_scale(const Context *context);                        // pixels for each unit of text and widgets
void *context_window(const Context *context);                       // GLFWwindow for input, NULL off-screen

const char *context_renderer(const Context *context); // what draws, as the driver calls it
int context_error_count(const Context *context);      // errors the driver reported since the start
const char *context_error(const Context *context);    // the first of them, "" when there was none
