// SPDX-License-Identifier: MIT
// The solver in the panel, off-screen: the gauge of how much of a step it solves, the budget that ends at it, and its idea.
// With a folder as argument the pictures are left there to be looked at.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/lab/window/panel_lab.h"

#include "app/ui/cimgui.h"

// Pixels of the figures, above the table, that have this color.
static int count_pixels(Fixture *s, int red, int green, int blue) {
    s->plain = false;
    draw(s);
    unsigned char *pixels = read_pixels(s);
    int count = 0;
    for (int y = 0; y < 110; y++)
        for (int x = s->width - 400; x < s->width; x++) {
            const unsigned char *p = pixels + 4 * ((size_t)y * (size_t)s->width + (size_t)x);
            count += abs(p[0] - red) + abs(p[1] - green) + abs(p[2] - blue) < 12;
        }
    free(pixels);
    return count;
}

// Takes a few steps with this budget, and lets the gauge come to rest.
static void solve_with(Fixture *s, int iterations) {
    s->panel->solve.iterations = iterations;
    s->panel->solve_due = true;
    advance(s, 4);
    s->plain = true;
    for (int i = 0; i < 90; i++) draw(s);
    assert_int_equal(s->frame->counters.iterations, iterations);
    assert_true(fabs(s->panel->gauge - s->frame->counters.solved) < 1);
}

// The gauge shows what is solved of the step: a long green bar with many iterations, a short red one with few; and it blames
// real time where the scene keeps up with the clock.
static void test_gauge(void **state) {
    (void)state;
    Fixture s;
    open_offscreen(&s);
    advance(&s, 0);
    assert_non_null(strstr(s.panel->verdict, "No step"));
    advance(&s, 60);
    solve_with(&s, 400);
    assert_true(s.panel->gauge > 99 && strstr(s.panel->verdict, "Contacts are solved"));
    assert_non_null(strstr(s.panel->verdict, "pile may still sag")); // which the gauge cannot know
    int green = count_pixels(&s, 0x6a, 0xd0, 0x94);
    assert_true(green > 2000 && count_pixels(&s, 0xff, 0x6a, 0x6a) == 0);
    keep_picture(&s, "panel_gauge_full");
    solve_with(&s, 7);
    assert_true(s.panel->gauge > 5 && s.panel->gauge < 89 && strstr(s.panel->verdict, "unsolved") &&
                !strstr(s.panel->verdict, "Real time"));
    int red = count_pixels(&s, 0xff, 0x6a, 0x6a);
    assert_true(red > 100 && red < green && count_pixels(&s, 0x6a, 0xd0, 0x94) == 0);

    EngineFrame *frame = (EngineFrame *)s.frame;
    frame->playing = true;
    frame->real_time_factor = 1;
    draw(&s);
    char want[80];
    snprintf(want, sizeof want, "Real time leaves %.0f %% of this step unsolved.", 100 - floor(s.panel->gauge));
    assert_string_equal(s.panel->verdict, want);
    interface_mouse(s.interface, s.width - 300, 68, false); // its tooltip
    draw(&s);
    keep_picture(&s, "panel_gauge");
    frame->real_time_factor = 0.3; // slower than the clock anyway
    draw(&s);
    assert_null(strstr(s.panel->verdict, "Real time"));
    close_offscreen(&s);
}

// The budget by accuracy, chosen in the list: steps end when they have it, before the limit.
static void test_budget_by_accuracy(void **state) {
    (void)state;
    Fixture s;
    open_offscreen(&s);
    s.panel->solve.tolerance = 1e-9;
    advance(&s, 60);
    ControlPlace *list = &s.places[CONTROL_BUDGET];
    snprintf(list->wanted_entry, sizeof list->wanted_entry, "accuracy, in iterations");
    click(&s, CONTROL_BUDGET);
    DRAW_UNTIL(&s, list->open);
    click_at(&s, list->entry_x, list->entry_y);
    assert_true(s.last.kind == ACT_SOLVE && s.last.solve.accuracy == 99 && s.last.solve.tolerance == 0);
    assert_true(s.last.solve.iterations == 500 && s.last.solve.budget_ms == 0);
    advance(&s, 3);
    keep_picture(&s, "panel_accuracy");
    const SandCounters *c = &s.frame->counters;
    assert_true(c->status == SAND_SOLVED && c->iterations < 500 && c->solved >= 99);
    click(&s, CONTROL_ACCURACY); // the middle of its slider
    assert_true(fabs(s.last.solve.accuracy - 95) < 0.5);
    close_offscreen(&s);
}

// The idea of every solver ends above the button below it, which stays where it is.
static void ideas_fit_above_the_button(void **state) {
    (void)state;
    Fixture s;
    open_offscreen(&s);
    s.plain = true;
    advance(&s, 3);
    const ControlPlace *list = &s.places[CONTROL_SOLVER], *button = &s.places[CONTROL_CITE];
    double at = button->y, most = 0;
    for (int i = 0; i < sand_solver_count(); i++) {
        ImVec2 size;
        sand_solve_choose(&s.panel->solve, i);
        draw(&s);
        igCalcTextSize(&size, sand_solver_table[i].idea, NULL, false, (float)button->width);
        double room = button->y - 0.5 * button->height - (list->y + 0.5 * list->height);
        if (room < size.y) fail_msg("%s: %g pixels for %g of text", sand_solver_table[i].name, room, size.y);
        assert_true(button->y == at);
        if (size.y > most) keep_picture(&s, "panel_idea");
        most = fmax(most, size.y);
    }
    close_offscreen(&s);
}

int main(int argc, char **argv) {
    panel_pictures = argc > 1 ? argv[1] : NULL;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gauge),
        cmocka_unit_test(test_budget_by_accuracy),
        cmocka_unit_test(ideas_fit_above_the_button),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
