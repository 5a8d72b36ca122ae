// A CSV file with a line of figures for each step.
#pragma once
#include <stdio.h>

#include "sandglass/simulation.h"

typedef struct Log {
    FILE *file; // NULL: nobody asked for one
    const char *path;
} Log;

bool log_open(Log *log, const char *path, SandError *error);
bool log_step(Log *log, const SandSimulation *sim, SandError *error); // does nothing where there is no file
bool log_close(Log *log, SandError *error);                           // false when the disk did not take all of it
