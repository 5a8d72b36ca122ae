// SPDX-License-Identifier: MIT
// The window: draws the newest frame of the engine, interpolated within its step, and turns keys and mouse into requests. It
// never waits for the simulation. window_run is the loop, draw is one frame of it.
#include "app/ui/window_parts.h"

#include "app/ui/settings.h"
#include "sim/core/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REFRAME = 4 };

static void ask(Window *w, Act act) { engine_ask(w->engine, &act); }

// Applies the camera option.
static void set_camera(Window *w) {
    const RenderScene *scene = &w->frame->render_scene;
    SandError error;
    if (!camera_parse(&w->camera, w->preset, &scene->studio, scene->origin, scene->lower, scene->upper, window_aspect(w),
                      &error))
        panel_say(w->panel, error.text);
    camera_shift(&w->camera, w->panel->followed);
    w->preset = NULL;
}

// --- frames -----------------------------------------------------------------------------------------------

static void show_messages(Window *w) {
    char messages[8][SAND_SENTENCE];
    int count;
    while ((count = engine_messages(w->engine, messages, 8)) > 0)
        for (int i = 0; i < count; i++)
            if (panel_hear(w->panel, messages[i])) fprintf(stderr, "sandglass: %s\n", messages[i]);
}

// Fetches the newest frame and advances the shown time within its step, so that motion is smooth between steps.
static void read_frame(Window *w, double elapsed) {
    EngineFrame *next = engine_frame(w->engine);
    if (next) {
        bool other = w->framed != next->scene_version;
        w->frame = next;
        if (other) w->panel->followed = v3_make(0, 0, 0);
        char before[SAND_NAME];
        memcpy(before, w->scene.name, sizeof before);
        engine_scene(w->engine, &w->scene);
        if (*before && strcmp(before, w->scene.name)) w->path.count = 0; // the keys belong to the other scene
        // A picture of half the width needs another camera, unless the user has chosen one.
        bool unmoved = !memcmp(&w->camera, &w->unmoved, sizeof w->camera);
        if (other || (w->is_split != next->beside.on && unmoved)) w->reframe = REFRAME;
        w->is_split = next->beside.on;
        w->framed = next->scene_version;
    }
    if (!w->frame) return;
    RenderScene *render_scene = &w->frame->render_scene;
    double newest = w->frame->time, step = w->frame->step_seconds;
    w->shown += w->frame->playing ? elapsed * w->panel->speed : 0;
    if (!w->frame->playing || w->shown > newest) w->shown = newest;
    if (w->shown < newest - step) w->shown = newest - step;
    w->moved = next || render_scene->back != newest - w->shown;
    render_scene->time = w->shown;
    render_scene->back = newest - w->shown;
    render_scene->map = w->panel->map;
    RenderScene *second = &w->frame->beside.render_scene;
    second->time = render_scene->time;
    second->back = render_scene->back;
    second->map = render_scene->map;
}

// Asks for the figures of the last picked body; they come with the frames.
static void describe_picked(Window *w) {
    if (w->input.picked != w->picked && engine_ask(w->engine, &(Act){.kind = ACT_PICK, .body = w->input.picked}))
        w->picked = w->input.picked;
    w->panel->picked = w->frame->picked;
    w->panel->camera_keys = w->path.count;
}

// Draws the scene and the panel over it.
static bool draw_scene(Window *w, double elapsed, bool *anew, SandError *error) {
    if (w->pacing.frames == 0) window_frame_scene(w);
    window_follow_path(w);
    window_follow_body(w);
    int width = w->width / w->pacing.coarse, height = w->height / w->pacing.coarse;
    SplitDef def = window_split(w, width);
    *anew = !split_has(w->split, w->renderer, &def, &w->camera, &w->look, width, height);
    if (*anew && !split_draw(w->split, w->renderer, &def, &w->camera, &w->look, width, height, error)) return false;
    engine_drawn(w->engine);
    split_show(w->split, w->renderer, w->width, w->height);
    w->panel->frame_rate = frame_pacing_recent(&w->pacing);
    panel_draw(w->panel, w->frame, &w->scene, &w->camera, &w->look, w->width, w->height, elapsed);
    window_demo_draw(w);
    if (w->reframe > 0) {
        w->reframe--;
        window_frame_scene(w);
        w->has_followed = false; // the user did not move it
    }
    if (w->preset) set_camera(w);
    return true;
}

