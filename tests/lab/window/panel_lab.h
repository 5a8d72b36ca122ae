// SPDX-License-Identifier: MIT
// A stage for the panel, off-screen: engine, renderer and panel without a window, worked with a mouse of the test's own.
// With the software renderer and on the CPU, or on a GPU where the environment has SAND_TEST_GPU.
#pragma once
#include "tests/lab/window/engine_lab.h"

#include "app/engine/backends.h"
#include "app/io/png.h"
#include "app/render/context.h"
#include "app/ui/panel/controls.h"
#include "app/ui/panel/panel.h"

#include <glad/gl.h>
#include <stdio.h>
#include <stdlib.h>

static const char *panel_pictures; // folder for pictures; NULL: none are kept

typedef struct Fixture {
    Context *context;
    Renderer *renderer;
    Interface *interface;
    Panel *panel;
    Engine *engine;
    EngineScene scene;
    EngineFrame *frame;
    Camera camera;
    RendererDef look;
    int width, height;
    double scale;
    unsigned framebuffer; // that holds the picture; 0: the renderer's
    bool plain;           // to be quick: leave the scene as it was drawn last, and the panel's pixels too
    ControlPlace places[CONTROL_COUNT];
    int asked[ACT_RACE_CANCEL + 1]; // how many acts of each kind
    Act last;
    char opened[256]; // the file that was asked for last
    int cancels;
} Fixture;

static inline bool on_ask(void *user, const Act *act) {
    Fixture *s = user;
    s->asked[act->kind]++;
    s->last = *act;
    return engine_ask(s->engine, act);
}

static inline bool on_open(void *user, const char *path, const Act *race, SandError *error) {
    Fixture *s = user;
    (void)error;
    snprintf(s->opened, sizeof s->opened, "%s", path);
    s->last = *race;
    return true;
}

static inline void on_cancel(void *user) { ((Fixture *)user)->cancels++; }

static const PanelKey panel_lab_keys[] = {{"Space", "run or pause", true},
                                          {"F", "turn the glass over", true},
                                          {"Ctrl + mouse", "draw a body along", true},
                                          {"H", "hide the panel", true},
                                          {".", "one step forward", false},
                                          {",", "one step back", false},
                                          {"F1", "all keys", true},
                                          {NULL, NULL, false}};

// With the hourglass, of these options.
static inline void open_offscreen_with(Fixture *s, const SandSceneOptions *options) {
    SandError error = {""};
    *s = (Fixture){.width = 1280, .height = 720, .scale = 1};
    ContextDef def = context_default();
    bool on_gpu = getenv("SAND_TEST_GPU") != NULL;
    def.software = !on_gpu;
    s->context = context_create(&def, &error);
    if (!s->context) fail_msg("%s", error.text);
    s->renderer = renderer_create(&error);
    s->interface = interface_create(NULL, &error);
    if (!s->interface) fail_msg("%s", error.text);
    s->panel = panel_create(s->interface, &error);
    if (!s->panel) fail_msg("%s", error.text);
    s->panel->ask = on_ask;
    s->panel->open = on_open;
    s->panel->cancel = on_cancel;
    s->panel->user = s;
    s->panel->keys = panel_lab_keys;
    s->look = renderer_default();
    s->look.quality = QUALITY_LOW;
    EngineDef engine = engine_default();
    engine.scene = "hourglass";
    engine.options = *options;
    engine.simulation.threads = 1;
    if (on_gpu && !backends_choose(BACKEND_CUDA, &engine.simulation.solve, SAND_FLOAT, &engine.simulation.backend, &error))
        fail_msg("%s", error.text);
    engine.playing = false; // each step is asked for, so that a slow machine sees the same
    s->engine = engine_create(&engine, &error);
    if (!s->engine) fail_msg("%s", error.text);
    s->panel->race = engine_race(s->engine);
    control_watch(s->places);
}

static inline void open_offscreen(Fixture *s) { open_offscreen_with(s, &(SandSceneOptions){.bodies = 300}); }

static inline void close_offscreen(Fixture *s) {
    control_watch(NULL);
    close_engine(s->engine);
    panel_free(s->panel);
    interface_free(s->interface);
    renderer_free(s->renderer);
    if (context_error_count(s->context)) fail_msg("OpenGL: %s", context_error(s->context));
    context_free(s->context);
}

