// SPDX-License-Identifier: MIT
// Building the world that a scene file describes: settings, materials and single bodies here, and the other stages in their
// order.
#include "sim/scene/scene_builder.h"

#include "sim/core/array.h"
#include "sim/scene/scene_cameras.h"
#include "sim/scene/scene_scale.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

// ---- settings ----

static bool build_settings(SandBuilder *b) {
    const SandSceneDef *def = b->def;
    SandWorld *world = b->world;
    double wanted = b->scene->options.step;
    if (wanted != 0 && !(wanted >= 1e-9 && wanted <= 10))
        return sand_fail(b->error, "%.200s: --step: expected a number from 1e-09 to 10, got %g", b->file->yaml.name, wanted);
    if (!sand_build_range3(b, "gravity", def->gravity, 1e6)) return false;
    if (def->gravity) world->gravity = sand_vector(def->gravity);
    double value;
#define BUILD(type, name, standard, least, most, unit) \
    value = def->name ? (double)*def->name : world->name; \
    if (!sand_build_range(b, #name, &value, least, most)) return false; \
    world->name = (type)value;
    SAND_WORLD_SETTINGS(BUILD)
#undef BUILD
    if (wanted != 0) world->step = wanted;
    const double *tilt = sand_build_knob_value(b, SAND_KNOB_TILT, -1);
    if (tilt) world->gravity = q_rotate(q_exp(v3_make(0, -*tilt * SAND_DEGREE, 0)), world->gravity);
    return true;
}

// ---- materials ----

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
    const SandMaterial usual = sand_default_material();
    SandError reason;
    snprintf(b->path, sizeof b->path, "materials[%d]", i);
    if (!sand_build_range(b, "density", m->density, 1e-6, 1e9) || !check_laws(b, m->mu, m->restitution, m->cohesion) ||
        !check_rolling(b, m->rolling, m->spinning) || !sand_build_color(b, "color", m->color))
        return false;
    SandMaterial material = {
        .density = sand_number(m->density, usual.density),
        .mu = material_number(b, SAND_KNOB_MU, i, m->mu, usual.mu),
        .restitution = material_number(b, SAND_KNOB_RESTITUTION, i, m->restitution, 0),
        .cohesion = material_number(b, SAND_KNOB_COHESION, i, m->cohesion, 0),
        .rolling = material_number(b, SAND_KNOB_ROLLING, i, m->rolling, 0),
        .spinning = material_number(b, SAND_KNOB_SPINNING, i, m->spinning, 0),
        .look = m->look ? *m->look : SAND_LOOK_SAND,
        .color = sand_vector(m->color),
    };
    snprintf(material.name, sizeof material.name, "%s", m->name);
    if (sand_world_add_material(b->world, &material, &reason) < 0) return sand_build_wrong(b, "name", "%s", reason.text);
    return true;
}

static bool build_pair(SandBuilder *b, int i) {
    const SandPairDef *p = &b->def->pairs[i];
    snprintf(b->path, sizeof b->path, "pairs[%d]", i);
    int first = sand_build_material(b, p->a, "a"), second = first < 0 ? -1 : sand_build_material(b, p->b, "b");
    if (second < 0 || !check_laws(b, p->mu, p->restitution, p->cohesion) || !check_rolling(b, p->rolling, p->spinning))
        return false;
    SandPair pair = *sand_world_pair(b->world, first, second);
    pair = (SandPair){sand_number(p->mu, pair.mu), sand_number(p->restitution, pair.restitution),
                      sand_number(p->cohesion, pair.cohesion), sand_number(p->rolling, pair.rolling),
                      sand_number(p->spinning, pair.spinning)};
    sand_world_set_pair(b->world, first, second, &pair);
    return true;
}

static bool build_materials(SandBuilder *b) {
    const SandSceneDef *def = b->def;
    SandMaterial stone = sand_default_material();
    strcpy(stone.name, "stone");
    if (def->materials_count == 0 && sand_world_add_material(b->world, &stone, b->error) < 0) return false;
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
    if (sand_build_keeps_block(b)) return true; // the first process has all bodies, and looks
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
    if (!build_follow(b) || !sand_build_scenery(b) || !sand_scene_read_cameras(b->scene, b->error) ||
        !sand_build_check_counts(b) || !sand_build_reserve_bodies(b) || !sand_build_joints(b) || !sand_build_vehicle(b) ||
        !sand_build_fills(b) || !sand_build_outlets(b) || !sand_build_inlets(b) || !build_bounds(b))
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
