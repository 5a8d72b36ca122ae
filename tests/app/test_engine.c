// SPDX-License-Identifier: MIT
// The simulation on its own thread: requests at step boundaries, frames for the window, steps back and forward.
#include "tests/lab/window/engine_lab.h"
#include "app/engine/engine.h"
#include "sim/core/array.h"
#include "sim/core/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static Engine *start_with(const char *scene, int bodies, size_t history_bytes) {
    SandError error = {""};
    EngineDef def = engine_default();
    def.history_bytes = history_bytes;
    def.scene = scene;
    def.options.bodies = bodies;
    def.simulation.threads = 1;
    def.playing = false;
    Engine *engine = engine_create(&def, &error);
    if (!engine) fail_msg("%s", error.text);
    return engine;
}

static Engine *start(const char *scene, int bodies) { return start_with(scene, bodies, engine_default().history_bytes); }

static SandInstance *copy_of(const EngineFrame *frame) {
    size_t bytes = (size_t)frame->render_scene.spheres.count * sizeof(SandInstance);
    SandInstance *copy = malloc(bytes + 1);
    memcpy(copy, frame->render_scene.spheres.items, bytes);
    return copy;
}

static void assert_same(const SandInstance *a, const EngineFrame *frame) {
    assert_memory_equal(a, frame->render_scene.spheres.items, (size_t)frame->render_scene.spheres.count * sizeof *a);
}

// Fifty steps back and fifty forward show the same bits, over a change of solver, a flip and a thrown ball as well.
static void back_and_forward(void **state) {
    (void)state;
    Engine *engine = start("hourglass", 300);
    ask(engine, (Act){.kind = ACT_STEP, .number = 40});
    wait_for(engine, 40);
    Act solve = {.kind = ACT_SOLVE, .solve = sand_default_solve()};
    sand_solve_choose(&solve.solve, sand_solver_find("gauss-seidel"));
    ask(engine, solve);
    ask(engine, (Act){.kind = ACT_STEP, .number = 15});
    SandInstance *at55 = copy_of(wait_for(engine, 55));
    ask(engine, (Act){.kind = ACT_FLIP});
    ask(engine, (Act){.kind = ACT_STEP, .number = 50});
    EngineFrame *frame = wait_for(engine, 105);
    assert_int_equal(frame->newest_step, 105);
    SandInstance *at105 = copy_of(frame);

    ask(engine, (Act){.kind = ACT_SEEK, .number = 55});
    assert_same(at55, wait_for(engine, 55));
    ask(engine, (Act){.kind = ACT_STEP, .number = 50});
    assert_same(at105, wait_for(engine, 105));
    ask(engine, (Act){.kind = ACT_SEEK, .number = 3});
    wait_for(engine, 3);
    ask(engine, (Act){.kind = ACT_SEEK, .number = 105});
    assert_same(at105, wait_for(engine, 105));

    // A new act takes another way: what was ahead is forgotten.
    ask(engine, (Act){.kind = ACT_SEEK, .number = 60});
    wait_for(engine, 60);
    ask(engine, (Act){.kind = ACT_GRAVITY, .vector = {0, 0, 9.81}});
    ask(engine, (Act){.kind = ACT_STEP, .number = 1});
    assert_int_equal(wait_for(engine, 61)->newest_step, 61);
    free(at55);
    free(at105);
    close_engine(engine);
}

// A run that is not paused keeps the clock: it goes on by itself, never ahead of real time, until it is paused.
static void the_clock_is_kept(void **state) {
    (void)state;
    Engine *engine = start("two-spheres", 0);
    double begin = sand_seconds();
    ask(engine, (Act){.kind = ACT_PLAY, .number = 1});
    EngineFrame *frame = NULL, *next;
    bool paused = false;
    for (double end = begin + ENGINE_LIMIT; !(frame && paused && !frame->playing) && sand_seconds() < end; pause_briefly()) {
        if (!(next = engine_frame(engine))) continue;
        frame = next;
        assert_true(frame->time <= sand_seconds() - begin + 0.02); // the step that is due, of 0.01 s, and rounding
        if (frame->step < 20 || paused) continue;
        ask(engine, (Act){.kind = ACT_PLAY, .number = 0});
        paused = true;
    }
    assert_true(frame && paused && !frame->playing);
    close_engine(engine);
}

