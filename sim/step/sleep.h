// Leaving out of the solve what rests, on the CPU: from the problem of a step the smaller one that is solved, and back from
// its impulses to those of all contacts. The rules are in rest.inl.
#pragma once
#include "sim/step/backend.h"
#include "sim/step/sleep.inl"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SandSleep {
    bool applies;       // in this step: what rests is left out
    SleepArrays arrays; // of this step
    int *solved;        // contacts that are solved, in their order
    int solved_count;
    SandProblem problem; // of these contacts
    size_t touches_capacity, sum_capacity, solved_capacity;
} SandSleep;

void sand_sleep_free(SandSleep *sleep);

// Returns a number that changes with the settings of the world on which the balance of a pile depends.
uint64_t sand_sleep_settings(const SandWorld *world);
// Whether this world leaves out contacts in the coming step: it wants to, and settings are as they were in the last.
bool sand_sleep_applies(const SandWorld *world, const SandWarmStart *warm_start);

// Makes rest->problem from the problem of the host.
bool sand_sleep_reduce(SandSleep *sleep, const SandHostState *host, SandThreadPool *pool, SandError *error);
// From the solution of rest->problem to that of the whole problem, in place: the impulses of all contacts, and the motion
// that they would give to what rests.
bool sand_sleep_expand(const SandSleep *sleep, const SandHostState *host, SandSolution *solution, SandError *error);

#ifdef __cplusplus
}
#endif
