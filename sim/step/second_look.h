// SPDX-License-Identifier: MIT
// The second look of a step on the CPU: the contacts that its solve shows to be missing (sim/step/second_look.inl) join
// the others, and the problem is built again.
#pragma once
#include "sim/core/array.h"
#include "sim/core/thread_pool.h"
#include "sim/step/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

// Scratch of the looks; empty in a world without convex bodies.
typedef struct SandSecondLook {
    SandWorld end;             // bodies at the end of the step: position, rotation, velocity, spin of its own
    SAND_ARRAY(SandPose) pose; // of each boundary at the end of the step
    SAND_ARRAY(SandContactCandidate) found[SAND_CHUNKS]; // the missing ones, by the chunk of bodies that found them
    int found_count[SAND_CHUNKS];
    SAND_ARRAY(SandContactCandidate) contacts; // the same, sorted by owner
    SAND_ARRAY(int) first;                     // CSR: those of solver index k are first[k] .. first[k + 1] - 1
    size_t position_capacity, rotation_capacity, velocity_capacity, spin_capacity;
} SandSecondLook;
void sand_second_look_free(SandSecondLook *look);

// How often a step looks at most; 0 in a world without convex bodies. The first look finds nearly all, the third hardly ever
// anything. `repeats`: a look takes the time of a step, as on CUDA, and is not taken unless it was asked for.
int sand_second_looks(const SandWorld *world, bool repeats);
// Looks where the solution of the host moves the bodies, whose velocities keep a share of the impulses (energy_bound.h), and
// returns in `missing` how many contacts it lacks.
bool sand_second_look_find(SandSecondLook *look, SandHostState *host, double kept, SandThreadPool *pool, int *missing,
                           SandError *error);
// Adds them to those of the host's collision, and sizes the problem for all, which start from the impulses of the solution.
bool sand_second_look_add(SandSecondLook *look, SandHostState *host, int missing, SandError *error);

#ifdef __cplusplus
}
#endif
