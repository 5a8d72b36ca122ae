// SPDX-License-Identifier: MIT
// Mouse input in the picture: orbit, pan and zoom the camera; pick a body, drag it by a spring, throw a heavy ball.
// Independent of the window system: the caller passes positions and buttons.
#pragma once
#include "app/render/camera.h"
#include "app/engine/engine.h"
#include "app/render/renderer.h"

typedef enum InputMode { INPUT_IDLE, INPUT_ORBIT, INPUT_PAN, INPUT_DRAG } InputMode;

typedef struct Input {
    InputMode mode;
    double x, y;  // last mouse position, 0 to 1 from the lower left corner
    int picked;   // body, -1: none
    int side;     // of two runs side by side, the one whose half the mouse is in: 0 or 1
    double depth; // m, of the held point along the view
} Input;
void input_init(Input *input);

// The ray through a point of the picture, in coordinates of the render scene; `direction` has length 1.
void input_ray(const Camera *camera, double aspect, double x, double y, SandVec3 *from, SandVec3 *direction);

// The first body that the ray hits and the picture shows, or -1; and the hit point, in coordinates of the render scene.
int input_pick(const RenderScene *render_scene, const RendererDef *look, SandVec3 from, SandVec3 direction, SandVec3 *point);

// A button goes down (`pan`: pan instead of orbit), the mouse moves, the button is up again. A press on a body with `grab`
// holds the body, and picks it.
void input_press(Input *input, Engine *engine, const EngineFrame *frame, const Camera *camera, const RendererDef *look,
                 double aspect, double x, double y, bool pan, bool grab);
void input_move(Input *input, Engine *engine, const EngineFrame *frame, Camera *camera, double aspect, double x, double y);
void input_release(Input *input, Engine *engine);
// A click, a press that does not move: picks the body here, or none.
void input_click(Input *input, const EngineFrame *frame, const Camera *camera, const RendererDef *look, double aspect,
                 double x, double y);

// Flies the camera: the mouse moved by this fraction of the picture height, and the camera moves right, up and forward (-1
// to 1 each) for this long, through a scene of this size.
void input_fly(Camera *camera, double right, double up, SandVec3 direction, double seconds, double size);

// The request for a heavy ball along the ray through a point of the picture, at what is there.
Act input_aim(const RenderScene *render_scene, const Camera *camera, double aspect, double x, double y);
// Throws a heavy ball along the ray through a point of the picture, at what is there.
void input_throw(Engine *engine, const EngineFrame *frame, const Camera *camera, double aspect, double x, double y);
