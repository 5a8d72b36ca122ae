// Outlets: where bodies leave the world.
#include "sandglass/world.h"

#include "sim/core/array.h"

SandOutlet sand_outlet_box(SandVec3 lower, SandVec3 upper) { return (SandOutlet){.lower = lower, .upper = upper}; }

SandOutlet sand_outlet_plane(SandVec3 point, SandVec3 normal) {
    return (SandOutlet){.lower = {-INFINITY, -INFINITY, -INFINITY},
                        .upper = {INFINITY, INFINITY, INFINITY},
                        .normal = normal,
                        .offset = v3_dot(normal, point)};
}

int sand_world_add_outlet(SandWorld *world, const SandOutlet *outlet, SandError *error) {
    bool box = isfinite(outlet->lower.x);
    if (!(outlet->lower.x < outlet->upper.x && outlet->lower.y < outlet->upper.y && outlet->lower.z < outlet->upper.z))
        return sand_fail(error, "outlet %s: its upper corner must lie above its lower one on every axis", outlet->name), -1;
    if (!v3_finite(outlet->normal) || !isfinite(outlet->offset) || (!box && v3_length(outlet->normal) == 0))
        return sand_fail(error, "outlet %s: its plane needs a finite point and a normal with a length", outlet->name), -1;
    if (world->outlet_count >= SAND_MAX_OUTLETS)
        return sand_fail(error, "a world has at most %d outlets", SAND_MAX_OUTLETS), -1;
    if (!SAND_GROW(world->outlets, world->outlet_capacity, world->outlet_count + 1, "outlets", error)) return -1;
    world->outlets[world->outlet_count] = *outlet;
    return world->outlet_count++;
}
