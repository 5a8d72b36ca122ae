// SPDX-License-Identifier: MIT
// Cutting a depth image into tiles, of which only those with a depth are kept, and merging tiles into an image by the
// nearest depth.
#include "app/render/depth_tiles.h"

#include <string.h>

#include "sim/core/array.h"
#include "sim/core/assert.h"

static bool is_empty(const DepthTile *tile) {
    for (int k = 0; k < DEPTH_TILE * DEPTH_TILE; k++)
        if (tile->depth[k] > 0) return false;
    return true;
}

static void copy_tile(DepthTile *tile, const float *depths, int side) {
    for (int row = 0; row < DEPTH_TILE; row++)
        memcpy(tile->depth + row * DEPTH_TILE, depths + (size_t)(tile->y + row) * (size_t)side + (size_t)tile->x,
               DEPTH_TILE * sizeof *depths);
}

bool depth_tiles_pack(DepthTiles *tiles, const float *depths, int side, SandError *error) {
    SAND_ASSERT(side % DEPTH_TILE == 0);
    tiles->count = 0;
    for (int y = 0; y < side; y += DEPTH_TILE)
        for (int x = 0; x < side; x += DEPTH_TILE) {
            if (!SAND_GROW(tiles->items, tiles->capacity, tiles->count + 1, "tiles of depths", error)) return false;
            DepthTile *tile = &tiles->items[tiles->count];
            tile->x = x;
            tile->y = y;
            copy_tile(tile, depths, side);
            tiles->count += !is_empty(tile);
        }
    return true;
}

void depth_tiles_merge(const DepthTile *tiles, int count, float *depths, int side) {
    for (const DepthTile *tile = tiles; tile < tiles + count; tile++)
        for (int k = 0; k < DEPTH_TILE * DEPTH_TILE; k++) {
            float *to = depths + (size_t)(tile->y + k / DEPTH_TILE) * (size_t)side + (size_t)(tile->x + k % DEPTH_TILE);
            *to = tile->depth[k] > *to ? tile->depth[k] : *to;
        }
}

void depth_tiles_free(DepthTiles *tiles) {
    sand_free(tiles->items);
    *tiles = (DepthTiles){0};
}
