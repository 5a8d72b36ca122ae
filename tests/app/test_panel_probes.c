// SPDX-License-Identifier: MIT
// What the panel shows of probes: a plot of each, whose curves are what the probes read, also after a step back in time.
#include "tests/lab/window/panel_lab.h"

#include <string.h>
#include <sys/stat.h>

static const char *const texts[] = {
    "glass force boundary=glass rate=50",
    "column stress lower=-3,-3,-6 upper=3,3,6 cells=2,2,12",
    "cells density lower=-3,-3,-6 upper=3,3,6 cells=1,1,100 rate=20",
};

static void panel_plots_probes(void **state) {
    (void)state;
    Fixture s;
    open_offscreen_with(&s,
                        &(SandSceneOptions){.bodies = 300, .start = SAND_START_LATTICE, .probes = texts, .probe_count = 3});
    s.height = 1600;
    s.plain = true;
    advance(&s, 60);
    const ProbeReadings *r = &s.frame->probes;
    assert_int_equal(r->count, 4); // that of the scene is the first
    assert_string_equal(r->probes[0].name, "neck");
    assert_string_equal(r->probes[0].columns[0], "rate_kg_s");
    assert_int_equal(s.panel->probes[0].count, 6); // 10 Hz in 0.6 s
    assert_int_equal(s.panel->probes[1].count, 30);
    assert_int_equal(s.panel->probes[2].count, 0); // a profile has no history
    assert_true(s.panel->probes[0].values[0][5] > 0 && s.panel->probes[0].values[0][5] == r->probes[0].values[0][0]);
    assert_int_equal(r->probes[2].points, 12);
    assert_int_equal(r->probes[3].points, READING_POINTS); // a hundred cells, merged
    double load = 0;                                       // of the glass
    for (int c = 0; c < 3; c++) load += fabs(s.panel->probes[1].values[c][29]);
    assert_true(load > 0 && r->probes[2].values[2][6] > 0);
    keep_picture(&s, "panel_probes");

    // What was read after the step that is shown is not drawn.
    engine_ask(s.engine, &(Act){.kind = ACT_SEEK, .number = 35});
    wait_for_step(&s, 35);
    assert_int_equal(s.panel->probes[0].count, 3);
    assert_int_equal(s.panel->probes[1].count, 17);
    advance(&s, 25);
    assert_int_equal(s.panel->probes[0].count, 6);
    close_offscreen(&s);
}

static void add_probe(Fixture *s, const char *text) {
    snprintf(s->panel->probe_text, sizeof s->panel->probe_text, "%s", text);
    click(s, CONTROL_PROBE_ADD);
    draw(s);
}

// A person adds a probe while the scene runs; it stays when the scene is restarted, and goes with it. A wrong one is a
// message, and the run goes on.
static void panel_adds_a_probe(void **state) {
    (void)state;
    Fixture s;
    open_offscreen_with(&s, &(SandSceneOptions){.bodies = 300, .start = SAND_START_LATTICE});
    s.height = 1600;
    s.plain = true;
    advance(&s, 3);
    add_probe(&s, "e energy");
    advance(&s, 5);
    assert_int_equal(s.asked[ACT_PROBE], 1);
    assert_int_equal(s.frame->probes.count, 2);
    assert_string_equal(s.frame->probes.probes[1].name, "e");
    double read = s.frame->probes.probes[1].values[0][0], kinetic = s.frame->kinetic; // summed in another order
    assert_true(kinetic > 0 && fabs(read - kinetic) <= 1e-12 * kinetic);
    assert_int_equal(s.panel->probes[1].count, 5);

    expect_message("probe f:1: kind");
    add_probe(&s, "f enrgy");
    advance(&s, 2);
    assert_int_equal(s.frame->probes.count, 2);
    keep_picture(&s, "panel_new_probe");

    unsigned version = s.scene.version;
    engine_ask(s.engine, &(Act){.kind = ACT_RESET});
    DRAW_UNTIL(&s, s.scene.version != version && s.frame->step == 0);
    assert_int_equal(s.frame->probes.count, 2);
    version = s.scene.version;
    engine_ask(s.engine, &(Act){.kind = ACT_SCENE, .text = "two-spheres"});
    DRAW_UNTIL(&s, s.scene.version != version);
    advance(&s, 1);
    assert_int_equal(s.frame->probes.count, 0);
    close_offscreen(&s);
}

int main(int count, char **arguments) {
    if (count > 1) {
        panel_pictures = arguments[1];
        mkdir(panel_pictures, 0777);
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(panel_plots_probes), cmocka_unit_test(panel_adds_a_probe)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
