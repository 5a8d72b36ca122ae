// SPDX-License-Identifier: MIT
// Batches of worlds for tests: made, stepped; a failure ends the test.
#pragma once
#include "tests/lab/lab.h"
#include "sandglass/batch.h"

static inline SandBatch *lab_batch(const SandWorld *world, int count, const uint64_t *seeds, SandSimulationDef simulation) {
    SandBatchDef def = sand_default_batch();
    SandError error;
    def.count = count;
    def.seeds = seeds;
    def.simulation = simulation;
    SandBatch *batch = sand_batch_create(world, &def, &error);
    if (!batch) fail_msg("%s", error.text);
    return batch;
}

static inline void lab_batch_step(SandBatch *batch, const bool *mask, int steps) {
    SandError error;
    if (!sand_batch_step(batch, mask, steps, &error)) fail_msg("%s", error.text);
}
