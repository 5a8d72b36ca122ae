// SPDX-License-Identifier: MIT
// The panel, off-screen: drawn over a running hourglass, worked with a mouse, and its table of controls walked. With a
// folder as argument the pictures are left there to be looked at.
#include <glob.h>
#include <glad/gl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "tests/lab/window/panel_lab.h"

#include "app/ui/cimgui.h"
#include "app/ui/panel/citation.h"
#include "app/render/context.h"
#include "app/ui/panel/controls.h"
#include "app/ui/window_recording.h"
#include "app/cli/options/options.h"
#include "app/ui/panel/panel.h"
#include "app/ui/plot.h"
#include "app/io/png.h"
#include "sim/core/clock.h"

// --- the table ----------------------------------------------------------------------------------------------

// Every control has a label, a tooltip and a call of the command line, and the call is one that the program takes.
static void test_controls_have_twins(void **state) {
    (void)state;
    for (int i = 0; i < CONTROL_COUNT; i++) {
        const Control *c = &control_table[i];
        assert_non_null(c->label);
        assert_non_null(c->tip);
        if (!c->command_line || strncmp(c->command_line, "sandglass", 9) != 0)
            fail_msg("control %d, %s, has no command line", i, c->label);
        char call[256], *words[32];
        int count = 0;
        snprintf(call, sizeof call, "%s", c->command_line);
        for (char *word = strtok(call, " "); word; word = strtok(NULL, " ")) words[count++] = word;
        Options options;
        SandError error = {""};
        if (!options_parse(&options, count, words, &error))
            fail_msg("%s: `%s` is refused: %s", c->label, c->command_line, error.text);
    }
}

// Each of the papers that a solver names has its reference.
static void test_every_solver_can_be_cited(void **state) {
    (void)state;
    char papers[256], text[4096];
    for (int i = 0; i < sand_solver_known; i++) {
        snprintf(papers, sizeof papers, "%s", sand_solver_table[i].paper);
        for (char *paper = strtok(papers, ";"); paper; paper = strtok(NULL, ";"))
            if (citation_collect(paper, text, sizeof text) != 1)
                fail_msg("%s: '%s' has not one BibTeX entry", sand_solver_table[i].name, paper);
    }
}

// --- scales -------------------------------------------------------------------------------------------------

static void test_scales(void **state) {
    (void)state;
    PlotAxis seconds = {.name = "time", .unit = "s", .from_zero = true};
    PlotScale s = plot_scale(&seconds, 0.0011, 0.0043, 5);
    assert_string_equal(s.prefix, "m"); // milliseconds
    assert_true(s.low == 0 && s.high >= 0.0043 && s.tick_count >= 3);
    assert_string_equal(s.labels[0], "0");
    assert_string_equal(s.labels[1], "1");
    PlotAxis decades = {.name = "residual", .unit = "m/s", .logarithmic = true};
    s = plot_scale(&decades, 3e-6, 0.2, 8);
    assert_true(s.low == -6 && s.high == 0);
    assert_string_equal(s.labels[0], "10⁻⁶");
    assert_true(fabs(plot_place(&s, 1e-3) - 0.5) < 1e-12);
    assert_true(isnan(plot_place(&s, 0)) && isnan(plot_place(&s, -1)));
    // Nothing, one value, all the same: still a scale.
    assert_true(plot_scale(&seconds, INFINITY, -INFINITY, 4).tick_count > 0);
    assert_true(plot_scale(&decades, INFINITY, -INFINITY, 4).tick_count > 0);
    s = plot_scale(&(PlotAxis){.name = "", .unit = ""}, 7, 7, 4);
    assert_true(s.low < 7 && s.high > 7 && s.tick_count > 0);
    // What is below zero is in view.
    const double x[] = {0, 1}, y[] = {-3, 2};
    Plot plot = {.y = {.name = "", .unit = "", .from_zero = true},
                 .curves = {{.name = "", .x = x, .y = y, .count = 2}},
                 .curve_count = 1};
    double range_x[2], range_y[2];
    plot_range(&plot, range_x, range_y);
    assert_true(range_y[0] == -3 && range_y[1] == 2);
}

