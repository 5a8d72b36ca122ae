// SPDX-License-Identifier: MIT
// Building the shapes of a scene file: clumps, shapes by their sizes, hulls, stones and compounds, and finding them by name.
#include "sim/core/suggestion.h"
#include "sim/scene/scene_builder.h"
#include <stdio.h>
#include <string.h>

// Kinds that a body names with its sizes, and which sizes they have.
typedef struct SizedKind {
    SandShapeKind kind;
    int keys; // SAND_SIZE_
} SizedKind;
#define ROW(KIND, name, drawn, keys) {SAND_##KIND, keys},
static const SizedKind sphere_row = {SAND_SPHERE, SAND_SIZE_RADIUS}, sized[] = {SAND_SIZED_SHAPES(ROW)};
#undef ROW
enum { SIZED = sizeof sized / sizeof *sized };

// NULL: no kind has this name.
static const SizedKind *find_sized(const char *name) {
    for (int k = 0; k < SIZED; k++)
        if (!strcmp(name, sand_shape_kind_name(sized[k].kind))) return &sized[k];
    return strcmp(name, "sphere") ? NULL : &sphere_row;
}

// Adds a shape to the world. Shape 0 is the sphere, then come those of the file in its order.
static int add_shape(SandBuilder *b, SandShape *shape) {
    int index = sand_world_add_shape(b->world, shape, b->error);
    if (index < 0) sand_shape_free(shape);
    return index;
}

// How many shapes an entry stands for: a stone may have several seeds.
static int variety(const SandShapeDef *def) { return def->stone && def->stone->variety ? (int)*def->stone->variety : 1; }

// ---- shapes of the file ----

static bool build_clump(SandBuilder *b, const SandShapeDef *def, uint32_t index, SandShape *shape) {
    SandShapeSphere spheres[SAND_MAX_SPHERES];
    for (uint32_t j = 0; j < def->spheres_count; j++) {
        snprintf(b->path, sizeof b->path, "shapes[%u].spheres[%u]", index, j);
        if (!sand_build_range3(b, "center", def->spheres[j].center, SAND_FAR) ||
            !sand_build_range(b, "radius", &def->spheres[j].radius, SAND_TINY, SAND_FAR))
            return false;
        spheres[j] = (SandShapeSphere){sand_vector(def->spheres[j].center), def->spheres[j].radius};
    }
    SandError reason;
    snprintf(b->path, sizeof b->path, "shapes[%u]", index);
    return sand_shape_clump(shape, spheres, (int)def->spheres_count, &reason) ||
           sand_build_wrong(b, "spheres", "%s", reason.text);
}

// Checks that a shape has the sizes of these keys, SAND_SIZE_, any other is a mistake, and that they are in range. Keys are
// named behind `place`.
static bool check_sizes(SandBuilder *b, const char *shape, int keys, const char *place, const SandSizesDef *sizes) {
    const struct {
        const char *name;
        const double *value;
        int key, count;
    } rows[] = {{"radius", sizes->radius, SAND_SIZE_RADIUS, 1},
                {"height", sizes->height, SAND_SIZE_HEIGHT, 1},
                {"length", sizes->length, SAND_SIZE_LENGTH, 1},
                {"size", sizes->size, SAND_SIZE_SIZE, 3}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char key[SAND_NAME];
        snprintf(key, sizeof key, "%s%s", place, rows[k].name);
        if (rows[k].value && !(keys & rows[k].key)) return sand_build_wrong(b, key, "a %s has no such key", shape);
        if (!rows[k].value && (keys & rows[k].key)) return sand_build_wrong(b, key, "missing: a %s needs it", shape);
        for (int i = 0; rows[k].value && i < rows[k].count; i++)
            if (!sand_build_range(b, key, &rows[k].value[i], SAND_TINY, SAND_FAR)) return false;
    }
    return true;
}

static bool make_sized(SandShapeKind kind, const SandSizesDef *s, SandShape *shape, SandError *error) {
    SandShapeSizes sizes = {sand_number(s->radius, 0), sand_number(s->height, 0), sand_number(s->length, 0),
                            s->size ? sand_vector(s->size) : v3_make(0, 0, 0)};
    return sand_shape_make(shape, kind, &sizes, error);
}

static bool build_sized(SandBuilder *b, const SizedKind *kind, const SandSizesDef *sizes, SandShape *shape) {
    const char *name = sand_shape_kind_name(kind->kind);
    char place[SAND_NAME];
    snprintf(place, sizeof place, "%s.", name);
    return check_sizes(b, name, kind->keys, place, sizes) && make_sized(kind->kind, sizes, shape, b->error);
}

// The hull of a closed mesh, with at most this many corners; 0: with all of them.
static bool hull_of_file(SandBuilder *b, const char *file, int corners, SandShape *shape, SandError *reason) {
    char path[SAND_PATH];
    SandMeshData mesh;
    SandSolid solid;
    if (!sand_build_path(b, file, path, reason)) return false;
    if (!corners) return sand_shape_hull_file(shape, path, reason);
    if (!sand_mesh_data_read(&mesh, path, reason)) return false;
    bool ok = sand_solid_of_mesh(&solid, &mesh, reason) &&
              sand_shape_hull_within(shape, mesh.vertices, mesh.vertex_count, corners, NULL, reason);
    sand_mesh_data_free(&mesh);
    return ok;
}

