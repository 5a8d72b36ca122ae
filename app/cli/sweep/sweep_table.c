// SPDX-License-Identifier: MIT
// Reading the lines that runs left into the table of a sweep, and saving it as one CSV file in the order of the grid.
#include "app/cli/sweep/sweep_table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/cli/sweep/csv.h"
#include "app/cli/sweep/sweep_run.h"
#include "app/io/export/whole_file.h"
#include "sim/core/array.h"

static char *read_line(FILE *file) {
    char *line = NULL;
    size_t size = 0;
    ssize_t length = getline(&line, &size, file);
    if (length > 0 && line[length - 1] == '\n') {
        line[length - 1] = '\0';
        return line;
    }
    free(line);
    return NULL;
}

// Keeps the longer one of two lines of names, which begin alike.
static bool join_names(SweepTable *table, char *names, int run, SandError *error) {
    size_t old = table->names ? strlen(table->names) : 0, new = strlen(names);
    bool alike = !strncmp(names, table->names ? table->names : "", old < new ? old : new);
    if (alike && new > old) {
        free(table->names);
        table->names = names;
    } else {
        free(names);
    }
    return alike ||
           sand_fail(error, "%.200s/runs/%d.csv: has other columns than the runs before it", table->folder, run + 1);
}

bool sweep_table_read(SweepTable *table, int run, SandError *error) {
    char path[SWEEP_PATH];
    sweep_run_path(path, table->folder, run, "csv");
    free(table->rows[run]);
    table->rows[run] = NULL;
    FILE *file = fopen(path, "r");
    if (!file) return errno == ENOENT || sand_fail(error, "%.300s: %s", path, strerror(errno));
    char *names = read_line(file);
    table->rows[run] = names ? read_line(file) : NULL;
    fclose(file);
    if (table->rows[run]) return join_names(table, names, run, error);
    free(names);
    return sand_fail(error, "%.300s: is no result of a run; remove it to take the run again", path);
}

bool sweep_table_open(SweepTable *table, const SweepGrid *grid, const char *folder, SandError *error) {
    *table = (SweepTable){.folder = folder};
    if (!SAND_GROW(table->rows, table->capacity, grid->count, "the table of a sweep", error)) return false;
    table->count = grid->count;
    for (int run = 0; run < table->count; run++)
        if (!sweep_table_read(table, run, error)) return false;
    return true;
}

// Copies why a run failed: empty where it did not.
static void read_sentence(const SweepTable *table, int run, char *sentence, size_t size) {
    csv_cell(table->rows[run], csv_find(table->names, SWEEP_ERROR), sentence, size);
}

bool sweep_table_has(const SweepTable *table, int run) {
    char sentence[2];
    if (!table->rows[run]) return false;
    read_sentence(table, run, sentence, sizeof sentence);
    return !*sentence;
}

int sweep_table_failed(const SweepTable *table, int *first, char *sentence, size_t size) {
    int failed = 0;
    for (int run = table->count - 1; run >= 0; run--) {
        if (!table->rows[run] || sweep_table_has(table, run)) continue;
        failed++;
        *first = run;
        read_sentence(table, run, sentence, size);
    }
    return failed;
}

double sweep_table_number(const SweepTable *table, int run, int column) {
    char text[64], *end;
    if (!table->rows[run] || !csv_cell(table->rows[run], column, text, sizeof text)) return NAN;
    double number = strtod(text, &end);
    return end != text && !*end ? number : NAN;
}

bool sweep_table_save(const SweepTable *table, SandError *error) {
    char path[SWEEP_PATH];
    WholeFile file;
    if (!table->names) return true; // no run has ended
    snprintf(path, sizeof path, "%.4000s/table.csv", table->folder);
    if (!whole_file_begin(&file, path, error)) return false;
    fprintf(file.out, "%s\n", table->names);
    int columns = csv_columns(table->names);
    for (int run = 0; run < table->count; run++) {
        if (!table->rows[run]) continue;
        fputs(table->rows[run], file.out);
        for (int k = csv_columns(table->rows[run]); k < columns; k++) fputc(',', file.out);
        fputc('\n', file.out);
    }
    return whole_file_end(&file, true, error);
}

void sweep_table_free(SweepTable *table) {
    for (int run = 0; run < table->count; run++) free(table->rows[run]);
    sand_free(table->rows);
    free(table->names);
    *table = (SweepTable){0};
}
