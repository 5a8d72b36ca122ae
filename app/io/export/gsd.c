// SPDX-License-Identifier: MIT
// For OVITO and HOOMD: a GSD file in the schema hoomd 1.4. Bodies are particles with a type for each shape and size,
// contacts of two bodies are bonds; columns that the schema does not know are in log/particles/ and log/bonds/,
// time and provenance in log/.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/io/export/format.h"
#include "app/io/export/gsd_file.h"
#include "app/io/export/particle_types.h"
#include "sim/core/array.h"

// Chunks, in the order of a frame.
enum {
    STEP,
    BOX,
    TIME,
    ABOUT,
    COUNT,
    TYPES,
    TYPE_SHAPES,
    TYPEID,
    MASS,
    DIAMETER,
    POSITION,
    ORIENTATION,
    VELOCITY,
    FIRST_LOG
};
static const char *const schema_names[] = {
    "configuration/step", "configuration/box",     "log/time",          "log/provenance", "particles/N",
    "particles/types",    "particles/type_shapes", "particles/typeid",  "particles/mass", "particles/diameter",
    "particles/position", "particles/orientation", "particles/velocity"};

// The chunk of a column of bodies that the schema knows, in the order of the chunks.
static const struct {
    int chunk;
    const char *column;
    double factor;
} known[] = {{MASS, "mass", 1}, {DIAMETER, "radius", 2}, {ORIENTATION, "rotation", 1}, {VELOCITY, "velocity", 1}};
enum { KNOWN = sizeof known / sizeof *known };

typedef struct GsdWriter {
    const ExportDef *def;
    GsdFile file;
    ParticleTypes types;
    uint32_t types_first; // in the first frame, which later ones fall back to; 0: not known
    char names[GSD_MAX_CHUNKS][SAND_NAME];
    int name_count, bonds; // chunks; the first of the bonds
    SAND_ARRAY(float) numbers;
    SAND_ARRAY(uint32_t) type, group;
    SAND_ARRAY(int) picked; // contacts of two bodies
} GsdWriter;

// --- names --------------------------------------------------------------------------------------------------

static bool is_known(const char *column) {
    for (int k = 0; k < KNOWN; k++)
        if (!strcmp(known[k].column, column)) return true;
    return !strcmp(column, "position");
}

static void add_name(GsdWriter *w, const char *folder, const char *name) {
    if (w->name_count < GSD_MAX_CHUNKS) snprintf(w->names[w->name_count++], SAND_NAME, "%s%s", folder, name);
}

static void name_chunks(GsdWriter *w) {
    const ExportChoice *bodies = &w->def->choice[EXPORT_BODIES], *contacts = &w->def->choice[EXPORT_CONTACTS];
    for (int k = 0; k < FIRST_LOG; k++) add_name(w, "", schema_names[k]);
    for (int k = 0; k < bodies->count; k++)
        if (!is_known(bodies->columns[k]->name)) add_name(w, "log/particles/", bodies->columns[k]->name);
    w->bonds = w->name_count;
    if (!contacts->count) return;
    add_name(w, "", "bonds/N");
    add_name(w, "", "bonds/types");
    add_name(w, "", "bonds/group");
    for (int k = 0; k < contacts->count; k++) add_name(w, "log/bonds/", contacts->columns[k]->name);
}

// --- particles ----------------------------------------------------------------------------------------------

// Copies the numbers of some items, as floats or, of integers, as they are: both have four bytes.
static void copy_picked(void *to, const ExportArray *array, const int *items, size_t count, double factor) {
    size_t width = (size_t)array->column->width;
    for (size_t at = 0; at < count * width; at++) {
        size_t from = (size_t)items[at / width] * width + at % width;
        if (array->type == EXPORT_I32)
            ((int32_t *)to)[at] = ((const int32_t *)array->data)[from];
        else
            ((float *)to)[at] = (float)(factor * export_number(array, from));
    }
}

// Copies all numbers of a column of reals, times a factor, as floats.
static void copy_reals(float *to, const ExportArray *array, size_t count, double factor) {
    size_t numbers = count * (size_t)array->column->width;
#pragma omp parallel for num_threads(GSD_THREADS) if (numbers > 100000)
    for (size_t k = 0; k < numbers; k++) to[k] = (float)(factor * export_number(array, k));
}

static GsdType type_of(const ExportArray *array) { return array->type == EXPORT_I32 ? GSD_INT32 : GSD_FLOAT; }

// Writes a column of these items, or of all (NULL).
static bool put_column(GsdWriter *w, int chunk, const ExportArray *array, const int *items, int count, double factor,
                       SandError *error) {
    uint32_t width = (uint32_t)array->column->width;
    bool as_it_is = !items && (array->type == EXPORT_I32 || (factor == 1 && array->type == EXPORT_F32));
    if (as_it_is) return gsd_chunk_if_new(&w->file, chunk, type_of(array), (uint64_t)count, width, array->data, error);
    if (!SAND_RESERVE(w->numbers, width * (size_t)count + 1, "export", error)) return false;
    if (items) copy_picked(w->numbers.data, array, items, (size_t)count, factor);
    if (!items) copy_reals(w->numbers.data, array, (size_t)count, factor);
    return gsd_chunk_if_new(&w->file, chunk, type_of(array), (uint64_t)count, width, w->numbers.data, error);
}

