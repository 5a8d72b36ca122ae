// SPDX-License-Identifier: MIT
// The grid of a sweep: what varies (--vary, --seeds), its values, and the options of each run. Runs are counted from 0, the
// last axis runs fastest.
#pragma once
#include "app/cli/options/options.h"
#include "sandglass/scene.h"

enum {
    SWEEP_VALUE = 64, // bytes of a value as text
    SWEEP_MOST_RUNS = 100000,
    SWEEP_MOST_AXES = OPTIONS_MAX_LIST + 1,
};

typedef struct SweepAxis {
    char name[SAND_NAME];
    int option;                  // OptionId; -1: a knob of the scene or a parameter of the solver
    char (*values)[SWEEP_VALUE]; // as on the command line
    size_t capacity;
    int count;
    bool numeric; // all values are numbers
} SweepAxis;

typedef struct SweepGrid {
    SweepAxis axes[SWEEP_MOST_AXES]; // seeds last
    int axis_count;
    int count; // runs
} SweepGrid;

// The options of one run.
typedef struct SweepPoint {
    Options options;
    char sets[OPTIONS_MAX_LIST][SAND_NAME + SWEEP_VALUE + 2]; // texts of the options' sets
} SweepPoint;

// Reads the axes and checks the values of those that are options. Call sweep_grid_free whatever the outcome.
bool sweep_grid_read(SweepGrid *grid, const Options *options, SandError *error);
// Whether every other axis is a knob of the scene or a parameter of some solver; else with a sentence.
bool sweep_grid_check(const SweepGrid *grid, const SandScene *scene, SandError *error);
void sweep_grid_free(SweepGrid *grid);

int sweep_grid_index(const SweepGrid *grid, int run, int axis); // which value the run has
const char *sweep_grid_value(const SweepGrid *grid, int run, int axis);
// Makes the options of a run from those of the sweep. False, with a sentence, where they do not go together.
bool sweep_grid_point(const SweepGrid *grid, int run, const Options *options, SweepPoint *point, SandError *error);
