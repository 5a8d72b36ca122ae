// SPDX-License-Identifier: MIT
// The manners of the window, with real key and mouse events: a thrown ball is seen and stays in the world, a picture shows
// what is on the screen, Esc never closes the program, nothing is overwritten or lost without a question, and no click is
// missed. `test_manners WIDTH HEIGHT SCALE` runs them in a window of another size.
#define _DEFAULT_SOURCE // for memory that two processes share
#include "tests/lab/window/person.h"

static bool expect(bool holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "%s\n", what);
        failures++;
    }
    return holds;
}

// For what a person sees some frames later: the engine, the driver or the display may take their time.
#define EXPECT_SOON(condition, what) \
    do { \
        for (double end_ = now() + LIMIT; !(condition) && now() < end_;) rest(0.004); \
        expect(condition, what); \
    } while (0)

static bool wait_for_step(uint64_t step) {
    for (double end = now() + LIMIT; shared->state.step < step && now() < end;) rest(0.004);
    return shared->state.step >= step;
}

static bool wait_for_message(int before, const char *part) {
    for (double end = now() + LIMIT; now() < end; rest(0.004))
        if (shared->messages > before && strstr(shared->message, part)) return true;
    fprintf(stderr, "no message '%s', the last is '%s'\n", part, shared->message);
    failures++;
    return false;
}

static bool panel_is_there(void) {
    return expect(wait_beyond(&shared->places[CONTROL_SCENE].frame, 20), "the panel did not come");
}

// The middle of what the panel leaves free: the slider of the time fills its width.
static int middle_x(void) { return shared->places[CONTROL_SCRUB].drawn ? (int)shared->places[CONTROL_SCRUB].x : WIDE / 2; }

// --- B ----------------------------------------------------------------------------------------------------------

static int throw_balls(void) {
    static const char *const scenes[] = {"cylinder", "rubble", "drum", "pebble-bed", "heavy", "two-spheres", "hourglass"};
    if (!panel_is_there()) return 1;
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes && !failures; k++) {
        use(CONTROL_SCENE, PICK, scenes[k]);
        for (double end = now() + LIMIT; strcmp((char *)shared->state.scene, scenes[k]) && now() < end;) rest(0.004);
        wait_for_frames();
        int before = shared->state.bodies;
        mouse_to(middle_x(), HIGH / 2, "%s", "");
        wait_for_frames();
        press_key("b");
        for (double end = now() + LIMIT; shared->state.bodies == before && now() < end;) rest(0.004);
        if (!expect(shared->state.bodies == before + 1, "B throws nothing")) fprintf(stderr, "in %s\n", scenes[k]);
        if (!shared->state.playing) press_key("space");
        expect(wait_for_step(shared->state.step + 30), "the scene does not run on");
        if (!expect(shared->state.lost == 0, "a body left the world")) fprintf(stderr, "in %s\n", scenes[k]);
    }
    close_window();
    return failures;
}

static void balls_are_thrown_in_every_scene(void **state) {
    (void)state;
    static const char *const expected[] = {NULL};
    sit_down(throw_balls, 400, expected);
}

// --- Esc, Ctrl, closing -----------------------------------------------------------------------------------------

