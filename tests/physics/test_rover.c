// SPDX-License-Identifier: MIT
// The scene rover: it rolls without slip, slips where friction does not hold it, turns in place, stalls where its motors are
// too weak, and its joints stay together.
#include "tests/lab/joint_drift.h"
#include "tests/lab/lab.h"

static const double RADIUS = 0.125; // m, of a wheel
enum { CHASSIS = 0, SLOPE = 1 };    // body and boundary of the scene

// The rover on level ground, with this friction under its wheels and without stones.
static SandWorld rover_alone(double mu, SandVehicle *vehicle) {
    SandError error = {""};
    SandScene scene;
    SandSceneOptions options = {.bodies = 1};
    if (!sand_scene_load(&scene, "rover", &options, &error)) fail_msg("%s", error.text);
    SandWorld world = scene.world;
    scene.world = (SandWorld){0};
    *vehicle = scene.vehicle;
    sand_scene_free(&scene);
    assert_int_equal(vehicle->wheel_count, 6);
    world.boundaries[SLOPE].pose.position.x = 1000;
    world.enter[world.body_count - 1] = 1e9; // the stone
    int ground = world.boundaries[0].material, wheel = world.material[world.joints[vehicle->wheels[0].joint].b];
    lab_set_pair_friction(&world, ground, wheel, mu);
    return world;
}

static SandSimulation *rover_simulation(SandWorld *world) {
    SandSimulationDef def = sand_default_simulation();
    def.threads = 1;
    def.solve.iterations = 200;
    return lab_simulation(world, &def);
}

static void drive(SandSimulation *sim, const SandVehicle *vehicle, double left, double right) {
    SandWorld *world = sand_simulation_change(sim);
    for (int i = 0; i < vehicle->wheel_count; i++)
        world->joints[vehicle->wheels[i].joint].drive.target = vehicle->wheels[i].right ? right : left;
}

// Steps, and returns the largest drift on the way.
static double run_watched(SandSimulation *sim, int steps) {
    double worst = 0;
    for (int k = 0; k < steps; k++) {
        lab_step(sim);
        worst = fmax(worst, lab_largest_drift(sand_simulation_world(sim)));
    }
    return worst;
}

static double heading(const SandWorld *world) {
    SandVec3 forward = q_rotate(world->rotation[CHASSIS], v3_make(1, 0, 0));
    return atan2(forward.y, forward.x);
}

static void rolls_without_slip(void **state) {
    (void)state;
    SandVehicle vehicle;
    SandWorld world = rover_alone(0.8, &vehicle);
    SandSimulation *sim = rover_simulation(&world);
    const SandWorld *w = sand_simulation_world(sim);
    for (int omega = 4; omega >= -4; omega -= 8) {
        drive(sim, &vehicle, omega, omega);
        double drift = run_watched(sim, 300);
        SandVec3 before = w->position[CHASSIS];
        drift = fmax(drift, run_watched(sim, 400));
        SandVec3 moved = v3_sub(w->position[CHASSIS], before);
        double want = omega * RADIUS * 400 * w->step;
        print_message("%d rad/s: moved %.4f m of %.4f m, %.4f m aside; joints drift by %.4f mm\n", omega, moved.x, want,
                      moved.y, 1e3 * drift);
        NEAR(moved.x, want, 0.02 * fabs(want)); // what the solver leaves unsolved is creep of the wheels
        NEAR(moved.y, 0, 0.02);
        assert_true(drift < 1e-3);
    }
    sand_simulation_free(sim);
}

// Uphill at 25 degrees with mu = 0.3: the wheels turn, and the rover slides down by g (sin - mu cos).
static void slips_on_a_steep_slope(void **state) {
    (void)state;
    const double angle = 25 * PI / 180, mu = 0.3;
    SandVehicle vehicle;
    SandWorld world = rover_alone(mu, &vehicle);
    world.gravity = v3_make(-GRAVITY * sin(angle), 0, -GRAVITY * cos(angle));
    SandSimulation *sim = rover_simulation(&world);
    const SandWorld *w = sand_simulation_world(sim);
    run_watched(sim, 100);
    double before = w->velocity[CHASSIS].x, drift = run_watched(sim, 200);
    double got = (w->velocity[CHASSIS].x - before) / (200 * w->step), want = -GRAVITY * (sin(angle) - mu * cos(angle));
    double spin = w->spin[w->joints[vehicle.wheels[0].joint].b].y;
    print_message("steep slope: acceleration %.4f m/s^2, closed form %.4f; a wheel turns at %.3f rad/s\n", got, want, spin);
    NEAR(got, want, 0.03 * fabs(want));
    NEAR(spin, 4, 0.05);
    assert_true(drift < 1e-3);
    sand_simulation_free(sim);
}

