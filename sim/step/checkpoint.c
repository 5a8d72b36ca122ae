// SPDX-License-Identifier: MIT
// Saving and restoring a checkpoint: bodies and warm start, boundaries and joints, settings that change, probes, and what
// has flowed in and out.
#include "sim/step/checkpoint.h"

#include "sim/core/array.h"

#include <string.h>

void sand_checkpoint_free(SandCheckpoint *c) {
    SAND_FREE_ARRAYS(&c->boundaries, &c->joints, &c->probes);
#define FREE(type, name) sand_free(c->name);
    SAND_BODY_STATE(FREE)
#undef FREE
    sand_warm_start_free(&c->warm_start);
    *c = (SandCheckpoint){0};
}

size_t sand_checkpoint_bytes(const SandCheckpoint *c) {
    size_t bytes = c->boundaries.capacity * sizeof *c->boundaries.data + c->joints.capacity * sizeof *c->joints.data +
                   c->probes.capacity * sizeof *c->probes.data + sand_warm_start_bytes(&c->warm_start);
#define ADD(type, name) bytes += c->body_capacity.name * sizeof(type);
    SAND_BODY_STATE(ADD)
#undef ADD
    return bytes;
}

static void save_flow(SandCheckpoint *c, const SandWorld *w) {
    c->outlet_count = w->outlet_count;
    c->inlet_count = w->inlet_count;
    for (int k = 0; k < w->inlet_count; k++) c->entered[k] = w->inlets[k].entered;
    for (int k = 0; k < w->outlet_count; k++) {
        c->left_bodies[k] = w->outlets[k].bodies;
        c->left_mass[k] = w->outlets[k].mass;
    }
}

static void restore_flow(const SandCheckpoint *c, SandWorld *w) {
    for (int k = 0; k < c->outlet_count; k++) {
        w->outlets[k].bodies = c->left_bodies[k];
        w->outlets[k].mass = c->left_mass[k];
    }
    for (int k = 0; k < c->inlet_count; k++) {
        SandInlet *in = &w->inlets[k];
        in->entered = c->entered[k];
        for (int i = 0; i < in->count; i++)
            w->enter[in->first + i] = i < in->entered ? fmin(w->enter[in->first + i], c->time) : INFINITY;
    }
}

// Probes that were added since begin anew.
static void restore_probes(const SandCheckpoint *c, SandWorld *w) {
    for (int k = 0; k < w->probe_count; k++)
        w->probes[k].state = k < c->probe_count ? c->probes.data[k] : (SandProbeState){.since = c->time};
}

bool sand_checkpoint_save_settings(SandCheckpoint *c, const SandWorld *w, SandError *error) {
    if (!SAND_RESERVE(c->boundaries, w->boundary_count, "checkpoint", error) ||
        !SAND_RESERVE(c->joints, w->joint_count, "checkpoint", error) ||
        !SAND_RESERVE(c->probes, w->probe_count, "checkpoint", error))
        return false;
    c->time = w->time;
    c->step_index = w->step_index;
    c->body_count = w->body_count;
    c->gravity = w->gravity;
    c->spring = w->spring;
    c->lower = w->lower;
    c->upper = w->upper;
    c->squeeze = w->squeeze;
    save_flow(c, w);
    c->probe_count = w->probe_count;
    for (int k = 0; k < w->probe_count; k++) c->probes.data[k] = w->probes[k].state;
    c->boundary_count = w->boundary_count;
    for (int b = 0; b < w->boundary_count; b++)
        c->boundaries.data[b] = (SandBoundaryState){w->boundaries[b].pose, w->boundaries[b].motion, w->boundaries[b].moves};
    c->joint_count = w->joint_count;
    for (int k = 0; k < w->joint_count; k++) c->joints.data[k] = w->joints[k];
    return true;
}

bool sand_checkpoint_reserve(SandCheckpoint *c, int bodies, SandError *error) {
#define RESERVE(type, name) &&SAND_GROW(c->name, c->body_capacity.name, bodies, "checkpoint", error)
    return true SAND_BODY_STATE(RESERVE);
#undef RESERVE
}

