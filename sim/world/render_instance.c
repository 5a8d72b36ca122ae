// Indices of the render instances: grouped by the kind of shape, within a kind in the order of the bodies.
#include "sim/world/render_instance.h"
#include "sim/core/assert.h"

static int count_of(const SandShape *shape) { return shape->sphere_count ? shape->sphere_count : 1; }

// The kind that a body is drawn as: a capsule as a cylinder, a hull as the box around it.
static int drawn_as(const SandShape *shape) {
    return shape->kind == SAND_CAPSULE ? SAND_CYLINDER : shape->kind == SAND_HULL ? SAND_BOX : shape->kind;
}

SandInstanceCounts sand_instance_first(const SandWorld *world, int *first) {
    int count[4] = {0}, next[4] = {0}; // by the kind drawn, in the order of SandInstanceCounts
    for (int i = 0; i < world->body_count; i++) {
        const SandShape *shape = &world->shapes[world->shape[i]];
        count[drawn_as(shape)] += count_of(shape);
    }
    for (int k = 1; k < 4; k++) next[k] = next[k - 1] + count[k - 1];
    for (int i = 0; i < world->body_count; i++) {
        const SandShape *shape = &world->shapes[world->shape[i]];
        first[i] = next[drawn_as(shape)];
        next[drawn_as(shape)] += count_of(shape);
    }
    for (int k = 1; k < 4; k++) SAND_ASSERT(next[k] == next[k - 1] + count[k]); // kinds lie one behind the other
    return (SandInstanceCounts){count[SAND_SPHERE], count[SAND_CLUMP], count[SAND_BOX], count[SAND_CYLINDER]};
}
