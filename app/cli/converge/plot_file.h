// SPDX-License-Identifier: MIT
// A plot of the command line as a file: PNG, SVG or CSV, as its name ends.
#pragma once
#include "app/ui/plot.h"

bool plot_file_save(const Plot *plot, const char *path, SandError *error);