// --- drawing ------------------------------------------------------------------------------------------------

static void test_draws(void **state) {
    (void)state;
    Fixture s;
    open_offscreen(&s);
    s.panel->first_start = true;
    advance(&s, 40);
    s.panel->shadowing = true;
    sand_solve_choose(&s.panel->shadow, sand_solver_find("jacobi"));
    s.panel->shadow_due = true;
    advance(&s, 30);
    assert_true(interface_cap_height(s.interface) >= 9);
    assert_true(interface_least_contrast() >= 4.5);
    assert_true(s.asked[ACT_SHADOW] > 0 && s.asked[ACT_CURVE] > 0);
    assert_true(s.panel->point_count > 60);
    assert_true(s.frame->curve_count > 1 && s.frame->shadow_count > 1);
    keep_picture(&s, "panel");

    s.panel->color = COLOR_BY_SPEED;
    panel_ask(s.panel, (Act){.kind = ACT_COLOR, .number = COLOR_BY_SPEED});
    s.panel->first_start = false;
    s.panel->help = true;
    advance(&s, 5);
    keep_picture(&s, "panel_help");
    s.panel->help = false;

    // Twice the scale: text and widgets take twice the pixels.
    s.width = 2560;
    s.height = 1440;
    s.scale = 2;
    camera_frame(&s.camera, "default", s.frame->render_scene.lower, s.frame->render_scene.upper, 16.0 / 9);
    for (int i = 0; i < 3; i++) draw(&s);
    assert_true(interface_cap_height(s.interface) >= 18);
    keep_picture(&s, "panel_scale_2");

    // A small window: the figures go below the controls.
    s.width = 640;
    s.height = 480;
    s.scale = 1;
    for (int i = 0; i < 3; i++) draw(&s);
    keep_picture(&s, "panel_small");
    s.panel->hidden = true;
    for (int i = 0; i < 2; i++) draw(&s);
    assert_true(s.panel->free_left == 0 && s.panel->free_right == s.width);
    close_offscreen(&s);
}

// --- working it ---------------------------------------------------------------------------------------------

static bool record_called;
static bool on_record(void *user, bool start, SandError *error) {
    (void)error;
    ((Fixture *)user)->panel->recording.active = start;
    return record_called = true;
}
static bool on_screenshot(void *user, SandError *error) { return (void)user, (void)error, true; }

// With all sections open in a tall window every control of the table is there.
static void test_all_controls_are_drawn(void **state) {
    (void)state;
    Fixture s;
    open_offscreen(&s);
    s.height = 2400;
    s.plain = s.panel->unfold = true;
    s.panel->record = on_record;
    s.panel->screenshot = on_screenshot;
    s.panel->bookmarks.kept[0] = true;
    s.panel->picked = (PickedBody){.body = 17, .radius = 0.004, .speed = 0.35, .mass = 2.5, .contacts = 4, .force_sum = 30};
    advance(&s, 3);
    sand_solve_choose(&s.panel->shadow, sand_solver_find("gauss-seidel"));
    s.panel->shadowing = s.panel->shadow_due = true;
    panel_toggle_beside(s.panel, &s.scene);
    advance(&s, 60);
    keep_picture(&s, "panel_unfolded");
    s.panel->by_time = true;
    draw(&s);
    s.panel->solve.accuracy = 99;
    draw(&s);
    // What takes long; the race over the picture, its summary, and the question before the window closes.
    s.panel->work = (EngineWork){.what = "Step 3 of heap", .seconds = 3, .expected = 9};
    draw(&s);
    s.panel->work.what[0] = '\0';
    s.panel->racing.iterations = 10;
    panel_start_race(s.panel);
    DRAW_UNTIL(&s, s.panel->racing.plots.count > 0 && !s.panel->racing.curves.running);
    s.panel->closing = CLOSING_ASKED;
    s.panel->unsaved = s.panel->filming = true;
    draw(&s);
    draw(&s);
    s.panel->racing.theater = false;
    s.panel->closing = CLOSING_NOT;
    draw(&s);
    for (int i = 0; i < CONTROL_COUNT; i++)
        if (!s.places[i].drawn) fail_msg("%s is in the table and not in the panel", control_table[i].label);

    // Under the mouse each shows its tooltip, and none upsets the driver.
    for (int i = 0; i < CONTROL_COUNT; i++) {
        interface_mouse(s.interface, s.places[i].x, s.places[i].y, false);
        draw(&s);
        if (i == CONTROL_SOLVER) {
            draw(&s);
            keep_picture(&s, "panel_tooltip");
        }
    }
    close_offscreen(&s);
}

