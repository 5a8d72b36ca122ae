// SPDX-License-Identifier: MIT
// A CSV file for each probe of a scene (--probes FOLDER), with a line per sample, or, where a probe has several cells, one
// per cell and sample.
#pragma once
#include <stdio.h>

#include "sandglass/simulation.h"

typedef struct ProbeFiles {
    const char *folder; // NULL: no files
    FILE *files[SAND_MAX_PROBES];
    int count;
} ProbeFiles;

// Makes the folder where it is missing, and opens a file NAME.csv for each probe of the world. A world without probes is
// refused. `resumes`: files that are there are kept, for probe_files_resume to say how much of them counts.
bool probe_files_open(ProbeFiles *files, const char *folder, bool resumes, const SandWorld *world, SandError *error);
// Drops the samples that are later than the time of the world, which goes on from a checkpoint. False, with a sentence, when
// a file has other columns.
bool probe_files_resume(ProbeFiles *files, const SandWorld *world, SandError *error);
// Writes the samples that the last step took; no effect without files. What is written is on the disk, whatever comes after.
bool probe_files_write(ProbeFiles *files, const SandWorld *world, SandError *error);
bool probe_files_close(ProbeFiles *files, SandError *error); // false when not everything could be written
