// A person at the window: real events of keys and mouse (xdotool) reach every control of the table while the scene runs;
// scenes and solvers are switched ten times. No error of the graphics driver, and no stall of the window over 250 ms.
// Needs a display: tests/lab/on_display gives one. The person is a process of its own, who sees where the controls are.
#define _DEFAULT_SOURCE // for memory that two processes share
#include "tests/lab/lab.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "app/ui/panel/controls.h"
#include "app/ui/window.h"

enum { WIDE = 840, HIGH = 560, TIMES = 10 };
static const double LONGEST_STALL = 0.25; // s
static const double PATIENCE = 15; // s, until the window has seen what was done; a frame of a film may take one of them
static const double WHEEL = 75;    // pixels that one turn of the wheel moves the panel

static ControlPlace *places; // shared by the two processes
static int failures;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

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

// --- the person: does one thing, and waits until the window has seen it -------------------------------------

typedef volatile const ControlPlace Place;

static bool wait_until(volatile const bool *flag, bool wanted) {
    for (double end = now() + PATIENCE; *flag != wanted && now() < end;) rest(0.004);
    return *flag == wanted;
}

static bool wait_beyond(volatile const int *count, int before) {
    for (double end = now() + PATIENCE; *count <= before && now() < end;) rest(0.004);
    return *count > before;
}

// Turns the wheel over the control's column until it is in sight.
static void bring_into_sight(Place *p) {
    for (int k = 0; k < 12 && (p->y < 40 || p->y > HIGH - 40); k++) {
        double before = p->y, off = before - 0.5 * HIGH;
        act("mousemove %d %d click --repeat %d --delay 2 %d", (int)p->x, HIGH / 2, (int)ceil(fabs(off) / WHEEL),
            off > 0 ? 5 : 4);
        double last; // the window has seen all turns when it stands still again
        do last = p->y;
        while (wait_beyond(&p->frame, p->frame + 2) && p->y != last);
        if (last == before) return; // it stands at the edge, and no wheel moves it
    }
}

// Moves the mouse to a place until the window says that it is there: the place may move on in the meantime.
static bool point_at(volatile const double *x, volatile const double *y, volatile const bool *there) {
    for (double end = now() + PATIENCE; now() < end;) {
        int at_x = (int)*x, at_y = (int)*y;
        act("mousemove %d %d", at_x, at_y);
        while (!*there && (int)*x == at_x && (int)*y == at_y && now() < end) rest(0.004);
        if (*there) return true;
    }
    return false;
}

typedef enum Way { PRESS, DRAG, DRAG_FAR, PICK, TYPE } Way;

// Uses the control once; NULL, or what could not be done.
static const char *try(ControlId id, Way way, const char *entry) {
    volatile ControlPlace *p = &places[id];
    snprintf((char *)p->wish, sizeof p->wish, "%s", entry ? entry : "");
    if (!wait_beyond(&p->frame, p->frame)) return "is not drawn";
    bring_into_sight(p);
    int used = p->used;
    if (!point_at(&p->x, &p->y, &p->hovered)) return "cannot be pointed at";
    act("mousedown 1");
    if (!wait_until(&p->held, true)) return "cannot be held";
    if (way == DRAG || way == DRAG_FAR) {
        act("mousemove_relative -- %d 0", way == DRAG ? -9 : 300);
        if (!wait_beyond(&p->used, used)) return "cannot be drawn";
        rest(0.1); // over more than one frame
    }
    act("mouseup 1");
    if (way == PICK) {
        if (!wait_until(&p->open, true)) return "does not open";
        if (!point_at(&p->entry_x, &p->entry_y, &p->on_entry)) return "has an entry that cannot be pointed at";
        act("mousedown 1");
        if (!wait_until(&p->held, true)) return "has an entry that cannot be held";
        act("mouseup 1");
    } else if (way == TYPE) {
        act("key End type s");
    }
    if (!wait_beyond(&p->used, used)) return "has no effect";
    return way == TYPE || wait_until(&p->held, false) ? NULL : "is not let go";
}

static void use(ControlId id, Way way, const char *entry) {
    const char *why = try(id, way, entry);
    if (why) fprintf(stderr, "%s %s\n", control_table[id].label, why), failures++;
}

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
        {CONTROL_BUDGET, PICK, "milliseconds"},
        {CONTROL_BUDGET_MS, DRAG, NULL},
        {CONTROL_BUDGET, PICK, "iterations"},
        {CONTROL_BACKEND, PICK, "cpu"},
        {CONTROL_SHADOW, PICK, NULL},
        {CONTROL_SHADOW_PARAM, DRAG, NULL},
        {CONTROL_RACE_SOLVER, PRESS, NULL},
        {CONTROL_RACE_COLD, PRESS, NULL},
        {CONTROL_RACE_ITERATIONS, DRAG_FAR, NULL}, // a race that is still on when it is cancelled
        {CONTROL_RACE, PRESS, NULL},
        {CONTROL_RACE_CANCEL, PRESS, NULL},
        {CONTROL_COLOR, PICK, NULL},
        {CONTROL_COLORMAP, PICK, NULL},
        {CONTROL_CHAINS, PRESS, NULL},
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
        {CONTROL_FORMAT, PICK, "GIF"},
        {CONTROL_FORMAT, PICK, "PNG frames"},
        {CONTROL_FPS, DRAG, NULL},
        {CONTROL_SIZE, PICK, "1280 x 720"},
        {CONTROL_RECORD, PRESS, NULL}, // and again, to end it
        {CONTROL_RECORD, PRESS, NULL},
        {CONTROL_SCREENSHOT, PRESS, NULL},
        {CONTROL_SAVE_CSV, PRESS, NULL},
        {CONTROL_SAVE_PNG, PRESS, NULL},
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
    for (size_t k = 0; k < sizeof uses / sizeof *uses && !failures; k++) {
        use(uses[k].id, uses[k].way, uses[k].entry), used[uses[k].id] = true;
        if (uses[k].id == CONTROL_HELP) act("key F1"), rest(0.2);
    }
    for (int id = 0; id < CONTROL_COUNT && !failures; id++)
        if (!used[id]) fprintf(stderr, "%s is not used by this test\n", control_table[id].label), failures++;
}

static bool panel_is_there(void) {
    for (int k = 0; k < 600 && places[CONTROL_SCENE].frame < 20; k++)
        rest(0.1); // in the first the driver makes its programs
    return places[CONTROL_SCENE].drawn || (fprintf(stderr, "the panel did not come\n"), false);
}

static int switch_solvers_and_scenes(void) {
    if (!panel_is_there()) return 1;
    for (int k = 0; k < TIMES && !failures; k++) use(CONTROL_SOLVER, PICK, NULL);
    for (int k = 0; k < TIMES && !failures; k++) use(CONTROL_SCENE, PICK, NULL);
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
