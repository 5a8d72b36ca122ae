// SPDX-License-Identifier: MIT
// Errors, status, version and memory. Error handling is the same in every function of the library: a function that can fail
// returns false (or NULL, or -1) and fills a SandError with one sentence for a person; nothing exits or aborts under the
// caller. A solve that ends without an error reports how it ended as a SandStatus.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// What the shared library exports.
#ifdef __GNUC__
#define SAND_API __attribute__((visibility("default")))
#else
#define SAND_API
#endif

// The version of the library these headers belong to (semantic versioning), and of the one that is linked, as "0.2.0".
#define SAND_VERSION_MAJOR 0
#define SAND_VERSION_MINOR 2
#define SAND_VERSION_PATCH 0
SAND_API const char *sand_version(void);

enum { SAND_NAME = 64 }; // bytes of a name (material, boundary, scene, knob), with the terminating zero

// How a solve ended: positive when solved, zero when the budget ran out, negative when it ended without a solution. It is a
// claim about the residual of the impulses that are returned, made in one place for every method.
typedef enum SandStatus {
    SAND_SOLVED = 1,      // the residual is at or below the tolerance; without a tolerance: the method ended by itself, and
                          // the residual is at most 1e-9 of the norm of r
    SAND_BUDGET = 0,      // the budget of iterations or time ran out first; the impulses reached so far are returned
    SAND_STALLED = -1,    // the method could not improve its result any further, and it is not solved; the best is returned
    SAND_CANCELED = -2,   // another thread ended it; the impulses reached so far are returned
    SAND_INFEASIBLE = -3, // there is no solution, by a certificate: penetrations oppose each other
    SAND_DIVERGED = -4,   // the impulses are far worse than none, or not finite
} SandStatus;

// Whether the impulses of a solve that ended so are good for the warm start of the next one.
static inline bool sand_status_keeps(SandStatus status) { return status > SAND_INFEASIBLE; }

// Returns the status in words, "solved" or "budget reached"; a static string.
SAND_API const char *sand_status_text(SandStatus status);

// One sentence that says what went wrong, in one line and without a trailing period. Valid only after a failure.
typedef struct SandError {
    char text[512];
} SandError;

// Formats the sentence into `error` (NULL: discards it) and returns false, so that a function can end with
// `return sand_fail(...)`. A longer sentence is cut.
#ifdef __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
SAND_API bool
sand_fail(SandError *error, const char *format, ...);

// Frees memory that a function of the library has returned and whose comment says so; NULL is fine.
SAND_API void sand_free(void *memory);

#ifdef __cplusplus
}
#endif