// Scenes, solvers and knobs are changed while it runs; what is wrong is told in a sentence and the old goes on.
static void requests_while_it_runs(void **state) {
    (void)state;
    Engine *engine = start("hourglass", 300);
    EngineScene scene;
    expect_message("cannot do the friction model cone"); // some of the solvers, which all have their turn
    ask(engine, (Act){.kind = ACT_PLAY, .number = 1});
    const char *const scenes[] = {"cylinder", "rubble", "drum", "stack", "two-spheres", "hourglass"};
    for (int k = 0; k < 12; k++) {
        Act other = {.kind = ACT_SCENE, .number = 200};
        snprintf(other.text, sizeof other.text, "%s", scenes[k % 6]);
        if (k % 6 == 3 || k % 6 == 4) other.number = 0; // a fixed number, whatever the call asked for
        ask(engine, other);
        Act solve = {.kind = ACT_SOLVE, .solve = sand_default_solve()};
        sand_solve_choose(&solve.solve, k % sand_solver_count());
        ask(engine, solve);
        Act shadow = solve;
        shadow.kind = ACT_SHADOW;
        shadow.number = k % 2;
        ask(engine, shadow);
        ask(engine, (Act){.kind = ACT_CURVE, .number = 1});
        unsigned version = 0; // until some of its steps are taken
        for (double end = sand_seconds() + ENGINE_LIMIT; sand_seconds() < end; pause_briefly()) {
            EngineFrame *frame = engine_frame(engine);
            hear_messages(engine);
            if (!frame) continue;
            engine_scene(engine, &scene);
            if (!strcmp(scene.name, other.text)) version = scene.version;
            if (version && frame->scene_version == version && (frame->step >= 2 || !frame->playing)) break;
        }
        assert_string_equal(scene.name, other.text);
        SandVec3 middle = v3_scale(0.5, v3_add(scene.view_lower, scene.view_upper)); // inside the world of any scene
        ask(engine, (Act){.kind = ACT_THROW, .vector = middle, .direction = {0, 0, -1}, .number = 0.05});
    }
    expect_message("no-such-scene");
    ask(engine, (Act){.kind = ACT_SCENE, .text = "no-such-scene"});
    wait_for_message(engine, "no-such-scene");
    engine_scene(engine, &scene);
    assert_string_equal(scene.name, "hourglass");
    close_engine(engine);
}

// The simulation moves to another device while it runs, where there is one; else a sentence says why not, and it goes on.
static void another_backend(void **state) {
    (void)state;
    Engine *engine = start("hourglass", 250);
    EngineScene scene;
    char why[SAND_SENTENCE];
    bool there = backends_describe(why, sizeof why);
    expect_message(why);
    ask(engine, (Act){.kind = ACT_BACKEND, .number = BACKEND_CUDA});
    ask(engine, (Act){.kind = ACT_STEP, .number = 5});
    EngineFrame *frame = wait_for(engine, 5);
    assert_true(frame->kinetic > 0);
    engine_scene(engine, &scene);
    assert_int_equal(scene.backend, there ? BACKEND_CUDA : BACKEND_CPU);
    assert_true(there == !strstr(scene.device, "CPU, 1 thread, float"));
    assert_int_equal(heard(engine, why) > 0, !there);

    // Back again, over the step where it moved, and on.
    ask(engine, (Act){.kind = ACT_BACKEND, .number = BACKEND_CPU});
    ask(engine, (Act){.kind = ACT_STEP, .number = 5});
    wait_for(engine, 10);
    ask(engine, (Act){.kind = ACT_SEEK, .number = 2});
    wait_for(engine, 2);
    engine_scene(engine, &scene);
    assert_int_equal(scene.backend, there ? BACKEND_CUDA : BACKEND_CPU);
    close_engine(engine);
}

