// SPDX-License-Identifier: MIT
// Finds how many bodies of a scene this machine simulates in real time, by running a small version for less than a second.
// For the window when the user gives no number of bodies; films and benchmarks never depend on it.
#pragma once
#include "sandglass/scene.h"
#include "sandglass/simulation.h"

typedef struct Measured {
    int whole;      // bodies of the scene as its file says; 0: the number is fixed
    int bodies;     // that run in real time, at most `whole`; 0: there is nothing to choose
    double step_ms; // estimated time of a step with that many
    bool holds;     // real time holds; false: even the smallest version is slower
} Measured;

bool measure_scene(Measured *measured, const char *scene, const SandSceneOptions *options, const SandSimulationDef *def,
                   SandError *error);
