#include "sim/core/error.h"

#include <stdarg.h>
#include <stdio.h>

const char *sand_status_text(SandStatus status) {
    switch (status) {
    case SAND_SOLVED: return "solved";
    case SAND_BUDGET: return "budget reached";
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
