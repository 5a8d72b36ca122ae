// Hashing a world: shapes, boundaries, joints and bodies for a settled state, and velocities, box, inlets and outlets
// besides for a run.
#include "sim/world/world_key.h"

#include "sim/core/hash.h"
#include "sim/geometry/mesh.h"

static uint64_t hash_boundary(uint64_t hash, const SandBoundary *b) {
    SandPose pose = sand_boundary_pose(b, 0);
    int numbers[] = {(int)b->kind, (int)b->side, b->material, b->profile_count};
    hash = sand_hash_bytes(hash, numbers, sizeof numbers);
    hash = sand_hash_bytes(hash, &pose, sizeof pose);
    hash = sand_hash_bytes(hash, &b->half, sizeof b->half);
    hash = sand_hash_bytes(hash, &b->radius, sizeof b->radius);
    if (b->profile_count) hash = sand_hash_bytes(hash, b->profile, (size_t)b->profile_count * sizeof *b->profile);
    if (!b->mesh) return hash;
    hash = sand_hash_bytes(hash, b->mesh->vertices, (size_t)b->mesh->vertex_count * sizeof *b->mesh->vertices);
    return sand_hash_bytes(hash, b->mesh->faces, (size_t)b->mesh->face_count * sizeof *b->mesh->faces);
}

static uint64_t hash_shape(uint64_t hash, const SandShape *s) {
    hash = sand_hash_bytes(hash, &s->kind, sizeof s->kind);
    hash = sand_hash_bytes(hash, &s->half, sizeof s->half);
    if (s->kind == SAND_HULL)
        hash = sand_hash_bytes(hash, s->core->corners, (size_t)s->core->corner_count * sizeof(SandVec3));
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
    for (int i = 0; i < w->boundary_count; i++) hash = hash_boundary(hash, &w->boundaries[i]);
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
