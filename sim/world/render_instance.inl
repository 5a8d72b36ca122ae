// SPDX-License-Identifier: MIT
// A body as render instances, one source for CPU and GPU.
#pragma once
#include "sim/world/render_instance.h"

SAND_HOST_DEVICE void instance_copy3(float *to, SandVec3 v) {
    to[0] = (float)v.x;
    to[1] = (float)v.y;
    to[2] = (float)v.z;
}

// Returns what a contact adds to the value of each of its bodies: its force, or 1 where it carries any.
SAND_HOST_DEVICE float instance_contact_value(SandShade shade, SandVec3 impulse, double step) {
    double force = v3_length(impulse) / step;
    return (float)(shade == SAND_SHADE_FORCE ? force : force > 0);
}

SAND_HOST_DEVICE float instance_speed(const SandWorld *w, int body) { return (float)v3_length(w->velocity[body]); }

// Maps a value to [0, 1] on the color map, linearly or by its logarithm.
SAND_HOST_DEVICE float instance_place_on_map(const SandInstanceDef *def, double value) {
    double at = (value - def->least) / (def->range - def->least);
    if (def->logarithmic) at = value > def->least ? 1 - log(value / def->range) / log(def->least / def->range) : 0;
    return (float)fmin(1.0, fmax(0.0, at));
}

// Writes all instances of a body; `value` is its position on the color map.
SAND_HOST_DEVICE void instance_write(const SandWorld *w, int body, const SandInstanceDef *def, float value,
                                     SandInstance *to) {
    const SandShape *shape = &w->shapes[w->shape[body]];
    double scale = w->scale[body];
    bool large = scale * shape->bound > 4 * def->grain;
    SandDrawn drawn = sand_shape_drawn(shape->kind);
    bool part = drawn == SAND_DRAWN_PART || shape->kind == SAND_COMPOUND;
    bool rock = !part && (drawn == SAND_DRAWN_CLUMP || drawn == SAND_DRAWN_STONE);
    SandLook look = (SandLook)def->look[w->material[body]];
    if (look == SAND_LOOK_SAND && rock) look = SAND_LOOK_ROCK;
    if (look == SAND_LOOK_SAND && part && (large || def->metal)) look = SAND_LOOK_METAL;
    if (look == SAND_LOOK_SAND && large) look = SAND_LOOK_CHROME;
    if (look == SAND_LOOK_NONE) scale = 0;
    if (w->gone[body] || w->enter[body] > def->time + 1e-9 * w->step) scale = 0; // hidden
    SandQuat q = w->rotation[body];
    SandInstance it;
    instance_copy3(it.center, v3_sub(w->position[body], def->origin));
    it.radius = 0;
    it.rotation[0] = (float)q.x;
    it.rotation[1] = (float)q.y;
    it.rotation[2] = (float)q.z;
    it.rotation[3] = (float)q.w;
    instance_copy3(it.velocity, w->velocity[body]);
    it.value = value;
    instance_copy3(it.spin, w->spin[body]);
    it.tag = (uint32_t)body | (uint32_t)look << 28;
    double bound = scale * shape->bound;
    instance_copy3(it.offset, drawn == SAND_DRAWN_STONE ? v3_make(bound, bound, bound) : v3_scale(scale, shape->half));
    it.material = (float)w->material[body];
    if (!shape->sphere_count) to[0] = it;
    for (int k = 0; k < shape->sphere_count; k++) {
        instance_copy3(it.offset, v3_scale(scale, shape->spheres[k].center));
        it.radius = (float)(scale * shape->spheres[k].radius);
        to[k] = it;
    }
}
