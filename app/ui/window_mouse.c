// SPDX-License-Identifier: MIT
// The mouse over the picture: events in the order in which they came, and flying.
#include <math.h>

#include "app/ui/window_parts.h"

static const double CLICK = 4; // pixels; a press that moves less is a click

static void place_of(Window *w, double *x, double *y) {
    int wide, high;
    glfwGetCursorPos(w->glfw, x, y);
    glfwGetWindowSize(w->glfw, &wide, &high); // the cursor position is in screen units
    *x /= wide > 0 ? wide : 1;
    *y = 1 - *y / (high > 0 ? high : 1);
}

void window_on_button(GLFWwindow *glfw, int button, int action, int mods) {
    Window *w = glfwGetWindowUserPointer(glfw);
    if (button > 2 || w->event_count == MOUSE_EVENTS) return;
    MouseEvent *event = &w->events[w->event_count++];
    *event = (MouseEvent){.button = button, .down = action == GLFW_PRESS, .grab = mods & GLFW_MOD_CONTROL};
    place_of(w, &event->x, &event->y);
}

void window_on_scroll(GLFWwindow *glfw, double x, double y) {
    (void)x;
    ((Window *)glfwGetWindowUserPointer(glfw))->scroll += y;
}

// Where a point of the window is in the picture of the half that the mouse is in; a drag stays with its half.
static double in_picture(Window *w, double x) {
    if (!w->frame || !w->frame->beside.on) return x;
    SplitArea area = window_split(w, w->width).area;
    if (w->input.mode == INPUT_IDLE && !w->fly) w->input.side = x * w->width > split_middle(&area);
    return (x * w->width - split_left(&area, w->input.side)) / area.half;
}

// Flying: the captured mouse looks around, and held keys move the camera.
static void fly(Window *w, double x, double y, double elapsed) {
    const RenderScene *scene = &w->frame->render_scene;
    x = in_picture(w, x);
    input_fly(&w->camera, (x - w->input.x) * window_aspect(w), y - w->input.y, window_fly_direction(w), fmin(elapsed, 0.5),
              v3_length(v3_sub(scene->upper, scene->lower)));
    w->input.x = x;
    w->input.y = y;
}

static void move_to(Window *w, double x, double y) {
    x = in_picture(w, x);
    if (w->input.mode != INPUT_IDLE)
        input_move(&w->input, w->engine, w->frame, &w->camera, window_aspect(w), x, y);
    else
        w->input.x = x, w->input.y = y;
}

// Brings the bodies of the picture that the mouse is in to the host, where they are picked.
static void fetch_bodies(Window *w) {
    SandError error;
    bool second = w->input.side && w->frame->beside.on;
    RenderScene *scene = second ? &w->frame->beside.render_scene : &w->frame->render_scene;
    if (!render_scene_read_store(scene, &error)) panel_say(w->panel, error.text);
}

// Left: orbit, or with Ctrl drag a body; right or middle: pan. A click picks the body under the mouse; an orbit does not.
static void handle(Window *w, const MouseEvent *event) {
    double aspect = window_aspect(w), x = in_picture(w, event->x);
    if (event->down && w->button < 0 && !interface_wants_mouse(w->interface)) {
        bool grab = event->grab && event->button == 0;
        if (grab && w->frame) fetch_bodies(w);
        w->button = event->button;
        w->press_x = event->x;
        w->press_y = event->y;
        input_press(&w->input, w->engine, w->frame, &w->camera, &w->look, aspect, x, event->y, event->button != 0, grab);
        return;
    }
    if (event->down || event->button != w->button) return;
    move_to(w, event->x, event->y);
    bool click = hypot((event->x - w->press_x) * w->width, (event->y - w->press_y) * w->height) < CLICK;
    if (click && w->button == 0 && w->input.mode == INPUT_ORBIT && w->frame) {
        fetch_bodies(w);
        w->clicks++;
        input_click(&w->input, w->frame, &w->camera, &w->look, aspect, x, event->y);
    }
    input_release(&w->input, w->engine);
    w->button = -1;
}

void window_handle_mouse(Window *w, double elapsed) {
    double x, y;
    place_of(w, &x, &y);
    if (w->fly && w->frame) {
        fly(w, x, y, elapsed);
        w->event_count = 0;
        return;
    }
    for (int k = 0; k < w->event_count; k++) handle(w, &w->events[k]);
    w->event_count = 0;
    move_to(w, x, y);
    if (w->scroll != 0 && !interface_wants_mouse(w->interface)) camera_zoom(&w->camera, pow(1.15, w->scroll));
    w->scroll = 0;
}
