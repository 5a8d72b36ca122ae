// SPDX-License-Identifier: MIT
// A file that is there whole or not at all: written beside its name, as .part, and renamed.
#pragma once
#include <stdio.h>

#include "app/io/export/format.h"

typedef struct WholeFile {
    FILE *out;
    char path[EXPORT_PATH], part[EXPORT_PATH];
} WholeFile;

bool whole_file_begin(WholeFile *file, const char *path, SandError *error);
// Closes and renames it. `put` false: what it should hold could not be made, and it is dropped; then the sentence is kept.
bool whole_file_end(WholeFile *file, bool put, SandError *error);
