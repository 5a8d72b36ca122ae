// SPDX-License-Identifier: MIT
// A person at the window: a process of its own that uses real key and mouse events (xdotool) and shares memory with the
// window, which tells it where its controls are, how many frames it has drawn and what state it is in. The person does one
// thing, waits for the frame that shows its effect, and goes on, so a test passes on a machine of any speed.
// Needs a display: tests/lab/window/on_display provides one. A test defines _DEFAULT_SOURCE before its first include, for
// memory that two processes share.
#pragma once
#include "tests/lab/lab.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "app/ui/panel/controls.h"
#include "app/ui/window.h"

enum { FRAMES_TO_CLOSE = 200 };
// The window; a test may change them before it sits down.
static int WIDE = 840, HIGH = 560;
static double UI_SCALE = 0;
static PanelStart PANEL = PANEL_AS_LEFT;
static const char *SCENE = "hourglass";
static const double LIMIT = 300; // s, for one effect to show: a window that hangs, not a slow machine
static const double WHEEL = 75;  // pixels that one turn of the wheel moves the panel

typedef struct Shared {
    ControlPlace places[CONTROL_COUNT];
    volatile int frames; // drawn so far
    volatile WindowState state;
    volatile bool closed;        // the window is
    volatile int messages;       // shown so far
    char message[SAND_SENTENCE]; // the last one
} Shared;
static Shared *shared; // by the two processes
static int failures;

static inline double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void rest(double seconds) {
    nanosleep(&(struct timespec){(time_t)seconds, (long)(1e9 * (seconds - floor(seconds)))}, NULL);
}

