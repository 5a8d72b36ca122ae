// SPDX-License-Identifier: MIT
// Building the joints of a scene, between its single bodies or a body and the world.
#include "sim/scene/scene_builder.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_FORCE 1e15 // N, N m and what is made of them

// ---- which keys belong to which kind ----

#define BIT(kind) (1u << SAND_JOINT_##kind)
#define DRIVEN (BIT(HINGE) | BIT(SLIDER) | BIT(DISTANCE))
#define TIES (BIT(DISTANCE) | BIT(ROD) | BIT(ROPE))

// Refuses keys that the kind does not have, and misses those it needs.
static bool check_keys(SandBuilder *b, const SandJointFileDef *j) {
    struct {
        const char *key;
        bool given;
        unsigned allowed, needed;
    } keys[] = {
        {"anchor_b", j->anchor_b, TIES, 0},
        {"axis", j->axis, ~TIES, BIT(HINGE) | BIT(SLIDER) | BIT(UNIVERSAL)},
        {"axis_b", j->axis_b, BIT(UNIVERSAL), BIT(UNIVERSAL)},
        {"limits", j->limits, DRIVEN, 0},
        {"motor", j->motor, DRIVEN, 0},
        {"spring", j->spring, DRIVEN, 0},
    };
    const char *name = sand_joint_kind_name(j->kind);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (keys[i].given && !(keys[i].allowed & 1u << j->kind))
            return sand_build_wrong(b, keys[i].key, "a joint of kind %s has no such key", name);
        if (!keys[i].given && keys[i].needed & 1u << j->kind)
            return sand_build_wrong(b, keys[i].key, "missing: a joint of kind %s needs it", name);
    }
    return true;
}

// ---- places ----

static bool read_axis(SandBuilder *b, const char *key, const double *value, SandVec3 *axis) {
    if (!value) return true;
    if (!sand_build_range3(b, key, value, SAND_FAR)) return false;
    *axis = sand_vector(value);
    return v3_length(*axis) > 1e-9 || sand_build_wrong(b, key, "expected an axis, got one of length 0");
}

// The anchor is the center of b by default; of distance, rod and rope the ends are the centers.
static bool read_places(SandBuilder *b, const SandJointFileDef *j, SandJointDef *def) {
    const SandVec3 *position = b->world->position;
    bool tie = TIES & 1u << j->kind;
    if (!sand_build_range3(b, "anchor", j->anchor, SAND_FAR) || !sand_build_range3(b, "anchor_b", j->anchor_b, SAND_FAR))
        return false;
    if (tie && def->a < 0 && !j->anchor)
        return sand_build_wrong(b, "anchor", "missing: where in the world a %s ends", sand_joint_kind_name(j->kind));
    def->anchor = j->anchor ? sand_vector(j->anchor) : position[tie ? def->a : def->b];
    def->anchor_b = j->anchor_b ? sand_vector(j->anchor_b) : position[def->b];
    return read_axis(b, "axis", j->axis, &def->axis) && read_axis(b, "axis_b", j->axis_b, &def->axis_b);
}

// ---- limits, motors, springs ----

static bool read_limits(SandBuilder *b, const SandJointFileDef *j, double unit, SandDrive *drive) {
    if (!j->limits) return true;
    for (int i = 0; i < 2; i++)
        if (!sand_build_range(b, "limits", &j->limits[i], -SAND_FAR, SAND_FAR)) return false;
    if (j->limits[0] > j->limits[1])
        return sand_build_wrong(b, "limits", "expected the smaller one first, got %g and %g: they cross", j->limits[0],
                                j->limits[1]);
    drive->low = unit * j->limits[0];
    drive->high = unit * j->limits[1];
    return true;
}

static bool read_motor(SandBuilder *b, const SandJointFileDef *j, double unit, SandDrive *drive) {
    const SandMotorFileDef *m = j->motor;
    if (!m) return true;
    if (!m->speed == !m->position) return sand_build_wrong(b, "motor", "expected one of speed and position");
    if (!sand_build_range(b, "motor.speed", m->speed, -SAND_FAST, SAND_FAST) ||
        !sand_build_range(b, "motor.position", m->position, -SAND_FAR, SAND_FAR) ||
        !sand_build_range(b, "motor.rate", m->rate, 0, SAND_FAST) ||
        !sand_build_range(b, "motor.fastest", m->fastest, 0, SAND_FAST) ||
        !sand_build_range(b, "motor.strength", m->strength, 0, MOST_FORCE))
        return false;
    drive->motor = m->speed ? SAND_MOTOR_SPEED : SAND_MOTOR_POSITION;
    drive->target = m->speed ? *m->speed : unit * *m->position;
    drive->rate = sand_number(m->rate, drive->rate);
    drive->speed = sand_number(m->fastest, drive->speed);
    drive->strength = sand_number(m->strength, drive->strength);
    return true;
}

static bool read_spring(SandBuilder *b, const SandJointFileDef *j, double unit, SandDrive *drive) {
    const SandSpringFileDef *s = j->spring;
    if (!s) return true;
    if (!sand_build_range(b, "spring.stiffness", s->stiffness, 0, MOST_FORCE) ||
        !sand_build_range(b, "spring.damping", s->damping, 0, MOST_FORCE) ||
        !sand_build_range(b, "spring.rest", s->rest, -SAND_FAR, SAND_FAR))
        return false;
    drive->stiffness = sand_number(s->stiffness, 0);
    drive->damping = sand_number(s->damping, 0);
    if (s->rest) drive->rest = unit * *s->rest;
    return true;
}

// Angles are in degrees.
static bool read_drive(SandBuilder *b, const SandJointFileDef *j, SandJointDef *def) {
    double unit = j->kind == SAND_JOINT_HINGE ? SAND_DEGREE : 1;
    return read_limits(b, j, unit, &def->drive) && read_motor(b, j, unit, &def->drive) &&
           read_spring(b, j, unit, &def->drive);
}

// ---- joints ----

static bool build_joint(SandBuilder *b, int index) {
    const SandJointFileDef *j = &b->def->joints[index];
    SandJointDef def = sand_default_joint();
    SandError reason;
    snprintf(b->path, sizeof b->path, "joints[%d]", index);
    def.kind = j->kind;
    def.collide = j->collide && *j->collide;
    if (!check_keys(b, j) || (j->a && (def.a = sand_build_find_body(b, j->a, "a", "join")) < 0) ||
        (def.b = sand_build_find_body(b, j->b, "b", "join")) < 0)
        return false;
    if (!read_places(b, j, &def) || !read_drive(b, j, &def)) return false;
    if (j->name) snprintf(def.name, sizeof def.name, "%s", j->name);
    return sand_world_add_joint(b->world, &def, &reason) >= 0 || sand_build_wrong(b, "", "%s", reason.text);
}

bool sand_build_joints(SandBuilder *b) {
    for (uint32_t i = 0; i < b->def->joints_count; i++)
        if (!build_joint(b, (int)i)) return false;
    return true;
}
