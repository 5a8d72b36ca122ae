// SPDX-License-Identifier: MIT
// Small balls drawn by compute shaders: a data-center GPU has few raster units, and a million balls of a few pixels are
// mostly triangle set-up. The result is the same as with quads.
#pragma once
#include "app/render/cull.h"
#include "app/render/targets.h"

// Balls of this many pixels across or more are left to quads: one thread would cover too many pixels.
enum { SPLAT_LIMIT = 32 };

typedef struct Splat Splat;
Splat *splat_create(SandError *error);
void splat_free(Splat *splat);

// Draws the small ones of the ball instances at the beginning of this buffer into the targets of the view, whose framebuffer
// is bound: depth for the sun; color, look and normal too for the camera, together with the ground. `data`: with data
// colors.
void splat_draw(Splat *splat, CullView view, const Targets *targets, bool data, unsigned instances, int count);
