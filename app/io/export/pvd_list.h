// SPDX-License-Identifier: MIT
// A list of frames over time for ParaView (.pvd): a line for each file. It is written anew, beside its name, with every
// frame.
#pragma once
#include "app/io/export/format.h"
#include "sim/core/array.h"

typedef struct PvdList {
    char path[EXPORT_PATH];
    const char *about; // of the definition
    SAND_ARRAY(char) lines;
    size_t size;
} PvdList;

// Opens the list; an export that resumes keeps the lines up to its checkpoint.
bool pvd_list_open(PvdList *list, const char *path, const ExportDef *def, SandError *error);
// Adds a file, by its path beside the list.
bool pvd_list_add(PvdList *list, const ExportFrame *frame, int part, const char *name, const char *file, SandError *error);
bool pvd_list_write(const PvdList *list, SandError *error);
void pvd_list_free(PvdList *list);
