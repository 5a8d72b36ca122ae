// SPDX-License-Identifier: MIT
// From a joint to the blocks of the contact problem, one source for the CPU and the GPU. docs/problem.md has the rows of
// each kind. Block k of a joint is first what holds the bodies together (a point block, an angular block), then what acts on
// its coordinate; the first action shares the last block that holds.
//
// The bias of a bilateral row undoes drift by the rule of penetrations, and has one term more: what moves on an arc leaves
// its tangent by some h^2 / 2 of its centripetal acceleration in a step. The first solve of a step has that of the spin
// before it, so that what is left to undo is of third order in h; a second (joint_passes) that of the spin which the first
// one found (tests/physics/test_joints_motion.c).
#pragma once
#include "sandglass/problem.h"
#include "sim/collision/collide.h"
#include "sim/step/rotation.inl"
#include "sim/world/joint.h"

// A block, as seen from a to b of the joint.
typedef struct JointBlock {
    SandVec3 normal, arm_a, arm_b;
    SandJointRows rows;
} JointBlock;

// How far the end of an arm leaves its tangent in a step of h, as an acceleration: the centripetal one and what higher
// orders add. Exact for a turn with this spin.
SAND_HOST_DEVICE SandVec3 arc_of(SandVec3 spin, SandVec3 arm, double h) {
    SandVec3 moved = q_rotate(q_turn(v3_scale(h, spin)), arm);
    return v3_scale(2 / (h * h), v3_sub(v3_sub(moved, arm), v3_scale(h, v3_cross(spin, arm))));
}

// The bias that undoes a drift. Angles are undone as distances at an arm of 1 m.
SAND_HOST_DEVICE double drift_bias(SandRecovery r, double drift, double step) {
    return drift < 0 ? sand_recovery_bias(r, drift, step) : -sand_recovery_bias(r, -drift, step);
}
SAND_HOST_DEVICE SandVec3 drift_bias_of(SandRecovery r, SandVec3 drift, double step) {
    double size = v3_length(drift);
    return size > 0 ? v3_scale(drift_bias(r, size, step) / size, drift) : drift;
}

// The coordinate from which an angle is counted within half a turn.
SAND_HOST_DEVICE double action_middle(const SandDrive *d, SandAction action) {
    if (action == SAND_ACT_MOTOR) return d->motor == SAND_MOTOR_POSITION ? d->target : 0;
    if (action == SAND_ACT_SPRING) return d->rest;
    bool two = d->low > -INFINITY && d->high < INFINITY;
    return two ? 0.5 * (d->low + d->high) : d->low > -INFINITY ? d->low : d->high;
}

// An implicit spring and damper: the impulse is g = -h (k (q + h u) + c u), so that u + k q / (h k + c) + g / (h (h k + c))
// is zero.
SAND_HOST_DEVICE double spring_rows(const SandDrive *d, double q, double h, SandJointRows *rows) {
    double resistance = h * d->stiffness + d->damping;
    rows->compliance = 1 / (h * resistance);
    return d->stiffness * (q - d->rest) / resistance;
}

// A motor that wants a speed; on its way to a position, that of an exponential approach.
SAND_HOST_DEVICE double motor_rows(const SandDrive *d, double q, double h, SandJointRows *rows) {
    rows->high = h * d->strength;
    rows->low = -rows->high;
    if (d->motor == SAND_MOTOR_SPEED) return -d->target;
    double wanted = d->rate / (1 + h * d->rate) * (d->target - q); // that of an implicit step
    return -fmin(fmax(wanted, -d->speed), d->speed);
}