// Before the first frame of the engine.
static bool await_scene(Window *w, SandError *error) {
    const double FRAME = 0.03; // s
    if (engine_failed(w->engine, error)) return false;
    w->press_count = w->event_count = 0; // for nothing that is there
    if (window_draw_opening(w, &w->panel->work)) engine_cancel(w->engine);
    context_poll(w->context, FRAME);
    return true;
}

static bool draw(Window *w, SandError *error) {
    double elapsed = frame_pacing_begin(&w->pacing, w->moved || w->input.mode != INPUT_IDLE, window_plays(w));
    double scale = window_scale(w);
    context_size(w->context, &w->width, &w->height);
    read_frame(w, elapsed);
    if (w->frame) describe_picked(w);
    show_messages(w);
    if (w->frame) window_note_opening(w);
    if (w->frame) window_watch_file(w);
    if (w->frame) window_turn_over(w);
    engine_work(w->engine, &w->panel->work);
    if (!w->frame) return await_scene(w, error);
    bool anew = false, visible = w->frame && w->width > 0 && w->height > 0; // anew: the scene changed and was drawn again
    if (visible) {
        // The interface comes first: it knows whether the mouse is over the panel now.
        interface_begin(w->interface, w->width, w->height, scale, elapsed);
        window_demo_step(w, elapsed);
        window_handle_keys(w);
        window_handle_drive(w);
        window_handle_mouse(w, elapsed);
        bool drawn = draw_scene(w, elapsed, &anew, error);
        interface_end(w->interface, 0);
        if (!drawn) return false;
        window_save_picture(w, scale);
        window_film(w);
    }
    context_swap(w->context);
    if (w->first_motion == 0 && anew && w->frame->step > 0 && w->frame->kinetic > 0) w->first_motion = sand_seconds();
    context_poll(w->context, frame_pacing_rest(&w->pacing, anew && window_plays(w)));
    return true;
}

// Tells a test what the window shows.
static void report_state(const Window *w) {
    WindowState *state = w->def->state;
    if (!state || !w->frame) return;
    const Panel *panel = w->panel;
    *state = (WindowState){.step = w->frame->step,
                           .playing = w->frame->playing,
                           .bodies = w->frame->bodies,
                           .lost = w->frame->counters.lost_total,
                           .picked = w->frame->picked.body,
                           .clicks = w->clicks,
                           .presses = w->heard,
                           .color = (int)w->frame->render_scene.color,
                           .solver = w->scene.solve.solver,
                           .help = panel->help,
                           .theater = panel->racing.theater,
                           .closing = panel->closing == CLOSING_ASKED,
                           .hidden = panel->hidden,
                           .racing = panel->racing.curves.running,
                           .eye = {w->camera.eye.x, w->camera.eye.y, w->camera.eye.z},
                           .held = w->frame->picked.is_held,
                           .turned = w->turn.turned,
                           .unsaved = window_is_unsaved(w),
                           .beside = w->frame->beside.on ? w->frame->beside.solve.solver : -1};
    const Wheels *wheels = &w->frame->wheels;
    for (int k = 0; k < 2 && wheels->count; k++) state->wheels[k] = wheels->wheels[k ? wheels->count - 1 : 0].spin;
    glfwGetWindowPos(w->glfw, &state->left, &state->top);
    bool current = w->frame->scene_version == w->scene.version; // else the frame is still one of the scene before
    snprintf(state->scene, sizeof state->scene, "%s", current ? w->scene.name : "");
}

// Whether the window may close. Where a film or a run would be lost it asks first, and goes on until there is an answer.
static bool may_close(Window *w) {
    Panel *panel = w->panel;
    panel->filming = w->recording.recorder != NULL;
    panel->unsaved = window_is_unsaved(w);
    if (context_closing(w->context)) {
        if (w->def->kiosk) return context_stay(w->context), false;
        if (!panel->ask_on_close || (!panel->filming && !panel->unsaved)) return true;
        context_stay(w->context);
        panel->closing = CLOSING_ASKED;
    }
    if (panel->closing == CLOSING_SAVES && panel->unsaved) window_save_new_take(w);
    return panel->closing == CLOSING_SAVES || panel->closing == CLOSING_NOW;
}