// The size asked for at the start is the most that other scenes get; one with a fixed number has its own.
static void other_scenes_are_no_larger(void **state) {
    (void)state;
    Engine *engine = start("hourglass", 250);
    const struct {
        const char *name;
        int bodies;
    } scenes[] = {{"drum", 250}, {"stack", 10}, {"two-spheres", 2}, {"hourglass", 250}};
    wait_for(engine, 0);
    for (int k = 0; k < 4; k++) {
        Act act = {.kind = ACT_SCENE};
        snprintf(act.text, sizeof act.text, "%s", scenes[k].name);
        ask(engine, act);
        EngineFrame *frame = wait_for(engine, 0);
        EngineScene scene;
        engine_scene(engine, &scene);
        assert_string_equal(scene.name, scenes[k].name);
        assert_int_equal(frame->bodies, scenes[k].bodies);
    }
    close_engine(engine);
}

static const SandSolveDef *solve_after(Engine *engine, Act act) {
    static EngineScene scene;
    engine_scene(engine, &scene);
    unsigned before = scene.version;
    ask(engine, act);
    for (double end = sand_seconds() + ENGINE_LIMIT; scene.version == before && sand_seconds() < end; pause_briefly())
        engine_scene(engine, &scene);
    hear_messages(engine);
    assert_int_equal(scene.version, before + 1);
    return &scene.solve;
}

static bool forty_iterations(const void *asked, const SandScene *scene, SandSolveDef *solve, SandError *error) {
    assert_string_equal(asked, "forty");
    if (!strcmp(scene->name, "wedge")) return sand_fail(error, "not here");
    solve->iterations = 40;
    return true;
}

// A scene that is opened later is solved as it says and as the call asked for; the same one with more bodies as it was.
static void scenes_have_their_own_settings(void **state) {
    (void)state;
    SandError error = {""};
    EngineDef def = engine_default();
    def.scene = "hourglass";
    def.options.bodies = 200;
    def.simulation.threads = 1;
    def.playing = false;
    def.simulation.solve.iterations = 7;
    def.own_solve = true;
    for (int asked = 0; asked < 2; asked++) {
        if (asked) {
            def.choose_solve = forty_iterations;
            def.asked = "forty";
        }
        Engine *engine = engine_create(&def, &error);
        if (!engine) fail_msg("%s", error.text);
        expect_message("not here; wedge has its own settings");
        Act other = {.kind = ACT_SCENE, .text = "stack"}, wedge = {.kind = ACT_SCENE, .text = "wedge"};
        Act again = {.kind = ACT_SCENE, .text = "hourglass", .number = 150};
        assert_int_equal(solve_after(engine, again)->iterations, 7);
        assert_int_equal(solve_after(engine, other)->iterations, asked ? 40 : 200);
        assert_int_equal(solve_after(engine, wedge)->iterations, 50);
        assert_int_equal(heard(engine, "not here; wedge has its own settings"), asked);
        close_engine(engine);
    }
}

// 300 steps and more of 25,000 bodies can be gone back to within 512 MB: by the bytes that 800 take.
static void history_fits(void **state) {
    (void)state;
    uint64_t before = sand_bytes_held();
    Engine *engine = start("hourglass", 800);
    ask(engine, (Act){.kind = ACT_STEP, .number = 300});
    EngineFrame *frame = wait_for(engine, 300);
    assert_int_equal(frame->oldest_step, 0);
    double all = (double)(sand_bytes_held() - before);
    printf("300 steps of 800 bodies: %.1f MB with everything, so %.0f MB for 25,000\n", 1e-6 * all,
           1e-6 * all * 25000 / 800);
    assert_true(all * 25000 / 800 < 512e6);
    close_engine(engine);
}

// Where memory is short, going to and fro over the same steps forgets none of them.
static void old_ground_costs_no_history(void **state) {
    (void)state;
    Engine *engine = start_with("hourglass", 300, 200000);
    ask(engine, (Act){.kind = ACT_STEP, .number = 200});
    uint64_t oldest = wait_for(engine, 200)->oldest_step;
    assert_true(oldest > 0 && oldest < 160); // some are forgotten, some are kept
    for (int k = 0; k < 4; k++) {
        ask(engine, (Act){.kind = ACT_SEEK, .number = 165});
        wait_for(engine, 165);
        ask(engine, (Act){.kind = ACT_SEEK, .number = 200});
        assert_int_equal(wait_for(engine, 200)->oldest_step, oldest);
    }
    close_engine(engine);
}

