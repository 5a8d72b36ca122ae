#include "sim/collision/reach.h"

#include "sim/collision/broad_phase.inl"
#include "sim/core/array.h"

#include <string.h>

void sand_reach_free(SandReach *reach) {
    sand_free(reach->marks);
    *reach = (SandReach){0};
}

bool sand_reach_begin(SandReach *reach, const SandRanks *ranks, const SandGridLevel *grid, SandError *error) {
    reach->ranks = ranks;
    reach->grid = *grid;
    reach->grid.cell_begin = 0;
    reach->bounded = false;
    reach->count = (int64_t)grid->cells[0] * grid->cells[1] * grid->cells[2];
    if (!SAND_GROW(reach->marks, reach->capacity, reach->count + 1, "cells", error)) return false;
    memset(reach->marks, 0, (size_t)reach->count * sizeof *reach->marks);
    return true;
}

void sand_reach_bound(SandReach *reach, SandVec3 low, SandVec3 high) {
    int first[SAND_CHUNKS + 1];
    for (int r = 0; r <= reach->ranks->count; r++) first[r] = r;
    reach->bound[reach->ranks->rank].low = low;
    reach->bound[reach->ranks->rank].high = high;
    reach->ranks->allgather(reach->ranks->user, reach->bound, first, sizeof reach->bound[0]);
    reach->bounded = true;
}

// The other ranks, as bits, whose boxes around everything overlap this one.
static uint64_t bounds_met(const SandReach *reach, SandVec3 low, SandVec3 high) {
    uint64_t met = 0, self = UINT64_C(1) << reach->ranks->rank;
    if (!reach->bounded) return ~self;
    for (int r = 0; r < reach->ranks->count; r++) {
        SandVec3 from = reach->bound[r].low, to = reach->bound[r].high;
        bool apart = low.z > to.z || high.z < from.z || low.y > to.y || high.y < from.y || low.x > to.x || high.x < from.x;
        met |= (uint64_t)!apart << r;
    }
    return met & ~self;
}

// The cells that a box meets: `count` of them along each axis, from `first` on, wrapped. What lies beside a grid that does
// not wrap is counted to its border.
typedef struct Cells {
    int first[3], count[3];
} Cells;

static Cells cells_of(const SandGridLevel *grid, SandVec3 low, SandVec3 high) {
    Cells cells;
    int end[3];
    grid_coordinates(grid, low, cells.first);
    grid_coordinates(grid, high, end);
    for (int a = 0; a < 3; a++) {
        int most = grid->cells[a];
        if (!grid->wraps[a]) {
            cells.first[a] = cells.first[a] < 0 ? 0 : cells.first[a] < most ? cells.first[a] : most - 1;
            end[a] = end[a] < 0 ? 0 : end[a] < most ? end[a] : most - 1;
        }
        cells.count[a] = end[a] - cells.first[a] < most ? end[a] - cells.first[a] + 1 : most;
    }
    return cells;
}

// The first cell of row (y, z) of the cells.
static int64_t row_of(const SandGridLevel *g, const Cells *cells, int y, int z) {
    return grid_cell(g, 0, grid_wrap(cells->first[1] + y, g->cells[1]), grid_wrap(cells->first[2] + z, g->cells[2]));
}

bool sand_reach_mark(SandReach *reach, SandVec3 low, SandVec3 high) {
    const SandGridLevel *g = &reach->grid;
    if (!bounds_met(reach, low, high)) return false;
    Cells cells = cells_of(g, low, high);
    for (int z = 0; z < cells.count[2]; z++)
        for (int y = 0; y < cells.count[1]; y++) {
            int64_t row = row_of(g, &cells, y, z);
            for (int x = 0; x < cells.count[0]; x++)
                reach->marks[row + grid_wrap(cells.first[0] + x, g->cells[0])] =
                    (int64_t)(UINT64_C(1) << reach->ranks->rank);
        }
    return true;
}

// Every rank has a bit of its own: their sum has the bits of all.
void sand_reach_share(SandReach *reach) { reach->ranks->sum(reach->ranks->user, reach->marks, reach->count); }

uint64_t sand_reach_others(const SandReach *reach, SandVec3 low, SandVec3 high) {
    const SandGridLevel *g = &reach->grid;
    uint64_t found = 0, met = bounds_met(reach, low, high);
    if (!met) return 0;
    Cells cells = cells_of(g, low, high);
    for (int z = 0; z < cells.count[2]; z++)
        for (int y = 0; y < cells.count[1]; y++) {
            int64_t row = row_of(g, &cells, y, z);
            for (int x = 0; x < cells.count[0]; x++)
                found |= (uint64_t)reach->marks[row + grid_wrap(cells.first[0] + x, g->cells[0])];
        }
    return found & met;
}
