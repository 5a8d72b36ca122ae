// SPDX-License-Identifier: MIT
// The search for ghosts: which other ranks need a body of this one. A grid covers the world, the same on all ranks. Every
// rank marks the cells that the boxes of its bodies meet, and sends the marks to the ranks near them. A body is needed by
// each rank that has marked a cell of its box: two boxes that overlap share a cell, so no ghost is missed, and a few are
// sent in vain.
#pragma once
#include "sim/collision/broad_phase.h"
#include "sim/core/array.h"
#include "sim/ranks/messages.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SandGhostSearch {
    const SandRanks *ranks;
    SandGridLevel grid;
    bool bounded; // bound[] is known
    struct {
        SandVec3 low, high;
    } bound[SAND_MAX_RANKS];    // of each rank: the box around everything that it marks
    SAND_ARRAY(uint64_t) marks; // of each cell: bit r is set where rank r has marked it (sand_owning_ranks)
    SAND_ARRAY(int64_t) marked; // the cells with marks: first those of this rank, then those that others alone have marked
    int64_t marked_count;
    bool failed; // memory ran out, and some cells are not marked; sand_ghost_search_share reports it
    SandMessages messages;
} SandGhostSearch;

void sand_ghost_search_free(SandGhostSearch *search);
// Clears all marks, and sets the grid, which is the same on all ranks.
bool sand_ghost_search_begin(SandGhostSearch *search, const SandRanks *ranks, const SandGridLevel *grid, SandError *error);
// Shares the box around everything that this rank will mark. Collective, and optional: with it, boxes outside the bounds of
// all other ranks are neither marked nor sent.
void sand_ghost_search_bound(SandGhostSearch *search, SandVec3 low, SandVec3 high);
// Marks the cells of a box of this rank. False: the box lies outside the bounds of all others, so none of them needs it.
bool sand_ghost_search_mark(SandGhostSearch *search, SandVec3 low, SandVec3 high);
// Sends the marks of this rank to the ranks near them, and adds those received. Collective.
bool sand_ghost_search_share(SandGhostSearch *search, SandError *error);
// The other ranks, as bits, whose marked boxes may overlap this box.
uint64_t sand_ghost_search_others(const SandGhostSearch *search, SandVec3 low, SandVec3 high);

#ifdef __cplusplus
}
#endif