// The headline says when the physics is wrong: bodies that are no longer hard, contacts that carry nothing, a solver that
// diverged. Step 0 says that nothing was solved.
static void test_headline_warns(void **state) {
    (void)state;
    Fixture s;
    open_offscreen(&s);
    advance(&s, 0);
    assert_non_null(strstr(s.panel->headline, "nothing was solved yet"));
    advance(&s, 40);
    EngineFrame *frame = (EngineFrame *)s.frame;
    assert_true(frame->counters.contacts > 0);
    assert_non_null(strstr(s.panel->headline, sand_status_text(frame->counters.status)));
    SandCounters good = frame->counters;
    frame->counters.penetration_max = 1.97 * frame->render_scene.grain;
    draw(&s);
    assert_non_null(strstr(s.panel->headline, "overlap by"));
    assert_non_null(strstr(s.panel->headline, "197 % of a radius"));
    frame->counters = good;
    frame->counters.metrics.residual_rms = 2 * 9.81 * frame->step_seconds;
    draw(&s);
    assert_non_null(strstr(s.panel->headline, "more than gravity adds"));
    frame->counters = good;
    frame->counters.status = SAND_DIVERGED;
    draw(&s);
    assert_non_null(strstr(s.panel->headline, "diverged"));
    frame->counters = good;
    draw(&s);
    assert_null(strstr(s.panel->headline, "diverged"));
    close_offscreen(&s);
}

// A race on the step on the screen: the solvers that can do the model run, the scene does not notice, and the result stays
// while the scene goes on. A second one is canceled.
static void test_race(void **state) {
    (void)state;
    Fixture s;
    open_offscreen(&s);
    s.plain = s.panel->unfold = true;
    s.height = 3000;
    advance(&s, 60);
    assert_true(s.frame->counters.contacts > 0);
    uint64_t step = s.frame->step;
    s.panel->racing.iterations = 30;
    click(&s, CONTROL_RACE);
    assert_int_equal(s.asked[ACT_RACE], 1);
    // The scene stands still behind the theater, where the curves grow while the race runs.
    const PanelRace *race = &s.panel->racing;
    assert_true(race->theater);
    DRAW_UNTIL(&s, race->curves.running && race->plots.plots[0].curve_count > 0 && race->plots.plots[0].curves[0].count > 1);
    DRAW_UNTIL(&s, race->curves.begun && !race->curves.running);
    draw(&s);
    assert_true(race->curves.step == step && s.frame->step == step && !s.frame->playing);
    int can = 0;
    for (int i = 0; i < sand_solver_count(); i++) can += sand_solver_can(i, s.panel->solve.friction);
    assert_int_equal(race->curves.count, can);
    assert_int_equal(race->plots.plots[0].curve_count, can);
    for (int i = 0; i < can; i++) assert_true(race->plots.plots[0].curves[i].count > 1);
    advance(&s, 2);
    keep_picture(&s, "panel_race");

    // The axes of the theater, and a curve that is switched off.
    click(&s, CONTROL_RACE_CURVE);
    draw(&s);
    assert_int_equal(race->plots.plots[0].curve_count, can - 1);
    click(&s, CONTROL_RACE_CLOSE);
    assert_false(race->theater);

    // Far too long to wait for.
    s.panel->racing.iterations = 1000000;
    click(&s, CONTROL_RACE);
    DRAW_UNTIL(&s, race_job_running(s.panel->race));
    draw(&s);
    click(&s, CONTROL_RACE_CANCEL);
    assert_int_equal(s.asked[ACT_RACE_CANCEL], 1);
    DRAW_UNTIL(&s, race_job_serial(s.panel->race) == 2);
    close_offscreen(&s);
}

