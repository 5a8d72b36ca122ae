// SPDX-License-Identifier: MIT
// Finding the type of a body by shape and size, adding it where it is new, and writing names and shapes of all types as a
// GSD file wants them.
#include "app/io/export/particle_types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/io/export/shape_text.h"
#include "sim/core/array.h"

void particle_types_free(ParticleTypes *types) {
    SAND_FREE_ARRAYS(&types->sorted);
    *types = (ParticleTypes){0};
}

// Returns the first type that is not before this one.
static uint32_t search(const ParticleTypes *types, int shape, double scale) {
    uint32_t begin = 0, end = types->count - 1;
    while (begin < end) {
        uint32_t middle = (begin + end) / 2;
        const ParticleType *t = &types->sorted.data[middle];
        bool before = t->shape != shape ? t->shape < shape : t->scale < scale;
        if (before) begin = middle + 1;
        if (!before) end = middle;
    }
    return begin;
}

bool particle_types_all_spheres(const ParticleTypes *types) {
    for (int k = 0; k < types->shape_count; k++)
        if (types->shapes[k].kind != SAND_SPHERE) return false;
    return true;
}

bool particle_types_find(ParticleTypes *types, int shape, double scale, uint32_t *id, SandError *error) {
    *id = 0;
    if (shape >= types->shape_count || types->shapes[shape].kind == SAND_SPHERE) return true; // thrown balls come later
    uint32_t at = search(types, shape, scale), others = types->count - 1;
    if (at < others && types->sorted.data[at].shape == shape && types->sorted.data[at].scale == scale)
        return *id = types->sorted.data[at].id, true;
    if (others == TYPES_MOST) return true;
    if (!SAND_RESERVE(types->sorted, others + 1 + others / 2, "export", error)) return false;
    memmove(&types->sorted.data[at + 1], &types->sorted.data[at], (others - at) * sizeof *types->sorted.data);
    *id = types->count++;
    types->sorted.data[at] = (ParticleType){.shape = shape, .scale = scale, .id = *id};
    return true;
}

static void write_name(FILE *out, const ParticleTypes *types, const ParticleType *type) {
    (void)types;
    if (type)
        fprintf(out, "shape%d size%.9g", type->shape, type->scale);
    else
        fputs("sphere", out);
}

static void write_shape(FILE *out, const ParticleTypes *types, const ParticleType *type) {
    if (type)
        shape_text_write(out, &types->shapes[type->shape], type->scale);
    else
        fputs("{}", out);
}

// The text of each type, by its id, as a row of a matrix as wide as the longest needs.
static char *write_rows(const ParticleTypes *types, uint32_t *width,
                        void (*write)(FILE *out, const ParticleTypes *types, const ParticleType *type)) {
    char **rows = calloc(types->count, sizeof *rows), *matrix = NULL;
    bool whole = rows != NULL;
    *width = 1;
    for (uint32_t k = 0; whole && k < types->count; k++) {
        const ParticleType *type = k ? &types->sorted.data[k - 1] : NULL;
        size_t size = 0;
        char **row = &rows[type ? type->id : 0];
        FILE *out = open_memstream(row, &size);
        if (out) write(out, types, type);
        whole = out && fclose(out) == 0;
        if (whole && size + 1 > *width) *width = (uint32_t)size + 1;
    }
    if (whole) matrix = calloc(types->count, *width);
    for (uint32_t k = 0; matrix && k < types->count; k++) strcpy(matrix + (size_t)k * *width, rows[k]);
    for (uint32_t k = 0; rows && k < types->count; k++) free(rows[k]);
    free(rows);
    return matrix;
}

char *particle_types_names(const ParticleTypes *types, uint32_t *width) { return write_rows(types, width, write_name); }
char *particle_types_shapes(const ParticleTypes *types, uint32_t *width) { return write_rows(types, width, write_shape); }
