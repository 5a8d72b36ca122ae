// SPDX-License-Identifier: MIT
// Adding joints to a world.
#include "sim/world/joint.h"

#include "sim/core/array.h"

#include <string.h>

const char *sand_joint_kind_name(SandJointKind kind) {
    static const char *const names[SAND_JOINT_KINDS] = {"ball",  "hinge",    "slider", "universal",
                                                        "fixed", "distance", "rod",    "rope"};
    return kind >= 0 && kind < SAND_JOINT_KINDS ? names[kind] : "unknown";
}

SandJointDef sand_default_joint(void) {
    return (SandJointDef){
        .kind = SAND_JOINT_BALL,
        .a = -1,
        .axis = {0, 0, 1},
        .axis_b = {1, 0, 0},
        .drive = {.low = -INFINITY, .high = INFINITY, .rate = 10, .speed = INFINITY, .strength = INFINITY, .rest = NAN}};
}

static bool is_tie(SandJointKind kind) {
    return kind == SAND_JOINT_DISTANCE || kind == SAND_JOINT_ROD || kind == SAND_JOINT_ROPE;
}

static bool check_bodies(const SandWorld *w, SandJointKind kind, int a, int b, int joint, SandError *error) {
    if ((int)kind < 0 || kind >= SAND_JOINT_KINDS) return sand_fail(error, "joint %d: there is no such kind", joint);
    if (a < -1 || a >= w->body_count) return sand_fail(error, "joint %d: there is no body %d", joint, a);
    if (b < 0 || b >= w->body_count) return sand_fail(error, "joint %d: there is no body %d", joint, b);
    return a != b || sand_fail(error, "joint %d joins body %d to itself", joint, a);
}

static bool check_geometry(const SandJointDef *def, int joint, SandError *error) {
    if (!v3_finite(def->anchor) || !v3_finite(def->anchor_b) || !v3_finite(def->axis) || !v3_finite(def->axis_b))
        return sand_fail(error, "joint %d: anchors and axes must be finite", joint);
    double a = v3_length(def->axis), b = v3_length(def->axis_b);
    if (!(a > 1e-12)) return sand_fail(error, "joint %d: the axis has length 0", joint);
    if (def->kind == SAND_JOINT_UNIVERSAL && !(b > 1e-12))
        return sand_fail(error, "joint %d: the second axis has length 0", joint);
    if (def->kind == SAND_JOINT_UNIVERSAL && fabs(v3_dot(def->axis, def->axis_b)) > 1e-6 * a * b)
        return sand_fail(error, "joint %d: the two axes must be at a right angle", joint);
    if ((def->kind == SAND_JOINT_ROD || def->kind == SAND_JOINT_ROPE) &&
        !(v3_length(v3_sub(def->anchor_b, def->anchor)) > 1e-9))
        return sand_fail(error, "joint %d: a %s needs two ends that are apart", joint, sand_joint_kind_name(def->kind));
    return true;
}

static bool check_drive(SandJointKind kind, const SandDrive *d, int joint, SandError *error) {
    bool idle =
        d->low == -INFINITY && d->high == INFINITY && d->motor == SAND_MOTOR_NONE && d->stiffness == 0 && d->damping == 0;
    if (idle) return true;
    if (kind != SAND_JOINT_HINGE && kind != SAND_JOINT_SLIDER && kind != SAND_JOINT_DISTANCE)
        return sand_fail(error, "joint %d: a %s joint has no limits, motor or spring; hinge, slider and distance have",
                         joint, sand_joint_kind_name(kind));
    if ((int)d->motor < SAND_MOTOR_NONE || d->motor > SAND_MOTOR_POSITION)
        return sand_fail(error, "joint %d: there is no motor of kind %d", joint, (int)d->motor);
    if (!(d->low <= d->high)) return sand_fail(error, "joint %d: its limits %g and %g cross", joint, d->low, d->high);
    const double turn = 6.28318530717958647692;
    if (kind == SAND_JOINT_HINGE && d->high - d->low >= turn && d->high - d->low < INFINITY)
        return sand_fail(error, "joint %d: the limits of a hinge must be less than a turn apart", joint);
    if (!isfinite(d->target) || !isfinite(d->rest) || !(d->rate >= 0) || !(d->speed >= 0) || !(d->strength >= 0))
        return sand_fail(error, "joint %d: target and rest must be finite, rate, speed and strength not below 0", joint);
    if (!isfinite(d->stiffness) || !isfinite(d->damping) || d->stiffness < 0 || d->damping < 0)
        return sand_fail(error, "joint %d: stiffness and damping must be finite and not below 0", joint);
    return true;
}

bool sand_joint_check(const SandWorld *w, int joint, SandError *error) {
    const SandJoint *j = &w->joints[joint];
    if (!check_bodies(w, j->kind, j->a, j->b, joint, error) || !check_drive(j->kind, &j->drive, joint, error)) return false;
    SandQuat rest = j->rest;
    return (v3_finite(j->anchor_a) && v3_finite(j->anchor_b) && v3_finite(j->axis_a) && v3_finite(j->axis_b) &&
            isfinite(rest.w + rest.x + rest.y + rest.z)) ||
           sand_fail(error, "joint %d: anchors, axes and rest must be finite", joint);
}

static bool check_name(const SandWorld *w, const SandJointDef *def, int joint, SandError *error) {
    if (!memchr(def->name, 0, sizeof def->name)) return sand_fail(error, "the name of joint %d does not end", joint);
    int other = sand_world_find_joint(w, def->name);
    return other < 0 || sand_fail(error, "joint %d: joint %d has the name %s already", joint, other, def->name);
}

