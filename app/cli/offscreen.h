// Where a scene is drawn without a window: a context off-screen, the renderer, and the ring through which pictures come as
// in the window. For films and for benchmarks.
#pragma once
#include "app/cli/session.h"

#ifdef SAND_WINDOW

#include "app/render/context.h"
#include "app/render/renderer.h"
#include "app/engine/triple_buffer.h"

typedef struct Offscreen {
    Context *context;
    Renderer *renderer;
    TripleBuffer *buffer; // the picture goes through it, as in the window
    RenderScene render_scene;
    RendererDef look;
    RenderColor color;
    ColorMap map;
    bool chains;
    int width, height;
} Offscreen;

void offscreen_plan(Offscreen *offscreen, const Options *options);                  // what the call asks for
bool offscreen_see(Offscreen *offscreen, const Session *session, SandError *error); // the scene, before it can be drawn
bool offscreen_open(Offscreen *offscreen, SandError *error);                        // from now on it can
bool offscreen_view(const Offscreen *offscreen, Camera *camera, const char *text, SandError *error); // a camera by its words
// Draws the scene at an instant of its last step, into the renderer's framebuffer.
bool offscreen_draw(Offscreen *offscreen, SandSimulation *sim, double time, const Camera *camera, SandError *error);
bool offscreen_sound(const Offscreen *offscreen, SandError *error); // whether the driver had nothing to complain of
void offscreen_close(Offscreen *offscreen);

#endif
