// The window while the simulation is busy. Needs a display: tests/CMakeLists.txt runs it under Xvfb.
#include "tests/lab/lab.h"

#include <time.h>
#include <unistd.h>

#include "app/ui/cimgui.h"
#include "app/render/context.h"
#include "app/ui/interface.h"
#include "app/ui/window.h"

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

// --- content scale --------------------------------------------------------------------------------------------

static void sets_mouse(Interface *interface, Context *context, int width, int height, double scale, double at, bool over) {
    char command[80];
    snprintf(command, sizeof command, "xdotool mousemove %d %d", (int)at, (int)at);
    assert_int_equal(system(command), 0);
    bool seen = !over;
    for (int k = 0; k < 100 && seen != over; k++) { // the event takes its time
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

// A display of 1, 1.5 or 2 pixels for each unit: the window grows along, the framebuffer is counted in pixels, letters keep
// their height for the eye, and the mouse is where its pixel is.
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
        def.window = true, def.width = 400, def.height = 300;
        Context *context = context_create(&def, &error);
        if (!context) fail_msg("%s", error.text);
        Interface *interface = interface_create(context_window(context), &error);
        if (!interface) fail_msg("%s", error.text);
        int width, height;
        context_poll(context, 0.1);
        context_size(context, &width, &height);
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

int main(void) {
    char folder[] = "/tmp/sandglass-test-XXXXXX";
    if (!mkdtemp(folder)) return 1;
    setenv("XDG_CONFIG_HOME", folder, 1); // the person's own settings are left alone
    const struct CMUnitTest tests[] = {cmocka_unit_test(content_scales_are_kept_apart),
                                       cmocka_unit_test(slow_steps_do_not_hold_the_window)};
    return cmocka_run_group_tests_name("window", tests, NULL, NULL);
}
