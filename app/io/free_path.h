// SPDX-License-Identifier: MIT
// Names for files that never overwrite another.
#pragma once
#include "sandglass/error.h"

// Makes the folder where it is missing, with its parents, and writes the first path that is free: folder/stem.ending,
// folder/stem-2.ending, and so on. An empty ending is for a folder.
bool free_path(char *path, size_t size, const char *folder, const char *stem, const char *ending, SandError *error);
