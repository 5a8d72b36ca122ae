// A person at the window: real events of keys and mouse (xdotool) reach every control of the table while the scene runs;
// scenes and solvers are switched ten times. No error of the graphics driver, and no stall of the window over 250 ms.
// Needs a display: tests/on_display gives one. The person is a process of its own, who sees where the controls are.
#define _DEFAULT_SOURCE // for memory that two processes share
#include "lab.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../app/controls.h"
#include "../app/window.h"

enum { WIDE = 840, HIGH = 560, TIMES = 10 };
static const double LONGEST_STALL = 0.25; // s

static ControlPlace *places; // shared by the two processes
static int failures;

static void rest(double seconds) {
    nanosleep(&(struct timespec){(time_t)seconds, (long)(1e9 * (seconds - floor(seconds)))}, NULL);
}

__attribute__((format(printf, 1, 2))) static void act(const char *format, ...) {
    char words[400], command[440];
    va_list list;
    va_start(list, format);
    vsnprintf(words, sizeof words, format, list);
    va_end(list);
    snprintf(command, sizeof command, "xdotool %s", words);
    if (system(command) != 0) fprintf(stderr, "`%s` failed\n", command), failures++;
}

static bool wait_until(volatile const bool *flag, double seconds) {
    for (int k = 0; k < 100 * seconds && !*flag; k++) rest(0.01);
    return *flag;
}

// Turns the wheel over the control's column until it is in sight.
static void bring_into_sight(ControlId id) {
    const volatile ControlPlace *p = &places[id];
    for (int k = 0; k < 12 && (p->y < 60 || p->y > HIGH - 90); k++) {
        double off = p->y - 0.5 * HIGH;
        int turns = (int)(fabs(off) / 90) + 1;
        act("mousemove %d %d click --repeat %d --delay 15 %d", (int)p->x, HIGH / 2, turns < 20 ? turns : 20,
            off > 0 ? 5 : 4);
        rest(0.25);
        if (p->y == off + 0.5 * HIGH) return; // it stands at the edge, and no wheel moves it
    }
}

typedef enum Way { PRESS, DRAG, PICK, TYPE, LOOK } Way;

static void use(ControlId id, Way way) {
    volatile ControlPlace *p = &places[id];
    for (int attempt = 0; attempt < 10; attempt++) { // a loaded machine may draw too seldom to see a press
        if (!wait_until(&p->drawn, 5)) break;
        bring_into_sight(id);
        int pressed = p->pressed, picked = p->picked, x = (int)p->x, y = (int)p->y;
        switch (way) {
        case LOOK: act("mousemove %d %d", x, y); return;
        case PRESS: act("mousemove %d %d sleep 0.1 mousedown 1 sleep 0.25 mouseup 1", x, y); break;
        case TYPE: act("mousemove %d %d sleep 0.05 click 1 sleep 0.1 key End type s", x, y); break;
        case DRAG:
            act("mousemove %d %d sleep 0.05 mousedown 1 sleep 0.25 mousemove_relative -- -9 0 sleep 0.25 mouseup 1", x, y);
            break;
        case PICK:
            act("mousemove %d %d sleep 0.1 mousedown 1 sleep 0.25 mouseup 1", x, y);
            if (!wait_until((const bool *)&p->open, 6)) continue;
            rest(0.15); // the list comes to rest
            act("mousemove %d %d sleep 0.1 mousedown 1 sleep 0.25 mouseup 1", (int)p->entry_x, (int)p->entry_y);
            for (int k = 0; k < 400 && p->picked == picked; k++) rest(0.01);
            if (p->picked > picked) return;
            act("mousemove %d %d click 1", WIDE * 3 / 4, HIGH / 3); // a click beside the list closes it
            continue;
        }
        for (int k = 0; k < 400 && p->pressed == pressed; k++) rest(0.01);
        if (p->pressed > pressed) return rest(0.15); // until it has seen that it was let go
    }
    fprintf(stderr, "%s could not be used\n", control_table[id].label);
    failures++;
}

