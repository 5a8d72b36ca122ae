// SPDX-License-Identifier: MIT
// Writing the CSV files of probes, a line for each sample, and cutting them back to the time of a checkpoint that a run goes
// on from.
#include "app/cli/session/probe_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/io/json.h"

static void write_header(FILE *file, const SandProbe *p) {
    fputs(sand_probe_cells(p) > 1 ? "time_s,x_m,y_m,z_m" : "time_s", file);
    for (int c = 0; c < sand_probe_columns(p); c++) fprintf(file, ",%s", sand_probe_column(p, c));
    fputc('\n', file);
}

static FILE *open_file(const char *folder, bool resumes, const SandProbe *p, SandError *error) {
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/%s.csv", folder, p->name);
    if (length < 0 || (size_t)length >= sizeof path) return sand_fail(error, "--probes: the path is too long"), NULL;
    FILE *file = resumes ? fopen(path, "r+") : NULL;
    bool kept = file != NULL;
    if (!kept) file = fopen(path, "w+");
    if (!file) return sand_fail(error, "--probes %.300s: %s", path, strerror(errno)), NULL;
    if (!kept) write_header(file, p);
    fflush(file); // a run that is killed before the first sample leaves the columns
    return file;
}

bool probe_files_open(ProbeFiles *f, const char *folder, bool resumes, const SandWorld *w, SandError *error) {
    if (w->probe_count == 0)
        return sand_fail(error, "--probes: the scene has no probes; --probe \"NAME KIND ...\" adds one");
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) return sand_fail(error, "--probes %.300s: %s", folder, strerror(errno));
    f->folder = folder;
    for (int k = 0; k < w->probe_count; k++) {
        f->files[k] = open_file(folder, resumes, &w->probes[k], error);
        if (!f->files[k]) return false;
        f->count++;
    }
    return true;
}

// Whether the file begins with the columns of the probe; it is read up to behind them.
static bool has_header(FILE *file, const SandProbe *p) {
    char *text = NULL, *line = NULL;
    size_t size = 0, capacity = 0;
    FILE *out = open_memstream(&text, &size);
    if (out) write_header(out, p);
    bool same = out && fclose(out) == 0 && getline(&line, &capacity, file) > 0 && !strcmp(line, text);
    free(text);
    free(line);
    return same;
}

// Where the samples up to a time end, in bytes. A line that a killed run left unfinished is none.
static off_t samples_end(FILE *file, double time) {
    char *line = NULL;
    size_t capacity = 0;
    off_t end = ftello(file);
    for (ssize_t length; (length = getline(&line, &capacity, file)) > 0; end += length)
        if (line[length - 1] != '\n' || !(strtod(line, NULL) <= time)) break;
    free(line);
    return end;
}

bool probe_files_resume(ProbeFiles *f, const SandWorld *w, SandError *error) {
    for (int k = 0; k < f->count; k++) {
        FILE *file = f->files[k];
        const char *name = w->probes[k].name;
        if (fflush(file) != 0 || fseeko(file, 0, SEEK_SET) != 0 || !has_header(file, &w->probes[k]))
            return sand_fail(error, "--probes %.200s/%s.csv: its columns are not those of the probe", f->folder, name);
        off_t end = samples_end(file, w->time);
        if (ftruncate(fileno(file), end) != 0 || fseeko(file, end, SEEK_SET) != 0)
            return sand_fail(error, "--probes %.200s/%s.csv: %s", f->folder, name, strerror(errno));
    }
    return true;
}

static void write_number(FILE *file, double value) {
    char number[JSON_NUMBER];
    if (isfinite(value))
        fprintf(file, ",%s", json_shortest(value, number));
    else
        fputs(",nan", file); // the mean of nothing
}

static void write_line(FILE *file, const SandWorld *w, int probe, int cell) {
    const SandProbe *p = &w->probes[probe];
    const double *values = sand_probe_values(w, probe) + (size_t)cell * (size_t)sand_probe_columns(p);
    char number[JSON_NUMBER];
    fputs(json_shortest(w->time, number), file);
    if (sand_probe_cells(p) > 1) {
        SandVec3 center = sand_probe_cell_center(p, cell);
        write_number(file, center.x);
        write_number(file, center.y);
        write_number(file, center.z);
    }
    for (int c = 0; c < sand_probe_columns(p); c++) write_number(file, values[c]);
    fputc('\n', file);
}

bool probe_files_write(ProbeFiles *f, const SandWorld *w, SandError *error) {
    for (int k = 0; k < f->count; k++) {
        if (!sand_probe_sampled(w, k)) continue;
        for (int cell = 0; cell < sand_probe_cells(&w->probes[k]); cell++) write_line(f->files[k], w, k, cell);
        if (fflush(f->files[k]) != 0)
            return sand_fail(error, "--probes %.200s/%s.csv: %s", f->folder, w->probes[k].name, strerror(errno));
    }
    return true;
}

bool probe_files_close(ProbeFiles *f, SandError *error) {
    bool written = true;
    for (int k = 0; k < f->count; k++) written = fclose(f->files[k]) == 0 && written;
    f->count = 0;
    return written || sand_fail(error, "--probes %.300s: not everything could be written: %s", f->folder, strerror(errno));
}
