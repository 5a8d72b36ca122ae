// SPDX-License-Identifier: MIT
// What a world is asked once it is made: its laws, its totals, its hash and its names; and moving a boundary otherwise.
#include "sandglass/world.h"

#include "sim/core/exact_sum.inl"
#include "sim/core/assert.h"

#include <string.h>

void sand_world_set_motion(SandWorld *world, int boundary, const SandMotion *motion) {
    SAND_ASSERT(boundary >= 0 && boundary < world->boundary_count);
    SandBoundary *b = &world->boundaries[boundary];
    b->pose = sand_boundary_pose(b, world->time);
    b->motion = *motion;
    b->motion.start = fmax(motion->start, world->time);
    b->moves = !(motion->stop > motion->start && motion->stop <= world->time);
}

void sand_world_flip(SandWorld *world, int boundary, SandVec3 center, SandVec3 axis, double seconds) {
    SAND_ASSERT(seconds > 0);
    const double half_turn = 3.14159265358979323846;
    SandMotion motion = {
        .center = center, .axis = axis, .rate = half_turn / seconds, .start = world->time, .stop = world->time + seconds};
    sand_world_set_motion(world, boundary, &motion);
}

int sand_world_find_joint(const SandWorld *world, const char *name) {
    for (int k = 0; k < world->joint_count; k++)
        if (*name && !strcmp(world->joints[k].name, name)) return k;
    return -1;
}

int sand_world_find_boundary(const SandWorld *world, const char *name) {
    for (int k = 0; k < world->boundary_count; k++)
        if (*name && !strcmp(world->boundaries[k].name, name)) return k;
    return -1;
}

void sand_world_set_pair(SandWorld *world, int material_a, int material_b, const SandPair *pair) {
    int n = world->material_count;
    SAND_ASSERT(material_a >= 0 && material_a < n && material_b >= 0 && material_b < n);
    world->pairs[material_a * n + material_b] = *pair;
    world->pairs[material_b * n + material_a] = *pair;
}

bool sand_world_bounces(const SandWorld *world) {
    for (int k = 0; k < world->material_count * world->material_count; k++)
        if (world->pairs[k].restitution > 0) return true;
    return false;
}

bool sand_world_coheres(const SandWorld *world) {
    for (int k = 0; k < world->material_count * world->material_count; k++)
        if (world->pairs[k].cohesion > 0) return true;
    return false;
}

bool sand_world_rolls(const SandWorld *world) {
    for (int k = 0; k < world->material_count * world->material_count; k++)
        if (world->pairs[k].rolling > 0 || world->pairs[k].spinning > 0) return true;
    return false;
}

double sand_world_kinetic_energy(const SandWorld *world) {
    SandExactSum sum = {{0}, 0};
    for (int i = 0; i < world->body_count; i++)
        if (sand_world_active(world, i)) exact_add(&sum, sand_body_kinetic_energy(world, i), false);
    return exact_value(&sum);
}

double sand_world_potential_energy(const SandWorld *world) {
    SandExactSum sum = {{0}, 0};
    for (int i = 0; i < world->body_count; i++)
        if (sand_world_active(world, i)) exact_add(&sum, sand_body_potential_energy(world, i), false);
    return exact_value(&sum);
}

SandVec3 sand_world_momentum(const SandWorld *world) {
    SandVec3 sum = {0, 0, 0};
    for (int i = 0; i < world->body_count; i++)
        if (sand_world_active(world, i)) sum = v3_madd(sum, world->mass[i], world->velocity[i]);
    return sum;
}

SandVec3 sand_world_angular_momentum(const SandWorld *world) {
    SandVec3 sum = {0, 0, 0};
    for (int i = 0; i < world->body_count; i++) {
        if (!sand_world_active(world, i)) continue;
        sum = v3_madd(sum, world->mass[i], v3_cross(world->position[i], world->velocity[i]));
        sum = v3_add(sum, sand_body_spin_momentum(world, i));
    }
    return sum;
}

// FNV-1a over 64-bit words, with a shift that brings high bits down, which the product alone never does. Not sand_hash,
// which lacks the shift: golden hashes depend on this one.
static uint64_t hash_words(uint64_t hash, const void *data, size_t words) {
    for (size_t i = 0; i < words; i++) {
        uint64_t word;
        memcpy(&word, (const char *)data + 8 * i, 8);
        hash = (hash ^ word) * 0x100000001b3u;
        hash ^= hash >> 32;
    }
    return hash;
}

uint64_t sand_world_hash_block(const SandWorld *world, int first, int end) {
    uint64_t hash = 0xcbf29ce484222325u, count = (uint64_t)world->body_count;
    hash = hash_words(hash, &count, 1);
    hash = hash_words(hash, &world->time, 1);
    for (int i = first; i < end; i++) {
        uint64_t gone = world->gone[i];
        hash = hash_words(hash, &world->position[i], 3);
        hash = hash_words(hash, &world->rotation[i], 4);
        hash = hash_words(hash, &world->velocity[i], 3);
        hash = hash_words(hash, &world->spin[i], 3);
        hash = hash_words(hash, &gone, 1);
    }
    return hash;
}

uint64_t sand_world_hash(const SandWorld *world) { return sand_world_hash_block(world, 0, world->body_count); }
