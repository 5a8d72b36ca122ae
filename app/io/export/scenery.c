// SPDX-License-Identifier: MIT
// Triangles as VTK XML PolyData in text: they are few, and most of them are written once.
#include "app/io/export/scenery.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/io/export/pvd_list.h"
#include "app/io/export/triangles.h"
#include "app/io/export/whole_file.h"

struct Scenery {
    const ExportDef *def;
    char stem[EXPORT_PATH]; // FILE without its ending
    const char *name;       // of the folder, without what it is in
    PvdList list;
    SAND_ARRAY(SandPose) poses; // of the boundaries at time 0, which walls.vtp has
    bool rested;                // it was written
    Triangles triangles;
    SAND_ARRAY(int32_t) boundary; // of each triangle
};

// --- files --------------------------------------------------------------------------------------------------

static void put_integers(FILE *out, const char *name, const int32_t *values, int count) {
    fprintf(out, "<DataArray type=\"Int32\" Name=\"%s\" format=\"ascii\">", name);
    for (int k = 0; k < count; k++) fprintf(out, "%s%d", k % 12 ? " " : "\n", values[k]);
    fputs("\n</DataArray>\n", out);
}

static void put_triangles(FILE *out, const Triangles *t, const int32_t *boundary) {
    int count = t->corner_count / 3;
    fprintf(
        out,
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\">\n<PolyData>\n"
        "<Piece NumberOfPoints=\"%d\" NumberOfVerts=\"0\" NumberOfLines=\"0\" NumberOfStrips=\"0\" NumberOfPolys=\"%d\">\n"
        "<CellData>\n",
        t->point_count, count);
    if (boundary) put_integers(out, "boundary", boundary, count);
    fputs("</CellData>\n<Points>\n<DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">\n", out);
    for (int k = 0; k < t->point_count; k++)
        fprintf(out, "%.9g %.9g %.9g\n", t->points.data[k].x, t->points.data[k].y, t->points.data[k].z);
    fputs("</DataArray>\n</Points>\n<Polys>\n", out);
    put_integers(out, "connectivity", t->corners.data, t->corner_count);
    fputs("<DataArray type=\"Int32\" Name=\"offsets\" format=\"ascii\">", out);
    for (int k = 1; k <= count; k++) fprintf(out, "%s%d", k % 12 ? " " : "\n", 3 * k);
    fputs("\n</DataArray>\n</Polys>\n</Piece>\n</PolyData>\n</VTKFile>\n", out);
}

static bool write_triangles(const Triangles *t, const int32_t *boundary, const char *path, SandError *error) {
    WholeFile file;
    if (!whole_file_begin(&file, path, error)) return false;
    put_triangles(file.out, t, boundary);
    return whole_file_end(&file, true, error);
}

// --- shapes -------------------------------------------------------------------------------------------------

static bool write_shape(Scenery *s, int shape, SandError *error) {
    char path[EXPORT_PATH + 64];
    snprintf(path, sizeof path, "%.4000s/shape_%d.vtp", s->stem, shape);
    triangles_clear(&s->triangles);
    return triangles_add_shape(&s->triangles, &s->def->shapes[shape], error) &&
           write_triangles(&s->triangles, NULL, path, error);
}

static bool write_shapes(Scenery *s, SandError *error) {
    char path[EXPORT_PATH + 64];
    WholeFile file;
    for (int k = 0; k < s->def->shape_count; k++)
        if (!write_shape(s, k, error)) return false;
    snprintf(path, sizeof path, "%.4000s-shapes.vtm", s->stem);
    if (!whole_file_begin(&file, path, error)) return false;
    fputs("<?xml version=\"1.0\"?>\n<VTKFile type=\"vtkMultiBlockDataSet\" version=\"1.0\" byte_order=\"LittleEndian\">\n"
          "<vtkMultiBlockDataSet>\n",
          file.out);
    for (int k = 0; k < s->def->shape_count; k++)
        fprintf(file.out, "<DataSet index=\"%d\" name=\"shape_%d\" file=\"%s/shape_%d.vtp\"/>\n", k, k, s->name, k);
    fputs("</vtkMultiBlockDataSet>\n</VTKFile>\n", file.out);
    return whole_file_end(&file, true, error);
}

// --- boundaries ---------------------------------------------------------------------------------------------

static bool collect_walls(Scenery *s, const ExportFrame *frame, SandError *error) {
    const ExportDef *def = s->def;
    triangles_clear(&s->triangles);
    for (int k = 0, counted = 0; k < def->boundary_count; k++) {
        if (!triangles_add_boundary(&s->triangles, &def->boundaries[k], frame->poses.data[k], def->lower, def->upper,
                                    error) ||
            !SAND_RESERVE(s->boundary, s->triangles.corner_count / 3 + 1, "export", error))
            return false;
        for (; counted < s->triangles.corner_count / 3; counted++) s->boundary.data[counted] = k;
    }
    return true;
}

bool scenery_write(Scenery *s, const ExportFrame *frame, SandError *error) {
    char path[EXPORT_PATH + 64], file[EXPORT_PATH + 64], number[32] = "";
    size_t bytes = (size_t)s->def->boundary_count * sizeof *s->poses.data;
    if (!bytes) return true;
    bool rests = memcmp(s->poses.data, frame->poses.data, bytes) == 0, known = rests && s->rested;
    if (!rests) snprintf(number, sizeof number, "_%08" PRIu64, frame->step);
    snprintf(path, sizeof path, "%.4000s/walls%s.vtp", s->stem, number);
    snprintf(file, sizeof file, "%.4000s/walls%s.vtp", s->name, number);
    if (!known && !(collect_walls(s, frame, error) && write_triangles(&s->triangles, s->boundary.data, path, error)))
        return false;
    s->rested = s->rested || rests;
    return pvd_list_add(&s->list, frame, 0, "walls", file, error) && pvd_list_write(&s->list, error);
}

Scenery *scenery_open(const ExportDef *def, SandError *error) {
    Scenery *s = calloc(1, sizeof *s);
    char path[EXPORT_PATH + 64];
    if (!s) return sand_fail(error, "out of memory for an export"), NULL;
    s->def = def;
    const char *dot = strrchr(def->path, '.');
    snprintf(s->stem, sizeof s->stem, "%.*s", (int)(dot - def->path), def->path);
    const char *slash = strrchr(s->stem, '/');
    s->name = slash ? slash + 1 : s->stem;
    snprintf(path, sizeof path, "%.4000s-walls.pvd", s->stem);
    bool opened = SAND_RESERVE(s->poses, def->boundary_count + 1, "export", error) && write_shapes(s, error) &&
                  (!def->boundary_count || pvd_list_open(&s->list, path, def, error));
    for (int k = 0; opened && k < def->boundary_count; k++) s->poses.data[k] = sand_boundary_pose(&def->boundaries[k], 0);
    if (opened) return s;
    scenery_free(s);
    return NULL;
}

void scenery_free(Scenery *s) {
    if (!s) return;
    pvd_list_free(&s->list);
    triangles_free(&s->triangles);
    SAND_FREE_ARRAYS(&s->poses, &s->boundary);
    free(s);
}
