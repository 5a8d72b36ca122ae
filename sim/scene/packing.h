// Placing many bodies on a lattice, and finding bodies that overlap where they start.
#pragma once
#include "sim/core/random.h"
#include "sim/world/world.h"

// Bodies on a cubic lattice, layer after layer from the bottom; in a layer along x, then along y.
typedef struct SandFill {
    const int *shapes; // indices into the world's shapes; each body takes one at random
    int shape_count;
    double least, most; // size of the bodies; a sphere's radius
    bool mostly_small;  // sizes even in 1/size, as of crushed rock; else even in the size
    bool turned;        // each with a random orientation
    double mass;        // kg; 0: from the density
    int material;
    SandVec3 velocity; // m/s
    int count;
    double spacing;   // m, between lattice points
    bool dense;       // every other layer in the hollows of the one below, as close as the layers then come
    double jitter;    // m, most that a body is moved off its point along each axis
    double from, to;  // m, height of the first layer, and where no layer starts any more
    double center[2]; // m, the lattice's middle in x and y
    int columns;      // points along x and along y; 0: as many as the boundaries are wide
    double pour;      // m/s; above 0: every layer starts at `from`, one after the other, at this speed
    double cylinder;  // m, keep points within this radius of the middle; 0: no limit
    double box[2];    // m, keep points within these widths; 0: no limit
    bool inside;      // keep points where the body is clear of every boundary
    double clearance; // m, beyond touching, for `inside`
    long long tries;  // most lattice points to look at
} SandFill;
SandFill sand_default_fill(void);

// Returns how many were placed, which is less than `count` when no more fit, or -1 with a sentence.
int sand_fill(SandWorld *world, const SandFill *fill, SandRandom *random, SandError *error);

// Smallest box around a boundary at time 0. False where it has no end (planes).
bool sand_fill_bounds(const SandBoundary *boundary, SandVec3 *lower, SandVec3 *upper);

typedef struct SandOverlap {
    int body;
    int other;    // the second body, or -1
    int boundary; // or the boundary, or -1
    double depth; // m
} SandOverlap;

// Finds two bodies, or a body and a boundary, that start deeper in each other than `tolerance` times the smaller
// radius. 1: found, 0: none, -1: out of memory. Bodies that enter at different times are not compared.
int sand_find_overlap(const SandWorld *world, double tolerance, SandOverlap *overlap, SandError *error);
