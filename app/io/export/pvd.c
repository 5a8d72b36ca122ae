// SPDX-License-Identifier: MIT
// For ParaView: FILE.pvd lists the frames, each a VTK XML PolyData file (.vtp) in the folder FILE: points with their
// columns, appended as binary and compressed by zlib. A frame is written beside its name and renamed, and so is the list.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/io/export/pvd_list.h"
#include "app/io/export/vtp.h"

typedef struct PvdWriter {
    char folder[EXPORT_PATH];
    const char *name; // of the folder, without what it is in
    PvdList list;
    Vtp vtp;
} PvdWriter;

static bool write_table(PvdWriter *w, const ExportFrame *frame, int subject, SandError *error) {
    char path[EXPORT_PATH + 64], file[EXPORT_PATH + 64];
    const char *name = export_subject_names[subject];
    snprintf(path, sizeof path, "%.4000s/%s_%08" PRIu64 ".vtp", w->folder, name, frame->step);
    snprintf(file, sizeof file, "%.4000s/%s_%08" PRIu64 ".vtp", w->name, name, frame->step);
    return vtp_write(&w->vtp, path, frame, &frame->tables[subject], error) &&
           pvd_list_add(&w->list, frame, subject, name, file, error);
}

static bool pvd_write(void *writer, const ExportFrame *frame, SandError *error) {
    PvdWriter *w = writer;
    for (int subject = 0; subject < EXPORT_SUBJECTS; subject++)
        if (frame->tables[subject].array_count && !write_table(w, frame, subject, error)) return false;
    return pvd_list_write(&w->list, error);
}

static bool pvd_close(void *writer, SandError *error) {
    PvdWriter *w = writer;
    (void)error;
    pvd_list_free(&w->list);
    vtp_free(&w->vtp);
    free(w);
    return true;
}

static void *pvd_open(const ExportDef *def, SandError *error) {
    PvdWriter *w = calloc(1, sizeof *w);
    SandError ignored;
    if (!w) return sand_fail(error, "out of memory for an export"), NULL;
    snprintf(w->folder, sizeof w->folder, "%.*s", (int)strlen(def->path) - 4, def->path);
    const char *slash = strrchr(w->folder, '/');
    w->name = slash ? slash + 1 : w->folder;
    bool made = mkdir(w->folder, 0777) == 0 || errno == EEXIST || sand_fail(error, "%.300s: %s", w->folder, strerror(errno));
    if (made && pvd_list_open(&w->list, def->path, def, error)) return w;
    pvd_close(w, &ignored);
    return NULL;
}

const ExportFormat export_pvd = {
    .ending = ".pvd",
    .about = "VTK's XML files in a folder, for ParaView",
    .scenery = true,
    .open = pvd_open,
    .write = pvd_write,
    .close = pvd_close,
};
