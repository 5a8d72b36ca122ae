// SPDX-License-Identifier: MIT
// Building outlets, inlets and periods.
#include "sim/scene/scene_builder.h"

#include <stdio.h>

// Gives an outlet or inlet its name, or its number.
static void name_flow(char name[SAND_NAME], const char *given, uint32_t index) {
    if (given)
        snprintf(name, SAND_NAME, "%s", given);
    else
        snprintf(name, SAND_NAME, "%u", index + 1);
}

// A box has both of its corners, a plane both a point and a normal, and an outlet is one of the two.
static bool outlet_kind(SandBuilder *b, const SandOutletDef *from, bool *box) {
    *box = from->lower || from->upper;
    bool plane = from->point || from->normal;
    if (*box == plane) return sand_build_wrong(b, "", "expected lower and upper (a box), or point and normal (a plane)");
    if (*box && !(from->lower && from->upper))
        return sand_build_wrong(b, from->lower ? "upper" : "lower", "missing: a box has lower and upper");
    if (plane && !(from->point && from->normal))
        return sand_build_wrong(b, from->point ? "normal" : "point", "missing: a plane has point and normal");
    return true;
}

static bool build_outlet(SandBuilder *b, const SandOutletDef *from, uint32_t index) {
    double scale = from->scales && *from->scales ? b->scene->scale : 1;
    SandError reason;
    bool box;
    snprintf(b->path, sizeof b->path, "outlets[%u]", index);
    if (!outlet_kind(b, from, &box) || !sand_build_range3(b, "lower", from->lower, SAND_FAR) ||
        !sand_build_range3(b, "upper", from->upper, SAND_FAR) || !sand_build_range3(b, "point", from->point, SAND_FAR) ||
        !sand_build_range3(b, "normal", from->normal, SAND_FAR))
        return false;
    SandOutlet outlet =
        box ? sand_outlet_box(v3_scale(scale, sand_vector(from->lower)), v3_scale(scale, sand_vector(from->upper)))
            : sand_outlet_plane(v3_scale(scale, sand_vector(from->point)), sand_vector(from->normal));
    name_flow(outlet.name, from->name, index);
    if (sand_world_add_outlet(b->world, &outlet, &reason) < 0) return sand_build_wrong(b, "", "%s", reason.text);
    return true;
}

bool sand_build_outlets(SandBuilder *b) {
    for (uint32_t i = 0; i < b->def->outlets_count; i++)
        if (!build_outlet(b, &b->def->outlets[i], i)) return false;
    return true;
}

// ---- inlets ----

// The shapes, sizes and velocity of its bodies, as those of a fill.
static bool inlet_bodies(SandBuilder *b, const SandInletDef *from, SandFill *fill, int shapes[SAND_FILL_SHAPES]) {
    SandFillDef like = {.shapes = from->shapes,
                        .shapes_count = from->shapes_count,
                        .shape = from->shape,
                        .radius = from->radius,
                        .radii = from->radii,
                        .sizes = from->sizes};
    if ((fill->material = sand_build_material(b, from->material, "material")) < 0) return false;
    if (!sand_build_range(b, "mass", from->mass, 1e-12, 1e15) ||
        !sand_build_range3(b, "velocity", from->velocity, SAND_FAST))
        return false;
    fill->mass = sand_number(from->mass, 0);
    fill->velocity = sand_vector(from->velocity);
    return sand_build_fill_shapes(b, &like, fill, shapes) && sand_build_count(b, from->count, &fill->count);
}

