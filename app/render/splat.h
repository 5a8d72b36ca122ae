// Small balls drawn by compute shaders. A GPU made for computing has few processors that draw triangles, and a million balls
// of a few pixels are nearly all triangles. What is drawn is the same as if they were quads.
#pragma once
#include "app/render/cull.h"
#include "app/render/targets.h"

// Balls of so many pixels across are left to quads: one thread would go over too many pixels.
enum { SPLAT_LIMIT = 32 };

typedef struct Splat Splat;
Splat *splat_create(SandError *error);
void splat_free(Splat *splat);

// Draws the instances of balls at the beginning of this buffer, as far as they are small, into the targets of the view,
// whose framebuffer is bound: their depths for the light; color, look and normal too for the camera, and the ground with
// them. `data`: with colors that mean something.
void splat_draw(Splat *splat, CullView view, const Targets *targets, bool data, unsigned instances, int count);
