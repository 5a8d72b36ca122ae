// For ParaView: FILE.pvd lists the frames, each a VTK XML PolyData file (.vtp) in the folder FILE: points with their
// columns, appended as binary and compressed by zlib. A frame is written beside its name and renamed, and so is the list.
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/io/export/deflate.h"
#include "app/io/export/format.h"
#include "app/io/export/whole_file.h"
#include "app/io/json.h"
#include "sim/core/array.h"

typedef struct PvdWriter {
    const ExportDef *def;
    char folder[EXPORT_PATH];
    const char *name; // of the folder, without what it is in
    char *list;       // the lines of the frames so far
    size_t list_size, list_capacity;
    unsigned char *data; // appended to the file being written
    size_t data_size, data_capacity;
    Deflated deflated; // the last array
    int32_t *index;    // 0, 1, 2, ...
    size_t index_capacity;
} PvdWriter;

// --- the data behind the XML --------------------------------------------------------------------------------

static bool append(PvdWriter *w, const void *bytes, size_t size, SandError *error) {
    size_t wanted = w->data_size + size;
    if (wanted > w->data_capacity && !SAND_GROW(w->data, w->data_capacity, wanted + wanted / 2, "export", error))
        return false;
    memcpy(w->data + w->data_size, bytes, size);
    w->data_size = wanted;
    return true;
}

#ifdef SAND_ZLIB
// As vtkZLibDataCompressor wants it: number of blocks, their size, that of the last where it is not full, the compressed
// sizes, and the blocks.
static bool append_array(PvdWriter *w, const void *bytes, size_t size, SandError *error) {
    if (!deflate_blocks(&w->deflated, bytes, size, error)) return false;
    const Deflated *d = &w->deflated;
    const uint64_t head[3] = {(uint64_t)d->count, DEFLATE_BLOCK, size % DEFLATE_BLOCK};
    bool appended = append(w, head, sizeof head, error);
    for (int k = 0; appended && k < d->count; k++) {
        uint64_t packed = d->size[k];
        appended = append(w, &packed, sizeof packed, error);
    }
    for (int k = 0; appended && k < d->count; k++) appended = append(w, d->data + (size_t)k * d->stride, d->size[k], error);
    return appended;
}
static const char compressor[] = " compressor=\"vtkZLibDataCompressor\"";
#else
static bool append_array(PvdWriter *w, const void *bytes, size_t size, SandError *error) {
    uint64_t head = size;
    return append(w, &head, sizeof head, error) && append(w, bytes, size, error);
}
static const char compressor[] = "";
#endif

static const char *const byte_order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "LittleEndian" : "BigEndian";

// --- a frame as .vtp ----------------------------------------------------------------------------------------

static bool put_array(PvdWriter *w, FILE *file, const char *type, const char *name, int width, const void *data, size_t size,
                      SandError *error) {
    fprintf(file, "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" offset=\"%zu\"/>\n",
            type, name, width, w->data_size);
    return append_array(w, data, size, error);
}

static bool put_column(PvdWriter *w, FILE *file, const ExportTable *table, const ExportArray *array, SandError *error) {
    static const char *const types[] = {[EXPORT_I32] = "Int32", [EXPORT_F32] = "Float32", [EXPORT_F64] = "Float64"};
    return put_array(w, file, types[array->type], array->column->name, array->column->width, array->data,
                     export_array_bytes(array, table->count), error);
}

// All points are one cell, which is enough to draw them.
static bool put_cell(PvdWriter *w, FILE *file, int count, SandError *error) {
    size_t known = w->index_capacity;
    if (!SAND_GROW(w->index, w->index_capacity, count + 1, "export", error)) return false;
    for (size_t i = known; i < w->index_capacity; i++) w->index[i] = (int32_t)i;
    fputs("<Verts>\n", file);
    bool put = put_array(w, file, "Int32", "connectivity", 1, w->index, (size_t)count * sizeof *w->index, error) &&
               put_array(w, file, "Int32", "offsets", 1, &w->index[count], count ? sizeof *w->index : 0, error);
    fputs("</Verts>\n", file);
    return put;
}

