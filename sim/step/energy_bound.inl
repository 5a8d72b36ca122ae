// SPDX-License-Identifier: MIT
// The bound on the energy of a step, one source for the CPU and the GPU.
//
// Contacts change the kinetic energy by g'u + g'N g / 2, u their relative velocities before and g their impulses. Plastic
// contacts only take energy. What may add some is restitution, where several contacts act at once (those that part, or that
// slide, do not know of each other), and the speed at which penetrations are undone. So the velocities that a step keeps
// have a share s of the impulses: the largest up to 1 for which s g'u + s^2 g'N g / 2 is not above 0. Positions and
// rotations move with all of them. A share keeps the linear momentum, and the friction cone.
//
// The sums are over bodies, with v the free velocity and dv what the impulses changed: g'u = v'M dv, g'N g = dv'M dv. That
// is so where boundaries stand still, and joints, whose motors and springs may add energy, are not bound.
#pragma once
#include "sandglass/problem.h"
#include "sim/step/rotation.inl"

// The two sums, J.
typedef struct SandImpulseWork {
    double along, square; // g'u and g'N g
} SandImpulseWork;

// What a body adds to the sums, moved like this by the solve.
SAND_HOST_DEVICE SandImpulseWork body_work(const SandWorld *w, int body, const SandProblemBody *free, SandVec3 velocity,
                                           SandVec3 spin) {
    SandVec3 dv = v3_sub(velocity, free->velocity), dw = v3_sub(spin, free->spin);
    SandVec3 momentum = spin_momentum(w->inertia[body], w->rotation[body], dw);
    SandVec3 start = v3_sub(free->spin, gyroscopic_change(w, body));
    SandImpulseWork work = {w->mass[body] * v3_dot(free->velocity, dv) + v3_dot(start, momentum),
                            w->mass[body] * v3_dot(dv, dv) + v3_dot(dw, momentum)};
    return work;
}

// The share of the impulses whose effect on velocities is kept.
SAND_HOST_DEVICE double kept_share(SandImpulseWork work) {
    if (!(work.along + 0.5 * work.square > 0)) return 1;
    return work.along < 0 ? -2 * work.along / work.square : 0;
}
