// SPDX-License-Identifier: MIT
// Driving a running world: motors of joints that are told where to go, boundaries that oscillate, follow a path or run, a
// plate that holds a force, bodies that come and go. Against mechanics by hand, and the same bits from states and threads.
#include "tests/lab/mixer.h"
#include "sandglass/checkpoint.h"

static SandJointState joint_state(SandSimulation *sim, int joint) {
    SandError error = {""};
    SandJointState state;
    if (!sand_simulation_read_joint(sim, joint, &state, &error)) fail_msg("%s", error.text);
    return state;
}

static SandDrive *drive_of(SandSimulation *sim, const char *name) {
    int joint = sand_world_find_joint(sand_simulation_world(sim), name);
    assert_true(joint >= 0);
    return &sand_simulation_change(sim)->joints[joint].drive;
}

static const double REACH = 0.5; // m, of the arm

// An arm that a hinge holds at the origin, level, its center of mass at REACH. The angle grows downwards.
static SandSimulation *arm(double strength) {
    SandWorld world = lab_world(0.3);
    SandJointDef hinge = sand_default_joint();
    hinge.kind = SAND_JOINT_HINGE;
    hinge.b = lab_box(&world, v3_make(0.4, 0.05, 0.05), v3_make(REACH, 0, 0));
    hinge.axis = v3_make(0, 1, 0);
    hinge.drive.motor = SAND_MOTOR_POSITION;
    hinge.drive.strength = strength;
    strcpy(hinge.name, "elbow");
    assert_int_equal(sand_world_add_joint(&world, &hinge, NULL), 0);
    return lab_exact(&world);
}

// A motor that holds an angle gives the torque of the weight about the hinge, m g r cos(angle), and less where the arm is
// told to hang lower. Where it is too weak it gives what it has, and the arm sinks.
static void a_motor_holds_an_angle(void **state) {
    (void)state;
    SandSimulation *sim = arm(INFINITY);
    const SandWorld *w = sand_simulation_world(sim);
    double moment = w->mass[0] * GRAVITY * REACH;
    const double angles[] = {0, 0.3, -0.4};
    for (int k = 0; k < 3; k++) {
        drive_of(sim, "elbow")->target = angles[k];
        lab_run(sim, 400);
        SandJointState elbow = joint_state(sim, 0);
        NEAR(elbow.position, angles[k], 1e-6); // what is left after 4 s of an approach at 10 1/s
        NEAR(elbow.speed, 0, 1e-6);
        NEAR(elbow.motor, -moment * cos(angles[k]), 1e-4 * moment);
    }
    drive_of(sim, "elbow")->strength = 0.5 * moment * cos(0.4);
    lab_step(sim);
    SandJointState elbow = joint_state(sim, 0);
    NEAR(elbow.motor, -0.5 * moment * cos(0.4), 1e-6 * moment);
    assert_true(elbow.speed > 0);
    sand_simulation_free(sim);
}

// On its way to a position a motor keeps the speed that it is given, then approaches at its rate; limits stop it. A motor
// that is told a speed keeps that.
static void a_motor_does_as_it_is_told(void **state) {
    (void)state;
    SandSimulation *sim = arm(INFINITY);
    double h = sand_simulation_world(sim)->step;
    SandDrive *d = drive_of(sim, "elbow");
    d->target = -2;
    d->speed = 0.5;
    lab_run(sim, 100);
    NEAR(joint_state(sim, 0).position, -0.5, 1e-4);
    NEAR(joint_state(sim, 0).speed, -0.5, 1e-9);
    d = drive_of(sim, "elbow");
    d->speed = INFINITY;
    d->rate = 4;
    double left = -2 - joint_state(sim, 0).position;
    lab_run(sim, 50);
    NEAR((-2 - joint_state(sim, 0).position) / left, pow(1 / (1 + 4 * h), 50), 1e-3); // that of implicit steps
    d = drive_of(sim, "elbow");
    d->motor = SAND_MOTOR_SPEED;
    d->target = 1.5;
    d->strength = 1e4; // limits are stronger
    d->high = 0.25;
    lab_step(sim);
    NEAR(joint_state(sim, 0).speed, 1.5, 1e-9);
    lab_run(sim, 300);
    NEAR(joint_state(sim, 0).position, 0.25, 1e-3);
    drive_of(sim, "elbow")->motor = SAND_MOTOR_NONE;
    lab_step(sim);
    assert_true(isnan(joint_state(sim, 0).motor));
    sand_simulation_free(sim);
}