static void show_title(Window *w, double *next) {
    double now = sand_seconds();
    if (!w->frame || now < *next) return;
    *next = now + 0.5;
    char title[256];
    snprintf(title, sizeof title,
             "Sandglass - %s - %s - t %.2f s - %.2f x real time - %d bodies, %d contacts, residual %.2g", w->scene.name,
             sand_solver_table[w->scene.solve.solver].name, w->frame->time, w->frame->real_time_factor, w->frame->bodies,
             w->frame->counters.contacts, w->frame->counters.metrics.residual);
    glfwSetWindowTitle(w->glfw, title);
}

static bool panel_asks(void *user, const Act *act) { return engine_ask(((Window *)user)->engine, act); }
static void panel_hears(void *user, const char *sentence) {
    const WindowDef *def = ((Window *)user)->def;
    def->on_message(def->user, sentence);
}

WindowDef window_default(void) {
    return (WindowDef){.engine = engine_default(),
                       .look = renderer_default(),
                       .quality = -1,
                       .speed = 1,
                       .give_back = 60,
                       .follow = true,
                       .overlay = {.legend = true}};
}

// Applies the options, as if by the panel.
static void apply(Window *w, const WindowDef *def, const Settings *settings) {
    Panel *p = w->panel;
    p->color = def->color;
    ask(w, (Act){.kind = ACT_COLOR, .number = def->color});
    p->map = def->map;
    p->limits = def->limits;
    ask(w, (Act){.kind = ACT_RANGE, .number = def->limits.mode, .vector = {def->limits.low, def->limits.high, 0}});
    p->chains = def->chains;
    ask(w, (Act){.kind = ACT_CHAINS, .number = def->chains});
    p->overlay = def->overlay;
    p->hidden = def->panel == PANEL_AS_LEFT ? settings->hidden : def->panel == PANEL_OFF;
    w->first_hidden = p->hidden;
    w->kept_hidden = settings->hidden;
    if (p->hidden && !def->show) panel_hide(p, true); // says how to get it back
    p->unfold = def->unfold;
    p->speed = def->speed;
    ask(w, (Act){.kind = ACT_SPEED, .number = def->speed});
    if (def->engine.beside) {
        p->beside = *def->engine.beside;
        p->has_beside = true;
    }
    if (def->shadow) {
        p->shadow = *def->shadow;
        p->shadowing = true;
        ask(w, (Act){.kind = ACT_SHADOW, .number = 1, .solve = *def->shadow});
    }
    // The software renderer is slow: start at low quality there.
    bool software = context_is_software();
    int quality = def->quality >= 0 ? def->quality : settings->quality;
    w->look.quality = quality >= 0 ? (RendererQuality)quality : software ? QUALITY_LOW : QUALITY_HIGH;
    w->first_quality = (int)w->look.quality;
    w->kept_quality = settings->quality;
}

// The window with its interface, which can say what goes on.
static bool begin_window(Window *w, const WindowDef *def, SandError *error) {
    ContextDef context = context_default();
    context.title = "Sandglass";
    if (def->width) {
        context.width = def->width;
        context.height = def->height;
    }
    w->ui_scale = def->ui_scale;
    input_init(&w->input);
    w->picked = w->button = -1;
    w->context = context_create_window(&context, error);
    if (!w->context) return false;
    w->glfw = context_window(w->context);
    glfwSetWindowUserPointer(w->glfw, w);
    glfwSetKeyCallback(w->glfw, window_on_key);
    glfwSetMouseButtonCallback(w->glfw, window_on_button);
    glfwSetScrollCallback(w->glfw, window_on_scroll);
    glfwSetDropCallback(w->glfw, window_on_drop);
    w->interface = interface_create(w->glfw, error);
    return w->interface != NULL;
}

