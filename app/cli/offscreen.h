// Where a scene is drawn without a window: a context off-screen, the renderer, and the ring through which pictures come as
// in the window. For films and for benchmarks.
#pragma once
#include "app/cli/session.h"

#ifdef SAND_WINDOW

#include "app/render/context.h"
#include "app/render/renderer.h"
#include "app/engine/triple_buffer.h"

typedef struct FixedPoint {
    Context *context;
    Renderer *renderer;
    Ring *ring; // the picture goes through it, as in the window
    Picture picture;
    RendererDef look;
    PictureColor color;
    ColorMap map;
    bool chains;
    int width, height;
} FixedPoint;

void stage_plan(FixedPoint *stage, const Options *options);                  // what the call asks for
bool stage_see(FixedPoint *stage, const Session *session, SandError *error); // the scene, before it can be drawn
bool stage_open(FixedPoint *stage, SandError *error);                        // from now on it can
bool stage_view(const FixedPoint *stage, Camera *camera, const char *text, SandError *error); // a camera by its words
// Draws the scene at an instant of its last step, into the renderer's framebuffer.
bool stage_draw(FixedPoint *stage, SandSimulation *sim, double time, const Camera *camera, SandError *error);
bool stage_sound(const FixedPoint *stage, SandError *error); // whether the driver had nothing to complain of
void stage_close(FixedPoint *stage);

#endif
