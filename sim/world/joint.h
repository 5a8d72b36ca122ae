// SPDX-License-Identifier: MIT
// The geometry of a joint: where its anchors and axes are, its coordinate, and how many blocks of rows it has. One source
// for CPU and GPU.
#pragma once
#include "sandglass/world.h"

#ifdef __cplusplus
extern "C" {
#endif
// Checks a joint of the world, whose bodies and drive a caller may have changed.
bool sand_joint_check(const SandWorld *world, int joint, SandError *error);
#ifdef __cplusplus
}
#endif

// What acts on the coordinate of a joint, each with a row of its own.
typedef enum SandAction {
    SAND_ACT_NONE,
    SAND_ACT_HOLD,
    SAND_ACT_LOW,
    SAND_ACT_HIGH,
    SAND_ACT_MOTOR,
    SAND_ACT_SPRING
} SandAction;

SAND_HOST_DEVICE bool sand_joint_has_coordinate(const SandJoint *j) {
    return j->kind == SAND_JOINT_HINGE || j->kind == SAND_JOINT_SLIDER || j->kind == SAND_JOINT_DISTANCE;
}

// The action with this number among those that the joint has; SAND_ACT_NONE behind the last.
SAND_HOST_DEVICE SandAction sand_joint_action(const SandJoint *j, int number) {
    const SandDrive *d = &j->drive;
    const bool acts[] = {d->low == d->high, d->low < d->high && d->low > -INFINITY,
                         d->low < d->high && d->high<INFINITY, d->motor != SAND_MOTOR_NONE, d->stiffness> 0 ||
                             d->damping > 0};
    if (!sand_joint_has_coordinate(j)) return SAND_ACT_NONE;
    for (int k = 0; k < 5; k++)
        if (acts[k] && number-- == 0) return (SandAction)(SAND_ACT_HOLD + k);
    return SAND_ACT_NONE;
}

// Blocks that hold the bodies together. The last of them has room for one action along its axis.
SAND_HOST_DEVICE int sand_joint_holds(const SandJoint *j) {
    return j->kind == SAND_JOINT_BALL ? 1 : j->kind == SAND_JOINT_DISTANCE ? 0 : 2;
}

// Blocks of the joint: those that hold it, and one for each action beyond the first.
SAND_HOST_DEVICE int sand_joint_blocks(const SandJoint *j) {
    int actions = 0;
    while (sand_joint_action(j, actions) != SAND_ACT_NONE) actions++;
    int shared = sand_joint_holds(j) && actions ? 1 : 0;
    return sand_joint_holds(j) + actions - shared;
}

// A body as a joint sees it; the world stands still.
typedef struct SandJointSide {
    SandVec3 center, anchor; // m, world frame
    SandVec3 arm, axis;      // from the center to the anchor
    SandQuat rotation;
    SandVec3 velocity, spin;
} SandJointSide;

SAND_HOST_DEVICE SandJointSide sand_joint_side(const SandWorld *w, int body, SandVec3 anchor, SandVec3 axis) {
    SandJointSide s = {{0, 0, 0}, anchor, anchor, axis, {1, 0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    if (body < 0) return s;
    s.center = w->position[body];
    s.rotation = w->rotation[body];
    s.velocity = w->velocity[body];
    s.spin = w->spin[body];
    s.arm = q_rotate(s.rotation, anchor);
    s.anchor = v3_add(s.center, s.arm);
    s.axis = q_rotate(s.rotation, axis);
    return s;
}
SAND_HOST_DEVICE SandJointSide sand_joint_side_a(const SandWorld *w, const SandJoint *j) {
    return sand_joint_side(w, j->a, j->anchor_a, j->axis_a);
}
SAND_HOST_DEVICE SandJointSide sand_joint_side_b(const SandWorld *w, const SandJoint *j) {
    return sand_joint_side(w, j->b, j->anchor_b, j->axis_b);
}

// An angle that differs from this one by whole turns and lies within half a turn of `near`.
SAND_HOST_DEVICE double sand_angle_near(double angle, double near) {
    const double turn = 6.28318530717958647692;
    return angle - turn * floor((angle - near) / turn + 0.5);
}

// The angle of b about the axis of a, of the turn nearest to `near`.
SAND_HOST_DEVICE double sand_hinge_angle(const SandJoint *j, const SandJointSide *a, const SandJointSide *b, double near) {
    SandQuat q = q_mul(q_mul(q_conjugate(a->rotation), b->rotation), q_conjugate(j->rest));
    return sand_angle_near(2 * atan2(v3_dot(v3_make(q.x, q.y, q.z), j->axis_a), q.w), near);
}

// The coordinate of a joint; an angle is that nearest to `near`.
SAND_HOST_DEVICE double sand_joint_position(const SandJoint *j, const SandJointSide *a, const SandJointSide *b,
                                            double near) {
    SandVec3 apart = v3_sub(b->anchor, a->anchor);
    if (j->kind == SAND_JOINT_HINGE) return sand_hinge_angle(j, a, b, near);
    return j->kind == SAND_JOINT_SLIDER ? v3_dot(apart, a->axis) : v3_length(apart);
}
