// How large a scene this machine runs in real time, found by running a small one for less than a second. For the window of a
// person who did not say how large it should be; films and benchmarks never ask.
#pragma once
#include "sandglass/scene.h"
#include "sandglass/simulation.h"

typedef struct Measured {
    int whole;      // bodies of the scene as its file has it; 0: it has a fixed number
    int bodies;     // bodies that hold real time, `whole` at most; 0: there is nothing to choose
    double step_ms; // that a step of so many takes
    bool holds;     // real time; false: even the fewest are slower here
} Measured;

bool measure_scene(Measured *measured, const char *scene, const SandSceneOptions *options, const SandSimulationDef *def,
                   SandError *error);
