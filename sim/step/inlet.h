// Inlets on the CPU: which bodies enter in the coming step (inlet.inl).
#pragma once
#include "sandglass/world.h"
#include "sim/core/thread_pool.h"

typedef struct SandInletScratch {
    uint8_t *blocked; // of each cell of each inlet
    size_t capacity;
} SandInletScratch;

void sand_inlets_free(SandInletScratch *scratch);
// Lets bodies enter, and says how many did by each inlet; the caller adds that to `entered` of the inlet when it has taken
// the step.
bool sand_inlets_enter(SandInletScratch *scratch, SandWorld *world, SandThreadPool *pool, int *entered, SandError *error);
