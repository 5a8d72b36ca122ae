// SPDX-License-Identifier: MIT
// Inlets on the CPU: which bodies enter in the coming step (inlet.inl).
#pragma once
#include "sandglass/world.h"
#include "sim/core/array.h"
#include "sim/core/ranks.h"
#include "sim/core/thread_pool.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SandInletScratch {
    SAND_ARRAY(uint8_t) blocked; // of each cell of each inlet: a body is in the way
    SAND_ARRAY(int64_t) marks;   // scratch: the same, summed over all ranks
} SandInletScratch;

void sand_inlets_free(SandInletScratch *scratch);
// Lets bodies enter, and says how many did by each inlet; the caller adds that to `entered` of the inlet when it has taken
// the step.
bool sand_inlets_enter(SandInletScratch *scratch, SandWorld *world, SandThreadPool *pool, int *entered, SandError *error);

// The stages of sand_inlets_enter, for ranks: own bodies block cells, whose union over all ranks every rank then gets, and
// lets bodies enter the world of its host. number[i]: global_id of body i; NULL: i. A rank on a GPU blocks cells there, and
// copies them to `blocked`, for which sand_inlets_begin makes room.
bool sand_inlets_begin(SandInletScratch *scratch, const SandWorld *world, bool shared, size_t *cells, SandError *error);
bool sand_inlets_block(SandInletScratch *scratch, const SandWorld *world, const int *number, SandThreadPool *pool,
                       SandError *error);
void sand_inlets_share(SandInletScratch *scratch, const SandWorld *world, const SandRanks *ranks); // collective
void sand_inlets_let_in(const SandInletScratch *scratch, SandWorld *world, int *entered);
bool sand_inlets_wait(const SandWorld *world, int body); // whether a body had still to enter before the step

#ifdef __cplusplus
}
#endif
