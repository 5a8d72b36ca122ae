// SPDX-License-Identifier: MIT
// Scattering the bodies of a world by a seed, so that runs that begin almost alike part.
#include "sandglass/batch.h"
#include "sim/core/random.h"

// Seeds are often 0, 1, 2 ..., whose first numbers of xorshift64 are much alike; this mixes all bits (the finalizer of
// splitmix64, Steele et al. 2014).
static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static bool is_held(const SandWorld *w, int body) {
    for (int k = 0; k < w->joint_count; k++)
        if (w->joints[k].a == body || w->joints[k].b == body) return true;
    return false;
}

void sand_world_scatter(SandWorld *w, uint64_t seed, double share) {
    SandRandom random = sand_random(mix(seed));
    for (int i = 0; i < w->body_count; i++) {
        double size = share * w->scale[i] * w->shapes[w->shape[i]].bound;
        SandVec3 move; // drawn for every body: what a joint holds changes nothing for the others
        move.x = size * sand_random_signed(&random);
        move.y = size * sand_random_signed(&random);
        move.z = size * sand_random_signed(&random);
        w->sleep[i] = 0;
        if (!is_held(w, i)) w->position[i] = v3_add(w->position[i], move);
    }
    for (int k = 0; k < w->inlet_count; k++) w->inlets[k].seed = mix(seed + (uint64_t)k);
}
