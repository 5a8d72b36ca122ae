// A CSV file with one line of figures per step (--log).
#pragma once
#include <stdio.h>

#include "sandglass/simulation.h"

typedef struct Log {
    FILE *file; // NULL: no log
    const char *path;
} Log;

bool log_open(Log *log, const char *path, SandError *error);
bool log_step(Log *log, const SandSimulation *sim, SandError *error); // no effect without a file
bool log_close(Log *log, SandError *error);                           // false when not everything could be written
