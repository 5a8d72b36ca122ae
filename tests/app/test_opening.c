// SPDX-License-Identifier: MIT
// Files that are opened while a scene runs, and what takes long and is canceled.
#include "tests/lab/window/engine_lab.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[64];

static int make_folder(void **state) {
    (void)state;
    strcpy(folder, "/tmp/sandglass-opening-XXXXXX");
    assert_non_null(mkdtemp(folder));
    return 0;
}

static Engine *start(const char *scene, int bodies, void (*before_step)(void)) {
    SandError error = {""};
    EngineDef def = engine_default();
    def.scene = scene;
    def.options.bodies = bodies;
    def.simulation.threads = 1;
    def.playing = false;
    def.before_step = before_step;
    Engine *engine = engine_create(&def, &error);
    if (!engine) fail_msg("%s", error.text);
    return engine;
}

static void open_file(Engine *engine, const char *path) {
    SandError error;
    Act race = {.kind = ACT_RACE, .solve = sand_default_solve(), .text = "p-spg-fb,apgd"};
    race.solve.iterations = 50;
    if (!engine_open(engine, path, &race, &error)) fail_msg("%s", error.text);
}

// Waits until this many files were opened, and returns the scene then.
static EngineScene wait_for_opening(Engine *engine, int openings) {
    EngineScene scene = {0};
    for (double end = sand_seconds() + ENGINE_LIMIT; scene.openings < openings && sand_seconds() < end; pause_briefly()) {
        hear_messages(engine);
        engine_scene(engine, &scene);
    }
    assert_int_equal(scene.openings, openings);
    return scene;
}

// A scene, a take and a contact problem, one after the other. The take gives the bits of the run that it was saved from, and
// brings its camera keys; the race leaves the scene alone.
static void what_a_file_is(void **state) {
    (void)state;
    char take[128], scene_file[256], problem[256];
    SandError error;
    EngineScene scene;
    CameraPath views = {0}, seen;
    CameraKey key = {.time = 0.5, .view = {.eye = {1, 2, 3}, .angle = 0.5}};
    snprintf(take, sizeof take, "%s/run.take", folder);
    snprintf(scene_file, sizeof scene_file, "%s/scenes/two-spheres.yaml", SAND_SOURCE_DIR);
    snprintf(problem, sizeof problem, "%s/tests/problems/spheres.sand", SAND_SOURCE_DIR);

    Engine *engine = start("heap", 60, NULL);
    expect_message("The take is saved as");
    ask(engine, (Act){.kind = ACT_STEP, .number = 5});
    wait_for(engine, 5);
    ask(engine, (Act){.kind = ACT_GRAVITY, .vector = {1, 0, -9}});
    ask(engine, (Act){.kind = ACT_STEP, .number = 20});
    EngineFrame *frame = wait_for(engine, 25);
    double kinetic = frame->kinetic, potential = frame->potential;
    assert_true(camera_path_add(&views, &key, &error));
    if (!engine_save(engine, take, &views, &error)) fail_msg("%s", error.text);
    wait_for_message(engine, "The take is saved as");

    open_file(engine, scene_file);
    scene = wait_for_opening(engine, 1);
    assert_string_equal(scene.name, "two-spheres");
    assert_string_equal(scene.opened, scene_file);
    assert_string_equal(scene.file, scene_file);

    // It plays to its end by itself, where the hash that it holds is compared.
    expect_message("The take ends here");
    open_file(engine, take);
    scene = wait_for_opening(engine, 2);
    assert_string_equal(scene.name, "heap");
    engine_views(engine, &seen);
    assert_true(seen.count == 1 && seen.keys[0].view.eye.y == 2);
    wait_for_message(engine, "The take ends here");
    frame = wait_for(engine, 25);
    assert_true(frame->kinetic == kinetic && frame->potential == potential);

    open_file(engine, problem);
    scene = wait_for_opening(engine, 3);
    assert_string_equal(scene.name, "heap");
    RaceCurves curves = {0};
    for (double end = sand_seconds() + ENGINE_LIMIT; sand_seconds() < end; pause_briefly()) {
        if (!race_job_copy(engine_race(engine), &curves, &error)) fail_msg("%s", error.text);
        if (curves.begun && !curves.running) break;
    }
    assert_string_equal(curves.subject, "spheres.sand");
    assert_true(curves.count == 2 && curves.contacts > 0);
    for (int i = 0; i < 2; i++) assert_true(curves.racers[i].state == RACER_DONE && curves.racers[i].count > 1);
    race_curves_free(&curves);
    close_engine(engine);
}

