// SPDX-License-Identifier: MIT
// Playlists: what their acts make of a solver, and what is refused. The demo that follows one: tests/app/test_demo.c,
// tests/render/test_demo.
#include "app/engine/playlist.h"
#include "tests/lab/lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char path[] = "/tmp/sandglass-playlist-XXXXXX";

static bool load(Playlist *playlist, const char *acts, SandError *error) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "scenes:\n  - {scene: two-spheres, acts: [%s]}\n", acts);
    fclose(file);
    return playlist_load(playlist, path, error);
}

// A budget by accuracy takes the place of a tolerance, stays with acts that do not name it, and ends with 0.
static void acts_change_the_solver(void **state) {
    (void)state;
    Playlist playlist;
    SandError error = {""};
    SandSolveDef solve = sand_default_solve();
    solve.tolerance = 1e-3;
    solve.relative = true;
    if (!load(&playlist,
              "{at: 0, act: solve, solver: jacobi, iterations: 200, accuracy: 99.5}, {at: 1, act: solve, solver: apgd}, "
              "{at: 2, act: solve, solver: apgd, accuracy: 0}",
              &error))
        fail_msg("%s", error.text);
    const PlaylistAct *acts = playlist.scenes[0].acts;
    playlist_act_solve(&acts[0], &solve);
    assert_int_equal(solve.solver, sand_solver_find("jacobi"));
    assert_true(solve.accuracy == 99.5 && solve.tolerance == 0 && !solve.relative && solve.iterations == 200);
    playlist_act_solve(&acts[1], &solve);
    assert_int_equal(solve.solver, sand_solver_find("apgd"));
    assert_true(solve.accuracy == 99.5 && solve.iterations == 200);
    playlist_act_solve(&acts[2], &solve);
    assert_true(solve.accuracy == 0 && solve.tolerance == 0 && solve.iterations == 200);
    playlist_free(&playlist);
}

static void acts_drive(void **state) {
    (void)state;
    Playlist playlist;
    SandError error = {""};
    if (!load(&playlist, "{at: 2, act: drive, speeds: [4, -1.5]}", &error)) fail_msg("%s", error.text);
    const PlaylistAct *act = playlist.scenes[0].acts;
    assert_true(act->kind == PLAYLIST_DRIVE && act->speeds[0] == 4 && act->speeds[1] == -1.5);
    playlist_free(&playlist);
}

static void wrong_acts_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *act, *sentence;
    } wrong[] = {
        {"{at: 0, act: solve, solver: jacobi, accuracy: 100}", "accuracy: expected a number from 0 to 99.999, got 100"},
        {"{at: 0, act: solve, solver: jacobi, accuracy: -1}", "accuracy: expected a number from 0 to 99.999, got -1"},
        {"{at: 0, act: flip, accuracy: 99}", "accuracy: of the acts solve and beside"},
        {"{at: 0, act: solve, accuracy: 99}", "the act solve needs `solver`"},
        {"{at: 0, act: drive}", "the act drive needs `speeds`"},
        {"{at: 0, act: flip, speeds: [1, 2]}", "the act flip takes no `speeds`"},
        {"{at: 0, act: drive, speeds: [1e9, 2]}", "speeds: expected a number from -1e+06 to 1e+06"},
        {"{at: 0, act: solve, solver: jacobi, iterations: 0}", "iterations: 1 to 1000000"}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        Playlist playlist;
        SandError error = {""};
        assert_false(load(&playlist, wrong[k].act, &error));
        if (!strstr(error.text, wrong[k].sentence)) fail_msg("%s: %s", wrong[k].act, error.text);
    }
}

int main(void) {
    int file = mkstemp(path);
    if (file < 0) return 1;
    close(file);
    const struct CMUnitTest tests[] = {cmocka_unit_test(acts_change_the_solver), cmocka_unit_test(acts_drive),
                                       cmocka_unit_test(wrong_acts_are_refused)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
