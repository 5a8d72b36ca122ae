// SPDX-License-Identifier: MIT
// How far the joints of a world have come open, for tests of machines.
#pragma once
#include "sim/world/joint.h"

#include <math.h>

// m, the largest distance between the two anchors of a joint: of a slider the part across its axis, of a distance joint what
// its length is off by.
static inline double lab_largest_drift(const SandWorld *world) {
    double worst = 0;
    for (int k = 0; k < world->joint_count; k++) {
        const SandJoint *j = &world->joints[k];
        SandJointSide a = sand_joint_side_a(world, j), b = sand_joint_side_b(world, j);
        SandVec3 apart = v3_sub(b.anchor, a.anchor);
        if (j->kind == SAND_JOINT_SLIDER) apart = v3_cross(apart, a.axis);
        double length = v3_length(apart);
        worst = fmax(worst, j->kind == SAND_JOINT_DISTANCE ? fabs(length - j->drive.high) : length);
    }
    return worst;
}
