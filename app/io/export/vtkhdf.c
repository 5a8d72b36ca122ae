// SPDX-License-Identifier: MIT
// For ParaView: VTKHDF PolyData with time steps. FILE.vtkhdf has the steps, and its columns are virtual datasets over the
// frames, each an HDF5 file of compressed columns in the folder FILE, or one from each rank; contacts are in
// FILE-contacts.vtkhdf. Frames never change once written, and the file with the steps is replaced as a whole, so that a kill
// breaks neither. HDF5 builds both in memory: a full disk is a fault of ours alone.
#include "app/io/export/format.h"

#ifndef SAND_HDF5

static void *vtkhdf_open(const ExportDef *def, SandError *error) {
    return sand_fail(error, "%.200s: this build cannot write HDF5; build where libhdf5-dev is installed", def->path), NULL;
}

const ExportFormat export_vtkhdf = {.ending = ".vtkhdf", .about = "VTKHDF, for ParaView", .open = vtkhdf_open};

#else

#include <errno.h>
#include <hdf5.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app/io/export/deflate.h"
#include "app/io/export/whole_file.h"
#include "sim/core/array.h"
#include "sim/core/clock.h"

// The frames of bodies or of contacts so far.
typedef struct Series {
    char path[EXPORT_PATH];
    int count;
    SAND_ARRAY(int64_t) step, items, parts; // of each frame; parts: files that it has its items in
    SAND_ARRAY(double) time;
    SAND_ARRAY(int64_t) part_items; // of each part of each frame
    int part_count;
    int listed;          // frames that the file has
    double seconds, end; // s, that its last writing took, and when it ended
} Series;

typedef struct VtkhdfWriter {
    const ExportDef *def;
    char folder[EXPORT_PATH];
    const char *name; // of the folder, without what it is in
    Series series[EXPORT_SUBJECTS];
    SAND_ARRAY(unsigned char) shuffled; // a column
    Deflated deflated;                  // the same, compressed
} VtkhdfWriter;

static bool refuse(SandError *error, const char *path) { return sand_fail(error, "%.300s: HDF5 cannot make it", path); }

static hid_t type_in_file(ExportType type) {
    return type == EXPORT_I32 ? H5T_STD_I32LE : type == EXPORT_F32 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
}

static hid_t type_in_memory(ExportType type) {
    return type == EXPORT_I32 ? H5T_NATIVE_INT32 : type == EXPORT_F32 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
}

// --- files in memory ----------------------------------------------------------------------------------------

static hid_t create_in_memory(const char *name) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(access, 1 << 20, false);
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    H5Pclose(access);
    return file;
}

// Writes the image of a file and closes it. `made` false: there is a sentence already.
static bool save_image(hid_t file, const char *path, bool made, SandError *error) {
    ssize_t size = made && H5Fflush(file, H5F_SCOPE_LOCAL) >= 0 ? H5Fget_file_image(file, NULL, 0) : -1;
    void *image = size > 0 ? malloc((size_t)size) : NULL;
    bool whole = image && H5Fget_file_image(file, image, (size_t)size) == size;
    H5Fclose(file);
    WholeFile out;
    bool saved = whole ? whole_file_begin(&out, path, error) : made ? refuse(error, path) : false;
    if (saved) {
        fwrite(image, 1, (size_t)size, out.out);
        saved = whole_file_end(&out, true, error);
    }
    free(image);
    return saved;
}