// Positions are floats from the middle of the box: each takes the first half of the bytes that it had.
static void gsd_prepare(const void *writer, ExportFrame *frame) {
    const GsdWriter *w = writer;
    ExportTable *bodies = &frame->tables[EXPORT_BODIES];
    ExportArray *position = (ExportArray *)export_array(bodies, "position");
    const double middle[3] = {w->def->middle.x, w->def->middle.y, w->def->middle.z};
    for (size_t k = 0; k < 3 * (size_t)bodies->count; k++) {
        double x;
        memcpy(&x, (char *)position->data + k * sizeof x, sizeof x);
        float from_middle = (float)(x - middle[k % 3]);
        memcpy((char *)position->data + k * sizeof from_middle, &from_middle, sizeof from_middle);
    }
    position->type = EXPORT_F32;
}

static bool put_position(GsdWriter *w, const ExportTable *bodies, SandError *error) {
    const void *from = export_array(bodies, "position")->data;
    return gsd_chunk(&w->file, POSITION, GSD_FLOAT, (uint64_t)bodies->count, 3, from, error);
}

// Frames fall back to the types of the first one; those that have more have them all.
static bool put_types(GsdWriter *w, SandError *error) {
    uint32_t width, wide;
    if (w->file.frame > 0 && w->types.count == w->types_first) return true;
    if (w->file.frame == 0) w->types_first = w->types.count;
    char *names = particle_types_names(&w->types, &width), *shapes = particle_types_shapes(&w->types, &wide);
    bool put = names && shapes ? gsd_chunk(&w->file, TYPES, GSD_INT8, w->types.count, width, names, error) &&
                                     gsd_chunk(&w->file, TYPE_SHAPES, GSD_INT8, w->types.count, wide, shapes, error)
                               : sand_fail(error, "out of memory for the types of a GSD file");
    free(names);
    free(shapes);
    return put;
}

static bool find_types(GsdWriter *w, const ExportTable *bodies, SandError *error) {
    const ExportArray *shape = export_array(bodies, "shape"), *scale = export_array(bodies, "scale");
    if (!SAND_RESERVE(w->type, bodies->count + 1, "export", error)) return false;
    memset(w->type.data, 0, (size_t)bodies->count * sizeof *w->type.data);
    if (particle_types_all_spheres(&w->types)) return true;
    for (size_t i = 0; i < (size_t)bodies->count; i++)
        if (!particle_types_find(&w->types, (int)export_number(shape, i), export_number(scale, i), &w->type.data[i], error))
            return false;
    return true;
}

static bool put_logs(GsdWriter *w, int chunk, const ExportTable *table, const int *items, int count, bool all,
                     SandError *error) {
    for (int k = 0; k < table->array_count; k++) {
        const ExportArray *array = &table->arrays[k];
        if (!all && is_known(array->column->name)) continue;
        if (!put_column(w, chunk++, array, items, count, 1, error)) return false;
    }
    return true;
}

static bool put_known(GsdWriter *w, const ExportTable *bodies, int from, int to, SandError *error) {
    for (int k = 0; k < KNOWN; k++) {
        const ExportArray *array = export_array(bodies, known[k].column);
        if (!array || known[k].chunk < from || known[k].chunk > to) continue;
        if (!put_column(w, known[k].chunk, array, NULL, bodies->count, known[k].factor, error)) return false;
    }
    return true;
}

static bool put_particles(GsdWriter *w, const ExportTable *bodies, SandError *error) {
    uint32_t count = (uint32_t)bodies->count;
    return find_types(w, bodies, error) && gsd_chunk(&w->file, COUNT, GSD_UINT32, 1, 1, &count, error) &&
           put_types(w, error) && gsd_chunk_if_new(&w->file, TYPEID, GSD_UINT32, count, 1, w->type.data, error) &&
           put_known(w, bodies, MASS, DIAMETER, error) && put_position(w, bodies, error) &&
           put_known(w, bodies, ORIENTATION, VELOCITY, error) &&
           put_logs(w, FIRST_LOG, bodies, NULL, bodies->count, false, error);
}

// --- bonds --------------------------------------------------------------------------------------------------

// The particle of a body, whose numbers rise.
static uint32_t find_particle(const ExportTable *bodies, int32_t body) {
    const int32_t *numbers = export_array(bodies, "body")->data;
    int begin = 0, end = bodies->count;
    while (begin < end) {
        int middle = (begin + end) / 2;
        if (numbers[middle] < body) begin = middle + 1;
        if (numbers[middle] >= body) end = middle;
    }
    return begin < bodies->count && numbers[begin] == body ? (uint32_t)begin : UINT32_MAX;
}

