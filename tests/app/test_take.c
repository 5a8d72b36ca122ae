// SPDX-License-Identifier: MIT
// Takes: what a person did is saved, read back, and gives the same bits again; what is wrong with a file is told in one
// line.
#include "tests/lab/lab.h"
#include "tests/lab/window/engine_lab.h"
#include "app/engine/engine.h"
#include "app/engine/settled.h"
#include "sim/core/thread_pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];

static int make_folder(void **state) {
    (void)state;
    strcpy(folder, "/tmp/sandglass-take-XXXXXX");
    return mkdtemp(folder) ? 0 : 1;
}

static int remove_folder(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static const char *path_of(const char *name) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static EngineFrame *steps(Engine *engine, int count, uint64_t then) {
    ask(engine, (Act){.kind = ACT_STEP, .number = count});
    return wait_for(engine, then);
}

static void save(Engine *engine, const char *path, const CameraPath *views) {
    SandError error = {""};
    if (!engine_save(engine, path, views, &error)) fail_msg("%s", error.text);
    expect_message("saved as");
    engine_stop(engine);
    assert_int_equal(heard(engine, "saved as"), 1);
}

static Take load(const char *path) {
    Take take;
    SandError error = {""};
    if (!take_load(&take, path, &error)) fail_msg("%s", error.text);
    return take;
}

// A session with everything in it that changes the motion: two solvers and a parameter, a throw, a flip, gravity, a hand.
// It also goes back and takes another way, of which nothing may be left.
static void play(const char *path) {
    SandError error = {""};
    EngineDef def = engine_default();
    def.options.bodies = 300;
    def.simulation.threads = 2;
    def.playing = false;
    Engine *engine = engine_create(&def, &error);
    if (!engine) fail_msg("%s", error.text);
    ask(engine, (Act){.kind = ACT_KNOB, .text = "neck", .number = 0.7});
    Act solve = {.kind = ACT_SOLVE, .solve = sand_default_solve()};
    sand_solve_choose(&solve.solve, sand_solver_find("gauss-seidel"));
    ask(engine, solve); // before the first step
    EngineFrame *frame = steps(engine, 12, 12);
    SandVec3 held = {frame->render_scene.spheres.items[40].center[0], frame->render_scene.spheres.items[40].center[1],
                     frame->render_scene.spheres.items[40].center[2]};
    held = v3_add(held, frame->render_scene.origin);
    ask(engine, (Act){.kind = ACT_GRAB, .body = 40, .vector = held});
    for (int i = 1; i <= 5; i++) {
        ask(engine, (Act){.kind = ACT_DRAG, .vector = v3_add(held, v3_make(0.1 * i, 0.03 * i, 1.0 / 3 * i))});
        steps(engine, 2, 12 + 2 * (uint64_t)i);
    }
    ask(engine, (Act){.kind = ACT_RELEASE});
    ask(engine, (Act){.kind = ACT_BACKEND, .number = BACKEND_CPU}); // where it is already
    ask(engine, (Act){.kind = ACT_THROW, .vector = {0.1, 0, 2}, .direction = {0, 0, -1.0 / 7}, .number = 0.15});
    sand_solve_choose(&solve.solve, sand_solver_find("jacobi"));
    assert_true(sand_solve_set(&solve.solve, "omega", "0.21", &error));
    solve.solve.accuracy = 87.5;
    solve.solve.islands = 12;
    ask(engine, solve);
    steps(engine, 8, 30);
    ask(engine, (Act){.kind = ACT_FLIP});
    steps(engine, 10, 40);
    // Another way from step 30 on, where the flip was: it must be gone.
    ask(engine, (Act){.kind = ACT_SEEK, .number = 30});
    wait_for(engine, 30);
    ask(engine, (Act){.kind = ACT_GRAVITY, .vector = {0.5, 0, -9.5}});
    steps(engine, 5, 35);
    ask(engine, (Act){.kind = ACT_FLIP});
    steps(engine, 15, 50);
    CameraPath views = {0};
    CameraKey key = {.time = 0.1, .view = {.eye = {3, -10, 4}, .target = {0, 0, 1.0 / 3}, .angle = 0.5}};
    assert_true(camera_path_add(&views, &key, &error));
    key.time = 0;
    key.view.orthographic = true;
    key.view.height = 7;
    assert_true(camera_path_add(&views, &key, &error));
    save(engine, path, &views);
    close_engine(engine);
}

// The bits after so many steps of a take, without an engine and with another number of threads.
static uint64_t replay(const Take *take, int threads) {
    SandError error = {""};
    SandScene scene;
    if (!take_open_scene(take, &scene, &error) || !settled_build(&scene, &(SettledDef){.threads = threads}, &error))
        fail_msg("%s", error.text);
    scene.world.gravity = take->gravity;
    SandSimulationDef def = {.threads = threads, .precision = take->precision, .solve = take->solve};
    SandSimulation *sim = lab_simulation(&scene.world, &def);
    int done = 0;
    for (uint64_t i = 0; i < take->steps; i++)
        if (!acts_replay(&take->acts, &done, &scene, sim, &def.solve, &error) || !sand_simulation_step(sim, &error))
            fail_msg("%s", error.text);
    assert_int_equal(done, take->acts.count);
    uint64_t hash = sand_world_hash(sand_simulation_world(sim));
    if (!take_check(take, sand_simulation_world(sim), &error)) fail_msg("%s", error.text);
    sand_simulation_free(sim);
    sand_scene_free(&scene);
    return hash;
}

static void same_bits(void **state) {
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s", path_of("a.take"));
    play(path);
    Take take = load(path);
    assert_int_equal(take.steps, 50);
    assert_true(take.has_hash);
    assert_int_equal(take.backend, BACKEND_CPU);
    assert_int_equal(take.acts.count, 13); // 2 solves, grab, 5 drags, release, backend, throw, gravity, one flip
    assert_true(take.knob_count == 1 && take.knobs[0].value == 0.7);
    assert_true(take.views.count == 2 && take.views.keys[0].view.orthographic && !take.views.keys[1].view.orthographic);
    assert_true(take.views.keys[1].view.target.z == 1.0 / 3);
    assert_true(replay(&take, 1) == take.hash);
    assert_true(replay(&take, 3) == take.hash);

    // One act less, and the bits are others: the test would see it.
    Take less = take;
    less.has_hash = false;
    less.acts.count--;
    assert_true(replay(&less, 1) != take.hash);

    // Through the engine again, as the window plays it; saved from there it is the same file.
    SandError error = {""};
    SandScene scene;
    if (!take_open_scene(&take, &scene, &error)) fail_msg("%s", error.text);
    EngineDef def = engine_default();
    def.scene = take.scene;
    def.opened = &scene;
    def.take = &take;
    def.simulation.solve = take.solve;
    def.own_solve = true;
    def.own_gravity = true;
    def.gravity = take.gravity;
    def.playing = false;
    Engine *engine = engine_create(&def, &error);
    if (!engine) fail_msg("%s", error.text);
    steps(engine, 20, 20);
    ask(engine, (Act){.kind = ACT_RESET}); // from its start, with its acts
    steps(engine, 31, 31);
    EngineScene shown;
    engine_scene(engine, &shown);
    assert_true(shown.gravity.x == 0.5); // the panel follows the replay
    assert_string_equal(sand_solver_table[shown.solve.solver].name, "jacobi");
    assert_true(shown.solve.accuracy == 87.5 && shown.solve.islands == 12);
    expect_message("The take ends here.");
    steps(engine, 19, 50);
    assert_int_equal(heard(engine, "The take ends here."), 1);
    char again[128], command[300];
    snprintf(again, sizeof again, "%s", path_of("b.take"));
    save(engine, again, &take.views);
    close_engine(engine);
    snprintf(command, sizeof command, "cmp %s %s", path, again);
    assert_int_equal(system(command), 0);
    take_free(&take);
}

// Settings stay over a reset; a person who acts ends the replay.
static void a_person_takes_over(void **state) {
    (void)state;
    SandError error = {""};
    Take take = load(path_of("a.take"));
    SandScene scene;
    assert_true(take_open_scene(&take, &scene, &error));
    EngineDef def = engine_default();
    def.scene = take.scene;
    def.opened = &scene;
    def.take = &take;
    def.playing = false;
    Engine *engine = engine_create(&def, &error);
    assert_non_null(engine);
    steps(engine, 20, 20);
    ask(engine, (Act){.kind = ACT_GRAVITY, .vector = {0, 0, -1}});
    steps(engine, 20, 40);
    ask(engine, (Act){.kind = ACT_RESET});
    wait_for(engine, 0);
    EngineScene shown;
    engine_scene(engine, &shown);
    assert_true(shown.gravity.z == -1 && shown.gravity.x == 0);
    char path[128];
    snprintf(path, sizeof path, "%s", path_of("c.take"));
    steps(engine, 3, 3);
    save(engine, path, &take.views);
    close_engine(engine);
    take_free(&take);
    take = load(path);
    assert_int_equal(take.acts.count, 0);
    assert_true(take.gravity.z == -1);
    assert_true(replay(&take, 1) == take.hash);
    take_free(&take);
}

// Drives the rover on, around and back, and stops it; going back in time gives the same way again.
static uint64_t drive_rover(const char *path) {
    SandError error = {""};
    EngineDef def = engine_default();
    def.scene = "rover";
    def.options.bodies = 20;
    def.simulation.threads = 2;
    def.playing = false;
    Engine *engine = engine_create(&def, &error);
    if (!engine) fail_msg("%s", error.text);
    steps(engine, 25, 25); // the scene's own speeds
    ask(engine, (Act){.kind = ACT_DRIVE, .vector = {4, 4.0 / 3, 0}});
    EngineFrame *frame = steps(engine, 30, 55);
    assert_int_equal(frame->wheels.count, 6);
    for (int i = 0; i < 6; i++) { // left, then right
        const WheelFigures *wheel = &frame->wheels.wheels[i];
        print_message("%s: %.2f N m, %.3f rad/s, slip %.3f\n", wheel->name, wheel->torque, wheel->spin, wheel->slip);
        assert_true(fabs(wheel->spin - (i < 3 ? 4 : 4.0 / 3)) < 0.5 && fabs(wheel->slip) < 1);
        assert_true(fabs(wheel->torque) > 0 && fabs(wheel->torque) < 1.00001 * wheel->strength && wheel->strength == 40);
    }
    assert_string_equal(frame->wheels.wheels[0].name, "left-front");
    ask(engine, (Act){.kind = ACT_DRIVE, .vector = {-4, 4, 0}});
    steps(engine, 30, 85);
    ask(engine, (Act){.kind = ACT_SEEK, .number = 40});
    wait_for(engine, 40);
    ask(engine, (Act){.kind = ACT_SEEK, .number = 85});
    wait_for(engine, 85);
    ask(engine, (Act){.kind = ACT_DRIVE});
    frame = steps(engine, 15, 100);
    assert_true(fabs(frame->wheels.wheels[0].spin) < 0.05 && isnan(frame->wheels.wheels[0].slip)); // it stands
    save(engine, path, &(CameraPath){0});
    close_engine(engine);
    Take take = load(path);
    uint64_t hash = take.hash;
    take_free(&take);
    return hash;
}

static void a_drive_is_replayed(void **state) {
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s", path_of("rover.take"));
    uint64_t hash = drive_rover(path);
    Take take = load(path);
    assert_int_equal(take.steps, 100);
    assert_int_equal(take.acts.count, 3);
    assert_true(take.acts.items[0].act.kind == ACT_DRIVE && take.acts.items[0].step == 25);
    assert_true(take.acts.items[0].act.vector.x == 4 && take.acts.items[0].act.vector.y == 4.0 / 3);
    assert_true(replay(&take, 1) == hash);
    assert_true(replay(&take, 3) == hash);
    SandError error = {""};
    SandScene scene;
    assert_true(take_open_scene(&take, &scene, &error) && sand_scene_build(&scene, &error));
    SandSimulationDef def = {.threads = 1, .precision = take.precision, .solve = take.solve};
    SandSimulation *sim = lab_simulation(&scene.world, &def);
    scene.vehicle.wheel_count = 0; // as in a scene without one
    assert_false(act_apply(&take.acts.items[0].act, &scene, sim, &def.solve, &error));
    assert_non_null(strstr(error.text, "no vehicle"));
    sand_simulation_free(sim);
    sand_scene_free(&scene);
    take_free(&take);
}

// What joints, boundaries and bodies are told is replayed to the same bits, written as it was read, and undone by going
// back: in the engine the way that is gone twice ends where it did.
static void what_is_told_is_replayed(void **state) {
    (void)state;
    const char *text = "scene: rover\nbodies: 20\nsteps: 60\nacts:\n"
                       "  - {step: 10, act: motor, joint: left-front, target: -2}\n"
                       "  - {step: 20, act: push, body: 0, force: [300, 0, 2000]}\n"
                       "  - {step: 21, act: push, body: 0, force: [300, 0, 2000]}\n"
                       "  - {step: 25, act: move, boundary: slope, velocity: [0, 0, 0.5], rate: 0.1}\n"
                       "  - {step: 30, act: remove, body: 1}\n";
    FILE *file = fopen(path_of("told.take"), "w");
    fputs(text, file);
    fclose(file);
    Take take = load(path_of("told.take"));
    uint64_t hash = replay(&take, 1);
    assert_true(replay(&take, 3) == hash);
    const Act *push = &take.acts.items[1].act, *move = &take.acts.items[3].act;
    assert_true(push->kind == ACT_PUSH && push->body == 0 && push->vector.z == 2000);
    assert_true(move->kind == ACT_MOVE && move->vector.z == 0.5 && move->number == 0.1 && !strcmp(move->text, "slope"));
    SandError error = {""};
    if (!take_save(&take, path_of("told-again.take"), &error)) fail_msg("%s", error.text);
    Take again = load(path_of("told-again.take"));
    assert_true(replay(&again, 2) == hash);
    for (int less = 0; less < 5; less++) { // without any one of them the bits are others
        Take some = again;
        some.acts.count = less;
        assert_true(replay(&some, 2) != hash);
    }

    EngineDef def = engine_default();
    def.scene = "rover";
    def.options.bodies = 20;
    def.simulation.threads = 2;
    def.playing = false;
    Engine *engine = engine_create(&def, &error);
    if (!engine) fail_msg("%s", error.text);
    for (int k = 0; k < take.acts.count; k++) {
        uint64_t at = take.acts.items[k].step;
        steps(engine, (int)(at - (k ? take.acts.items[k - 1].step : 0)), at);
        ask(engine, take.acts.items[k].act);
    }
    steps(engine, 30, 60);
    ask(engine, (Act){.kind = ACT_SEEK, .number = 15});
    wait_for(engine, 15);
    ask(engine, (Act){.kind = ACT_SEEK, .number = 60});
    wait_for(engine, 60);
    save(engine, path_of("told-there.take"), &(CameraPath){0});
    close_engine(engine);
    Take there = load(path_of("told-there.take"));
    assert_int_equal(there.acts.count, 5);
    assert_true(replay(&there, 1) == there.hash);
    take_free(&there), take_free(&again), take_free(&take);
}

static void what_nobody_is_called_is_refused(void **state) {
    (void)state;
    SandError error = {""};
    SandScene scene;
    SandSceneOptions options = {.bodies = 20};
    assert_true(sand_scene_load(&scene, "rover", &options, &error));
    SandSimulationDef def = {.threads = 1, .solve = scene.solve};
    scene.world.joints[sand_world_find_joint(&scene.world, "left-rear")].drive.motor = SAND_MOTOR_NONE;
    SandSimulation *sim = lab_simulation(&scene.world, &def);
    const struct {
        Act act;
        const char *words;
    } wrong[] = {{{.kind = ACT_MOTOR, .text = "elbow"}, "there is no joint elbow"},
                 {{.kind = ACT_MOTOR, .text = "left-rear"}, "the joint left-rear has no motor"},
                 {{.kind = ACT_MOVE, .text = "elbow"}, "there is no boundary elbow"},
                 {{.kind = ACT_PUSH, .body = 1 << 20}, "there is no body"},
                 {{.kind = ACT_REMOVE, .body = 1 << 20}, "there is no body"}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        assert_false(act_apply(&wrong[k].act, &scene, sim, &def.solve, &error));
        if (!strstr(error.text, wrong[k].words)) fail_msg("'%s' does not say '%s'", error.text, wrong[k].words);
    }
    // What has not moved yet turns about its own place.
    const SandBoundary *slope = &sand_simulation_world(sim)->boundaries[1];
    assert_true(act_apply(&(Act){.kind = ACT_MOVE, .text = "slope", .number = 1}, &scene, sim, &def.solve, &error));
    NEAR(sand_boundary_pose(slope, 1).position.x, slope->pose.position.x, 1e-12);
    assert_true(slope->pose.position.x != 0 && sand_boundary_pose(slope, 1).rotation.w != slope->pose.rotation.w);
    sand_simulation_free(sim);
    sand_scene_free(&scene);
}

static void broken_files(void **state) {
    (void)state;
    const struct {
        const char *text, *words;
    } cases[] = {
        {"scene: hourglass\nbodys: 3\n", "broken.take:2: bodys: unknown key"},
        {"bodies: 3\n", "broken.take:1: scene: missing"},
        {"scene: hourglass\nbodies: many\n", "broken.take:2: bodies: expected a whole number"},
        {"scene: x.take\n", "broken.take:1: scene: expected a scene"},
        {"scene: hourglass\nstep: 0\n", "broken.take:2: step: expected a number from"},
        {"scene: hourglass\nhash: 12\nsteps: 3\n", "broken.take:2: hash: expected 16"},
        {"scene: hourglass\nsolver: {name: magic}\n", "broken.take:2: name: magic: there is no such solver"},
        {"scene: hourglass\nacts:\n  - {step: 3, act: jump}\n", "broken.take:3: act: expected one of solve"},
        {"scene: hourglass\nbackend: gpu\n", "broken.take:2: backend: expected one of cpu"},
        {"scene: hourglass\nacts:\n  - {step: 3, act: backend}\n", "broken.take:3: backend: missing"},
        {"scene: hourglass\nacts:\n  - {step: 3, act: throw}\n", "broken.take:3: point: missing"},
        {"scene: hourglass\nacts:\n  - {step: 3, act: flip, radius: 1}\n", "broken.take:3: radius: the act flip"},
        {"scene: rover\nacts:\n  - {step: 3, act: drive}\n", "broken.take:3: speeds: missing"},
        {"scene: rover\nacts:\n  - {step: 3, act: drive, speeds: [1]}\n", "broken.take:3"},
        {"scene: rover\nacts:\n  - {step: 3, act: flip, speeds: [1, 2]}\n", "broken.take:3: speeds: the act flip"},
        {"scene: rover\nacts:\n  - {step: 3, act: push, body: 1}\n", "broken.take:3: force: missing"},
        {"scene: rover\nacts:\n  - {step: 3, act: motor, joint: a, target: 1, rate: 2}\n",
         "rate: the act motor has no such"},
        {"scene: hourglass\nacts:\n  - {step: 3, act: flip}\n  - {step: 2, act: flip}\n",
         "broken.take:4: step: expected acts in"},
        {"scene: hourglass\ncamera:\n  - {time: 0, eye: [0, 0, 0], target: [0, 0, 0]}\n", "broken.take:3: camera: eye and"},
        {"scene: hourglass\nacts: [\n", "not YAML"},
        {"", "broken.take:1: expected a take"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        SandError error = {""};
        Take take;
        FILE *file = fopen(path_of("broken.take"), "w");
        fputs(cases[k].text, file);
        fclose(file);
        assert_false(take_load(&take, path_of("broken.take"), &error));
        if (!strstr(error.text, cases[k].words) || strchr(error.text, '\n'))
            fail_msg("'%s' does not say '%s'", error.text, cases[k].words);
    }
    // What only the scene knows.
    const char *const later[] = {"scene: nowhere\n", "scene: hourglass\nknobs:\n  - {name: nek, value: 1}\n",
                                 "scene: hourglass\nknobs:\n  - {name: neck, value: 99}\n"};
    const char *const words[] = {":1: scene: nowhere", ":3: knobs: the scene hourglass has no", ":3: knobs: neck: expected"};
    for (int k = 0; k < 3; k++) {
        SandError error = {""};
        SandScene scene;
        FILE *file = fopen(path_of("later.take"), "w");
        fputs(later[k], file);
        fclose(file);
        Take take = load(path_of("later.take"));
        assert_false(take_open_scene(&take, &scene, &error));
        if (!strstr(error.text, words[k])) fail_msg("'%s' does not say '%s'", error.text, words[k]);
        take_free(&take);
    }
}

// The camera goes through its keys, round the target at an even distance, gently, and never beyond them.
static void camera_keys(void **state) {
    (void)state;
    SandError error;
    CameraPath path = {0};
    for (int k = 3; k >= 0; k--) { // a quarter turn each, given in any order
        double a = 0.5 * 3.14159265358979323846 * k;
        CameraKey key = {.time = k, .view = {.eye = {5 * cos(a), 5 * sin(a), 3}, .target = {0, 0, 1}, .angle = 0.5}};
        assert_true(camera_path_add(&path, &key, &error));
    }
    double last = -1;
    for (double t = 0; t <= 3; t += 0.01) {
        CameraView v = camera_path_at(&path, t);
        double around = atan2(v.eye.y, v.eye.x);
        if (around < -0.01) around += 2 * 3.14159265358979323846;
        assert_true(fabs(hypot(v.eye.x, v.eye.y) - 5) < 1e-9 && fabs(v.eye.z - 3) < 1e-9);
        assert_true(around >= last - 1e-12);
        if (last >= 0) assert_true(around - last < 0.03); // no jump: the mean is 0.0157
        last = around;
    }
    for (int k = 0; k < 4; k++) assert_true(v3_length(v3_sub(camera_path_at(&path, k).eye, path.keys[k].view.eye)) < 1e-9);
    // It starts from rest.
    SandVec3 first = camera_path_at(&path, 0.001).eye;
    assert_true(v3_length(v3_sub(first, path.keys[0].view.eye)) < 1e-4);
    assert_true(v3_length(v3_sub(camera_path_at(&path, -1).eye, path.keys[0].view.eye)) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits),
                                       cmocka_unit_test(a_person_takes_over),
                                       cmocka_unit_test(a_drive_is_replayed),
                                       cmocka_unit_test(what_is_told_is_replayed),
                                       cmocka_unit_test(what_nobody_is_called_is_refused),
                                       cmocka_unit_test(broken_files),
                                       cmocka_unit_test(camera_keys)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
