// SPDX-License-Identifier: MIT
// Messages beside the progress bar: many of one kind are cut short, and do not hide those of other kinds.
#include "app/cli/session/progress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

// Standard error goes to a file during a test.
static FILE *heard;
static int terminal;

static void listen(void) {
    heard = tmpfile();
    assert_non_null(heard);
    fflush(stderr);
    terminal = dup(STDERR_FILENO);
    dup2(fileno(heard), STDERR_FILENO);
}

// Counts the lines that contain the words.
static int lines_with(const char *words) {
    char line[256];
    int count = 0;
    rewind(heard);
    while (fgets(line, sizeof line, heard)) count += strstr(line, words) != NULL;
    return count;
}

static void stop_listening(void) {
    fflush(stderr);
    dup2(terminal, STDERR_FILENO);
    close(terminal);
}

static void many_of_a_kind_are_counted(void **state) {
    (void)state;
    listen();
    Progress progress = progress_begin("test");
    char sentence[64];
    for (int i = 0; i < 25; i++) {
        snprintf(sentence, sizeof sentence, "body %d left at t = %.3f s", 7 * i, 0.1 * i);
        progress_say(&progress, sentence);
    }
    progress_say(&progress, "the GPU has no memory left; the CPU goes on");
    progress_end(&progress);
    stop_listening();
    assert_int_equal(lines_with("left at t"), 20);
    assert_int_equal(lines_with("only counted"), 1);
    assert_int_equal(lines_with("the CPU goes on"), 1);
    assert_int_equal(lines_with("5 messages were not shown"), 1);
    fclose(heard);
}

// More kinds than are distinguished: the rest share one counter.
static void many_kinds(void **state) {
    (void)state;
    listen();
    Progress progress = progress_begin("test");
    char sentence[64];
    for (int i = 0; i < PROGRESS_KINDS - 1 + 30; i++) {
        snprintf(sentence, sizeof sentence, "kind %c%c", 'a' + i / 26, 'a' + i % 26);
        progress_say(&progress, sentence);
    }
    progress_end(&progress);
    stop_listening();
    assert_int_equal(lines_with("kind "), PROGRESS_KINDS - 1 + 20);
    assert_int_equal(lines_with("10 messages were not shown"), 1);
    fclose(heard);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_of_a_kind_are_counted),
        cmocka_unit_test(many_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