// Every control once, in an order in which each is there when its turn comes.
static void use_everything(void) {
    static const struct Use {
        ControlId id;
        Way way;
    } uses[] = {
        {CONTROL_BODIES, DRAG},
        {CONTROL_KNOB, DRAG},
        {CONTROL_PARAM, DRAG},
        {CONTROL_CITE, PRESS},
        {CONTROL_FRICTION, PICK},
        {CONTROL_BOUNDS, PICK},
        {CONTROL_FACETS, LOOK},
        {CONTROL_ITERATIONS, DRAG},
        {CONTROL_TOLERANCE, DRAG},
        {CONTROL_BUDGET, PICK},
        {CONTROL_BUDGET_MS, DRAG},
        {CONTROL_BUDGET, PICK},
        {CONTROL_BACKEND, LOOK},
        {CONTROL_SHADOW, PICK},
        {CONTROL_SHADOW_PARAM, DRAG},
        {CONTROL_COLOR, PICK},
        {CONTROL_COLORMAP, PICK},
        {CONTROL_CHAINS, PRESS},
        {CONTROL_CLOCK, PRESS},
        {CONTROL_LEGEND, PRESS},
        {CONTROL_RESIDUAL, PRESS},
        {CONTROL_GRAVITY, DRAG},
        {CONTROL_TILT, DRAG},
        {CONTROL_TOWARDS, DRAG},
        {CONTROL_VIEW, PRESS},
        {CONTROL_CAMERA_COPY, PRESS},
        {CONTROL_BOOKMARK_ADD, PRESS},
        {CONTROL_BOOKMARK, PRESS},
        {CONTROL_BOOKMARK_REMOVE, PRESS},
        {CONTROL_FOLDER, TYPE},
        {CONTROL_FORMAT, PICK},
        {CONTROL_FORMAT, PICK},
        {CONTROL_FORMAT, PICK},
        {CONTROL_FORMAT, PICK},
        {CONTROL_FPS, DRAG},
        {CONTROL_SIZE, PICK},
        {CONTROL_RECORD, PRESS},
        {CONTROL_RECORD, PRESS},
        {CONTROL_SCREENSHOT, PRESS},
        {CONTROL_RACE_SOLVER, PRESS},
        {CONTROL_RACE_ITERATIONS, DRAG},
        {CONTROL_RACE_COLD, PRESS},
        {CONTROL_RACE, PRESS},
        {CONTROL_RACE_CANCEL, LOOK},
        {CONTROL_CAMERA_KEY, PRESS},
        {CONTROL_TAKE, PRESS},
        {CONTROL_SAVE_CSV, PRESS},
        {CONTROL_SAVE_PNG, PRESS},
        {CONTROL_STEP, PRESS},
        {CONTROL_STEP_BACK, PRESS},
        {CONTROL_SCRUB, DRAG},
        {CONTROL_SPEED, DRAG},
        {CONTROL_FLIP, PRESS},
        {CONTROL_PLAY, PRESS},
        {CONTROL_RESET, PRESS},
        {CONTROL_SCENE, LOOK},
        {CONTROL_SAMPLES, PICK},
        {CONTROL_QUALITY, PICK},
        {CONTROL_SOLVER, LOOK},
        {CONTROL_HELP, PRESS}, // the key closes it again
        {CONTROL_HIDE, PRESS},
    };
    bool used[CONTROL_COUNT] = {false};
    for (size_t k = 0; k < sizeof uses / sizeof *uses; k++) {
        use(uses[k].id, uses[k].way), used[uses[k].id] = true;
        if (uses[k].id == CONTROL_HELP) act("key F1"), rest(0.2);
    }
    for (int id = 0; id < CONTROL_COUNT; id++)
        if (!used[id]) fprintf(stderr, "%s is not used by this test\n", control_table[id].label), failures++;
}

