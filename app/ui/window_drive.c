// SPDX-License-Identifier: MIT
// Driving the vehicle of a scene: the arrow keys while they are held, or the left stick of a gamepad. Both sides stop when
// everything is released. A request is left only when it differs from the last, so that the log of a take stays short, and
// none before the first touch: until then the wheels turn as the scene says. The camera moves with the body that the scene
// names, which is that of its vehicle in most.
#include "app/ui/window_parts.h"

#include <math.h>

static const double DEAD = 0.15; // of a stick that is let go and does not quite come back
static const double NOTCH = 8;   // positions of a stick on each side

static double held(const Window *w, int key) { return w->keys[key] ? 1 : 0; }

static double notched(float stick) { return fabs(stick) < DEAD ? 0 : round(NOTCH * stick) / NOTCH; }

// Adds the left stick of the first gamepad there is. Its axes point right and down.
static void add_gamepad(double *ahead, double *turn) {
    GLFWgamepadstate state;
    for (int pad = GLFW_JOYSTICK_1; pad <= GLFW_JOYSTICK_LAST; pad++) {
        if (!glfwJoystickIsGamepad(pad) || !glfwGetGamepadState(pad, &state)) continue;
        *ahead -= notched(state.axes[GLFW_GAMEPAD_AXIS_LEFT_Y]);
        *turn += notched(state.axes[GLFW_GAMEPAD_AXIS_LEFT_X]);
        return;
    }
}

// What both sides are asked for: a turn to the right is the left side ahead of the right one.
static void read_sides(const Window *w, double sides[2]) {
    double ahead = 0, turn = 0;
    if (!interface_wants_keyboard(w->interface)) {
        ahead = held(w, GLFW_KEY_UP) - held(w, GLFW_KEY_DOWN);
        turn = held(w, GLFW_KEY_RIGHT) - held(w, GLFW_KEY_LEFT);
    }
    add_gamepad(&ahead, &turn);
    sides[0] = fmax(-1, fmin(1, ahead + turn));
    sides[1] = fmax(-1, fmin(1, ahead - turn));
}

void window_handle_drive(Window *w) {
    WindowDrive *drive = &w->drive;
    if (drive->scene != w->scene.version) *drive = (WindowDrive){.scene = w->scene.version};
    if (!w->scene.drivable) return;
    double sides[2], fastest = w->scene.fastest_wheels;
    read_sides(w, sides);
    if (sides[0] == drive->sides[0] && sides[1] == drive->sides[1]) return;
    Act act = {.kind = ACT_DRIVE, .vector = {fastest * sides[0], fastest * sides[1], 0}};
    if (!engine_ask(w->engine, &act)) return; // too many wait: in the next frame
    drive->sides[0] = sides[0];
    drive->sides[1] = sides[1];
}

void window_follow_body(Window *w) {
    Panel *panel = w->panel;
    const EngineFrame *frame = w->frame;
    SandVec3 to = v3_madd(frame->follow_moved, -frame->render_scene.back, frame->follow_velocity);
    if (!panel->follow && w->scene.follows) to = panel->followed; // it stays where it has come to
    SandVec3 by = v3_sub(to, panel->followed);
    panel->followed = to;
    w->frame->render_scene.followed = w->frame->beside.render_scene.followed = to;
    if (w->fly || (w->follow && w->path.count)) return; // a person or the keys of a take move the camera
    camera_shift(&w->camera, by);
    camera_shift(&w->unmoved, by);
}
