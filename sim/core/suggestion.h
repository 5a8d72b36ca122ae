// SPDX-License-Identifier: MIT
// A name that was looked up in a list and is not there: the end of the error sentence, with the nearest name of the list
// where one is near enough to be a slip of the fingers, else with all of them.
//
//     SandSuggestion names = sand_suggestion(word);
//     for (...) sand_suggestion_add(&names, table[i].name);
//     return sand_fail(error, "%s: no scene of that name; %s", word, sand_suggestion_text(&names));
#pragma once
#include "sandglass/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SandSuggestion {
    char word[SAND_NAME];    // that was looked up; a longer one is cut
    char nearest[SAND_NAME]; // name so far; empty: none
    int distance;            // edits from the word to it
    char known[300];         // all names, separated by commas
    char text[320];
} SandSuggestion;

SAND_API SandSuggestion sand_suggestion(const char *word);
SAND_API void sand_suggestion_add(SandSuggestion *suggestion, const char *name);
// Returns the nearest name, or NULL where none is near enough.
const char *sand_suggestion_nearest(const SandSuggestion *suggestion);
// Returns "did you mean NAME?", or "there are A, B, C"; lives as long as the suggestion.
SAND_API const char *sand_suggestion_text(SandSuggestion *suggestion);
// Returns "; did you mean NAME?", or nothing: for a sentence that has named them all.
const char *sand_suggestion_hint(SandSuggestion *suggestion);

// Returns the number of edits from a to b: letters put in, left out, replaced, or swapped with their neighbor. Case does not
// count; names are cut to SAND_NAME.
int sand_edit_distance(const char *a, const char *b);

#ifdef __cplusplus
}
#endif
