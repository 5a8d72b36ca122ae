// Which ranks have something in which cell of a grid over the world: how a rank finds out who must know of a body of its
// own. Every rank marks the cells that the boxes of its bodies meet, and tells each other rank those that lie near it; two
// boxes that overlap meet in a cell.
#pragma once
#include "sim/collision/broad_phase.h"
#include "sim/core/messages.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SandGhostSearch {
    const SandRanks *ranks;
    SandGridLevel grid;
    bool bounded; // the boxes around all that each rank marks are known
    struct {
        SandVec3 low, high;
    } bound[SAND_CHUNKS];
    uint64_t *marks; // of each cell, a bit for each rank
    int64_t *marked; // the cells that have one, first those of this rank
    int64_t marked_count;
    bool failed; // for want of memory: some are not marked
    SandMessages messages;
    size_t capacity, marked_capacity;
} SandGhostSearch;

void sand_ghost_search_free(SandGhostSearch *search);
// Begins with no marks. The grid is the same on all ranks.
bool sand_ghost_search_begin(SandGhostSearch *search, const SandRanks *ranks, const SandGridLevel *grid, SandError *error);
// Tells all ranks the box around all that this one will mark, and gets theirs; may be left out. Boxes beyond those of all
// others are then not marked, and cost nothing.
void sand_ghost_search_bound(SandGhostSearch *search, SandVec3 low, SandVec3 high);
// Marks a box of this rank. False: it lies beyond the boxes of all others, and none of them can overlap it.
bool sand_ghost_search_mark(SandGhostSearch *search, SandVec3 low, SandVec3 high);
// Sends the marks to those that they concern.
bool sand_ghost_search_share(SandGhostSearch *search, SandError *error);
// The other ranks, as bits, whose boxes may overlap this one.
uint64_t sand_ghost_search_others(const SandGhostSearch *search, SandVec3 low, SandVec3 high);

// What a rank needs to find the impacts of its proxies with those of others.
typedef struct SandNear {
    SandGhostSearch search;
    SandMessages messages;
} SandNear;

#ifdef __cplusplus
}
#endif