// Sets the row along the axis to an action on the coordinate q, which deviates from its rate by `arc` in a step; returns its
// bias.
SAND_HOST_DEVICE double action_rows(const SandDrive *d, SandAction action, SandRecovery r, double q, double arc, double h,
                                    SandJointRows *rows) {
    rows->low = action == SAND_ACT_LOW ? 0 : -INFINITY;
    rows->high = action == SAND_ACT_HIGH ? 0 : INFINITY;
    switch (action) {
    case SAND_ACT_HOLD: return drift_bias(r, q - d->low, h) + arc;
    case SAND_ACT_LOW: return sand_recovery_bias(r, q - d->low, h) + arc;
    case SAND_ACT_HIGH: return arc - sand_recovery_bias(r, d->high - q, h);
    case SAND_ACT_MOTOR: return motor_rows(d, q, h, rows);
    case SAND_ACT_SPRING: return spring_rows(d, q, h, rows);
    default: rows->low = rows->high = 0; return 0;
    }
}

// The anchors coincide: ball, hinge, universal, fixed.
SAND_HOST_DEVICE JointBlock anchor_block(const SandJointSide *a, const SandJointSide *b, SandRecovery r, double h) {
    SandVec3 arc = v3_sub(arc_of(b->spin, b->arm, h), arc_of(a->spin, a->arm, h));
    JointBlock block = {.normal = a->axis, .arm_a = a->arm, .arm_b = b->arm};
    block.rows.low = -INFINITY;
    block.rows.high = block.rows.across = INFINITY;
    block.rows.bias = v3_madd(drift_bias_of(r, v3_sub(b->anchor, a->anchor), h), 0.5 * h, arc);
    return block;
}

// b stays on the axis of a, which turns with a: the arm of a reaches to the anchor of b.
SAND_HOST_DEVICE JointBlock slide_block(const SandJointSide *a, const SandJointSide *b, SandRecovery r, double h) {
    SandVec3 apart = v3_sub(b->anchor, a->anchor), reach = v3_sub(b->anchor, a->center);
    SandVec3 motion = v3_sub(v3_add(b->velocity, v3_cross(b->spin, b->arm)), a->velocity);
    SandVec3 arc = v3_add(arc_of(a->spin, reach, h), arc_of(b->spin, b->arm, h));
    arc = v3_madd(v3_scale(0.5, arc), -1, v3_cross(a->spin, motion));
    SandVec3 drift = v3_madd(apart, -v3_dot(apart, a->axis), a->axis);
    JointBlock block = {.normal = a->axis, .arm_a = reach, .arm_b = b->arm};
    block.rows.across = INFINITY;
    block.rows.bias = v3_madd(drift_bias_of(r, drift, h), h, arc);
    return block;
}

// The axes of a hinge stay together.
SAND_HOST_DEVICE JointBlock axis_block(const SandJointSide *a, const SandJointSide *b, SandRecovery r, double h) {
    SandVec3 arc = v3_sub(arc_of(b->spin, b->axis, h), arc_of(a->spin, a->axis, h));
    JointBlock block = {.normal = a->axis};
    block.rows.angular = true;
    block.rows.across = INFINITY;
    block.rows.bias = v3_madd(drift_bias_of(r, v3_cross(a->axis, b->axis), h), 0.5 * h, v3_cross(a->axis, arc));
    return block;
}

// b keeps its rotation relative to a: slider, fixed.
SAND_HOST_DEVICE JointBlock rotation_block(const SandJoint *j, const SandJointSide *a, const SandJointSide *b,
                                           SandRecovery r, double h) {
    SandQuat off = q_mul(b->rotation, q_conjugate(q_mul(a->rotation, j->rest)));
    JointBlock block = {.normal = a->axis};
    block.rows.angular = true;
    block.rows.low = -INFINITY;
    block.rows.high = block.rows.across = INFINITY;
    block.rows.bias = drift_bias_of(r, q_log(off), h);
    return block;
}

// The two axes of a universal joint stay at a right angle: no turn about the third.
SAND_HOST_DEVICE JointBlock cross_block(const SandJointSide *a, const SandJointSide *b, SandRecovery r, double h) {
    SandVec3 third = v3_cross(a->axis, b->axis);
    double length = fmax(v3_length(third), 1e-9);
    double arc = v3_dot(a->axis, arc_of(b->spin, b->axis, h)) + v3_dot(b->axis, arc_of(a->spin, a->axis, h)) +
                 2 * v3_dot(v3_cross(a->spin, a->axis), v3_cross(b->spin, b->axis));
    JointBlock block = {.normal = v3_unit_or(third, a->axis)};
    block.rows.angular = true;
    block.rows.low = -INFINITY;
    block.rows.high = INFINITY;
    double bias = drift_bias(r, -v3_dot(a->axis, b->axis) / length, h) - 0.5 * h * arc / length;
    block.rows.bias = v3_scale(bias, block.normal);
    return block;
}

