// SPDX-License-Identifier: MIT
// The demo in the window: it goes through a playlist for three rounds and holds no more memory in the last than in the
// second; a key lets a person take over, and it goes on by itself. Needs a display: tests/lab/window/on_display provides
// one.
#include "app/ui/window.h"
#include "sim/core/array.h"
#include "sim/core/clock.h"
#include "tests/lab/lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/sandglass-demo-XXXXXX", path[80];
static const double LIMIT = 1200; // s: a window that hangs, not a slow machine

typedef struct Watch {
    Show show;
    WindowState state;
    double begun;
    int rounds;                 // to watch
    int seen[16];               // frames in which each scene was shown, by round and scene
    uint64_t held[4];           // bytes of arrays at the end of each round
    bool touch, touched;        // a key is to be pressed; it was
    bool taken;                 // the panel came
    int from_round, from_index; // where the demo stood then
} Watch;

static void count(Watch *watch) {
    const Show *show = &watch->show;
    if (show->is_open && !strcmp(watch->state.scene, show_scene(show)->scene) && show->round < 4)
        watch->seen[3 * show->round + show->index]++;
    if (show->round > 0 && show->round < 4 && !watch->held[show->round]) watch->held[show->round] = sand_bytes_held();
}

static bool is_over(void *user) {
    Watch *watch = user;
    if (watch->begun == 0) watch->begun = sand_seconds();
    if (sand_seconds() - watch->begun > LIMIT) return true;
    count(watch);
    if (!watch->touch) return watch->show.round >= watch->rounds;
    if (!watch->touched && watch->show.is_open && watch->state.step > 5) {
        assert_int_equal(system("xdotool key c"), 0);
        watch->touched = true;
    }
    if (watch->touched && !watch->taken && !watch->state.hidden) {
        watch->taken = true;
        watch->from_round = watch->show.round;
        watch->from_index = watch->show.index;
    }
    // It goes on: the panel is hidden again, and the next scene has its turn.
    return watch->taken && watch->state.hidden && watch->show.is_open &&
           (watch->show.index != watch->from_index || watch->show.round != watch->from_round);
}

static void run(Watch *watch, Playlist *playlist) {
    SandError error;
    if (!playlist_load(playlist, path, &error)) fail_msg("%s", error.text);
    watch->show = show_begin(playlist, 0);
    WindowDef def = window_default();
    def.engine.scene = playlist->scenes[0].scene;
    def.engine.options.bodies = playlist->scenes[0].bodies;
    def.engine.simulation.threads = 1;
    def.engine.history_bytes = 1u << 20;
    def.width = 320;
    def.height = 200;
    def.quality = QUALITY_LOW;
    def.panel = PANEL_OFF;
    def.show = &watch->show;
    def.give_back = 2;
    def.should_close = is_over;
    def.user = watch;
    def.state = &watch->state;
    WindowReport report;
    if (!window_run(&def, &report, &error)) fail_msg("%s", error.text);
    assert_int_equal(report.errors, 0);
}

static void three_rounds(void **state) {
    (void)state;
    Watch watch = {.rounds = 3};
    Playlist playlist;
    run(&watch, &playlist);
    assert_int_equal(watch.show.round, 3);
    for (int k = 0; k < 9; k++)
        if (!watch.seen[k]) fail_msg("round %d: %s was not shown", k / 3 + 1, playlist.scenes[k % 3].scene);
    print_message("arrays after each round: %llu, %llu, %llu bytes\n", (unsigned long long)watch.held[1],
                  (unsigned long long)watch.held[2], (unsigned long long)watch.held[3]);
    // All rounds end before the first scene opens anew; how far the last came differs a little.
    assert_true((double)watch.held[3] < 1.1 * (double)watch.held[2] + 1e6);
    playlist_free(&playlist);
}

static void a_touch_takes_over(void **state) {
    (void)state;
    if (system("command -v xdotool >/dev/null") != 0) {
        print_message("skipped: there is no xdotool\n");
        return;
    }
    Watch watch = {.touch = true};
    Playlist playlist;
    run(&watch, &playlist);
    assert_true(watch.taken);
    assert_true(watch.state.hidden);
    playlist_free(&playlist);
}

// A kiosk: Ctrl+Q closes nothing, a key goes to the scene that invites, and there throws a ball; the panel never comes.
typedef struct Visit {
    Show show;
    WindowState state;
    double begun;
    int stage, bodies, waited;
    bool panel_came;
} Visit;

static void press(const char *key) {
    char command[80];
    snprintf(command, sizeof command, "xdotool key %s", key);
    assert_int_equal(system(command), 0);
}