// Finds a boundary in the way of an inlet: one that a corner of its box is beyond, or that reaches into the middle of a
// cell.
static const SandBoundary *boundary_in_the_way(const SandWorld *w, const SandInlet *in) {
    SandVec3 size = v3_sub(in->upper, in->lower);
    int n[3] = {2 * in->cells[0], 2 * in->cells[1], 2 * in->cells[2]}; // half cells: odd ones are middles
    for (int k = 0; k < w->boundary_count; k++) {
        SandPose pose = sand_boundary_pose(&w->boundaries[k], fmax(in->start, 0));
        for (int z = 0; z <= n[2]; z++)
            for (int y = 0; y <= n[1]; y++)
                for (int x = 0; x <= n[0]; x++) {
                    bool corner = x % n[0] == 0 && y % n[1] == 0 && z % n[2] == 0, middle = x & y & z & 1;
                    if (!corner && !middle) continue;
                    SandVec3 p = v3_add(in->lower, v3_make(size.x * x / n[0], size.y * y / n[1], size.z * z / n[2]));
                    if (!(sand_boundary_distance(&w->boundaries[k], &pose, p) > -1e-9)) return &w->boundaries[k];
                }
    }
    return NULL;
}

static bool build_inlet(SandBuilder *b, const SandInletDef *from, uint32_t index) {
    double scale = from->scales && *from->scales ? b->scene->scale : 1;
    SandFill fill = sand_default_fill();
    SandError reason;
    int shapes[SAND_FILL_SHAPES];
    snprintf(b->path, sizeof b->path, "inlets[%u]", index);
    if (!sand_build_range3(b, "lower", from->lower, SAND_FAR) || !sand_build_range3(b, "upper", from->upper, SAND_FAR) ||
        !sand_build_range(b, "rate", &from->rate, 1e-6, 1e9) || !sand_build_range(b, "start", from->start, 0, 1e9) ||
        !inlet_bodies(b, from, &fill, shapes))
        return false;
    SandInlet inlet = {.lower = v3_scale(scale, sand_vector(from->lower)),
                       .upper = v3_scale(scale, sand_vector(from->upper)),
                       .rate = from->rate,
                       .start = sand_number(from->start, 0),
                       .first = b->world->body_count,
                       .count = fill.count,
                       .seed = sand_random_bits(&b->random)};
    name_flow(inlet.name, from->name, index);
    for (int i = 0; i < fill.count; i++)
        if (!sand_fill_place(b->world, &fill, &b->random, &reason)) return sand_build_wrong(b, "", "%s", reason.text);
    if (sand_world_add_inlet(b->world, &inlet, &reason) < 0) return sand_build_wrong(b, "", "%s", reason.text);
    const SandBoundary *solid = boundary_in_the_way(b->world, &b->world->inlets[b->world->inlet_count - 1]);
    if (solid) return sand_build_wrong(b, "", "inlet %s reaches into boundary '%s'", inlet.name, solid->name);
    return true;
}

bool sand_build_inlets(SandBuilder *b) {
    for (uint32_t i = 0; i < b->def->inlets_count; i++)
        if (!build_inlet(b, &b->def->inlets[i], i)) return false;
    return true;
}

// ---- periods ----

static bool build_squeeze(SandBuilder *b) {
    const SandSqueezeDef *from = b->def->world ? b->def->world->squeeze : NULL;
    SandError reason;
    if (!from) return true;
    snprintf(b->path, sizeof b->path, "world");
    if (from->rate == 0) return sand_build_wrong(b, "squeeze", "its rate must be above 0");
    b->world->squeeze = (SandSqueeze){.rate = from->rate, .pressure = from->pressure, .speed = from->rate};
    return sand_world_check(b->world, &reason) || sand_build_wrong(b, "squeeze", "%s", reason.text);
}

bool sand_build_period(SandBuilder *b) {
    const char *axes = b->def->world ? b->def->world->periodic : NULL;
    for (const char *c = axes; c && *c; c++) {
        bool *axis = *c >= 'x' && *c <= 'z' ? &b->world->periodic[*c - 'x'] : NULL;
        snprintf(b->path, sizeof b->path, "world");
        if (!axis || *axis) return sand_build_wrong(b, "periodic", "expected axes, such as xy, got '%s'", axes);
        *axis = true;
    }
    SandError reason;
    if (axes && !sand_world_check(b->world, &reason)) return sand_build_wrong(b, "periodic", "%s", reason.text);
    return build_squeeze(b);
}
