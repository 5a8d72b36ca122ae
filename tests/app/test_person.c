// SPDX-License-Identifier: MIT
// A person at the window: real key and mouse events (xdotool) reach every control of the table while the scene runs, and
// scenes and solvers are switched ten times. The graphics driver must report no error, and the panel no message that the
// test does not expect.
// `test_person bench` measures instead: frames a second and the longest stall.
#define _DEFAULT_SOURCE // for memory that two processes share
#include "tests/lab/window/person.h"

enum { TIMES = 10 };

// Every control once, in an order in which each is there when its turn comes.
static void use_everything(void) {
    static const struct Use {
        ControlId id;
        Way way;
        const char *entry; // of a list; NULL: the next one
    } uses[] = {
        {CONTROL_BODIES, DRAG, NULL},
        {CONTROL_KNOB, DRAG, NULL},
        {CONTROL_PARAM, DRAG, NULL},
        {CONTROL_CITE, PRESS, NULL},
        {CONTROL_FRICTION, PICK, "prism"}, // which has bounds and facets
        {CONTROL_BOUNDS, PICK, NULL},
        {CONTROL_FACETS, DRAG, NULL},
        {CONTROL_FRICTION, PICK, "cone"},
        {CONTROL_ITERATIONS, DRAG, NULL},
        {CONTROL_TOLERANCE, DRAG, NULL},
        {CONTROL_RELATIVE, PRESS, NULL},
        {CONTROL_START, PRESS, NULL}, // from the lattice
        {CONTROL_START, PRESS, NULL}, // and settled again
        {CONTROL_BUDGET, PICK, "milliseconds"},
        {CONTROL_BUDGET_MS, DRAG, NULL},
        {CONTROL_BUDGET, PICK, "accuracy, in ms"},
        {CONTROL_ACCURACY, DRAG, NULL},
        {CONTROL_BUDGET, PICK, "iterations"},
        {CONTROL_BACKEND, PICK, "cpu"},
        {CONTROL_SHADOW, PICK, NULL},
        {CONTROL_SHADOW_PARAM, DRAG, NULL},
        {CONTROL_BESIDE, PICK, "jacobi"},
        {CONTROL_BESIDE_FRICTION, PICK, "frictionless"},
        {CONTROL_BESIDE_ITERATIONS, DRAG, NULL},
        {CONTROL_BESIDE_PARAM, DRAG, NULL},
        {CONTROL_BESIDE, PICK, "none"},
        {CONTROL_RACE_SOLVER, PRESS, NULL},
        {CONTROL_RACE_COLD, PRESS, NULL},
        {CONTROL_RACE_ITERATIONS, DRAG_FAR, NULL}, // a race that is still on when it is canceled
        {CONTROL_RACE, PRESS, NULL},
        {CONTROL_RACE_CANCEL, PRESS, NULL},
        {CONTROL_RACE_QUANTITY, PICK, "residual"},
        {CONTROL_RACE_AGAINST, PICK, "time"},
        {CONTROL_RACE_CURVE, PRESS, NULL},
        {CONTROL_RACE_PNG, PRESS, NULL},
        {CONTROL_RACE_SVG, PRESS, NULL},
        {CONTROL_RACE_CSV, PRESS, NULL},
        {CONTROL_RACE_AGAIN, PRESS, NULL},
        {CONTROL_RACE_CLOSE, PRESS, NULL},
        {CONTROL_RACE_SHOW, PRESS, NULL},
        {CONTROL_RACE_CLOSE, PRESS, NULL},
        {CONTROL_COLOR, PICK, NULL},
        {CONTROL_COLORMAP, PICK, NULL},
        {CONTROL_RANGE, PICK, NULL},
        {CONTROL_CHAINS, PRESS, NULL},
        {CONTROL_CHAIN_THRESHOLD, DRAG, NULL},
        {CONTROL_CHAIN_SCALE, DRAG, NULL},
        {CONTROL_CUT, DRAG_FAR, NULL},
        {CONTROL_CUT, DRAG, NULL},
        {CONTROL_EXPOSURE, DRAG, NULL},
        {CONTROL_SAMPLES, PICK, "4"},
        {CONTROL_SAMPLES, PICK, "1"},
        {CONTROL_QUALITY, PICK, "medium"},
        {CONTROL_QUALITY, PICK, "low"},
        {CONTROL_CLOCK, PRESS, NULL},
        {CONTROL_LEGEND, PRESS, NULL},
        {CONTROL_RESIDUAL, PRESS, NULL},
        {CONTROL_GRAVITY, DRAG, NULL},
        {CONTROL_TILT, DRAG, NULL},
        {CONTROL_TOWARDS, DRAG, NULL},
        {CONTROL_VIEW, PRESS, NULL},
        {CONTROL_CAMERA_COPY, PRESS, NULL},
        {CONTROL_BOOKMARK_ADD, PRESS, NULL},
        {CONTROL_BOOKMARK, PRESS, NULL},
        {CONTROL_BOOKMARK_REMOVE, PRESS, NULL},
        {CONTROL_CAMERA_KEY, PRESS, NULL},
        {CONTROL_TAKE, PRESS, NULL},
        {CONTROL_FOLDER, TYPE, NULL},
        {CONTROL_OPEN_FOLDER, PRESS, NULL},
        {CONTROL_FORMAT, PICK, "GIF"},
        {CONTROL_FORMAT, PICK, "PNG frames"},
        {CONTROL_FPS, DRAG, NULL},
        {CONTROL_SIZE, PICK, "1280 x 720"},
        {CONTROL_RECORD, PRESS, NULL}, // and again, to end it
        {CONTROL_RECORD, PRESS, NULL},
        {CONTROL_SCREENSHOT, PRESS, NULL},
        {CONTROL_SAVE_CSV, PRESS, NULL},
        {CONTROL_SAVE_PNG, PRESS, NULL},
        {CONTROL_PROBE, TYPE, NULL}, // what is typed is none, and a sentence says so
        {CONTROL_PROBE_ADD, PRESS, NULL},
        {CONTROL_STEP, PRESS, NULL},
        {CONTROL_STEP_BACK, PRESS, NULL},
        {CONTROL_SCRUB, DRAG, NULL},
        {CONTROL_SPEED, DRAG, NULL},
        {CONTROL_FLIP, PRESS, NULL},
        {CONTROL_PLAY, PRESS, NULL},
        {CONTROL_RESET, PRESS, NULL},
        {CONTROL_SOLVER, PICK, NULL},
        {CONTROL_SCENE, PICK, NULL},
        {CONTROL_HELP, PRESS, NULL}, // the key closes it again
        {CONTROL_HIDE, PRESS, NULL},
    };
    bool used[CONTROL_COUNT] = {false};
    // The question before the window closes: tests/app/test_manners.c.
    used[CONTROL_CLOSE_SAVE] = used[CONTROL_CLOSE_NOW] = used[CONTROL_CLOSE_STAY] = used[CONTROL_CLOSE_ASK] = true;
    used[CONTROL_FOLLOW] = true; // there is nothing to follow here: tests/app/test_manners.c has its key
    used[CONTROL_CANCEL] = true; // there is nothing slow to cancel here: tests/app/test_panel.c, tests/app/test_opening.c
    for (size_t k = 0; k < sizeof uses / sizeof *uses && !failures; k++) {
        use(uses[k].id, uses[k].way, uses[k].entry);
        used[uses[k].id] = true;
        if (uses[k].id == CONTROL_HELP) press_key("F1");
    }
    for (int id = 0; id < CONTROL_COUNT && !failures; id++) {
        if (used[id]) continue;
        fprintf(stderr, "%s is not used by this test\n", control_table[id].label);
        failures++;
    }
}