static int escape_and_close(void) {
    if (!panel_is_there()) return 1;
    int color = shared->state.color, messages = shared->messages;
    press_key("Escape");
    wait_for_message(messages, "Nothing is open");
    press_key("ctrl+c");
    press_key("alt+c");
    expect(shared->state.color == color, "Ctrl+C changes the colors");
    press_key("c");
    EXPECT_SOON(shared->state.color != color, "C does not change the colors");
    press_key("F1");
    EXPECT_SOON(shared->state.help, "F1 opens no help");
    press_key("Escape");
    EXPECT_SOON(!shared->state.help, "Esc does not close the help");
    // A list.
    volatile ControlPlace *list = &shared->places[CONTROL_SOLVER];
    bring_into_sight(list);
    if (!point_at(&list->x, &list->y, &list->hovered)) return expect(false, "the list of solvers cannot be pointed at"), 1;
    act("click 1");
    expect(wait_until(&list->open, true), "the list of solvers does not open");
    press_key("Escape");
    wait_for_frames();
    expect(wait_beyond(&list->frame, list->frame) && wait_until(&list->hovered, true), "Esc does not close a list");
    // The race.
    press_key("g");
    EXPECT_SOON(shared->state.theater, "G opens no race");
    press_key("Escape");
    EXPECT_SOON(!shared->state.theater, "Esc does not close the race");
    EXPECT_SOON(!shared->state.playing, "the race does not freeze the step");
    // Nothing was done that a take would keep: no question. After a throw there is one, and Esc takes the close back.
    mouse_to(middle_x(), HIGH / 2, "%s", "");
    wait_for_frames();
    int bodies = shared->state.bodies;
    press_key("b");
    for (double end = now() + LIMIT; shared->state.bodies == bodies && now() < end;) rest(0.004);
    wait_for_frames();
    press_key("ctrl+q");
    EXPECT_SOON(shared->state.closing, "a run that is not saved closes without a question");
    press_key("Escape");
    EXPECT_SOON(!shared->state.closing, "Esc does not take the close back");
    act("key ctrl+q");
    wait_for_frames();
    use(CONTROL_CLOSE_SAVE, PRESS, NULL);
    return failures;
}

static void esc_closes_what_is_open_and_never_the_program(void **state) {
    (void)state;
    static const char *const expected[] = {"Nothing is open", "The take is saved as sandglass-hourglass.take", NULL};
    assert_int_equal(system("rm -f *.take"), 0);
    sit_down(escape_and_close, 200, expected);
    assert_int_equal(system("ls sandglass-hourglass.take >/dev/null"), 0); // saved as it closed
}

// --- pictures and films -----------------------------------------------------------------------------------------

static int save_things(void) {
    if (!panel_is_there()) return 1;
    for (int k = 0; k < 2; k++) {
        int messages = shared->messages;
        press_key("p");
        wait_for_message(messages, k == 0 ? "Picture saved as frames/sandglass-hourglass.png"
                                          : "Picture saved as frames/sandglass-hourglass-2.png");
    }
    use(CONTROL_SIZE, PICK, "1280 x 720");
    for (int k = 0; k < 2 && !failures; k++) {
        int messages = shared->messages;
        use(CONTROL_RECORD, PRESS, NULL);
        expect(wait_for_step(shared->state.step + 3), "the film takes no steps");
        use(CONTROL_RECORD, PRESS, NULL);
        wait_for_message(messages, k == 0 ? "Film saved as frames/hourglass: " : "Film saved as frames/hourglass-2: ");
    }
    press_key("Tab");
    wait_for_frames();
    EXPECT_SOON(shared->state.hidden, "Tab does not hide the panel");
    EXPECT_SOON(strstr(shared->message, "Tab brings it back") != NULL, "a hidden panel does not say how to get it back");
    press_key("Tab");
    close_window();
    return failures;
}

static void pictures_and_films_are_kept_apart(void **state) {
    (void)state;
    static const char *const expected[] = {"Picture saved as frames/", "Film saved as frames/", "Tab brings it back", NULL};
    assert_int_equal(system("rm -rf frames"), 0);
    sit_down(save_things, 200, expected);
    // A picture is as large as the window, and shows something: not one color, and no panel at its left edge.
    assert_int_equal(system("test $(identify -format %k frames/sandglass-hourglass.png) -gt 500"), 0);
    char command[200];
    snprintf(command, sizeof command, "test \"$(identify -format '%%w %%h' frames/sandglass-hourglass.png)\" = '%d %d'",
             WIDE, HIGH);
    assert_int_equal(system(command), 0);
    assert_int_equal(system("test $(convert frames/sandglass-hourglass.png -crop 40x40+20+200 -format '%[fx:int(255*mean)]' "
                            "info:) -gt 40"),
                     0); // the panel is darker
    assert_int_equal(system("ls frames/hourglass/frame_00000.png frames/hourglass-2/frame_00000.png >/dev/null"), 0);
}

// --- keys -------------------------------------------------------------------------------------------------------

// Presses a key this often, quickly, and returns how many presses the display reported: it drops those of one millisecond.
static int press_often(const char *key, int times) {
    char keys[200] = "";
    for (int k = 0; k < times; k++) {
        strcat(keys, " ");
        strcat(keys, key);
    }
    int before = shared->state.presses;
    act("key --delay 25%s", keys);
    for (int k = 0; k < 3; k++) wait_for_frames();
    return shared->state.presses - before;
}

