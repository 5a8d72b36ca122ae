// A person at the window: real key and mouse events (xdotool) reach every control of the table while the scene runs, and
// scenes and solvers are switched ten times. The graphics driver must report no error, and the panel no message that the
// test does not expect.
//
// The person is a process of its own that shares memory with the window: the window tells it where its controls are and how
// many frames it has drawn. The person does one thing, waits for the frame that shows its effect, and goes on, so the test
// passes on a machine of any speed. `test_person bench` measures instead: frames a second and the longest stall.
// Needs a display: tests/lab/on_display provides one.
#define _DEFAULT_SOURCE // for memory that two processes share
#include "tests/lab/lab.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "app/ui/panel/controls.h"
#include "app/ui/window.h"

enum { WIDE = 840, HIGH = 560, TIMES = 10, FRAMES_TO_CLOSE = 200 };
static const double LIMIT = 300; // s, for one effect to show: a window that hangs, not a slow machine
static const double WHEEL = 75;  // pixels that one turn of the wheel moves the panel

typedef struct Shared {
    ControlPlace places[CONTROL_COUNT];
    volatile int frames; // drawn so far
} Shared;
static Shared *shared; // by the two processes
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
    if (system(command) != 0) {
        fprintf(stderr, "`%s` failed\n", command);
        failures++;
    }
}

// --- the person: does one thing, and waits until the window has seen it -------------------------------------

typedef volatile const ControlPlace Place;

static bool wait_until(volatile const bool *flag, bool wanted) {
    for (double end = now() + LIMIT; *flag != wanted && now() < end;) rest(0.004);
    return *flag == wanted;
}

static bool wait_beyond(volatile const int *count, int before) {
    for (double end = now() + LIMIT; *count <= before && now() < end;) rest(0.004);
    return *count > before;
}

static void copy_text(char *to, volatile const char *from) {
    for (size_t i = 0; i < sizeof((ControlPlace *)0)->shown; i++) to[i] = from[i];
}

// The next entry of a list is known only when the engine has taken the request before, and the list shows so.
static bool wait_for_change(volatile const char *text, const char *before) {
    char after[sizeof((ControlPlace *)0)->shown];
    for (double end = now() + LIMIT; now() < end; rest(0.004)) {
        copy_text(after, text);
        if (strcmp(after, before)) return true;
    }
    return false;
}

// Waits until the window has polled the events sent so far and has drawn a whole frame after that.
static void wait_for_frames(void) {
    if (wait_beyond(&shared->frames, shared->frames + 2)) return;
    fprintf(stderr, "the window draws no more\n");
    failures++;
}

static void press_key(const char *key) {
    act("key %s", key);
    wait_for_frames();
}

// Presses a mouse button here, drags and lets go, with frames in between.
static void drag_mouse(int button, int x, int y, int by_x, int by_y) {
    act("mousemove %d %d mousedown %d", x, y, button);
    wait_for_frames();
    act("mousemove_relative -- %d %d", by_x, by_y);
    wait_for_frames();
    act("mouseup %d", button);
    wait_for_frames();
}

// Turns the wheel over the control's column until it is in sight.
static void bring_into_sight(Place *p) {
    for (int k = 0; k < 12 && (p->y < 40 || p->y > HIGH - 40); k++) {
        double before = p->y, off = before - 0.5 * HIGH;
        act("mousemove %d %d click --repeat %d --delay 2 %d", (int)p->x, HIGH / 2, (int)ceil(fabs(off) / WHEEL),
            off > 0 ? 5 : 4);
        double last; // the window has seen all turns when the control stands still again
        do last = p->y;
        while (wait_beyond(&p->frame, p->frame + 2) && p->y != last);
        if (last == before) return; // the column is at its end, and the wheel moves it no further
    }
}

