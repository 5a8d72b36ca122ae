// SPDX-License-Identifier: MIT
// A format of exports: one row of the table in exporter.c, and the functions that write it. They run on the thread of the
// writer; what `write` has returned from is on the disk, whatever
// happens to the program.
#pragma once
#include "app/io/export/frame.h"
#include "sim/core/ranks.h"

// What an export is to be.
typedef struct ExportDef {
    const char *path;
    ExportChoice choice[EXPORT_SUBJECTS];
    double rate;             // frames for each simulated second; one for each step at most
    bool resumes;            // goes on with the file that is there, from which frames behind `kept` are dropped
    uint64_t kept;           // step of the checkpoint
    SandVec3 box;            // m, the sides of the period, or twice what the view reaches from the origin
    SandVec3 middle;         // m, of the period; 0 along axes that do not repeat
    const char *about;       // where the run came from: JSON (describe.h); NULL: nothing is said
    const SandShape *shapes; // of the world at its start
    int shape_count;
    const SandBoundary *boundaries; // likewise
    int boundary_count;
    SandVec3 lower, upper;  // m, what a view shows
    const SandRanks *ranks; // of the simulation; NULL: one process
    int part;               // what this one writes of the bodies of a frame: 0, or its rank where each writes a part
} ExportDef;

typedef struct ExportFormat {
    const char *ending; // of the file
    const char *about;
    const char *required; // columns of bodies that are written whatever is chosen; NULL: none
    bool exact;           // real numbers are doubles
    bool scenery;         // shapes and boundaries lie beside the file (scenery.h)
    void *(*open)(const ExportDef *def, SandError *error);
    bool (*write)(void *writer, const ExportFrame *frame, SandError *error);
    // Lists a frame, all parts of which are written; NULL: frames are whole, and written by one process.
    bool (*list)(void *writer, const ExportFrame *frame, SandError *error);
    bool (*flush)(void *writer, SandError *error); // writes what was put off; NULL: nothing ever is
    bool (*close)(void *writer, SandError *error); // frees the writer
    // Changes the numbers of a frame to what is written, while the frame before is being written; NULL: nothing is to
    // change.
    void (*prepare)(const void *writer, ExportFrame *frame);
} ExportFormat;

extern const ExportFormat export_csv, export_pvd, export_gsd, export_vtkhdf, export_usd;

static const char *const export_subject_names[EXPORT_SUBJECTS] = {"bodies", "contacts"};

enum { EXPORT_PATH = 4096 }; // bytes of a path, terminator included
