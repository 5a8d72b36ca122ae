// SPDX-License-Identifier: MIT
// Reading the rows of joints out of the contacts of a step, in the order of the joint's own bodies, and the force or torque
// of a motor.
#include "sim/step/joint_report.h"

#include "sim/world/joint.h"

static int joint_of(const SandContactCandidate *candidate) { return (int)(candidate->key.other & ~SAND_JOINT_BIT); }

// The problem has the body of the lower solver index first; a joint has its own order.
static SandJointRow read_row(const SandHostState *host, int i) {
    const SandContactCandidate *candidate = &host->collision.contacts[i];
    const SandJoint *j = &host->world.joints[joint_of(candidate)];
    double sign = host->collision.body[candidate->index_a] == j->a ? 1 : -1;
    return (SandJointRow){.contact = i,
                          .joint = joint_of(candidate),
                          .block = (int)candidate->key.feature,
                          .a = j->a,
                          .b = j->b,
                          .angular = sand_problem_joint(&host->problem, i)->angular,
                          .axis = v3_scale(sign, host->problem.contacts[i].normal),
                          .impulse = v3_scale(sign, host->solution.impulse[i])};
}

int sand_joint_report(const SandHostState *host, int contacts, SandJointRow *rows, int capacity) {
    int count = 0;
    for (int i = 0; i < contacts && host->problem.joint_count; i++) {
        if (!sand_problem_joint(&host->problem, i)) continue;
        if (count < capacity) rows[count] = read_row(host, i);
        count++;
    }
    return count;
}

// The block of a joint that has its motor, or -1.
static int motor_block(const SandJoint *j) {
    int first = sand_joint_holds(j) ? sand_joint_holds(j) - 1 : 0;
    for (int k = 0; sand_joint_action(j, k) != SAND_ACT_NONE; k++)
        if (sand_joint_action(j, k) == SAND_ACT_MOTOR) return first + k;
    return -1;
}

double sand_joint_motor(const SandHostState *host, int contacts, int joint) {
    const SandProblem *p = &host->problem;
    if (joint < 0 || joint >= host->world.joint_count) return NAN;
    int block = motor_block(&host->world.joints[joint]);
    for (int i = 0; i < contacts && block >= 0; i++) {
        const SandContactCandidate *candidate = &host->collision.contacts[i];
        if (!sand_problem_joint(p, i) || joint_of(candidate) != joint || (int)candidate->key.feature != block) continue;
        return v3_dot(host->solution.impulse[i], p->contacts[i].normal) / p->step;
    }
    return NAN;
}