// Picks the contacts whose two bodies are both in the frame: one may have left since.
static bool pick_bonds(GsdWriter *w, const ExportFrame *frame, int *count, SandError *error) {
    const ExportTable *contacts = &frame->tables[EXPORT_CONTACTS], *bodies = &frame->tables[EXPORT_BODIES];
    const int32_t *a = export_array(contacts, "a")->data, *b = export_array(contacts, "b")->data;
    if (!SAND_RESERVE(w->group, 2 * (size_t)contacts->count + 2, "export", error) ||
        !SAND_RESERVE(w->picked, contacts->count + 1, "export", error))
        return false;
    *count = 0;
    for (int i = 0; i < contacts->count; i++) {
        uint32_t first = find_particle(bodies, a[i]), second = find_particle(bodies, b[i]);
        if (first == UINT32_MAX || second == UINT32_MAX) continue;
        w->group.data[2 * *count] = first;
        w->group.data[2 * *count + 1] = second;
        w->picked.data[(*count)++] = i;
    }
    return true;
}

static bool put_bonds(GsdWriter *w, const ExportFrame *frame, SandError *error) {
    static const char type[] = "contact";
    int count;
    if (!frame->tables[EXPORT_CONTACTS].array_count) return true;
    if (!pick_bonds(w, frame, &count, error)) return false;
    uint32_t bonds = (uint32_t)count;
    return gsd_chunk(&w->file, w->bonds, GSD_UINT32, 1, 1, &bonds, error) &&
           (w->file.frame > 0 || gsd_chunk(&w->file, w->bonds + 1, GSD_INT8, 1, sizeof type, type, error)) &&
           gsd_chunk(&w->file, w->bonds + 2, GSD_UINT32, bonds, 2, w->group.data, error) &&
           put_logs(w, w->bonds + 3, &frame->tables[EXPORT_CONTACTS], w->picked.data, count, true, error);
}

// Where the run came from, as the bytes of a text, in the first frame.
static bool put_about(GsdWriter *w, SandError *error) {
    const char *about = w->def->about;
    return !about || w->file.frame > 0 || gsd_chunk(&w->file, ABOUT, GSD_INT8, strlen(about), 1, about, error);
}

// --- the format ---------------------------------------------------------------------------------------------

static bool gsd_write(void *writer, const ExportFrame *frame, SandError *error) {
    GsdWriter *w = writer;
    const SandVec3 box = w->def->box;
    const float sides[6] = {(float)box.x, (float)box.y, (float)box.z, 0, 0, 0};
    return gsd_chunk(&w->file, STEP, GSD_UINT64, 1, 1, &frame->step, error) &&
           (w->file.frame > 0 || gsd_chunk(&w->file, BOX, GSD_FLOAT, 6, 1, sides, error)) &&
           gsd_chunk(&w->file, TIME, GSD_DOUBLE, 1, 1, &frame->time, error) && put_about(w, error) &&
           put_particles(w, &frame->tables[EXPORT_BODIES], error) && put_bonds(w, frame, error) &&
           gsd_end_frame(&w->file, error);
}

static void free_writer(GsdWriter *w) {
    particle_types_free(&w->types);
    SAND_FREE_ARRAYS(&w->numbers, &w->type, &w->group, &w->picked);
    free(w);
}

static bool gsd_finish(void *writer, SandError *error) {
    GsdWriter *w = writer;
    bool closed = gsd_close(&w->file, error);
    free_writer(w);
    return closed;
}

static bool open_file(GsdWriter *w, SandError *error) {
    const char *names[GSD_MAX_CHUNKS];
    const char *path = w->def->path;
    for (int k = 0; k < w->name_count; k++) names[k] = w->names[k];
    if (!w->def->resumes || access(path, F_OK) != 0) return gsd_create(&w->file, path, names, w->name_count, "hoomd", error);
    SandError ignored;
    if (!gsd_reopen(&w->file, path, names, w->name_count, error)) return false;
    if (gsd_keep(&w->file, STEP, w->def->kept, error)) return true;
    gsd_close(&w->file, &ignored);
    return false;
}

static void *gsd_open(const ExportDef *def, SandError *error) {
    GsdWriter *w = calloc(1, sizeof *w);
    if (!w) return sand_fail(error, "out of memory for an export"), NULL;
    w->def = def;
    w->types = (ParticleTypes){.shapes = def->shapes, .shape_count = def->shape_count, .count = 1};
    name_chunks(w);
    if (open_file(w, error)) return w;
    free_writer(w);
    return NULL;
}

const ExportFormat export_gsd = {
    .ending = ".gsd",
    .about = "GSD, for OVITO",
    .required = "radius,scale,shape",
    .open = gsd_open,
    .write = gsd_write,
    .close = gsd_finish,
    .prepare = gsd_prepare,
};
