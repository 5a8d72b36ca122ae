// SPDX-License-Identifier: MIT
// Drawing without a window, for films and benchmarks: an off-screen context, the renderer, and the triple buffer between
// simulation and renderer.
#pragma once
#include "app/cli/session/session.h"

#ifdef SAND_WINDOW

#include "app/render/context.h"
#include "app/render/split.h"
#include "app/engine/triple_buffer.h"

typedef struct Offscreen {
    Context *context;
    Renderer *renderer;
    TripleBuffer *buffer;        // carries the instances, as in the window
    struct Composite *composite; // where several processes draw a picture together; NULL: not yet
    RenderScene render_scene;
    SandSimulation *beside;   // a second run, in the right half of the picture; NULL: none. Set before offscreen_init_scene
    RenderScene beside_scene; // of it
    Split *split;
    RendererDef look;
    RenderColor color;
    ColorMap map;
    RenderRange limits; // of the color map
    bool chains;
    int width, height;
} Offscreen;

bool offscreen_plan(Offscreen *offscreen, const Options *options, SandError *error); // reads the options
// Builds the surfaces of the scene; needs no context.
bool offscreen_init_scene(Offscreen *offscreen, const Session *session, SandError *error);
bool offscreen_open(Offscreen *offscreen, SandError *error); // creates context and renderer
bool offscreen_view(const Offscreen *offscreen, Camera *camera, const char *text, SandError *error); // parses a view
// Draws the scene at a time within its last step; offscreen_framebuffer then holds the picture.
bool offscreen_draw(Offscreen *offscreen, SandSimulation *sim, double time, const Camera *camera, SandError *error);
unsigned offscreen_framebuffer(const Offscreen *offscreen);
SplitArea offscreen_area(const Offscreen *offscreen); // of the halves
// False, with a sentence, when the driver reported errors.
bool offscreen_check_errors(const Offscreen *offscreen, SandError *error);
void offscreen_close(Offscreen *offscreen);

#endif