// One picture of the window.
static inline void draw(Fixture *s) {
    SandError error = {""};
    EngineFrame *next = engine_frame(s->engine);
    if (next) s->frame = next;
    hear_messages(s->engine);
    unsigned before = s->scene.version;
    engine_scene(s->engine, &s->scene);
    if (!s->frame) return;
    if (before != s->scene.version || !(s->camera.angle > 0))
        camera_frame(&s->camera, "default", s->frame->render_scene.lower, s->frame->render_scene.upper,
                     (double)s->width / s->height);
    if (!s->plain && !renderer_draw(s->renderer, &s->frame->render_scene, &s->camera, &s->look, s->width, s->height, &error))
        fail_msg("%s", error.text);
    interface_begin(s->interface, s->width, s->height, s->scale, 1.0 / 60);
    panel_draw(s->panel, s->frame, &s->scene, &s->camera, &s->look, s->width, s->height, 1.0 / 60);
    // The driver gets all of it, and fills no pixels where nobody looks.
    if (s->plain) glEnable(GL_RASTERIZER_DISCARD);
    interface_end(s->interface, renderer_framebuffer(s->renderer));
    glDisable(GL_RASTERIZER_DISCARD);
}

// Draws until the condition holds. The limit is for an engine that hangs, not for a slow machine.
#define DRAW_UNTIL(s, condition) \
    do { \
        for (double end = sand_seconds() + ENGINE_LIMIT; !(condition) && sand_seconds() < end; pause_briefly()) draw(s); \
        if (!(condition)) fail_msg("%s did not come", #condition); \
    } while (0)

// Takes so many steps, with a picture of the panel after each; the scene itself is drawn at the end.
static inline void advance(Fixture *s, int steps) {
    bool plain = s->plain;
    s->plain = false;
    DRAW_UNTIL(s, s->frame);
    s->plain = true;
    for (int k = 0; k < steps; k++) {
        uint64_t wanted = s->frame->step + 1;
        if (!engine_ask(s->engine, &(Act){.kind = ACT_STEP, .number = 1})) fail_msg("the engine takes no request");
        s->frame = wait_for(s->engine, wanted);
        draw(s);
    }
    s->plain = plain;
    draw(s);
}

static inline unsigned char *read_pixels(Fixture *s) {
    size_t row = 4 * (size_t)s->width;
    unsigned char *pixels = malloc(row * (size_t)s->height), *line = malloc(row);
    assert_non_null(pixels);
    assert_non_null(line);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, s->framebuffer ? s->framebuffer : renderer_framebuffer(s->renderer));
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    glReadPixels(0, 0, s->width, s->height, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    for (int y = 0; y < s->height / 2; y++) {
        unsigned char *a = pixels + row * (size_t)y, *b = pixels + row * (size_t)(s->height - 1 - y);
        memcpy(line, a, row);
        memcpy(a, b, row);
        memcpy(b, line, row);
    }
    free(line);
    return pixels;
}

static inline void keep_picture(Fixture *s, const char *name) {
    if (!panel_pictures) return;
    char path[512];
    SandError error = {""};
    bool plain = s->plain;
    s->plain = false;
    draw(s);
    s->plain = plain;
    unsigned char *pixels = read_pixels(s);
    snprintf(path, sizeof path, "%s/%s.png", panel_pictures, name);
    if (!png_write(path, s->width, s->height, 4, pixels, &error)) fail_msg("%s", error.text);
    free(pixels);
}

static inline void click_at(Fixture *s, double x, double y) {
    interface_mouse(s->interface, x, y, false);
    draw(s);
    interface_mouse(s->interface, x, y, true);
    draw(s);
    interface_mouse(s->interface, x, y, false);
    draw(s);
}

static inline void click(Fixture *s, ControlId id) {
    if (!s->places[id].drawn) fail_msg("%s is not drawn", control_table[id].label);
    click_at(s, s->places[id].x, s->places[id].y);
}

// Until the engine has come to a step that was sought; it takes over the settings of that step.
static inline void wait_for_step(Fixture *s, double step) {
    DRAW_UNTIL(s, (double)s->frame->step == step);
    draw(s);
}
