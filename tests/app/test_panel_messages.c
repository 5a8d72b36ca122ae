// SPDX-License-Identifier: MIT
// What the panel says and shows, off-screen: messages are whole and cover neither legend nor panels, in windows of several
// sizes; a message that comes again and again becomes quiet; numbers and plots are readable. With a folder as argument the
// pictures are left there to be looked at.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/lab/lab.h"
#include "tests/lab/window/panel_lab.h"

#include "app/io/caption.h"
#include "app/ui/show_caption.h"
#include "app/ui/cimgui.h"
#include "app/ui/panel/panel_parts.h"

// --- messages -------------------------------------------------------------------------------------------------

static bool apart(Box a, Box b) { return a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top; }

static bool within(Box inner, Box outer) {
    return inner.left >= outer.left && inner.right <= outer.right && inner.top >= outer.top && inner.bottom <= outer.bottom;
}

// Several long messages at once, with legend and force chains, in windows of these sizes.
static void messages_cover_nothing(void **state) {
    (void)state;
    static const int sizes[][2] = {{1280, 720}, {800, 600}, {1920, 1080}, {640, 480}};
    static const char *const sentence =
        "2400 of 6000 bodies, and even these are slower than real time here (31.5 ms a step); "
        "--bodies 6000 has all";
    Fixture s;
    open_offscreen(&s);
    s.panel->color = COLOR_BY_FORCE;
    panel_ask(s.panel, (Act){.kind = ACT_COLOR, .number = COLOR_BY_FORCE});
    panel_ask(s.panel, (Act){.kind = ACT_CHAINS, .number = 1});
    advance(&s, 40);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        s.width = sizes[k][0];
        s.height = sizes[k][1];
        panel_say(s.panel, sentence);
        panel_say(s.panel, "Flying: W A S D, Q down, E up, the mouse looks about; V or Esc ends it.");
        draw(&s);
        draw(&s);
        const Panel *panel = s.panel;
        char name[64];
        snprintf(name, sizeof name, "messages_%d", sizes[k][0]);
        keep_picture(&s, name);
        Box free = {panel->free_left, panel->free_top, panel->free_right, panel->free_bottom};
        assert_false(box_is_empty(panel->places.legend));
        assert_false(box_is_empty(panel->places.chains));
        assert_false(box_is_empty(panel->message_box));
        assert_true(within(panel->message_box, free));
        assert_true(within(panel->places.chains, free));
        assert_true(apart(panel->message_box, panel->places.legend));
        assert_true(apart(panel->message_box, panel->places.chains));
        assert_true(apart(panel->places.chains, panel->places.legend));
    }
    close_offscreen(&s);
}

// Each column folds to a strip and back, and what is free grows by as much.
static void columns_fold_to_strips(void **state) {
    (void)state;
    Fixture s;
    open_offscreen(&s);
    s.plain = true;
    advance(&s, 2);
    double left = s.panel->free_left, right = s.panel->free_right;
    for (int k = 0; k < 2; k++) {
        const Box *fold = &s.panel->folds[k];
        click_at(&s, 0.5 * (fold->left + fold->right), 0.5 * (fold->top + fold->bottom));
        draw(&s);
        assert_true(s.panel->folded[k]);
    }
    assert_true(s.panel->free_left < 0.2 * left && s.width - s.panel->free_right < 0.2 * (s.width - right));
    panel_say(s.panel, "A message.");
    draw(&s);
    keep_picture(&s, "strips");
    assert_false(box_is_empty(s.panel->message_box));
    for (int k = 0; k < 2; k++) {
        const Box *fold = &s.panel->folds[k];
        click_at(&s, 0.5 * (fold->left + fold->right), 0.5 * (fold->top + fold->bottom));
        draw(&s);
        assert_false(s.panel->folded[k]);
    }
    assert_true(s.panel->free_left == left && s.panel->free_right == right);
    close_offscreen(&s);
}

static int shown(const Panel *panel) {
    int count = 0;
    for (int k = 0; k < PANEL_MESSAGES; k++) count += panel->messages[k].left > 0;
    return count;
}

