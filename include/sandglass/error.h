// Errors, status and version. Error handling is the same in every function of the library: a function that can fail returns
// false (or NULL, or -1) and fills a SandError with one sentence for a person; nothing exits or aborts under the caller. A
// solve that ends without an error reports how it ended as a SandStatus.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The version of the library these headers belong to (semantic versioning), and of the one that is linked, as "0.2.0".
#define SAND_VERSION_MAJOR 0
#define SAND_VERSION_MINOR 2
#define SAND_VERSION_PATCH 0
const char *sand_version(void);

enum { SAND_NAME = 64 }; // bytes of a name (material, boundary, scene, knob), with the terminating zero

// How a solve ended: positive when solved, zero when the budget ran out, negative when it could not be solved.
typedef enum SandStatus {
    SAND_SOLVED = 1,      // the residual is at or below the tolerance
    SAND_BUDGET = 0,      // the budget of iterations or time ran out first; the impulses reached so far are returned
    SAND_INFEASIBLE = -1, // penetrations oppose each other: the objective is unbounded below
    SAND_DIVERGED = -2,   // a number became infinite or NaN
} SandStatus;

// Returns the status in words, "solved" or "budget reached"; a static string.
const char *sand_status_text(SandStatus status);

// One sentence that says what went wrong, in one line and without a trailing period. Valid only after a failure.
typedef struct SandError {
    char text[512];
} SandError;

// Formats the sentence into `error` (NULL: discards it) and returns false, so that a function can end with
// `return sand_fail(...)`. A longer sentence is cut.
#ifdef __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
bool sand_fail(SandError *error, const char *format, ...);

#ifdef __cplusplus
}
#endif