// Every press counts, however many come between two frames.
static int press_many(void) {
    if (!panel_is_there()) return 1;
    press_key("space");
    EXPECT_SOON(!shared->state.playing, "Space does not pause");
    wait_for_frames();
    uint64_t step = shared->state.step;
    step += (uint64_t)press_often("period", 16);
    EXPECT_SOON(shared->state.step == step, "a press of . is not a step");
    step -= (uint64_t)press_often("comma", 7);
    EXPECT_SOON(shared->state.step == step, "a press of , is not a step back");
    if (press_often("space", 6) % 2) press_key("space");
    EXPECT_SOON(!shared->state.playing, "an even number of presses of Space leaves it running");
    close_window();
    return failures;
}

static void every_press_of_a_key_counts(void **state) {
    (void)state;
    static const char *const expected[] = {NULL};
    sit_down(press_many, 200, expected);
}

// --- the panel --------------------------------------------------------------------------------------------------

static bool wanted_hidden, pressed_tab; // what the person below finds, and does

static int look_for_panel(void) {
    EXPECT_SOON(shared->state.bodies > 0, "the window does not draw");
    expect(shared->state.hidden == wanted_hidden, wanted_hidden ? "the panel is there" : "the panel is not there");
    if (wanted_hidden) EXPECT_SOON(strstr(shared->message, "Tab brings it back"), "nothing says how to get the panel back");
    if (pressed_tab) {
        press_key("Tab");
        EXPECT_SOON(shared->state.hidden != wanted_hidden, "Tab has no effect");
    }
    act("key ctrl+q");
    EXPECT_SOON(shared->closed, "the window does not close");
    return failures;
}

static void see_panel(PanelStart start, bool hidden, bool tab) {
    static const char *const expected[] = {"Tab brings it back", NULL};
    PANEL = start;
    wanted_hidden = hidden;
    pressed_tab = tab;
    sit_down(look_for_panel, 100, expected);
    PANEL = PANEL_AS_LEFT;
}

// An option holds for one run; what a person does with Tab is remembered; and an option comes before what is remembered.
static void the_panel_is_where_it_was_left(void **state) {
    (void)state;
    see_panel(PANEL_OFF, true, false);
    see_panel(PANEL_AS_LEFT, false, true);
    see_panel(PANEL_AS_LEFT, true, false);
    see_panel(PANEL_ON, false, false);
    see_panel(PANEL_AS_LEFT, true, true);
    see_panel(PANEL_AS_LEFT, false, false);
}

// --- the mouse --------------------------------------------------------------------------------------------------

static int click_and_drag(void) {
    enum { CLICKS = 6 };
    if (!panel_is_there()) return 1;
    press_key("space"); // it stands still
    // The sand is somewhere in the middle of what the panel leaves free. Every click is pressed and let go at once.
    int x = middle_x(), y = HIGH / 6;
    for (int k = 0; k < CLICKS || (shared->state.picked < 0 && k < 4 * CLICKS); k++) {
        int clicks = shared->state.clicks;
        y += shared->state.picked < 0 ? HIGH / 30 : 0;
        mouse_to(x, y, "click 1");
        expect(wait_beyond(&shared->state.clicks, clicks), "a short click is lost");
        expect(shared->state.clicks == clicks + 1, "a click counts twice");
        for (int n = 0; n < 4; n++) wait_for_frames(); // what it picks comes with a frame of the engine
        if (failures) return failures;
    }
    int picked = shared->state.picked, clicks = shared->state.clicks;
    expect(picked >= 0, "a click on the sand picks nothing");
    // An orbit that begins on another body leaves the picked one alone, and moves the camera.
    double eye = shared->state.eye[0];
    drag_mouse(1, x, y + 30, 60, 10);
    drag_mouse(1, x, y + 30, -60, -10); // and back
    expect(shared->state.picked == picked, "an orbit picks a body");
    expect(fabs(shared->state.eye[0] - eye) < 1e-3 * fabs(eye), "a drag there and back moves the camera");
    expect(shared->state.clicks == clicks, "a drag counts as a click");
    // With Ctrl the body is held, and let go; the scene still stands, so it is where it was.
    mouse_to(x, y, "%s", "");
    wait_for_frames();
    act("keydown ctrl");
    act("mousedown 1");
    EXPECT_SOON(shared->state.held, "Ctrl and a drag hold no body");
    act("mousemove_relative -- 0 -40");
    wait_for_frames();
    act("mouseup 1");
    act("keyup ctrl");
    EXPECT_SOON(!shared->state.held, "a body is not let go");
    close_window();
    return failures;
}

