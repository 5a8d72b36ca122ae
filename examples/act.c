// SPDX-License-Identifier: MIT
// Acting on a running simulation: a motor holds an arm, is sent to another angle, and is relieved by a force under the hand.
//   cc act.c $(pkg-config --cflags --libs sandglass) -o act
#include <sandglass/simulation.h>
#include <stdio.h>
#include <string.h>

static int fail(const SandError *error) { return fprintf(stderr, "act: %s\n", error->text), 1; }

// An arm of steel, one meter long, that a hinge at the origin holds level.
static bool build(SandWorld *world, SandError *error) {
    const SandMaterial steel = {.name = "steel", .density = 7800, .mu = 0.3};
    SandShape box;
    SandBodyDef body = sand_default_body();
    SandJointDef hinge = sand_default_joint();
    sand_world_init(world);
    body.pose.position = v3_make(0.5, 0, 0);
    hinge.kind = SAND_JOINT_HINGE;
    hinge.axis = v3_make(0, 1, 0);
    hinge.drive.motor = SAND_MOTOR_POSITION;
    strcpy(hinge.name, "elbow");
    return sand_world_add_material(world, &steel, error) >= 0 && sand_shape_box(&box, v3_make(0.5, 0.02, 0.02), error) &&
           sand_world_add_shape(world, &box, error) >= 0 && sand_world_add_body(world, &body, error) >= 0 &&
           sand_world_add_joint(world, &hinge, error) >= 0;
}

// Two seconds with a force (N) upwards at the hand; the motor is sent to an angle (rad, downwards) before.
static bool hold(SandSimulation *sim, double angle, double force, SandError *error) {
    const SandWorld *w = sand_simulation_world(sim);
    int elbow = sand_world_find_joint(w, "elbow"), arm = 0;
    SandJointState state;
    sand_simulation_change(sim)->joints[elbow].drive.target = angle;
    for (int n = 0; n < 200; n++) {
        SandVec3 up = v3_make(0, 0, force), hand = v3_scale(2, w->position[arm]);
        SandForces forces = {.count = 1, .body = &arm, .force = &up, .at = &hand}; // for the coming step
        if (!sand_simulation_apply_force(sim, &forces, error) || !sand_simulation_step(sim, error)) return false;
    }
    if (!sand_simulation_read_joint(sim, elbow, &state, error)) return false;
    printf("at %.3f rad, with %.0f N at the hand, the motor gives %.2f N m\n", state.position, force, state.motor);
    return true;
}

int main(void) {
    SandError error;
    SandWorld world;
    SandSimulationDef def = sand_default_simulation();
    def.precision = SAND_DOUBLE;
    if (!build(&world, &error)) return sand_world_free(&world), fail(&error);
    SandSimulation *sim = sand_simulation_create(&world, &def, &error);
    if (!sim) return fail(&error);
    if (!hold(sim, 0, 0, &error) || !hold(sim, 0.5, 0, &error) || !hold(sim, 0.5, 30, &error)) return fail(&error);
    sand_simulation_free(sim);
    return 0;
}