static bool put_points(PvdWriter *w, FILE *file, const ExportTable *table, SandError *error) {
    const ExportArray *position = export_array(table, "position");
    fprintf(
        file,
        "<Piece NumberOfPoints=\"%d\" NumberOfVerts=\"%d\" NumberOfLines=\"0\" NumberOfStrips=\"0\" NumberOfPolys=\"0\">\n",
        table->count, table->count > 0);
    fputs("<Points>\n", file);
    bool put = put_column(w, file, table, position, error);
    fputs("</Points>\n", file);
    put = put && put_cell(w, file, table->count, error);
    fputs("<PointData>\n", file);
    for (int k = 0; put && k < table->array_count; k++)
        if (&table->arrays[k] != position) put = put_column(w, file, table, &table->arrays[k], error);
    fputs("</PointData>\n</Piece>\n", file);
    return put;
}

static bool put_vtp(PvdWriter *w, FILE *file, const ExportFrame *frame, const ExportTable *table, SandError *error) {
    w->data_size = 0;
    fprintf(file,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"%s\" "
            "header_type=\"UInt64\"%s>\n<PolyData>\n<FieldData>\n",
            byte_order, compressor);
    int64_t step = (int64_t)frame->step;
    fprintf(file,
            "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"appended\" offset=\"0\"/>\n");
    bool put = append_array(w, &frame->time, sizeof frame->time, error);
    fprintf(file, "<DataArray type=\"Int64\" Name=\"step\" NumberOfTuples=\"1\" format=\"appended\" offset=\"%zu\"/>\n",
            w->data_size);
    put = put && append_array(w, &step, sizeof step, error);
    fputs("</FieldData>\n", file);
    put = put && put_points(w, file, table, error);
    fputs("</PolyData>\n<AppendedData encoding=\"raw\">\n_", file);
    if (put) fwrite(w->data, 1, w->data_size, file);
    fputs("\n</AppendedData>\n</VTKFile>\n", file);
    return put;
}

// --- files ---------------------------------------------------------------------------------------------------

static bool write_list(const PvdWriter *w, SandError *error) {
    WholeFile file;
    if (!whole_file_begin(&file, w->def->path, error)) return false;
    fputs(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n<Collection>\n",
        file.out);
    if (w->list_size) fwrite(w->list, 1, w->list_size, file.out);
    fputs("</Collection>\n</VTKFile>\n", file.out);
    return whole_file_end(&file, true, error);
}

static bool add_line(PvdWriter *w, const char *line, SandError *error) {
    size_t length = strlen(line), wanted = w->list_size + length;
    if (wanted > w->list_capacity && !SAND_GROW(w->list, w->list_capacity, 2 * wanted, "export", error)) return false;
    memcpy(w->list + w->list_size, line, length);
    w->list_size = wanted;
    return true;
}

static bool write_table(PvdWriter *w, const ExportFrame *frame, int subject, SandError *error) {
    char path[EXPORT_PATH], line[2 * EXPORT_PATH], time[JSON_NUMBER];
    WholeFile file;
    const char *name = export_subject_names[subject];
    snprintf(path, sizeof path, "%.4000s/%s_%08" PRIu64 ".vtp", w->folder, name, frame->step);
    if (!whole_file_begin(&file, path, error)) return false;
    bool put = put_vtp(w, file.out, frame, &frame->tables[subject], error);
    if (!whole_file_end(&file, put, error)) return false;
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
    sand_free(w->list);
    sand_free(w->data);
    sand_free(w->index);
    deflated_free(&w->deflated);
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
    ".pvd", "VTK's XML files in a folder, for ParaView", NULL, false, pvd_open, pvd_write, NULL, pvd_close};
