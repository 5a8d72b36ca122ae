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

// Position and speed of a joint whose bodies a and b move like this; a does not matter where it is the world. They are asked
// of a world of these two alone.
static SandJointState state_of(const SandJoint *joint, const SandBodyState side[2]) {
    SandJoint j = *joint;
    SandVec3 position[] = {side[0].position, side[1].position}, velocity[] = {side[0].velocity, side[1].velocity};
    SandVec3 spin[] = {side[0].spin, side[1].spin};
    SandQuat rotation[] = {side[0].rotation, side[1].rotation};
    SandWorld pair = {.body_count = 2,
                      .position = position,
                      .rotation = rotation,
                      .velocity = velocity,
                      .spin = spin,
                      .joint_count = 1,
                      .joints = &j};
    j.a = j.a < 0 ? -1 : 0;
    j.b = 1;
    return (SandJointState){.position = sand_joint_coordinate(&pair, 0), .speed = sand_joint_speed(&pair, 0), .motor = NAN};
}

bool sand_simulation_read_joint(SandSimulation *sim, int joint, SandJointState *to, SandError *error) {
    const SandWorld *w = sand_simulation_world(sim);
    SandBodyState side[2] = {{.rotation = q_identity()}, {.rotation = q_identity()}};
    if (joint < 0 || joint >= w->joint_count) return sand_fail(error, "there is no joint %d", joint);
    const SandJoint *j = &w->joints[joint];
    if ((j->a >= 0 && !sand_simulation_read_body(sim, j->a, &side[0], error)) ||
        !sand_simulation_read_body(sim, j->b, &side[1], error))
        return false;
    *to = state_of(j, side);
    to->motor = sand_simulation_motor(sim, joint);
    return true;
}
