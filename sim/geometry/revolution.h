// SPDX-License-Identifier: MIT
// Surfaces of revolution: a profile in the half plane (rho, z), revolved about the z axis. Internal to sim/geometry.
#pragma once
#include "sandglass/geometry.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum SandCornerKind {
    SAND_CORNER_AXIS,    // an end of the profile on the axis: the apex of a cone, the center of a disc
    SAND_CORNER_RIM,     // an end off the axis
    SAND_CORNER_CONVEX,  // the wall protrudes into the allowed side: the neck of an hourglass
    SAND_CORNER_CONCAVE, // the wall recedes: where floor and wall of a can meet
} SandCornerKind;

// One corner of the profile and the segment that starts there. Walking along it, the allowed side is on the left.
typedef struct SandProfileSegment {
    double rho, z;             // m, the corner
    double along_rho, along_z; // unit direction of the segment; its normal (-along_z, along_rho) points to the allowed side
    double length;             // m, of the segment; 0 for the last corner, which has none
    double out_rho, out_z;     // unit normal of the corner itself: the mean of its segments' normals
    SandCornerKind kind;
} SandProfileSegment;

// The free radius around the axis, in bands of height: a quick test that a sphere is far from the wall. The radius is 0
// where the axis itself is not on the allowed side.
enum { SAND_BANDS = 128 };
typedef struct SandBands {
    double low, per_height;   // m, bottom of the first band; bands per meter
    double width[SAND_BANDS]; // m, no wall is nearer to the axis than this in the band
} SandBands;

// Copies the profile into `b`, drops corners on a straight line, orders it so that the allowed side is on the left, and
// derives segments and bands. Which side is inside: the ends of the profile are joined to the axis by horizontal lines, and
// the area so enclosed is the inside. Where it encloses none (a flat disc or ring), the left of the given order is the
// inside: a disc given from the axis outwards is a floor.
bool sand_revolution_make(SandBoundary *b, const double (*profile)[2], int count, SandError *error);

// Returns the signed distance (m) in the local frame; touches are in revolution_distance.inl.
double sand_revolution_distance(const SandBoundary *b, SandVec3 point);

bool sand_revolution_hollow(const SandBoundary *b); // whether the allowed side is convex: no neck, no obstacle

#ifdef __cplusplus
}
#endif
