// SPDX-License-Identifier: MIT
// The solutions of a race as files: a folder with SOLVER.hdf5, in FCLIB's layout, and SOLVER.csv for every solver that ran.
#pragma once
#include "app/cli/options/options.h"
#include "sim/study/race.h"

// Whether a path ends in .hdf5 or .h5.
bool solutions_is_hdf5(const char *path);
// Writes the files where --solutions is given; --global chooses FCLIB's global form.
bool solutions_save(const Options *options, const SandRace *race, const SandProblem *problem, SandError *error);
