// SPDX-License-Identifier: MIT
// Outlets and inlets: where bodies leave and enter the world.
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

static bool check_inlet(const SandWorld *world, const SandInlet *in, SandError *error) {
    SandVec3 size = v3_sub(in->upper, in->lower);
    if (world->inlet_count >= SAND_MAX_INLETS) return sand_fail(error, "a world has at most %d inlets", SAND_MAX_INLETS);
    if (!v3_finite(size) || !(size.x > 0 && size.y > 0 && size.z > 0))
        return sand_fail(error, "inlet %s: its upper corner must lie above its lower one on every axis", in->name);
    if (!isfinite(in->rate) || in->rate <= 0 || !isfinite(in->start))
        return sand_fail(error, "inlet %s: its rate %g must be above 0, and its start %g finite", in->name, in->rate,
                         in->start);
    if (in->first < 0 || in->count < 1 || in->count > world->body_count - in->first)
        return sand_fail(error, "inlet %s: its %d bodies from %d on are not all in the world", in->name, in->count,
                         in->first);
    for (int k = 0; k < world->inlet_count; k++)
        if (in->first < world->inlets[k].first + world->inlets[k].count && world->inlets[k].first < in->first + in->count)
            return sand_fail(error, "inlets %s and %s have bodies in common", world->inlets[k].name, in->name);
    return true;
}

static int greatest_divisor(int a, int b) {
    while (b) {
        int sleep = a % b;
        a = b;
        b = sleep;
    }
    return a;
}

enum { MOST_CELLS = 100000 }; // of an inlet

// Divides the box into cells for spheres of this diameter, and finds the stride: steps of about the golden section meet all
// cells, and those one after the other are far apart.
static bool divide_inlet(SandInlet *in, double diameter, SandError *error) {
    SandVec3 size = v3_sub(in->upper, in->lower);
    double along[3] = {size.x / diameter, size.y / diameter, size.z / diameter};
    if (!(along[0] >= 1 && along[1] >= 1 && along[2] >= 1))
        return sand_fail(error, "inlet %s: its box is smaller than its largest body, of %g m", in->name, diameter);
    if (!(floor(along[0]) * floor(along[1]) * floor(along[2]) <= MOST_CELLS))
        return sand_fail(error, "inlet %s: its box holds more than %d bodies", in->name, MOST_CELLS);
    int places = 1;
    for (int a = 0; a < 3; a++) places *= in->cells[a] = (int)along[a];
    in->stride = (int)(0.6180339887 * places) + 1;
    while (greatest_divisor(in->stride, places) > 1) in->stride++;
    return true;
}

int sand_world_add_inlet(SandWorld *world, const SandInlet *inlet, SandError *error) {
    if (!check_inlet(world, inlet, error)) return -1;
    SandInlet in = *inlet;
    double radius = 0;
    for (int i = in.first; i < in.first + in.count; i++)
        radius = fmax(radius, world->scale[i] * world->shapes[world->shape[i]].bound);
    if (!divide_inlet(&in, 2 * radius * (1 + 1e-9), error) ||
        !SAND_GROW(world->inlets, world->inlet_capacity, world->inlet_count + 1, "inlets", error))
        return -1;
    in.entered = 0;
    for (int i = in.first; i < in.first + in.count; i++) {
        world->enter[i] = INFINITY;
        world->position[i] = v3_scale(0.5, v3_add(in.lower, in.upper));
    }
    world->inlets[world->inlet_count] = in;
    return world->inlet_count++;
}
