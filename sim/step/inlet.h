// Inlets on the CPU: which bodies enter in the coming step (inlet.inl).
#pragma once
#include "sandglass/world.h"
#include "sim/core/ranks.h"
#include "sim/core/thread_pool.h"

typedef struct SandInletScratch {
    uint8_t *blocked; // of each cell of each inlet
    int64_t *marks;   // the same of all ranks
    size_t capacity, mark_capacity;
} SandInletScratch;

void sand_inlets_free(SandInletScratch *scratch);
// Lets bodies enter, and says how many did by each inlet; the caller adds that to `entered` of the inlet when it has taken
// the step.
bool sand_inlets_enter(SandInletScratch *scratch, SandWorld *world, SandThreadPool *pool, int *entered, SandError *error);

// Its halves, for a rank of several. Bodies block cells; number[i]: which body of the whole world body i is, NULL: that one.
bool sand_inlets_block(SandInletScratch *scratch, const SandWorld *world, const int *number, SandThreadPool *pool,
                       SandError *error);
void sand_inlets_share(SandInletScratch *scratch, const SandWorld *world, const SandRanks *ranks); // those of all ranks
void sand_inlets_let_in(const SandInletScratch *scratch, SandWorld *world, int *entered);
bool sand_inlets_wait(const SandWorld *world, int body); // whether a body had still to enter before the step