// Creates a dataset of `rows` by `width` numbers, 0: without a second dimension, and writes it; NULL: it is virtual.
static bool put_dataset(hid_t group, const char *name, hid_t stored, hid_t type, hsize_t rows, hsize_t width,
                        const void *data, hid_t properties) {
    const hsize_t size[2] = {rows, width};
    hid_t space = H5Screate_simple(width ? 2 : 1, size, NULL);
    hid_t set = H5Dcreate2(group, name, stored, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    bool put = set >= 0 && (!rows || !data || H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    if (set >= 0) H5Dclose(set);
    H5Sclose(space);
    return put;
}

static bool put_integers(hid_t group, const char *name, hsize_t rows, hsize_t width, const int64_t *data) {
    return put_dataset(group, name, H5T_STD_I64LE, H5T_NATIVE_INT64, rows, width, data, H5P_DEFAULT);
}

// --- frames -------------------------------------------------------------------------------------------------

static hsize_t width_of(const ExportColumn *column) { return column->width > 1 ? (hsize_t)column->width : 0; }

enum { CHUNK_BYTES = 1 << 18 }; // of a compressed chunk before, at most

// A compressed column in the making. HDF5 compresses on one core, so its chunks are made here as its filters would.
typedef struct Packed {
    hsize_t rows; // of a chunk
    size_t size;  // bytes of a chunk
    size_t chunks;
} Packed;

static Packed plan_chunks(const ExportArray *array, int count) {
    size_t row = export_array_bytes(array, 1);
    hsize_t most = CHUNK_BYTES / row, rows = (hsize_t)count < most ? (hsize_t)count : most;
    return (Packed){.rows = rows, .size = rows * row, .chunks = rows ? ((size_t)count + rows - 1) / rows : 0};
}

// The bytes of the numbers of a chunk, all first ones first, then all second ones: the filter `shuffle`. Behind the end of
// the column a chunk has zeros.
static void shuffle_chunk(unsigned char *to, const unsigned char *from, size_t size, size_t there, size_t width) {
    size_t numbers = size / width;
    for (size_t byte = 0; byte < width; byte++)
        for (size_t i = 0; i < numbers; i++) to[byte * numbers + i] = i * width < there ? from[i * width + byte] : 0;
}

static bool shuffle_column(VtkhdfWriter *w, const ExportArray *array, int count, Packed p, SandError *error) {
    size_t all = export_array_bytes(array, count), width = export_type_bytes(array->type);
    if (!SAND_RESERVE(w->shuffled, p.chunks * p.size + 1, "export", error)) return false;
#pragma omp parallel for
    for (size_t k = 0; k < p.chunks; k++) {
        size_t begin = k * p.size, there = all - begin < p.size ? all - begin : p.size;
        shuffle_chunk(w->shuffled.data + begin, (const unsigned char *)array->data + begin, p.size, there, width);
    }
    return true;
}

static bool write_chunks(hid_t set, const Deflated *deflated, Packed p) {
    bool written = true;
    for (size_t k = 0; written && k < p.chunks; k++) {
        const hsize_t at[2] = {k * p.rows, 0};
        written =
            H5Dwrite_chunk(set, H5P_DEFAULT, 0, at, deflated->size.data[k], deflated->data.data + k * deflated->stride) >= 0;
    }
    return written;
}

static hid_t chunk_properties(const ExportColumn *column, Packed p) {
    const hsize_t chunk[2] = {p.rows, width_of(column)};
    hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(properties, chunk[1] ? 2 : 1, chunk);
    H5Pset_shuffle(properties);
    H5Pset_deflate(properties, 1);
    return properties;
}

static bool put_packed(VtkhdfWriter *w, hid_t file, const ExportArray *array, int count, SandError *error) {
    Packed p = plan_chunks(array, count);
    if (!shuffle_column(w, array, count, p, error) ||
        !deflate_blocks(&w->deflated, w->shuffled.data, p.chunks * p.size, p.size, error))
        return false;
    hid_t properties = chunk_properties(array->column, p);
    bool put = put_dataset(file, array->column->name, type_in_file(array->type), type_in_memory(array->type), (hsize_t)count,
                           width_of(array->column), NULL, properties);
    H5Pclose(properties);
    hid_t set = put ? H5Dopen2(file, array->column->name, H5P_DEFAULT) : -1;
    put = set >= 0 && write_chunks(set, &w->deflated, p);
    if (set >= 0) H5Dclose(set);
    return put || refuse(error, w->folder);
}

static bool put_plain(VtkhdfWriter *w, hid_t file, const ExportArray *array, int count, SandError *error) {
    return put_dataset(file, array->column->name, type_in_file(array->type), type_in_memory(array->type), (hsize_t)count,
                       width_of(array->column), array->data, H5P_DEFAULT) ||
           refuse(error, w->folder);
}

static void frame_name(char *name, const char *folder, int subject, int64_t step, int part) {
    char suffix[16] = "";
    if (part) snprintf(suffix, sizeof suffix, "_%d", part);
    snprintf(name, EXPORT_PATH, "%.3900s/%s_%08" PRId64 "%s.h5", folder, export_subject_names[subject], step, suffix);
}

static bool write_frame(VtkhdfWriter *w, const ExportFrame *frame, int subject, SandError *error) {
    const ExportTable *table = &frame->tables[subject];
    char path[EXPORT_PATH];
    frame_name(path, w->folder, subject, (int64_t)frame->step, w->def->part);
    hid_t file = create_in_memory(path);
    bool put = file >= 0;
    if (!put) return refuse(error, path);
    bool packs = deflate_is_there() && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && table->count > 0;
    for (int k = 0; put && k < table->array_count; k++)
        put = packs ? put_packed(w, file, &table->arrays[k], table->count, error)
                    : put_plain(w, file, &table->arrays[k], table->count, error);
    return save_image(file, path, put, error);
}

// --- the file with the steps --------------------------------------------------------------------------------

// Makes `size` rows of a virtual dataset, from `at` on, those of the file of a part.
static bool map_part(hid_t properties, hid_t space, const hsize_t at[2], const hsize_t size[2], const char *path,
                     const ExportColumn *column) {
    hid_t from = H5Screate_simple(size[1] ? 2 : 1, size, NULL);
    bool put = H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, size, NULL) >= 0 &&
               H5Pset_virtual(properties, space, path, column->name, from) >= 0;
    H5Sclose(from);
    return put;
}

// A column over all frames: each part of one is a part of one virtual dataset.
static bool put_virtual(hid_t group, const char *name, const VtkhdfWriter *w, int subject, const ExportColumn *column) {
    ExportType type = export_type(column, export_vtkhdf.exact);
    const Series *s = &w->series[subject];
    const int64_t *items = s->part_items.data;
    hsize_t rows = 0, width = width_of(column), at[2] = {0, 0};
    for (int k = 0; k < s->count; k++) rows += (hsize_t)s->items.data[k];
    const hsize_t size[2] = {rows, width};
    hid_t properties = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(width ? 2 : 1, size, NULL);
    bool put = properties >= 0 && space >= 0;
    for (int k = 0; k < s->count; k++)
        for (int part = 0; put && part < (int)s->parts.data[k]; part++, items++) {
            char source[EXPORT_PATH];
            const hsize_t there[2] = {(hsize_t)*items, width};
            frame_name(source, w->name, subject, s->step.data[k], part);
            put = !*items || map_part(properties, space, at, there, source, column);
            at[0] += there[0];
        }
    H5Sclose(space);
    put = put && put_dataset(group, name, type_in_file(type), type_in_memory(type), rows, width, NULL,
                             rows ? properties : H5P_DEFAULT);
    H5Pclose(properties);
    return put;
}

static bool put_attribute(hid_t group, const char *name, hid_t type, hsize_t count, const void *data) {
    hid_t space = count ? H5Screate_simple(1, &count, NULL) : H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    bool put = attribute >= 0 && H5Awrite(attribute, type, data) >= 0;
    if (attribute >= 0) H5Aclose(attribute);
    H5Sclose(space);
    return put;
}

static bool put_head(hid_t group) {
    static const char kind[] = "PolyData";
    const int64_t version[2] = {2, 0};
    hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, sizeof kind - 1);
    bool put = put_attribute(group, "Version", H5T_NATIVE_INT64, 2, version) && put_attribute(group, "Type", text, 0, kind);
    H5Tclose(text);
    return put;
}

