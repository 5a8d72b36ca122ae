// SPDX-License-Identifier: MIT
// The window beside a simulation that is busy, and on displays of several content scales. `test_window bench` measures
// instead: frames a second beside a paused scene, a step that sleeps and a solve on every core.
// Needs a display: tests/lab/window/on_display provides one.
#include "sim/core/clock.h"
#include "tests/lab/lab.h"

#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "app/ui/cimgui.h"
#include "app/render/context.h"
#include "app/ui/interface.h"
#include "app/ui/window.h"
#include "sim/core/thread_pool.h"

static const double LIMIT = 300; // s, for anything that is waited for: a window that hangs, not a slow machine

// --- slow steps -----------------------------------------------------------------------------------------------

static WindowDef window_of(bool playing, void (*before_step)(void)) {
    WindowDef def = window_default();
    def.engine.scene = "hourglass";
    def.engine.options.bodies = 3000;
    def.engine.playing = playing;
    def.engine.before_step = before_step;
    def.engine.simulation.threads = 0; // every core
    def.width = 640;
    def.height = 360;
    def.quality = 0;
    return def;
}

static WindowReport run_window(const WindowDef *def) {
    WindowReport report = {0};
    SandError error = {""};
    if (!window_run(def, &report, &error)) fail_msg("%s", error.text);
    return report;
}

enum { FRAMES_A_STEP = 8, STEPS = 3 };
static atomic_int frames_drawn, steps_taken;
static atomic_bool gave_up; // a step waited for frames that did not come
static atomic_bool closed;  // the window has seen enough, and a step that has begun must not wait for it

static bool enough_frames(int begin, double end) {
    if (sand_seconds() > end && !closed) gave_up = true;
    return gave_up || closed || frames_drawn - begin >= FRAMES_A_STEP;
}

// A step that lasts until the window has drawn some frames; it would never end if the window waited for it.
static void sleep_until_drawn(void) {
    int begin = frames_drawn;
    double end = sand_seconds() + LIMIT;
    while (!enough_frames(begin, end)) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    steps_taken++;
}

// The same, with every core at work.
static void work_until_drawn(void) {
    int begin = frames_drawn;
    double end = sand_seconds() + LIMIT;
#pragma omp parallel
    while (!enough_frames(begin, end)) {}
    steps_taken++;
}

static bool count_frames(void *user) {
    (void)user;
    frames_drawn++;
    closed = gave_up || steps_taken >= STEPS;
    return closed;
}

static void unexpected_message(void *user, const char *sentence) { snprintf(user, SAND_SENTENCE, "%s", sentence); }

static void draws_beside(void (*slow_step)(void)) {
    WindowDef def = window_of(true, slow_step);
    char message[SAND_SENTENCE] = "";
    frames_drawn = steps_taken = 0;
    gave_up = closed = false;
    def.should_close = count_frames;
    def.on_message = unexpected_message;
    def.user = message;
    WindowReport report = run_window(&def);
    assert_false(gave_up);
    assert_true(report.frames >= STEPS * (FRAMES_A_STEP - 1)); // each count comes before its frame is drawn
    assert_int_equal(report.errors, 0);
    if (*message) fail_msg("unexpected message: %s", message);
}

// However long a step takes, asleep or at work on every core, the window goes on drawing.
static void slow_steps_do_not_hold_the_window(void **state) {
    (void)state;
    draws_beside(sleep_until_drawn);
    draws_beside(work_until_drawn);
}

// --- how fast -------------------------------------------------------------------------------------------------

typedef struct Stopwatch {
    int frames;
    double seconds, end;
} Stopwatch;

static bool time_is_over(void *user) {
    enum { FIRST_FRAMES = 10 }; // the driver prepares itself
    Stopwatch *watch = user;
    if (++watch->frames == FIRST_FRAMES) watch->end = sand_seconds() + watch->seconds;
    return watch->frames > FIRST_FRAMES && sand_seconds() > watch->end;
}

static WindowReport measure(bool playing, void (*before_step)(void), double budget_ms, double seconds) {
    WindowDef def = window_of(playing, before_step);
    Stopwatch watch = {.seconds = seconds};
    if (budget_ms > 0) {
        def.engine.own_solve = true;
        def.engine.simulation.solve.budget_ms = budget_ms;
        def.engine.simulation.solve.iterations = 1000000;
    }
    def.should_close = time_is_over;
    def.user = &watch;
    return run_window(&def);
}

static void sleep_two_seconds(void) { nanosleep(&(struct timespec){.tv_sec = 2}, NULL); }

