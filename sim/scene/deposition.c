// SPDX-License-Identifier: MIT
// Random deposition. Each body descends in small steps and is pushed out of what it overlaps after each of them, so that it
// slides and rolls down until no step leads lower: the motion of a single sphere without inertia or friction. What is laid
// down never moves again, so the order alone decides the packing, and no thread does.
#include "sim/scene/deposition.h"

#include "sim/core/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NEAR = 512, PUSHES = 12, MOST_STEPS = 4000, TOUCHES = 8, TELL_EVERY = 512 };
// In radii: the first and the shortest step down, the overlap that is left, and how far a body moves before it looks for its
// neighbors again.
static const double LONG_STEP = 0.25, SHORT_STEP = 0.01, OVERLAP = 1e-3, LOOK = 0.5;
static const double LEAST_DESCENT = 0.05; // of a step: a body that gains less lies still

typedef struct Deposition {
    SandWorld *world;
    SandVec3 up;
    double cell; // m, edge of a cell; two diameters of the largest body, so that the nearest eight cells have all neighbors
    SAND_ARRAY(int) head, next; // bodies of each bucket that are laid down
    uint64_t mask;
    SAND_ARRAY(SandPose) poses;      // of the boundaries
    int near[MOST_NEAR], near_count; // bodies that the falling one may touch
    SandVec3 looked_from;
} Deposition;

typedef struct Falling {
    int body;
    double height; // m, the order of falling
} Falling;

static double bound(const SandWorld *world, int body) {
    return world->shapes[world->shape[body]].bound * world->scale[body];
}

static uint64_t bucket(const Deposition *d, int64_t i, int64_t j, int64_t k) {
    uint64_t h =
        (uint64_t)i * 0x9e3779b97f4a7c15ull + (uint64_t)j * 0xc2b2ae3d27d4eb4full + (uint64_t)k * 0x165667b19e3779f9ull;
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93ull;
    return (h ^ h >> 32) & d->mask;
}

static void lay_down(Deposition *d, int body) {
    SandVec3 p = d->world->position[body];
    uint64_t b = bucket(d, (int64_t)floor(p.x / d->cell), (int64_t)floor(p.y / d->cell), (int64_t)floor(p.z / d->cell));
    d->next.data[body] = d->head.data[b];
    d->head.data[b] = body;
}

// Gathers the bodies that one of this radius touches until it has moved by LOOK radii.
static bool look(Deposition *d, SandVec3 p, double radius, SandError *error) {
    const SandWorld *world = d->world;
    double half = 0.5 * d->cell;
    int64_t x = (int64_t)floor((p.x - half) / d->cell), y = (int64_t)floor((p.y - half) / d->cell),
            z = (int64_t)floor((p.z - half) / d->cell);
    d->near_count = 0;
    d->looked_from = p;
    uint64_t seen[8];
    for (int n = 0; n < 8; n++) {
        uint64_t b = seen[n] = bucket(d, x + (n & 1), y + (n >> 1 & 1), z + (n >> 2));
        bool again = false; // two cells may share a bucket
        for (int m = 0; m < n; m++) again = again || seen[m] == b;
        for (int other = again ? -1 : d->head.data[b]; other >= 0; other = d->next.data[other]) {
            double reach = (1 + LOOK) * radius + bound(world, other);
            SandVec3 away = v3_sub(p, world->position[other]);
            if (v3_dot(away, away) >= reach * reach) continue;
            if (d->near_count == MOST_NEAR)
                return sand_fail(error, "the sizes of the bodies differ too much to settle them");
            d->near[d->near_count++] = other;
        }
    }
    return true;
}

// Pushes a body out of every neighbor and boundary once. Returns the deepest overlap there was.
static double push_out(const Deposition *d, SandVec3 *p, double radius) {
    const SandWorld *world = d->world;
    double deepest = 0;
    for (int n = 0; n < d->near_count; n++) {
        SandVec3 away = v3_sub(*p, world->position[d->near[n]]);
        double least = radius + bound(world, d->near[n]), distance = v3_length(away);
        if (distance >= least) continue;
        deepest = fmax(deepest, least - distance);
        *p = v3_madd(*p, least - distance, v3_unit_or(away, d->up));
    }
    for (int b = 0; b < world->boundary_count; b++) {
        SandTouch touches[TOUCHES];
        int count = sand_boundary_touch(&world->boundaries[b], &d->poses.data[b], *p, radius, 0, touches, TOUCHES);
        for (int t = 0; t < count && t < TOUCHES; t++) {
            deepest = fmax(deepest, -touches[t].gap);
            *p = v3_madd(*p, touches[t].gap, touches[t].normal);
        }
    }
    return deepest;
}

// Whether a body can be at this place, or close to it: it is pushed out of what it overlaps.
static bool fits(Deposition *d, SandVec3 *p, double radius, bool *found, SandError *error) {
    SandVec3 moved = v3_sub(*p, d->looked_from);
    *found = false;
    for (int k = 0; k < PUSHES && !*found; k++) {
        if (v3_dot(moved, moved) > LOOK * LOOK * radius * radius && !look(d, *p, radius, error)) return false;
        *found = push_out(d, p, radius) <= OVERLAP * radius;
        moved = v3_sub(*p, d->looked_from);
    }
    return true;
}

