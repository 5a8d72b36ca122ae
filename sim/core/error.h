// What every file of the library shares: limits, status values and the error sentence.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Capacities and sizes, all named here.
enum {
    SAND_LANES = 16,        // blocks that are worked on side by side; every block count is padded to it
    SAND_CHUNKS = 64,       // parts a range is cut in for sums, whatever the number of threads
    SAND_STRIP = 32,        // tiles of SAND_LANES blocks summed in the solver's precision before folding into double
    SAND_MAX_SUMS = 8,      // sums in one reduction
    SAND_WORKER_STATE = 10, // numbers that whoever decides may keep from step to step of a solve
    SAND_HIGH_DEGREE = 64,  // a body with more contacts is gathered in pieces of this size by many workers
    SAND_MAX_THREADS = 64,  // one chunk each, at least
    SAND_NAME = 64,         // bytes of a name in a scene, with its end
};

// FNV-1a, a byte or a word at a time.
#define SAND_HASH_BEGIN 14695981039346656037u
static inline uint64_t sand_hash(uint64_t hash, uint64_t next) { return (hash ^ next) * 1099511628211u; }

// How a solve ended. Above zero it solved, zero the budget was reached, below zero why not.
typedef enum SandStatus {
    SAND_SOLVED = 1,
    SAND_BUDGET = 0,
    SAND_INFEASIBLE = -1, // penetrations oppose each other: the objective is unbounded below
    SAND_DIVERGED = -2,   // a number became infinite or not a number
} SandStatus;
const char *sand_status_text(SandStatus status);

// One clear sentence that says what went wrong. Functions that can fail return false and fill it.
typedef struct SandError {
    char text[512];
} SandError;

// Writes the sentence and returns false, so that a function can end with `return sand_fail(...)`.
#ifdef __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
bool sand_fail(SandError *error, const char *format, ...);

#ifdef __cplusplus
}
#endif
