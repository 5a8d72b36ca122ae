// SPDX-License-Identifier: MIT
// Bodies that overlap where they start: in a world that is there, or as bodies are placed. Internal to sim/scene.
#pragma once
#include "sandglass/world.h"
#include "sim/core/array.h"

// How deep two bodies may start in each other, as a share of the smaller one's radius.
#define SAND_START_OVERLAP 0.01

// Returns the signed distance of a point to a boundary, for comparing with `enough`.
double sand_clear_distance(const SandBoundary *boundary, const SandPose *pose, SandVec3 point, double enough);

// A body that overlaps another body or a boundary.
typedef struct SandOverlap {
    int body;
    int other;    // the second body, or -1
    int boundary; // or the boundary, or -1
    double depth; // m
} SandOverlap;

// Finds two bodies, or a body and a boundary, that initially overlap by more than `tolerance` times the smaller radius.
// Returns 1: found, 0: none, -1: out of memory. Bodies that enter at different times are not compared, and
// those that wait for an inlet are left out.
int sand_find_overlap(const SandWorld *world, double tolerance, SandOverlap *overlap, SandError *error);

// Spheres are hashed into grids whose cells are powers of two, each into the grid with cells of two to four diameters, so
// that any mixture of sizes costs the same.
typedef struct SandOverlapSphere {
    SandVec3 center;
    double radius;
    int body, sub; // which sphere or piece of it
    int next;      // in the bucket, or -1
    int level;     // binary exponent of the cell size
    int image;     // of a periodic world: period_shift; 0: the sphere itself
} SandOverlapSphere;

typedef struct SandOverlapSpheres {
    SAND_ARRAY(SandOverlapSphere) sphere;
    SAND_ARRAY(int) head; // first sphere of each bucket, or -1
    int count;
    uint64_t mask;
    int levels[64], level_count;
} SandOverlapSpheres;

// Bodies that are placed one after the other. It has copies of them, since a process of several has not all in its world.
typedef struct SandCrowd {
    SandWorld bodies; // positions, rotations, sizes, shapes and times of entering alone; the shapes are another world's
    SandOverlapSpheres spheres;
} SandCrowd;

// Begins with the first `count` bodies of a world, whose shapes are used; about `more` will be added.
bool sand_crowd_begin(SandCrowd *crowd, const SandWorld *world, int count, int more, SandError *error);
// Whether a body would overlap one that is there by more than SAND_START_OVERLAP.
bool sand_crowd_overlaps(SandCrowd *crowd, const SandBodyDef *def);
bool sand_crowd_add(SandCrowd *crowd, const SandBodyDef *def, SandError *error);
void sand_crowd_end(SandCrowd *crowd);