// A sentence that every step repeats with another number is one message, which goes; what a person does is told each time.
static void repeated_messages_become_quiet(void **state) {
    (void)state;
    Fixture s;
    char text[96];
    open_offscreen(&s);
    s.plain = true;
    advance(&s, 1);
    int heard = 0;
    for (int k = 0; k < 60 * 20; k++) { // 20 s
        snprintf(text, sizeof text, "the problem of step %d is infeasible; its best impulses are used", k);
        heard += panel_hear(s.panel, text);
        draw(&s);
        assert_true(shown(s.panel) <= 1);
    }
    assert_true(heard > 0);
    assert_int_equal(shown(s.panel), 0);
    for (int k = 1; k < 4; k++) {
        snprintf(text, sizeof text, "Camera key %d, at 0.10 s", k);
        panel_say(s.panel, text);
    }
    assert_int_equal(shown(s.panel), 3);
    for (int k = 0; k < 60 * 9; k++) draw(&s);
    assert_int_equal(shown(s.panel), 0);
    for (int k = 0; k < 60 * 31; k++) draw(&s);
    assert_true(panel_hear(s.panel, text)); // it has not come for long
    close_offscreen(&s);
}

// Text over a film leaves room for its caption, which needs no more than that.
static void captions_have_room(void **state) {
    (void)state;
    enum { WIDE = 640, HIGH = 360 };
    SandError error;
    Fixture s;
    open_offscreen(&s);
    advance(&s, 40);
    panel_ask(s.panel, (Act){.kind = ACT_CHAINS, .number = 1});
    advance(&s, 2);
    OverlayView view = panel_overlay(s.frame, &s.scene, split_area(0, WIDE, HIGH));
    view.below = caption_margin(HIGH);
    interface_begin(s.interface, WIDE, HIGH, 1, 0.02);
    OverlayPlaces places = overlay_draw(&s.panel->overlay, &view, 0, 0, WIDE, HIGH);
    interface_end(s.interface, renderer_framebuffer(s.renderer));
    assert_false(box_is_empty(places.chains));
    assert_true(places.chains.bottom <= HIGH - caption_margin(HIGH));
    close_offscreen(&s);

    unsigned char *pixels = calloc(4, (size_t)WIDE * HIGH);
    Caption *caption = caption_create(&error);
    assert_non_null(caption);
    caption_draw(caption, "A jolly \xc3\x89gyptian quip: |(g)|", caption_size(HIGH), pixels, WIDE, HIGH);
    int top = 0;
    while (top < HIGH) {
        int ink = 0;
        for (int x = 0; x < WIDE; x++) ink += pixels[4 * ((size_t)top * WIDE + (size_t)x) + 3];
        if (ink) break;
        top++;
    }
    assert_true(top < HIGH && top >= HIGH - caption_margin(HIGH));
    caption_free(caption);
    free(pixels);
}

