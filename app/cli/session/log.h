// SPDX-License-Identifier: MIT
// A CSV file with one line of figures per step (--log).
#pragma once
#include <stdio.h>

#include "sandglass/simulation.h"

typedef struct Log {
    FILE *file; // NULL: no log
    const char *path;
} Log;

// `resumes`: a file that is there is kept, for log_resume to say how much of it counts.
bool log_open(Log *log, const char *path, bool resumes, SandError *error);
// Writes out the lines so far. Returns their bytes: where log_resume goes on; 0 without a file, -1 when they could not be
// written.
int64_t log_flush(Log *log);
// Drops the lines behind the first `bytes`. False, with a sentence, when the file has fewer.
bool log_resume(Log *log, int64_t bytes, SandError *error);
bool log_step(Log *log, const SandSimulation *sim, SandError *error); // no effect without a file
bool log_close(Log *log, SandError *error);                           // false when not everything could be written
