// SPDX-License-Identifier: MIT
// Reads torque and slip of each wheel from the last step.
#include "app/engine/wheels.h"

#include <math.h>
#include <stdio.h>

static const double STANDS = 0.02; // m/s, of the rim: below it a wheel has no slip to speak of

// The radius of a wheel: how far its shape reaches across the axis.
static double wheel_radius(const SandWorld *world, const SandJoint *joint) {
    const SandShape *shape = &world->shapes[world->shape[joint->b]];
    SandVec3 half = shape->half, axis = joint->axis_b;
    if (shape->sphere_count) return world->scale[joint->b] * shape->bound;
    double reach = 0;
    if (fabs(axis.x) < 0.7) reach = fmax(reach, half.x);
    if (fabs(axis.y) < 0.7) reach = fmax(reach, half.y);
    if (fabs(axis.z) < 0.7) reach = fmax(reach, half.z);
    return world->scale[joint->b] * reach;
}

// How fast the middle of a wheel moves across the axis, forward above 0. On a slope it moves along the slope.
static double rolling_speed(const SandWorld *world, int body, SandVec3 axis) {
    SandVec3 v = v3_madd(world->velocity[body], -v3_dot(world->velocity[body], axis), axis);
    SandVec3 forward = v3_cross(world->gravity, axis);
    return copysign(v3_length(v), v3_dot(v, forward));
}

static WheelFigures read_wheel(const SandWheel *wheel, const SandSimulation *sim) {
    const SandWorld *world = sand_simulation_world(sim);
    const SandJoint *joint = &world->joints[wheel->joint];
    SandVec3 axis = q_rotate(world->rotation[joint->b], joint->axis_b);
    WheelFigures f = {.torque = sand_simulation_motor(sim, wheel->joint),
                      .strength = joint->drive.strength,
                      .spin = v3_dot(world->spin[joint->b], axis),
                      .slip = NAN};
    double rim = f.spin * wheel_radius(world, joint);
    if (fabs(rim) >= STANDS) f.slip = 1 - rolling_speed(world, joint->b, axis) / rim;
    snprintf(f.name, sizeof f.name, "%s", wheel->name);
    return f;
}

void wheels_read(const SandVehicle *vehicle, const SandSimulation *sim, Wheels *wheels) {
    wheels->count = vehicle->wheel_count;
    for (int i = 0; i < vehicle->wheel_count; i++) wheels->wheels[i] = read_wheel(&vehicle->wheels[i], sim);
}
