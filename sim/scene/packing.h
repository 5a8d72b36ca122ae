// SPDX-License-Identifier: MIT
// Initial packings: placing many bodies on a lattice. Internal to sim/scene.
#pragma once
#include "sim/core/random.h"
#include "sim/scene/overlap.h"
#include "sandglass/world.h"

// Which bodies of fills are added, where other processes have the rest.
typedef struct SandKept {
    int first, end;        // by number in the world
    SandVec3 lower, upper; // m, the bounding box of those that were left out
} SandKept;

// Extends a box to contain another. Comparisons and not fmin and fmax: GCC 12 fails on those in a loop that it vectorizes
// for SVE.
static inline void sand_box_include(SandVec3 *lower, SandVec3 *upper, SandVec3 low, SandVec3 high) {
    if (low.x < lower->x) lower->x = low.x;
    if (low.y < lower->y) lower->y = low.y;
    if (low.z < lower->z) lower->z = low.z;
    if (high.x > upper->x) upper->x = high.x;
    if (high.y > upper->y) upper->y = high.y;
    if (high.z > upper->z) upper->z = high.z;
}

// Bodies on a cubic lattice, layer by layer from the bottom; in a layer along y, then along x.
typedef struct SandFill {
    const int *shapes; // indices into the world's shapes; each body takes one at random
    int shape_count;
    double least, most;   // size of the bodies; a sphere's radius in m
    bool mostly_small;    // sizes uniform in 1/size, as of crushed rock; else uniform in the size
    bool random_rotation; // each body has one; else all have none
    double mass;          // kg, of each body; 0: from the density
    int material;         // index into the world's materials
    SandVec3 velocity;    // m/s
    int count;            // bodies wanted
    double spacing;       // m, between lattice points
    bool dense;           // every other layer in the hollows of the one below, as close as the layers then come
    double jitter;        // m, the most a body is displaced from its lattice point along each axis
    double from, to;      // m, height of the first layer, and above which no layer starts
    double center[2];     // m, center of the lattice in x and y
    int columns;          // points along x and along y; 0: as many as the boundaries are wide
    double pour;          // m/s; above 0: every layer starts at `from`, one after the other, at this speed
    double cylinder;      // m, keep points within this radius of the center; 0: no limit
    double box[2];        // m, keep points within these full widths; 0: no limit
    bool inside;          // keep points where the body is clear of every boundary
    double clearance;     // m, beyond touching, for `inside`
    long long tries;      // the most lattice points to try
    int singles;          // bodies at the front of the world that those of the fill must not overlap
    SandKept *kept;       // NULL: all
} SandFill;
SandFill sand_default_fill(void); // size 1, spacing 1 m, no limits

// Places the bodies. One that would overlap a single body, or, turned at random, one of the fill, is left out, and the next
// point is taken. Returns how many were placed, which is less than `count` when no more fit, or -1 with a sentence.
int sand_fill(SandWorld *world, const SandFill *fill, SandRandom *random, SandError *error);

// Adds one body of a fill at the origin, by the fill's jitter beside it.
bool sand_fill_place(SandWorld *world, const SandFill *fill, SandRandom *random, SandError *error);

// Returns the bounding box of a boundary at time 0; false where it has none (planes).
bool sand_fill_bounds(const SandBoundary *boundary, SandVec3 *lower, SandVec3 *upper);