// Moves the mouse to a place until the window says that it is there: the place may move on in the meantime.
static bool point_at(volatile const double *x, volatile const double *y, volatile const bool *there) {
    for (double end = now() + LIMIT; now() < end;) {
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
    volatile ControlPlace *p = &shared->places[id];
    snprintf((char *)p->wanted_entry, sizeof p->wanted_entry, "%s", entry ? entry : "");
    if (!wait_beyond(&p->frame, p->frame)) return "is not drawn";
    bring_into_sight(p);
    int used = p->used;
    char before[sizeof p->shown];
    copy_text(before, p->shown);
    if (!point_at(&p->x, &p->y, &p->hovered)) return "cannot be pointed at";
    act("mousedown 1");
    if (!wait_until(&p->held, true)) return "cannot be held";
    if (way == DRAG || way == DRAG_FAR) {
        act("mousemove_relative -- %d 0", way == DRAG ? -9 : 300);
        if (!wait_beyond(&p->used, used)) return "cannot be dragged";
        wait_for_frames(); // a drag lasts more than one
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
    if (way == PICK && !entry && !wait_for_change(p->shown, before)) return "shows the entry of before";
    return way == TYPE || wait_until(&p->held, false) ? NULL : "is not let go";
}

static void use(ControlId id, Way way, const char *entry) {
    const char *why = try(id, way, entry);
    if (!why) return;
    fprintf(stderr, "%s %s\n", control_table[id].label, why);
    failures++;
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
        {CONTROL_RACE_ITERATIONS, DRAG_FAR, NULL}, // a race that is still on when it is canceled
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
    act("key Escape");
    return failures;
}

static int use_all_there_is(void) {
    if (!panel_is_there()) return 1;
    use_everything();
    // The panel is hidden now: keys, and the mouse on the scene itself.
    static const char *const keys[] = {"b", "c", "space", "period", "comma", "f"};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) press_key(keys[k]);
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
    act("key Escape");
    return failures;
}

// --- the window -----------------------------------------------------------------------------------------------

typedef struct Seat {
    pid_t person;
    bool left;        // the person is done
    int status;       // as waitpid says it
    int frames_after; // drawn since then
    const char *const *expected;
    char unexpected[SAND_SENTENCE]; // the first message that is not in `expected`
} Seat;

// Counts the frame. A person who is done has closed the window with Esc; where that had no effect the window is closed here.
static bool should_close(void *user) {
    Seat *seat = user;
    shared->frames++;
    if (!seat->left) seat->left = waitpid(seat->person, &seat->status, WNOHANG) == seat->person;
    if (seat->left) seat->frames_after++;
    return seat->frames_after > FRAMES_TO_CLOSE;
}

static void on_message(void *user, const char *sentence) {
    Seat *seat = user;
    for (const char *const *part = seat->expected; *part; part++)
        if (strstr(sentence, *part)) return;
    if (!*seat->unexpected) snprintf(seat->unexpected, sizeof seat->unexpected, "%s", sentence);
}

// Opens a window with a person before it. `expected`: parts of the messages that the panel may show, ended by NULL.
static WindowReport sit_down(int (*person)(void), int bodies, const char *const *expected) {
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    Seat seat = {.expected = expected, .person = fork()};
    assert_true(seat.person >= 0);
    if (seat.person == 0) _exit(person() != 0);

    control_watch(shared->places);
    WindowDef def = window_default();
    WindowReport report = {0};
    SandError error = {""};
    def.engine.scene = "hourglass";
    def.engine.options.bodies = bodies;
    def.engine.simulation.threads = 1;
    def.width = WIDE;
    def.height = HIGH;
    def.quality = 0;
    def.unfold = true;
    def.should_close = should_close;
    def.on_message = on_message;
    def.user = &seat;
    bool ran = window_run(&def, &report, &error);
    control_watch(NULL);
    if (!ran && !seat.left) kill(seat.person, SIGTERM); // there is nothing left to wait for
    for (double end = now() + LIMIT; !seat.left && now() < end; rest(0.01))
        seat.left = waitpid(seat.person, &seat.status, WNOHANG) == seat.person;
    if (!seat.left) {
        kill(seat.person, SIGTERM);
        waitpid(seat.person, &seat.status, 0);
    }
    munmap(shared, sizeof *shared);
    if (!ran) fail_msg("%s", error.text);
    if (*seat.unexpected) fail_msg("unexpected message: %s", seat.unexpected);
    assert_int_equal(report.errors, 0);
    assert_true(WIFEXITED(seat.status) && WEXITSTATUS(seat.status) == 0);
    assert_true(seat.frames_after <= FRAMES_TO_CLOSE); // Esc closed it
    return report;
}

static const char *const switching_expects[] = {NULL};

// Ten solvers and ten scenes while it runs.
static void solvers_and_scenes_are_switched(void **state) {
    (void)state;
    sit_down(switch_solvers_and_scenes, 1000, switching_expects);
}

// Every control, key and button of the mouse.
static void everything_is_used(void **state) {
    (void)state;
    static const char *const expected[] = {"The references are on the clipboard.", "The view is on the clipboard.",
                                           "Camera key 1", "The take is saved as",
                                           "Saved as ",  // a plot
                                           "sandglass-", // a picture of the window: its path
                                           // The ball of key B starts between the camera and what it looks at. In several
                                           // scenes that is outside the world's box, so the ball is taken out at once.
                                           "body 200 left the world", NULL};
    sit_down(use_all_there_is, 200, expected);
    assert_int_equal(access("sandglass/settings", R_OK), 0);
    assert_int_equal(system("ls *.png framess >/dev/null"), 0); // pictures of the window, and the folder that was typed
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
