// SPDX-License-Identifier: MIT
// Building the boundaries of a scene: sizes, scaling, the neck of a profile, uneven ground, motion.
#include "sim/core/array.h"
#include "sim/scene/scene_builder.h"
#include "sim/scene/scene_scale.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CELLS = 4096, WAVES = 8 }; // cells along a side of the ground; waves its height is the sum of

// ---- which keys belong to which shape ----

static const char *const shape_names[SAND_BOUNDARY_COUNT] = {"plane",  "box",        "cylinder", "frustum",
                                                             "sphere", "revolution", "mesh",     "terrain"};

#define BIT(shape) (1u << SAND_BOUNDARY_##shape)
#define ROUND (BIT(CYLINDER) | BIT(FRUSTUM) | BIT(REVOLUTION))
#define ALL ((1u << SAND_BOUNDARY_COUNT) - 1)

// Refuses keys that the shape does not have, and misses those it needs.
static bool check_keys(SandBuilder *b, const SandBoundaryDef *boundary) {
    struct {
        const char *key;
        bool given;
        unsigned allowed, needed;
    } keys[] = {
        {"side", boundary->side, ALL & ~(BIT(PLANE) | BIT(MESH) | BIT(TERRAIN)), 0},
        {"rotation", boundary->rotation, ALL & ~BIT(PLANE), 0},
        {"normal", boundary->normal, BIT(PLANE), 0},
        {"size", boundary->size, BIT(BOX), BIT(BOX)},
        {"radius", boundary->radius, BIT(CYLINDER) | BIT(SPHERE), BIT(CYLINDER) | BIT(SPHERE)},
        {"height", boundary->height, BIT(CYLINDER) | BIT(FRUSTUM), BIT(CYLINDER) | BIT(FRUSTUM)},
        {"radii", boundary->radii, BIT(FRUSTUM), BIT(FRUSTUM)},
        {"caps", boundary->caps, BIT(CYLINDER) | BIT(FRUSTUM), 0},
        {"profile", boundary->profile_count > 0, BIT(REVOLUTION), BIT(REVOLUTION)},
        {"narrowest", boundary->narrowest, ROUND, 0},
        {"file", boundary->file, BIT(MESH), BIT(MESH)},
        {"width", boundary->width, BIT(TERRAIN), BIT(TERRAIN)},
        {"length", boundary->length, BIT(TERRAIN), 0},
        {"cells", boundary->cells, BIT(TERRAIN), BIT(TERRAIN)},
        {"amplitude", boundary->amplitude, BIT(TERRAIN), BIT(TERRAIN)},
        {"wavelength", boundary->wavelength, BIT(TERRAIN), BIT(TERRAIN)},
        {"seed", boundary->seed, BIT(TERRAIN), 0},
        {"scales", boundary->scales, ALL & ~BIT(MESH), 0},
    };
    unsigned bit = 1u << boundary->shape;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (keys[i].given && !(keys[i].allowed & bit))
            return sand_build_wrong(b, keys[i].key, "a boundary of shape %s has no such key", shape_names[boundary->shape]);
        if (!keys[i].given && (keys[i].needed & bit))
            return sand_build_wrong(b, keys[i].key, "missing: a boundary of shape %s needs it",
                                    shape_names[boundary->shape]);
    }
    return true;
}

static bool check_numbers(SandBuilder *b, const SandBoundaryDef *boundary) {
    const double far = SAND_FAR, tiny = SAND_TINY;
    for (int i = 0; boundary->size && i < 3; i++)
        if (!sand_build_range(b, "size", &boundary->size[i], tiny, far)) return false;
    for (int i = 0; boundary->radii && i < 2; i++)
        if (!sand_build_range(b, "radii", &boundary->radii[i], 0, far)) return false;
    for (uint32_t i = 0; i < boundary->profile_count; i++) {
        char key[32];
        snprintf(key, sizeof key, "profile[%u]", i);
        if (!sand_build_range(b, key, &boundary->profile[i][0], 0, far) ||
            !sand_build_range(b, key, &boundary->profile[i][1], -far, far))
            return false;
    }
    return sand_build_range3(b, "position", boundary->position, far) &&
           sand_build_range3(b, "normal", boundary->normal, far) &&
           sand_build_range(b, "radius", boundary->radius, tiny, far) &&
           sand_build_range(b, "height", boundary->height, tiny, far) &&
           sand_build_range(b, "narrowest", boundary->narrowest, 0, far) &&
           sand_build_range(b, "width", boundary->width, tiny, far) &&
           sand_build_range(b, "length", boundary->length, tiny, far) &&
           sand_build_range(b, "amplitude", boundary->amplitude, 0, far) &&
           sand_build_range(b, "wavelength", boundary->wavelength, tiny, far);
}

