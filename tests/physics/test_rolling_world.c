// SPDX-License-Identifier: MIT
// Rolling and spinning friction in a world: where a ball stops, when a top stops, on which slope a ball stays; with joints,
// with other laws of the pair, in scene files, and to the same bits with any number of threads.
#include "tests/lab/lab.h"
#include "sim/step/checkpoint.h"

static const double RADIUS = 0.1, ROLLING = 0.002, SPINNING = 0.003;

static SandSimulation *simulate(SandWorld *world, SandFriction friction) {
    SandSimulationDef def = sand_default_simulation();
    def.threads = 1;
    def.precision = SAND_DOUBLE;
    def.solve.friction = friction;
    def.solve.iterations = 1000;
    def.solve.tolerance = 1e-9;
    return lab_simulation(world, &def);
}

static SandWorld plane_world(double rolling, double spinning) {
    SandWorld world = lab_world(0.5);
    lab_set_rolling(&world, 0, rolling, spinning);
    world.step = 0.005;
    lab_plane(&world, v3_make(0, 0, 0), v3_make(0, 0, 1));
    return world;
}

// A ball that rolls along x without sliding.
static int rolling_ball(SandWorld *world, double y, double speed) {
    int ball = lab_body(world, 0, RADIUS, v3_make(0, y, RADIUS));
    world->velocity[ball] = v3_make(speed, 0, 0);
    world->spin[ball] = v3_make(0, speed / RADIUS, 0);
    return ball;
}

// Takes steps until the ball is all but still; returns the time that took.
static double run_until_still(SandSimulation *sim, int ball, int most) {
    const SandWorld *w = sand_simulation_world(sim);
    for (int k = 0; k < most; k++) {
        lab_step(sim);
        if (v3_length(w->velocity[ball]) + RADIUS * v3_length(w->spin[ball]) < 1e-4) return w->time;
    }
    return INFINITY;
}

// The torque rho m g slows a solid ball by 5/7 g rho / r.
static double slowing(double rolling) { return 5.0 / 7 * GRAVITY * rolling / RADIUS; }

static void check_distance(SandFriction friction) {
    SandWorld world = plane_world(ROLLING, 0);
    double speed = 1, a = slowing(ROLLING), distance = speed * speed / (2 * a);
    int ball = rolling_ball(&world, 0, speed);
    SandSimulation *sim = simulate(&world, friction);
    double time = run_until_still(sim, ball, 3000);
    SandVec3 end = sand_simulation_world(sim)->position[ball];
    print_message("%s: %.4f m in %.3f s, by theory %.4f m in %.3f s\n", sand_friction_table[friction].name, end.x, time,
                  distance, speed / a);
    NEAR(end.x, distance, 0.01 * distance);
    NEAR(time, speed / a, 0.01 * speed / a);
    NEAR(end.y, 0, 1e-6);
    for (int k = 0; k < 200; k++) lab_step(sim);
    NEAR(sand_simulation_world(sim)->position[ball].x, end.x, 1e-6); // and there it stays
    sand_simulation_free(sim);
}

static void a_rolling_ball_stops_where_theory_says(void **state) {
    (void)state;
    check_distance(SAND_FRICTION_COULOMB);
    check_distance(SAND_FRICTION_CONE);
}

// The torque sigma m g takes (2/5 r^2 w) / (sigma g) to stop a spin of w.
static void a_spinning_ball_stops_in_time(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++) {
        SandWorld world = plane_world(k ? ROLLING : 0, SPINNING);
        double spin = 20, want = 0.4 * RADIUS * RADIUS * spin / (SPINNING * GRAVITY);
        int ball = lab_body(&world, 0, RADIUS, v3_make(0, 0, RADIUS));
        world.spin[ball] = v3_make(0, 0, spin);
        SandSimulation *sim = simulate(&world, k ? SAND_FRICTION_CONE : SAND_FRICTION_COULOMB);
        double time = run_until_still(sim, ball, 3000);
        print_message("%.4f s, by theory %.4f s\n", time, want);
        NEAR(time, want, 0.01 * want);
        sand_simulation_free(sim);
    }
}

// How far a ball comes in a second on a slope of this tangent.
static double slope_distance(double tangent, double rolling) {
    SandWorld world = plane_world(rolling, SPINNING);
    world.gravity = v3_scale(GRAVITY / sqrt(1 + tangent * tangent), v3_make(tangent, 0, -1));
    int ball = lab_body(&world, 0, RADIUS, v3_make(0, 0, RADIUS));
    SandSimulation *sim = simulate(&world, SAND_FRICTION_COULOMB);
    for (int k = 0; k < 200; k++) lab_step(sim);
    double x = sand_simulation_world(sim)->position[ball].x;
    sand_simulation_free(sim);
    return x;
}

static void a_ball_stays_on_a_slope_up_to_the_ratio(void **state) {
    (void)state;
    double ratio = ROLLING / RADIUS, steep = 1.5 * ratio;
    NEAR(slope_distance(0.95 * ratio, ROLLING), 0, 1e-7);
    assert_true(slope_distance(1.05 * ratio, ROLLING) > 1e-3);
    double down = GRAVITY / sqrt(1 + steep * steep), want = 0.5 * 5 / 7 * down * (steep - ratio);
    NEAR(slope_distance(steep, ROLLING), want, 0.01 * want);
    double free = 0.5 * 5 / 7 * down * steep;
    NEAR(slope_distance(steep, 0), free, 0.01 * free);
}

