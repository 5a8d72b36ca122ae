// SPDX-License-Identifier: MIT
// A sphere near the lower side of the box has an image one period higher: beyond the upper side, where it may be touched.
// With images at one side only, two spheres that touch across a border, or across two at a corner, meet in exactly one pair
// of images that are not shifted along the same axis:
//
//     |  q           p |  q'          p and q' touch across x
//
//        q'          p'               p is low and q high along y, and the other way round along x:
//     +----------------+              p' (shifted along y) and q' (shifted along x) touch
//     |              p |  q'
#include "sim/collision/images.h"

#include "sim/collision/broad_phase.inl"
#include "sim/core/array.h"
#include "sim/world/period.inl"

// The farthest that a proxy may reach once impact margins are added: by no more than it and what it hits go themselves,
// `travel` (impact_margin).
static double reach_of(double radius, double extent, double travel, double envelope) {
    return fmax(extent, radius + 0.5 * envelope + fmin(travel, SAND_MAX_IMPACT_MARGIN * radius));
}

// What decides which images there are.
typedef struct Borders {
    const SandWorld *world;
    SandVec3 highest;     // of the centers
    double travel, reach; // of all proxies, the farthest that one goes in the step and that one reaches
} Borders;

// Finds the highest center and the farthest reach, of all ranks.
static void find_borders(SandBroadPhase *g, const SandWorld *w) {
    enum { X, Y, Z, RADIUS, EXTENT, TRAVEL, COUNT };
    double found[SAND_MAX_RANKS][COUNT], most[COUNT] = {-INFINITY, -INFINITY, -INFINITY};
    int first[SAND_MAX_RANKS + 1], me = g->ranks ? g->ranks->rank : 0, ranks = g->ranks ? g->ranks->count : 1;
    for (int i = 0; i < g->sphere_count; i++) {
        const SandSphereProxy *p = &g->spheres[i];
        const double its[COUNT] = {p->center.x, p->center.y, p->center.z, p->radius, p->extent, p->extent - p->radius};
        for (int k = 0; k < COUNT; k++) most[k] = fmax(most[k], its[k]);
    }
    for (int k = 0; k < COUNT; k++) found[me][k] = most[k];
    for (int r = 0; r <= ranks; r++) first[r] = r;
    if (g->ranks) g->ranks->allgather(g->ranks->user, found, first, sizeof found[0]);
    for (int r = 0; r < ranks; r++)
        for (int k = 0; k < COUNT; k++) most[k] = fmax(most[k], found[r][k]);
    g->highest = v3_make(most[X], most[Y], most[Z]);
    g->travel = most[TRAVEL];
    g->reach = reach_of(most[RADIUS], most[EXTENT], 2 * most[TRAVEL], w->envelope);
}

// Whether anything can touch this image of a sphere.
static bool is_near(const Borders *b, const SandSphereProxy *sphere, int image) {
    SandVec3 c = v3_add(sphere->center, period_shift(b->world, image));
    double travel = sphere->extent - sphere->radius + b->travel;
    double reach = b->reach + reach_of(sphere->radius, sphere->extent, travel, b->world->envelope);
    for (int a = 0; a < 3; a++)
        if (image >> a & 1 && !b->world->periodic[a]) return false;
    return (!(image & 1) || c.x <= b->highest.x + reach) && (!(image & 2) || c.y <= b->highest.y + reach) &&
           (!(image & 4) || c.z <= b->highest.z + reach);
}

static int count_images(const SandBroadPhase *g, const Borders *b) {
    int64_t count = 0;
    for (int i = 0; i < g->sphere_count; i++)
        for (int image = 1; image < 8; image++) count += is_near(b, &g->spheres[i], image);
    return count + g->sphere_count > INT32_MAX / 2 ? -1 : (int)count;
}

static void enter_box(SandBroadPhase *g, const SandWorld *w) {
    for (int i = 0; i < g->sphere_count; i++) {
        SandSphereProxy *p = &g->spheres[i];
        SandVec3 at = w->position[p->body], within = period_into_box(w, at);
        if (within.x != at.x || within.y != at.y || within.z != at.z) p->center = v3_add(p->center, v3_sub(within, at));
    }
}

static bool append_images(SandBroadPhase *g, const SandWorld *w, SandError *error) {
    Borders borders = {w, g->highest, g->travel, g->reach};
    int own = g->sphere_count, images = count_images(g, &borders);
    if (images < 0)
        return sand_fail(error, "more than %d spheres and images are more than the grid can number", INT32_MAX / 2);
    if (!sand_broad_phase_reserve(g, own + images, error)) return false;
    for (int i = 0; i < own; i++)
        for (int image = 1; image < 8; image++) {
            if (!is_near(&borders, &g->spheres[i], image)) continue;
            SandSphereProxy *to = &g->spheres[own + g->image_count++];
            *to = g->spheres[i];
            to->center = v3_add(to->center, period_shift(w, image));
            to->image = image;
            to->source = i;
        }
    g->sphere_count = own + images;
    return true;
}

bool sand_add_images(SandBroadPhase *g, const SandWorld *w, SandError *error) {
    g->image_count = 0;
    if (!sand_world_repeats(w)) return true;
    if (g->ranks && !g->ranks->agree(g->ranks->user, 0, error)) return false;
    enter_box(g, w);
    find_borders(g, w);
    return append_images(g, w, error);
}

bool sand_add_images_again(SandBroadPhase *g, const SandWorld *w, SandError *error) {
    g->image_count = 0;
    if (!sand_world_repeats(w)) return true;
    enter_box(g, w);
    return append_images(g, w, error);
}
