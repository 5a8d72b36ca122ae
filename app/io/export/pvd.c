// SPDX-License-Identifier: MIT
// For ParaView: FILE.pvd lists the frames, each a VTK XML PolyData file (.vtp) in the folder FILE: points with their
// columns, appended as binary and compressed by zlib. A frame is written beside its name and renamed, and so is the list.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/io/export/describe.h"
#include "app/io/export/vtp.h"
#include "app/io/export/whole_file.h"
#include "app/io/json.h"
#include "sim/core/array.h"

typedef struct PvdWriter {
    const ExportDef *def;
    char folder[EXPORT_PATH];
    const char *name;      // of the folder, without what it is in
    SAND_ARRAY(char) list; // the lines of the frames so far
    size_t list_size;
    Vtp vtp;
} PvdWriter;

static bool write_list(const PvdWriter *w, SandError *error) {
    WholeFile file;
    if (!whole_file_begin(&file, w->def->path, error)) return false;
    fputs("<?xml version=\"1.0\"?>\n", file.out);
    if (w->def->about) export_write_comment(file.out, w->def->about);
    fputs("<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n<Collection>\n", file.out);
    if (w->list_size) fwrite(w->list.data, 1, w->list_size, file.out);
    fputs("</Collection>\n</VTKFile>\n", file.out);
    return whole_file_end(&file, true, error);
}

static bool add_line(PvdWriter *w, const char *line, SandError *error) {
    size_t length = strlen(line), wanted = w->list_size + length;
    if (wanted > w->list.capacity && !SAND_RESERVE(w->list, 2 * wanted, "export", error)) return false;
    memcpy(w->list.data + w->list_size, line, length);
    w->list_size = wanted;
    return true;
}

static bool write_table(PvdWriter *w, const ExportFrame *frame, int subject, SandError *error) {
    char path[EXPORT_PATH], line[2 * EXPORT_PATH], time[JSON_NUMBER];
    const char *name = export_subject_names[subject];
    snprintf(path, sizeof path, "%.4000s/%s_%08" PRIu64 ".vtp", w->folder, name, frame->step);
    if (!vtp_write(&w->vtp, path, frame, &frame->tables[subject], error)) return false;
    snprintf(line, sizeof line,
             "<DataSet step=\"%" PRIu64 "\" timestep=\"%s\" part=\"%d\" name=\"%s\" file=\"%.4000s/%s_%08" PRIu64
             ".vtp\"/>\n",
             frame->step, json_shortest(frame->time, time), subject, name, w->name, name, frame->step);
    return add_line(w, line, error);
}

static bool pvd_write(void *writer, const ExportFrame *frame, SandError *error) {
    PvdWriter *w = writer;
    for (int subject = 0; subject < EXPORT_SUBJECTS; subject++)
        if (frame->tables[subject].array_count && !write_table(w, frame, subject, error)) return false;
    return write_list(w, error);
}

// --- opening and closing ------------------------------------------------------------------------------------

// Takes over the lines of frames up to the step of the checkpoint; the files of later ones are written again.
static bool keep_lines(PvdWriter *w, SandError *error) {
    FILE *file = fopen(w->def->path, "r");
    char *line = NULL;
    size_t size = 0;
    uint64_t step;
    bool kept = true;
    if (!file) return true; // nothing was exported before
    while (kept && getline(&line, &size, file) > 0)
        if (sscanf(line, "<DataSet step=\"%" SCNu64, &step) == 1 && step <= w->def->kept) kept = add_line(w, line, error);
    free(line);
    fclose(file);
    return kept;
}

static bool pvd_close(void *writer, SandError *error) {
    PvdWriter *w = writer;
    (void)error;
    SAND_FREE_ARRAYS(&w->list);
    vtp_free(&w->vtp);
    free(w);
    return true;
}

static void *pvd_open(const ExportDef *def, SandError *error) {
    PvdWriter *w = calloc(1, sizeof *w);
    SandError ignored;
    if (!w) return sand_fail(error, "out of memory for an export"), NULL;
    w->def = def;
    snprintf(w->folder, sizeof w->folder, "%.*s", (int)strlen(def->path) - 4, def->path);
    const char *slash = strrchr(w->folder, '/');
    w->name = slash ? slash + 1 : w->folder;
    bool made = mkdir(w->folder, 0777) == 0 || errno == EEXIST || sand_fail(error, "%.300s: %s", w->folder, strerror(errno));
    if (made && (!def->resumes || keep_lines(w, error)) && write_list(w, error)) return w;
    pvd_close(w, &ignored);
    return NULL;
}

const ExportFormat export_pvd = {
    .ending = ".pvd",
    .about = "VTK's XML files in a folder, for ParaView",
    .open = pvd_open,
    .write = pvd_write,
    .close = pvd_close,
};
