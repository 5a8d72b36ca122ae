// SPDX-License-Identifier: MIT
// A picture of which every process of a run draws its own bodies (`--backend mpi`).
//
//   1. rank 0 sends the request (Order): camera, settings, how to make instances
//   2. each rank draws its own bodies, for the depths in the view of the camera and of the sun
//   3. the nearest of all depths of the camera go to every rank; those of the sun to rank 0, as its shadow map
//   4. each rank sends rank 0 those of its bodies that the nearest depths do not hide
//   5. rank 0 draws these, boundaries and light, as one process does
//
// What is sent is bounded by the number of pixels, not of bodies, except for force chains. With two exceptions, which
// docs/ranks.md names, no pixel depends on the number of ranks: hidden bodies leave no pixels, and the others are drawn in
// the order of their numbers.
#pragma once
#include "app/cli/film/offscreen.h"

typedef struct Composite Composite;

// Lets this rank draw its bodies when rank 0 asks for it. Opens no context before that.
bool composite_create(Composite **composite, SandError *error);
void composite_free(Composite *composite);

#ifdef SAND_WINDOW

bool composite_wanted(const SandSimulation *sim); // ranks take its steps

// Rank 0: fills the scene of the picture with the bodies that it shows of all ranks, and with the shadows of all of them.
bool composite_update(Composite *composite, Offscreen *offscreen, SandSimulation *sim, double time, const Camera *camera,
                      SandError *error);

// What the pictures so far took.
typedef struct CompositeCost {
    int64_t pictures;
    int64_t depth_bytes;  // of the camera's depths, that each rank sent
    int64_t shadow_bytes; // that came to rank 0
    int64_t instances;    // balls and convex bodies that came to rank 0
    int64_t links;        // of force chains, the same
} CompositeCost;
CompositeCost composite_cost(const Composite *composite);

#endif