static bool panel_is_there(void) {
    // The driver compiles its programs during the first frames.
    if (wait_beyond(&shared->places[CONTROL_SCENE].frame, 20)) return true;
    fprintf(stderr, "the panel did not come\n");
    return false;
}

static int switch_solvers_and_scenes(void) {
    if (!panel_is_there()) return 1;
    for (int k = 0; k < TIMES && !failures; k++) use(CONTROL_SOLVER, PICK, NULL);
    for (int k = 0; k < TIMES && !failures; k++) use(CONTROL_SCENE, PICK, NULL);
    close_window();
    return failures;
}

static bool wait_for_second_run(bool there) {
    for (double end = now() + LIMIT; (shared->state.beside >= 0) != there && now() < end;) rest(0.004);
    return (shared->state.beside >= 0) == there;
}

// Two solvers side by side: a body is dragged in the second picture, and a film of both is taken.
static void compare_solvers(void) {
    press_key("d");
    if (!wait_for_second_run(true)) failures++;
    press_key("c");
    act("keydown ctrl");
    drag_mouse(1, 630, 380, 0, -30);
    act("keyup ctrl");
    drag_mouse(1, 700, 300, 25, 9);
    press_key("b");
    press_key("p");
    press_key("comma");
    press_key("space");
    press_key("d");
    if (!wait_for_second_run(false)) failures++;
}

