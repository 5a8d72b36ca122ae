// SPDX-License-Identifier: MIT
// The motion of a body after the solve, from what the solver kernels leave.
#pragma once
#include "sandglass/problem.h"
#include "sim/step/joint_rows.inl"

struct VelocityChange { // what the impulses make of a body: a Body of the solver kernels
    float v[4], w[4];
};

// The velocity of a body of the problem after the solve, and its mean spin.
static __device__ BodyMotion solved_motion(const SandProblemBody *free, const VelocityChange *change, int k) {
    const VelocityChange c = change[k];
    BodyMotion motion = {v3_add(free[k].velocity, v3_make(c.v[0], c.v[1], c.v[2])),
                         v3_add(free[k].spin, v3_make(c.w[0], c.w[1], c.w[2]))};
    return motion;
}
