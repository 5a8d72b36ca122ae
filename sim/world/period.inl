// SPDX-License-Identifier: MIT
// Positions in a world that repeats (SandWorld.periodic), one source for the CPU and the GPU.
#pragma once
#include "sandglass/world.h"

// A coordinate moved into [low, low + period) by whole periods; where it is within already, the same bits.
SAND_HOST_DEVICE double period_wrap(double x, double low, double period) {
    if (!(period > 0) || (x >= low && x < low + period)) return x;
    x -= period * floor((x - low) / period);
    return x < low || x >= low + period ? low : x; // rounding may put it on the upper side, which is the lower one
}

// A point moved into the world's box along the axes on which it repeats.
SAND_HOST_DEVICE SandVec3 period_into_box(const SandWorld *w, SandVec3 p) {
    SandVec3 period = sand_world_period(w);
    return v3_make(period_wrap(p.x, w->lower.x, period.x), period_wrap(p.y, w->lower.y, period.y),
                   period_wrap(p.z, w->lower.z, period.z));
}

SAND_HOST_DEVICE double period_nearest(double x, double to, double period) {
    return period > 0 ? x + period * floor((to - x) / period + 0.5) : x;
}

// The image of a point that is nearest to another. In a world that does not repeat, the point itself.
SAND_HOST_DEVICE SandVec3 period_image(const SandWorld *w, SandVec3 p, SandVec3 to) {
    if (!sand_world_repeats(w)) return p;
    SandVec3 period = sand_world_period(w);
    return v3_make(period_nearest(p.x, to.x, period.x), period_nearest(p.y, to.y, period.y),
                   period_nearest(p.z, to.z, period.z));
}

// How far an image is from what it is the image of: one period along each axis whose bit is set.
SAND_HOST_DEVICE SandVec3 period_shift(const SandWorld *w, int image) {
    SandVec3 period = sand_world_period(w);
    return v3_make(image & 1 ? period.x : 0, image & 2 ? period.y : 0, image & 4 ? period.z : 0);
}