// The caption of a demo, upright or not, in small and in large pictures, covers neither legend nor chains nor messages, and
// its letters have the size that is read from afar.
static void captions_of_a_demo_cover_nothing(void **state) {
    (void)state;
    static const int sizes[][2] = {{1280, 720}, {1920, 1080}, {1080, 1920}, {800, 600}};
    PlaylistScene scene = {
        .scene = "hourglass",
        .seconds = 40,
        .title = "Hourglass",
        .text = "Left p-spg-fb. Right ten iterations of jacobi, with which the cylinder sinks into the spheres.",
        .invite = "Press any key to throw a ball"};
    Playlist playlist = {.scenes = &scene, .count = 1};
    Show show = show_begin(&playlist, 0);
    show.is_open = true;
    show.time = 10;
    Fixture s;
    open_offscreen(&s);
    s.panel->hidden = true;
    s.panel->color = COLOR_BY_FORCE;
    panel_ask(s.panel, (Act){.kind = ACT_COLOR, .number = COLOR_BY_FORCE});
    panel_ask(s.panel, (Act){.kind = ACT_CHAINS, .number = 1});
    advance(&s, 40);
    SandError error;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        int width = sizes[k][0], height = sizes[k][1];
        if (!renderer_draw(s.renderer, &s.frame->render_scene, &s.camera, &s.look, width, height, &error))
            fail_msg("%s", error.text);
        ShowView view = {width, height, true, 0};
        s.panel->reserved = show_margin(width, height);
        panel_say(s.panel, "3 bodies left the world.");
        interface_begin(s.interface, width, height, show_scale(width, height), 0.02);
        NEAR(igGetFontSize(), fmax(9, 28.0 * fmin(width, height) / 1080), 0.6);
        panel_draw(s.panel, s.frame, &s.scene, &s.camera, &s.look, width, height, 0.02);
        Box caption = show_draw(&show, &view);
        interface_end(s.interface, renderer_framebuffer(s.renderer));
        if (panel_pictures) {
            char path[512];
            s.width = width, s.height = height;
            unsigned char *pixels = read_pixels(&s);
            snprintf(path, sizeof path, "%s/caption_%d.png", panel_pictures, width);
            assert_true(png_write(path, width, height, 4, pixels, &error));
            free(pixels);
        }
        Box picture = {0, 0, width, height};
        assert_true(within(caption, picture) && within(s.panel->places.legend, picture));
        assert_true(caption.top >= height - show_margin(width, height));
        assert_true(apart(caption, s.panel->places.legend));
        assert_true(apart(caption, s.panel->places.chains));
        assert_true(apart(caption, s.panel->message_box));
    }
    close_offscreen(&s);
}

// --- words and numbers ------------------------------------------------------------------------------------------

// A problem without a solution is called so, and nobody is advised to try harder.
static void infeasible_steps_are_called_so(void **state) {
    (void)state;
    Fixture s;
    open_offscreen(&s);
    advance(&s, 40);
    s.frame->counters.status = SAND_INFEASIBLE;
    s.frame->counters.solved = 0;
    s.frame->playing = true;
    s.frame->real_time_factor = 1;
    for (int k = 0; k < 90; k++) draw(&s);
    assert_non_null(strstr(s.panel->headline, "there is no solution"));
    assert_non_null(strstr(s.panel->advice, "no solver can help"));
    assert_null(strstr(s.panel->verdict, "Real time"));
    keep_picture(&s, "infeasible");
    close_offscreen(&s);
}

