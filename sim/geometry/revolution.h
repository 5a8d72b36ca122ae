// Surfaces of revolution: a profile in the half plane (rho, z) turned about the z axis. Used by boundary.c.
#pragma once
#include "sim/geometry/boundary.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum SandCornerKind {
    SAND_CORNER_AXIS,    // an end of the profile on the axis: the apex of a cone, the middle of a disc
    SAND_CORNER_RIM,     // an end off the axis
    SAND_CORNER_CONVEX,  // the wall pokes into the allowed side: the neck of an hourglass
    SAND_CORNER_CONCAVE, // the wall recedes: where floor and wall of a can meet
} SandCornerKind;

// One corner of the profile and the segment that leaves it. Travelling along it, the allowed side is on the left.
typedef struct SandProfileSegment {
    double rho, z;             // the corner
    double along_rho, along_z; // unit direction of the segment; its normal (-along_z, along_rho) points to the allowed side
    double length;             // of the segment; 0 for the last corner, which has none
    double out_rho, out_z;     // unit normal given to the corner itself: the mean of its segments'
    SandCornerKind kind;
} SandProfileSegment;

// How wide the allowed side is around the axis, in bands of the profile's height: what tells at a glance that a ball is far
// from the wall. The width is 0 where the axis itself is not on the allowed side.
enum { SAND_BANDS = 128 };
typedef struct SandBands {
    double low, per_height; // height of the first band; bands in a meter
    double width[SAND_BANDS];
} SandBands;

// Takes a copy of the profile, leaves out corners on a straight line, and turns its order so that the allowed side is
// on the left. The rule: the profile's ends are joined to the axis by level lines; the area so enclosed is the inside.
// Where it encloses none (a flat disc or ring), the left of the given order is taken for the inside: a disc given from
// the axis outwards is a floor.
bool sand_revolution_make(SandBoundary *b, const double (*profile)[2], int count, SandError *error);

// Signed distance in the local frame; touches are in revolution_touch.inl.
double sand_revolution_distance(const SandBoundary *b, SandVec3 point);

bool sand_revolution_hollow(const SandBoundary *b); // the allowed side is convex: no neck, no obstacle

#ifdef __cplusplus
}
#endif
