// SPDX-License-Identifier: MIT
// The demo in the window: goes through a playlist by itself until a person touches keys or mouse, and on again a minute
// after the last touch.
#include "app/ui/window_parts.h"

#include "app/ui/show_caption.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double PATIENCE = 180; // s for a scene to open, after which the next has its turn
static const double MOVED = 0.01;   // of the window: a mouse that was pushed, not shaken by the table

static void ask(Window *w, Act act) { engine_ask(w->engine, &act); }

// Whether a person did anything since the last frame.
static bool is_touched(Window *w) {
    WindowDemo *demo = &w->demo;
    bool touched = w->event_count > 0 || w->scroll != 0 || w->press_count > 0;
    double x, y;
    glfwGetCursorPos(w->glfw, &x, &y);
    bool pushed = fabs(x - demo->mouse_x) > MOVED * w->width || fabs(y - demo->mouse_y) > MOVED * w->height;
    if (pushed || !demo->has_mouse) {
        demo->mouse_x = x;
        demo->mouse_y = y;
    }
    touched = touched || (pushed && demo->has_mouse);
    demo->has_mouse = true;
    return touched;
}

static void end_race(Window *w) {
    if (!w->demo.races) return;
    ask(w, (Act){.kind = ACT_RACE_CANCEL});
    w->panel->racing.theater = false;
    w->demo.races = false;
}

static void open_scene(Window *w) {
    const PlaylistScene *scene = show_scene(w->def->show);
    end_race(w);
    w->demo.balls = 0;
    Act act = {.kind = ACT_SCENE, .number = scene->bodies};
    snprintf(act.text, sizeof act.text, "%s", scene->scene);
    w->demo.before = w->scene.version;
    w->demo.asked = true;
    w->demo.waited = 0;
    ask(w, (Act){.kind = ACT_BESIDE});
    ask(w, act);
    ask(w, (Act){.kind = ACT_PLAY, .number = 1});
}

// Waits until the scene is there to see, and sets it up.
static void await_scene(Window *w, double elapsed) {
    WindowDemo *demo = &w->demo;
    Show *show = w->def->show;
    const PlaylistScene *scene = show_scene(show);
    if (!demo->asked) open_scene(w);
    demo->waited += elapsed;
    if (demo->waited > PATIENCE) {
        show_next(show);
        demo->asked = false;
        return;
    }
    if (!w->frame || w->frame->scene_version <= demo->before || w->frame->scene_version != w->scene.version) return;
    show->is_open = true;
    w->panel->color = scene->color;
    w->panel->chains = scene->chains;
    w->panel->speed = scene->speed;
    ask(w, (Act){.kind = ACT_COLOR, .number = scene->color});
    ask(w, (Act){.kind = ACT_CHAINS, .number = scene->chains});
    ask(w, (Act){.kind = ACT_SPEED, .number = scene->speed});
}

// Races these solvers, `a,b`, on the step that is shown.
static void race(Window *w, const char *solvers) {
    PanelRace *racing = &w->panel->racing;
    for (int i = 0; i < sand_solver_count() && i < SAND_RACE_MOST; i++) {
        const char *name = sand_solver_table[i].name, *at = solvers;
        size_t length = strlen(name);
        while (at && (strncmp(at, name, length) != 0 || (at[length] && at[length] != ',')))
            at = (at = strchr(at, ',')) ? at + 1 : NULL;
        racing->chosen[i] = at != NULL;
    }
    panel_start_race(w->panel);
    w->demo.races = true;
}

static void carry_out(Window *w, const PlaylistAct *act) {
    Act solve = {.kind = act->kind == PLAYLIST_BESIDE ? ACT_BESIDE : ACT_SOLVE, .number = 1, .solve = w->scene.solve};
    switch (act->kind) {
    case PLAYLIST_FLIP: ask(w, (Act){.kind = ACT_FLIP}); break;
    case PLAYLIST_THROW: input_throw(w->engine, w->frame, &w->camera, window_aspect(w), 0.5, 0.5); break;
    case PLAYLIST_GRAVITY: ask(w, (Act){.kind = ACT_GRAVITY, .vector = act->gravity}); break;
    case PLAYLIST_DRIVE: ask(w, (Act){.kind = ACT_DRIVE, .vector = {act->speeds[0], act->speeds[1], 0}}); break;
    case PLAYLIST_RACE: race(w, act->solvers); break;
    case PLAYLIST_ALONE:
        end_race(w);
        ask(w, (Act){.kind = ACT_BESIDE});
        ask(w, (Act){.kind = ACT_PLAY, .number = 1});
        break;
    case PLAYLIST_BESIDE:
    case PLAYLIST_SOLVE:
        playlist_act_solve(act, &solve.solve);
        ask(w, solve);
        break;
    case PLAYLIST_COLOR:
        w->panel->color = act->color;
        ask(w, (Act){.kind = ACT_COLOR, .number = act->color});
        break;
    case PLAYLIST_CAPTION: break; // the show has it
    }
}