static bool panel_is_there(void) {
    if (!wait_until(&places[CONTROL_SCENE].drawn, 60)) return fprintf(stderr, "the panel did not come\n"), false;
    rest(2); // the first frames, for which the driver makes its programs
    return true;
}

static int switch_solvers_and_scenes(void) {
    if (!panel_is_there()) return 1;
    for (int k = 0; k < TIMES; k++) use(CONTROL_SOLVER, PICK);
    for (int k = 0; k < TIMES; k++) use(CONTROL_SCENE, PICK);
    act("key Escape");
    return failures;
}

static int use_all_there_is(void) {
    if (!panel_is_there()) return 1;
    use_everything();
    // The panel is hidden now: keys, and the mouse on the scene itself.
    act("key b sleep 0.2 key c sleep 0.2 key space sleep 0.2 key period sleep 0.2 key comma sleep 0.2 key f");
    act("mousemove 600 300 mousedown 1 mousemove_relative 25 9 sleep 0.1 mouseup 1");
    act("mousemove 600 300 mousedown 3 mousemove_relative 12 5 sleep 0.1 mouseup 3");
    act("keydown ctrl mousemove 600 380 mousedown 1 sleep 0.1 mousemove_relative -- 0 -30 sleep 0.3 mouseup 1 keyup ctrl");
    act("click 4 sleep 0.1 click 5 key Home sleep 0.2 key p sleep 0.2 key Tab sleep 0.3");
    rest(0.5);
    act("key Escape");
    return failures;
}

// Opens a window with a person before it. Any error of the driver fails it.
static WindowReport sit_down(int (*person)(void), int bodies) {
    places = mmap(NULL, CONTROL_COUNT * sizeof *places, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(places != MAP_FAILED);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(person() != 0);

    control_watch(places);
    WindowDef def = window_default();
    WindowReport report = {0};
    SandError error = {""};
    def.engine.scene = "hourglass";
    def.engine.options.bodies = bodies;
    def.engine.simulation.threads = 1;
    def.width = WIDE, def.height = HIGH, def.quality = 0, def.unfold = true, def.seconds = 240;
    bool ran = window_run(&def, &report, &error);
    control_watch(NULL);
    // Who closed the window is done; whoever is not has lost it.
    int status = -1, left = 200;
    while (waitpid(child, &status, WNOHANG) == 0 && left-- > 0) rest(0.01);
    if (left <= 0) kill(child, SIGTERM), waitpid(child, &status, 0);
    munmap(places, CONTROL_COUNT * sizeof *places);
    print_message("%.1f frames a second, longest stall %.0f ms\n", report.rate, 1e3 * report.stall);
    if (!ran) fail_msg("%s", error.text);
    assert_int_equal(report.errors, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return report;
}

// Ten solvers and ten scenes while it runs, and the window never stands still.
static void solvers_and_scenes_are_switched(void **state) {
    (void)state;
    WindowReport report = sit_down(switch_solvers_and_scenes, 1000);
    if (report.stall > LONGEST_STALL) fail_msg("the window stood still for %.0f ms", 1e3 * report.stall);
}

// Every control, key and button of the mouse. A processor that draws takes its time over a first picture of high quality,
// and over a film, so stalls are only told.
static void everything_is_used(void **state) {
    (void)state;
    sit_down(use_all_there_is, 200);
    assert_int_equal(access("sandglass/settings", R_OK), 0);
    assert_int_equal(system("ls *.png framess >/dev/null"), 0); // pictures of the window, and the folder that was typed
}

int main(void) {
    if (system("command -v xdotool >/dev/null") != 0) return puts("skipped: there is no xdotool"), 77;
    // Settings, pictures and films of this person go to a folder of their own.
    char folder[] = "/tmp/sandglass-person-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0) return 1;
    setenv("XDG_CONFIG_HOME", folder, 1);
    const struct CMUnitTest tests[] = {cmocka_unit_test(solvers_and_scenes_are_switched),
                                       cmocka_unit_test(everything_is_used)};
    return cmocka_run_group_tests_name("person", tests, NULL, NULL);
}
