// SPDX-License-Identifier: MIT
// A column of a sweep's table as a plot: its mean over the seeds against the first number that varies, a curve for every
// choice of the others.
#pragma once
#include "app/cli/sweep/sweep_table.h"

bool sweep_plot_save(const SweepTable *table, const SweepGrid *grid, const char *title, const char *column, const char *path,
                     SandError *error);