// The speed of a coordinate is what it changes by in a step, to the order of the step, while both bodies tumble.
static void speeds_of_joints_are_rates(void **state) {
    (void)state;
    const SandJointKind kinds[] = {SAND_JOINT_HINGE, SAND_JOINT_SLIDER, SAND_JOINT_DISTANCE};
    for (int k = 0; k < 3; k++) {
        SandWorld world = lab_world(0.3);
        SandJointDef def = sand_default_joint();
        world.gravity = v3_make(0, 0, 0);
        world.step = 1e-5;
        def.kind = kinds[k];
        def.a = lab_box(&world, v3_make(0.1, 0.2, 0.3), v3_make(0, 0, 0));
        def.b = lab_box(&world, v3_make(0.3, 0.1, 0.2), v3_make(1, 0.5, 0));
        def.anchor = v3_make(0.4, 0.1, 0.2);
        def.anchor_b = v3_make(0.9, 0.2, 0.3);
        def.axis = v3_make(1, 2, 2);
        world.spin[0] = v3_make(1, -2, 0.5);
        world.spin[1] = v3_make(0.3, 1, -1);
        world.velocity[1] = v3_make(1, 2, -1);
        assert_int_equal(sand_world_add_joint(&world, &def, NULL), 0);
        SandSimulation *sim = lab_exact(&world);
        lab_run(sim, 2000);
        SandJointState before = joint_state(sim, 0);
        lab_step(sim);
        SandJointState after = joint_state(sim, 0);
        NEAR((after.position - before.position) / 1e-5, 0.5 * (before.speed + after.speed), 2e-4);
        assert_true(fabs(after.speed) > 0.1);
        NEAR(sand_joint_speed(sand_simulation_world(sim), 0), after.speed, 0);
        sand_simulation_free(sim);
    }
}

static void names_are_unique_and_stay(void **state) {
    (void)state;
    SandWorld world = lab_world(0.3), copy;
    SandJointDef def = sand_default_joint();
    SandError error = {""};
    lab_body(&world, 0, 0.1, v3_make(0, 0, 0));
    strcpy(def.name, "neck");
    assert_int_equal(sand_world_add_joint(&world, &def, &error), 0);
    assert_int_equal(sand_world_add_joint(&world, &def, &error), -1);
    assert_string_equal(error.text, "joint 1: joint 0 has the name neck already");
    *def.name = 0;
    for (int k = 1; k < 3; k++) assert_int_equal(sand_world_add_joint(&world, &def, &error), k); // any number without one
    assert_true(sand_world_copy(&copy, &world, &error));
    assert_int_equal(sand_world_find_joint(&copy, "neck"), 0);
    assert_int_equal(sand_world_find_joint(&copy, "head"), -1);
    sand_world_free(&copy);
    SandSimulation *sim = lab_exact(&world);
    SandJointState at;
    assert_false(sand_simulation_read_joint(sim, 3, &at, &error));
    assert_string_equal(error.text, "there is no joint 3");
    sand_simulation_free(sim);
}

// --- boundaries ---------------------------------------------------------------------------------------------

// A mesh of two triangles, level at z = 0.
static void flat_mesh(SandBoundary *b) {
    const double heights[4] = {0, 0, 0, 0};
    assert_true(sand_boundary_terrain(b, heights, 2, 2, v3_make(40, 40, 0), NULL));
}

