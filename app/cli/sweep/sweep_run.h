// SPDX-License-Identifier: MIT
// One run of a sweep: its steps, and the small CSV file that it leaves, a line of names and a line of values.
#pragma once
#include "app/cli/sweep/sweep_grid.h"

enum { SWEEP_PATH = 4096 };
extern const char SWEEP_ERROR[]; // name of the column that says why a run failed; empty where it did not

// The file of a run in the folder of the sweep: FOLDER/runs/NUMBER.csv, counted from 1; its messages end in .log.
void sweep_run_path(char path[SWEEP_PATH], const char *folder, int run, const char *ending);
// Takes the run to its end and writes its file; of a run that fails with what it came to, and the sentence. Writes none when
// the run is interrupted. False, with a sentence, when the file cannot be written.
bool sweep_run_take(const SweepGrid *grid, int run, const Options *options, const char *folder, SandError *error);
// Writes the file of a run that ended without one.
bool sweep_run_fail(const SweepGrid *grid, int run, const char *folder, const char *sentence, SandError *error);