// What a run shows at a step: bodies with their velocities, and sums over all of them in double.
typedef struct Shown {
    SandInstance *bodies;
    int count;
    double kinetic, potential, residual;
} Shown;

static Shown keep(const RenderScene *scene, double kinetic, double potential, const SandCounters *counters) {
    Shown s = {.count = scene->spheres.count, .kinetic = kinetic, .potential = potential};
    s.residual = counters->metrics.residual;
    s.bodies = malloc((size_t)s.count * sizeof *s.bodies + 1);
    memcpy(s.bodies, scene->spheres.items, (size_t)s.count * sizeof *s.bodies);
    return s;
}

static Shown keep_first(const EngineFrame *f) { return keep(&f->render_scene, f->kinetic, f->potential, &f->counters); }
static Shown keep_second(const EngineFrame *f) {
    assert_true(f->beside.on);
    return keep(&f->beside.render_scene, f->beside.kinetic, f->beside.potential, &f->beside.counters);
}

static bool are_same(const Shown *a, const Shown *b) {
    return a->count == b->count && a->kinetic == b->kinetic && a->potential == b->potential && a->residual == b->residual &&
           !memcmp(a->bodies, b->bodies, (size_t)a->count * sizeof *a->bodies);
}

// The two are the same, bit for bit, or differ.
static void compare(Shown a, Shown b, bool same) {
    assert_int_equal(are_same(&a, &b), same);
    free(a.bodies);
    free(b.bodies);
}

static Act solve_act(ActKind kind, const char *solver, int iterations) {
    Act act = {.kind = kind, .number = 1, .solve = sand_default_solve()};
    sand_solve_choose(&act.solve, sand_solver_find(solver));
    act.solve.iterations = iterations;
    return act;
}

static EngineFrame *advance(Engine *engine, uint64_t to, uint64_t by) {
    ask(engine, (Act){.kind = ACT_STEP, .number = (double)by});
    return wait_for(engine, to);
}

enum { PARTED = 7, THROWN = 30, LAST = 60 };
static const Act ball = {.kind = ACT_THROW, .vector = {0, 0, 2}, .direction = {0, 0, -3}, .number = 0.2};

// A run that has `second` as its solver from step PARTED on, and a ball thrown later; with a seek it goes over its steps
// again.
static Engine *run_alone(const Act *second) {
    Engine *engine = start("hourglass", 300);
    advance(engine, PARTED, PARTED);
    if (second) {
        Act solve = *second;
        solve.kind = ACT_SOLVE;
        ask(engine, solve);
    }
    advance(engine, THROWN, THROWN - PARTED);
    ask(engine, ball);
    return engine;
}