// Where the run came from, as text.
static bool put_about(hid_t file, const char *about) {
    if (!about) return true;
    hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, strlen(about));
    H5Tset_cset(text, H5T_CSET_UTF8);
    bool put = put_attribute(file, "provenance", text, 0, about);
    H5Tclose(text);
    return put;
}

// Cells of one kind. All points of a frame are one vertex cell, and every frame has the same connectivity; of the other
// kinds there are none.
static bool put_cells(hid_t group, const char *name, const Series *s, bool vertices, int64_t *numbers) {
    int most = 0;
    hsize_t frames = (hsize_t)s->count;
    hid_t cells = H5Gcreate2(group, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (int k = 0; k < s->count; k++) most = s->items.data[k] > most ? (int)s->items.data[k] : most;
    if (!vertices) most = 0;
    for (int k = 0; k < s->count; k++) numbers[k] = vertices;
    bool put = cells >= 0 && put_integers(cells, "NumberOfCells", frames, 0, numbers);
    for (int k = 0; k < s->count; k++) numbers[k] = vertices ? s->items.data[k] : 0;
    put = put && put_integers(cells, "NumberOfConnectivityIds", frames, 0, numbers);
    for (int k = 0; k < 2 * s->count; k++) numbers[k] = vertices && k % 2 ? s->items.data[k / 2] : 0;
    put = put && put_integers(cells, "Offsets", vertices ? 2 * frames : frames, 0, numbers);
    for (int k = 0; k < most; k++) numbers[k] = k;
    put = put && put_integers(cells, "Connectivity", (hsize_t)most, 0, numbers);
    if (cells >= 0) H5Gclose(cells);
    return put;
}

// Where the items of each frame begin.
static void sum_items(const Series *s, int64_t *numbers) {
    int64_t sum = 0;
    for (int k = 0; k < s->count; k++) {
        numbers[k] = sum;
        sum += s->items.data[k];
    }
}

static bool put_offsets(hid_t steps, const ExportChoice *choice, const Series *s, int64_t *numbers) {
    hid_t group = H5Gcreate2(steps, "PointDataOffsets", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool put = group >= 0;
    sum_items(s, numbers);
    for (int k = 0; put && k < choice->count; k++)
        if (strcmp(choice->columns[k]->name, "position"))
            put = put_integers(group, choice->columns[k]->name, (hsize_t)s->count, 0, numbers);
    if (group >= 0) H5Gclose(group);
    return put;
}

static bool put_steps(hid_t group, const ExportChoice *choice, const Series *s, int64_t *numbers) {
    int64_t count = s->count;
    hsize_t frames = (hsize_t)count;
    hid_t steps = H5Gcreate2(group, "Steps", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool put = steps >= 0 && put_attribute(steps, "NSteps", H5T_NATIVE_INT64, 0, &count) &&
               put_dataset(steps, "Values", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, frames, 0, s->time.data, H5P_DEFAULT);
    for (int k = 0; k < s->count; k++) numbers[k] = k;
    put = put && put_integers(steps, "PartOffsets", frames, 0, numbers);
    for (int k = 0; k < s->count; k++) numbers[k] = 1;
    put = put && put_integers(steps, "NumberOfParts", frames, 0, numbers);
    sum_items(s, numbers);
    put = put && put_integers(steps, "PointOffsets", frames, 0, numbers);
    for (int k = 0; k < 4 * s->count; k++) numbers[k] = k % 4 ? 0 : k / 4; // a vertex cell in each frame
    put = put && put_integers(steps, "CellOffsets", frames, 4, numbers);
    memset(numbers, 0, 4 * (size_t)s->count * sizeof *numbers);
    put = put && put_integers(steps, "ConnectivityIdOffsets", frames, 4, numbers) && put_offsets(steps, choice, s, numbers);
    if (steps >= 0) H5Gclose(steps);
    return put;
}

static bool put_columns(hid_t group, const VtkhdfWriter *w, int subject) {
    const ExportChoice *choice = &w->def->choice[subject];
    hid_t points = H5Gcreate2(group, "PointData", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool put = points >= 0;
    for (int k = 0; put && k < choice->count; k++) {
        const ExportColumn *column = choice->columns[k];
        bool position = !strcmp(column->name, "position");
        put = put_virtual(position ? group : points, position ? "Points" : column->name, w, subject, column);
    }
    if (points >= 0) H5Gclose(points);
    return put;
}

static bool put_all(hid_t file, const VtkhdfWriter *w, int subject, int64_t *numbers) {
    static const char *const others[] = {"Lines", "Polygons", "Strips"};
    const Series *s = &w->series[subject];
    hid_t group = H5Gcreate2(file, "VTKHDF", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    bool put = group >= 0 && put_about(file, w->def->about) && put_head(group) &&
               put_integers(group, "NumberOfPoints", (hsize_t)s->count, 0, s->items.data) &&
               put_columns(group, w, subject) && put_cells(group, "Vertices", s, true, numbers);
    for (int k = 0; put && k < 3; k++) put = put_cells(group, others[k], s, false, numbers);
    put = put && put_steps(group, &w->def->choice[subject], s, numbers) &&
          put_integers(file, "step", (hsize_t)s->count, 0, s->step.data) &&
          (s->part_count == s->count || (put_integers(file, "parts", (hsize_t)s->count, 0, s->parts.data) &&
                                         put_integers(file, "part_items", (hsize_t)s->part_count, 0, s->part_items.data)));
    if (group >= 0) H5Gclose(group);
    return put;
}

static bool write_series(VtkhdfWriter *w, int subject, SandError *error) {
    Series *s = &w->series[subject];
    double begin = sand_seconds();
    size_t most = 4 * (size_t)s->count + 1, capacity = 0;
    for (int k = 0; k < s->count; k++) most = (size_t)s->items.data[k] > most ? (size_t)s->items.data[k] : most;
    int64_t *numbers = NULL;
    if (!SAND_GROW(numbers, capacity, most, "export", error)) return false;
    hid_t file = create_in_memory(s->path);
    bool written = file >= 0 ? save_image(file, s->path, put_all(file, w, subject, numbers) || refuse(error, s->path), error)
                             : refuse(error, s->path);
    sand_free(numbers);
    s->end = sand_seconds();
    s->seconds = s->end - begin;
    s->listed = s->count;
    return written;
}

// The longer the list, the longer it takes to write: it is put off so often that it takes a tenth of the time.
static bool is_due(const Series *s) { return sand_seconds() - s->end >= 9 * s->seconds; }

// --- the format ---------------------------------------------------------------------------------------------

static bool reserve_frames(Series *s, size_t frames, size_t parts, SandError *error) {
    return SAND_RESERVE(s->items, frames, "export", error) && SAND_RESERVE(s->time, frames, "export", error) &&
           SAND_RESERVE(s->step, frames, "export", error) && SAND_RESERVE(s->parts, frames, "export", error) &&
           SAND_RESERVE(s->part_items, parts, "export", error);
}

// Adds a frame whose items are in these parts.
static bool add_frame(Series *s, int64_t step, double time, const int64_t *items, int parts, SandError *error) {
    if (!reserve_frames(s, (size_t)s->count + 1, (size_t)(s->part_count + parts), error)) return false;
    s->step.data[s->count] = step;
    s->time.data[s->count] = time;
    s->parts.data[s->count] = parts;
    s->items.data[s->count] = 0;
    for (int part = 0; part < parts; part++) {
        s->items.data[s->count] += items[part];
        s->part_items.data[s->part_count++] = items[part];
    }
    s->count++;
    return true;
}

// A rank without bodies writes no file.
static bool vtkhdf_write(void *writer, const ExportFrame *frame, SandError *error) {
    VtkhdfWriter *w = writer;
    for (int subject = 0; subject < EXPORT_SUBJECTS; subject++) {
        const ExportTable *table = &frame->tables[subject];
        bool empty = !table->array_count || (w->def->part && !table->count);
        if (!empty && !write_frame(w, frame, subject, error)) return false;
    }
    return true;
}

static bool vtkhdf_list(void *writer, const ExportFrame *frame, SandError *error) {
    VtkhdfWriter *w = writer;
    for (int subject = 0; subject < EXPORT_SUBJECTS; subject++) {
        const ExportTable *table = &frame->tables[subject];
        bool in_parts = subject == EXPORT_BODIES && frame->part_count;
        const int64_t whole = table->count, *items = in_parts ? frame->parts : &whole;
        if (!table->array_count) continue;
        if (!add_frame(&w->series[subject], (int64_t)frame->step, frame->time, items, in_parts ? frame->part_count : 1,
                       error) ||
            (is_due(&w->series[subject]) && !write_series(w, subject, error)))
            return false;
    }
    return true;
}

static bool vtkhdf_flush(void *writer, SandError *error) {
    VtkhdfWriter *w = writer;
    for (int subject = 0; subject < EXPORT_SUBJECTS; subject++)
        if (w->series[subject].listed < w->series[subject].count && !write_series(w, subject, error)) return false;
    return true;
}

static void free_series(Series *s) { SAND_FREE_ARRAYS(&s->step, &s->items, &s->time, &s->parts, &s->part_items); }

static bool vtkhdf_close(void *writer, SandError *error) {
    VtkhdfWriter *w = writer;
    bool listed = vtkhdf_flush(w, error);
    for (int subject = 0; subject < EXPORT_SUBJECTS; subject++) free_series(&w->series[subject]);
    SAND_FREE_ARRAYS(&w->shuffled);
    deflated_free(&w->deflated);
    free(w);
    return listed;
}

static bool read_dataset(hid_t file, const char *name, hid_t type, void *data, hsize_t count) {
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = set >= 0 ? H5Dget_space(set) : -1;
    bool read = space >= 0 && H5Sget_simple_extent_npoints(space) == (hssize_t)count &&
                H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
    if (space >= 0) H5Sclose(space);
    if (set >= 0) H5Dclose(set);
    return read;
}

static hsize_t count_rows(hid_t file, const char *name) {
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = set >= 0 ? H5Dget_space(set) : -1;
    hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : 0;
    if (space >= 0) H5Sclose(space);
    if (set >= 0) H5Dclose(set);
    return count > 0 ? (hsize_t)count : 0;
}

// Reads what a file lists. Without `parts` every frame is in one.
static bool read_series(hid_t file, Series *s, SandError *error) {
    hsize_t frames = count_rows(file, "step"), parts = frames;
    bool cut = H5Lexists(file, "parts", H5P_DEFAULT) > 0;
    int64_t sum = 0;
    if (cut) parts = count_rows(file, "part_items");
    if (!reserve_frames(s, frames + 1, parts + 1, error)) return false;
    s->count = (int)frames;
    s->part_count = (int)parts;
    if (!frames) return true;
    for (hsize_t k = 0; k < frames; k++) s->parts.data[k] = 1;
    bool read =
        read_dataset(file, "step", H5T_NATIVE_INT64, s->step.data, frames) &&
        read_dataset(file, "VTKHDF/Steps/Values", H5T_NATIVE_DOUBLE, s->time.data, frames) &&
        read_dataset(file, cut ? "part_items" : "VTKHDF/NumberOfPoints", H5T_NATIVE_INT64, s->part_items.data, parts) &&
        (!cut || read_dataset(file, "parts", H5T_NATIVE_INT64, s->parts.data, frames));
    for (hsize_t k = 0; read && k < frames; k++) {
        read = s->parts.data[k] > 0 && s->parts.data[k] <= SAND_MAX_RANKS;
        sum += s->parts.data[k];
    }
    return (read && sum == (int64_t)parts) || sand_fail(error, "%.300s: is no export of Sandglass", s->path);
}

// Other ranks may write it anew in fewer parts.
static void remove_parts(const VtkhdfWriter *w, int subject, int64_t step, int parts) {
    char path[EXPORT_PATH];
    for (int part = 1; part < parts; part++) {
        frame_name(path, w->folder, subject, step, part);
        remove(path);
    }
}

// Takes over the frames up to the step of the checkpoint; the files of later ones are written again.
static bool keep_frames(VtkhdfWriter *w, int subject, SandError *error) {
    Series *s = &w->series[subject], was = {0};
    hid_t file = H5Fopen(s->path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0) return true; // nothing was exported before
    memcpy(was.path, s->path, sizeof was.path);
    bool kept = read_series(file, &was, error);
    const int64_t *items = was.part_items.data;
    for (int k = 0; kept && k < was.count; items += was.parts.data[k++]) {
        if (was.step.data[k] <= (int64_t)w->def->kept)
            kept = add_frame(s, was.step.data[k], was.time.data[k], items, (int)was.parts.data[k], error);
        else
            remove_parts(w, subject, was.step.data[k], (int)was.parts.data[k]);
    }
    free_series(&was);
    H5Fclose(file);
    return kept;
}

static void *vtkhdf_open(const ExportDef *def, SandError *error) {
    VtkhdfWriter *w = calloc(1, sizeof *w);
    SandError ignored;
    int stem = (int)strlen(def->path) - (int)strlen(export_vtkhdf.ending);
    if (!w) return sand_fail(error, "out of memory for an export"), NULL;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); // keeps HDF5 from printing its error stack
    w->def = def;
    snprintf(w->folder, sizeof w->folder, "%.*s", stem, def->path);
    snprintf(w->series[EXPORT_BODIES].path, EXPORT_PATH, "%s", def->path);
    snprintf(w->series[EXPORT_CONTACTS].path, EXPORT_PATH, "%.*s-contacts.vtkhdf", stem, def->path);
    const char *slash = strrchr(w->folder, '/');
    w->name = slash ? slash + 1 : w->folder;
    bool made = mkdir(w->folder, 0777) == 0 || errno == EEXIST || sand_fail(error, "%.300s: %s", w->folder, strerror(errno));
    for (int subject = 0; made && def->resumes && !def->part && subject < EXPORT_SUBJECTS; subject++)
        made = keep_frames(w, subject, error);
    if (made) return w;
    vtkhdf_close(w, &ignored);
    return NULL;
}

const ExportFormat export_vtkhdf = {
    .ending = ".vtkhdf",
    .about = "VTKHDF, for ParaView",
    .open = vtkhdf_open,
    .write = vtkhdf_write,
    .scenery = true,
    .list = vtkhdf_list,
    .flush = vtkhdf_flush,
    .close = vtkhdf_close,
};

#endif
