// Building the world that a scene file describes: materials, shapes, boundaries, single bodies, joints, then fills.
#include "sim/core/suggestion.h"
#include "sim/scene/scene_build.h"
#include "sim/scene/packing.h"
#include "sim/core/array.h"
#include "sim/core/ranks.h"
#include "sandglass/scene.h"
#include <float.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool sand_build_wrong(SandBuilder *b, const char *key, const char *format, ...) {
    char path[160], sentence[400];
    va_list list;
    va_start(list, format);
    vsnprintf(sentence, sizeof sentence, format, list);
    va_end(list);
    snprintf(path, sizeof path, "%s%s%s", b->path, *b->path && *key ? "." : "", key);
    return sand_yaml_wrong(&b->file->yaml, b->error, path, "%s", sentence);
}

bool sand_build_range(SandBuilder *b, const char *key, const double *value, double least, double most) {
    return sand_yaml_range(&b->file->yaml, b->error, b->path, key, value, least, most);
}

bool sand_build_range3(SandBuilder *b, const char *key, const double *value, double most) {
    for (int i = 0; value && i < 3; i++)
        if (!sand_build_range(b, key, &value[i], -most, most)) return false;
    return true;
}

const double *sand_build_knob_value(const SandBuilder *b, SandKnobKind kind, int target) {
    for (int i = 0; i < b->scene->knob_count; i++) {
        const SandKnob *knob = &b->scene->knobs[i];
        if (knob->changed && knob->kind == kind && knob->target == target) return &knob->value;
    }
    return NULL;
}

bool sand_build_rotation(SandBuilder *b, const SandTurnDef *turn, SandQuat *rotation) {
    *rotation = q_identity();
    if (!turn) return true;
    if (!sand_build_range3(b, "rotation.axis", turn->axis, SAND_FAR) ||
        !sand_build_range(b, "rotation.angle", &turn->angle, -36000, 36000))
        return false;
    SandVec3 axis = sand_vector(turn->axis);
    if (v3_length(axis) < 1e-9) return sand_build_wrong(b, "rotation.axis", "expected an axis, got one of length 0");
    *rotation = q_unit(q_exp(v3_scale(turn->angle * SAND_DEGREE / v3_length(axis), axis)));
    return true;
}

// ---- settings ----

static bool build_settings(SandBuilder *b) {
    const SandSceneDef *def = b->def;
    SandWorld *world = b->world;
    double wanted = b->scene->options.step;
    if (wanted != 0 && !(wanted >= 1e-9 && wanted <= 10))
        return sand_fail(b->error, "%.200s: --step: expected a number from 1e-09 to 10, got %g", b->file->yaml.name, wanted);
    const double *step = wanted != 0 ? &b->scene->options.step : def->step;
    if (!sand_build_range(b, "step", step, 1e-9, 10) || !sand_build_range3(b, "gravity", def->gravity, 1e6) ||
        !sand_build_range(b, "recovery", def->recovery, 0, SAND_FAST) ||
        !sand_build_range(b, "recovery_fraction", def->recovery_fraction, 0, 1) ||
        !sand_build_range(b, "sleep_speed", def->sleep_speed, 0, SAND_FAST) ||
        !sand_build_range(b, "bounce_speed", def->bounce_speed, 0, SAND_FAST) ||
        !sand_build_range(b, "envelope", def->envelope, 0, SAND_FAR))
        return false;
    double passes = def->joint_passes ? (double)*def->joint_passes : 1, looks = def->looks ? (double)*def->looks : -1;
    if (!sand_build_range(b, "joint_passes", &passes, 1, SAND_MAX_JOINT_PASSES) ||
        (def->looks && !sand_build_range(b, "looks", &looks, 0, SAND_MAX_LOOKS)))
        return false;
    world->step = sand_number(step, world->step);
    if (def->gravity) world->gravity = sand_vector(def->gravity);
    world->recovery = sand_number(def->recovery, world->recovery);
    world->recovery_fraction = sand_number(def->recovery_fraction, world->recovery_fraction);
    world->sleep_speed = sand_number(def->sleep_speed, world->sleep_speed);
    world->bounce_speed = sand_number(def->bounce_speed, world->bounce_speed);
    world->envelope = sand_number(def->envelope, world->envelope);
    world->joint_passes = (int)passes;
    world->looks = (int)looks;
    const double *tilt = sand_build_knob_value(b, SAND_KNOB_TILT, -1);
    if (tilt) world->gravity = q_rotate(q_exp(v3_make(0, -*tilt * SAND_DEGREE, 0)), world->gravity);
    return true;
}