static void no_click_is_lost(void **state) {
    (void)state;
    static const char *const expected[] = {NULL};
    sit_down(click_and_drag, 200, expected);
}

// --- scene files ------------------------------------------------------------------------------------------------

static void write_scene(int balls, const char *more) {
    FILE *file = fopen("mine.yaml", "w");
    if (!file) return;
    fprintf(file, "name: mine\nabout: Balls fall on a plane.\nmaterials:\n  - {name: stone, density: 2500, mu: 0.3}\n"
                  "boundaries:\n  - {shape: plane}\nbodies:\n");
    for (int k = 0; k < balls; k++) fprintf(file, "  - {shape: sphere, radius: 0.1, position: [%d, 0, 1]}\n", k);
    fprintf(file, "%s", more);
    fclose(file);
}

static bool wait_for_bodies(int bodies) {
    for (double end = now() + LIMIT; shared->state.bodies != bodies && now() < end;) rest(0.004);
    return shared->state.bodies == bodies;
}

// A fill whose number of bodies the file says.
static void write_pile(const char *bodies) {
    FILE *file = fopen("pile.yaml", "w");
    if (!file) return;
    fprintf(file,
            "name: pile\nabout: Pebbles fall into a bowl.\nsize: {bodies: %s}\n"
            "materials:\n  - {name: pebble, density: 2600, mu: 0.4}\n"
            "boundaries:\n  - {shape: sphere, radius: 1, position: [0, 0, 1]}\nfills:\n"
            "  - {material: pebble, radii: [0.03, 0.05], lattice: {spacing: 0.11, from: 0.2}, region: {inside: true}}\n",
            bodies);
    fclose(file);
}

// The number of bodies of a file that changes is followed, a file that is broken in between stops nothing, and the number
// that a person chose stays as long as the file has the same.
static int edit_pile(void) {
    if (!panel_is_there()) return 1;
    expect(wait_for_bodies(60), "the pile has not the bodies of its file");
    write_pile("90");
    expect(wait_for_bodies(90), "more bodies in the file are not followed");
    write_pile("40");
    expect(wait_for_bodies(40), "fewer bodies in the file are not followed");
    int messages = shared->messages;
    write_pile("none");
    wait_for_message(messages, "pile.yaml:");
    wait_for_frames();
    expect(shared->state.playing, "a broken file pauses the scene before");
    expect(wait_for_step(shared->state.step + 5), "the scene before does not go on");
    write_pile("50");
    expect(wait_for_bodies(50), "a file that is mended is not opened");
    expect(shared->state.playing, "a file that is mended stays paused");
    use(CONTROL_BODIES, DRAG, NULL);
    for (double end = now() + LIMIT; shared->state.bodies == 50 && now() < end;) rest(0.004);
    int chosen = shared->state.bodies;
    expect(chosen != 50, "the slider changes nothing");
    messages = shared->messages;
    write_pile("50");
    wait_for_message(messages, "The scene file changed");
    expect(wait_for_step(5), "the scene does not begin anew");
    expect(shared->state.bodies == chosen, "the number that was chosen is lost");
    close_window();
    return failures;
}

static void a_scene_file_says_how_many_bodies(void **state) {
    (void)state;
    static const char *const expected[] = {"The scene file changed", "pile.yaml:", NULL};
    write_pile("60");
    SCENE = "./pile.yaml";
    sit_down(edit_pile, 0, expected);
    SCENE = "hourglass";
}

