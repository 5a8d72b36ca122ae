// SPDX-License-Identifier: MIT
// Lattice fills: bodies drawn at random, placed layer by layer until there are enough; those that overlap are left out.
#include "sim/scene/packing.h"
#include "sim/core/array.h"
#include "sim/geometry/mesh.h"
#include <float.h>

SandFill sand_default_fill(void) {
    return (SandFill){.least = 1, .most = 1, .spacing = 1, .to = DBL_MAX, .tries = 1ll << 62};
}

// ---- placing ----

// Finds the number of columns and the height limit. A lattice without a width covers all boundaries that have a bounding
// box.
static void lattice_limits(const SandWorld *world, const SandFill *fill, int *columns, double *top) {
    double width = 0, height = -DBL_MAX;
    for (int i = 0; i < world->boundary_count; i++) {
        SandVec3 lower, upper;
        if (!sand_fill_bounds(&world->boundaries[i], &lower, &upper)) continue;
        double x = fmax(fabs(lower.x - fill->center[0]), fabs(upper.x - fill->center[0]));
        double y = fmax(fabs(lower.y - fill->center[1]), fabs(upper.y - fill->center[1]));
        width = fmax(width, 2 * fmax(x, y));
        // Open ground ends below the fill; only a vessel has a top.
        if (world->boundaries[i].kind != SAND_MESH) height = fmax(height, upper.z);
    }
    if (fill->cylinder > 0) width = 2 * fill->cylinder;
    if (fill->box[0] > 0) width = fmax(fill->box[0], fill->box[1]);
    *columns = fill->columns ? fill->columns : 2 * (int)fmin(0.5 * width / fill->spacing, 1e6) + 1;
    *top = fill->inside && height > -DBL_MAX ? fmin(fill->to, height) : fill->to;
}

// Whether a lattice point is kept; (x, y) is relative to the lattice's center, before the jitter.
static bool in_region(const SandWorld *world, const SandFill *fill, const SandPose *poses, double x, double y, double z,
                      double margin) {
    if (fill->cylinder > 0 && x * x + y * y > fill->cylinder * fill->cylinder) return false;
    if (fill->box[0] > 0 && (fabs(x) > 0.5 * fill->box[0] || fabs(y) > 0.5 * fill->box[1])) return false;
    if (!fill->inside) return true;
    SandVec3 point = v3_make(x + fill->center[0], y + fill->center[1], z);
    for (int i = 0; i < world->boundary_count; i++)
        if (!(sand_clear_distance(&world->boundaries[i], &poses[i], point, margin) >= margin)) return false;
    return true;
}

// Draws the size of a body.
static double random_size(const SandFill *fill, SandRandom *random) {
    if (fill->least == fill->most) return fill->least; // no draw: the drivers of other engines draw none
    double u = sand_random_unit(random);
    if (fill->mostly_small) return fill->least / (1 - u * (1 - fill->least / fill->most));
    return fill->least + u * (fill->most - fill->least);
}

// Adds a body, or leaves it to another process.
static bool add(SandWorld *world, const SandBodyDef *def, SandKept *kept, SandError *error) {
    if (!kept || (world->body_count >= kept->first && world->body_count < kept->end))
        return sand_world_add_body(world, def, error) >= 0;
    if (!sand_world_skip_body(world, def, error)) return false;
    double r = def->scale * world->shapes[def->shape].bound;
    SandVec3 reach = v3_make(r, r, r);
    sand_box_include(&kept->lower, &kept->upper, v3_sub(def->pose.position, reach), v3_add(def->pose.position, reach));
    return true;
}

// Draws a body near the lattice point, in this order: x, y, z, size, shape, orientation.
static SandBodyDef draw_body(const SandFill *fill, SandRandom *random, double x, double y, double z, double enter) {
    SandBodyDef def = sand_default_body();
    def.pose.position.x = x + fill->jitter * sand_random_signed(random) + fill->center[0];
    def.pose.position.y = y + fill->jitter * sand_random_signed(random) + fill->center[1];
    def.pose.position.z = z + fill->jitter * sand_random_signed(random);
    def.scale = random_size(fill, random);
    def.shape = fill->shapes[0];
    if (fill->shape_count > 1) def.shape = fill->shapes[(int)(sand_random_unit(random) * fill->shape_count)];
    if (fill->random_rotation) def.pose.rotation = sand_random_rotation(random);
    def.material = fill->material;
    def.mass = fill->mass;
    def.velocity = fill->velocity;
    def.enter = enter;
    return def;
}

bool sand_fill_place(SandWorld *world, const SandFill *fill, SandRandom *random, SandError *error) {
    SandBodyDef def = draw_body(fill, random, 0, 0, 0, 0);
    return add(world, &def, fill->kept, error);
}

// Bodies that are turned at random may reach into their neighbors, and a lattice into single bodies: those are left out.
// Returns 1: added, 0: left out, -1: failed.
static int add_clear(SandWorld *world, const SandFill *fill, SandCrowd *crowd, const SandBodyDef *def, SandError *error) {
    if (sand_crowd_overlaps(crowd, def)) return 0;
    if (fill->random_rotation && !sand_crowd_add(crowd, def, error)) return -1;
    return add(world, def, fill->kept, error) ? 1 : -1;
}

