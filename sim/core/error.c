// SPDX-License-Identifier: MIT
// Writing the sentence of an error, naming a status, and the version of the library.
#include "sandglass/error.h"

#include <stdarg.h>
#include <stdio.h>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

const char *sand_version(void) { return TEXT(SAND_VERSION_MAJOR) "." TEXT(SAND_VERSION_MINOR) "." TEXT(SAND_VERSION_PATCH); }

const char *sand_status_text(SandStatus status) {
    switch (status) {
    case SAND_SOLVED: return "solved";
    case SAND_BUDGET: return "budget reached";
    case SAND_STALLED: return "stalled";
    case SAND_CANCELED: return "canceled";
    case SAND_INFEASIBLE: return "infeasible";
    case SAND_DIVERGED: return "diverged";
    }
    return "unknown";
}

bool sand_fail(SandError *error, const char *format, ...) {
    if (error) {
        va_list args;
        va_start(args, format);
        vsnprintf(error->text, sizeof error->text, format, args);
        va_end(args);
    }
    return false;
}