// A bar is shown for what takes long, and not for what is done at once; its button cancels.
static void test_long_work(void **state) {
    (void)state;
    Fixture s;
    open_offscreen(&s);
    advance(&s, 2);
    s.panel->work = (EngineWork){.what = "Opening hourglass with 1000000 bodies", .seconds = 0.1};
    draw(&s);
    assert_false(s.places[CONTROL_CANCEL].drawn);
    s.panel->work.seconds = 4;
    draw(&s);
    draw(&s);
    keep_picture(&s, "panel_work");
    click(&s, CONTROL_CANCEL);
    assert_int_equal(s.cancels, 1);
    close_offscreen(&s);
}

// Files that were opened before are below the scenes; a contact problem opens the race.
static void test_recent_files(void **state) {
    (void)state;
    Fixture s;
    char problem[256];
    snprintf(problem, sizeof problem, "%s/tests/problems/spheres.sand", SAND_SOURCE_DIR);
    open_offscreen(&s);
    recent_files_add(&s.panel->recent, problem);
    recent_files_add(&s.panel->recent, "/home/me/my heap.yaml");
    advance(&s, 2);
    const char *const entries[] = {"my heap.yaml", "spheres.sand"};
    const char *const paths[] = {"/home/me/my heap.yaml", problem};
    for (int i = 0; i < 2; i++) {
        ControlPlace *list = &s.places[CONTROL_SCENE];
        snprintf(list->wanted_entry, sizeof list->wanted_entry, "%s", entries[i]);
        click(&s, CONTROL_SCENE);
        DRAW_UNTIL(&s, list->open);
        if (i == 0) keep_picture(&s, "panel_recent");
        click_at(&s, list->entry_x, list->entry_y);
        assert_string_equal(s.opened, paths[i]);
        assert_int_equal(s.panel->racing.theater, i == 1);
    }
    assert_non_null(strstr(s.last.text, "p-spg-fb")); // the solvers that are chosen in the panel
    close_offscreen(&s);
}

// The first frame of a film that is taken in the window, with these overlays.
static unsigned char *film_frame(Fixture *s, OverlayDef overlay) {
    SandError error = {""};
    char made[] = "/tmp/sandglass-film-XXXXXX", path[96];
    assert_non_null(mkdtemp(made));
    PanelRecording wanted = {.fps = 60, .width = 480, .height = 270};
    snprintf(wanted.folder, sizeof wanted.folder, "%s", made);
    WindowRecording recording = {.engine = s->engine, .wanted = &wanted, .overlay = &overlay};
    if (!window_recording_start(&recording, s->frame, "film", &error) ||
        !window_recording_frame(&recording, s->renderer, s->frame, &s->scene, &s->camera, &s->look, &error))
        fail_msg("%s", error.text);
    assert_int_equal(wanted.frames, 1);
    Fixture film = {
        .framebuffer = split_framebuffer(recording.split, s->renderer), .width = wanted.width, .height = wanted.height};
    unsigned char *pixels = read_pixels(&film);
    window_recording_close(&recording);
    char frames[48];
    snprintf(frames, sizeof frames, "%s/film", made); // PNG frames have a folder of their own
    recorder_frame_path(path, sizeof path, frames, 0);
    assert_int_equal(remove(path), 0);
    assert_int_equal(remove(frames), 0);
    assert_int_equal(remove(made), 0);
    return pixels;
}