// Two balls that a rod holds abreast stop where one does, and the rod holds.
static void joints_and_rolling_friction_go_together(void **state) {
    (void)state;
    SandWorld world = plane_world(ROLLING, 0);
    double speed = 0.7, distance = speed * speed / (2 * slowing(ROLLING));
    int balls[2] = {rolling_ball(&world, -0.3, speed), rolling_ball(&world, 0.3, speed)};
    SandJointDef def = sand_default_joint();
    SandError error = {""};
    def.kind = SAND_JOINT_ROD;
    def.a = balls[0];
    def.b = balls[1];
    def.anchor = world.position[balls[0]];
    def.anchor_b = world.position[balls[1]];
    if (sand_world_add_joint(&world, &def, &error) < 0) fail_msg("%s", error.text);
    SandSimulation *sim = simulate(&world, SAND_FRICTION_COULOMB);
    run_until_still(sim, balls[0], 3000);
    const SandWorld *w = sand_simulation_world(sim);
    for (int k = 0; k < 2; k++) NEAR(w->position[balls[k]].x, distance, 0.01 * distance);
    NEAR(v3_length(v3_sub(w->position[balls[0]], w->position[balls[1]])), 0.6, 1e-6);
    sand_simulation_free(sim);
}

// Balls that tumble over each other, with every law of a pair, and a joint.
static SandSimulation *tumble(int threads) {
    SandWorld world = lab_pile(0);
    SandSimulationDef def = sand_default_simulation();
    SandJointDef rod = sand_default_joint();
    SandError error = {""};
    lab_set_rolling(&world, 0, 0.01, 0.005);
    lab_set_laws(&world, 0, 0.3, 0.5);
    rod.kind = SAND_JOINT_BALL;
    rod.a = 0;
    rod.b = 1;
    rod.anchor = v3_scale(0.5, v3_add(world.position[0], world.position[1]));
    if (sand_world_add_joint(&world, &rod, &error) < 0) fail_msg("%s", error.text);
    def.threads = threads;
    return lab_simulation(&world, &def);
}

static void same_bodies(const SandWorld *a, const SandWorld *b) {
    size_t n = (size_t)a->body_count;
    assert_memory_equal(a->position, b->position, n * sizeof *a->position);
    assert_memory_equal(a->velocity, b->velocity, n * sizeof *a->velocity);
    assert_memory_equal(a->spin, b->spin, n * sizeof *a->spin);
}

static void threads_and_checkpoints_do_not_change_a_bit(void **state) {
    (void)state;
    SandSimulation *one = tumble(1), *three = tumble(3);
    SandCheckpoint saved = {0};
    SandError error = {""};
    for (int k = 0; k < 60; k++) {
        lab_step(one);
        lab_step(three);
    }
    same_bodies(sand_simulation_world(one), sand_simulation_world(three));
    assert_true(sand_simulation_counters(one)->contacts > 100);
    assert_true(sand_simulation_save_state(one, &saved, &error));
    for (int k = 0; k < 20; k++) lab_step(one);
    assert_true(sand_simulation_restore_state(three, &saved, &error));
    for (int k = 0; k < 20; k++) lab_step(three);
    same_bodies(sand_simulation_world(one), sand_simulation_world(three));
    sand_checkpoint_free(&saved);
    sand_simulation_free(one);
    sand_simulation_free(three);
}

static void a_scene_has_rolling_friction(void **state) {
    (void)state;
    SandScene scene;
    SandError error = {""};
    const char *text = "name: rolling\n"
                       "materials: [{name: a, rolling: 0.004, spinning: 0.001}, {name: b, rolling: 0.001}]\n"
                       "pairs: [{a: a, b: b, spinning: 0.5}]\n"
                       "knobs: [{name: rho, kind: rolling, of: b, least: 0, most: 1},\n"
                       "        {name: sigma, kind: spinning, of: a, least: 0, most: 1}]\n";
    if (!sand_scene_load_text(&scene, text, strlen(text), "t.yaml", NULL, &error)) fail_msg("%s", error.text);
    NEAR(sand_world_pair(&scene.world, 0, 1)->rolling, 0.002, 1e-15);
    NEAR(sand_world_pair(&scene.world, 1, 0)->spinning, 0.5, 0);
    NEAR(sand_world_pair(&scene.world, 0, 0)->spinning, 0.001, 0);
    NEAR(scene.knobs[0].value, 0.001, 0);
    NEAR(scene.knobs[1].value, 0.001, 0);
    sand_scene_free(&scene);
    const char *wrong = "name: rolling\nmaterials: [{name: a, rolling: -1}]\n";
    assert_false(sand_scene_load_text(&scene, wrong, strlen(wrong), "t.yaml", NULL, &error));
    assert_non_null(strstr(error.text, "rolling"));
}

static void a_world_refuses_wrong_numbers(void **state) {
    (void)state;
    const double wrong[][2] = {{-1, 0}, {0, -1}, {NAN, 0}, {0, INFINITY}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        SandWorld world = plane_world(0, 0);
        SandPair pair = {.rolling = wrong[k][0], .spinning = wrong[k][1]};
        SandError error = {""};
        sand_world_set_pair(&world, 0, 0, &pair);
        assert_false(sand_world_check(&world, &error));
        assert_non_null(strstr(error.text, "rolling friction of stone and stone"));
        sand_world_free(&world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rolling_ball_stops_where_theory_says),
        cmocka_unit_test(a_spinning_ball_stops_in_time),
        cmocka_unit_test(a_ball_stays_on_a_slope_up_to_the_ratio),
        cmocka_unit_test(joints_and_rolling_friction_go_together),
        cmocka_unit_test(threads_and_checkpoints_do_not_change_a_bit),
        cmocka_unit_test(a_scene_has_rolling_friction),
        cmocka_unit_test(a_world_refuses_wrong_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
