// SPDX-License-Identifier: MIT
// Hashing a world: shapes, boundaries, joints and bodies for a settled state, and velocities, box, inlets and outlets
// besides for a run; and for a saved state what it does not hold, trait by trait.
#include "sim/world/world_key.h"

#include "sim/core/hash.h"
#include "sim/geometry/mesh.h"

#include <string.h>

// Where it is hashed with a pose; without, it is the surface alone.
static uint64_t hash_boundary(uint64_t hash, const SandBoundary *b, const SandPose *pose) {
    int numbers[] = {(int)b->kind, (int)b->side, b->material, b->profile_count};
    hash = sand_hash_bytes(hash, numbers, sizeof numbers);
    if (pose) hash = sand_hash_bytes(hash, pose, sizeof *pose);
    hash = sand_hash_bytes(hash, &b->half, sizeof b->half);
    hash = sand_hash_bytes(hash, &b->radius, sizeof b->radius);
    if (b->path_count) hash = sand_hash_bytes(hash, b->path, (size_t)b->path_count * sizeof *b->path);
    if (b->profile_count) hash = sand_hash_bytes(hash, b->profile, (size_t)b->profile_count * sizeof *b->profile);
    if (!b->mesh) return hash;
    hash = sand_hash_bytes(hash, b->mesh->vertices, (size_t)b->mesh->vertex_count * sizeof *b->mesh->vertices);
    return sand_hash_bytes(hash, b->mesh->faces, (size_t)b->mesh->face_count * sizeof *b->mesh->faces);
}

static uint64_t hash_corners(uint64_t hash, const SandPolytope *core) {
    return sand_hash_bytes(hash, core->corners, (size_t)core->corner_count * sizeof *core->corners);
}

static uint64_t hash_pieces(uint64_t hash, const SandShape *s) {
    for (int k = 0; k < s->piece_count; k++) {
        const SandPiece *p = &s->pieces[k];
        hash = sand_hash_bytes(hash, &p->shape.kind, sizeof p->shape.kind);
        hash = sand_hash_bytes(hash, &p->shape.half, sizeof p->shape.half);
        hash = sand_hash_bytes(hash, &p->scale, sizeof p->scale);
        hash = sand_hash_bytes(hash, &p->pose, sizeof p->pose);
        if (p->shape.core) hash = hash_corners(hash, p->shape.core);
    }
    return hash;
}

static uint64_t hash_shape(uint64_t hash, const SandShape *s) {
    hash = sand_hash_bytes(hash, &s->kind, sizeof s->kind);
    hash = sand_hash_bytes(hash, &s->half, sizeof s->half);
    if (s->kind == SAND_COMPOUND) return hash_pieces(hash, s);
    if (sand_shape_drawn(s->kind) == SAND_DRAWN_STONE) hash = hash_corners(hash, s->core);
    return s->sphere_count ? sand_hash_bytes(hash, s->spheres, (size_t)s->sphere_count * sizeof *s->spheres) : hash;
}

static uint64_t hash_joint(uint64_t hash, const SandJoint *j) {
    const SandDrive *d = &j->drive;
    int numbers[] = {(int)j->kind, j->a, j->b, (int)d->motor};
    double drive[] = {d->low, d->high, d->target, d->rate, d->speed, d->strength, d->stiffness, d->damping, d->rest};
    SandVec3 places[] = {j->anchor_a, j->anchor_b, j->axis_a, j->axis_b};
    hash = sand_hash_bytes(hash, numbers, sizeof numbers);
    hash = sand_hash_bytes(hash, drive, sizeof drive);
    return sand_hash_bytes(hash, places, sizeof places);
}

static uint64_t hash_bodies(uint64_t hash, const SandWorld *w) {
    size_t n = (size_t)w->body_count;
    hash = sand_hash_bytes(hash, w->position, n * sizeof *w->position);
    hash = sand_hash_bytes(hash, w->rotation, n * sizeof *w->rotation);
    hash = sand_hash_bytes(hash, w->mass, n * sizeof *w->mass);
    hash = sand_hash_bytes(hash, w->inertia, n * sizeof *w->inertia);
    hash = sand_hash_bytes(hash, w->scale, n * sizeof *w->scale);
    hash = sand_hash_bytes(hash, w->shape, n * sizeof *w->shape);
    hash = sand_hash_bytes(hash, w->material, n * sizeof *w->material);
    return sand_hash_bytes(hash, w->enter, n * sizeof *w->enter);
}

