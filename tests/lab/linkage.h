// SPDX-License-Identifier: MIT
// A small world with a joint of most kinds, a motor, a limit and a spring, for tests of devices.
#pragma once
#include "tests/lab/lab.h"

static inline int linkage_join(SandWorld *world, SandJointDef def, SandJointKind kind, int a, int b, SandVec3 anchor) {
    SandError error = {""};
    def.kind = kind, def.a = a, def.b = b, def.anchor = anchor;
    int joint = sand_world_add_joint(world, &def, &error);
    if (joint < 0) fail_msg("%s", error.text);
    return joint;
}

// A chain of spheres that touch, with a load so heavy that the inertia of its links is lifted; a wheel whose motor drives it
// to the limit of its hinge; a weight on a slider with a spring, and a box on a rod below it; and a sphere on the ground
// that no joint holds.
enum { LINKAGE_WHEEL = 3 }; // the joint with the motor
static inline SandSimulation *lab_linkage(SandPrecision precision) {
    SandWorld world = lab_world(0.3);
    SandJointDef plain = sand_default_joint(), motor = plain, spring = plain, rod = plain;
    SandShape shape;
    world.step = 0.005;
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    for (int k = 0; k < 3; k++) {
        lab_body(&world, 0, 0.1, v3_make(0, 0, 1.9 - 0.2 * k));
        linkage_join(&world, plain, SAND_JOINT_BALL, k - 1, k, v3_make(0, 0, 2 - 0.2 * k));
    }
    world.mass[2] *= 500;
    world.inertia[2] = v3_scale(500, world.inertia[2]);
    world.velocity[2].x = 0.5;
    motor.axis = v3_make(0, 1, 0);
    motor.drive.low = -0.5, motor.drive.high = 0.6;
    motor.drive.motor = SAND_MOTOR_SPEED, motor.drive.target = 3, motor.drive.strength = 200;
    assert_int_equal(
        linkage_join(&world, motor, SAND_JOINT_HINGE, -1, lab_body(&world, 0, 0.2, v3_make(0.1, 1, 1)), v3_make(0, 1, 1)),
        LINKAGE_WHEEL);
    spring.drive.stiffness = 4000, spring.drive.damping = 20, spring.drive.low = -0.3;
    int weight = lab_body(&world, 0, 0.15, v3_make(0, -1, 1.5));
    linkage_join(&world, spring, SAND_JOINT_SLIDER, -1, weight, v3_make(0, -1, 1.5));
    assert_true(sand_shape_box(&shape, v3_make(0.1, 0.1, 0.05), NULL));
    int box = lab_body(&world, sand_world_add_shape(&world, &shape, NULL), 1, v3_make(0, -1, 1));
    rod.anchor_b = v3_make(0.05, -1, 1.05);
    linkage_join(&world, rod, SAND_JOINT_ROD, weight, box, v3_make(0, -1, 1.35));
    lab_body(&world, 0, 0.1, v3_make(1, 1, 0.1));
    SandSimulationDef def = sand_default_simulation();
    def.threads = 2, def.precision = precision, def.solve.iterations = 200;
    return lab_simulation(&world, &def);
}
