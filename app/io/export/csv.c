// SPDX-License-Identifier: MIT
// CSV: a line for each body and frame in FILE.csv, a line for each contact and frame in FILE-contacts.csv; where the run
// came from is in FILE.csv.json.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/io/export/format.h"
#include "app/io/export/whole_file.h"
#include "app/io/json.h"

typedef struct CsvWriter {
    FILE *files[EXPORT_SUBJECTS]; // NULL: not wanted
    char paths[EXPORT_SUBJECTS][EXPORT_PATH];
} CsvWriter;

static bool fail(const CsvWriter *w, int subject, SandError *error) {
    return sand_fail(error, "%.300s: %s", w->paths[subject], strerror(errno));
}

static void write_header(FILE *file, const ExportChoice *choice) {
    static const char *const axes[] = {"x", "y", "z"}, *const parts[] = {"w", "x", "y", "z"};
    fputs("step,time_s", file);
    for (int k = 0; k < choice->count; k++) {
        const ExportColumn *c = choice->columns[k];
        for (int i = 0; i < c->width; i++)
            fprintf(file, c->width == 1 ? ",%s" : ",%s_%s", c->name, c->width == 4 ? parts[i] : axes[i]);
    }
    fputc('\n', file);
}

// Drops the lines of steps behind `kept`, and a last line that was cut off.
static bool keep_lines(FILE *file, uint64_t kept) {
    char *line = NULL;
    size_t size = 0;
    off_t end = 0;
    for (ssize_t length; (length = getline(&line, &size, file)) > 0; end += length) {
        bool header = end == 0, whole = line[length - 1] == '\n';
        if (!whole || (!header && strtoull(line, NULL, 10) > kept)) break;
    }
    free(line);
    return fflush(file) == 0 && ftruncate(fileno(file), end) == 0 && fseeko(file, end, SEEK_SET) == 0;
}

static bool open_file(CsvWriter *w, int subject, const ExportDef *def, SandError *error) {
    w->files[subject] = def->resumes ? fopen(w->paths[subject], "r+") : NULL;
    bool kept = w->files[subject] != NULL;
    if (!kept) w->files[subject] = fopen(w->paths[subject], "w");
    if (!w->files[subject] || (kept && !keep_lines(w->files[subject], def->kept))) return fail(w, subject, error);
    if (!kept) write_header(w->files[subject], &def->choice[subject]);
    return true;
}

static bool csv_close(void *writer, SandError *error) {
    CsvWriter *w = writer;
    bool closed = true;
    for (int subject = 0; subject < EXPORT_SUBJECTS; subject++)
        if (w->files[subject] && fclose(w->files[subject]) != 0) closed = fail(w, subject, error);
    free(w);
    return closed;
}

// Where the run came from goes to FILE.csv.json: readers of CSV stumble over anything but a table.
static bool write_about(const ExportDef *def, SandError *error) {
    WholeFile file;
    char path[EXPORT_PATH];
    if (!def->about) return true;
    snprintf(path, sizeof path, "%.4000s.json", def->path);
    if (!whole_file_begin(&file, path, error)) return false;
    fputs(def->about, file.out);
    return whole_file_end(&file, true, error);
}

static void *csv_open(const ExportDef *def, SandError *error) {
    CsvWriter *w = calloc(1, sizeof *w);
    SandError ignored;
    if (!w) return sand_fail(error, "out of memory for an export"), NULL;
    snprintf(w->paths[EXPORT_BODIES], EXPORT_PATH, "%s", def->path);
    snprintf(w->paths[EXPORT_CONTACTS], EXPORT_PATH, "%.*s-contacts.csv", (int)strlen(def->path) - 4, def->path);
    for (int subject = 0; subject < EXPORT_SUBJECTS; subject++)
        if (def->choice[subject].count && !open_file(w, subject, def, error)) return csv_close(w, &ignored), NULL;
    if (!write_about(def, error)) return csv_close(w, &ignored), NULL;
    return w;
}

static void write_item(FILE *file, const ExportFrame *frame, const ExportTable *table, size_t item) {
    char number[JSON_NUMBER];
    fprintf(file, "%" PRIu64 ",%s", frame->step, json_shortest(frame->time, number));
    for (int k = 0; k < table->array_count; k++) {
        const ExportArray *array = &table->arrays[k];
        size_t width = (size_t)array->column->width;
        for (size_t i = 0; i < width; i++)
            fprintf(file, ",%s", json_shortest(export_number(array, item * width + i), number));
    }
    fputc('\n', file);
}

static bool csv_write(void *writer, const ExportFrame *frame, SandError *error) {
    CsvWriter *w = writer;
    for (int subject = 0; subject < EXPORT_SUBJECTS; subject++) {
        const ExportTable *table = &frame->tables[subject];
        FILE *file = w->files[subject];
        for (int i = 0; file && i < table->count; i++) write_item(file, frame, table, (size_t)i);
        if (file && (fflush(file) != 0 || ferror(file))) return fail(w, subject, error);
    }
    return true;
}

const ExportFormat export_csv = {
    .ending = ".csv",
    .about = "text, for everything else",
    .exact = true,
    .open = csv_open,
    .write = csv_write,
    .close = csv_close,
};
