// SPDX-License-Identifier: MIT
// A person's session, off-screen: from the start to a take that is opened again, through everything that a hand does in the
// window, each with its effect. Real key and mouse events: test_person.c, test_manners.c. With SAND_TEST_GPU in the
// environment it runs on a GPU.
#include "tests/lab/window/panel_lab.h"

#include "app/io/free_path.h"
#include "app/io/snapshot.h"
#include "app/ui/input.h"
#include "app/ui/window_recording.h"

#include <sys/stat.h>
#include <unistd.h>

typedef struct Visit {
    Fixture s;
    Input input;
    char folder[64];
} Visit;

static double aspect(const Visit *v) { return (double)v->s.width / v->s.height; }

static void steps(Visit *v, int count) {
    uint64_t wanted = v->s.frame->step + (uint64_t)count;
    ask(v->s.engine, (Act){.kind = ACT_STEP, .number = count});
    DRAW_UNTIL(&v->s, v->s.frame->step == wanted);
    assert_int_equal(v->s.frame->counters.lost_total, 0);
}

static bool exists(const char *folder, const char *name) {
    struct stat file;
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &file) == 0 && (S_ISDIR(file.st_mode) || file.st_size > 0);
}

// --- hand and eye -----------------------------------------------------------------------------------------------

static void orbit_pick_drag(Visit *v) {
    Fixture *s = &v->s;
    SandError error;
    SandVec3 eye = s->camera.eye;
    input_press(&v->input, s->engine, s->frame, &s->camera, &s->look, aspect(v), 0.5, 0.5, false, false);
    input_move(&v->input, s->engine, s->frame, &s->camera, aspect(v), 0.55, 0.52);
    input_release(&v->input, s->engine);
    draw(s);
    assert_true(v3_length(v3_sub(s->camera.eye, eye)) > 0);
    assert_int_equal(v->input.picked, -1); // an orbit picks nothing

    // A body on the line through the middle of the glass.
    if (!render_scene_read_store(&s->frame->render_scene, &error)) fail_msg("%s", error.text);
    double y = 0.95;
    for (; v->input.picked < 0 && y > 0.05; y -= 0.01)
        input_click(&v->input, s->frame, &s->camera, &s->look, aspect(v), 0.5, y);
    y += 0.01;
    if (v->input.picked < 0) fail_msg("no body is under the mouse");
    ask(s->engine, (Act){.kind = ACT_PICK, .body = v->input.picked});
    DRAW_UNTIL(s, s->frame->picked.body == v->input.picked);
    assert_true(s->frame->picked.mass > 0);

    input_press(&v->input, s->engine, s->frame, &s->camera, &s->look, aspect(v), 0.5, y, false, true);
    assert_int_equal(v->input.mode, INPUT_DRAG);
    input_move(&v->input, s->engine, s->frame, &s->camera, aspect(v), 0.5, y + 0.1);
    SandVec3 from = s->frame->picked.center;
    steps(v, 10);
    assert_true(s->frame->picked.is_held);
    assert_true(s->frame->picked.center.z > from.z);
    input_release(&v->input, s->engine);
    steps(v, 1);
    assert_false(s->frame->picked.is_held);
}

static void throw_and_flip(Visit *v) {
    Fixture *s = &v->s;
    int bodies = s->frame->bodies;
    input_throw(s->engine, s->frame, &s->camera, aspect(v), 0.5, 0.6);
    steps(v, 15);
    assert_int_equal(s->frame->bodies, bodies + 1);
    panel_ask(s->panel, (Act){.kind = ACT_FLIP});
    steps(v, 15);
}

// --- solvers ----------------------------------------------------------------------------------------------------

static void every_solver(Visit *v) {
    Fixture *s = &v->s;
    int first = s->scene.solve.solver, tried = 0;
    for (int i = 0; i < sand_solver_count(); i++) {
        SandSolveDef solve = s->scene.solve;
        sand_solve_choose(&solve, i);
        if (!panel_solver_fits(&solve, &s->scene)) continue;
        panel_choose_solver(s->panel, i);
        DRAW_UNTIL(s, s->scene.solve.solver == i);
        steps(v, 1);
        tried++;
    }
    assert_true(tried > 5);
    panel_choose_solver(s->panel, first);
    DRAW_UNTIL(s, s->scene.solve.solver == first);
}

static void race_and_side_by_side(Visit *v) {
    Fixture *s = &v->s;
    s->panel->racing.iterations = 20;
    panel_start_race(s->panel);
    DRAW_UNTIL(s, s->panel->racing.curves.begun && !s->panel->racing.curves.running);
    keep_picture(s, "session_race");
    int done = 0;
    for (int i = 0; i < s->panel->racing.curves.count; i++) done += s->panel->racing.curves.racers[i].state == RACER_DONE;
    assert_true(done > 5);
    assert_true(panel_close_topmost(s->panel));

    panel_toggle_beside(s->panel, &s->scene);
    DRAW_UNTIL(s, s->frame->beside.on);
    steps(v, 5);
    assert_int_equal(s->frame->beside.counters.lost_total, 0);
    assert_true(s->frame->beside.solve.solver != s->scene.solve.solver);
    panel_toggle_beside(s->panel, &s->scene);
    DRAW_UNTIL(s, !s->frame->beside.on);
}