bool sand_checkpoint_save(SandCheckpoint *c, const SandWorld *w, const SandWarmStart *warm_start, SandError *error) {
    if (!sand_checkpoint_reserve(c, w->body_count, error) || !sand_warm_start_copy(&c->warm_start, warm_start, error) ||
        !sand_checkpoint_save_settings(c, w, error))
        return false;
#define SAVE(type, name) \
    if (w->body_count) memcpy(c->name, w->name, (size_t)w->body_count * sizeof(type));
    SAND_BODY_STATE(SAVE)
#undef SAVE
    return true;
}

void sand_checkpoint_mark(SandCheckpoint *c, const SandWorld *w) {
    c->world = sand_world_fingerprint(w, c->body_count, c->probe_count);
}

bool sand_checkpoint_belongs(const SandCheckpoint *c, const SandWorld *w, SandError *error) {
    if (c->body_count > w->body_count)
        return sand_fail(error, "the state is of another world: it has %d bodies and this one %d", c->body_count,
                         w->body_count);
    if (c->probe_count > w->probe_count)
        return sand_fail(error, "the state is of another world: it has %d probes and this one %d", c->probe_count,
                         w->probe_count);
    SandFingerprint here = sand_world_fingerprint(w, c->body_count, c->probe_count);
    for (int k = 0; k < SAND_TRAITS; k++)
        if (c->world.hash[k] != here.hash[k])
            return sand_fail(error, "the state is of another world: its %s are others", sand_trait_name((SandTrait)k));
    return true;
}

// Whether each joint joins the bodies that it joins in the world: only its frames and its drive may have changed.
static bool same_joints(const SandCheckpoint *c, const SandWorld *w) {
    bool same = c->joint_count == w->joint_count;
    for (int k = 0; same && k < c->joint_count; k++) {
        const SandJoint *was = &c->joints.data[k], *is = &w->joints[k];
        same = was->kind == is->kind && was->a == is->a && was->b == is->b;
    }
    return same;
}

// Whether the numbers of a state fit the arrays of the world that it is restored into.
static bool fits(const SandCheckpoint *c, const SandWorld *w, SandError *error) {
    bool same = c->boundary_count == w->boundary_count && c->outlet_count == w->outlet_count &&
                c->inlet_count == w->inlet_count && same_joints(c, w) && c->spring.body < c->body_count;
    for (int k = 0; same && k < c->inlet_count; k++) same = c->entered[k] <= w->inlets[k].count;
    if (!same) return sand_fail(error, "the checkpoint is that of another scene");
    return c->body_count <= w->body_count ||
           sand_fail(error, "the checkpoint has %d bodies and the world %d", c->body_count, w->body_count);
}

// Names are the world's, and not in files.
static void restore_joint(SandJoint *joint, const SandJoint *from) {
    char name[SAND_NAME];
    memcpy(name, joint->name, sizeof name);
    *joint = *from;
    memcpy(joint->name, name, sizeof name);
}

bool sand_checkpoint_restore(const SandCheckpoint *c, SandWorld *w, SandWarmStart *warm_start, SandError *error) {
    if (!fits(c, w, error)) return false;
    if (!sand_warm_start_copy(warm_start, &c->warm_start, error)) return false;
    w->time = c->time;
    w->step_index = c->step_index;
    w->body_count = c->body_count;
    w->gravity = c->gravity;
    w->spring = c->spring;
    w->lower = c->lower;
    w->upper = c->upper;
    w->squeeze = c->squeeze;
    restore_flow(c, w);
    restore_probes(c, w);
    for (int b = 0; b < c->boundary_count; b++) {
        w->boundaries[b].pose = c->boundaries.data[b].pose;
        w->boundaries[b].motion = c->boundaries.data[b].motion;
        w->boundaries[b].moves = c->boundaries.data[b].moves;
    }
    for (int k = 0; k < c->joint_count; k++) restore_joint(&w->joints[k], &c->joints.data[k]);
#define RESTORE(type, name) \
    if (c->body_count) memcpy(w->name, c->name, (size_t)c->body_count * sizeof(type));
    SAND_BODY_STATE(RESTORE)
#undef RESTORE
    return true;
}
