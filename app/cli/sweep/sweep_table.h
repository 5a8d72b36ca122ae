// SPDX-License-Identifier: MIT
// The table of a sweep: the lines that its runs left, in the order of the grid.
#pragma once
#include "app/cli/sweep/sweep_grid.h"

typedef struct SweepTable {
    const char *folder;
    char *names; // the longest line of names so far; a run that failed early has none of its probes. NULL: no run has ended
    char **rows; // NULL: the run has not ended
    size_t capacity;
    int count;
} SweepTable;

// Reads what is there. Call sweep_table_free whatever the outcome.
bool sweep_table_open(SweepTable *table, const SweepGrid *grid, const char *folder, SandError *error);
// Reads the file of one run again; a run without a file has not ended. False, with a sentence, where it has other columns.
bool sweep_table_read(SweepTable *table, int run, SandError *error);
// Whether a run has ended well; one that failed is taken again.
bool sweep_table_has(const SweepTable *table, int run);
int sweep_table_failed(const SweepTable *table, int *first, char *sentence, size_t size); // runs; the first, and why
double sweep_table_number(const SweepTable *table, int run, int column);                  // NAN: none
bool sweep_table_save(const SweepTable *table, SandError *error);                         // as FOLDER/table.csv
void sweep_table_free(SweepTable *table);