// A step of two seconds, asleep or at work on every core, should leave the window at least four fifths of the frames that it
// draws while nothing runs.
static void measure_slow_steps(void **state) {
    (void)state;
    WindowReport paused = measure(false, NULL, 0, 4);
    WindowReport asleep = measure(true, sleep_two_seconds, 0, 5);
    WindowReport at_work = measure(true, NULL, 2000, 7);
    const struct {
        const char *name;
        const WindowReport *report;
    } rows[] = {{"paused", &paused}, {"beside a step that sleeps", &asleep}, {"beside a solve on every core", &at_work}};
    for (int k = 0; k < 3; k++)
        printf("%s: %.1f frames a second, %.2f of those while paused (goal: 0.8), longest stall %.0f ms\n", rows[k].name,
               rows[k].report->rate, rows[k].report->rate / paused.rate, 1e3 * rows[k].report->stall);
}

// --- content scale --------------------------------------------------------------------------------------------

static void sets_mouse(Interface *interface, Context *context, int width, int height, double scale, double at, bool over) {
    char command[80];
    snprintf(command, sizeof command, "xdotool mousemove %d %d", (int)at, (int)at);
    assert_int_equal(system(command), 0);
    bool seen = !over;
    for (double end = sand_seconds() + LIMIT; seen != over && sand_seconds() < end;) { // the event takes its time
        context_poll(context, 0.02);
        interface_begin(interface, width, height, scale, 0.02);
        igSetNextWindowPos((ImVec2){(float)(100 * scale), (float)(100 * scale)}, ImGuiCond_Always, (ImVec2){0, 0});
        igSetNextWindowSize((ImVec2){(float)(40 * scale), (float)(40 * scale)}, ImGuiCond_Always);
        igBegin("square", NULL, ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove);
        igEnd();
        interface_end(interface, 0);
        seen = interface_wants_mouse(interface);
    }
    assert_int_equal(seen, over);
}

// On a display with 1, 1.5 or 2 pixels for each unit the window and its letters grow with the scale, the framebuffer is
// measured in pixels, and the mouse is where its pixel is.
static void content_scales_are_kept_apart(void **state) {
    (void)state;
    if (system("command -v xprop >/dev/null && command -v xdotool >/dev/null") != 0) {
        print_message("skipped: there is no xprop or no xdotool\n");
        return;
    }
    for (double scale = 1; scale <= 2; scale += 0.5) {
        char command[160];
        SandError error = {""};
        snprintf(command, sizeof command, "xprop -root -f RESOURCE_MANAGER 8s -set RESOURCE_MANAGER 'Xft.dpi: %g'",
                 96 * scale);
        assert_int_equal(system(command), 0);
        ContextDef def = context_default();
        def.width = 400;
        def.height = 300;
        Context *context = context_create_window(&def, &error);
        if (!context) fail_msg("%s", error.text);
        Interface *interface = interface_create(context_window(context), &error);
        if (!interface) fail_msg("%s", error.text);
        int width, height;
        double end = sand_seconds() + LIMIT;
        do {
            context_poll(context, 0.02);
            context_size(context, &width, &height);
        } while (width != (int)(400 * scale) && sand_seconds() < end); // the display may take its time
        NEAR(context_scale(context), scale, 1e-3);
        assert_int_equal(width, (int)(400 * scale));
        assert_int_equal(height, (int)(300 * scale));
        sets_mouse(interface, context, width, height, scale, 120 * scale, true);
        sets_mouse(interface, context, width, height, scale, 95 * scale, false);
        NEAR(interface_cap_height(interface), 9.4 * scale, 0.4);
        interface_free(interface);
        assert_int_equal(context_error_count(context), 0);
        context_free(context);
    }
    assert_int_equal(system("xprop -root -remove RESOURCE_MANAGER"), 0);
}

int main(int count, char **arguments) {
    char folder[] = "/tmp/sandglass-test-XXXXXX";
    if (!mkdtemp(folder)) return 1;
    setenv("XDG_CONFIG_HOME", folder, 1); // the user's own settings are left alone
    const struct CMUnitTest tests[] = {cmocka_unit_test(content_scales_are_kept_apart),
                                       cmocka_unit_test(slow_steps_do_not_hold_the_window)};
    const struct CMUnitTest bench[] = {cmocka_unit_test(measure_slow_steps)};
    if (count > 1 && !strcmp(arguments[1], "bench")) return cmocka_run_group_tests_name("window, bench", bench, NULL, NULL);
    return cmocka_run_group_tests_name("window", tests, NULL, NULL);
}
