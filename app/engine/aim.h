// SPDX-License-Identifier: MIT
// Aiming a thrown ball: where on the ray of the mouse it can start. A vessel keeps the ball on its inside, bodies must not
// overlap it, and it must come to where the mouse points.
#pragma once
#include "app/engine/acts.h"

typedef struct Throw {
    SandVec3 start;    // m, center of the ball
    SandVec3 velocity; // m/s
    double radius;     // m, smaller than asked for where there is little room
} Throw;

typedef struct AimDef {
    SandVec3 from, direction; // of the ray, in world coordinates; the direction has length 1
    SandVec3 lower, upper;    // m, the box that the view shows
    double radius, least;     // m, the ball as wanted, and the smallest that is thrown
    double speed;             // m/s
} AimDef;

// Finds the start. Where the ray has no room in front of the body that it meets, as beside the wall of a full vessel, or
// misses the vessel, the ball drops from above the body that is nearest to the ray. False, with a sentence, where there is
// no room at all.
bool aim_throw(const SandWorld *world, const AimDef *def, Throw *out, SandError *error);
// From an ACT_AIM to the ACT_THROW that it becomes in this scene.
bool aim_act(const Act *aim, const SandScene *scene, const SandWorld *world, Act *ball, SandError *error);
