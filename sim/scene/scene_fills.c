// SPDX-License-Identifier: MIT
// Fills: bodies by number, on lattices within the boundaries. Inlets draw shapes and sizes as fills do.
#include "sim/scene/scene_builder.h"

#include "sim/core/ranks.h"
#include "sim/scene/packing.h"

#include <float.h>
#include <limits.h>
#include <stdio.h>

// Adds a shape to those that a fill draws from; a stone may stand for several.
static bool fill_shape(SandBuilder *b, const char *name, const char *key, SandFill *fill, int shapes[SAND_FILL_SHAPES]) {
    int count, first = sand_build_find_shape(b, name, key, false, &count);
    if (first < 0) return false;
    if (fill->shape_count + count > SAND_FILL_SHAPES)
        return sand_build_wrong(b, key, "a fill draws from at most %d shapes", SAND_FILL_SHAPES);
    for (int k = 0; k < count; k++) shapes[fill->shape_count++] = first + k;
    return true;
}

bool sand_build_fill_shapes(SandBuilder *b, const SandFillDef *from, SandFill *fill, int shapes[SAND_FILL_SHAPES]) {
    if (from->shape && from->shapes_count) return sand_build_wrong(b, "shapes", "expected `shape` or `shapes`, not both");
    if (from->shapes_count == 0 && !fill_shape(b, from->shape ? from->shape : "sphere", "shape", fill, shapes)) return false;
    for (uint32_t i = 0; i < from->shapes_count; i++) {
        char key[32];
        snprintf(key, sizeof key, "shapes[%u]", i);
        if (!fill_shape(b, from->shapes[i], key, fill, shapes)) return false;
    }
    fill->shapes = shapes;
    for (int i = 0; i < fill->shape_count; i++) fill->random_rotation = fill->random_rotation || shapes[i] > 0;

    const char *key = from->sizes ? "sizes" : from->radii ? "radii" : "radius";
    const double *sizes = from->sizes ? from->sizes : from->radii ? from->radii : from->radius;
    if ((from->radius != NULL) + (from->radii != NULL) + (from->sizes != NULL) > 1)
        return sand_build_wrong(b, key, "expected one of radius, radii and sizes");
    if (fill->random_rotation && (from->radius || from->radii))
        return sand_build_wrong(b, key, "shapes of the file have `sizes`, not a radius");
    if (!fill->random_rotation && from->sizes)
        return sand_build_wrong(b, key, "spheres have `radius` or `radii`, not sizes");
    if (!sizes && !fill->random_rotation) return sand_build_wrong(b, "radius", "missing: spheres need radius or radii");
    fill->least = sand_number(sizes, 1);
    fill->most = from->radius || !sizes ? fill->least : sizes[1];
    fill->mostly_small = fill->random_rotation;
    if (!sand_build_range(b, key, &fill->least, SAND_TINY, SAND_FAR) ||
        !sand_build_range(b, key, &fill->most, SAND_TINY, SAND_FAR))
        return false;
    if (fill->most < fill->least)
        return sand_build_wrong(b, key, "expected the smaller one first, got %g and %g", fill->least, fill->most);
    return true;
}

// Reads lattice and region of a fill.
static bool fill_lattice(SandBuilder *b, const SandFillDef *from, SandFill *fill) {
    const SandLatticeDef *lattice = &from->lattice;
    const SandRegionDef *region = from->region;
    double scale = from->scales && *from->scales ? b->scene->scale : 1;
    if (!sand_build_range(b, "lattice.spacing", &lattice->spacing, SAND_TINY, SAND_FAR) ||
        !sand_build_range(b, "lattice.jitter", lattice->jitter, 0, SAND_FAR) ||
        !sand_build_range(b, "lattice.from", lattice->from, -SAND_FAR, SAND_FAR) ||
        !sand_build_range(b, "lattice.to", lattice->to, -SAND_FAR, SAND_FAR) ||
        !sand_build_range(b, "lattice.pour", lattice->pour, 1e-6, SAND_FAST))
        return false;
    for (int i = 0; lattice->center && i < 2; i++)
        if (!sand_build_range(b, "lattice.center", &lattice->center[i], -SAND_FAR, SAND_FAR)) return false;
    if (lattice->columns && (*lattice->columns < 1 || *lattice->columns > 100000))
        return sand_build_wrong(b, "lattice.columns", "expected 1 to 100000, got %u", *lattice->columns);
    fill->spacing = lattice->spacing;
    fill->jitter = sand_number(lattice->jitter, 0);
    fill->from = scale * sand_number(lattice->from, 0);
    fill->to = lattice->to ? scale * *lattice->to : DBL_MAX;
    fill->columns = lattice->columns ? (int)*lattice->columns : 0;
    fill->pour = sand_number(lattice->pour, 0);
    fill->dense = lattice->dense && *lattice->dense;
    for (int i = 0; lattice->center && i < 2; i++) fill->center[i] = scale * lattice->center[i];
    if (fill->pour > 0 && !from->velocity) fill->velocity = v3_make(0, 0, -fill->pour);
    if (!region && !lattice->columns)
        return sand_build_wrong(b, "lattice.columns", "missing: a fill needs columns or a region");
    if (!region) return true;

    if (!sand_build_range(b, "region.cylinder", region->cylinder, SAND_TINY, SAND_FAR) ||
        !sand_build_range(b, "region.clearance", region->clearance, 0, SAND_FAR))
        return false;
    for (int i = 0; region->box && i < 2; i++)
        if (!sand_build_range(b, "region.box", &region->box[i], SAND_TINY, SAND_FAR)) return false;
    fill->cylinder = scale * sand_number(region->cylinder, 0);
    for (int i = 0; region->box && i < 2; i++) fill->box[i] = scale * region->box[i];
    fill->inside = region->inside && *region->inside;
    fill->clearance = sand_number(region->clearance, 0);
    if (region->clearance && !fill->inside) return sand_build_wrong(b, "region.clearance", "only for `inside: true`");
    return true;
}

