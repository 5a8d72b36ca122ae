// Building and checking a world, and its totals.
#include "sandglass/world.h"

#include "sim/core/array.h"
#include "sim/core/exact_sum.inl"
#include "sim/core/assert.h"
#include "sim/world/world_check.h"

#include <stdio.h>
#include <string.h>

void sand_world_init(SandWorld *world) {
    *world = (SandWorld){
        .gravity = {0, 0, -9.81},
        .lower = {-1e4, -1e4, -1e4},
        .upper = {1e4, 1e4, 1e4},
        .step = 0.01,
        .recovery = 1.0,
        .recovery_fraction = 0.3,
        .bounce_speed = 0.2,
        .joint_passes = 1,
        .looks = -1,
        .spring = {.body = -1},
    };
}

void sand_world_free(SandWorld *world) {
    for (int i = 0; i < world->shape_count; i++) sand_shape_free(&world->shapes[i]);
    for (int i = 0; i < world->boundary_count; i++) sand_boundary_free(&world->boundaries[i]);
    void *arrays[] = {
        world->position, world->rotation, world->velocity, world->spin,         world->mass,      world->inertia,
        world->scale,    world->shape,    world->material, world->enter,        world->gone,      world->sleep,
        world->shapes,   world->joints,   world->apart,    world->boundaries,   world->materials, world->pairs,
        world->outlets,  world->inlets,   world->probes,   world->probe_values,
    };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) sand_free(arrays[i]);
    *world = (SandWorld){0};
}

// Adds a row and a column for the new material. The table is stored by rows without gaps, so the rows move apart, the last
// one first.
static void widen_pairs(SandWorld *world) {
    int n = world->material_count, wide = n + 1;
    SandPair *table = world->pairs;
    for (int a = n - 1; a > 0; a--) memmove(&table[a * wide], &table[a * n], (size_t)n * sizeof *table);
    for (int a = 0; a < n; a++) {
        SandPair pair = {.mu = sqrt(world->materials[a].mu * world->materials[n].mu)};
        table[a * wide + n] = pair;
        table[n * wide + a] = pair;
    }
    table[n * wide + n] = (SandPair){.mu = world->materials[n].mu};
}

// Whether the table has the same laws for (a, b) and (b, a).
static bool pairs_symmetric(const SandPair *table, int count) {
    for (int a = 0; a < count; a++)
        for (int b = 0; b < a; b++) {
            const SandPair *p = &table[a * count + b], *q = &table[b * count + a];
            if (p->mu != q->mu || p->restitution != q->restitution || p->cohesion != q->cohesion ||
                p->rolling != q->rolling || p->spinning != q->spinning)
                return false;
        }
    return true;
}

int sand_world_add_material(SandWorld *world, const char *name, double density, double mu, SandError *error) {
    if (!isfinite(density) || density <= 0)
        return sand_fail(error, "material %s: density %g must be finite and above 0", name, density), -1;
    if (!isfinite(mu) || mu < 0)
        return sand_fail(error, "material %s: friction %g must be finite and not below 0", name, mu), -1;
    for (int i = 0; i < world->material_count; i++)
        if (!strcmp(world->materials[i].name, name)) return sand_fail(error, "material %s is there twice", name), -1;
    if (world->material_count == SAND_MAX_MATERIALS)
        return sand_fail(error, "material %s: a world has at most %d materials", name, SAND_MAX_MATERIALS), -1;
    size_t n = (size_t)world->material_count + 1;
    if (!SAND_GROW(world->materials, world->material_capacity, n, "materials", error)) return -1;
    if (!SAND_GROW(world->pairs, world->pair_capacity, n * n, "pairs of materials", error)) return -1;
    SandMaterial *material = &world->materials[n - 1];
    *material = (SandMaterial){.density = density, .mu = mu};
    snprintf(material->name, sizeof material->name, "%s", name);
    widen_pairs(world);
    SAND_ASSERT(pairs_symmetric(world->pairs, (int)n));
    return world->material_count++;
}

int sand_world_add_shape(SandWorld *world, const SandShape *shape, SandError *error) {
    if (!SAND_GROW(world->shapes, world->shape_capacity, world->shape_count + 1, "shapes", error)) return -1;
    world->shapes[world->shape_count] = *shape;
    return world->shape_count++;
}

int sand_world_add_boundary(SandWorld *world, const SandBoundary *boundary, SandError *error) {
    if (!SAND_GROW(world->boundaries, world->boundary_capacity, world->boundary_count + 1, "boundaries", error)) return -1;
    world->boundaries[world->boundary_count] = *boundary;
    return world->boundary_count++;
}

SandBodyDef sand_default_body(void) { return (SandBodyDef){.scale = 1, .pose.rotation = q_identity()}; }

static bool check_body(const SandWorld *world, const SandBodyDef *def, SandError *error) {
    int body = world->body_count;
    if (!sand_check_indices(world, body, def->shape, def->material, error)) return false;
    SandQuat q = def->pose.rotation;
    double turn = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    if (!v3_finite(def->pose.position) || !isfinite(turn) || !v3_finite(def->velocity) || !v3_finite(def->spin) ||
        !isfinite(def->enter))
        return sand_fail(error, "body %d: position, rotation, velocity, spin and entry time must be finite", body);
    if (turn < 1e-12) return sand_fail(error, "body %d: the rotation has length 0", body);
    if (!isfinite(def->scale) || def->scale <= 0)
        return sand_fail(error, "body %d: size %g must be finite and above 0", body, def->scale);
    if (!isfinite(def->mass) || def->mass < 0)
        return sand_fail(error, "body %d: mass %g must be above 0, or 0 to take it from the density", body, def->mass);
    return true;
}

