// SPDX-License-Identifier: MIT
// The nearest name of a list, by the number of edits (optimal string alignment: a restricted Damerau-Levenshtein distance).
#include "sim/core/suggestion.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static int least(int a, int b) { return a < b ? a : b; }

static bool same(char a, char b) { return tolower((unsigned char)a) == tolower((unsigned char)b); }

int sand_edit_distance(const char *a, const char *b) {
    // Three rows of the table of distances between the beginnings of a and b.
    int rows[3][SAND_NAME], *before = rows[0], *above = rows[1], *row = rows[2];
    int height = (int)strnlen(a, SAND_NAME - 1), width = (int)strnlen(b, SAND_NAME - 1);
    for (int j = 0; j <= width; j++) row[j] = j;
    for (int i = 1; i <= height; i++) {
        int *free_row = before;
        before = above;
        above = row;
        row = free_row;
        row[0] = i;
        for (int j = 1; j <= width; j++) {
            bool equal = same(a[i - 1], b[j - 1]);
            row[j] = least(least(above[j], row[j - 1]) + 1, above[j - 1] + !equal);
            bool swapped = i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]);
            if (swapped) row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return row[width];
}

SandSuggestion sand_suggestion(const char *word) {
    SandSuggestion suggestion = {.distance = INT_MAX};
    snprintf(suggestion.word, sizeof suggestion.word, "%s", word);
    return suggestion;
}

// The beginning of a name is one edit away, as if the rest were one letter.
static int distance_to(const char *word, const char *name) {
    size_t length = strlen(word);
    return length >= 3 && strncmp(word, name, length) == 0 ? 1 : sand_edit_distance(word, name);
}

void sand_suggestion_add(SandSuggestion *suggestion, const char *name) {
    size_t used = strlen(suggestion->known);
    snprintf(suggestion->known + used, sizeof suggestion->known - used, "%s%s", used ? ", " : "", name);
    int distance = distance_to(suggestion->word, name);
    if (distance >= suggestion->distance) return; // the first of several
    suggestion->distance = distance;
    snprintf(suggestion->nearest, sizeof suggestion->nearest, "%s", name);
}

// One slip in three letters is a slip; more is another word.
const char *sand_suggestion_nearest(const SandSuggestion *suggestion) {
    int length = (int)strlen(suggestion->word);
    return suggestion->distance <= (length + 1) / 3 && suggestion->distance < length ? suggestion->nearest : NULL;
}

const char *sand_suggestion_text(SandSuggestion *suggestion) {
    const char *nearest = sand_suggestion_nearest(suggestion);
    if (nearest)
        snprintf(suggestion->text, sizeof suggestion->text, "did you mean %s?", nearest);
    else
        snprintf(suggestion->text, sizeof suggestion->text, "there are %s", *suggestion->known ? suggestion->known : "none");
    return suggestion->text;
}

const char *sand_suggestion_hint(SandSuggestion *suggestion) {
    const char *nearest = sand_suggestion_nearest(suggestion);
    snprintf(suggestion->text, sizeof suggestion->text, nearest ? "; did you mean %s?" : "", nearest);
    return suggestion->text;
}
