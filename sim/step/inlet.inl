// SPDX-License-Identifier: MIT
// Entering through inlets, one source for the CPU and the GPU. In every step
//   1. bodies block the cells of the inlets that they reach into                 inlet_block
//   2. as many bodies as are due enter, each in the next cell that is free       inlet_cell_at, inlet_enter
// Nothing is remembered from step to step but how many have entered, which changes when the step is taken: the stage may be
// repeated, with the same result.
#pragma once
#include "sandglass/world.h"

SAND_HOST_DEVICE int inlet_cells(const SandInlet *in) { return in->cells[0] * in->cells[1] * in->cells[2]; }

// The sides of a cell.
SAND_HOST_DEVICE SandVec3 inlet_cell_size(const SandInlet *in) {
    return v3_make((in->upper.x - in->lower.x) / in->cells[0], (in->upper.y - in->lower.y) / in->cells[1],
                   (in->upper.z - in->lower.z) / in->cells[2]);
}

// Whether a body has still to enter, through any inlet. It may be in the world by a step that was not taken.
SAND_HOST_DEVICE bool inlet_waits(const SandWorld *w, int body) {
    for (int k = 0; k < w->inlet_count; k++) {
        const SandInlet *in = &w->inlets[k];
        if (body >= in->first + in->entered && body < in->first + in->count) return true;
    }
    return false;
}

// Cells along one axis that an interval meets; none where low > high.
SAND_HOST_DEVICE void inlet_range(double from, double to, double origin, double side, int cells, int *low, int *high) {
    *low = (int)fmax(floor((from - origin) / side), 0.0);
    *high = (int)fmin(floor((to - origin) / side), cells - 1.0);
}

// Marks the cells that the bounding sphere of a body reaches into. Several threads may mark the same cell.
SAND_HOST_DEVICE void inlet_block(const SandWorld *w, const SandInlet *in, int body, uint8_t *blocked) {
    SandVec3 p = w->position[body], side = inlet_cell_size(in);
    double r = w->scale[body] * w->shapes[w->shape[body]].bound;
    if (p.x + r < in->lower.x || p.y + r < in->lower.y || p.z + r < in->lower.z || p.x - r > in->upper.x ||
        p.y - r > in->upper.y || p.z - r > in->upper.z)
        return;
    int low[3], high[3];
    inlet_range(p.x - r, p.x + r, in->lower.x, side.x, in->cells[0], &low[0], &high[0]);
    inlet_range(p.y - r, p.y + r, in->lower.y, side.y, in->cells[1], &low[1], &high[1]);
    inlet_range(p.z - r, p.z + r, in->lower.z, side.z, in->cells[2], &low[2], &high[2]);
    for (int z = low[2]; z <= high[2]; z++)
        for (int y = low[1]; y <= high[1]; y++)
            for (int x = low[0]; x <= high[0]; x++) {
                uint8_t *cell = &blocked[x + in->cells[0] * (y + in->cells[1] * z)];
#ifdef __CUDA_ARCH__
                *cell = 1;
#else
                __atomic_store_n(cell, 1, __ATOMIC_RELAXED);
#endif
            }
}

// How many bodies should have entered by now but have not.
SAND_HOST_DEVICE int inlet_due(const SandWorld *w, const SandInlet *in) {
    double due = floor(in->rate * (w->time - in->start) + 1e-9);
    if (!(due > in->entered)) return 0;
    return (due < in->count ? (int)due : in->count) - in->entered;
}

// Mixes the bits of a number (splitmix64; Steele, Lea and Flood 2014).
SAND_HOST_DEVICE uint64_t inlet_mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

// The k-th cell to try in this step.
SAND_HOST_DEVICE int inlet_cell_at(const SandWorld *w, const SandInlet *in, int k) {
    uint64_t cells = (uint64_t)inlet_cells(in);
    return (int)((inlet_mix(in->seed ^ inlet_mix(w->step_index)) % cells + (uint64_t)in->stride * (uint64_t)k) % cells);
}

// Uniform in [-1, 1), from the seed, the body and the axis.
SAND_HOST_DEVICE double inlet_jitter(const SandInlet *in, int body, int axis) {
    uint64_t bits = inlet_mix(in->seed + 3 * (uint64_t)body + (uint64_t)axis);
    return (double)(bits >> 11) * (2.0 / 9007199254740992.0) - 1;
}

// Puts a body somewhere into a cell, where it does not reach out of it, and lets it enter.
SAND_HOST_DEVICE void inlet_enter(SandWorld *w, const SandInlet *in, int body, int cell) {
    SandVec3 side = inlet_cell_size(in);
    int x = cell % in->cells[0], y = cell / in->cells[0] % in->cells[1], z = cell / in->cells[0] / in->cells[1];
    double r = w->scale[body] * w->shapes[w->shape[body]].bound;
    w->position[body] = v3_make(in->lower.x + (x + 0.5) * side.x + (0.5 * side.x - r) * inlet_jitter(in, body, 0),
                                in->lower.y + (y + 0.5) * side.y + (0.5 * side.y - r) * inlet_jitter(in, body, 1),
                                in->lower.z + (z + 0.5) * side.z + (0.5 * side.z - r) * inlet_jitter(in, body, 2));
    w->enter[body] = w->time;
}

// Lets the bodies wait that could have entered in this step and did not.
SAND_HOST_DEVICE void inlet_wait(SandWorld *w, const SandInlet *in, int body) {
    if (body < in->first + in->count) w->enter[body] = INFINITY;
}
