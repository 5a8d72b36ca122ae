// SPDX-License-Identifier: MIT
// What the window remembers: kept, read back, and replaced by defaults with one line when it is broken.
#include "app/ui/settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];

static int make_folder(void **state) {
    (void)state;
    strcpy(folder, "/tmp/sandglass-settings-XXXXXX");
    assert_non_null(mkdtemp(folder));
    setenv("XDG_CONFIG_HOME", folder, 1);
    return 0;
}

static void write_file(const char *text) {
    char path[256];
    assert_true(settings_path(path, sizeof path));
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void kept_and_read_back(void **state) {
    (void)state;
    SandError error = {""};
    Settings s;
    assert_true(settings_load(&s, &error)); // there is no file yet
    assert_true(s.first_start && !s.hidden && s.quality == -1);
    s = (Settings){.first_start = false, .hidden = true, .folded = 2, .quality = 2};
    s.bookmarks.kept[1] = s.bookmarks.kept[7] = true;
    s.bookmarks.views[1] = (CameraView){.eye = {1, -2, 3}, .target = {0, 0.5, 0}, .angle = 0.5};
    s.bookmarks.views[7] = (CameraView){.eye = {1, 0, 0}, .target = {0, 0, 0}, .orthographic = true, .height = 2.5};
    for (int i = 0; i < RECENT_FILES + 2; i++) {
        char path[32];
        snprintf(path, sizeof path, "/a folder/%d.yaml", i);
        recent_files_add(&s.recent, path);
    }
    recent_files_add(&s.recent, "/a folder/4.yaml"); // it is there already
    snprintf(s.last, sizeof s.last, "/a folder/my heap.yaml");
    if (!settings_save(&s, &error)) fail_msg("%s", error.text);
    Settings again;
    assert_true(settings_load(&again, &error));
    assert_true(!again.first_start && again.hidden && again.quality == 2 && again.folded == 2);
    assert_int_equal(again.recent.count, RECENT_FILES);
    assert_string_equal(again.last, "/a folder/my heap.yaml");
    assert_string_equal(again.recent.paths[0], "/a folder/4.yaml");
    assert_string_equal(again.recent.paths[1], "/a folder/9.yaml");
    assert_string_equal(again.recent.paths[RECENT_FILES - 1], "/a folder/2.yaml");
    const Bookmarks *marks = &again.bookmarks;
    for (int i = 0; i < BOOKMARKS; i++) assert_int_equal(marks->kept[i], i == 1 || i == 7);
    assert_true(marks->views[1].eye.y == -2 && marks->views[1].angle == 0.5 && !marks->views[1].orthographic);
    assert_true(marks->views[7].height == 2.5 && marks->views[7].orthographic);
}

static void broken_files_give_defaults(void **state) {
    (void)state;
    const struct {
        const char *text, *word;
    } cases[] = {{"quality high\n", ":1:"},
                 {"hidden 1\nquality 7\n", ":2: quality"},
                 {"color 1\n", "color"},
                 {"hidden\n", ":1:"},
                 {"bookmark 10 0 0 1 0 0 0 0.5 0\n", ":1: bookmark"},
                 {"hidden 1\nbookmark 1 0 0 1 0 0\n", ":2: bookmark"},
                 {"bookmark 1 0 0 0 0 0 0 0.5 0\n", ":1: bookmark"}};
    for (int k = 0; k < 7; k++) {
        SandError error = {""};
        Settings s;
        write_file(cases[k].text);
        assert_false(settings_load(&s, &error));
        assert_non_null(strstr(error.text, cases[k].word));
        assert_null(strchr(error.text, '\n'));
        assert_true(s.first_start && !s.hidden && s.quality == -1);
    }
    write_file("# a remark\n\nhidden 1\n");
    Settings s;
    SandError error;
    assert_true(settings_load(&s, &error));
    assert_true(s.hidden);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(kept_and_read_back), cmocka_unit_test(broken_files_give_defaults)};
    return cmocka_run_group_tests(tests, make_folder, NULL);
}
