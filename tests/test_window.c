// The window while the simulation is busy. Needs a display: tests/CMakeLists.txt runs it under Xvfb.
#include "lab.h"

#include <time.h>
#include <unistd.h>

#include "../app/options.h"
#include "../app/window.h"

static WindowReport look(bool playing, void (*before_step)(void), double budget_ms, double seconds) {
    WindowDef def = window_default();
    WindowReport report = {0};
    SandError error = {""};
    def.engine.scene = "hourglass";
    def.engine.options.bodies = 3000;
    def.engine.playing = playing;
    def.engine.before_step = before_step;
    def.engine.simulation.threads = 0; // every core
    if (budget_ms > 0) {
        def.engine.own_solve = true;
        def.engine.simulation.solve.budget_ms = budget_ms, def.engine.simulation.solve.iterations = 1000000;
    }
    def.width = 640, def.height = 360, def.quality = 0, def.seconds = seconds;
    if (!window_run(&def, &report, &error)) fail_msg("%s", error.text);
    return report;
}

static void sleep_two_seconds(void) { nanosleep(&(struct timespec){.tv_sec = 2}, NULL); }

// A step of two seconds, asleep or at work on every core, leaves the window at least four fifths of the frames that it draws
// while nothing runs.
static void slow_steps_do_not_hold_the_window(void **state) {
    (void)state;
    WindowReport paused = look(false, NULL, 0, 4), asleep = look(true, sleep_two_seconds, 0, 5),
                 at_work = look(true, NULL, 2000, 7);
    print_message("frames a second: %.1f paused, %.1f in a step that sleeps, %.1f in a step that works on every core; "
                  "longest stalls %.0f, %.0f and %.0f ms\n",
                  paused.rate, asleep.rate, at_work.rate, 1e3 * paused.stall, 1e3 * asleep.stall, 1e3 * at_work.stall);
    assert_true(paused.rate > 5);
    assert_true(asleep.rate >= 0.8 * paused.rate);
    assert_true(at_work.rate >= 0.8 * paused.rate);
}

int main(void) {
    char folder[] = "/tmp/sandglass-test-XXXXXX";
    if (!mkdtemp(folder)) return 1;
    setenv("XDG_CONFIG_HOME", folder, 1); // the person's own settings are left alone
    const struct CMUnitTest tests[] = {cmocka_unit_test(slow_steps_do_not_hold_the_window)};
    return cmocka_run_group_tests_name("window", tests, NULL, NULL);
}
