// Indices of the render instances: grouped by the kind of shape, within a kind in the order of the bodies; hulls by shape.
#include "sim/world/render_instance.h"
#include "sim/core/assert.h"

#include <string.h>

enum { KINDS = SAND_HULL + 1 }; // the order of SandShapeKind is that of SandInstanceCounts

static int count_of(const SandShape *shape) { return shape->sphere_count ? shape->sphere_count : 1; }

// Counts the instances of each kind, and the bodies of each hull.
static void count_kinds(const SandWorld *world, int count[KINDS], int *hulls) {
    memset(hulls, 0, (size_t)world->shape_count * sizeof *hulls);
    for (int i = 0; i < world->body_count; i++) {
        const SandShape *shape = &world->shapes[world->shape[i]];
        count[shape->kind] += count_of(shape);
        if (shape->kind == SAND_HULL) hulls[world->shape[i]]++;
    }
}

SandInstanceCounts sand_instance_first(const SandWorld *world, int *first, int *hulls) {
    int count[KINDS] = {0}, next[KINDS] = {0}, start;
    count_kinds(world, count, hulls);
    for (int k = 1; k < KINDS; k++) next[k] = next[k - 1] + count[k - 1];
    start = next[SAND_HULL];
    for (int s = 0; s < world->shape_count; s++) { // from counts to where each hull begins
        int own = hulls[s];
        hulls[s] = start;
        start += own;
    }
    start = next[SAND_HULL];
    for (int i = 0; i < world->body_count; i++) {
        const SandShape *shape = &world->shapes[world->shape[i]];
        int *at = shape->kind == SAND_HULL ? &hulls[world->shape[i]] : &next[shape->kind];
        first[i] = *at;
        *at += count_of(shape);
    }
    for (int s = 0; s < world->shape_count; s++) { // each is now where the hull ends: back to counts
        int end = hulls[s];
        hulls[s] = end - start;
        start = end;
    }
    for (int k = 1; k < SAND_HULL; k++) SAND_ASSERT(next[k] == next[k - 1] + count[k]); // kinds lie one behind the other
    return (SandInstanceCounts){count[SAND_SPHERE],   count[SAND_CLUMP],   count[SAND_BOX],
                                count[SAND_CYLINDER], count[SAND_CAPSULE], count[SAND_HULL]};
}