// ---- profiles ----

static int put_corner(double (*out)[2], int n, double radius, double height) {
    out[n][0] = radius;
    out[n][1] = height;
    return n + 1;
}

// Writes the profile of a cylinder, frustum or revolution as the file gives it; returns its corners. Cylinders and frusta
// stand on their position.
static int file_profile(const SandBoundaryDef *boundary, double (*out)[2]) {
    if (boundary->shape == SAND_BOUNDARY_REVOLUTION) {
        memcpy(out, boundary->profile, boundary->profile_count * sizeof *out);
        return (int)boundary->profile_count;
    }
    double bottom = boundary->shape == SAND_BOUNDARY_CYLINDER ? *boundary->radius : boundary->radii[0];
    double top = boundary->shape == SAND_BOUNDARY_CYLINDER ? *boundary->radius : boundary->radii[1];
    SandCaps caps = boundary->caps ? *boundary->caps : SAND_CAPS_BOTH;
    int n = 0;
    if (bottom > 0 && (caps == SAND_CAPS_BOTH || caps == SAND_CAPS_BOTTOM)) n = put_corner(out, n, 0, 0);
    n = put_corner(out, n, bottom, 0);
    n = put_corner(out, n, top, *boundary->height);
    if (top > 0 && (caps == SAND_CAPS_BOTH || caps == SAND_CAPS_TOP)) n = put_corner(out, n, 0, *boundary->height);
    return n;
}

static bool build_profile(SandBuilder *b, const SandBoundaryDef *boundary, int index, double scale, SandBoundary *out,
                          SandError *reason) {
    double(*profile)[2] = malloc((boundary->profile_count + 4) * sizeof *profile);
    if (!profile) return sand_fail(reason, "out of memory");
    int count = file_profile(boundary, profile);
    double least = sand_scene_file_narrowest(boundary), neck = sand_scene_narrowest(boundary, scale);
    const double *knob = sand_build_knob_value(b, SAND_KNOB_NARROWEST, index);
    if (knob) neck = *knob;
    // The narrowest corners become the neck; what would be narrower than the neck widens with it.
    for (int i = 0; i < count; i++) {
        double r = profile[i][0];
        profile[i][0] = r <= 0 ? 0 : r <= least ? neck : fmax(scale * r, neck);
        profile[i][1] *= scale;
    }
    bool ok = sand_boundary_revolution(out, (const double(*)[2])profile, count,
                                       boundary->side ? *boundary->side : SAND_INSIDE, reason);
    free(profile);
    return ok;
}

// ---- uneven ground ----

// A wave of amplitude 1 and period 1, made of two parabolas: smooth enough, and the same bits with any math library.
static double wave(double t) {
    double u = t - floor(t);
    return u < 0.5 ? 16 * u * (0.5 - u) : -16 * (u - 0.5) * (1 - u);
}