// A lattice on its way up.
typedef struct Lattice {
    const SandFill *fill;
    SandRandom *random;
    SandPose *poses; // of the boundaries
    SandCrowd crowd;
    int columns, placed;
    double top, margin; // m
    long long tries;    // left
} Lattice;

// Places the bodies of layer k at this height.
static bool fill_layer(SandWorld *world, Lattice *l, int k, double z, SandError *error) {
    const SandFill *fill = l->fill;
    double shift = fill->dense && k % 2 ? 0.5 * fill->spacing : 0;
    double enter = fill->pour > 0 ? k * fill->spacing / fill->pour : 0;
    for (int i = 0; i < l->columns && l->tries > 0; i++)
        for (int j = 0; j < l->columns && l->placed < fill->count; j++, l->tries--) {
            double x = (i - (l->columns - 1) / 2.) * fill->spacing + shift;
            double y = (j - (l->columns - 1) / 2.) * fill->spacing + shift;
            if (!in_region(world, fill, l->poses, x, y, z, l->margin)) continue;
            SandBodyDef def = draw_body(fill, l->random, x, y, z, enter);
            int added = add_clear(world, fill, &l->crowd, &def, error);
            if (added < 0) return false;
            l->placed += added;
        }
    return true;
}

// Places layers until there are enough bodies. Gives up after a thousand empty layers in a row.
static bool fill_layers(SandWorld *world, Lattice *l, SandError *error) {
    const SandFill *fill = l->fill;
    double rise = fill->dense ? 0.70710678118654752 * fill->spacing : fill->spacing;
    int empty = 0;
    for (int k = 0; l->placed < fill->count && empty < 1000 && l->tries > 0; k++) {
        double z = fill->from + (fill->pour > 0 ? 0 : k * rise);
        int before = l->placed;
        if (z > l->top) break;
        if (!fill_layer(world, l, k, z, error)) return false;
        empty = l->placed > before ? 0 : empty + 1;
    }
    return true;
}

int sand_fill(SandWorld *world, const SandFill *fill, SandRandom *random, SandError *error) {
    Lattice l = {.fill = fill, .random = random, .tries = fill->tries};
    double bound = 0;
    lattice_limits(world, fill, &l.columns, &l.top);
    for (int i = 0; i < fill->shape_count; i++) bound = fmax(bound, world->shapes[fill->shapes[i]].bound);
    l.margin = bound * fill->most + fill->clearance + 1.7320508 * fill->jitter;
    size_t capacity = 0;
    bool ok = SAND_GROW(l.poses, capacity, world->boundary_count, "poses of the boundaries", error) &&
              sand_crowd_begin(&l.crowd, world, fill->singles, fill->random_rotation ? fill->count : 0, error);
    for (int i = 0; ok && i < world->boundary_count; i++) l.poses[i] = sand_boundary_pose(&world->boundaries[i], 0);
    ok = ok && fill_layers(world, &l, error);
    sand_crowd_end(&l.crowd);
    sand_free(l.poses);
    return ok ? l.placed : -1;
}

bool sand_fill_bounds(const SandBoundary *boundary, SandVec3 *lower, SandVec3 *upper) {
    SandVec3 low, high;
    double wide = 0;
    switch (boundary->kind) {
    case SAND_BOX_WALLS:
        high = boundary->half;
        low = v3_neg(high);
        break;
    case SAND_SPHERE_WALL:
        high = v3_make(boundary->radius, boundary->radius, boundary->radius);
        low = v3_neg(high);
        break;
    case SAND_REVOLUTION:
        low = v3_make(0, 0, boundary->profile[0][1]);
        high = low;
        for (int i = 0; i < boundary->profile_count; i++) {
            wide = fmax(wide, boundary->profile[i][0]);
            low.z = fmin(low.z, boundary->profile[i][1]);
            high.z = fmax(high.z, boundary->profile[i][1]);
        }
        low.x = low.y = -wide;
        high.x = high.y = wide;
        break;
    case SAND_MESH:
        low = boundary->mesh->lower;
        high = boundary->mesh->upper;
        break;
    default: return false;
    }
    // Bounds of the rotated box: each world axis sums the absolute values of its matrix row.
    SandMat3 m = q_matrix(boundary->pose.rotation);
    SandVec3 middle = pose_apply(boundary->pose, v3_scale(0.5, v3_add(low, high))), half = v3_scale(0.5, v3_sub(high, low));
    double reach[3];
    for (int i = 0; i < 3; i++) reach[i] = fabs(m.m[i][0]) * half.x + fabs(m.m[i][1]) * half.y + fabs(m.m[i][2]) * half.z;
    *lower = v3_sub(middle, v3_make(reach[0], reach[1], reach[2]));
    *upper = v3_add(middle, v3_make(reach[0], reach[1], reach[2]));
    return true;
}
