// SPDX-License-Identifier: MIT
// Measuring with the probes of a world after a step: which of them are due, what a backend is to sum for them, and their
// values from the sums. A world without probes costs nothing.
#pragma once
#include "sim/core/array.h"
#include "sim/core/exact_sum.inl"
#include "sim/core/ranks.h"
#include "sim/core/thread_pool.h"
#include "sandglass/problem.h"
#include "sandglass/world.h"

#ifdef __cplusplus
extern "C" {
#endif

// The sums that a backend is to make after a step (SandBackend.measure).
typedef struct SandProbeBatch {
    int count;
    const SandProbe *probe[SAND_MAX_PROBES];
    size_t first[SAND_MAX_PROBES + 1]; // of the sums of each; the last: all of them
    SandExactSum *sums;
    size_t capacity;
} SandProbeBatch;

void sand_probe_batch_free(SandProbeBatch *batch);
// Finds what is to be summed after the step that has just been taken, and reserves the sums. The world's time is that after
// the step.
bool sand_probes_plan(SandProbeBatch *batch, const SandWorld *world, SandError *error);
// Turns the sums of this rank into those of all.
bool sand_probes_merge(SandProbeBatch *batch, const SandRanks *ranks, SandError *error);
// Fills the values of the probes that are due from the sums.
void sand_probes_sample(const SandProbeBatch *batch, SandWorld *world);

// Sums on the CPU.
typedef struct SandProbeCpu {
    SAND_ARRAY(SandExactSum) sums; // of each group of workers
    SAND_ARRAY(uint32_t) carrying; // of each solver index: contacts that carry a force
} SandProbeCpu;
void sand_probe_cpu_free(SandProbeCpu *cpu);
struct SandHostState;
bool sand_probe_cpu_measure(SandProbeCpu *cpu, const struct SandHostState *host, SandProbeBatch *batch, SandThreadPool *pool,
                            SandError *error);

#ifdef __cplusplus
}
#endif
