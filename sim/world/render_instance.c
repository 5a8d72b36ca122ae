// Indices of the render instances: grouped by the kind of shape, within a kind in the order of the bodies.
#include "sim/world/render_instance.h"
#include "sim/core/assert.h"

static int count_of(const SandShape *shape) { return shape->sphere_count ? shape->sphere_count : 1; }

SandInstanceCounts sand_instance_first(const SandWorld *world, int *first) {
    int count[4] = {0}, next[4] = {0}; // by SandShapeKind, in the order of SandInstanceCounts
    for (int i = 0; i < world->body_count; i++) {
        const SandShape *shape = &world->shapes[world->shape[i]];
        count[shape->kind] += count_of(shape);
    }
    for (int k = 1; k < 4; k++) next[k] = next[k - 1] + count[k - 1];
    for (int i = 0; i < world->body_count; i++) {
        const SandShape *shape = &world->shapes[world->shape[i]];
        first[i] = next[shape->kind];
        next[shape->kind] += count_of(shape);
    }
    for (int k = 1; k < 4; k++) SAND_ASSERT(next[k] == next[k - 1] + count[k]); // kinds lie one behind the other
    return (SandInstanceCounts){count[SAND_SPHERE], count[SAND_CLUMP], count[SAND_BOX], count[SAND_CYLINDER]};
}