// Uneven ground: a sum of waves of random direction and phase.
static bool build_terrain(SandBuilder *b, const SandBoundaryDef *boundary, double scale, SandBoundary *out,
                          SandError *reason) {
    double width = scale * *boundary->width, length = scale * sand_number(boundary->length, *boundary->width);
    // Cells keep their size when the ground scales.
    double cells_x = fmax(1, floor(*boundary->cells * scale + 0.5)),
           cells_y = fmax(1, floor(cells_x * length / width + 0.5));
    int limit = b->scene->options.limit;
    double most = limit ? 64 : MOST_CELLS;
    if (!(cells_x <= most && cells_y <= most))
        return sand_build_wrong(b, "cells", "expected at most %g along each side, got %g by %g", most, cells_x, cells_y);
    int nx = (int)cells_x + 1, ny = (int)cells_y + 1;
    double *heights = NULL, waves[WAVES][3];
    size_t capacity = 0;
    if (!SAND_GROW(heights, capacity, (size_t)nx * (size_t)ny, "heights of the ground", reason)) return false;
    SandRandom random = sand_random(boundary->seed ? *boundary->seed : 0);
    for (int i = 0; i < WAVES; i++)
        for (int j = 0; j < 3; j++) waves[i][j] = sand_random_signed(&random);
    for (int iy = 0; iy < ny; iy++)
        for (int ix = 0; ix < nx; ix++) {
            double x = (-0.5 + ix / cells_x) * width, y = (-0.5 + iy / cells_y) * length, sum = 0;
            for (int i = 0; i < WAVES; i++)
                sum += wave((waves[i][0] * x + waves[i][1] * y) / *boundary->wavelength + waves[i][2]);
            heights[(size_t)iy * (size_t)nx + (size_t)ix] = *boundary->amplitude * sum / WAVES;
        }
    bool ok = sand_boundary_terrain(out, heights, nx, ny, v3_make(0.5 * width, 0.5 * length, 0), reason);
    sand_free(heights);
    return ok;
}

// ---- one boundary ----

static bool build_mesh(SandBuilder *b, const SandBoundaryDef *boundary, SandBoundary *out, SandError *reason) {
    char path[SAND_PATH];
    return sand_build_path(b, boundary->file, path, reason) && sand_boundary_mesh_file(out, path, reason);
}

// Angles are in degrees.
static bool build_oscillation(SandBuilder *b, const SandMotionDef *from, SandMotion *motion) {
    if (!sand_build_range3(b, "motion.amplitude", from->amplitude, SAND_FAR) ||
        !sand_build_range(b, "motion.swing", from->swing, -SAND_FAR, SAND_FAR) ||
        !sand_build_range(b, "motion.frequency", from->frequency, 0, SAND_FAST) ||
        !sand_build_range(b, "motion.phase", from->phase, -SAND_FAR, SAND_FAR))
        return false;
    if ((from->amplitude || from->swing) && !from->frequency)
        return sand_build_wrong(b, "motion.frequency", "missing: what has an amplitude or a swing oscillates at one");
    motion->amplitude = sand_vector(from->amplitude);
    motion->swing = SAND_DEGREE * sand_number(from->swing, 0);
    motion->frequency = sand_number(from->frequency, 0);
    motion->phase = SAND_DEGREE * sand_number(from->phase, 0);
    return true;
}

static bool build_path(SandBuilder *b, const SandMotionDef *from, SandBoundary *out) {
    SAND_ARRAY(SandMotionPoint) rows = {0};
    SandError reason;
    if (!from->path_count) return true;
    if (!SAND_RESERVE(rows, from->path_count, "a path", b->error)) return false;
    for (uint32_t k = 0; k < from->path_count; k++) {
        const double *row = from->path[k];
        rows.data[k] = (SandMotionPoint){row[0], v3_make(row[1], row[2], row[3]), SAND_DEGREE * row[4]};
    }
    bool built = sand_boundary_path(out, rows.data, (int)from->path_count, &reason);
    SAND_FREE_ARRAYS(&rows);
    return built || sand_build_wrong(b, "motion.path", "%s", reason.text);
}