// ---- materials ----

int sand_build_material(SandBuilder *b, const char *name, const char *key) {
    if (!name) return 0;
    SandSuggestion names = sand_suggestion(name);
    for (int i = 0; i < b->world->material_count; i++) {
        if (strcmp(b->world->materials[i].name, name) == 0) return i;
        sand_suggestion_add(&names, b->world->materials[i].name);
    }
    sand_build_wrong(b, key, "unknown material '%s'; %s", name, sand_suggestion_text(&names));
    return -1;
}

static bool check_laws(SandBuilder *b, const double *mu, const double *restitution, const double *cohesion) {
    return sand_build_range(b, "mu", mu, 0, 100) && sand_build_range(b, "restitution", restitution, 0, 1) &&
           sand_build_range(b, "cohesion", cohesion, 0, 1e12);
}

static bool check_rolling(SandBuilder *b, const double *rolling, const double *spinning) {
    return sand_build_range(b, "rolling", rolling, 0, 1e6) && sand_build_range(b, "spinning", spinning, 0, 1e6);
}

// A number of material i: of a knob, else of the file, else `otherwise`.
static double material_number(const SandBuilder *b, SandKnobKind knob, int i, const double *given, double otherwise) {
    const double *value = sand_build_knob_value(b, knob, i);
    return value ? *value : sand_number(given, otherwise);
}

static bool build_material(SandBuilder *b, int i) {
    const SandMaterialDef *m = &b->def->materials[i];
    SandError reason;
    snprintf(b->path, sizeof b->path, "materials[%d]", i);
    if (!sand_build_range(b, "density", m->density, 1e-6, 1e9) || !check_laws(b, m->mu, m->restitution, m->cohesion) ||
        !check_rolling(b, m->rolling, m->spinning))
        return false;
    int material = sand_world_add_material(b->world, m->name, sand_number(m->density, SAND_FILE_DENSITY),
                                           material_number(b, SAND_KNOB_MU, i, m->mu, SAND_FILE_MU), &reason);
    if (material < 0) return sand_build_wrong(b, "name", "%s", reason.text);
    sand_world_set_laws(b->world, material, material_number(b, SAND_KNOB_RESTITUTION, i, m->restitution, 0),
                        material_number(b, SAND_KNOB_COHESION, i, m->cohesion, 0));
    sand_world_set_rolling(b->world, material, material_number(b, SAND_KNOB_ROLLING, i, m->rolling, 0),
                           material_number(b, SAND_KNOB_SPINNING, i, m->spinning, 0));
    b->world->materials[material].look = m->look ? *m->look : SAND_LOOK_SAND;
    return true;
}

static bool build_pair(SandBuilder *b, int i) {
    const SandPairDef *p = &b->def->pairs[i];
    snprintf(b->path, sizeof b->path, "pairs[%d]", i);
    int first = sand_build_material(b, p->a, "a"), second = first < 0 ? -1 : sand_build_material(b, p->b, "b");
    if (second < 0 || !check_laws(b, p->mu, p->restitution, p->cohesion) || !check_rolling(b, p->rolling, p->spinning))
        return false;
    SandPair pair = *sand_world_laws(b->world, first, second);
    sand_world_set_pair(b->world, first, second, sand_number(p->mu, pair.mu));
    sand_world_set_pair_laws(b->world, first, second, sand_number(p->restitution, pair.restitution),
                             sand_number(p->cohesion, pair.cohesion));
    sand_world_set_pair_rolling(b->world, first, second, sand_number(p->rolling, pair.rolling),
                                sand_number(p->spinning, pair.spinning));
    return true;
}