uint64_t sand_world_hash_matter(const SandWorld *w, uint64_t hash) {
    const int numbers[] = {w->body_count, w->boundary_count, w->shape_count, w->material_count, w->joint_count};
#define NUMBER(type, name, ...) w->name,
    const double settings[] = {SAND_WORLD_SETTINGS(NUMBER) w->gravity.x, w->gravity.y, w->gravity.z};
#undef NUMBER
    hash = sand_hash_bytes(hash, numbers, sizeof numbers);
    hash = sand_hash_bytes(hash, settings, sizeof settings);
    hash = sand_hash_bytes(hash, w->pairs, (size_t)w->material_count * (size_t)w->material_count * sizeof *w->pairs);
    for (int i = 0; i < w->shape_count; i++) hash = hash_shape(hash, &w->shapes[i]);
    for (int i = 0; i < w->boundary_count; i++) {
        SandPose pose = sand_boundary_pose(&w->boundaries[i], 0);
        hash = hash_boundary(hash, &w->boundaries[i], &pose);
    }
    for (int i = 0; i < w->joint_count; i++) hash = hash_joint(hash, &w->joints[i]);
    return hash_bodies(hash, w);
}

static uint64_t hash_inlet(uint64_t hash, const SandInlet *in) {
    const double numbers[] = {in->lower.x, in->lower.y, in->lower.z, in->upper.x, in->upper.y,
                              in->upper.z, in->rate,    in->start,   in->first,   in->count};
    hash = sand_hash_bytes(hash, numbers, sizeof numbers);
    return sand_hash(hash, in->seed);
}

static uint64_t hash_outlet(uint64_t hash, const SandOutlet *out) {
    const SandVec3 places[] = {out->lower, out->upper, out->normal};
    hash = sand_hash_bytes(hash, places, sizeof places);
    return sand_hash_bytes(hash, &out->offset, sizeof out->offset);
}

uint64_t sand_world_key(const SandWorld *w) {
    size_t n = (size_t)w->body_count;
    const SandVec3 box[] = {w->lower, w->upper};
    uint64_t hash = sand_world_hash_matter(w, SAND_HASH_BEGIN);
    hash = sand_hash_bytes(hash, w->velocity, n * sizeof *w->velocity);
    hash = sand_hash_bytes(hash, w->spin, n * sizeof *w->spin);
    hash = sand_hash_bytes(hash, box, sizeof box);
    for (int k = 0; k < 3; k++) hash = sand_hash(hash, w->periodic[k]);
    if (w->squeeze.rate > 0) hash = sand_hash_bytes(hash, &w->squeeze, sizeof w->squeeze);
    for (int i = 0; i < w->inlet_count; i++) hash = hash_inlet(hash, &w->inlets[i]);
    for (int i = 0; i < w->outlet_count; i++) hash = hash_outlet(hash, &w->outlets[i]);
    for (int i = 0; i < w->boundary_count; i++)
        if (w->boundaries[i].moves) hash = sand_hash_bytes(hash, &w->boundaries[i].motion, sizeof w->boundaries[i].motion);
    return hash;
}

// --- fingerprints -------------------------------------------------------------------------------------------

static uint64_t settings_trait(const SandWorld *w) {
#define NUMBER(type, name, ...) w->name,
    const double settings[] = {SAND_WORLD_SETTINGS(NUMBER)};
#undef NUMBER
    uint64_t hash = sand_hash_bytes(SAND_HASH_BEGIN, settings, sizeof settings);
    for (int k = 0; k < 3; k++) hash = sand_hash(hash, w->periodic[k]);
    return hash;
}

static uint64_t shapes_trait(const SandWorld *w) {
    uint64_t hash = sand_hash(SAND_HASH_BEGIN, (uint64_t)w->shape_count);
    for (int i = 0; i < w->shape_count; i++) hash = hash_shape(hash, &w->shapes[i]);
    return hash;
}

static uint64_t boundaries_trait(const SandWorld *w) {
    uint64_t hash = sand_hash(SAND_HASH_BEGIN, (uint64_t)w->boundary_count);
    for (int i = 0; i < w->boundary_count; i++) hash = hash_boundary(hash, &w->boundaries[i], NULL);
    return hash;
}

