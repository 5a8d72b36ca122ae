// SPDX-License-Identifier: MIT
// The lines of a list, kept from frame to frame as they are written.
#include "app/io/export/pvd_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/io/export/describe.h"
#include "app/io/export/whole_file.h"
#include "app/io/json.h"

bool pvd_list_write(const PvdList *list, SandError *error) {
    WholeFile file;
    if (!whole_file_begin(&file, list->path, error)) return false;
    fputs("<?xml version=\"1.0\"?>\n", file.out);
    if (list->about) export_write_comment(file.out, list->about);
    fputs("<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n<Collection>\n", file.out);
    if (list->size) fwrite(list->lines.data, 1, list->size, file.out);
    fputs("</Collection>\n</VTKFile>\n", file.out);
    return whole_file_end(&file, true, error);
}

static bool add_line(PvdList *list, const char *line, SandError *error) {
    size_t length = strlen(line), wanted = list->size + length;
    if (wanted > list->lines.capacity && !SAND_RESERVE(list->lines, 2 * wanted, "export", error)) return false;
    memcpy(list->lines.data + list->size, line, length);
    list->size = wanted;
    return true;
}

bool pvd_list_add(PvdList *list, const ExportFrame *frame, int part, const char *name, const char *file, SandError *error) {
    char line[2 * EXPORT_PATH], time[JSON_NUMBER];
    snprintf(line, sizeof line, "<DataSet step=\"%" PRIu64 "\" timestep=\"%s\" part=\"%d\" name=\"%s\" file=\"%.4000s\"/>\n",
             frame->step, json_shortest(frame->time, time), part, name, file);
    return add_line(list, line, error);
}

// Takes over the lines of frames up to the step of the checkpoint; the files of later ones are written again.
static bool keep_lines(PvdList *list, uint64_t kept, SandError *error) {
    FILE *file = fopen(list->path, "r");
    char *line = NULL;
    size_t size = 0;
    uint64_t step;
    bool well = true;
    if (!file) return true; // nothing was exported before
    while (well && getline(&line, &size, file) > 0)
        if (sscanf(line, "<DataSet step=\"%" SCNu64, &step) == 1 && step <= kept) well = add_line(list, line, error);
    free(line);
    fclose(file);
    return well;
}

bool pvd_list_open(PvdList *list, const char *path, const ExportDef *def, SandError *error) {
    snprintf(list->path, sizeof list->path, "%s", path);
    list->about = def->about;
    return (!def->resumes || keep_lines(list, def->kept, error)) && pvd_list_write(list, error);
}

void pvd_list_free(PvdList *list) { SAND_FREE_ARRAYS(&list->lines); }
