// What is known of one body: for the person who picked it.
#pragma once
#include "sandglass/simulation.h"

typedef struct Probe {
    int body;          // -1: none
    double speed;      // m/s, of its center
    double mass;       // kg
    double radius;     // m, of the sphere around it
    int contacts;      // that press on it
    double force_sum;  // N, of all of them
    double force_most; // N, the largest
} Probe;

Probe probe_read(const SandSimulation *sim, int body); // of the last step; `body` -1 where it is not there