// What cannot be opened is told, and the scene goes on where it was.
static void broken_files(void **state) {
    (void)state;
    char scene_file[128], take[128];
    Engine *engine = start("heap", 30, NULL);
    ask(engine, (Act){.kind = ACT_STEP, .number = 3});
    wait_for(engine, 3);
    snprintf(scene_file, sizeof scene_file, "%s/broken.yaml", folder);
    snprintf(take, sizeof take, "%s/broken.take", folder);
    FILE *file = fopen(scene_file, "w");
    fputs("name: broken\nbodies: none\n", file);
    fclose(file);
    file = fopen(take, "w");
    fputs("scene: there-is-no-such-scene\nsteps: 3\n", file);
    fclose(file);
    const struct {
        const char *path, *told;
    } cases[] = {
        {scene_file, "broken.yaml:"}, {take, "there-is-no-such-scene"}, {"/nowhere/at-all.take", "/nowhere/at-all"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_message(cases[i].told);
        open_file(engine, cases[i].path);
        wait_for_message(engine, cases[i].told);
    }
    EngineScene scene;
    engine_scene(engine, &scene);
    assert_string_equal(scene.name, "heap");
    assert_int_equal(scene.openings, 0);
    ask(engine, (Act){.kind = ACT_STEP, .number = 1});
    wait_for(engine, 4);
    close_engine(engine);
}

// --- canceling --------------------------------------------------------------------------------------------------

static atomic_bool hold; // steps wait here
static atomic_int waiting;
static void wait_before_step(void) {
    waiting++;
    while (hold) pause_briefly();
    waiting--;
}

// A step of a million iterations is canceled: nothing has moved, and the same step taken later gives the same bits.
static void a_long_step_is_canceled(void **state) {
    (void)state;
    Engine *engine = start("heap", 100, NULL);
    EngineWork work;
    ask(engine, (Act){.kind = ACT_STEP, .number = 10});
    double kinetic = wait_for(engine, 10)->kinetic;
    EngineScene scene;
    engine_scene(engine, &scene);
    Act solve = {.kind = ACT_SOLVE, .solve = scene.solve};
    solve.solve.iterations = 100000000;
    ask(engine, solve);
    expect_message("step 11 was canceled");
    ask(engine, (Act){.kind = ACT_STEP, .number = 1});
    double end = sand_seconds() + ENGINE_LIMIT;
    do {
        engine_work(engine, &work);
        pause_briefly();
    } while (!(*work.what && work.seconds > 0.2) && sand_seconds() < end);
    assert_non_null(strstr(work.what, "Step 11 of heap"));
    engine_cancel(engine);
    wait_for_message(engine, "step 11 was canceled");
    solve.solve = scene.solve;
    ask(engine, solve);
    EngineFrame *frame = wait_for(engine, 10);
    assert_true(frame->kinetic == kinetic && !frame->playing);
    ask(engine, (Act){.kind = ACT_STEP, .number = 10});
    kinetic = wait_for(engine, 20)->kinetic;
    close_engine(engine);

    engine = start("heap", 100, NULL); // the same without a cancellation
    ask(engine, (Act){.kind = ACT_STEP, .number = 20});
    assert_true(wait_for(engine, 20)->kinetic == kinetic);
    close_engine(engine);
}

// An engine that is busy for minutes is closed at once; and a cancellation that comes when there is nothing to cancel does
// not hit the next step.
static void nothing_to_cancel(void **state) {
    (void)state;
    hold = false;
    Engine *engine = start("heap", 50, wait_before_step);
    engine_cancel(engine);
    ask(engine, (Act){.kind = ACT_STEP, .number = 2});
    wait_for(engine, 2);
    hold = true;
    ask(engine, (Act){.kind = ACT_STEP, .number = 1});
    while (!waiting) pause_briefly();
    engine_cancel(engine); // the step has not begun
    hold = false;
    wait_for(engine, 3);
    EngineScene scene;
    engine_scene(engine, &scene);
    Act solve = {.kind = ACT_SOLVE, .solve = scene.solve};
    solve.solve.iterations = 1000000000;
    ask(engine, solve);
    ask(engine, (Act){.kind = ACT_STEP, .number = 1});
    EngineWork work;
    do {
        engine_work(engine, &work);
        pause_briefly();
    } while (!*work.what);
    close_engine(engine);
}

// --- in the background --------------------------------------------------------------------------------------------

static Engine *start_behind(const char *scene, int bodies) {
    SandError error = {""};
    EngineDef def = engine_default();
    def.scene = scene;
    def.options.bodies = bodies;
    def.simulation.threads = 1;
    def.playing = false;
    def.in_background = true;
    Engine *engine = engine_create(&def, &error);
    if (!engine) fail_msg("%s", error.text);
    return engine;
}

static void wait_for_failure(Engine *engine, const char *part) {
    SandError error = {""};
    for (double end = sand_seconds() + ENGINE_LIMIT; !engine_failed(engine, &error) && sand_seconds() < end;)
        pause_briefly();
    if (!strstr(error.text, part)) fail_msg("expected '%s', got '%s'", part, error.text);
}

// The engine is there at once and opens its scene beside: what goes on is known, it can be canceled, and what cannot be
// opened is said.
static void a_scene_is_opened_behind(void **state) {
    (void)state;
    EngineWork work = {0};
    SandError error;
    setenv("XDG_CACHE_HOME", folder, 1); // no settled state is kept yet
    Engine *engine = start_behind("hourglass", 3000);
    for (double end = sand_seconds() + ENGINE_LIMIT; !*work.what && sand_seconds() < end; pause_briefly())
        engine_work(engine, &work);
    assert_non_null(strstr(work.what, "Opening hourglass with 3000 bodies"));
    assert_null(engine_frame(engine));
    engine_cancel(engine);
    wait_for_failure(engine, "was not opened: canceled");
    close_engine(engine);
    engine = start_behind("there-is-no-such-scene", 0);
    wait_for_failure(engine, "there-is-no-such-scene");
    close_engine(engine);
    engine = start_behind("heap", 50);
    wait_for(engine, 0);
    ask(engine, (Act){.kind = ACT_STEP, .number = 2});
    wait_for(engine, 2);
    assert_false(engine_failed(engine, &error));
    close_engine(engine);
    engine = start_behind("hourglass", 3000); // closed while it opens
    close_engine(engine);
}

// A glass with two ends is turned over when it is empty; a silo and a cylinder, which are round as well, are not.
static void only_a_glass_turns(void **state) {
    (void)state;
    const struct {
        const char *name;
        int bodies;
        bool turns;
    } scenes[] = {{"hourglass", 60, true}, {"hopper", 100, false}, {"pebble-bed", 60, false}, {"heavy", 0, false}};
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        EngineScene scene;
        Engine *engine = start(scenes[i].name, scenes[i].bodies, NULL);
        engine_scene(engine, &scene);
        if (scene.turns != scenes[i].turns) fail_msg("%s: turns is %d", scenes[i].name, scene.turns);
        close_engine(engine);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_a_file_is),           cmocka_unit_test(broken_files),
                                       cmocka_unit_test(a_long_step_is_canceled),  cmocka_unit_test(nothing_to_cancel),
                                       cmocka_unit_test(a_scene_is_opened_behind), cmocka_unit_test(only_a_glass_turns)};
    return cmocka_run_group_tests(tests, make_folder, NULL);
}
