// SPDX-License-Identifier: MIT
// `sandglass race FOLDER`: solvers over all stored problems of a folder, and their performance profiles.
#pragma once
#include "app/cli/commands.h"
#include "sim/study/race.h"

bool race_is_folder(const char *path);
// Runs what the file of results (--csv, FOLDER/race.csv) does not have yet, and reports all of it. `def` has solvers, model
// and budget.
Outcome race_folder(const Options *options, const SandRaceDef *def, SandError *error);