// A film has the best picture there is, whatever the window shows.
static void test_film_is_at_its_best(void **state) {
    (void)state;
    Fixture s;
    open_offscreen(&s);
    advance(&s, 20);
    s.look.quality = QUALITY_LOW;
    unsigned char *from_low = film_frame(&s, (OverlayDef){0});
    s.look.quality = QUALITY_HIGH;
    unsigned char *from_high = film_frame(&s, (OverlayDef){0});
    int differ = 0;
    for (int k = 0; k < 480 * 270; k++) differ += memcmp(from_low + 4 * k, from_high + 4 * k, 4) != 0;
    assert_true(differ < 480 * 270 / 100); // the step between them moves a few spheres; low quality changes most pixels
    free(from_low);
    free(from_high);
    close_offscreen(&s);
}

// Clock, legend and residual are laid over a film as they are over the window, and the panel does not notice.
static void test_film_has_overlays(void **state) {
    (void)state;
    Fixture s;
    open_offscreen(&s);
    s.panel->color = COLOR_BY_SPEED;
    s.panel->overlay.residual = true;
    panel_ask(s.panel, (Act){.kind = ACT_COLOR, .number = COLOR_BY_SPEED});
    advance(&s, 30);
    // A slider is held while the film is taken, and goes on following the mouse.
    const ControlPlace *speed = &s.places[CONTROL_SPEED];
    interface_mouse(s.interface, speed->x, speed->y, false);
    draw(&s);
    interface_mouse(s.interface, speed->x, speed->y, true);
    draw(&s);
    unsigned char *bare = film_frame(&s, (OverlayDef){0});
    unsigned char *full = film_frame(&s, (OverlayDef){.clock = true, .legend = true, .residual = true});
    assert_false(renderer_has(s.renderer, &s.frame->render_scene, &s.camera, &s.look, 480, 270)); // it is drawn over
    double held = s.panel->speed;
    interface_mouse(s.interface, speed->x + 40, speed->y, true);
    draw(&s);
    assert_true(s.panel->speed > 1.2 * held);

    // Of the pixels in a part of the film, the share that the overlays changed.
    static const struct Part {
        int x, y, width, height;
        double least, most;
    } parts[] = {{220, 12, 40, 20, 0.8, 1},     // the clock, in the middle above
                 {12, 120, 70, 130, 0.8, 1},    // the legend, below on the left
                 {330, 15, 130, 60, 0.8, 1},    // the residual, above on the right
                 {250, 180, 220, 80, 0, 0.001}, // nothing else
                 {130, 60, 100, 200, 0, 0.001}};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        const struct Part *p = &parts[k];
        int changed = 0;
        for (int y = p->y; y < p->y + p->height; y++)
            for (int x = p->x; x < p->x + p->width; x++)
                changed += memcmp(bare + 4 * (y * 480 + x), full + 4 * (y * 480 + x), 4) != 0;
        double share = (double)changed / (p->width * p->height);
        if (share < p->least || share > p->most) fail_msg("part %d of the film: %.3f of it changed", (int)k, share);
    }
    if (panel_pictures) {
        char path[512];
        SandError error = {""};
        snprintf(path, sizeof path, "%s/film_overlays.png", panel_pictures);
        if (!png_write(path, 480, 270, 4, full, &error)) fail_msg("%s", error.text);
    }
    free(bare);
    free(full);
    close_offscreen(&s);
}

// Of the pixels below the cards in a film of two runs, the share in which its halves differ.
static double halves_differ(Fixture *s, const char *name) {
    enum { WIDE = 480, HIGH = 270, TOP = 105 };
    uint64_t next = s->frame->step + 1;
    unsigned char *film = film_frame(s, (OverlayDef){0});
    DRAW_UNTIL(s, s->frame->step == next); // the film has asked for a step
    SplitArea area = split_area(0, WIDE, HIGH);
    int differ = 0;
    for (int y = TOP; y < HIGH; y++)
        for (int x = 0; x < area.half; x++) {
            const unsigned char *row = film + 4 * (size_t)(y * WIDE);
            differ += memcmp(row + 4 * (split_left(&area, 0) + x), row + 4 * (split_left(&area, 1) + x), 4) != 0;
        }
    if (panel_pictures) {
        char path[512];
        SandError error = {""};
        snprintf(path, sizeof path, "%s/%s.png", panel_pictures, name);
        if (!png_write(path, WIDE, HIGH, 4, film, &error)) fail_msg("%s", error.text);
    }
    free(film);
    return (double)differ / (area.half * (HIGH - TOP));
}