static bool build_motion(SandBuilder *b, const SandBoundaryDef *boundary, int index, SandBoundary *out) {
    const SandMotionDef *from = boundary->motion;
    if (!from) return true;
    if (!sand_build_range3(b, "motion.velocity", from->velocity, SAND_FAST) ||
        !sand_build_range3(b, "motion.axis", from->axis, SAND_FAR) ||
        !sand_build_range3(b, "motion.center", from->center, SAND_FAR) ||
        !sand_build_range(b, "motion.rate", from->rate, -SAND_FAST, SAND_FAST) ||
        !sand_build_range(b, "motion.start", from->start, 0, 1e9) || !sand_build_range(b, "motion.stop", from->stop, 0, 1e9))
        return false;
    const double *knob = sand_build_knob_value(b, SAND_KNOB_RATE, index);
    SandMotion *motion = &out->motion;
    motion->velocity = sand_vector(from->velocity);
    motion->center = from->center ? sand_vector(from->center) : out->pose.position;
    motion->axis = from->axis ? sand_vector(from->axis) : v3_make(0, 0, 1);
    motion->rate = sand_number(knob ? knob : from->rate, 0);
    motion->start = sand_number(from->start, 0);
    motion->stop = sand_number(from->stop, 0);
    if (from->stop && motion->stop <= motion->start)
        return sand_build_wrong(b, "motion.stop", "expected it after start, %g, got %g", motion->start, motion->stop);
    if (v3_length(motion->axis) < 1e-9) return sand_build_wrong(b, "motion.axis", "expected an axis, got one of length 0");
    if (!sand_build_range3(b, "motion.surface", from->surface, SAND_FAST)) return false;
    motion->surface = sand_vector(from->surface);
    out->moves = true;
    return build_oscillation(b, from, motion) && build_path(b, from, out);
}

static bool build_boundary(SandBuilder *b, int index) {
    const SandBoundaryDef *boundary = &b->def->boundaries[index];
    snprintf(b->path, sizeof b->path, "boundaries[%d]", index);
    if (!check_keys(b, boundary) || !check_numbers(b, boundary)) return false;
    for (int i = 0; boundary->name && i < index; i++)
        if (strcmp(b->world->boundaries[i].name, boundary->name) == 0)
            return sand_build_wrong(b, "name", "there is a boundary '%s' already", boundary->name);
    int material = sand_build_material(b, boundary->material, "material");
    SandQuat rotation;
    if (material < 0 || !sand_build_rotation(b, boundary->rotation, &rotation)) return false;

    double scale = boundary->scales && *boundary->scales ? b->scene->scale : 1;
    SandSide side = boundary->side ? *boundary->side : SAND_INSIDE;
    SandVec3 position = v3_scale(scale, sand_vector(boundary->position));
    SandBoundary out = {0};
    bool hidden = boundary->hidden && *boundary->hidden;
    SandError reason = {""};
    b->error->text[0] = 0;
    bool ok = false;
    switch (boundary->shape) {
    case SAND_BOUNDARY_PLANE:
        ok = sand_boundary_plane(&out, position, boundary->normal ? sand_vector(boundary->normal) : v3_make(0, 0, 1),
                                 &reason);
        break;
    case SAND_BOUNDARY_BOX:
        ok = sand_boundary_box(&out, v3_scale(0.5 * scale, sand_vector(boundary->size)), side, &reason);
        break;
    case SAND_BOUNDARY_SPHERE: ok = sand_boundary_sphere(&out, scale * *boundary->radius, side, &reason); break;
    case SAND_BOUNDARY_CYLINDER:
    case SAND_BOUNDARY_FRUSTUM:
    case SAND_BOUNDARY_REVOLUTION: ok = build_profile(b, boundary, index, scale, &out, &reason); break;
    case SAND_BOUNDARY_MESH: ok = build_mesh(b, boundary, &out, &reason); break;
    default: ok = build_terrain(b, boundary, scale, &out, &reason); break;
    }
    out.hidden = hidden;
    if (!ok && b->error->text[0]) return false; // the message is written already
    const char *key = boundary->file ? "file" : boundary->profile_count ? "profile" : "shape";
    if (!ok) return sand_build_wrong(b, key, "%s", reason.text);
    if (boundary->shape != SAND_BOUNDARY_PLANE) out.pose = (SandPose){position, rotation};
    out.material = material;
    if (boundary->name)
        snprintf(out.name, sizeof out.name, "%s", boundary->name);
    else
        snprintf(out.name, sizeof out.name, "%s-%d", shape_names[boundary->shape], index + 1);
    if (!build_motion(b, boundary, index, &out) || sand_world_add_boundary(b->world, &out, b->error) < 0) {
        sand_boundary_free(&out);
        return false;
    }
    return true;
}

bool sand_build_boundaries(SandBuilder *b) {
    for (uint32_t i = 0; i < b->def->boundaries_count; i++)
        if (!build_boundary(b, (int)i)) return false;
    return true;
}
