// SPDX-License-Identifier: MIT
// What the probes of a scene read last, as the panel plots it: a few of the columns of each, and of a probe with several
// cells a profile along the axis that has the most of them.
#pragma once
#include "sandglass/simulation.h"

enum { READING_CURVES = 3, READING_POINTS = 64 };

typedef struct ProbeReading {
    char name[SAND_NAME];
    SandProbeKind kind;
    uint64_t step; // after which it was read, 0: not yet
    double time;   // s
    int curves;    // columns that are shown
    const char *columns[READING_CURVES];
    int points;                                    // of the profile; 1: the probe has one cell
    double at[READING_POINTS];                     // m, along the axis
    double values[READING_CURVES][READING_POINTS]; // NAN: the mean of nothing
} ProbeReading;

typedef struct ProbeReadings {
    int count;
    ProbeReading probes[SAND_MAX_PROBES];
} ProbeReadings;

void probe_readings_read(const SandWorld *world, ProbeReadings *readings);