// A box on a conveyor is dragged by mu g until it has its speed, and is carried at it: it lags behind by speed^2 / (2 mu g).
// The conveyor itself stays where it is.
static void a_conveyor_carries_a_box(void **state) {
    (void)state;
    for (int mesh = 0; mesh < 2; mesh++) {
        SandWorld world = lab_world(0.4);
        SandBoundary belt;
        const double speed = 2, drag = 0.4 * GRAVITY;
        world.step = 1e-3;
        if (mesh) flat_mesh(&belt);
        if (!mesh) assert_true(sand_boundary_plane(&belt, v3_make(0, 0, 0), v3_make(0, 0, 1), NULL));
        belt.moves = true;
        belt.motion.surface = v3_make(speed, 0, 0);
        assert_int_equal(sand_world_add_boundary(&world, &belt, NULL), 0);
        lab_box(&world, v3_make(0.2, 0.2, 0.05), v3_make(0.3, 0, 0.05));
        SandSimulation *sim = lab_exact(&world);
        const SandWorld *w = sand_simulation_world(sim);
        lab_run(sim, 200);
        NEAR(w->velocity[0].x, drag * 0.2, 0.01 * drag * 0.2);
        lab_run(sim, 1800);
        NEAR(w->velocity[0].x, speed, 1e-6);
        NEAR(w->position[0].x, 0.3 + speed * 2 - speed * speed / (2 * drag), 0.01);
        NEAR(w->position[0].z, 0.05, 1e-4);
        NEAR(v3_length(sand_boundary_pose(&w->boundaries[0], w->time).position), 0, 0);
        sand_simulation_free(sim);
    }
}

// A ball stays on a plate that vibrates with an acceleration below g, and leaves one above: by how far it comes off.
static double highest_gap(double over_gravity) {
    SandWorld world = lab_world(0.4);
    const double amplitude = 0.01, rate = sqrt(over_gravity * GRAVITY / amplitude);
    int plate = lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    world.step = 1e-3;
    world.boundaries[plate].moves = true;
    world.boundaries[plate].motion = (SandMotion){.amplitude = {0, 0, amplitude}, .frequency = rate / (2 * PI)};
    lab_body(&world, 0, 0.1, v3_make(0, 0, 0.1));
    SandSimulation *sim = lab_exact(&world);
    const SandWorld *w = sand_simulation_world(sim);
    double highest = 0;
    for (int n = 0; n < 1000; n++) {
        lab_step(sim);
        SandVec3 at = sand_boundary_pose(&w->boundaries[0], w->time).position;
        highest = fmax(highest, w->position[0].z - 0.1 - at.z);
    }
    sand_simulation_free(sim);
    return highest;
}

static void a_plate_throws_what_it_shakes(void **state) {
    (void)state;
    double below = highest_gap(0.95), above = highest_gap(1.3), far = highest_gap(2);
    print_message("a ball comes off by %.2g m at 0.95 g, %.2g m at 1.3 g, %.2g m at 2 g\n", below, above, far);
    assert_true(below < 1e-5); // a step of acceleration is g h^2 = 1e-5 m
    assert_true(above > 1e-4 && far > 2 * above);
}

// A motion that is set while the world runs goes on from where the boundary is.
static void a_motion_is_replaced_without_a_jump(void **state) {
    (void)state;
    SandWorld world = lab_world(0.4);
    SandBoundary ram;
    const SandMotionPoint rows[] = {{0, {0, 0, 0}, 0}, {0.5, {1, 0, 0}, 0}, {1, {1, 1, 0}, 0}};
    assert_true(sand_boundary_plane(&ram, v3_make(0, 0, 0), v3_make(0, 0, 1), NULL));
    assert_true(sand_boundary_path(&ram, rows, 3, NULL));
    assert_int_equal(sand_world_add_boundary(&world, &ram, NULL), 0);
    lab_body(&world, 0, 0.1, v3_make(0, 0, 0.1));
    SandSimulation *sim = lab_exact(&world);
    const SandWorld *w = sand_simulation_world(sim);
    const SandMotion motions[] = {{.velocity = {0, 0, 1}},
                                  {.axis = {0, 1, 0}, .rate = 1, .center = {2, 0, 0}},
                                  {.stop = 0.01},
                                  {.amplitude = {0, 0, 1}, .frequency = 1, .phase = 1}};
    lab_run(sim, 25);
    NEAR(sand_boundary_pose(&w->boundaries[0], w->time).position.x, 0.5, 1e-12);
    for (int k = 0; k < 4; k++) {
        SandPose before = sand_boundary_pose(&w->boundaries[0], w->time);
        sand_world_set_motion(sand_simulation_change(sim), 0, &motions[k]);
        SandPose after = sand_boundary_pose(&w->boundaries[0], w->time);
        NEAR(v3_length(v3_sub(after.position, before.position)), 0, 1e-14);
        assert_true(w->boundaries[0].moves == (k != 2)); // that one has stopped already
        lab_run(sim, 10);
    }
    sand_simulation_free(sim);
}

