// SPDX-License-Identifier: MIT
// A frame of an export: the chosen columns of bodies and contacts at one moment, copied out of the simulation so that a
// writer can take its time.
#pragma once
#include "app/io/export/columns.h"
#include "sim/core/array.h"
#include "sim/core/limits.h"
#include "sim/step/backend.h"

typedef enum ExportType { EXPORT_I32, EXPORT_F32, EXPORT_F64 } ExportType;

// The numbers of one column, item after item.
typedef struct ExportArray {
    const ExportColumn *column;
    ExportType type;
    void *data;
    size_t capacity; // bytes
} ExportArray;

typedef struct ExportTable {
    int count; // items
    int array_count;
    ExportArray arrays[EXPORT_MAX_COLUMNS];
} ExportTable;

// The bodies of a frame that a device has copied within its memory, and that are still to be brought to the host.
typedef struct ExportSnapshot {
    const SandBackend *backend; // of the slot
    SandSlot *slot;
    bool pending;
    SandWorld world; // what does not change from frame to frame, and the time
} ExportSnapshot;

typedef struct ExportFrame {
    uint64_t step;
    double time; // s
    ExportTable tables[EXPORT_SUBJECTS];
    SAND_ARRAY(SandPose) poses; // of the boundaries of the world
    ExportSnapshot snapshot;
    int part_count;                // ranks that have a part of its bodies each; 0: one has all
    int64_t parts[SAND_MAX_RANKS]; // bodies of each part
} ExportFrame;

ExportType export_type(const ExportColumn *column, bool exact); // as export_capture stores it
size_t export_type_bytes(ExportType type);
size_t export_array_bytes(const ExportArray *array, int items);
double export_number(const ExportArray *array, size_t index);                // number `index` of all of a column
const ExportArray *export_array(const ExportTable *table, const char *name); // NULL: was not chosen

// Sums over the contacts of a step, kept from frame to frame.
typedef struct ExportScratch {
    SAND_ARRAY(int) items;
    SAND_ARRAY(SandContactResult) results;
    SAND_ARRAY(SandVec3) force;
    SAND_ARRAY(int) contacts;
    SAND_ARRAY(double) worst;
} ExportScratch;
void export_scratch_free(ExportScratch *scratch);

// Takes a frame of the active bodies and the contacts of the last step, without the blocks of joints. `exact`: every real
// number is a double. Where a device has the bodies and nothing else is asked for, it only copies them there, and the frame
// is filled by export_complete, on another thread while the simulation goes on.
bool export_capture(ExportFrame *frame, SandSimulation *sim, const ExportChoice choice[EXPORT_SUBJECTS], bool exact,
                    ExportScratch *scratch, SandError *error);
bool export_complete(ExportFrame *frame, const ExportChoice choice[EXPORT_SUBJECTS], bool exact, ExportScratch *scratch,
                     SandError *error);
// The same of the bodies of a block alone, on all ranks at once; columns that need contacts cannot be among them.
bool export_capture_block(ExportFrame *frame, SandSimulation *sim, const ExportChoice choice[EXPORT_SUBJECTS], bool exact,
                          ExportScratch *scratch, SandError *error);
// Fills a frame with the solution of a problem that has bodies.
bool export_capture_solution(ExportFrame *frame, const SandProblem *problem, const SandSolution *solution, SandError *error);
void export_frame_free(ExportFrame *frame);
