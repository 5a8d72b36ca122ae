// SPDX-License-Identifier: MIT
// Sleeping bodies on the CPU: the problem of a step is reduced to the contacts that are solved, and the solution is expanded
// to all contacts. The rules are in sleep.inl.
#pragma once
#include "sim/core/array.h"
#include "sim/step/backend.h"
#include "sim/step/sleep.inl"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SandSleep {
    bool applies;           // contacts between sleeping bodies are left out in this step
    SleepArrays arrays;     // of this step
    SAND_ARRAY(int) solved; // ascending: the contacts that are solved
    int solved_count;
    SandProblem problem; // of these contacts
    size_t touches_capacity, sum_capacity;
} SandSleep;

void sand_sleep_free(SandSleep *sleep);

// Returns a hash of the settings of the world that the balance of a pile depends on. Where it differs from that of the last
// step, the kept impulses do not hold the pile, and every contact is solved.
uint64_t sand_sleep_settings(const SandWorld *world);
// Whether contacts may be left out in the coming step: bodies can sleep, and settings are those of the last step.
bool sand_sleep_applies(const SandWorld *world, const SandWarmStart *warm_start);

// Reduces the problem of the host to sleep->problem.
bool sand_sleep_reduce(SandSleep *sleep, const SandHostState *host, SandThreadPool *pool, SandError *error);
// Expands the solution of sleep->problem, in place, to that of the whole problem: impulses of all contacts, and the motion
// that these would give to sleeping bodies, by which they wake (sleep_update).
bool sand_sleep_expand(const SandSleep *sleep, const SandHostState *host, SandSolution *solution, SandError *error);

#ifdef __cplusplus
}
#endif
