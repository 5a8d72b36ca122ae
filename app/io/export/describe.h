// SPDX-License-Identifier: MIT
// What an export says of its run: where it came from, as JSON, and what formats with a box and shapes need.
#pragma once
#include <stdio.h>

#include "app/io/export/format.h"

// Where a run came from, beside what its simulation knows.
typedef struct ExportOrigin {
    const char *scene; // name or path; NULL: a world without one
    bool has_seed;
    uint64_t seed;
    SandVec3 lower, upper; // m, what a view shows
} ExportOrigin;

// Adds to the definition of an export what a file says of its run: `about`, the box, and copies of shapes and boundaries.
bool export_describe(ExportDef *def, SandSimulation *sim, const ExportOrigin *origin, SandError *error);
void export_describe_end(ExportDef *def); // frees them
// Writes the text as a comment of XML, in which two hyphens must not meet.
void export_write_comment(FILE *out, const char *about);
