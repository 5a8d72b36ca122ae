// SPDX-License-Identifier: MIT
// Compounds that several tests use: pieces by hand, a bucket, a wheel with grousers, a ring of boxes, and a world of them.
#pragma once
#include "tests/lab/lab.h"

static inline SandPiece lab_piece(SandShape shape, double scale, SandVec3 position, SandVec3 turn) {
    return (SandPiece){shape, scale, {position, q_exp(turn)}};
}

static inline SandPiece lab_box_piece(SandVec3 half, SandVec3 position, SandVec3 turn) {
    SandShape box;
    assert_true(sand_shape_box(&box, half, NULL));
    return lab_piece(box, 1, position, turn);
}

// Makes a compound of pieces, which it frees, and adds it to a world; returns the number of the shape.
static inline int lab_compound(SandWorld *world, SandPiece *pieces, int count) {
    SandShape shape;
    SandError error = {""};
    if (!sand_shape_compound(&shape, pieces, count, NULL, &error)) fail_msg("%s", error.text);
    for (int k = 0; k < count; k++) sand_shape_free(&pieces[k].shape);
    return sand_world_add_shape(world, &shape, NULL);
}

// An open box of this half width, with walls of a tenth of it, as high as wide; its floor lies about -1 below its middle.
static inline int lab_bucket(SandWorld *world, double half) {
    double thin = 0.1 * half, reach = half - thin;
    SandPiece pieces[5] = {lab_box_piece(v3_make(half, half, thin), v3_make(0, 0, -reach), v3_make(0, 0, 0))};
    for (int k = 0; k < 4; k++) {
        SandVec3 out = v3_make(k == 0 ? reach : k == 1 ? -reach : 0, k == 2 ? reach : k == 3 ? -reach : 0, 0);
        pieces[k + 1] = lab_box_piece(v3_make(k < 2 ? thin : half, k < 2 ? half : thin, half), out, v3_make(0, 0, 0));
    }
    return lab_compound(world, pieces, 5);
}

// A wheel about y with eight grousers.
static inline int lab_wheel(SandWorld *world, double radius) {
    SandShape rim;
    SandPiece pieces[9];
    assert_true(sand_shape_cylinder(&rim, 0.8 * radius, 0.5 * radius, NULL));
    pieces[0] = lab_piece(rim, 1, v3_make(0, 0, 0), v3_make(0.5 * PI, 0, 0));
    for (int k = 0; k < 8; k++) {
        double angle = 0.25 * PI * k, at = 0.85 * radius;
        pieces[k + 1] = lab_box_piece(v3_make(0.15 * radius, 0.25 * radius, 0.03 * radius),
                                      v3_make(at * cos(angle), 0, -at * sin(angle)), v3_make(0, angle, 0));
    }
    return lab_compound(world, pieces, 9);
}

// A ball, a box, a cylinder, a capsule and a stone, held together by nothing: every kind of piece.
static inline int lab_motley(SandPiece pieces[5], double size) {
    SandShape ball, cylinder, capsule, stone;
    SandStoneDef def = sand_default_stone();
    assert_true(sand_shape_sphere(&ball, NULL) && sand_shape_cylinder(&cylinder, 0.4 * size, 0.9 * size, NULL));
    assert_true(sand_shape_capsule(&capsule, 0.25 * size, 0.8 * size, NULL) && sand_shape_stone(&stone, &def, NULL));
    pieces[0] = lab_piece(ball, 0.5 * size, v3_make(1.2 * size, 0, 0.1 * size), v3_make(0, 0, 0));
    pieces[1] = lab_box_piece(v3_make(0.3 * size, 0.4 * size, 0.5 * size), v3_make(0, 0, 0), v3_make(0.3, 0.2, 0.1));
    pieces[2] = lab_piece(cylinder, 1.1, v3_make(0, 1.1 * size, 0.3 * size), v3_make(0.7, 0, 0.2));
    pieces[3] = lab_piece(capsule, 0.9, v3_make(-1.1 * size, 0.2 * size, 0), v3_make(0, 0.9, 0));
    pieces[4] = lab_piece(stone, 0.5 * size, v3_make(0, -1.2 * size, -0.2 * size), v3_make(0, 0, 0.4));
    return 5;
}

// Buckets, wheels and motleys that fall on each other and on a floor, with balls and boxes among them.
static inline SandWorld lab_compounds(void) {
    SandWorld w = lab_world(0.4);
    SandRandom random = sand_random(5);
    SandPiece pieces[5];
    SandShape box;
    lab_plane(&w, v3_make(0, 0, 0), v3_make(0, 0, 1));
    assert_true(sand_shape_box(&box, v3_make(0.06, 0.05, 0.04), NULL));
    int kinds[4] = {lab_bucket(&w, 0.2), lab_wheel(&w, 0.2), lab_compound(&w, pieces, lab_motley(pieces, 0.1)),
                    sand_world_add_shape(&w, &box, NULL)};
    for (int i = 0; i < 36; i++) {
        SandVec3 at = v3_make(0.45 * (i % 3), 0.45 * (i / 3 % 3), 0.3 + 0.45 * (i / 9));
        int body = lab_body(&w, kinds[i % 4], 1, at);
        if (i % 4) w.rotation[body] = sand_random_rotation(&random);
        w.spin[body] = v3_make(3 * sand_random_signed(&random), 3 * sand_random_signed(&random), 0);
    }
    for (int i = 0; i < 90; i++) lab_body(&w, 0, 0.04, v3_make(0.1 * (i % 10), 0.1 * (i / 10), 2.2 + 0.02 * (i % 7)));
    return w;
}

// Buckets that fall on each other and on a floor, with boxes and balls: nothing is round but the balls.
static inline SandWorld lab_buckets(void) {
    SandWorld w = lab_world(0.4);
    SandRandom random = sand_random(8);
    SandShape box;
    lab_plane(&w, v3_make(0, 0, 0), v3_make(0, 0, 1));
    assert_true(sand_shape_box(&box, v3_make(0.06, 0.05, 0.04), NULL));
    int bucket = lab_bucket(&w, 0.2), boxes = sand_world_add_shape(&w, &box, NULL);
    for (int i = 0; i < 36; i++) {
        int body = lab_body(&w, i % 2 ? boxes : bucket, 1, v3_make(0.45 * (i % 3), 0.45 * (i / 3 % 3), 0.4 + 0.5 * (i / 9)));
        w.rotation[body] = sand_random_rotation(&random);
    }
    for (int i = 0; i < 60; i++) lab_body(&w, 0, 0.04, v3_make(0.1 * (i % 10), 0.15 * (i / 10), 2.6 + 0.02 * (i % 7)));
    return w;
}