// A block along the line between two anchors, whose distance is the coordinate; `arc` is how much it grows in a step by
// turning alone.
SAND_HOST_DEVICE JointBlock line_block(const SandJointSide *a, const SandJointSide *b, double h, double *arc) {
    SandVec3 apart = v3_sub(b->anchor, a->anchor), n = v3_unit_or(apart, a->axis);
    SandVec3 u = v3_sub(v3_add(b->velocity, v3_cross(b->spin, b->arm)), v3_add(a->velocity, v3_cross(a->spin, a->arm)));
    SandVec3 turn = v3_sub(arc_of(b->spin, b->arm, h), arc_of(a->spin, a->arm, h));
    double along = v3_dot(u, n), length = fmax(v3_length(apart), 1e-9);
    *arc = 0.5 * h * ((v3_dot(u, u) - along * along) / length + v3_dot(n, turn));
    JointBlock block = {.normal = n, .arm_a = a->arm, .arm_b = b->arm};
    return block;
}

// What holds the bodies together; `number` is below sand_joint_holds.
SAND_HOST_DEVICE JointBlock partition_block(const SandJoint *j, const SandJointSide *a, const SandJointSide *b, int number,
                                            SandRecovery r, double h) {
    if (j->kind == SAND_JOINT_SLIDER) return number ? slide_block(a, b, r, h) : rotation_block(j, a, b, r, h);
    if (number == 0) return anchor_block(a, b, r, h);
    if (j->kind == SAND_JOINT_HINGE) return axis_block(a, b, r, h);
    return j->kind == SAND_JOINT_UNIVERSAL ? cross_block(a, b, r, h) : rotation_block(j, a, b, r, h);
}

// A block for an action alone: along the coordinate of the joint.
SAND_HOST_DEVICE JointBlock bare_block(const SandJoint *j, const SandJointSide *a, const SandJointSide *b, double h,
                                       double *arc) {
    *arc = 0;
    if (j->kind == SAND_JOINT_DISTANCE) return line_block(a, b, h, arc);
    JointBlock block = {.normal = a->axis};
    block.rows.angular = j->kind == SAND_JOINT_HINGE;
    if (block.rows.angular) return block;
    block.arm_a = v3_sub(b->anchor, a->center);
    block.arm_b = b->arm;
    return block;
}

// Block `number` of a joint, of bodies that move like this.
SAND_HOST_DEVICE JointBlock joint_block(const SandJoint *j, const SandJointSide *a, const SandJointSide *b, int number,
                                        SandRecovery r, double h) {
    int holds = sand_joint_holds(j), first = holds ? holds - 1 : 0; // the block of the first action
    double arc = 0;
    JointBlock block = number < holds ? partition_block(j, a, b, number, r, h) : bare_block(j, a, b, h, &arc);
    SandAction action = number >= first ? sand_joint_action(j, number - first) : SAND_ACT_NONE;
    if (action == SAND_ACT_NONE) return block;
    double q = sand_joint_position(j, a, b, action_middle(&j->drive, action));
    double bias = action_rows(&j->drive, action, r, q, arc, h, &block.rows);
    block.rows.bias = v3_madd(block.rows.bias, bias - v3_dot(block.rows.bias, block.normal), block.normal);
    return block;
}

// The joint that a candidate is a block of.
SAND_HOST_DEVICE const SandJoint *candidate_joint(const SandWorld *w, const SandContactCandidate *candidate) {
    return &w->joints[candidate->key.other & ~SAND_JOINT_BIT];
}

