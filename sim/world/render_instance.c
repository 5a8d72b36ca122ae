// SPDX-License-Identifier: MIT
// Indices of the render instances: grouped by the kind of shape, within a kind in the order of the bodies; stones by shape.
#include "sim/world/render_instance.h"
#include "sim/core/assert.h"

#include <string.h>

static int count_of(const SandShape *shape) { return shape->sphere_count ? shape->sphere_count : 1; }
static bool is_stone(const SandShape *shape) { return sand_shape_drawn(shape->kind) == SAND_DRAWN_STONE; }

// Counts the instances of each kind, and the bodies of each stone.
static SandInstanceCounts count_kinds(const SandWorld *world, int *stones) {
    SandInstanceCounts counts = {{0}};
    memset(stones, 0, (size_t)world->shape_count * sizeof *stones);
    for (int i = 0; i < world->body_count; i++) {
        const SandShape *shape = &world->shapes[world->shape[i]];
        counts.of[shape->kind] += count_of(shape);
        if (is_stone(shape)) stones[world->shape[i]]++;
    }
    return counts;
}

SandInstanceCounts sand_instance_first(const SandWorld *world, int *first, int *stones) {
    SandInstanceCounts counts = count_kinds(world, stones);
    int next[SAND_SHAPE_KINDS] = {0};
    for (int k = 1; k < SAND_SHAPE_KINDS; k++) next[k] = next[k - 1] + counts.of[k - 1];
    int start = next[SAND_FIRST_STONE];
    for (int s = 0; s < world->shape_count; s++) { // from counts to where each stone begins
        int own = stones[s];
        stones[s] = start;
        start += own;
    }
    for (int i = 0; i < world->body_count; i++) {
        const SandShape *shape = &world->shapes[world->shape[i]];
        int *at = is_stone(shape) ? &stones[world->shape[i]] : &next[shape->kind];
        first[i] = *at;
        *at += count_of(shape);
    }
    for (int k = 1; k < SAND_FIRST_STONE; k++)
        SAND_ASSERT(next[k] == next[k - 1] + counts.of[k]); // kinds lie one behind the other
    start = next[SAND_FIRST_STONE];
    for (int s = 0; s < world->shape_count; s++) { // each is now where the stone ends: back to counts
        int end = stones[s];
        stones[s] = end - start;
        start = end;
    }
    return counts;
}
