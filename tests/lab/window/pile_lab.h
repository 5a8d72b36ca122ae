// SPDX-License-Identifier: MIT
// A pile of every kind of body, for pictures: each is let down until it touches what lies there. Nothing is solved.
#pragma once
#include "sim/geometry/convex_distance.inl"
#include "tests/lab/lab.h"

enum { PILE_STONES = 12, PILE_KINDS = 5, PILE_BODIES = 150 }; // kinds: stone, box, capsule, cylinder, ball

static inline double pile_uniform(SandRandom *dice, double low, double high) {
    return low + (high - low) * sand_random_unit(dice);
}

static inline int pile_shape(SandWorld *world, SandRandom *dice, int kind, int number) {
    SandShape shape;
    SandStoneDef stone = sand_default_stone();
    bool ok = true;
    stone.seed = 1 + (uint64_t)number;
    double a = pile_uniform(dice, 0.5, 1.1), b = pile_uniform(dice, 0.5, 1.1), c = pile_uniform(dice, 0.5, 1.1);
    switch (kind) {
    case 0: ok = sand_shape_stone(&shape, &stone, NULL); break;
    case 1: ok = sand_shape_box(&shape, v3_make(a, b, c), NULL); break;
    case 2: ok = sand_shape_capsule(&shape, 0.6 * a, 1.5 * b, NULL); break;
    default: ok = sand_shape_cylinder(&shape, 0.9 * a, 1.7 * b, NULL); break;
    }
    assert_true(ok);
    return sand_world_add_shape(world, &shape, NULL);
}

static inline Convex pile_view(const SandWorld *world, int body) {
    static const SandVec3 origin = {0, 0, 0};
    const SandShape *shape = &world->shapes[world->shape[body]];
    if (shape->kind == SAND_SPHERE) return convex_sphere(&origin, world->position[body], world->scale[body]);
    return convex_make(shape, world->scale[body], world->rotation[body], world->position[body]);
}

// How far a body is from the floor, z = 0, and from the bodies before it.
static inline double pile_gap(const SandWorld *world, int body) {
    Convex own = pile_view(world, body);
    int corner;
    double gap = convex_support(&own, v3_make(0, 0, -1), &corner).z - own.radius;
    for (int i = 0; i < body; i++) {
        Convex other = pile_view(world, i);
        double apart = v3_length(v3_sub(own.center, other.center)) - own.bound - other.bound - own.radius - other.radius;
        if (apart > gap) continue;
        ConvexGap found;
        convex_distance(&own, &other, INFINITY, &found);
        gap = fmin(gap, found.distance - own.radius - other.radius);
    }
    return gap;
}

static inline void pile_drop(SandWorld *world, int shape, double scale, SandRandom *dice) {
    double angle = pile_uniform(dice, 0, 2 * PI), away = 0.75 * sqrt(sand_random_unit(dice));
    int body = lab_body(world, shape, scale, v3_make(away * cos(angle), away * sin(angle), 3));
    SandQuat q = {sand_random_signed(dice), sand_random_signed(dice), sand_random_signed(dice), sand_random_signed(dice)};
    world->rotation[body] = q_unit(q);
    for (double gap = 1; gap > 1e-4;) {
        gap = pile_gap(world, body);
        world->position[body].z -= gap;
    }
}

// Bodies of some 0.06 m on a floor.
static inline SandWorld pile_world(void) {
    SandRandom dice = sand_random(7);
    SandWorld world = lab_world(0.5);
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    int stones[PILE_STONES];
    for (int k = 0; k < PILE_STONES; k++) stones[k] = pile_shape(&world, &dice, 0, k);
    for (int i = 0; i < PILE_BODIES; i++) {
        int kind = i % PILE_KINDS, shape = kind == 0   ? stones[i / PILE_KINDS % PILE_STONES]
                                           : kind == 4 ? 0
                                                       : pile_shape(&world, &dice, kind, i);
        pile_drop(&world, shape, pile_uniform(&dice, 0.045, 0.075), &dice);
    }
    return world;
}