static bool visit_is_over(void *user) {
    Visit *visit = user;
    const WindowState *state = &visit->state;
    if (visit->begun == 0) visit->begun = sand_seconds();
    if (sand_seconds() - visit->begun > LIMIT) return true;
    visit->panel_came = visit->panel_came || (state->step > 0 && !state->hidden);
    bool there = visit->show.is_open && !strcmp(state->scene, show_scene(&visit->show)->scene) && state->step > 3;
    if (visit->stage == 0 && there) {
        press("ctrl+q");
        press("x");
        visit->stage = 1;
    } else if (visit->stage == 1 && there && visit->show.index == 1) {
        visit->bodies = state->bodies;
        press("space");
        visit->stage = 2;
    } else if (visit->stage == 2 && state->bodies > visit->bodies) {
        visit->stage = 3;
    } else if (visit->stage == 2 && ++visit->waited % 40 == 0) { // soon after another a press throws nothing: again
        press("space");
    }
    return visit->stage == 3;
}

static void visitors_of_a_kiosk_throw_balls(void **state) {
    (void)state;
    if (system("command -v xdotool >/dev/null") != 0) {
        print_message("skipped: there is no xdotool\n");
        return;
    }
    SandError error;
    Playlist playlist;
    char invites[96];
    snprintf(invites, sizeof invites, "%s/invites.yaml", folder);
    FILE *file = fopen(invites, "w");
    fputs("seconds: 1000\nscenes:\n  - {scene: hourglass, bodies: 60, title: Glass}\n"
          "  - {scene: cylinder, bodies: 60, title: Balls, invite: Press any key}\n",
          file);
    fclose(file);
    if (!playlist_load(&playlist, invites, &error)) fail_msg("%s", error.text);
    Visit visit = {.show = show_begin(&playlist, 0)};
    WindowDef def = window_default();
    def.engine.scene = "hourglass";
    def.engine.options.bodies = 60;
    def.engine.simulation.threads = 1;
    def.width = 320;
    def.height = 200;
    def.quality = QUALITY_LOW;
    def.show = &visit.show;
    def.kiosk = true;
    def.should_close = visit_is_over;
    def.user = &visit;
    def.state = &visit.state;
    WindowReport report;
    if (!window_run(&def, &report, &error)) fail_msg("%s", error.text);
    assert_int_equal(visit.stage, 3);
    assert_false(visit.panel_came);
    assert_int_equal(visit.show.index, 1); // the show is where it was
    playlist_free(&playlist);
}

// A glass that has run empty is turned over by itself, again and again, and nobody is asked to save that.
typedef struct Glass {
    WindowState state;
    double begun;
    bool unsaved;
} Glass;

static bool turned_twice(void *user) {
    Glass *glass = user;
    if (glass->begun == 0) glass->begun = sand_seconds();
    glass->unsaved = glass->unsaved || glass->state.unsaved;
    return glass->state.turned >= 2 || sand_seconds() - glass->begun > LIMIT;
}

static void an_empty_glass_is_turned(void **state) {
    (void)state;
    SandError error;
    Glass glass = {0};
    WindowDef def = window_default();
    def.engine.options.bodies = 60;
    def.engine.simulation.threads = 1;
    def.width = 320;
    def.height = 200;
    def.quality = QUALITY_LOW;
    def.speed = 8;
    def.turns = true;
    def.should_close = turned_twice;
    def.user = &glass;
    def.state = &glass.state;
    WindowReport report;
    if (!window_run(&def, &report, &error)) fail_msg("%s", error.text);
    assert_int_equal(glass.state.turned, 2);
    assert_false(glass.unsaved);
}

int main(void) {
    if (!mkdtemp(folder)) return 1;
    setenv("XDG_CONFIG_HOME", folder, 1); // the user's own settings and states are left alone
    setenv("XDG_CACHE_HOME", folder, 1);
    snprintf(path, sizeof path, "%s/short.yaml", folder);
    FILE *file = fopen(path, "w");
    fputs("seconds: 1.5\norbit: 5\nscenes:\n"
          "  - {scene: hourglass, bodies: 60, title: Glass, text: It turns over., acts: [{at: 0.3, act: flip}]}\n"
          "  - {scene: cylinder, bodies: 60, chains: true, color: force, acts: [{at: 0.3, act: throw}, {at: 0.8, act: race, "
          "solvers: 'p-spg-fb,jacobi'}]}\n"
          "  - {scene: two-spheres, acts: [{at: 0.3, act: solve, solver: jacobi, iterations: 10}, {at: 0.6, act: beside, "
          "solver: p-spg-fb}, {at: 1.2, act: alone}]}\n",
          file);
    fclose(file);
    const struct CMUnitTest tests[] = {cmocka_unit_test(three_rounds), cmocka_unit_test(a_touch_takes_over),
                                       cmocka_unit_test(visitors_of_a_kiosk_throw_balls),
                                       cmocka_unit_test(an_empty_glass_is_turned)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