static void turns_in_place(void **state) {
    (void)state;
    SandVehicle vehicle;
    SandWorld world = rover_alone(0.8, &vehicle);
    SandSimulation *sim = rover_simulation(&world);
    const SandWorld *w = sand_simulation_world(sim);
    for (int side = -1; side <= 1; side += 2) {
        drive(sim, &vehicle, 0, 0);
        run_watched(sim, 200);
        SandVec3 at = w->position[CHASSIS];
        double from = heading(w);
        drive(sim, &vehicle, -4 * side, 4 * side);
        double drift = run_watched(sim, 600), turned = remainder(heading(w) - from, 2 * PI);
        double moved = v3_length(v3_sub(w->position[CHASSIS], at));
        print_message("in place: turned by %.3f rad in 3 s, moved by %.3f m; joints drift by %.4f mm\n", turned, moved,
                      1e3 * drift);
        assert_true(side * turned > 0.5 && moved < 0.3 && drift < 1e-3);
    }
    sand_simulation_free(sim);
}

// With a tenth of the torque that the slope asks for a motor gives all it has, and the wheels are turned backward.
static void weak_motors_stall(void **state) {
    (void)state;
    const double angle = 20 * PI / 180, strength = 0.5;
    SandVehicle vehicle;
    SandWorld world = rover_alone(0.8, &vehicle);
    world.gravity = v3_make(-GRAVITY * sin(angle), 0, -GRAVITY * cos(angle));
    for (int i = 0; i < vehicle.wheel_count; i++) world.joints[vehicle.wheels[i].joint].drive.strength = strength;
    SandSimulation *sim = rover_simulation(&world);
    const SandWorld *w = sand_simulation_world(sim);
    lab_run(sim, 100);
    for (int i = 0; i < vehicle.wheel_count; i++) {
        int joint = vehicle.wheels[i].joint;
        NEAR(sand_simulation_motor(sim, joint), strength, 1e-6 * strength);
        assert_true(w->spin[w->joints[joint].b].y < 0);
    }
    assert_true(isnan(sand_simulation_motor(sim, 0))); // a joint without a motor
    sand_simulation_free(sim);
}

// While the stones settle the motors hold; afterward they turn as the scene says.
static void stands_while_stones_settle(void **state) {
    (void)state;
    SandError error = {""};
    SandScene scene;
    SandSceneOptions options = {.bodies = 20, .start = SAND_START_SETTLED};
    if (!sand_scene_load(&scene, "rover", &options, &error)) fail_msg("%s", error.text);
    SandVec3 at = scene.world.position[CHASSIS];
    if (!sand_scene_settle(&scene, &(SandSettleDef){.threads = 1}, &error)) fail_msg("%s", error.text);
    double moved = v3_length(v3_sub(scene.world.position[CHASSIS], at));
    print_message("while 20 stones settle the rover moves by %.3f mm\n", 1e3 * moved);
    assert_true(moved < 2e-3); // settling takes few iterations
    NEAR(scene.world.joints[scene.vehicle.wheels[0].joint].drive.target, 4, 0);
    sand_scene_free(&scene);
}

// Over the stones and on the slope: 300 of them, as the scene says.
static void crosses_the_stones(void **state) {
    (void)state;
    SandSimulation *sim = lab_scene("rover", 0, 2, SAND_FLOAT);
    const SandWorld *w = sand_simulation_world(sim);
    double drift = run_watched(sim, 4000);
    SandVec3 at = w->position[CHASSIS], up = q_rotate(w->rotation[CHASSIS], v3_make(0, 0, 1));
    print_message("stones: at %.2f m, %.2f m high after 20 s; joints drift by %.4f mm\n", at.x, at.z, 1e3 * drift);
    assert_true(at.x > 6 && up.z > 0.9);
    assert_true(drift < 1e-3);
    sand_simulation_free(sim);
}

int main(int count, char **arguments) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rolls_without_slip), cmocka_unit_test(slips_on_a_steep_slope),
                                       cmocka_unit_test(turns_in_place), cmocka_unit_test(weak_motors_stall),
                                       cmocka_unit_test(stands_while_stones_settle)};
    const struct CMUnitTest journey[] = {cmocka_unit_test(crosses_the_stones)};
    if (count > 1 && !strcmp(arguments[1], "journey")) return cmocka_run_group_tests(journey, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