__attribute__((format(printf, 1, 2))) static inline void act(const char *format, ...) {
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

// Moves the mouse to this pixel of the window, wherever a window manager has put it, and does something there.
__attribute__((format(printf, 3, 4))) static inline void mouse_to(int x, int y, const char *then, ...) {
    char words[200];
    va_list list;
    va_start(list, then);
    vsnprintf(words, sizeof words, then, list);
    va_end(list);
    act("mousemove %d %d %s", shared->state.left + x, shared->state.top + y, words);
}

// --- the person: does one thing, and waits until the window has seen it -------------------------------------

typedef volatile const ControlPlace Place;

static inline bool wait_until(volatile const bool *flag, bool wanted) {
    for (double end = now() + LIMIT; *flag != wanted && now() < end;) rest(0.004);
    return *flag == wanted;
}

static inline bool wait_beyond(volatile const int *count, int before) {
    for (double end = now() + LIMIT; *count <= before && now() < end;) rest(0.004);
    return *count > before;
}

static inline void copy_text(char *to, volatile const char *from) {
    for (size_t i = 0; i < sizeof((ControlPlace *)0)->shown; i++) to[i] = from[i];
}

// The next entry of a list is known only when the engine has taken the request before, and the list shows so.
static inline bool wait_for_change(volatile const char *text, const char *before) {
    char after[sizeof((ControlPlace *)0)->shown];
    for (double end = now() + LIMIT; now() < end; rest(0.004)) {
        copy_text(after, text);
        if (strcmp(after, before)) return true;
    }
    return false;
}

// Waits until the window has polled the events sent so far and has drawn a whole frame after that.
static inline void wait_for_frames(void) {
    if (wait_beyond(&shared->frames, shared->frames + 2)) return;
    fprintf(stderr, "the window draws no more\n");
    failures++;
}

static inline void press_key(const char *key) {
    act("key %s", key);
    wait_for_frames();
}

// Presses a mouse button here, drags and lets go, with frames in between.
static inline void drag_mouse(int button, int x, int y, int by_x, int by_y) {
    mouse_to(x, y, "mousedown %d", button);
    wait_for_frames();
    act("mousemove_relative -- %d %d", by_x, by_y);
    wait_for_frames();
    act("mouseup %d", button);
    wait_for_frames();
}

// Turns the wheel over the control's column until it is in sight.
static inline void bring_into_sight(Place *p) {
    for (int k = 0; k < 12 && (p->y < 40 || p->y > HIGH - 40); k++) {
        double before = p->y, off = before - 0.5 * HIGH;
        mouse_to((int)p->x, HIGH / 2, "click --repeat %d --delay 2 %d", (int)ceil(fabs(off) / WHEEL), off > 0 ? 5 : 4);
        double last; // the window has seen all turns when the control stands still again
        do last = p->y;
        while (wait_beyond(&p->frame, p->frame + 2) && p->y != last);
        if (last == before) return; // the column is at its end, and the wheel moves it no further
    }
}

// Moves the mouse to a place until the window says that it is there: the place may move on in the meantime.
static inline bool point_at(volatile const double *x, volatile const double *y, volatile const bool *there) {
    for (double end = now() + LIMIT; now() < end;) {
        int at_x = (int)*x, at_y = (int)*y;
        mouse_to(at_x, at_y, "%s", "");
        while (!*there && (int)*x == at_x && (int)*y == at_y && now() < end) rest(0.004);
        if (*there) return true;
    }
    return false;
}

typedef enum Way { PRESS, DRAG, DRAG_FAR, PICK, TYPE } Way;

// Uses the control once; NULL, or what could not be done.
static inline const char *try(ControlId id, Way way, const char *entry) {
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

static inline void use(ControlId id, Way way, const char *entry) {
    const char *why = try(id, way, entry);
    if (!why) return;
    fprintf(stderr, "%s %s\n", control_table[id].label, why);
    failures++;
}

// Closes the window without saving what was done; where there is nothing to lose it closes at once.
static inline void close_window(void) {
    act("key ctrl+q");
    for (double end = now() + LIMIT; !shared->state.closing && !shared->closed && now() < end;) rest(0.004);
    if (!shared->closed) use(CONTROL_CLOSE_NOW, PRESS, NULL);
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

// Counts the frame. A person who is done has closed the window; where that had no effect the window is closed here.
static inline bool should_close(void *user) {
    Seat *seat = user;
    shared->frames++;
    if (!seat->left) seat->left = waitpid(seat->person, &seat->status, WNOHANG) == seat->person;
    if (seat->left) seat->frames_after++;
    return seat->frames_after > FRAMES_TO_CLOSE;
}

static inline void on_message(void *user, const char *sentence) {
    Seat *seat = user;
    snprintf(shared->message, sizeof shared->message, "%s", sentence);
    shared->messages++;
    for (const char *const *part = seat->expected; *part; part++)
        if (strstr(sentence, *part)) return;
    if (!*seat->unexpected) snprintf(seat->unexpected, sizeof seat->unexpected, "%s", sentence);
}

// Opens a window with a person before it. `expected`: parts of the messages that the panel may show, ended by NULL.
static inline WindowReport sit_down(int (*person)(void), int bodies, const char *const *expected) {
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    Seat seat = {.expected = expected, .person = fork()};
    assert_true(seat.person >= 0);
    if (seat.person == 0) _exit(person() != 0);

    control_watch(shared->places);
    WindowDef def = window_default();
    WindowReport report = {0};
    SandError error = {""};
    def.engine.scene = SCENE;
    def.engine.options.bodies = bodies;
    def.engine.simulation.threads = 1;
    def.width = WIDE;
    def.height = HIGH;
    def.quality = 0;
    def.unfold = true;
    def.ui_scale = UI_SCALE;
    def.panel = PANEL;
    def.state = (WindowState *)&shared->state;
    def.should_close = should_close;
    def.on_message = on_message;
    def.user = &seat;
    bool ran = window_run(&def, &report, &error);
    shared->closed = true;
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
    assert_true(seat.frames_after <= FRAMES_TO_CLOSE); // the person closed it
    return report;
}
