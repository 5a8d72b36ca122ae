// SPDX-License-Identifier: MIT
// Contexts in a window, through GLFW.
#include "app/render/context_parts.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

static void close_window(Context *context) {
    glfwDestroyWindow(context->window);
    glfwTerminate();
}

static bool open_window(Context *context, const ContextDef *def, SandError *error) {
    const char *why = NULL;
    if (!glfwInit()) {
        glfwGetError(&why);
        return sand_fail(error, "no window: %s", why ? why : "GLFW does not start");
    }
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 4);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 5);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_DEBUG_CONTEXT, GLFW_TRUE);
    glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
    glfwWindowHint(GLFW_VISIBLE, def->visible);
    glfwWindowHintString(GLFW_X11_CLASS_NAME, "sandglass"); // the desktop file names it
    glfwWindowHintString(GLFW_X11_INSTANCE_NAME, "sandglass");
    // All drawing goes into our own targets; the window needs neither depth nor samples.
    glfwWindowHint(GLFW_DEPTH_BITS, 0);
    glfwWindowHint(GLFW_STENCIL_BITS, 0);
    context->window = glfwCreateWindow(def->width, def->height, def->title, NULL, NULL);
    if (!context->window) {
        glfwGetError(&why);
        glfwTerminate();
        return sand_fail(error, "no window: %s", why ? why : "GLFW gives none");
    }
    context->close = close_window;
    glfwMakeContextCurrent(context->window);
    glfwSwapInterval(1);
    return context_load(context, (GLADloadfunc)glfwGetProcAddress, error);
}

Context *context_create_window(const ContextDef *def, SandError *error) {
    return context_create_by(open_window, def, error);
}

void context_swap(Context *context) {
    if (context->window) glfwSwapBuffers(context->window);
}

void context_poll(Context *context, double seconds) {
    if (!context->window) return;
    if (seconds > 0)
        glfwWaitEventsTimeout(seconds);
    else
        glfwPollEvents();
}

bool context_closing(const Context *context) { return context->window && glfwWindowShouldClose(context->window); }

void context_close(Context *context) {
    if (context->window) glfwSetWindowShouldClose(context->window, GLFW_TRUE);
}

void context_stay(Context *context) {
    if (context->window) glfwSetWindowShouldClose(context->window, GLFW_FALSE);
}

void context_size(const Context *context, int *width, int *height) {
    *width = context->width;
    *height = context->height;
    if (context->window) glfwGetFramebufferSize(context->window, width, height);
}

float context_scale(const Context *context) {
    float x = 1, y = 1;
    if (context->window) glfwGetWindowContentScale(context->window, &x, &y);
    return x > y ? x : y;
}

void *context_window(const Context *context) { return context->window; }
