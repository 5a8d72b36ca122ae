// SPDX-License-Identifier: MIT
// The keys of the window: what each does, and what the help says of it.
#include <math.h>
#include <stdio.h>

#include "app/ui/window_parts.h"

static void ask(Window *w, Act act) { engine_ask(w->engine, &act); }

static void play_or_pause(Window *w) { ask(w, (Act){.kind = ACT_TOGGLE}); }
static void step(Window *w) { ask(w, (Act){.kind = ACT_STEP, .number = 1}); }
static void step_back(Window *w) { ask(w, (Act){.kind = ACT_BACK, .number = 1}); }
static void reset(Window *w) { ask(w, (Act){.kind = ACT_RESET}); }
static void flip(Window *w) { ask(w, (Act){.kind = ACT_FLIP}); }
static void throw_ball(Window *w) { input_throw(w->engine, w->frame, &w->camera, window_aspect(w), w->input.x, w->input.y); }
static void next_color(Window *w) {
    w->panel->color = (w->panel->color + 1) % RENDER_COLOR_COUNT;
    ask(w, (Act){.kind = ACT_COLOR, .number = w->panel->color});
}
// Chooses the next solver that supports this friction on this backend.
static void next_solver(Window *w) {
    SandSolveDef next = w->panel->solve;
    int now = next.solver;
    do {
        sand_solve_choose(&next, (next.solver + 1) % sand_solver_count());
    } while (next.solver != now && !panel_solver_fits(&next, &w->scene));
    panel_choose_solver(w->panel, next.solver);
}
static void beside(Window *w) { panel_toggle_beside(w->panel, &w->scene); }
static void race(Window *w) { panel_start_race(w->panel); }
static void set_speed(Window *w, double speed) { ask(w, (Act){.kind = ACT_SPEED, .number = w->panel->speed = speed}); }
static void faster(Window *w) { set_speed(w, fmin(8, 2 * w->panel->speed)); }
static void slower(Window *w) { set_speed(w, fmax(1.0 / 64, 0.5 * w->panel->speed)); }
static void next_quality(Window *w) { w->look.quality = (w->look.quality + 1) % QUALITY_COUNT; }
static void toggle_help(Window *w) { w->panel->help = !w->panel->help; }
static void toggle_panel(Window *w) { panel_hide(w->panel, !w->panel->hidden); }
static void take_picture(Window *w) { w->picture_due = true; }

static void toggle_follow(Window *w) {
    w->panel->follow = !w->panel->follow;
    const char *text = w->panel->follow ? "The camera follows the vehicle." : "The camera stays where it is.";
    panel_say(w->panel, w->scene.follows ? text : "There is nothing to follow in this scene.");
}

void window_toggle_fly(Window *w) {
    w->fly = !w->fly;
    glfwSetInputMode(w->glfw, GLFW_CURSOR, w->fly ? GLFW_CURSOR_DISABLED : GLFW_CURSOR_NORMAL);
    if (w->fly) panel_say(w->panel, "Flying: W A S D, Q down, E up, the mouse looks about; V or Esc ends it.");
}

// Closes what is open over the picture, the topmost first; never the program.
static void escape(Window *w) {
    if (w->fly)
        window_toggle_fly(w);
    else if (!interface_close_list(w->interface) && !panel_close_topmost(w->panel))
        panel_say(w->panel, w->def->show ? "Nothing is open."
                                         : "Nothing is open. Ctrl+Q, or the cross of the window, closes the program.");
}

// All keys, in the order in which the help shows them.
static const struct Key {
    int key;
    void (*act)(Window *w);
} keys[] = {
    {GLFW_KEY_SPACE, play_or_pause},
    {GLFW_KEY_PERIOD, step},
    {GLFW_KEY_COMMA, step_back},
    {GLFW_KEY_R, reset},
    {GLFW_KEY_F, flip},
    {GLFW_KEY_B, throw_ball},
    {GLFW_KEY_S, next_solver},
    {GLFW_KEY_D, beside},
    {GLFW_KEY_G, race},
    {GLFW_KEY_C, next_color},
    {GLFW_KEY_Q, next_quality},
    {GLFW_KEY_HOME, window_frame_scene},
    {GLFW_KEY_EQUAL, faster},
    {GLFW_KEY_MINUS, slower},
    {GLFW_KEY_P, take_picture},
    {GLFW_KEY_T, window_save_new_take},
    {GLFW_KEY_K, window_add_camera_key},
    {GLFW_KEY_V, window_toggle_fly},
    {GLFW_KEY_L, toggle_follow},
    {GLFW_KEY_TAB, toggle_panel},
    {GLFW_KEY_F1, toggle_help},
    {GLFW_KEY_ESCAPE, escape},
};
enum { KEY_COUNT = sizeof keys / sizeof *keys };
const PanelKey window_key_texts[] = {
    {"Space", "run or pause", true},
    {".", "one step forward", false},
    {",", "one step back", false},
    {"R", "the scene from its start", false},
    {"F", "turn the glass over", true},
    {"B", "throw a heavy ball where the mouse points", true},
    {"S", "the next solver", true},
    {"D", "two solvers side by side", false},
    {"G", "race the solvers on this step", true},
    {"C", "the next color mode", false},
    {"Q", "the next quality of the picture", false},
    {"Home", "see the whole scene", false},
    {"+", "time runs faster", false},
    {"-", "time runs slower", false},
    {"P", "save a picture, without the panel", false},
    {"T", "save the run as a take", false},
    {"K", "camera key: the film of the take sees this", false},
    {"V", "fly: W A S D, Q E, mouse; again ends it", false},
    {"L", "the camera follows the vehicle, or stays", false},
    {"arrows", "drive the vehicle of the scene; a gamepad does it too", false},
    {"Tab", "hide or show the panel", false},
    {"F1", "all keys", true},
    {"Esc", "close what is open", false},
    {"Ctrl+Q", "close the program", false},
    {"1 to 9", "go to a kept view or a camera of the scene; with Shift: keep the view", false},
    {"click", "pick a body: its figures and forces", false},
    {"left drag", "orbit; with Ctrl on a body: drag the body", false},
    {"right drag", "shift the view", false},
    {"wheel", "closer or further away", false},
    {NULL, NULL, false},
};