bool sand_world_reserve(SandWorld *w, int bodies, SandError *error) {
    size_t n = (size_t)bodies, *capacity = w->body_capacity;
    return SAND_GROW(w->position, capacity[0], n, "bodies", error) &&
           SAND_GROW(w->rotation, capacity[1], n, "bodies", error) &&
           SAND_GROW(w->velocity, capacity[2], n, "bodies", error) && SAND_GROW(w->spin, capacity[3], n, "bodies", error) &&
           SAND_GROW(w->mass, capacity[4], n, "bodies", error) && SAND_GROW(w->inertia, capacity[5], n, "bodies", error) &&
           SAND_GROW(w->scale, capacity[6], n, "bodies", error) && SAND_GROW(w->shape, capacity[7], n, "bodies", error) &&
           SAND_GROW(w->material, capacity[8], n, "bodies", error) && SAND_GROW(w->enter, capacity[9], n, "bodies", error) &&
           SAND_GROW(w->gone, capacity[10], n, "bodies", error) && SAND_GROW(w->sleep, capacity[11], n, "bodies", error);
}

// Finds mass and inertia of a body, and makes room for it.
static bool prepare_body(SandWorld *world, const SandBodyDef *def, double *mass, SandVec3 *inertia, SandError *error) {
    if (!check_body(world, def, error)) return false;
    const SandShape *shape = &world->shapes[def->shape];
    double volume = shape->volume * def->scale * def->scale * def->scale;
    *mass = def->mass > 0 ? def->mass : world->materials[def->material].density * volume;
    *inertia = v3_scale(*mass * def->scale * def->scale / shape->volume, shape->inertia);
    if (!sand_check_mass(world->body_count, *mass, *inertia, error)) return false;
    return sand_world_reserve(world, world->body_count + 1, error);
}

bool sand_world_skip_body(SandWorld *world, const SandBodyDef *def, SandError *error) {
    double mass;
    SandVec3 inertia;
    if (!prepare_body(world, def, &mass, &inertia, error)) return false;
    world->body_count++;
    return true;
}

int sand_world_add_body(SandWorld *world, const SandBodyDef *def, SandError *error) {
    double mass;
    SandVec3 inertia;
    if (!prepare_body(world, def, &mass, &inertia, error)) return -1;
    int i = world->body_count++;
    world->position[i] = def->pose.position;
    world->rotation[i] = q_unit(def->pose.rotation);
    world->velocity[i] = def->velocity;
    world->spin[i] = def->spin;
    world->mass[i] = mass;
    world->inertia[i] = inertia;
    world->scale[i] = def->scale;
    world->shape[i] = def->shape;
    world->material[i] = def->material;
    world->enter[i] = def->enter;
    world->gone[i] = 0;
    world->sleep[i] = 0;
    return i;
}

void sand_world_flip(SandWorld *world, int boundary, SandVec3 center, SandVec3 axis, double seconds) {
    SAND_ASSERT(boundary >= 0 && boundary < world->boundary_count && seconds > 0);
    const double half_turn = 3.14159265358979323846;
    SandBoundary *b = &world->boundaries[boundary];
    b->pose = sand_boundary_pose(b, world->time);
    b->motion = (SandMotion){
        .center = center, .axis = axis, .rate = half_turn / seconds, .start = world->time, .stop = world->time + seconds};
    b->moves = true;
}

static void set_pair(SandWorld *world, int a, int b, SandPair pair) {
    SAND_ASSERT(a >= 0 && a < world->material_count && b >= 0 && b < world->material_count);
    world->pairs[a * world->material_count + b] = pair;
    world->pairs[b * world->material_count + a] = pair;
}

void sand_world_set_pair(SandWorld *world, int material_a, int material_b, double mu) {
    SandPair pair = *sand_world_laws(world, material_a, material_b);
    pair.mu = mu;
    set_pair(world, material_a, material_b, pair);
}

void sand_world_set_pair_laws(SandWorld *world, int material_a, int material_b, double restitution, double cohesion) {
    SandPair pair = *sand_world_laws(world, material_a, material_b);
    pair.restitution = restitution;
    pair.cohesion = cohesion;
    set_pair(world, material_a, material_b, pair);
}

void sand_world_set_laws(SandWorld *world, int material, double restitution, double cohesion) {
    SandMaterial *m = &world->materials[material];
    m->restitution = restitution;
    m->cohesion = cohesion;
    for (int k = 0; k < world->material_count; k++) {
        const SandMaterial *other = &world->materials[k];
        sand_world_set_pair_laws(world, material, k, sqrt(restitution * other->restitution),
                                 sqrt(cohesion * other->cohesion));
    }
    sand_world_set_pair_laws(world, material, material, restitution, cohesion); // no rounding of the root of a square
}

void sand_world_set_pair_rolling(SandWorld *world, int material_a, int material_b, double rolling, double spinning) {
    SandPair pair = *sand_world_laws(world, material_a, material_b);
    pair.rolling = rolling;
    pair.spinning = spinning;
    set_pair(world, material_a, material_b, pair);
}

void sand_world_set_rolling(SandWorld *world, int material, double rolling, double spinning) {
    SandMaterial *m = &world->materials[material];
    m->rolling = rolling;
    m->spinning = spinning;
    for (int k = 0; k < world->material_count; k++) {
        const SandMaterial *other = &world->materials[k];
        sand_world_set_pair_rolling(world, material, k, sqrt(rolling * other->rolling), sqrt(spinning * other->spinning));
    }
    sand_world_set_pair_rolling(world, material, material, rolling, spinning); // no rounding of the root of a square
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
