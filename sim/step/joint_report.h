// SPDX-License-Identifier: MIT
// What the joints did in a step. Blocks of joints are solved among the contacts; here they are told apart again.
#pragma once
#include "sim/step/backend.h"

// Fills `rows`, at most `capacity`, with the blocks of joints among the first `contacts` of the problem of the host, in
// their order, and returns how many there are.
int sand_joint_report(const SandHostState *host, int contacts, SandJointRow *rows, int capacity);

// The force or torque of the motor of a joint: sand_simulation_motor.
double sand_joint_motor(const SandHostState *host, int contacts, int joint);