// Three doubles in a row are a vector.
static bool hull_of_points(const SandHullDef *def, int corners, SandShape *shape, SandError *reason) {
    const SandVec3 *points = (const SandVec3 *)def->points;
    int count = (int)def->points_count;
    return corners ? sand_shape_hull_within(shape, points, count, corners, NULL, reason)
                   : sand_shape_hull(shape, points, count, reason);
}

static bool build_hull(SandBuilder *b, const SandHullDef *def, SandShape *shape) {
    SandError reason;
    int corners = def->corners ? (int)*def->corners : 0;
    if ((def->points != NULL) == (def->file != NULL)) return sand_build_wrong(b, "hull", "expected `points` or `file`");
    if (def->corners && (*def->corners < 4 || *def->corners > SAND_MAX_CORNERS))
        return sand_build_wrong(b, "hull.corners", "expected 4 to %d, got %u", SAND_MAX_CORNERS, *def->corners);
    for (uint32_t i = 0; i < def->points_count; i++)
        if (!sand_build_range3(b, "hull.points", def->points[i], SAND_FAR)) return false;
    bool ok = def->file ? hull_of_file(b, def->file, corners, shape, &reason) : hull_of_points(def, corners, shape, &reason);
    return ok || sand_build_wrong(b, "hull", "%s", reason.text);
}

static bool build_stone(SandBuilder *b, const SandStoneFileDef *def, int which, SandShape *shape) {
    SandStoneDef stone = sand_default_stone();
    SandError reason;
    stone.seed = (def->seed ? *def->seed : 1) + (uint64_t)which;
    if (def->points) stone.points = (int)*def->points;
    if (def->cuts) stone.cuts = (int)*def->cuts;
    stone.elongation = sand_number(def->elongation, stone.elongation);
    stone.flatness = sand_number(def->flatness, stone.flatness);
    return sand_shape_stone(shape, &stone, &reason) || sand_build_wrong(b, "stone", "%s", reason.text);
}

// ---- compounds ----

// A piece, and whether its shape is its own, or one of the world that the piece looks at.
typedef struct Pieces {
    SandPiece of[SAND_MAX_PIECES];
    bool owned[SAND_MAX_PIECES];
    int count;
} Pieces;

static void free_pieces(Pieces *pieces) {
    for (int k = 0; k < pieces->count; k++)
        if (pieces->owned[k]) sand_shape_free(&pieces->of[k].shape);
}

// Finds the shape of a piece: a kind with its sizes, or one of the file that stands before the compound.
static bool piece_shape(SandBuilder *b, const SandPieceFileDef *from, SandPiece *to, bool *owned) {
    const SandSizesDef sizes = {from->radius, from->height, from->length, from->size};
    const SizedKind *kind = find_sized(from->shape);
    SandError reason;
    int count, index = kind ? 0 : sand_build_find_shape(b, from->shape, "shape", true, &count);
    if (index < 0 || !check_sizes(b, from->shape, kind ? kind->keys : 0, "", &sizes)) return false;
    if (kind && from->scale) return sand_build_wrong(b, "scale", "a %s has no such key", from->shape);
    if (index >= b->world->shape_count)
        return sand_build_wrong(b, "shape", "expected a shape that stands before this one, got '%s'", from->shape);
    *owned = kind && kind != &sphere_row;
    to->scale = kind == &sphere_row ? *from->radius : sand_number(from->scale, 1);
    if (!*owned) return to->shape = b->world->shapes[index], true;
    return make_sized(kind->kind, &sizes, &to->shape, &reason) || sand_build_wrong(b, "shape", "%s", reason.text);
}

static bool build_piece(SandBuilder *b, const SandPieceFileDef *from, Pieces *pieces) {
    SandPiece *to = &pieces->of[pieces->count];
    *to = (SandPiece){.pose.position = sand_vector(from->position)};
    if (!sand_build_range3(b, "position", from->position, SAND_FAR) ||
        !sand_build_rotation(b, from->rotation, &to->pose.rotation) ||
        !sand_build_range(b, "scale", from->scale, SAND_TINY, SAND_FAR) ||
        !piece_shape(b, from, to, &pieces->owned[pieces->count]))
        return false;
    pieces->count++;
    return true;
}

static bool read_solid(SandBuilder *b, const char *file, SandSolid *solid, SandError *reason) {
    char path[SAND_PATH];
    SandMeshData mesh = {0};
    bool ok = sand_build_path(b, file, path, reason) && sand_mesh_data_read(&mesh, path, reason) &&
              sand_solid_of_mesh(solid, &mesh, reason);
    sand_mesh_data_free(&mesh);
    return ok;
}

