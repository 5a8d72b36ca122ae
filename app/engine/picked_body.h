// SPDX-License-Identifier: MIT
// One body as the window shows it when it is picked: its figures, its contact forces and the spring that drags it.
#pragma once
#include "sandglass/simulation.h"

enum { PICKED_FORCES = 32 };

// The force of one contact on the body.
typedef struct PickedForce {
    SandVec3 point; // m, world
    SandVec3 force; // N, world
} PickedForce;

typedef struct PickedBody {
    int body;          // -1: none
    double speed;      // m/s, of its center
    double mass;       // kg
    double radius;     // m, of the bounding sphere
    int contacts;      // that carry a force
    double force_sum;  // N, of all of them
    double force_most; // N, the largest
    SandShapeKind kind;
    int shape;     // index into the shapes of the world
    SandVec3 half; // m, half extents
    SandVec3 center, velocity;
    SandQuat rotation;
    int force_count;                   // of the largest contact forces, at most PICKED_FORCES
    PickedForce forces[PICKED_FORCES]; // in the order of the contacts
    bool is_held;                      // it is dragged by a spring
    SandVec3 held, pulled_to;          // m, world: the ends of the spring
} PickedBody;

PickedBody picked_body_read(const SandSimulation *sim,
                            int body); // of the last step; PickedBody.body is -1 where there is no such body
