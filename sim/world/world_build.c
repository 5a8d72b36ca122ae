// SPDX-License-Identifier: MIT
// Making a world: adding materials, shapes, boundaries and bodies, and freeing it all.
#include "sandglass/world.h"

#include "sim/core/array.h"
#include "sim/core/assert.h"
#include "sim/world/body_arrays.h"
#include "sim/world/world_check.h"

#include <stdio.h>
#include <string.h>

void sand_world_init(SandWorld *world) {
    *world = (SandWorld){
        .gravity = {0, 0, -9.81},
        .lower = {-1e4, -1e4, -1e4},
        .upper = {1e4, 1e4, 1e4},
        .spring = {.body = -1},
    };
#define BEGIN(type, name, standard, ...) world->name = standard;
    SAND_WORLD_SETTINGS(BEGIN)
#undef BEGIN
}

void sand_world_free(SandWorld *world) {
    for (int i = 0; i < world->shape_count; i++) sand_shape_free(&world->shapes[i]);
    for (int i = 0; i < world->boundary_count; i++) sand_boundary_free(&world->boundaries[i]);
    void *arrays[] = {world->shapes, world->joints,  world->apart,  world->boundaries, world->materials,
                      world->pairs,  world->outlets, world->inlets, world->probes,     world->probe_values};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) sand_free(arrays[i]);
    sand_bodies_free(world);
    *world = (SandWorld){0};
}

// The laws of two materials: the geometric means of theirs, and of one with itself its own, without the rounding of a root.
static SandPair mean_pair(const SandMaterial *a, const SandMaterial *b) {
    if (a == b) return (SandPair){a->mu, a->restitution, a->cohesion, a->rolling, a->spinning};
    return (SandPair){sqrt(a->mu * b->mu), sqrt(a->restitution * b->restitution), sqrt(a->cohesion * b->cohesion),
                      sqrt(a->rolling * b->rolling), sqrt(a->spinning * b->spinning)};
}

static void set_mean_pairs(SandWorld *world, int material) {
    for (int k = 0; k < world->material_count; k++) {
        SandPair pair = mean_pair(&world->materials[material], &world->materials[k]);
        sand_world_set_pair(world, material, k, &pair);
    }
}

// Makes room for a row and a column. The table is stored by rows without gaps, so the rows move apart, the last one first.
static void widen_pairs(SandWorld *world) {
    int n = world->material_count, wide = n + 1;
    SandPair *table = world->pairs;
    for (int a = n - 1; a > 0; a--) memmove(&table[a * wide], &table[a * n], (size_t)n * sizeof *table);
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

const char *sand_look_name(SandLook look) {
    static const char *const names[SAND_LOOK_COUNT] = {
        [SAND_LOOK_SAND] = "sand",         [SAND_LOOK_ROCK] = "stone",  [SAND_LOOK_METAL] = "metal",
        [SAND_LOOK_CHROME] = "chrome",     [SAND_LOOK_STEEL] = "steel", [SAND_LOOK_GLASS] = "glass",
        [SAND_LOOK_GRAPHITE] = "graphite", [SAND_LOOK_WOOD] = "wood",   [SAND_LOOK_BRASS] = "brass",
        [SAND_LOOK_RUBBER] = "rubber",     [SAND_LOOK_PAINT] = "paint", [SAND_LOOK_BRICK] = "brick",
        [SAND_LOOK_QUARTZ] = "quartz",     [SAND_LOOK_BLACK] = "black", [SAND_LOOK_CONCRETE] = "concrete",
        [SAND_LOOK_NONE] = "none"};
    return look >= 0 && look < SAND_LOOK_COUNT ? names[look] : "?";
}

static bool check_color(const SandMaterial *m, SandError *error) {
    const double *c = (const double[]){m->color.x, m->color.y, m->color.z};
    for (int i = 0; i < 3; i++)
        if (!(c[i] >= 0 && c[i] <= 1)) return sand_fail(error, "material %s: color %g must be from 0 to 1", m->name, c[i]);
    return (m->look >= 0 && m->look < SAND_LOOK_COUNT) ||
           sand_fail(error, "material %s: there is no look %d", m->name, (int)m->look);
}

static bool check_law(const SandMaterial *m, const char *what, double value, double most, SandError *error) {
    if (isfinite(value) && value >= 0 && value <= most) return true;
    if (isfinite(most)) return sand_fail(error, "material %s: %s %g must be from 0 to %g", m->name, what, value, most);
    return sand_fail(error, "material %s: %s %g must be finite and not below 0", m->name, what, value);
}

// Whether a material can be number `index`.
static bool check_material(const SandWorld *world, int index, const SandMaterial *m, SandError *error) {
    if (!memchr(m->name, 0, sizeof m->name)) return sand_fail(error, "the name of a material does not end");
    if (!isfinite(m->density) || m->density <= 0)
        return sand_fail(error, "material %s: density %g must be finite and above 0", m->name, m->density);
    if (!check_law(m, "friction", m->mu, INFINITY, error) || !check_law(m, "restitution", m->restitution, 1, error) ||
        !check_law(m, "cohesion", m->cohesion, INFINITY, error) ||
        !check_law(m, "rolling friction", m->rolling, INFINITY, error) ||
        !check_law(m, "spinning friction", m->spinning, INFINITY, error) || !check_color(m, error))
        return false;
    for (int i = 0; i < world->material_count; i++)
        if (i != index && !strcmp(world->materials[i].name, m->name))
            return sand_fail(error, "material %s is there twice", m->name);
    return true;
}

SandMaterial sand_default_material(void) { return (SandMaterial){.density = 2500, .mu = 0.5}; }

int sand_world_add_material(SandWorld *world, const SandMaterial *material, SandError *error) {
    int count = world->material_count;
    size_t n = (size_t)count + 1;
    if (!check_material(world, count, material, error)) return -1;
    if (count == SAND_MAX_MATERIALS)
        return sand_fail(error, "material %s: a world has at most %d materials", material->name, SAND_MAX_MATERIALS), -1;
    if (!SAND_GROW(world->materials, world->material_capacity, n, "materials", error) ||
        !SAND_GROW(world->pairs, world->pair_capacity, n * n, "pairs of materials", error))
        return -1;
    widen_pairs(world);
    world->materials[world->material_count++] = *material;
    set_mean_pairs(world, count);
    SAND_ASSERT(pairs_symmetric(world->pairs, world->material_count));
    return count;
}

bool sand_world_set_material(SandWorld *world, int index, const SandMaterial *material, SandError *error) {
    if (index < 0 || index >= world->material_count) return sand_fail(error, "there is no material %d", index);
    if (!check_material(world, index, material, error)) return false;
    world->materials[index] = *material;
    set_mean_pairs(world, index);
    return true;
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
#define RESERVE(type, name) &&SAND_GROW(w->name, w->body_capacity.name, bodies, "bodies", error)
    return true SAND_BODY_ARRAYS(RESERVE);
#undef RESERVE
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

bool sand_world_remove_body(SandWorld *world, int body, SandError *error) {
    if (body < 0 || body >= world->body_count) return sand_fail(error, "there is no body %d", body);
    if (!world->gone[body]) world->gone[body] = 1;
    return true;
}
