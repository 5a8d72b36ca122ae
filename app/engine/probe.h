// The figures of one body, which the panel shows when it is picked.
#pragma once
#include "sandglass/simulation.h"

typedef struct Probe {
    int body;          // -1: none
    double speed;      // m/s, of its center
    double mass;       // kg
    double radius;     // m, of the bounding sphere
    int contacts;      // that carry a force
    double force_sum;  // N, of all of them
    double force_most; // N, the largest
} Probe;

Probe probe_read(const SandSimulation *sim, int body); // of the last step; Probe.body is -1 where there is no such body
