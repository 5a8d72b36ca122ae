// SPDX-License-Identifier: MIT
// Pictures for Python: one off-screen context and renderer for the process, and a picture for each simulation, drawn to
// bytes of the caller. It may be called from any thread, from one at a time.
#pragma once
#include "sandglass/scene.h"
#include "sandglass/simulation.h"

// How to draw; names are those of the program's options. Start from sand_default_picture().
typedef struct SandPictureDef {
    int width, height; // pixels
    const char *view;  // a preset of the camera, or x,y,z,tx,ty,tz: eye and target in m
    SandVec3 followed; // m, how far the body that the scene follows has come; shadows are cast in the box that moves with it
    bool follows;      // the camera has moved as far
    const char *quality;  // low, medium, high
    const char *color;    // what colors mean: body, speed, contacts, force, residual
    const double *values; // of each body: what colors mean in place of that, with a range; NULL: not given
    const char *map;      // of colors
    bool has_range;       // the ends of the color map are low and high
    double low, high;     // m/s, contacts, N
    bool chains;          // force chains
    int samples;          // along a side of a pixel
    double exposure;      // factor of the light
} SandPictureDef;
SAND_API SandPictureDef sand_default_picture(void);

typedef struct SandPicture SandPicture;

// Builds the surfaces of a simulation; the box from lower to upper (m) is what a preset shows. `studio` may be NULL. The
// first picture of the process opens the context. NULL with a sentence on failure.
SAND_API SandPicture *sand_picture_create(const SandSimulation *sim, SandVec3 lower, SandVec3 upper,
                                          const SandStudio *studio, SandError *error);
SAND_API void sand_picture_free(SandPicture *picture);
// Draws the simulation as it is now: height rows of width pixels, red, green and blue, from the top down.
SAND_API bool sand_picture_draw(SandPicture *picture, SandSimulation *sim, const SandPictureDef *def, unsigned char *pixels,
                                SandError *error);
// What each pixel shows, by a ray through its middle (sandglass/query.h); any may be NULL. Depths (m) are along the view
// from the eye, INFINITY where there is nothing; normals are three numbers; bodies are numbers of the world, boundary k is
// -1 - k, INT_MIN: nothing. Boundaries are seen from the side on which bodies are, and what passes through glass is not.
SAND_API bool sand_picture_measure(SandPicture *picture, SandSimulation *sim, const SandPictureDef *def, double *depths,
                                   double *normals, int *bodies, SandError *error);
SAND_API const char *sand_picture_renderer(void); // what draws, for people; "" before the first picture

// The view of a camera path through `count` views at the times of `keys` (s), as x, y, z, tx, ty, tz:
// app/render/camera_path.h.
SAND_API bool sand_picture_path(const double *keys, const double (*views)[6], int count, double time, double view[6],
                                SandError *error);