// Keys of flying, with their directions: right, up, forward.
static const struct FlyKey {
    int key;
    double right, up, forward;
} fly_keys[] = {{GLFW_KEY_W, 0, 0, 1}, {GLFW_KEY_S, 0, 0, -1}, {GLFW_KEY_A, -1, 0, 0},
                {GLFW_KEY_D, 1, 0, 0}, {GLFW_KEY_Q, 0, -1, 0}, {GLFW_KEY_E, 0, 1, 0}};
enum { FLY_KEYS = sizeof fly_keys / sizeof *fly_keys };

SandVec3 window_fly_direction(const Window *w) {
    SandVec3 direction = {0, 0, 0};
    for (int k = 0; k < FLY_KEYS; k++)
        if (w->keys[fly_keys[k].key])
            direction = v3_add(direction, v3_make(fly_keys[k].right, fly_keys[k].up, fly_keys[k].forward));
    return direction;
}

static bool is_waiting(const Window *w, int key) {
    for (int k = 0; k < w->press_count; k++)
        if (w->presses[k].key == key) return true;
    return false;
}

// A key together with Ctrl, Alt or Super belongs to others: Ctrl+C must not change the colors. Every press counts, also when
// several come between two frames; the repetitions of a held key count once a frame, so that none is left when it is let go.
void window_on_key(GLFWwindow *glfw, int key, int code, int action, int mods) {
    (void)code;
    Window *w = glfwGetWindowUserPointer(glfw);
    if (key == GLFW_KEY_KP_ADD) key = GLFW_KEY_EQUAL;
    if (key == GLFW_KEY_KP_SUBTRACT) key = GLFW_KEY_MINUS;
    if (key < 0 || key > GLFW_KEY_LAST) return;
    w->keys[key] = action != GLFW_RELEASE;
    if (action == GLFW_RELEASE) return;
    if (key == GLFW_KEY_Q && mods == GLFW_MOD_CONTROL) context_close(w->context);
    if (mods & (GLFW_MOD_CONTROL | GLFW_MOD_ALT | GLFW_MOD_SUPER)) return;
    if (action == GLFW_REPEAT && is_waiting(w, key)) return;
    w->heard++;
    if (w->press_count == KEY_PRESSES) return;
    w->presses[w->press_count++] = (KeyPress){.key = key, .shifted = mods & GLFW_MOD_SHIFT};
}

// A digit goes to a kept view, else to a camera of the scene; with Shift it keeps the current view.
static void handle_bookmark(Window *w, const KeyPress *press) {
    Bookmarks *marks = &w->panel->bookmarks;
    const RenderScene *scene = &w->frame->render_scene;
    int i = press->key - GLFW_KEY_1;
    if (i < 0 || i >= BOOKMARKS) return;
    char text[64];
    snprintf(text, sizeof text, press->shifted ? "View %d is kept." : "There is no view %d yet.", i + 1);
    if (press->shifted) {
        marks->kept[i] = true;
        marks->views[i] = camera_view(&w->camera, scene->origin);
    } else if (marks->kept[i]) {
        camera_set(&w->camera, &marks->views[i], scene->origin, scene->lower, scene->upper);
    } else if (camera_of_studio(&w->camera, &scene->studio, i, scene->origin, scene->lower, scene->upper)) {
        camera_shift(&w->camera, w->panel->followed);
        snprintf(text, sizeof text, "Camera: %s", scene->studio.cameras[i].name);
        panel_say(w->panel, text);
        return;
    }
    if (press->shifted || !marks->kept[i]) panel_say(w->panel, text);
}

static bool flies_with(const Window *w, int key) {
    bool used = false;
    for (int k = 0; k < FLY_KEYS && w->fly; k++) used = used || fly_keys[k].key == key;
    return used; // while flying these keys do nothing else
}

void window_handle_keys(Window *w) {
    bool typing = interface_wants_keyboard(w->interface);
    for (int n = 0; n < w->press_count && !typing; n++) {
        const KeyPress *press = &w->presses[n];
        if (flies_with(w, press->key)) continue;
        for (int k = 0; k < KEY_COUNT; k++)
            if (keys[k].key == press->key) keys[k].act(w);
        if (w->frame) handle_bookmark(w, press);
    }
    w->press_count = 0;
}