static bool build_materials(SandBuilder *b) {
    const SandSceneDef *def = b->def;
    if (def->materials_count == 0 &&
        sand_world_add_material(b->world, "stone", SAND_FILE_DENSITY, SAND_FILE_MU, b->error) < 0)
        return false;
    for (uint32_t i = 0; i < def->materials_count; i++)
        if (!build_material(b, (int)i)) return false;
    for (uint32_t i = 0; i < def->pairs_count; i++)
        if (!build_pair(b, (int)i)) return false;
    return true;
}

// ---- single bodies ----

static bool build_body(SandBuilder *b, int index) {
    const SandBodyFileDef *from = &b->def->bodies[index];
    SandBodyDef body = sand_default_body();
    SandError reason;
    SandQuat rotation;
    snprintf(b->path, sizeof b->path, "bodies[%d]", index);
    for (int i = 0; from->name && i < index; i++)
        if (b->def->bodies[i].name && strcmp(b->def->bodies[i].name, from->name) == 0)
            return sand_build_wrong(b, "name", "there is a body '%s' already", from->name);
    if ((body.material = sand_build_material(b, from->material, "material")) < 0) return false;
    if ((body.shape = sand_build_body_shape(b, from, &body.scale)) < 0) return false;
    double scale = from->scales && *from->scales ? b->scene->scale : 1;
    body.scale *= scale;
    if (!sand_build_range(b, "mass", from->mass, 1e-12, 1e15) ||
        !sand_build_range3(b, "position", from->position, SAND_FAR) ||
        !sand_build_range3(b, "velocity", from->velocity, SAND_FAST) ||
        !sand_build_range3(b, "spin", from->spin, SAND_FAST) || !sand_build_range(b, "enter", from->enter, 0, 1e9) ||
        !sand_build_rotation(b, from->rotation, &rotation))
        return false;
    const double *mass = sand_build_knob_value(b, SAND_KNOB_MASS, index);
    body.mass = sand_number(mass ? mass : from->mass, 0);
    // The file places the frame that the shape was described in; a body def takes that of the center of mass.
    SandPose input = {v3_scale(scale, sand_vector(from->position)), rotation};
    body.pose = sand_shape_place(&b->world->shapes[body.shape], body.scale, input);
    body.velocity = sand_vector(from->velocity);
    body.spin = sand_vector(from->spin);
    body.enter = sand_number(from->enter, 0);
    if (sand_world_add_body(b->world, &body, &reason) < 0) return sand_build_wrong(b, "", "%s", reason.text);
    return true;
}