// Inserts a pair of bodies among those that do not collide.
static bool keep_apart(SandWorld *w, int a, int b, SandError *error) {
    if (a < 0 || sand_world_apart(w, a, b)) return true;
    if (!SAND_GROW(w->apart, w->apart_capacity, w->apart_count + 1, "joints", error)) return false;
    uint64_t pair = (uint64_t)(a < b ? a : b) << 32 | (uint64_t)(a < b ? b : a);
    int at = w->apart_count++;
    for (; at > 0 && w->apart[at - 1] > pair; at--) w->apart[at] = w->apart[at - 1];
    w->apart[at] = pair;
    return true;
}

bool sand_world_keep_apart(SandWorld *world, int body_a, int body_b, SandError *error) {
    int least = body_a < body_b ? body_a : body_b, most = body_a < body_b ? body_b : body_a;
    if (least < 0 || most >= world->body_count || least == most)
        return sand_fail(error, "bodies %d and %d are no pair; the world has %d", body_a, body_b, world->body_count);
    return keep_apart(world, body_a, body_b, error);
}

static SandVec3 into_body(const SandWorld *w, int body, SandVec3 point) {
    return body < 0 ? point : q_unrotate(w->rotation[body], v3_sub(point, w->position[body]));
}
static SandVec3 axis_in(const SandWorld *w, int body, SandVec3 axis) {
    SandVec3 unit = v3_scale(1 / v3_length(axis), axis);
    return body < 0 ? unit : q_unrotate(w->rotation[body], unit);
}

// The joint in the frames of its bodies. Rod and rope are distances with limits.
static SandJoint joint_of(const SandWorld *w, const SandJointDef *def) {
    bool two = def->kind == SAND_JOINT_UNIVERSAL, tie = is_tie(def->kind);
    SandQuat a = def->a < 0 ? q_identity() : w->rotation[def->a];
    SandJoint j = {.kind = tie ? SAND_JOINT_DISTANCE : def->kind,
                   .a = def->a,
                   .b = def->b,
                   .anchor_a = into_body(w, def->a, def->anchor),
                   .anchor_b = into_body(w, def->b, tie ? def->anchor_b : def->anchor),
                   .axis_a = axis_in(w, def->a, def->axis),
                   .axis_b = axis_in(w, def->b, two ? def->axis_b : def->axis),
                   .rest = q_mul(q_conjugate(a), w->rotation[def->b]),
                   .drive = def->drive};
    double length = v3_length(v3_sub(def->anchor_b, def->anchor));
    memcpy(j.name, def->name, sizeof j.name);
    if (def->kind == SAND_JOINT_ROD) j.drive.low = j.drive.high = length;
    if (def->kind == SAND_JOINT_ROPE) j.drive.high = length;
    return j;
}

// Where a spring rests unless it was said: where the bodies are.
static SandJointDef settle_spring(SandJointDef def) {
    bool is_length = def.kind == SAND_JOINT_DISTANCE && (def.drive.stiffness > 0 || def.drive.damping > 0);
    if (isnan(def.drive.rest)) def.drive.rest = is_length ? v3_length(v3_sub(def.anchor_b, def.anchor)) : 0;
    return def;
}

int sand_world_add_joint(SandWorld *world, const SandJointDef *given, SandError *error) {
    const SandJointDef settled = settle_spring(*given), *def = &settled;
    int joint = world->joint_count;
    if (!check_bodies(world, def->kind, def->a, def->b, joint, error) || !check_geometry(def, joint, error) ||
        !check_drive(def->kind, &def->drive, joint, error) || !check_name(world, def, joint, error) ||
        !SAND_GROW(world->joints, world->joint_capacity, joint + 1, "joints", error) ||
        (!def->collide && !keep_apart(world, def->a, def->b, error)))
        return -1;
    world->joints[joint] = joint_of(world, def);
    return world->joint_count++;
}

// Whether there is a joint with a coordinate, and its bodies; an edit that no step has seen yet may name others.
static bool has_coordinate(const SandWorld *world, int joint) {
    if (joint < 0 || joint >= world->joint_count) return false;
    const SandJoint *j = &world->joints[joint];
    return j->a < world->body_count && j->b >= 0 && j->b < world->body_count && sand_joint_has_coordinate(j);
}

double sand_joint_coordinate(const SandWorld *world, int joint) {
    if (!has_coordinate(world, joint)) return 0;
    const SandJoint *j = &world->joints[joint];
    SandJointSide a = sand_joint_side_a(world, j), b = sand_joint_side_b(world, j);
    return sand_joint_position(j, &a, &b, 0);
}

// The rate of sand_joint_position. That the axis of a slider turns with a does not matter: the anchors are on it.
double sand_joint_speed(const SandWorld *world, int joint) {
    if (!has_coordinate(world, joint)) return 0;
    const SandJoint *j = &world->joints[joint];
    SandJointSide a = sand_joint_side_a(world, j), b = sand_joint_side_b(world, j);
    SandVec3 apart = v3_sub(b.anchor, a.anchor);
    SandVec3 u = v3_sub(v3_add(b.velocity, v3_cross(b.spin, b.arm)), v3_add(a.velocity, v3_cross(a.spin, a.arm)));
    if (j->kind == SAND_JOINT_HINGE) return v3_dot(v3_sub(b.spin, a.spin), a.axis);
    if (j->kind == SAND_JOINT_SLIDER) return v3_dot(u, a.axis);
    return v3_dot(u, v3_unit_or(apart, a.axis));
}
