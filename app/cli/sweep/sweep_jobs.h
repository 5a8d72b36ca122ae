// SPDX-License-Identifier: MIT
// The runs of a sweep as processes, some of them at once. Each leaves a file, which is read into the table as soon as it
// ends.
#pragma once
#include "app/cli/sweep/sweep_table.h"

typedef struct SweepJobs {
    const SweepGrid *grid;
    const Options *options; // of the sweep
    SweepTable *table;
    int at_once;      // processes
    int first, count; // runs that are meant
    bool saves;       // the table is written while runs end
} SweepJobs;

// Takes the runs that have not ended well. Nothing may have started a thread or a GPU before. False, with a sentence, when
// it is interrupted or a process cannot be started; a run that fails is a row of the table.
bool sweep_jobs_take(const SweepJobs *jobs, SandError *error);
