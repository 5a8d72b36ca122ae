// SPDX-License-Identifier: MIT
// A depth image as those of its tiles that have something: what a process sends of a shadow map, most of which its bodies
// leave empty.
#pragma once
#include "sandglass/error.h"

#include <stddef.h>

enum { DEPTH_TILE = 32 }; // texels along a side

typedef struct DepthTile {
    int x, y; // of its first texel
    float depth[DEPTH_TILE * DEPTH_TILE];
} DepthTile;

typedef struct DepthTiles {
    DepthTile *items;
    int count;
    size_t capacity;
} DepthTiles;

// Lists the tiles of a square image, whose side is a multiple of DEPTH_TILE, that are not 0 everywhere.
bool depth_tiles_pack(DepthTiles *tiles, const float *depths, int side, SandError *error);
// Brings tiles into an image: the nearer depth stays, which is the greater one.
void depth_tiles_merge(const DepthTile *tiles, int count, float *depths, int side);
void depth_tiles_free(DepthTiles *tiles);