// A second run, with a solver of its own: where it parts its picture is that of the first, and then no longer.
static void test_side_by_side(void **state) {
    (void)state;
    Fixture s;
    open_offscreen(&s);
    s.plain = s.panel->unfold = true;
    s.height = 2400;
    advance(&s, 60);
    panel_toggle_beside(s.panel, &s.scene);
    assert_int_equal(s.panel->beside.solver, sand_solver_find("jacobi"));
    s.panel->beside.iterations = 1;
    DRAW_UNTIL(&s, s.frame->beside.on);
    assert_int_equal(s.asked[ACT_BESIDE], 1);
    assert_int_equal(s.frame->beside.since, s.frame->step);
    assert_true(halves_differ(&s, "film_parting") == 0);
    advance(&s, 60);
    assert_true(s.frame->beside.counters.penetration_max > 10 * s.frame->counters.penetration_max);
    assert_true(halves_differ(&s, "film_side_by_side") > 0.02);

    // Its controls, and what ends it.
    s.height = 720;
    s.panel->unfold = false;
    keep_picture(&s, "panel_side_by_side");
    s.height = 2400;
    s.panel->unfold = true;
    draw(&s);
    click(&s, CONTROL_BESIDE_ITERATIONS);
    assert_true(s.last.kind == ACT_BESIDE && s.last.solve.iterations == s.panel->beside.iterations);
    assert_true(s.panel->beside.iterations > 1);
    panel_toggle_beside(s.panel, &s.scene);
    DRAW_UNTIL(&s, !s.frame->beside.on);
    close_offscreen(&s);
}

static void test_buttons_ask(void **state) {
    (void)state;
    Fixture s;
    open_offscreen(&s);
    s.plain = s.panel->unfold = true;
    s.height = 2400;
    s.panel->record = on_record;
    s.panel->screenshot = on_screenshot;
    advance(&s, 20);
    click(&s, CONTROL_PLAY);
    assert_int_equal(s.asked[ACT_TOGGLE], 1);
    assert_true(interface_wants_mouse(s.interface));
    DRAW_UNTIL(&s, s.frame->playing); // it was paused, so it runs
    click(&s, CONTROL_PLAY);
    DRAW_UNTIL(&s, !s.frame->playing);
    click(&s, CONTROL_STEP_BACK);
    assert_int_equal(s.asked[ACT_BACK], 1);
    click(&s, CONTROL_STEP);
    assert_int_equal(s.asked[ACT_STEP], 1);
    click(&s, CONTROL_FLIP);
    assert_int_equal(s.asked[ACT_FLIP], 1);
    click(&s, CONTROL_SCRUB); // its middle: half way back
    assert_true(s.asked[ACT_SEEK] > 0 && s.last.kind == ACT_SEEK);
    wait_for_step(&s, s.last.number);
    click(&s, CONTROL_ITERATIONS);
    assert_true(s.asked[ACT_SOLVE] > 0 && s.last.kind == ACT_SOLVE);
    click(&s, CONTROL_TILT);
    assert_true(s.asked[ACT_GRAVITY] > 0);
    assert_true(fabs(s.panel->tilt - 90) < 3 && fabs(v3_length(s.last.vector) - s.panel->gravity) < 1e-9);
    click(&s, CONTROL_SPEED);
    assert_true(s.asked[ACT_SPEED] > 0);
    click(&s, CONTROL_RECORD);
    assert_true(record_called && s.panel->recording.active);
    s.panel->recording.active = false;
    click(&s, CONTROL_CITE);
    assert_non_null(strstr(igGetClipboardText(), "@techreport{heyn2012krylov"));

    // The second entry of the list of solvers.
    ControlPlace *solver = &s.places[CONTROL_SOLVER];
    click(&s, CONTROL_SOLVER);
    draw(&s);
    double row = 15 + 5;
    click_at(&s, solver->x, solver->y + 1.2 * row + 1.5 * row);
    assert_int_equal(s.panel->solve.solver, 1);
    assert_true(s.last.kind == ACT_SOLVE && s.last.solve.solver == 1);

    // Plots are saved where the recordings go.
    char path[512];
    struct stat file;
    snprintf(s.panel->recording.folder, sizeof s.panel->recording.folder, "%s",
             panel_pictures ? panel_pictures : "/tmp/sandglass_test_panel");
    click(&s, CONTROL_SAVE_CSV);
    click(&s, CONTROL_SAVE_PNG);
    const char *kinds[] = {"csv", "png"};
    for (int i = 0; i < 2; i++) {
        // Whichever plot the button that is in sight belongs to, and whichever step was on the screen.
        glob_t found;
        snprintf(path, sizeof path, "%s/*_0*.%s", s.panel->recording.folder, kinds[i]);
        if (glob(path, 0, NULL, &found) != 0) fail_msg("%s was not written", path);
        if (stat(found.gl_pathv[0], &file) != 0 || file.st_size < 20) fail_msg("%s is empty", found.gl_pathv[0]);
        for (size_t k = 0; !panel_pictures && k < found.gl_pathc; k++) remove(found.gl_pathv[k]);
        globfree(&found);
    }
    click(&s, CONTROL_HIDE);
    assert_true(s.panel->hidden);
    close_offscreen(&s);
}