// Lets a body fall from where it is free to where it lies.
static bool descend(Deposition *d, SandVec3 *p, double radius, SandError *error) {
    double step = LONG_STEP * radius;
    bool found;
    for (int k = 0; k < MOST_STEPS && step > SHORT_STEP * radius; k++) {
        SandVec3 next = v3_madd(*p, -step, d->up);
        if (!fits(d, &next, radius, &found, error)) return false;
        // Pushed farther than it stepped it may have been squeezed through a wall.
        SandVec3 moved = v3_sub(next, *p);
        if (found && -v3_dot(moved, d->up) > LEAST_DESCENT * step && v3_dot(moved, moved) < 4 * step * step)
            *p = next;
        else
            step *= 0.5;
    }
    return true;
}

// Whether a body is on the allowed side of every boundary, where none pushes it.
static bool is_inside(const Deposition *d, SandVec3 p, double radius) {
    const SandWorld *world = d->world;
    for (int b = 0; b < world->boundary_count; b++)
        if (!(sand_boundary_distance(&world->boundaries[b], &d->poses.data[b], p) > (1 - 2 * OVERLAP) * radius))
            return false;
    return true;
}

// Finds a free place at or above the one where the body starts, displaced at random so that no row of the lattice survives.
static bool find_start(Deposition *d, SandVec3 *p, double radius, SandRandom *random, SandError *error) {
    double y = sand_random_signed(random), x = sand_random_signed(random); // in this order on every machine
    SandVec3 side = v3_make(radius * x, radius * y, 0);
    side = v3_madd(side, -v3_dot(side, d->up), d->up);
    SandVec3 from = v3_add(*p, side);
    for (int k = 0; k < MOST_STEPS; k++) {
        bool found;
        SandVec3 at = v3_madd(from, k * radius, d->up);
        if (!look(d, at, radius, error) || !fits(d, &at, radius, &found, error)) return false;
        if (found && is_inside(d, at, radius)) return *p = at, true;
    }
    return sand_fail(error, "there is no room above the bodies for all of them to settle");
}

static int lowest_first(const void *a, const void *b) {
    const Falling *x = a, *y = b;
    if (x->height != y->height) return x->height < y->height ? -1 : 1;
    return x->body - y->body;
}

// Lists the bodies to move in their order, which is random among those of about the same height.
static bool put_in_order(const Deposition *d, int first, SandRandom *random, Falling **order, int *count, SandError *error) {
    const SandWorld *world = d->world;
    size_t capacity = 0;
    *count = 0;
    if (!SAND_GROW(*order, capacity, world->body_count + 1, "order of falling", error)) return false;
    for (int i = first; i < world->body_count; i++) {
        double height = v3_dot(world->position[i], d->up) + d->cell * sand_random_unit(random);
        if (world->enter[i] <= 0) (*order)[(*count)++] = (Falling){i, height};
    }
    qsort(*order, (size_t)*count, sizeof **order, lowest_first);
    return true;
}

static bool prepare(Deposition *d, SandError *error) {
    const SandWorld *world = d->world;
    double largest = 0;
    uint64_t buckets = 1;
    while (buckets < (uint64_t)world->body_count) buckets *= 2;
    if (!SAND_RESERVE(d->head, buckets, "cells of the deposition", error) ||
        !SAND_RESERVE(d->next, world->body_count + 1, "cells of the deposition", error) ||
        !SAND_RESERVE(d->poses, world->boundary_count + 1, "poses of the boundaries", error))
        return false;
    memset(d->head.data, -1, buckets * sizeof *d->head.data);
    d->mask = buckets - 1;
    for (int i = 0; i < world->body_count; i++) largest = fmax(largest, bound(world, i));
    d->cell = 2 * (2 + LOOK) * largest;
    for (int b = 0; b < world->boundary_count; b++) d->poses.data[b] = sand_boundary_pose(&world->boundaries[b], 0);
    return true;
}

static bool deposit_all(Deposition *d, const Falling *order, int count, SandRandom *random, SandShareDone *tell, void *user,
                        SandError *error) {
    SandWorld *world = d->world;
    for (int k = 0; k < count; k++) {
        int body = order[k].body;
        double radius = bound(world, body);
        if (tell && k % TELL_EVERY == 0 && !tell(user, (double)k / count)) return sand_fail(error, "settling was canceled");
        if (!find_start(d, &world->position[body], radius, random, error) ||
            !descend(d, &world->position[body], radius, error))
            return false;
        lay_down(d, body);
    }
    return true;
}

bool sand_deposit(SandWorld *world, int first, SandRandom *random, SandShareDone *tell, void *user, SandError *error) {
    Deposition d = {.world = world, .up = v3_unit_or(v3_neg(world->gravity), v3_make(0, 0, 1))};
    Falling *order = NULL;
    int count;
    bool ok = prepare(&d, error) && put_in_order(&d, first, random, &order, &count, error);
    for (int i = 0; ok && i < first; i++)
        if (world->enter[i] <= 0) lay_down(&d, i);
    ok = ok && deposit_all(&d, order, count, random, tell, user, error);
    SAND_FREE_ARRAYS(&d.head, &d.next, &d.poses);
    sand_free(order);
    return ok;
}