// The engine opens its scene while the driver compiles.
static bool open_window(Window *w, const WindowDef *def, SandError *error) {
    w->look = def->look;
    w->panel = panel_create(w->interface, error);
    EngineDef engine = def->engine;
    engine.in_background = true;
    engine.buffer = w->panel ? triple_buffer_create_gl(false, error) : NULL;
    w->engine = engine.buffer ? engine_create(&engine, error) : NULL;
    if (!w->engine) return false;
    window_tell_opening(w, "Preparing the picture");
    w->renderer = renderer_create(error);
    w->split = w->renderer ? split_create(error) : NULL;
    w->snapshot = w->split ? snapshot_create(error) : NULL;
    if (!w->snapshot) return false;
    w->panel->keys = window_key_texts;
    w->panel->user = w;
    w->panel->ask = panel_asks;
    w->panel->on_message = def->on_message ? panel_hears : NULL;
    window_set_up_files(w);
    w->panel->picked.body = -1;
    w->recording = (WindowRecording){.engine = w->engine, .wanted = &w->panel->recording, .overlay = &w->panel->overlay};
    w->panel->race = engine_race(w->engine);
    Settings settings;
    if (!settings_load(&settings, error)) {
        fprintf(stderr, "sandglass: %s; defaults are used\n", error->text);
        panel_say(w->panel, error->text);
    }
    w->panel->first_start = settings.first_start;
    w->panel->bookmarks = settings.bookmarks;
    w->panel->recent = settings.recent;
    w->panel->ask_on_close = settings.ask_on_close;
    for (int k = 0; k < 2; k++) w->panel->folded[k] = settings.folded >> k & 1;
    w->panel->follow = def->follow;
    w->preset = def->camera;
    if (def->notice && *def->notice) panel_say(w->panel, def->notice);
    apply(w, def, &settings);
    window_demo_begin(w);
    window_tell_opening(w, "Preparing the picture");
    return !context_is_software() || renderer_warm(w->renderer, &w->look, error);
}

// Saves the settings. A quality that the user chose is remembered, and a panel that the user hid; what came from the options
// or the renderer is not.
static void remember(Window *w) {
    SandError error;
    Settings s = {.first_start = w->panel->first_start,
                  .hidden = w->panel->hidden == w->first_hidden ? w->kept_hidden : w->panel->hidden,
                  .folded = w->panel->folded[0] | w->panel->folded[1] << 1,
                  .quality = w->kept_quality,
                  .ask_on_close = w->panel->ask_on_close,
                  .bookmarks = w->panel->bookmarks,
                  .recent = w->panel->recent};
    snprintf(s.last, sizeof s.last, "%s", *w->scene.file ? w->scene.file : w->scene.name);
    if ((int)w->look.quality != w->first_quality) s.quality = (int)w->look.quality;
    if (!settings_save(&s, &error)) fprintf(stderr, "sandglass: %s\n", error.text);
}

bool window_run(const WindowDef *def, WindowReport *report, SandError *error) {
    Window *w = calloc(1, sizeof *w);
    if (!w) return sand_fail(error, "out of memory for the window");
    w->def = def;
    bool closed = false, ok = begin_window(w, def, error);
    double next = 0, begin = sand_seconds();
    if (ok) window_tell_opening(w, "");
    ok = ok && window_start(w, &closed, error) && (closed || window_prepare(w, &closed, error)) &&
         (closed || open_window(w, def, error));
    if (ok) frame_pacing_start(&w->pacing, context_is_software());
    while (ok && !closed && !may_close(w) && !(def->should_close && def->should_close(def->user))) {
        ok = draw(w, error);
        show_title(w, &next);
        report_state(w);
    }
    if (w->context) {
        *report = (WindowReport){.frames = w->pacing.frames,
                                 .seconds = sand_seconds() - begin,
                                 .rate = frame_pacing_rate(&w->pacing),
                                 .stall = w->pacing.stall,
                                 .errors = context_error_count(w->context),
                                 .first_picture = w->first_picture,
                                 .first_motion = w->first_motion};
        if (ok && report->errors) ok = sand_fail(error, "the graphics driver reported: %s", context_error(w->context));
    }
    SandError closing;
    if (ok && !closed && !def->show) remember(w);
    window_recording_close(&w->recording);
    // The last messages, such as that of a take saved at the end, only reach standard error.
    if (ok && !closed && def->take && w->frame && !window_save_take(w, def->take, &closing))
        fprintf(stderr, "sandglass: %s\n", closing.text);
    if (w->engine) {
        engine_stop(w->engine);
        show_messages(w);
    }
    snapshot_free(w->snapshot);
    engine_free(w->engine);
    panel_free(w->panel);
    interface_free(w->interface);
    split_free(w->split);
    renderer_free(w->renderer);
    context_free(w->context);
    free(w);
    return ok;
}