// ---- fills ----

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
static bool check_takers(SandBuilder *b) {
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

static bool build_fills(SandBuilder *b) {
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

// Whether this process keeps one block alone. To settle takes all bodies.
static bool keeps_block(const SandBuilder *b) { return b->scene->options.process > 0 && !b->scene->settled; }

// Makes room for the bodies, and decides which ones to keep.
static bool prepare_bodies(SandBuilder *b) {
    const SandSceneOptions *options = &b->scene->options;
    int64_t limit = options->limit ? options->limit : SAND_MAX_BODIES, all = count_bodies(b);
    b->kept = (SandKept){0, INT_MAX, {DBL_MAX, DBL_MAX, DBL_MAX}, {-DBL_MAX, -DBL_MAX, -DBL_MAX}};
    if (all > limit) return true; // it is refused where they are added
    if (keeps_block(b)) {
        b->kept.first = sand_block_first((int)all, options->processes, options->process);
        b->kept.end = sand_block_first((int)all, options->processes, options->process + 1);
    }
    return sand_world_reserve(b->world, (int)all, b->error);
}

// ---- the whole ----

// Returns what to call a body in a message, and its path in the file.
static void name_body(const SandBuilder *b, int body, char *name, char *path, size_t capacity) {
    int singles = (int)b->def->bodies_count, fill = 0;
    if (body < singles) {
        const char *given = b->def->bodies[body].name;
        if (given)
            snprintf(name, capacity, "body '%s'", given);
        else
            snprintf(name, capacity, "body %d", body + 1);
        snprintf(path, capacity, "bodies[%d]", body);
        return;
    }
    while (fill + 1 < (int)b->def->fills_count && b->fill_first[fill + 1] <= body) fill++;
    snprintf(name, capacity, "body %d of fill %d", body - b->fill_first[fill] + 1, fill + 1);
    snprintf(path, capacity, "fills[%d]", fill);
}

static bool check_overlaps(SandBuilder *b) {
    SandOverlap overlap;
    char first[96], second[96], path[96];
    if (keeps_block(b)) return true; // the first process has all bodies, and looks
    int found = sand_find_overlap(b->world, SAND_START_OVERLAP, &overlap, b->error);
    if (found <= 0) return found == 0;
    if (overlap.other >= 0)
        name_body(b, overlap.other, second, path, sizeof path);
    else
        snprintf(second, sizeof second, "boundary '%s'", b->world->boundaries[overlap.boundary].name);
    name_body(b, overlap.body, first, path, sizeof path);
    return sand_yaml_wrong(&b->file->yaml, b->error, path, "%s and %s overlap by %g m at the start", first, second,
                           overlap.depth);
}

// Sets the world's box and the camera's: as the file says, else the bounding box of everything, for the world with a margin
// of its diagonal.
static bool build_bounds(SandBuilder *b) {
    SandWorld *world = b->world;
    SandScene *scene = b->scene;
    SandVec3 lower = v3_make(DBL_MAX, DBL_MAX, DBL_MAX), upper = v3_neg(lower), low, high;
    for (int i = 0; i < world->body_count; i++) {
        if (!sand_world_has(world, i)) continue;
        double r = world->scale[i] * world->shapes[world->shape[i]].bound;
        sand_box_include(&lower, &upper, v3_sub(world->position[i], v3_make(r, r, r)),
                         v3_add(world->position[i], v3_make(r, r, r)));
    }
    sand_box_include(&lower, &upper, b->kept.lower, b->kept.upper);
    for (int i = 0; i < world->inlet_count; i++)
        sand_box_include(&lower, &upper, world->inlets[i].lower, world->inlets[i].upper);
    for (int i = 0; i < world->boundary_count; i++)
        if (sand_fill_bounds(&world->boundaries[i], &low, &high)) sand_box_include(&lower, &upper, low, high);
    if (lower.x > upper.x) { // nothing has a bounding box
        lower = v3_make(-1, -1, -1);
        upper = v3_make(1, 1, 1);
    }
    double margin = v3_length(v3_sub(upper, lower));
    const SandBoundsDef *boxes[2] = {b->def->world, b->def->view};
    for (int i = 0; i < 2; i++) {
        const char *key = i ? "view" : "world";
        double grow = i ? 0 : margin;
        low = v3_sub(lower, v3_make(grow, grow, grow));
        high = v3_add(upper, v3_make(grow, grow, grow));
        if (boxes[i]) {
            double scale = boxes[i]->scales && *boxes[i]->scales ? scene->scale : 1;
            snprintf(b->path, sizeof b->path, "%s", key);
            if (!sand_build_range3(b, "lower", boxes[i]->lower, SAND_FAR) ||
                !sand_build_range3(b, "upper", boxes[i]->upper, SAND_FAR))
                return false;
            low = v3_scale(scale, sand_vector(boxes[i]->lower));
            high = v3_scale(scale, sand_vector(boxes[i]->upper));
            if (!(low.x < high.x && low.y < high.y && low.z < high.z))
                return sand_build_wrong(b, "upper", "expected it above lower on every axis");
        }
        *(i ? &scene->view_lower : &world->lower) = low;
        *(i ? &scene->view_upper : &world->upper) = high;
    }
    return true;
}

int sand_build_find_body(SandBuilder *b, const char *name, const char *key, const char *purpose) {
    SandSuggestion names = sand_suggestion(name);
    for (uint32_t i = 0; i < b->def->bodies_count; i++) {
        const char *known = b->def->bodies[i].name;
        if (known && strcmp(known, name) == 0) return (int)i;
        if (known) sand_suggestion_add(&names, known);
    }
    sand_build_wrong(b, key, "there is no body '%s' to %s; %s", name, purpose, sand_suggestion_text(&names));
    return -2;
}

static bool build_follow(SandBuilder *b) {
    SandScene *scene = b->scene;
    b->path[0] = 0;
    scene->follow = b->def->follow ? sand_build_find_body(b, b->def->follow, "follow", "follow") : -1;
    if (scene->follow >= 0) scene->follow_from = b->world->position[scene->follow];
    return scene->follow >= -1;
}

static bool build_all(SandBuilder *b) {
    if (!build_settings(b) || !build_materials(b) || !sand_build_shapes(b) || !sand_build_boundaries(b)) return false;
    int limit = b->scene->options.limit ? b->scene->options.limit : SAND_MAX_BODIES;
    b->path[0] = 0;
    if (b->def->bodies_count > (uint32_t)limit) return sand_build_wrong(b, "bodies", "expected at most %d", limit);
    for (uint32_t i = 0; i < b->def->bodies_count; i++)
        if (!build_body(b, (int)i)) return false;
    if (!build_follow(b) || !check_takers(b) || !prepare_bodies(b) || !sand_build_joints(b) || !sand_build_vehicle(b) ||
        !build_fills(b) || !sand_build_outlets(b) || !sand_build_inlets(b) || !build_bounds(b))
        return false;
    SandError reason;
    if (!sand_build_period(b)) return false;
    b->path[0] = 0;
    if (!sand_world_check(b->world, &reason))
        return sand_build_wrong(b, b->def->bodies_count ? "bodies" : "", "%s", reason.text);
    return check_overlaps(b) && sand_build_probes(b);
}

// Builds the world at the scene's scale.
static bool build_once(SandScene *scene, bool *is_full, SandError *error) {
    sand_world_free(&scene->world);
    sand_world_init(&scene->world);
    SandBuilder b = {.scene = scene,
                     .file = scene->file,
                     .def = scene->file->def,
                     .world = &scene->world,
                     .error = error,
                     .random = sand_random(scene->seed)};
    size_t capacity = 0;
    bool ok = SAND_GROW(b.fill_first, capacity, b.def->fills_count + 1, "fills", error) && build_all(&b);
    sand_free(b.fill_first);
    if (!ok) sand_world_free(&scene->world);
    *is_full = b.is_full;
    return ok;
}

// Bodies keep their size when a vessel scales, so the layer along its walls that holds no centers takes a larger share of a
// small one: such a vessel is widened step by step until they fit.
bool sand_scene_build(SandScene *scene, SandError *error) {
    static const double WIDER = 1.05, WIDEST = 4;
    double natural = sand_scene_natural_scale(scene);
    SandError first;
    bool is_full;
    sand_scene_set_scale(scene, natural);
    if (build_once(scene, &is_full, &first)) return true;
    for (double wider = WIDER; is_full && wider < WIDEST; wider *= WIDER) {
        sand_scene_set_scale(scene, wider * natural);
        if (build_once(scene, &is_full, error)) return true;
    }
    sand_scene_set_scale(scene, natural);
    *error = first;
    return false;
}
