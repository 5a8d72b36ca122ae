#include "app/cli/probe_files.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "app/io/json.h"

static void write_header(FILE *file, const SandProbe *p) {
    fputs(sand_probe_cells(p) > 1 ? "time_s,x_m,y_m,z_m" : "time_s", file);
    for (int c = 0; c < sand_probe_columns(p); c++) fprintf(file, ",%s", sand_probe_column(p, c));
    fputc('\n', file);
}

static FILE *open_file(const char *folder, const SandProbe *p, SandError *error) {
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/%s.csv", folder, p->name);
    if (length < 0 || (size_t)length >= sizeof path) return sand_fail(error, "--probes: the path is too long"), NULL;
    FILE *file = fopen(path, "w");
    if (!file) return sand_fail(error, "--probes %.300s: %s", path, strerror(errno)), NULL;
    write_header(file, p);
    return file;
}

bool probe_files_open(ProbeFiles *f, const char *folder, const SandWorld *w, SandError *error) {
    if (w->probe_count == 0)
        return sand_fail(error, "--probes: the scene has no probes; --probe \"NAME KIND ...\" adds one");
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) return sand_fail(error, "--probes %.300s: %s", folder, strerror(errno));
    f->folder = folder;
    for (int k = 0; k < w->probe_count; k++) {
        f->files[k] = open_file(folder, &w->probes[k], error);
        if (!f->files[k]) return false;
        f->count++;
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