bool sand_build_count(SandBuilder *b, const uint32_t *given, int *out) {
    int limit = b->scene->options.limit;
    if (!given && !b->scene->bodies) return sand_build_wrong(b, "count", "missing: the scene has no `size` to take it from");
    long long count = given ? (long long)*given : b->scene->bodies;
    long long most = (limit ? limit : SAND_MAX_BODIES) - (long long)b->world->body_count;
    if (count < 1 || count > most)
        return sand_build_wrong(b, "count", "expected 1 to %lld bodies, got %lld", most > 0 ? most : 0, count);
    *out = (int)count;
    return true;
}

// Whether any length that bounds a fill follows the number of bodies.
static bool capacity_scales(const SandBuilder *b, const SandFillDef *fill) {
    bool scales = fill->scales && *fill->scales;
    for (uint32_t i = 0; i < b->def->boundaries_count; i++)
        scales = scales || (b->def->boundaries[i].scales && *b->def->boundaries[i].scales);
    return b->def->size && scales;
}

// Says that a fill has too little room, and for how many bodies there is enough.
static bool refuse_fill(SandBuilder *b, int index, const SandFill *fill, int placed) {
    const SandFillDef *from = &b->def->fills[index];
    char advice[80] = "";
    b->is_full = capacity_scales(b, from);
    if (!b->is_full && placed > 0 && from->count)
        snprintf(advice, sizeof advice, "; `count: %d` fits", placed);
    else if (!b->is_full && placed > 0)
        snprintf(advice, sizeof advice, "; %d is the nearest size that does (--bodies %d)", placed, placed);
    return sand_build_wrong(b, "", "fill %d: only %d of %d %s fit%s", index + 1, placed, fill->count,
                            fill->random_rotation ? "bodies" : "spheres", advice);
}

static bool build_fill(SandBuilder *b, int index) {
    const SandFillDef *from = &b->def->fills[index];
    SandFill fill = sand_default_fill();
    SandError reason;
    int shapes[SAND_FILL_SHAPES], limit = b->scene->options.limit;
    snprintf(b->path, sizeof b->path, "fills[%d]", index);
    if ((fill.material = sand_build_material(b, from->material, "material")) < 0) return false;
    if (!sand_build_range(b, "mass", from->mass, 1e-12, 1e15) ||
        !sand_build_range3(b, "velocity", from->velocity, SAND_FAST))
        return false;
    fill.mass = sand_number(from->mass, 0);
    fill.velocity = sand_vector(from->velocity);
    if (!sand_build_fill_shapes(b, from, &fill, shapes) || !fill_lattice(b, from, &fill)) return false;

    if (!sand_build_count(b, from->count, &fill.count)) return false;
    if (limit) fill.tries = 10ll * limit;
    fill.kept = &b->kept;
    fill.singles = (int)b->def->bodies_count;
    int placed = sand_fill(b->world, &fill, &b->random, &reason);
    if (placed < 0) return sand_build_wrong(b, "", "%s", reason.text);
    return placed == fill.count || refuse_fill(b, index, &fill, placed);
}

// Of all fills and inlets one may take its count from the scene's size, and one must where there is a size.
bool sand_build_check_counts(SandBuilder *b) {
    int takers = 0;
    for (uint32_t i = 0; i < b->def->fills_count; i++) {
        takers += !b->def->fills[i].count;
        snprintf(b->path, sizeof b->path, "fills[%u]", i);
        if (takers > 1) return sand_build_wrong(b, "count", "missing: only one fill may take its count from `size`");
    }
    for (uint32_t i = 0; i < b->def->inlets_count; i++) {
        takers += !b->def->inlets[i].count;
        snprintf(b->path, sizeof b->path, "inlets[%u]", i);
        if (takers > 1)
            return sand_build_wrong(b, "count", "missing: only one fill or inlet may take its count from `size`");
    }
    b->path[0] = 0;
    if (b->def->size && takers == 0)
        return sand_build_wrong(b, "size", "no fill or inlet takes its count from it: leave out one `count`");
    return true;
}

bool sand_build_fills(SandBuilder *b) {
    for (uint32_t i = 0; i < b->def->fills_count; i++) {
        b->fill_first[i] = b->world->body_count;
        if (!build_fill(b, (int)i)) return false;
    }
    return true;
}

// How many bodies there will be, if all is well.
static int64_t count_bodies(const SandBuilder *b) {
    const SandSceneDef *def = b->def;
    int64_t count = def->bodies_count;
    for (uint32_t i = 0; i < def->fills_count; i++)
        count += def->fills[i].count ? (int64_t)*def->fills[i].count : b->scene->bodies;
    for (uint32_t i = 0; i < def->inlets_count; i++)
        count += def->inlets[i].count ? (int64_t)*def->inlets[i].count : b->scene->bodies;
    return count;
}

// Makes room for the bodies, and decides which ones to keep.
bool sand_build_reserve_bodies(SandBuilder *b) {
    const SandSceneOptions *options = &b->scene->options;
    int64_t limit = options->limit ? options->limit : SAND_MAX_BODIES, all = count_bodies(b);
    b->kept = (SandKept){0, INT_MAX, {DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}};
    if (all > limit) return true; // it is refused where they are added
    if (sand_build_keeps_block(b)) {
        b->kept.first = sand_block_first((int)all, options->processes, options->process);
        b->kept.end = sand_block_first((int)all, options->processes, options->process + 1);
    }
    return sand_world_reserve(b->world, (int)all, b->error);
}