static uint64_t flow_trait(const SandWorld *w) {
    uint64_t hash = sand_hash(SAND_HASH_BEGIN, (uint64_t)w->inlet_count << 32 | (uint64_t)w->outlet_count);
    for (int i = 0; i < w->inlet_count; i++) hash = hash_inlet(hash, &w->inlets[i]);
    for (int i = 0; i < w->outlet_count; i++) hash = hash_outlet(hash, &w->outlets[i]);
    return hash;
}

static uint64_t hash_probe(uint64_t hash, const SandProbe *p) {
    const int numbers[] = {(int)p->kind, p->outlet,   p->boundary, p->body,    p->about,
                           p->whole,     p->cells[0], p->cells[1], p->cells[2]};
    hash = sand_hash_bytes(hash, numbers, sizeof numbers);
    hash = sand_hash_bytes(hash, &p->rate, sizeof p->rate);
    hash = sand_hash_bytes(hash, &p->origin, sizeof p->origin);
    hash = sand_hash_bytes(hash, p->axis, sizeof p->axis);
    hash = sand_hash_bytes(hash, p->size, sizeof p->size);
    hash = sand_hash_bytes(hash, &p->radius, sizeof p->radius);
    return sand_hash_bytes(hash, &p->least_force, sizeof p->least_force);
}

static uint64_t probes_trait(const SandWorld *w, int count) {
    uint64_t hash = SAND_HASH_BEGIN;
    for (int k = 0; k < count; k++) hash = hash_probe(hash, &w->probes[k]);
    return hash;
}

// Bodies wait for an inlet until it lets them in, which the state knows.
static bool is_of_inlet(const SandWorld *w, int body) {
    for (int k = 0; k < w->inlet_count; k++)
        if (body >= w->inlets[k].first && body < w->inlets[k].first + w->inlets[k].count) return true;
    return false;
}

static uint64_t hash_number(uint64_t hash, double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    hash = sand_hash(hash, bits);
    return hash ^ hash >> 32;
}

// By words: there may be millions of them.
static uint64_t bodies_trait(const SandWorld *w, int count) {
    uint64_t hash = SAND_HASH_BEGIN;
    for (int i = 0; i < count; i++) {
        hash = hash_number(hash, w->mass[i]);
        hash = hash_number(hash, w->inertia[i].x);
        hash = hash_number(hash, w->inertia[i].y);
        hash = hash_number(hash, w->inertia[i].z);
        hash = hash_number(hash, w->scale[i]);
        hash = sand_hash(hash, (uint64_t)(uint32_t)w->shape[i] << 32 | (uint32_t)w->material[i]);
        hash = hash_number(hash, is_of_inlet(w, i) ? 0 : w->enter[i]);
    }
    return hash;
}

SandFingerprint sand_world_fingerprint(const SandWorld *w, int bodies, int probes) {
    size_t pairs = (size_t)w->material_count * (size_t)w->material_count;
    return (SandFingerprint){{
        [SAND_TRAIT_SETTINGS] = settings_trait(w),
        [SAND_TRAIT_SHAPES] = shapes_trait(w),
        [SAND_TRAIT_LAWS] = sand_hash_bytes(SAND_HASH_BEGIN, w->pairs, pairs * sizeof *w->pairs),
        [SAND_TRAIT_BOUNDARIES] = boundaries_trait(w),
        [SAND_TRAIT_FLOW] = flow_trait(w),
        [SAND_TRAIT_PROBES] = probes_trait(w, probes),
        [SAND_TRAIT_BODIES] = bodies_trait(w, bodies),
    }};
}

const char *sand_trait_name(SandTrait trait) {
    static const char *const names[SAND_TRAITS] = {
        [SAND_TRAIT_SETTINGS] = "settings (step, recovery, sleep, bounces)",
        [SAND_TRAIT_SHAPES] = "shapes",
        [SAND_TRAIT_LAWS] = "materials",
        [SAND_TRAIT_BOUNDARIES] = "boundaries",
        [SAND_TRAIT_FLOW] = "inlets or outlets",
        [SAND_TRAIT_PROBES] = "probes",
        [SAND_TRAIT_BODIES] = "bodies",
    };
    return names[trait];
}