static int edit_scene(void) {
    if (!panel_is_there()) return 1;
    expect(wait_for_step(3), "the scene does not run");
    int messages = shared->messages;
    write_scene(3, "");
    wait_for_message(messages, "The scene file changed");
    for (double end = now() + LIMIT; shared->state.bodies != 3 && now() < end;) rest(0.004);
    expect(shared->state.bodies == 3, "a scene file that changes is not opened again");
    messages = shared->messages;
    write_scene(4, "bodys: 7\n");
    wait_for_message(messages, "mine.yaml:");
    expect(shared->state.bodies == 3, "a wrong scene file takes the place of the right one");
    close_window();
    return failures;
}

static void a_scene_file_is_opened_again_when_it_changes(void **state) {
    (void)state;
    static const char *const expected[] = {"The scene file changed", "mine.yaml:", NULL};
    write_scene(2, "");
    SCENE = "./mine.yaml";
    sit_down(edit_scene, 0, expected);
    SCENE = "hourglass";
}

// --- arrow keys -------------------------------------------------------------------------------------------------

// Whether a side turns as it was told to, or a third as fast at least: among stones a motor may be overcome, and where the
// rover turns on the spot for as long as it does.
static bool side_turns(double speed, double told) {
    return told == 0 ? fabs(speed) < 0.5 : speed / told > 1. / 3 && fabs(speed - told) < fabs(told);
}

static bool wheels_turn(double left, double right) {
    for (double end = now() + LIMIT; now() < end; rest(0.004))
        if (side_turns(shared->state.wheels[0], left) && side_turns(shared->state.wheels[1], right)) return true;
    return false;
}

// Waits until the camera is this far along x from where it was.
static bool camera_moves(double from, double by) {
    for (double end = now() + LIMIT; now() < end; rest(0.004))
        if ((shared->state.eye[0] - from) * by > by * by) return true;
    return false;
}

static int drive_about(void) {
    if (!panel_is_there()) return 1;
    expect(wheels_turn(4, 4), "the rover does not set out by itself");
    double eye = shared->state.eye[0];
    expect(camera_moves(eye, 0.2), "the camera does not follow the rover");
    act("key l");
    rest(0.5);
    eye = shared->state.eye[0];
    uint64_t step = shared->state.step;
    for (double end = now() + LIMIT; now() < end && shared->state.step < step + 60;) rest(0.004);
    expect(shared->state.eye[0] == eye, "the camera does not stay");
    act("key l");
    expect(camera_moves(eye, 0.05), "the camera does not catch up with the rover");
    act("keydown Down");
    expect(wheels_turn(-4, -4), "the arrow down does not drive back");
    act("keyup Down");
    expect(wheels_turn(0, 0), "the rover does not stop");
    act("keydown Left");
    expect(wheels_turn(-4, 4), "the arrow to the left does not turn");
    act("keyup Left keydown Up");
    expect(wheels_turn(4, 4), "the arrow up does not drive on");
    act("keyup Up");
    expect(wheels_turn(0, 0), "the rover does not stop");
    close_window();
    return failures;
}

static void arrow_keys_drive(void **state) {
    (void)state;
    static const char *const expected[] = {"The camera ", NULL};
    SCENE = "rover";
    sit_down(drive_about, 1, expected);
    SCENE = "hourglass";
}

int main(int count, char **arguments) {
    if (system("command -v xdotool >/dev/null && command -v identify >/dev/null") != 0)
        return puts("skipped: there is no xdotool or no identify"), 77;
    char folder[] = "/tmp/sandglass-manners-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0) return 1;
    setenv("XDG_CONFIG_HOME", folder, 1);
    if (count == 4) {
        WIDE = atoi(arguments[1]);
        HIGH = atoi(arguments[2]);
        UI_SCALE = atof(arguments[3]);
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_click_is_lost),
                                       cmocka_unit_test(every_press_of_a_key_counts),
                                       cmocka_unit_test(the_panel_is_where_it_was_left),
                                       cmocka_unit_test(a_scene_file_says_how_many_bodies),
                                       cmocka_unit_test(esc_closes_what_is_open_and_never_the_program),
                                       cmocka_unit_test(pictures_and_films_are_kept_apart),
                                       cmocka_unit_test(a_scene_file_is_opened_again_when_it_changes),
                                       cmocka_unit_test(arrow_keys_drive),
                                       cmocka_unit_test(balls_are_thrown_in_every_scene)};
    return cmocka_run_group_tests_name("manners", tests, NULL, NULL);
}
