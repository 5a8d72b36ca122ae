// SPDX-License-Identifier: MIT
// Two-pass occlusion culling of balls: in a pile nearly all of them are hidden. First the balls visible in the last frame
// are drawn; their depths give a pyramid that tells what they hide; then the balls that have newly become visible are drawn.
// The picture is the same as if all had been drawn, but for balls that share a depth to the last bit.
#pragma once
#include "sandglass/error.h"

// Below this number, drawing all is faster than culling.
enum { CULL_LEAST = 8000 };

typedef enum CullView { CULL_CAMERA, CULL_LIGHT, CULL_VIEWS } CullView;

typedef struct Cull Cull;
Cull *cull_create(SandError *error);
void cull_free(Cull *cull);

// First pass, for the ball instances at the beginning of this buffer: selects those that were visible in this view in the
// last frame and were not left to splatting.
void cull_begin(Cull *cull, CullView view, unsigned instances, int count);
// Second pass: selects the balls that are visible against this depth texture and were not selected before. Those with fewer
// pixels across than the limit are left to splatting (splat.h); 0 leaves none.
void cull_go_on(Cull *cull, CullView view, unsigned depth, int width, int height, int limit);
void cull_keep_seen(Cull *cull, CullView view); // selects all visible balls, of any size
// Draws a quad for each selected ball; the vertex array reads instances at binding 0.
void cull_draw(const Cull *cull, unsigned array);