// --- what is kept -----------------------------------------------------------------------------------------------

static void film(Visit *v, WindowRecording *recording) {
    Fixture *s = &v->s;
    SandError error;
    char sentence[3 * SAND_SENTENCE];
    if (!window_recording_start(recording, s->frame, "film", &error)) fail_msg("%s", error.text);
    for (double end = sand_seconds() + ENGINE_LIMIT; recording->wanted->frames < 3 && sand_seconds() < end;) {
        if (!window_recording_frame(recording, s->renderer, s->frame, &s->scene, &s->camera, &s->look, &error))
            fail_msg("%s", error.text);
        draw(s);
    }
    window_recording_stop(recording);
    bool ended = false; // told once
    DRAW_UNTIL(s, ended || (ended = window_recording_ended(recording, sentence, sizeof sentence)));
    assert_non_null(strstr(sentence, v->folder)); // it says where
}

static void films_picture_take(Visit *v, char *take) {
    Fixture *s = &v->s;
    SandError error;
    char path[256], sentence[512];
    OverlayDef overlay = {.legend = true};
    PanelRecording wanted = {.fps = 60, .width = 320, .height = 180};
    snprintf(wanted.folder, sizeof wanted.folder, "%s", v->folder);
    WindowRecording recording = {.engine = s->engine, .wanted = &wanted, .overlay = &overlay};
    film(v, &recording);
    film(v, &recording);
    window_recording_close(&recording);
    assert_true(exists(v->folder, "film") && exists(v->folder, "film-2"));

    Snapshot *snapshot = snapshot_create(&error);
    assert_non_null(snapshot);
    draw(s);
    size_t bytes = 3 * (size_t)s->width * (size_t)s->height;
    unsigned char *pixels = malloc(bytes);
    assert_non_null(pixels);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, renderer_framebuffer(s->renderer));
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, s->width, s->height, GL_RGB, GL_UNSIGNED_BYTE, pixels);
    size_t bright = 0;
    for (size_t i = 0; i < bytes; i++) bright += pixels[i] > 60;
    assert_true(bright > bytes / 50); // not black
    assert_true(free_path(path, sizeof path, v->folder, "picture", "png", &error));
    assert_true(snapshot_begin(snapshot, path, s->width, s->height, pixels, &error));
    bool written = false;
    DRAW_UNTIL(s, written || (written = snapshot_done(snapshot, sentence, sizeof sentence)));
    snapshot_free(snapshot);
    assert_true(exists(v->folder, "picture.png"));

    sprintf(take, "%s/run.take", v->folder);
    CameraPath views = {0};
    CameraKey key = {.view = camera_view(&s->camera, s->frame->render_scene.origin)};
    expect_message("The take is saved as");
    assert_true(camera_path_add(&views, &key, &error) && engine_save(s->engine, take, &views, &error));
    wait_for_message(s->engine, "The take is saved as");
}

// The take is opened in a program that was started anew, and comes to the same bits.
static void reopen(Visit *v, const char *take, uint64_t last) {
    Fixture *s = &v->s;
    SandError error;
    open_offscreen(s);
    DRAW_UNTIL(s, s->frame);
    expect_message("The take ends here");
    if (!engine_open(s->engine, take, &(Act){.kind = ACT_RACE}, &error)) fail_msg("%s", error.text);
    wait_for_message(s->engine, "The take ends here");
    DRAW_UNTIL(s, s->frame->step == last);
    CameraPath views;
    engine_views(s->engine, &views);
    assert_int_equal(views.count, 1);
    close_offscreen(s);
}

static void session(int width, int height, double scale) {
    static Visit visit;
    Visit *v = &visit;
    char take[128], command[96];
    strcpy(v->folder, "/tmp/sandglass-session-XXXXXX");
    assert_non_null(mkdtemp(v->folder));
    open_offscreen(&v->s);
    v->s.width = width;
    v->s.height = height;
    v->s.scale = scale;
    input_init(&v->input);
    advance(&v->s, 5);
    assert_true(v->s.places[CONTROL_SCENE].drawn && v->s.panel->free_right > v->s.panel->free_left);
    orbit_pick_drag(v);
    v->s.plain = true; // from here on the picture is not looked at, but for films and pictures
    throw_and_flip(v);
    every_solver(v);
    race_and_side_by_side(v);
    v->s.plain = false;
    films_picture_take(v, take);
    uint64_t last = v->s.frame->step;
    close_offscreen(&v->s);
    reopen(v, take, last);
    snprintf(command, sizeof command, "rm -r '%s'", v->folder);
    assert_int_equal(system(command), 0);
}

static void in_a_usual_window(void **state) { (void)state, session(1280, 720, 1); }
static void at_scale_2(void **state) { (void)state, session(1280, 720, 2); }
static void in_a_small_window(void **state) { (void)state, session(800, 600, 1); }

int main(int argc, char **argv) {
    panel_pictures = argc > 1 ? argv[1] : NULL;
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_a_usual_window), cmocka_unit_test(at_scale_2),
                                       cmocka_unit_test(in_a_small_window)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