static bool build_compound(SandBuilder *b, const SandCompoundFileDef *def, uint32_t index, SandShape *shape) {
    Pieces pieces = {.count = 0};
    SandSolid solid;
    SandError reason;
    bool ok = true;
    for (uint32_t j = 0; j < def->pieces_count && ok; j++) {
        snprintf(b->path, sizeof b->path, "shapes[%u].compound.pieces[%u]", index, j);
        ok = build_piece(b, &def->pieces[j], &pieces);
    }
    if (ok) snprintf(b->path, sizeof b->path, "shapes[%u]", index);
    if (ok && def->solid && !read_solid(b, def->solid, &solid, &reason))
        ok = sand_build_wrong(b, "compound.solid", "%s", reason.text);
    if (ok && !sand_shape_compound(shape, pieces.of, pieces.count, def->solid ? &solid : NULL, &reason))
        ok = sand_build_wrong(b, "compound", "%s", reason.text);
    free_pieces(&pieces);
    return ok;
}

// Makes one of the shapes that an entry stands for.
static bool build_shape(SandBuilder *b, const SandShapeDef *def, uint32_t index, int which, SandShape *shape) {
    if (def->compound) return build_compound(b, def->compound, index, shape);
    if (def->spheres) return build_clump(b, def, index, shape);
    if (def->hull) return build_hull(b, def->hull, shape);
    if (def->stone) return build_stone(b, def->stone, which, shape);
    for (int k = 0; k < SIZED; k++)
        if (def->sized[sized[k].kind]) return build_sized(b, &sized[k], def->sized[sized[k].kind], shape);
    return false;
}

static bool check_shape(SandBuilder *b, const SandShapeDef *def, uint32_t index) {
    bool taken = find_sized(def->name) != NULL;
    int kinds = (def->spheres != NULL) + (def->hull != NULL) + (def->stone != NULL) + (def->compound != NULL);
    for (int k = 0; k < SIZED; k++) kinds += def->sized[sized[k].kind] != NULL;
    for (uint32_t j = 0; j < index; j++) taken = taken || !strcmp(def->name, b->def->shapes[j].name);
    if (taken) return sand_build_wrong(b, "name", "there is a shape '%s' already", def->name);
#define NAME(KIND, name, ...) #name ", "
    if (kinds != 1)
        return sand_build_wrong(
            b, "name", "expected one of spheres, " SAND_SIZED_SHAPES(NAME) "hull, stone and compound, got %d", kinds);
#undef NAME
    if (variety(def) < 1 || variety(def) > SAND_MOST_VARIETY)
        return sand_build_wrong(b, "stone.variety", "expected 1 to %d, got %d", SAND_MOST_VARIETY, variety(def));
    return true;
}

bool sand_build_shapes(SandBuilder *b) {
    SandShape shape;
    if (!sand_shape_sphere(&shape, b->error) || add_shape(b, &shape) < 0) return false;
    for (uint32_t i = 0; i < b->def->shapes_count; i++) {
        const SandShapeDef *def = &b->def->shapes[i];
        snprintf(b->path, sizeof b->path, "shapes[%u]", i);
        if (!check_shape(b, def, i)) return false;
        for (int k = 0; k < variety(def); k++)
            if (!build_shape(b, def, i, k, &shape) || add_shape(b, &shape) < 0) return false;
    }
    return true;
}

int sand_build_find_shape(SandBuilder *b, const char *name, const char *key, bool single, int *count) {
    SandSuggestion names = sand_suggestion(name);
    int index = 1;
    *count = 1;
    if (!strcmp(name, "sphere")) return 0;
    sand_suggestion_add(&names, "sphere");
    for (int k = 0; single && k < SIZED; k++) sand_suggestion_add(&names, sand_shape_kind_name(sized[k].kind));
    for (uint32_t i = 0; i < b->def->shapes_count; i++) {
        *count = variety(&b->def->shapes[i]);
        if (strcmp(b->def->shapes[i].name, name) == 0) return index;
        index += *count;
        sand_suggestion_add(&names, b->def->shapes[i].name);
    }
    sand_build_wrong(b, key, "unknown shape '%s'; %s", name, sand_suggestion_text(&names));
    return -1;
}

// ---- shapes of single bodies ----

int sand_build_body_shape(SandBuilder *b, const SandBodyFileDef *from, double *scale) {
    const SandSizesDef sizes = {from->radius, from->height, from->length, from->size};
    const SizedKind *kind = find_sized(from->shape);
    int count, index = kind ? 0 : sand_build_find_shape(b, from->shape, "shape", true, &count);
    if (index < 0 || !check_sizes(b, from->shape, kind ? kind->keys : 0, "", &sizes)) return -1;
    if (kind && from->scale) return sand_build_wrong(b, "scale", "a %s has no such key", from->shape), -1;
    if (!sand_build_range(b, "scale", from->scale, SAND_TINY, SAND_FAR)) return -1;
    *scale = kind == &sphere_row ? *from->radius : sand_number(from->scale, 1);
    if (!kind || kind == &sphere_row) return index;
    SandShape shape;
    SandError reason;
    if (!make_sized(kind->kind, &sizes, &shape, &reason)) return sand_build_wrong(b, "shape", "%s", reason.text), -1;
    return add_shape(b, &shape);
}
