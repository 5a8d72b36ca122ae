// Building the shapes of a scene file: clumps, boxes, cylinders, capsules, hulls and stones, and finding them by name.
#include "sim/core/suggestion.h"
#include "sim/scene/scene_builder.h"
#include <stdio.h>
#include <string.h>

static const char *const built_in[] = {"sphere", "box", "cylinder", "capsule"};
enum { BUILT_IN = sizeof built_in / sizeof *built_in };

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

static bool build_box(SandBuilder *b, const SandBoxDef *def, SandShape *shape) {
    for (int i = 0; i < 3; i++)
        if (!sand_build_range(b, "box.size", &def->size[i], SAND_TINY, SAND_FAR)) return false;
    return sand_shape_box(shape, v3_scale(0.5, sand_vector(def->size)), b->error);
}

static bool build_round(SandBuilder *b, const SandShapeDef *def, SandShape *shape) {
    const SandRoundDef *round = def->cylinder ? def->cylinder : def->capsule;
    const double *length = def->cylinder ? round->height : round->length;
    const char *radius = def->cylinder ? "cylinder.radius" : "capsule.radius";
    const char *key = def->cylinder ? "cylinder.height" : "capsule.length";
    if (!length) return sand_build_wrong(b, key, "missing");
    if (!sand_build_range(b, radius, &round->radius, SAND_TINY, SAND_FAR) ||
        !sand_build_range(b, key, length, SAND_TINY, SAND_FAR))
        return false;
    return def->cylinder ? sand_shape_cylinder(shape, round->radius, *length, b->error)
                         : sand_shape_capsule(shape, round->radius, *length, b->error);
}

// Reads the file of a hull: relative to the scene file, unless the path is absolute.
static bool hull_of_file(SandBuilder *b, const char *file, SandShape *shape, SandError *reason) {
    char path[4096];
    const char *slash = strrchr(b->file->yaml.name, '/');
    int folder = slash && file[0] != '/' ? (int)(slash - b->file->yaml.name) + 1 : 0;
    if (b->scene->options.no_files) return sand_fail(reason, "files may not be opened here");
    if ((size_t)folder + strlen(file) >= sizeof path) return sand_fail(reason, "the path is too long");
    snprintf(path, sizeof path, "%.*s%s", folder, b->file->yaml.name, file);
    return sand_shape_hull_file(shape, path, reason);
}

static bool build_hull(SandBuilder *b, const SandHullDef *def, SandShape *shape) {
    SandError reason;
    if ((def->points != NULL) == (def->file != NULL)) return sand_build_wrong(b, "hull", "expected `points` or `file`");
    for (uint32_t i = 0; i < def->points_count; i++)
        if (!sand_build_range3(b, "hull.points", def->points[i], SAND_FAR)) return false;
    // Three doubles in a row are a vector.
    bool ok = def->file ? hull_of_file(b, def->file, shape, &reason)
                        : sand_shape_hull(shape, (const SandVec3 *)def->points, (int)def->points_count, &reason);
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

// Makes one of the shapes that an entry stands for.
static bool build_shape(SandBuilder *b, const SandShapeDef *def, uint32_t index, int which, SandShape *shape) {
    if (def->spheres) return build_clump(b, def, index, shape);
    if (def->box) return build_box(b, def->box, shape);
    if (def->hull) return build_hull(b, def->hull, shape);
    if (def->stone) return build_stone(b, def->stone, which, shape);
    return build_round(b, def, shape);
}

static bool check_shape(SandBuilder *b, const SandShapeDef *def, uint32_t index) {
    bool taken = false;
    int kinds = (def->spheres != NULL) + (def->box != NULL) + (def->cylinder != NULL) + (def->capsule != NULL) +
                (def->hull != NULL) + (def->stone != NULL);
    for (int k = 0; k < BUILT_IN; k++) taken = taken || !strcmp(def->name, built_in[k]);
    for (uint32_t j = 0; j < index; j++) taken = taken || !strcmp(def->name, b->def->shapes[j].name);
    if (taken) return sand_build_wrong(b, "name", "there is a shape '%s' already", def->name);
    if (kinds != 1)
        return sand_build_wrong(b, "name", "expected one of spheres, box, cylinder, capsule, hull and stone, got %d", kinds);
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
    for (int k = 0; k < (single ? BUILT_IN : 1); k++) sand_suggestion_add(&names, built_in[k]);
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

// Checks that a body has the size keys of its shape: any other is a mistake. `named` is a shape of the file.
static bool check_size_keys(SandBuilder *b, const SandBodyFileDef *from, bool named) {
    bool sphere = !strcmp(from->shape, "sphere"), box = !strcmp(from->shape, "box");
    bool cylinder = !strcmp(from->shape, "cylinder"), capsule = !strcmp(from->shape, "capsule");
    struct {
        const char *key;
        bool given, wanted;
    } keys[] = {{"radius", from->radius, sphere || cylinder || capsule},
                {"height", from->height, cylinder},
                {"length", from->length, capsule},
                {"size", from->size, box},
                {"scale", from->scale, named && from->scale}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (keys[i].given && !keys[i].wanted) return sand_build_wrong(b, keys[i].key, "a %s has no such key", from->shape);
        if (!keys[i].given && keys[i].wanted) return sand_build_wrong(b, keys[i].key, "missing: a %s needs it", from->shape);
    }
    for (int i = 0; box && i < 3; i++)
        if (!sand_build_range(b, "size", &from->size[i], SAND_TINY, SAND_FAR)) return false;
    return sand_build_range(b, "radius", from->radius, SAND_TINY, SAND_FAR) &&
           sand_build_range(b, "height", from->height, SAND_TINY, SAND_FAR) &&
           sand_build_range(b, "length", from->length, SAND_TINY, SAND_FAR) &&
           sand_build_range(b, "scale", from->scale, SAND_TINY, SAND_FAR);
}

int sand_build_body_shape(SandBuilder *b, const SandBodyFileDef *from, double *scale) {
    bool sphere = !strcmp(from->shape, "sphere"), box = !strcmp(from->shape, "box");
    bool cylinder = !strcmp(from->shape, "cylinder"), capsule = !strcmp(from->shape, "capsule");
    int count, named = box || cylinder || capsule ? 0 : sand_build_find_shape(b, from->shape, "shape", true, &count);
    if (named < 0 || !check_size_keys(b, from, named > 0)) return -1;
    *scale = sphere ? *from->radius : sand_number(from->scale, 1);
    if (sphere || named > 0) return named;
    SandShape shape;
    SandError reason;
    bool ok = box        ? sand_shape_box(&shape, v3_scale(0.5, sand_vector(from->size)), &reason)
              : cylinder ? sand_shape_cylinder(&shape, *from->radius, *from->height, &reason)
                         : sand_shape_capsule(&shape, *from->radius, *from->length, &reason);
    if (!ok) return sand_build_wrong(b, "shape", "%s", reason.text), -1;
    return add_shape(b, &shape);
}
