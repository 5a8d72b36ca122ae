// SPDX-License-Identifier: MIT
// The exposure of a film frame: pictures through points of a lens (depth of field), at instants while the shutter is open
// (motion blur), whose mean is the frame.
#pragma once
#include "app/cli/options/options.h"

#ifdef SAND_WINDOW

#include "app/render/camera.h"

typedef struct Exposure {
    int count;       // pictures per frame; 1: neither lens nor shutter
    double aperture; // width of the lens over the distance in focus
    double shutter;  // share of the time between two frames
    bool has_point, has_distance;
    SandVec3 point;  // in focus, in the world
    double distance; // m, in focus; else the camera's target is
} Exposure;

bool exposure_plan(Exposure *exposure, const Options *options, SandError *error);
// Time of picture `k` of the frame at `time`: the shutter closes then.
double exposure_time(const Exposure *exposure, int k, double time, double fps);
// Moves the camera to the point of the lens, and the place within a pixel, of picture `k`.
bool exposure_place(const Exposure *exposure, int k, SandVec3 origin, int height, Camera *camera, SandError *error);

#endif
