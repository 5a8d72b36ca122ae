// SPDX-License-Identifier: MIT
// Writing a table of an export as a .vtp file: the XML with the place of each array, then all arrays behind it.
#include "app/io/export/vtp.h"

#include <stdio.h>
#include <string.h>

#include "app/io/export/whole_file.h"
#include "sim/core/array.h"

static bool append(Vtp *w, const void *bytes, size_t size, SandError *error) {
    size_t wanted = w->data_size + size;
    if (wanted > w->data.capacity && !SAND_RESERVE(w->data, wanted + wanted / 2, "export", error)) return false;
    memcpy(w->data.data + w->data_size, bytes, size);
    w->data_size = wanted;
    return true;
}

#ifdef SAND_ZLIB
// As vtkZLibDataCompressor wants it: number of blocks, their size, that of the last where it is not full, the compressed
// sizes, and the blocks.
static bool append_array(Vtp *w, const void *bytes, size_t size, SandError *error) {
    enum { BLOCK = 1 << 18 };
    if (!deflate_blocks(&w->deflated, bytes, size, BLOCK, error)) return false;
    const Deflated *d = &w->deflated;
    const uint64_t head[3] = {(uint64_t)d->count, BLOCK, size % BLOCK};
    bool appended = append(w, head, sizeof head, error);
    for (int k = 0; appended && k < d->count; k++) {
        uint64_t packed = d->size.data[k];
        appended = append(w, &packed, sizeof packed, error);
    }
    for (int k = 0; appended && k < d->count; k++)
        appended = append(w, d->data.data + (size_t)k * d->stride, d->size.data[k], error);
    return appended;
}
static const char compressor[] = " compressor=\"vtkZLibDataCompressor\"";
#else
static bool append_array(Vtp *w, const void *bytes, size_t size, SandError *error) {
    uint64_t head = size;
    return append(w, &head, sizeof head, error) && append(w, bytes, size, error);
}
static const char compressor[] = "";
#endif

static const char *const byte_order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "LittleEndian" : "BigEndian";

// --- a frame as .vtp ----------------------------------------------------------------------------------------

static bool put_array(Vtp *w, FILE *file, const char *type, const char *name, int width, const void *data, size_t size,
                      SandError *error) {
    fprintf(file, "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" offset=\"%zu\"/>\n",
            type, name, width, w->data_size);
    return append_array(w, data, size, error);
}

static bool put_column(Vtp *w, FILE *file, const ExportTable *table, const ExportArray *array, SandError *error) {
    static const char *const types[] = {[EXPORT_I32] = "Int32", [EXPORT_F32] = "Float32", [EXPORT_F64] = "Float64"};
    return put_array(w, file, types[array->type], array->column->name, array->column->width, array->data,
                     export_array_bytes(array, table->count), error);
}

// All points are one cell, which is enough to draw them.
static bool put_cell(Vtp *w, FILE *file, int count, SandError *error) {
    size_t known = w->index.capacity;
    if (!SAND_RESERVE(w->index, count + 1, "export", error)) return false;
    for (size_t i = known; i < w->index.capacity; i++) w->index.data[i] = (int32_t)i;
    fputs("<Verts>\n", file);
    bool put = put_array(w, file, "Int32", "connectivity", 1, w->index.data, (size_t)count * sizeof *w->index.data, error) &&
               put_array(w, file, "Int32", "offsets", 1, &w->index.data[count], count ? sizeof *w->index.data : 0, error);
    fputs("</Verts>\n", file);
    return put;
}

static bool put_points(Vtp *w, FILE *file, const ExportTable *table, SandError *error) {
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

static bool put_vtp(Vtp *w, FILE *file, const ExportFrame *frame, const ExportTable *table, SandError *error) {
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
    if (put) fwrite(w->data.data, 1, w->data_size, file);
    fputs("\n</AppendedData>\n</VTKFile>\n", file);
    return put;
}

void vtp_free(Vtp *w) {
    SAND_FREE_ARRAYS(&w->data, &w->index);
    deflated_free(&w->deflated);
    *w = (Vtp){0};
}

bool vtp_write(Vtp *w, const char *path, const ExportFrame *frame, const ExportTable *table, SandError *error) {
    WholeFile file;
    if (!whole_file_begin(&file, path, error)) return false;
    bool put = put_vtp(w, file.out, frame, table, error);
    return whole_file_end(&file, put, error);
}
