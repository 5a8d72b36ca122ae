// What the mouse does in the picture: orbit, pan and zoom the camera; pick a body, draw it along by a spring, throw a
// heavy ball. Free of any window system: it is told positions and buttons.
#pragma once
#include "app/render/camera.h"
#include "app/engine/engine.h"

typedef enum InputMode { INPUT_IDLE, INPUT_ORBIT, INPUT_PAN, INPUT_DRAG } InputMode;

typedef struct Input {
    InputMode mode;
    double x, y;  // where the mouse was, 0 to 1 from the lower left corner
    int picked;   // body, -1: none
    double depth; // m, of the held point along the view
} Input;
void input_init(Input *input);

// The ray through a place of the picture, in the picture's coordinates; the direction has length 1.
void input_ray(const Camera *camera, double aspect, double x, double y, SandVec3 *from, SandVec3 *direction);

// The body that the ray meets first, or -1; and where, in the picture's coordinates.
int input_pick(const RenderScene *render_scene, SandVec3 from, SandVec3 direction, SandVec3 *point);

// A button goes down (`pan`: not to orbit but to shift), the mouse moves, all buttons are up again. A press on a body
// with `grab` holds it.
void input_press(Input *input, Engine *engine, const EngineFrame *frame, const Camera *camera, double aspect, double x,
                 double y, bool pan, bool grab);
void input_move(Input *input, Engine *engine, const EngineFrame *frame, Camera *camera, double aspect, double x, double y);
void input_release(Input *input, Engine *engine);

// Flying: the mouse moved by so much of the picture's height, and the camera goes to the right, up and forward (-1 to 1
// each) for this long, through a scene of this size.
void input_fly(Camera *camera, double right, double up, SandVec3 way, double seconds, double size);

// Throws a heavy ball along the view through a place of the picture.
void input_throw(Engine *engine, const EngineFrame *frame, const Camera *camera, double aspect, double x, double y);
