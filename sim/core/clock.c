// SPDX-License-Identifier: MIT
// The monotonic clock of POSIX, in seconds.
#include "sim/core/clock.h"

#include <time.h>

double sand_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