// The velocity of a body, and its mean spin in the step.
typedef struct BodyMotion {
    SandVec3 velocity, spin;
} BodyMotion;

// How a body moves as far as it is known before the step; the world, body -1, stands still.
SAND_HOST_DEVICE BodyMotion known_motion(const SandWorld *w, int body) {
    BodyMotion motion = {{0, 0, 0}, {0, 0, 0}};
    if (body < 0) return motion;
    motion.velocity = w->velocity[body];
    motion.spin = v3_add(w->spin[body], gyroscopic_change(w, body));
    return motion;
}

SAND_HOST_DEVICE SandJointSide moving_side(SandJointSide side, BodyMotion motion) {
    side.velocity = motion.velocity;
    side.spin = motion.spin;
    return side;
}

// The block that a candidate stands for, as a contact of the problem; its rows go to `rows`. Bodies a and b of the joint
// move like this. The problem orders bodies by their solver index: where that is not the order of the joint, everything is
// seen from the other side.
SAND_HOST_DEVICE SandContact joint_contact(const SandWorld *w, const SandCollision *collision,
                                           const SandContactCandidate *candidate, SandRecovery r, BodyMotion a, BodyMotion b,
                                           SandJointRows *rows) {
    const SandJoint *j = candidate_joint(w, candidate);
    SandJointSide side_a = moving_side(sand_joint_side_a(w, j), a), side_b = moving_side(sand_joint_side_b(w, j), b);
    JointBlock block = joint_block(j, &side_a, &side_b, (int)candidate->key.feature, r, w->step);
    bool swapped = collision->body[candidate->index_a] != j->a;
    SandContact c = {.a = candidate->index_a,
                     .b = candidate->b < 0 ? collision->body_count - 1 - candidate->b : candidate->b,
                     .normal = swapped ? v3_neg(block.normal) : block.normal,
                     .arm_a = swapped ? block.arm_b : block.arm_a,
                     .arm_b = swapped ? block.arm_a : block.arm_b};
    *rows = block.rows;
    if (swapped) rows->bias = v3_neg(rows->bias);
    return c;
}

// The same, as it is known before the step.
SAND_HOST_DEVICE SandContact known_joint_contact(const SandWorld *w, const SandCollision *collision,
                                                 const SandContactCandidate *candidate, SandRecovery r,
                                                 SandJointRows *rows) {
    const SandJoint *j = candidate_joint(w, candidate);
    return joint_contact(w, collision, candidate, r, known_motion(w, j->a), known_motion(w, j->b), rows);
}

// How much the last impulse of a block, at the end of the arm of one of its bodies, resists turns of that body: N m s, not
// below 0.
SAND_HOST_DEVICE double joint_tension(const SandContact *c, SandVec3 impulse, bool second) {
    double tension = second ? v3_dot(impulse, c->arm_b) : -v3_dot(impulse, c->arm_a);
    return tension > 0 ? tension : 0;
}

// The inverse inertia of a body under tension, xx, yy, zz, xy, xz, yz. A force f at the end of an arm r resists turns like a
// spring of stiffness f . r, which a step takes no account of: the direction of a joint is that at its beginning. Light
// links under a heavy load then swing with more than 2 / h, and a step blows them up. So moments of inertia are lifted to
// h^2 f . r where they are below: no link swings faster than 1 / h. `least` is that bound.
SAND_HOST_DEVICE void lifted_inertia(const SandWorld *w, int body, double least, double *inverse) {
    SandVec3 j = w->inertia[body];
    if (j.x >= least && j.y >= least && j.z >= least) return;
    SandVec3 per = v3_make(1 / fmax(j.x, least), 1 / fmax(j.y, least), 1 / fmax(j.z, least));
    SandMat3 m = m3_rotated_diagonal(q_matrix(w->rotation[body]), per);
    const double full[6] = {m.m[0][0], m.m[1][1], m.m[2][2], m.m[0][1], m.m[0][2], m.m[1][2]};
    for (int k = 0; k < 6; k++) inverse[k] = full[k];
}