static void wrong_motion(const SandMotion *motion, bool box, const char *words) {
    SandWorld world = lab_world(0.4);
    SandError error = {""};
    SandBoundary b;
    assert_true(box ? sand_boundary_box(&b, v3_make(1, 1, 1), SAND_INSIDE, NULL)
                    : sand_boundary_plane(&b, v3_make(0, 0, 0), v3_make(0, 0, 1), NULL));
    strcpy(b.name, "ram");
    b.moves = true;
    b.motion = *motion;
    assert_int_equal(sand_world_add_boundary(&world, &b, NULL), 0);
    assert_false(sand_world_check(&world, &error));
    if (!strstr(error.text, words)) fail_msg("\"%s\" does not say \"%s\"", error.text, words);
    sand_world_free(&world);
}

static void wrong_motions_are_refused(void **state) {
    (void)state;
    wrong_motion(&(SandMotion){.amplitude = {NAN, 0, 0}}, false, "ram: a number of its oscillation or of its path is not");
    wrong_motion(&(SandMotion){.frequency = 26}, false, "ram: it oscillates at 26 Hz; with a step of 0.01 s it may at 25");
    wrong_motion(&(SandMotion){.swing = 1, .frequency = 1}, false, "ram: it swings by 1 rad about an axis of length 0");
    wrong_motion(&(SandMotion){.amplitude = {0, 1e12, 0}, .frequency = 1}, false, "carries it far out");
    wrong_motion(&(SandMotion){.surface = {1, 0, 0.1}}, false, "ram: the velocity (1, 0, 0.1) m/s of its surface must lead");
    wrong_motion(&(SandMotion){.surface = {1, INFINITY, 0}}, false, "of its surface must be finite");
    wrong_motion(&(SandMotion){.surface = {1, 0, 0}}, true, "only the surface of a plane or of a flat mesh can run");
}

// --- a plate that holds a force -----------------------------------------------------------------------------

// The force (N) of all contacts of a body along z.
static double load_of(const SandSimulation *sim, int body) {
    const SandProblem *p = sand_simulation_problem(sim);
    const SandSolution *s = sand_simulation_solution(sim);
    const int *order = sand_simulation_order(sim);
    double sum = 0;
    for (int i = 0; i < p->contact_count; i++) {
        const SandContact *c = &p->contacts[i];
        if (sand_problem_joint(p, i)) continue;
        if (order[c->a] == body) sum -= s->impulse[i].z;
        if (c->b < p->dynamic_count && order[c->b] == body) sum += s->impulse[i].z;
    }
    return sum / p->step;
}

// A plate on a slider whose motor is told to go down, and has a strength, presses a bed of balls with that force: the bed
// carries it and the weight of the plate, within 1 %. Another strength is another force, in a few steps.
static void a_plate_holds_its_force(void **state) {
    (void)state;
    SandWorld world = lab_world(0.3);
    SandJointDef slider = sand_default_joint();
    SandRandom random = sand_random(5);
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    for (int k = 0; k < 4; k++) {
        SandVec3 normal = v3_make(k == 0 ? 1 : k == 1 ? -1 : 0, k == 2 ? 1 : k == 3 ? -1 : 0, 0);
        lab_plane(&world, v3_scale(-0.55, normal), normal);
    }
    for (int i = 0; i < 100; i++) {
        SandVec3 off = v3_make(0.01 * sand_random_signed(&random), 0.01 * sand_random_signed(&random), 0.11);
        lab_body(&world, 0, 0.1, v3_madd(off, 0.215, v3_make(i % 5 - 2, i / 5 % 5 - 2, i / 25)));
    }
    int plate = lab_box(&world, v3_make(0.53, 0.53, 0.02), v3_make(0, 0, 1.2));
    slider.kind = SAND_JOINT_SLIDER;
    slider.b = plate;
    slider.drive.motor = SAND_MOTOR_SPEED;
    slider.drive.target = -1;
    slider.drive.strength = 2000;
    strcpy(slider.name, "press");
    assert_int_equal(sand_world_add_joint(&world, &slider, NULL), 0);
    SandSimulation *sim = lab_exact(&world);
    const SandWorld *w = sand_simulation_world(sim);
    double weight = w->mass[plate] * GRAVITY;
    lab_run(sim, 300);
    NEAR(load_of(sim, plate), 2000 + weight, 20);
    NEAR(joint_state(sim, 0).motor, -2000, 1e-3);
    assert_true(fabs(joint_state(sim, 0).speed) < 0.02 && w->position[plate].z > 0.6);
    drive_of(sim, "press")->strength = 5000;
    lab_run(sim, 100);
    NEAR(load_of(sim, plate), 5000 + weight, 50);
    sand_simulation_free(sim);
}