static void numbers_have_no_exponent(void **state) {
    (void)state;
    const struct {
        double value;
        const char *text;
    } cases[] = {{1000, "1000 kg"},  {16000, "16000 kg"},    {123.4, "123 kg"},
                 {12.34, "12.3 kg"}, {0.01234, "0.0123 kg"}, {0, "0 kg"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[48];
        panel_value_text(text, sizeof text, cases[k].value, "kg");
        assert_string_equal(text, cases[k].text);
    }
}

// --- plots --------------------------------------------------------------------------------------------------------

typedef struct Lab {
    double l, a, b;
} Lab;

static double linear(unsigned byte) {
    double c = byte / 255.0;
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static double curved(double t) { return t > 0.008856 ? cbrt(t) : 7.787 * t + 16.0 / 116; }

static Lab lab_of(unsigned color) {
    double r = linear(color & 255), g = linear(color >> 8 & 255), b = linear(color >> 16 & 255);
    double x = curved((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505), y = curved(0.2126 * r + 0.7152 * g + 0.0722 * b),
           z = curved((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089);
    return (Lab){116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

static double difference(unsigned p, unsigned q) {
    Lab a = lab_of(p), b = lab_of(q);
    return sqrt(pow(a.l - b.l, 2) + pow(a.a - b.a, 2) + pow(a.b - b.b, 2));
}

// Every solver has a color of its own, in the window and on paper, and it is the same color but for its lightness. In CIELAB
// 2.3 is the least difference that an eye sees side by side.
static void every_solver_has_its_color(void **state) {
    (void)state;
    for (int i = 0; i < sand_solver_known; i++) {
        for (int k = 0; k < i; k++) {
            if (difference(plot_color(i), plot_color(k)) < 10 || difference(plot_paper_color(i), plot_paper_color(k)) < 10)
                fail_msg("%s and %s have one color", sand_solver_table[i].name, sand_solver_table[k].name);
        }
        Lab a = lab_of(plot_color(i)), b = lab_of(plot_paper_color(i));
        double chroma = fmin(hypot(a.a, a.b), hypot(b.a, b.b)), most = fmax(hypot(a.a, a.b), hypot(b.a, b.b));
        double turn = fabs(remainder(atan2(a.b, a.a) - atan2(b.b, b.a), 2 * 3.14159265358979323846));
        if (most > 15 && (chroma < 8 || turn > 0.3))
            fail_msg("%s has another color on paper than in the window", sand_solver_table[i].name);
    }
}

// The read-out names the place of the nearest point of all curves; what ended before says where.
static void the_read_out_is_of_one_place(void **state) {
    (void)state;
    const double one_x[] = {1}, one_y[] = {0.5}, two_x[] = {1, 2, 3, 4, 5}, two_y[] = {1, 0.1, 0.01, 0, 1e-4};
    Plot plot = {.x = {.name = "iteration", .unit = ""},
                 .y = {.name = "residual", .unit = "m/s", .logarithmic = true},
                 .curves = {{.name = "short", .x = one_x, .y = one_y, .count = 1},
                            {.name = "long", .x = two_x, .y = two_y, .count = 5}},
                 .curve_count = 2};
    PlotScale scale = plot_scale(&plot.x, 0, 5, 5);
    PlotReading readings[PLOT_MAX_CURVES];
    double x = -1;
    assert_int_equal(plot_read(&plot, &scale, 2.9 / 5, readings, &x), 2);
    assert_true(x == 3);
    assert_true(readings[0].x == 1 && readings[0].y == 0.5);
    assert_true(readings[1].x == 3 && readings[1].y == 0.01);
    assert_int_equal(plot_read(&plot, &scale, 4.1 / 5, readings, &x), 2); // what cannot be shown is not read
    assert_true(readings[1].x == 5 && readings[1].y == 1e-4);
    plot.curve_count = 0;
    assert_int_equal(plot_read(&plot, &scale, 0.5, readings, &x), 0);
}

// In a small window the plot of a race keeps most of the height, and no name of a solver is cut.
static void the_race_has_room(void **state) {
    (void)state;
    static const int sizes[][2] = {{800, 600}, {1280, 720}, {1920, 1080}};
    Fixture s;
    open_offscreen(&s);
    advance(&s, 40);
    s.panel->racing.iterations = 20;
    panel_start_race(s.panel);
    DRAW_UNTIL(&s, s.panel->racing.curves.begun && !s.panel->racing.curves.running);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        s.width = sizes[k][0];
        s.height = sizes[k][1];
        draw(&s);
        draw(&s);
        char name[64];
        snprintf(name, sizeof name, "race_%d", sizes[k][0]);
        keep_picture(&s, name);
        if (!(s.panel->racing.plot_height > 0.35 * s.height))
            fail_msg("at %d x %d the plot is %.0f pixels high", s.width, s.height, s.panel->racing.plot_height);
    }
    close_offscreen(&s);
}

int main(int count, char **arguments) {
    if (count > 1) panel_pictures = arguments[1];
    const struct CMUnitTest tests[] = {cmocka_unit_test(messages_cover_nothing),
                                       cmocka_unit_test(columns_fold_to_strips),
                                       cmocka_unit_test(repeated_messages_become_quiet),
                                       cmocka_unit_test(captions_of_a_demo_cover_nothing),
                                       cmocka_unit_test(captions_have_room),
                                       cmocka_unit_test(infeasible_steps_are_called_so),
                                       cmocka_unit_test(numbers_have_no_exponent),
                                       cmocka_unit_test(every_solver_has_its_color),
                                       cmocka_unit_test(the_read_out_is_of_one_place),
                                       cmocka_unit_test(the_race_has_room)};
    return cmocka_run_group_tests_name("panel_messages", tests, NULL, NULL);
}
