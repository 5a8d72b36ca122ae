// SPDX-License-Identifier: MIT
// A camera that looks at a point: orbit, pan, zoom, and presets that frame a box at any aspect.
#pragma once
#include "app/render/camera_path.h"
#include "sandglass/scene.h"

typedef struct Camera {
    SandVec3 eye, target; // m, relative to RenderScene.origin
    bool orthographic;
    double angle;            // rad, vertical field of view; perspective
    double height;           // m, height of the view; orthographic
    double shift_x, shift_y; // of the picture plane against the eye, at distance 1; orthographic: m
    double near;             // m, near plane
    double far;              // m, far plane, orthographic only: a perspective view reaches to infinity
} Camera;

extern const char *const camera_preset_names[]; // ended by NULL; the first is the default

// Frames the box from a preset, for this aspect ratio. False: there is no such preset.
bool camera_frame(Camera *camera, const char *preset, SandVec3 lower, SandVec3 upper, double aspect);
// The same within a part of a picture of this many pixels; the panel covers the rest.
typedef struct CameraArea {
    double left, top, right, bottom; // pixels, from the upper left corner
} CameraArea;
bool camera_frame_within(Camera *camera, const char *preset, SandVec3 lower, SandVec3 upper, double width, double height,
                         const CameraArea *area);
// Projects a point in front of the camera: right and up from the middle of the picture, in units of its height.
void camera_project(const Camera *camera, SandVec3 point, double *x, double *y);
// Reads the name of a camera of the scene (`studio` may be NULL) or of a preset, or `x,y,z,tx,ty,tz` in world coordinates;
// `origin` is RenderScene.origin.
bool camera_parse(Camera *camera, const char *text, const SandStudio *studio, SandVec3 origin, SandVec3 lower,
                  SandVec3 upper, double aspect, SandError *error);

// The camera of this number of a scene. False: there is none.
bool camera_of_studio(Camera *camera, const SandStudio *studio, int number, SandVec3 origin, SandVec3 lower, SandVec3 upper);
int camera_find(const SandStudio *studio, const char *name); // -1: there is none

// A view in world coordinates as a camera of this render scene, and back.
void camera_set(Camera *camera, const CameraView *view, SandVec3 origin, SandVec3 lower, SandVec3 upper);
CameraView camera_view(const Camera *camera, SandVec3 origin);

void camera_orbit(Camera *camera, double around, double above);  // rad
void camera_pan(Camera *camera, double right, double up);        // in units of the height of the picture
void camera_shift(Camera *camera, SandVec3 by);                  // m, in the world
void camera_zoom(Camera *camera, double factor);                 // above 1 moves closer
void camera_turn(Camera *camera, SandVec3 middle, double angle); // about the vertical axis through a point; rad
void camera_look(Camera *camera, double right, double up);       // about the eye; rad
void camera_fly(Camera *camera, SandVec3 by);                    // m, to the right, up and forward
// The ray through a place of the picture, x and y from -1 to 1, right and up: it begins on the near plane, and goes forward
// by 1 with `along`.
void camera_ray(const Camera *camera, double aspect, double x, double y, SandVec3 *from, SandVec3 *along);
void camera_axes(const Camera *camera, SandVec3 *right, SandVec3 *up, SandVec3 *forward);

// Column-major matrices. Depth is reversed: 1 at `near`, 0 at infinity.
void camera_matrices(const Camera *camera, double aspect, float view[16], float projection[16]);
