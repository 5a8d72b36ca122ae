// A camera that looks at a point: orbit, pan, zoom, and presets that frame a box at any aspect.
#pragma once
#include "app/render/camera_path.h"

typedef struct Camera {
    SandVec3 eye, target; // m, from the picture's origin
    bool orthographic;
    double angle;  // rad, of the view from bottom to top; perspective
    double height; // m, of the view from bottom to top; orthographic
    double near;   // m, what is closer is not shown
    double far;    // m, orthographic only: a perspective view reaches to infinity
} Camera;

extern const char *const camera_preset_names[]; // ended by NULL; the first is the default

// Frames the box from a preset, for a picture of this width / height. False: there is no such preset.
bool camera_frame(Camera *camera, const char *preset, SandVec3 lower, SandVec3 upper, double aspect);
// The same in a part of a picture of this many pixels; the rest is covered by something else.
typedef struct CameraArea {
    double left, top, right, bottom; // pixels, from the upper left corner
} CameraArea;
bool camera_frame_within(Camera *camera, const char *preset, SandVec3 lower, SandVec3 upper, double width, double height,
                         const CameraArea *capacity);
// Where a point in front of the camera is seen: from the middle of the picture to the right and up, in its heights.
void camera_project(const Camera *camera, SandVec3 point, double *x, double *y);
// A preset, or `x,y,z,tx,ty,tz` in the world's coordinates, whose origin is given.
bool camera_parse(Camera *camera, const char *text, SandVec3 origin, SandVec3 lower, SandVec3 upper, double aspect,
                  SandError *error);

// A view as a camera of this picture, and back.
void camera_set(Camera *camera, const CameraView *view, SandVec3 origin, SandVec3 lower, SandVec3 upper);
CameraView camera_view(const Camera *camera, SandVec3 origin);

void camera_orbit(Camera *camera, double around, double above);  // rad
void camera_pan(Camera *camera, double right, double up);        // in heights of the picture
void camera_zoom(Camera *camera, double factor);                 // above 1: closer
void camera_turn(Camera *camera, SandVec3 middle, double angle); // round the upright axis through a point; rad
void camera_look(Camera *camera, double right, double up);       // turns the view about the eye; rad
void camera_fly(Camera *camera, SandVec3 by);                    // m, to the right, up and forward
void camera_axes(const Camera *camera, SandVec3 *right, SandVec3 *up, SandVec3 *forward);

// Matrices column by column, as GL wants them. Depth runs from 1 at `near` to 0 far away.
void camera_matrices(const Camera *camera, double aspect, float view[16], float projection[16]);