// What changes other than by the panel's own hand is shown in it: a step back over a change of gravity and solver, a reset,
// and a scene whose number of bodies is fixed.
static void test_panel_follows(void **state) {
    (void)state;
    Fixture s;
    open_offscreen(&s);
    s.plain = s.panel->unfold = true;
    s.height = 2400;
    advance(&s, 5);
    click(&s, CONTROL_TILT);
    panel_choose_solver(s.panel, sand_solver_find("jacobi"));
    advance(&s, 5);
    assert_true(fabs(s.panel->tilt - 90) < 3);
    panel_ask(s.panel, (Act){.kind = ACT_SEEK, .number = 3});
    wait_for_step(&s, 3);
    assert_true(s.panel->tilt == 0);
    assert_true(s.panel->solve.solver == sand_solver_default);
    // A reset keeps what is set, and the sliders say so.
    advance(&s, 6); // over both changes again
    assert_true(fabs(s.panel->tilt - 90) < 3);
    panel_ask(s.panel, (Act){.kind = ACT_RESET});
    DRAW_UNTIL(&s, s.frame->step == 0);
    draw(&s);
    assert_true(fabs(s.panel->tilt - 90) < 3 && s.panel->solve.solver == sand_solver_find("jacobi"));
    assert_true(fabs(s.scene.gravity.z) < 1);

    Act stack = {.kind = ACT_SCENE, .text = "stack"};
    panel_ask(s.panel, stack);
    DRAW_UNTIL(&s, !strcmp(s.scene.name, "stack"));
    assert_int_equal(s.scene.bodies, 0);
    int asked = s.asked[ACT_SCENE];
    click(&s, CONTROL_BODIES); // grayed out
    assert_int_equal(s.asked[ACT_SCENE], asked);
    close_offscreen(&s);
}

int main(int argc, char **argv) {
    panel_pictures = argc > 1 ? argv[1] : NULL;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_controls_have_twins),
        cmocka_unit_test(test_every_solver_can_be_cited),
        cmocka_unit_test(test_scales),
        cmocka_unit_test(test_draws),
        cmocka_unit_test(test_all_controls_are_drawn),
        cmocka_unit_test(test_headline_warns),
        cmocka_unit_test(test_race),
        cmocka_unit_test(test_film_is_at_its_best),
        cmocka_unit_test(test_film_has_overlays),
        cmocka_unit_test(test_side_by_side),
        cmocka_unit_test(test_long_work),
        cmocka_unit_test(test_recent_files),
        cmocka_unit_test(test_buttons_ask),
        cmocka_unit_test(test_panel_follows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
