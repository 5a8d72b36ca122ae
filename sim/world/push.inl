// SPDX-License-Identifier: MIT
// What the forces and torques on a body do to it in a step (SandWorld.force, SandWorld.torque); one source for the CPU and
// the GPU. They are there for all bodies or for none, so that a world without any asks one pointer.
#pragma once
#include "sandglass/world.h"

// Whether a force or a torque acts on a body in the coming step.
SAND_HOST_DEVICE bool body_is_pushed(const SandWorld *w, int body) {
    return (w->force && v3_dot(w->force[body], w->force[body]) > 0) ||
           (w->torque && v3_dot(w->torque[body], w->torque[body]) > 0);
}

// The acceleration that the force on a body gives it beside gravity, m/s^2.
SAND_HOST_DEVICE SandVec3 push_acceleration(const SandWorld *w, int body) {
    return w->force ? v3_scale(1 / w->mass[body], w->force[body]) : v3_make(0, 0, 0);
}

// A speed that force and torque together give to no point within `size` (m) of the center of a body in the step, m/s.
SAND_HOST_DEVICE double push_speed(const SandWorld *w, int body, double size) {
    double speed = w->force ? w->step * v3_length(push_acceleration(w, body)) : 0;
    if (!w->torque) return speed;
    SandVec3 inertia = w->inertia[body];
    return speed + w->step * size * v3_length(w->torque[body]) / fmin(inertia.x, fmin(inertia.y, inertia.z));
}
