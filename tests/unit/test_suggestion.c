// SPDX-License-Identifier: MIT
// The nearest name of a list: distances, what is near enough, and the sentences.
#include "sim/core/suggestion.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
// cmocka.h needs the headers above.
#include <cmocka.h>

static void distances(void **state) {
    (void)state;
    const struct {
        const char *a, *b;
        int edits;
    } cases[] = {
        {"", "", 0},
        {"", "abc", 3},
        {"abc", "", 3},
        {"record", "record", 0},
        {"recrod", "record", 1},  // swapped
        {"recod", "record", 1},   // left out
        {"reecord", "record", 1}, // put in
        {"rekord", "record", 1},  // replaced
        {"Record", "record", 0},  // case does not count
        {"kitten", "sitting", 3},
        {"ca", "abc", 3}, // a swapped pair is not edited again
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(sand_edit_distance(cases[i].a, cases[i].b), cases[i].edits);
        assert_int_equal(sand_edit_distance(cases[i].b, cases[i].a), cases[i].edits);
    }
    char longer[300];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    assert_int_equal(sand_edit_distance(longer, ""), SAND_NAME - 1);
}

static SandSuggestion of(const char *word) {
    static const char *const names[] = {"hourglass", "hourglass-1m", "heap", "drum", "two-spheres"};
    SandSuggestion suggestion = sand_suggestion(word);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) sand_suggestion_add(&suggestion, names[i]);
    return suggestion;
}

static void nearest_names(void **state) {
    (void)state;
    const struct {
        const char *word, *name; // NULL: another word
    } cases[] = {
        {"hourglas", "hourglass"},
        {"houglrass", "hourglass"},
        {"two-sphere", "two-spheres"},
        {"haep", "heap"},
        {"drums", "drum"},
        {"hou", "hourglass"},
        {"hourglass-1", "hourglass-1m"},
        {"sand", NULL},
        {"x", NULL},
        {"", NULL},
        {"ho", NULL}, // too short for a beginning
        {"no-such-scene", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        SandSuggestion suggestion = of(cases[i].word);
        const char *nearest = sand_suggestion_nearest(&suggestion);
        if (cases[i].name) {
            assert_non_null(nearest);
            assert_string_equal(nearest, cases[i].name);
        } else {
            assert_null(nearest);
        }
    }
}

static void sentences(void **state) {
    (void)state;
    SandSuggestion near_one = of("heep"), other = of("nonsense"), none = sand_suggestion("word");
    assert_string_equal(sand_suggestion_text(&near_one), "did you mean heap?");
    assert_string_equal(sand_suggestion_hint(&near_one), "; did you mean heap?");
    assert_string_equal(sand_suggestion_text(&other), "there are hourglass, hourglass-1m, heap, drum, two-spheres");
    assert_string_equal(sand_suggestion_hint(&other), "");
    assert_string_equal(sand_suggestion_text(&none), "there are none");

    // More names than fit are cut, and the nearest is found all the same.
    SandSuggestion many = sand_suggestion("last-nmae");
    for (int i = 0; i < 200; i++) {
        char name[16];
        snprintf(name, sizeof name, "name-%d", i);
        sand_suggestion_add(&many, name);
    }
    sand_suggestion_add(&many, "last-name");
    assert_string_equal(sand_suggestion_text(&many), "did you mean last-name?");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances),
        cmocka_unit_test(nearest_names),
        cmocka_unit_test(sentences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
