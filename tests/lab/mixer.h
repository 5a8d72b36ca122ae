// SPDX-License-Identifier: MIT
// A pile with a paddle on a motor and a wall on a path, and what it is told while it runs: for tests that compare runs.
#pragma once
#include "tests/lab/lab.h"

static inline int lab_box(SandWorld *world, SandVec3 half, SandVec3 position) {
    SandShape box;
    assert_true(sand_shape_box(&box, half, NULL));
    return lab_body(world, sand_world_add_shape(world, &box, NULL), 1, position);
}

static inline SandWorld lab_mixer(void) {
    SandWorld world = lab_pile(0);
    SandJointDef hinge = sand_default_joint();
    SandMotionPoint rows[] = {{0, {0, 0, 0}, 0}, {0.3, {0.05, 0, 0}, 0}, {0.5, {0, 0, 0}, 0}};
    hinge.kind = SAND_JOINT_HINGE;
    hinge.b = lab_box(&world, v3_make(0.3, 0.02, 0.1), v3_make(0, 0, 0.4));
    hinge.drive.motor = SAND_MOTOR_SPEED;
    hinge.drive.target = -2;
    strcpy(hinge.name, "mixer");
    assert_int_equal(sand_world_add_joint(&world, &hinge, NULL), 0);
    assert_true(sand_boundary_path(&world.boundaries[2], rows, 3, NULL));
    return world;
}

// Before step n.
static inline void lab_tell(SandSimulation *sim, int n) {
    SandWorld *w = sand_simulation_change(sim);
    if (n == 20) w->joints[0].drive.target = 3, w->joints[0].drive.strength = 400;
    if (n == 30) sand_world_set_motion(w, 0, &(SandMotion){.amplitude = {0, 0, 0.02}, .frequency = 6, .phase = 0.3});
    if (n == 40) sand_world_set_motion(w, 1, &(SandMotion){.surface = {0, 1, 0}});
    if (n == 50) w->gravity = v3_make(1, 0, -8);
}
