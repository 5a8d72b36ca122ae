// Assertions: what a comment promises to its reader ("sorted by a", "a multiple of the lanes"), checked where the build asks
// for it (-DSAND_ASSERTIONS=ON, the default of Debug and sanitizer builds). A release build does not evaluate them.
#pragma once

#ifdef SAND_ASSERTIONS
#include <stdio.h>
#include <stdlib.h>
#define SAND_ASSERT(condition) \
    ((condition) ? (void)0 : (fprintf(stderr, "%s:%d: assertion failed: %s\n", __FILE__, __LINE__, #condition), abort()))
#else
#define SAND_ASSERT(condition) ((void)sizeof(condition))
#endif
