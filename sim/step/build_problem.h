// SPDX-License-Identifier: MIT
// Building the contact problem on the host, from the bodies and the contact candidates of a step.
#pragma once
#include "sim/core/thread_pool.h"
#include "sim/step/backend.h"

// Sizes the problem for the contact candidates of the host state. False when memory is out.
bool sand_problem_reserve(SandHostState *host, SandError *error);

// Fills bodies and contacts of the problem from the world as it is. After sand_problem_reserve.
void sand_problem_build(SandHostState *host, SandThreadPool *pool);

// Moves the joints on the arcs of the solution, which becomes the start of another solve (joint_passes).
void sand_problem_renew_joints(SandHostState *host);

// Fills the contacts as they were before the step, by where the bodies of the problem are. For a device that has moved the
// bodies of the world; those of the problem are read from it, as are the blocks of joints, which depend on more than places.
void sand_problem_rebuild_contacts(SandHostState *host, SandThreadPool *pool);