static void aim_camera(Window *w) {
    const RenderScene *scene = &w->frame->render_scene;
    const Show *show = w->def->show;
    ShowView view = {.width = w->width, .height = w->height};
    SandError error;
    if (!show_aim(show, &view, scene, window_aspect(w) * w->height, &w->camera, &error)) return;
    camera_turn(&w->camera, v3_scale(0.5, v3_add(scene->lower, scene->upper)), show_angle(show));
    camera_shift(&w->camera, w->panel->followed);
    w->reframe = 0;
}

// --- visitors -------------------------------------------------------------------------------------------------

static bool invites(const Window *w) { return w->def->show->is_open && *show_scene(w->def->show)->invite; }

// A ball for a press of a key or a button, at most 30 of them and none within 0.4 s of another, so that the scene stays what
// it is.
static void play_along(Window *w) {
    enum { MOST_BALLS = 30 };
    const double PAUSE = 0.4; // s
    WindowDemo *demo = &w->demo;
    bool pressed = w->press_count > 0;
    double x = 0.5, y = 0.5 + 0.5 * show_margin(w->width, w->height) / w->height;
    for (int k = 0; k < w->event_count; k++) {
        if (!w->events[k].down) continue;
        pressed = true;
        x = w->events[k].x;
        y = w->events[k].y;
    }
    if (!pressed || demo->balls >= MOST_BALLS || demo->seconds - demo->thrown < PAUSE) return;
    demo->balls++;
    demo->thrown = demo->seconds;
    input_throw(w->engine, w->frame, &w->camera, window_aspect(w), x, y);
}

// Whether what a visitor did is theirs to do while the demo goes on: then nothing is left of it for the window.
static bool is_for_demo(Window *w, bool touched) {
    Show *show = w->def->show;
    bool leaves = w->press_count > 0 && w->presses[0].key == GLFW_KEY_ESCAPE;
    if (!touched || w->demo.taken || (!w->def->kiosk && (!invites(w) || leaves))) return false;
    if (invites(w))
        play_along(w);
    else if (w->press_count + w->event_count > 0 && show_seek_invitation(show)) // the visitor's turn comes at once
        w->demo.asked = false;
    return true;
}

static void play(Window *w, double elapsed) {
    Show *show = w->def->show;
    if (!show->is_open) await_scene(w, elapsed);
    int first, due = show_advance(show, fmin(elapsed, 0.5), &first);
    for (int k = first; k < due; k++) carry_out(w, &show_scene(show)->acts[k]);
    if (w->frame) aim_camera(w);
    if (!show_is_over(show)) return;
    show_next(show);
    w->demo.asked = false;
}

void window_demo_begin(Window *w) {
    if (!w->def->show) return;
    w->demo.asked = true; // the first scene opens with the window
    w->panel->hidden = true;
    w->panel->first_start = false;
    w->panel->ask_on_close = false; // what the demo did is lost to nobody
    if (!w->def->fullscreen) return;
    GLFWmonitor *monitor = glfwGetPrimaryMonitor();
    const GLFWvidmode *mode = monitor ? glfwGetVideoMode(monitor) : NULL;
    if (mode) glfwSetWindowMonitor(w->glfw, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
}

void window_demo_step(Window *w, double elapsed) {
    WindowDemo *demo = &w->demo;
    if (!w->def->show) return;
    bool touched = is_touched(w);
    demo->seconds += elapsed;
    if (is_for_demo(w, touched)) touched = false;
    if (!demo->taken) {
        if (!touched) w->press_count = w->event_count = 0;
        w->scroll = touched ? w->scroll : 0;
    }
    if (touched && !demo->taken) {
        demo->taken = true;
        end_race(w);
        panel_hide(w->panel, false);
        panel_say(w->panel, "The run is yours. A minute after your last touch the demo goes on.");
        if (w->presses[0].key == GLFW_KEY_ESCAPE) w->press_count = 0; // it only stopped the demo
    }
    demo->untouched = touched ? 0 : demo->untouched + elapsed;
    if (demo->taken && demo->untouched > w->def->give_back) {
        demo->taken = false;
        demo->asked = false;
        panel_hide(w->panel, true);
        show_next(w->def->show);
    }
    w->panel->locked = !demo->taken;
    if (demo->taken) w->panel->reserved = 0;
    glfwSetInputMode(w->glfw, GLFW_CURSOR, demo->taken ? GLFW_CURSOR_NORMAL : GLFW_CURSOR_HIDDEN);
    if (!demo->taken) play(w, elapsed);
}

void window_demo_draw(Window *w) {
    if (!w->def->show || w->demo.taken) return;
    ShowView view = {w->width, w->height, true, w->demo.seconds};
    Box caption = show_draw(w->def->show, &view);
    w->panel->reserved = fmax(show_margin(w->width, w->height), box_is_empty(caption) ? 0 : w->height - caption.top);
}

double window_scale(const Window *w) {
    if (w->def->show && !w->demo.taken) return show_scale(w->width, w->height);
    return w->ui_scale > 0 ? w->ui_scale : context_scale(w->context);
}