static int use_all_there_is(void) {
    if (!panel_is_there()) return 1;
    use_everything();
    // The panel is hidden now: keys, and the mouse on the scene itself.
    static const char *const keys[] = {"b", "c", "space", "period", "comma", "f"};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) press_key(keys[k]);
    compare_solvers();
    drag_mouse(1, 600, 300, 25, 9);
    drag_mouse(3, 600, 300, 12, 5);
    act("keydown ctrl");
    drag_mouse(1, 600, 380, 0, -30);
    act("keyup ctrl");
    act("click 4");
    wait_for_frames();
    act("click 5");
    press_key("Home");
    press_key("p");
    press_key("Tab");
    close_window();
    return failures;
}

// The last scene is `wedge`, whose walls close in on a ball.
static const char *const switching_expects[] = {"is infeasible; its best impulses are used", NULL};

// Ten solvers and ten scenes while it runs.
static void solvers_and_scenes_are_switched(void **state) {
    (void)state;
    sit_down(switch_solvers_and_scenes, 1000, switching_expects);
}

// Every control, key and button of the mouse.
static void everything_is_used(void **state) {
    (void)state;
    static const char *const expected[] = {"The references are on the clipboard.",
                                           "The view is on the clipboard.",
                                           "Camera key 1",
                                           "runs beside",
                                           "The second run parted",
                                           "The take is saved as",
                                           "Saved as ", // a plot
                                           "Picture saved as ",
                                           "Film saved as ",
                                           "Tab brings it back",
                                           "xdg-open is not installed",
                                           "The file manager shows",
                                           "cannot be opened",
                                           "expected NAME KIND KEY=VALUE",
                                           NULL};
    sit_down(use_all_there_is, 200, expected);
    assert_int_equal(access("sandglass/settings", R_OK), 0);
    assert_int_equal(system("ls frames/*.svg framess/*.png framess/*.csv >/dev/null"),
                     0); // the race, and what came after another folder was typed
}

// The window never stands still while solvers and scenes are switched: the goal is 250 ms.
static void measure(void **state) {
    (void)state;
    WindowReport report = sit_down(switch_solvers_and_scenes, 1000, switching_expects);
    printf("ten solvers and ten scenes switched: %.1f frames a second, longest stall %.0f ms (goal: 250 ms)\n", report.rate,
           1e3 * report.stall);
}

int main(int count, char **arguments) {
    if (system("command -v xdotool >/dev/null") != 0) return puts("skipped: there is no xdotool"), 77;
    // Settings, pictures and films of this person go to a folder of their own.
    char folder[] = "/tmp/sandglass-person-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0) return 1;
    setenv("XDG_CONFIG_HOME", folder, 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(solvers_and_scenes_are_switched),
                                       cmocka_unit_test(everything_is_used)};
    const struct CMUnitTest bench[] = {cmocka_unit_test(measure)};
    if (count > 1 && !strcmp(arguments[1], "bench")) return cmocka_run_group_tests_name("person, bench", bench, NULL, NULL);
    return cmocka_run_group_tests_name("person", tests, NULL, NULL);
}
