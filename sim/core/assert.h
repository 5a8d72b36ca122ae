// SPDX-License-Identifier: MIT
// Assertions: what a comment promises ("sorted by index_a", "a multiple of the lanes"), checked in builds that ask for it
// (-DSAND_ASSERTIONS=ON, the default of Debug and sanitizer builds). A failed one prints file, line and condition and
// aborts. A release build compiles the condition, so that it cannot rot, and never evaluates it.
//
// For promises of the code to itself; what a caller or a file can get wrong is an error sentence (sandglass/error.h).
// Host code only. Conditions that look at every element belong after a stage, not into its loops.
#pragma once

#ifdef SAND_ASSERTIONS
#include <stdio.h>
#include <stdlib.h>
#define SAND_ASSERT(condition) \
    ((condition) ? (void)0 : (fprintf(stderr, "%s:%d: assertion failed: %s\n", __FILE__, __LINE__, #condition), abort()))
#else
#define SAND_ASSERT(condition) \
    ((void)(0 && (condition))) // not sizeof: clang then warns of functions that only assertions call
#endif