// A second run beside the first leaves it as it is, and is itself what a run of its own with that solver would be: over a
// thrown ball, after going back and forward, and after it parted anew with the ball in the world.
static void two_runs_side_by_side(void **state) {
    (void)state;
    Act jacobi = solve_act(ACT_BESIDE, "jacobi", 5);
    Engine *first = run_alone(NULL), *second = run_alone(&jacobi), *both = start("hourglass", 300);
    advance(both, PARTED, PARTED);
    ask(both, jacobi);
    EngineFrame *frame = wait_for(both, PARTED);
    assert_int_equal(frame->beside.since, PARTED);
    compare(keep_first(frame), keep_second(frame), false); // a state that nothing was solved for has no residual
    assert_true(frame->kinetic == frame->beside.kinetic && frame->potential == frame->beside.potential);
    advance(both, THROWN, THROWN - PARTED);
    ask(both, ball);

    EngineFrame *a = advance(first, LAST, LAST - THROWN), *b = advance(second, LAST, LAST - THROWN),
                *c = advance(both, LAST, LAST - THROWN);
    compare(keep_first(a), keep_first(c), true);
    compare(keep_first(b), keep_second(c), true);
    compare(keep_first(c), keep_second(c), false);

    ask(both, (Act){.kind = ACT_SEEK, .number = PARTED + 2}); // between two checkpoints of the first run
    wait_for(both, PARTED + 2);
    ask(both, (Act){.kind = ACT_SEEK, .number = LAST});
    c = wait_for(both, LAST);
    compare(keep_first(a), keep_first(c), true);
    compare(keep_first(b), keep_second(c), true);

    // Another solver for the second run alone, from a step that both go back to.
    ask(both, (Act){.kind = ACT_SEEK, .number = PARTED + 3});
    wait_for(both, PARTED + 3);
    ask(both, solve_act(ACT_BESIDE, "gauss-seidel", 5));
    ask(both, (Act){.kind = ACT_SEEK, .number = LAST});
    c = wait_for(both, LAST);
    compare(keep_first(a), keep_first(c), true);
    compare(keep_first(b), keep_second(c), false);

    // Ended, and begun anew where there is a thrown ball.
    ask(both, (Act){.kind = ACT_BESIDE});
    assert_false(advance(both, LAST + 1, 1)->beside.on);
    ask(both, jacobi);
    Act solve = jacobi;
    solve.kind = ACT_SOLVE;
    advance(first, LAST + 1, 1);
    ask(first, solve);
    a = advance(first, LAST + 20, 19);
    c = advance(both, LAST + 20, 19);
    compare(keep_first(a), keep_second(c), true);

    // Before the step where it parted it begins anew; and with the scene.
    expect_message("The second run parted after step 50; now it begins here.");
    ask(both, (Act){.kind = ACT_SEEK, .number = 50});
    frame = wait_for(both, 50);
    assert_int_equal(frame->beside.since, 50);
    ask(both, (Act){.kind = ACT_RESET});
    frame = wait_for(both, 0);
    assert_true(frame->beside.on && frame->beside.since == 0);
    assert_int_equal(heard(both, "The second run parted after step 50; now it begins here."), 1);
    close_engine(both);
    close_engine(first);
    close_engine(second);
}

// A body that is held in the picture of either run is held at the same point of it in both.
static void both_are_grabbed(void **state) {
    (void)state;
    Engine *engine = start("hourglass", 300);
    ask(engine, solve_act(ACT_BESIDE, "jacobi", 3));
    EngineFrame *frame = advance(engine, 40, 40);
    const RenderList *left = &frame->render_scene.spheres, *right = &frame->beside.render_scene.spheres;
    int top = 0; // nothing lies on it
    for (int i = 1; i < left->count; i++)
        if (left->items[i].center[2] > left->items[top].center[2]) top = i;
    const float *center = right->items[top].center;
    double before[2] = {left->items[top].center[2], center[2]};
    SandVec3 middle = v3_add(v3_make(center[0], center[1], center[2]), frame->render_scene.origin);
    ask(engine, (Act){.kind = ACT_GRAB, .body = top, .vector = middle, .beside = true});
    ask(engine, (Act){.kind = ACT_DRAG, .vector = v3_add(middle, v3_make(0, 0, 1))});
    ask(engine, (Act){.kind = ACT_PICK, .body = top});
    frame = advance(engine, 70, 30);
    assert_true(frame->picked.is_held);
    SandVec3 off = v3_sub(frame->picked.held, frame->picked.center); // the middle of one is the middle of the other
    assert_true(v3_length(off) < 1e-3 * frame->picked.radius);
    assert_true(frame->render_scene.spheres.items[top].center[2] > before[0] + 0.1);
    assert_true(frame->beside.render_scene.spheres.items[top].center[2] > before[1] + 0.1);
    close_engine(engine);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(back_and_forward),
                                       cmocka_unit_test(two_runs_side_by_side),
                                       cmocka_unit_test(both_are_grabbed),
                                       cmocka_unit_test(the_clock_is_kept),
                                       cmocka_unit_test(requests_while_it_runs),
                                       cmocka_unit_test(another_backend),
                                       cmocka_unit_test(other_scenes_are_no_larger),
                                       cmocka_unit_test(scenes_have_their_own_settings),
                                       cmocka_unit_test(history_fits),
                                       cmocka_unit_test(old_ground_costs_no_history)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