// --- bodies that come and go, and the same bits -------------------------------------------------------------

// Bodies of a chain are taken out: what hung on them falls freely, and what they hit does not feel them.
static void bodies_are_removed(void **state) {
    (void)state;
    SandWorld world = lab_world(0.3);
    SandError error = {""};
    SandJointDef ball = sand_default_joint();
    for (int k = 0; k < 3; k++) {
        ball.a = k - 1;
        ball.b = lab_body(&world, 0, 0.1, v3_make(0, 0, -0.2 * k - 0.2));
        ball.anchor = v3_make(0, 0, -0.2 * k - 0.1);
        assert_int_equal(sand_world_add_joint(&world, &ball, NULL), k);
    }
    SandSimulation *sim = lab_exact(&world);
    const SandWorld *w = sand_simulation_world(sim);
    lab_run(sim, 50);
    NEAR(w->position[2].z, -0.6, 1e-6);
    assert_true(sand_world_remove_body(sand_simulation_change_bodies(sim, &error), 1, &error));
    assert_false(sand_world_remove_body(sand_simulation_change_bodies(sim, &error), 3, &error));
    assert_string_equal(error.text, "there is no body 3");
    lab_run(sim, 20);
    NEAR(w->velocity[2].z, -20 * w->step * GRAVITY, 1e-9);
    NEAR(w->position[0].z, -0.2, 1e-6);
    assert_int_equal(sand_simulation_counters(sim)->bodies, 2);
    assert_int_equal(sand_simulation_counters(sim)->lost_total, 0);
    sand_simulation_free(sim);
}

// Everything at once, told anew now and then: from a state that was saved on the way the run has the same bits.
static uint64_t driven(int threads, int saved_at) {
    SandWorld world = lab_mixer();
    SandSimulationDef def = sand_default_simulation();
    SandError error = {""};
    def.threads = threads;
    def.solve.iterations = 15;
    SandSimulation *sim = lab_simulation(&world, &def);
    void *bytes = NULL;
    size_t size;
    for (int n = 0; n < 80; n++) {
        lab_tell(sim, n);
        if (n == saved_at) assert_true(sand_simulation_save(sim, &bytes, &size, &error));
        lab_step(sim);
    }
    if (bytes) {
        if (!sand_simulation_restore(sim, bytes, size, &error)) fail_msg("%s", error.text);
        sand_free(bytes);
        assert_int_equal(sand_world_find_joint(sand_simulation_world(sim), "mixer"), 0);
        for (int n = saved_at; n < 80; n++) {
            if (n > saved_at) lab_tell(sim, n);
            lab_step(sim);
        }
    }
    uint64_t hash = sand_world_hash(sand_simulation_world(sim));
    sand_simulation_free(sim);
    return hash;
}

static void threads_and_states_make_no_difference(void **state) {
    (void)state;
    uint64_t one = driven(1, -1);
    for (int threads = 2; threads <= 4; threads++) assert_true(driven(threads, -1) == one);
    const int saved[] = {10, 35, 45, 60};
    for (int k = 0; k < 4; k++) assert_true(driven(2, saved[k]) == one);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_motor_holds_an_angle),
                                       cmocka_unit_test(a_motor_does_as_it_is_told),
                                       cmocka_unit_test(speeds_of_joints_are_rates),
                                       cmocka_unit_test(names_are_unique_and_stay),
                                       cmocka_unit_test(a_conveyor_carries_a_box),
                                       cmocka_unit_test(a_plate_throws_what_it_shakes),
                                       cmocka_unit_test(a_motion_is_replaced_without_a_jump),
                                       cmocka_unit_test(wrong_motions_are_refused),
                                       cmocka_unit_test(a_plate_holds_its_force),
                                       cmocka_unit_test(bodies_are_removed),
                                       cmocka_unit_test(threads_and_states_make_no_difference)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
