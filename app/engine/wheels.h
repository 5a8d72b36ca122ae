// SPDX-License-Identifier: MIT
// The wheels of a vehicle as the panel shows them: how hard each motor pulls, and how much each wheel slips.
#pragma once
#include "sandglass/scene.h"
#include "sandglass/simulation.h"

typedef struct WheelFigures {
    char name[SAND_NAME];
    double torque;   // N m, of its motor in the last step, forward above 0; NAN: unknown
    double strength; // N m, the largest that it can give; INFINITY: it is never overcome
    double spin;     // rad/s, of the wheel about its axis
    double slip;     // 1 - v / (spin r): 0 rolls, 1 spins on the spot, below 0 is dragged along; NAN: it hardly turns
} WheelFigures;

typedef struct Wheels {
    int count; // 0: the scene has no vehicle
    WheelFigures wheels[SAND_MAX_WHEELS];
} Wheels;

// Of the last step. Bodies and contacts must be on the host, else the torques are unknown.
void wheels_read(const SandVehicle *vehicle, const SandSimulation *sim, Wheels *wheels);
