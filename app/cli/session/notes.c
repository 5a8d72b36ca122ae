// SPDX-License-Identifier: MIT
// Comparison of the notes of a run with those of the one that it goes on from: the first line that differs is named with
// both values.
#include "app/cli/session/notes.h"

#include <string.h>

bool notes_compare(const char *option, const char *was, const char *now, const char *what, const char *instead,
                   SandError *error) {
    while (*was || *now) {
        int old = (int)strcspn(was, "\n"), new = (int)strcspn(now, "\n");
        if (old != new || memcmp(was, now, (size_t)old))
            return sand_fail(error, "--%s: %.150s was made with `%.*s`, now it is `%.*s`; %s", option, what,
                             old < 120 ? old : 120, was, new < 120 ? new : 120, now, instead);
        was += old + (was[old] != '\0');
        now += new + (now[new] != '\0');
    }
    return true;
}
