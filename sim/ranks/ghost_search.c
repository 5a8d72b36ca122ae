// SPDX-License-Identifier: MIT
// Marks of ranks in the cells of a grid: setting them for a box, exchanging them with the ranks near them, and looking up
// who has marked the cells of a box.
#include "sim/ranks/ghost_search.h"

#include "sim/collision/broad_phase.inl"
#include "sim/core/array.h"

void sand_ghost_search_free(SandGhostSearch *search) {
    SAND_FREE_ARRAYS(&search->marks, &search->marked);
    sand_messages_free(&search->messages);
    *search = (SandGhostSearch){0};
}

// Reserves marks for all cells. A large array takes memory only where marks are set (array.c). One that is too small has
// been cleared: it is freed and not copied, because a copy would take memory for every cell.
static bool reserve_marks(SandGhostSearch *search, int64_t cells, SandError *error) {
    if ((size_t)cells <= search->marks.capacity) return true;
    SAND_FREE_ARRAYS(&search->marks);
    return SAND_RESERVE(search->marks, cells + cells / 8, "cells", error);
}

bool sand_ghost_search_begin(SandGhostSearch *search, const SandRanks *ranks, const SandGridLevel *grid, SandError *error) {
    for (int64_t k = 0; k < search->marked_count; k++) search->marks.data[search->marked.data[k]] = 0;
    search->marked_count = 0;
    search->failed = false;
    search->ranks = ranks;
    search->grid = *grid;
    search->grid.cell_begin = 0;
    search->bounded = false;
    return reserve_marks(search, (int64_t)grid->cells[0] * grid->cells[1] * grid->cells[2] + 1, error);
}

void sand_ghost_search_bound(SandGhostSearch *search, SandVec3 low, SandVec3 high) {
    int first[SAND_MAX_RANKS + 1];
    for (int r = 0; r <= search->ranks->count; r++) first[r] = r;
    search->bound[search->ranks->rank].low = low;
    search->bound[search->ranks->rank].high = high;
    search->ranks->allgather(search->ranks->user, search->bound, first, sizeof search->bound[0]);
    search->bounded = true;
}

// The other ranks, as bits, whose bounds overlap this box; all of them while bounds are not known.
static uint64_t bounds_met(const SandGhostSearch *search, SandVec3 low, SandVec3 high) {
    int owning = sand_owning_ranks(search->ranks->count), me = search->ranks->rank;
    uint64_t met = 0, self = me < owning ? UINT64_C(1) << me : 0;
    if (!search->bounded) return ~self;
    for (int r = 0; r < owning; r++) {
        SandVec3 from = search->bound[r].low, to = search->bound[r].high;
        bool apart = low.z > to.z || high.z < from.z || low.y > to.y || high.y < from.y || low.x > to.x || high.x < from.x;
        met |= (uint64_t)!apart << r;
    }
    return met & ~self;
}

// The cells that a box meets: `count` of them along each axis from `first` on, modulo the grid where it wraps. Where it does
// not wrap, what lies outside belongs to the outermost cells.
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

// The cell at x = 0 of the row of the grid that lies y and z cells from the first of `cells`, modulo the grid.
static int64_t row_of(const SandGridLevel *g, const Cells *cells, int y, int z) {
    return grid_cell(g, 0, grid_wrap(cells->first[1] + y, g->cells[1]), grid_wrap(cells->first[2] + z, g->cells[2]));
}

// Marks a cell for a rank.
static void mark(SandGhostSearch *search, int64_t cell, int rank) {
    SandError error;
    if (!search->marks.data[cell]) {
        if (!SAND_RESERVE(search->marked, search->marked_count + 1, "cells", &error)) {
            search->failed = true;
            return;
        }
        search->marked.data[search->marked_count++] = cell;
    }
    search->marks.data[cell] |= UINT64_C(1) << rank;
}

bool sand_ghost_search_mark(SandGhostSearch *search, SandVec3 low, SandVec3 high) {
    const SandGridLevel *g = &search->grid;
    if (!bounds_met(search, low, high)) return false;
    Cells cells = cells_of(g, low, high);
    for (int z = 0; z < cells.count[2]; z++)
        for (int y = 0; y < cells.count[1]; y++) {
            int64_t row = row_of(g, &cells, y, z);
            for (int x = 0; x < cells.count[0]; x++)
                mark(search, row + grid_wrap(cells.first[0] + x, g->cells[0]), search->ranks->rank);
        }
    return true;
}

// Whether a box meets a cell.
static bool has_cell(const SandGridLevel *g, const Cells *cells, int64_t cell) {
    int64_t row = cell / g->cells[0];
    int at[3] = {(int)(cell % g->cells[0]), (int)(row % g->cells[1]), (int)(row / g->cells[1])};
    for (int a = 0; a < 3; a++)
        if (grid_wrap(at[a] - cells->first[a], g->cells[a]) >= cells->count[a]) return false;
    return true;
}

// A mark as it is sent: the cell and the rank that has marked it, in one number.
static int64_t note_of(int64_t cell, int rank) { return cell * SAND_CHUNKS + rank; }

// Appends the marks of this rank within the bound of another one to the messages for it.
static bool tell(SandGhostSearch *search, int rank, SandError *error) {
    const SandGridLevel *g = &search->grid;
    Cells cells = {.count = {g->cells[0], g->cells[1], g->cells[2]}};
    if (search->bounded) cells = cells_of(g, search->bound[rank].low, search->bound[rank].high);
    for (int64_t k = 0; k < search->marked_count; k++) {
        int64_t note = note_of(search->marked.data[k], search->ranks->rank);
        if (has_cell(g, &cells, search->marked.data[k]) &&
            !sand_messages_put(&search->messages, rank, &note, sizeof note, error))
            return false;
    }
    return true;
}

// Whether anything that another rank marks may meet anything that this one marks.
static bool concerns(const SandGhostSearch *search, int rank) {
    int me = search->ranks->rank;
    return rank != me && (!search->bounded || bounds_met(search, search->bound[me].low, search->bound[me].high) >> rank & 1);
}

bool sand_ghost_search_share(SandGhostSearch *search, SandError *error) {
    sand_messages_begin(&search->messages);
    for (int r = 0; r < sand_owning_ranks(search->ranks->count); r++)
        if (concerns(search, r) && !tell(search, r, error)) return false;
    if (search->failed) return sand_fail(error, "out of memory for the cells that bodies of this rank reach");
    if (!sand_messages_exchange(&search->messages, search->ranks, error)) return false;
    const int64_t *notes = (const int64_t *)(const void *)search->messages.received;
    for (size_t k = 0; k < search->messages.received_bytes / sizeof *notes; k++)
        mark(search, notes[k] / SAND_CHUNKS, (int)(notes[k] % SAND_CHUNKS));
    return !search->failed || sand_fail(error, "out of memory for the cells that bodies of other ranks reach");
}

uint64_t sand_ghost_search_others(const SandGhostSearch *search, SandVec3 low, SandVec3 high) {
    const SandGridLevel *g = &search->grid;
    uint64_t found = 0, met = bounds_met(search, low, high);
    if (!met) return 0;
    Cells cells = cells_of(g, low, high);
    for (int z = 0; z < cells.count[2]; z++)
        for (int y = 0; y < cells.count[1]; y++) {
            int64_t row = row_of(g, &cells, y, z);
            for (int x = 0; x < cells.count[0]; x++)
                found |= search->marks.data[row + grid_wrap(cells.first[0] + x, g->cells[0])];
        }
    return found & met;
}
