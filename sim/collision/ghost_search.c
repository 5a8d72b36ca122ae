#include "sim/collision/ghost_search.h"

#include "sim/collision/broad_phase.inl"
#include "sim/core/array.h"

void sand_reach_free(SandReach *reach) {
    sand_free(reach->marks);
    sand_free(reach->marked);
    sand_mail_free(&reach->mail);
    *reach = (SandReach){0};
}

// Makes room for the marks of all cells. Memory is only taken where some are set: an array that is too small, whose marks
// are cleared, is not copied.
static bool reserve_marks(SandReach *reach, int64_t cells, SandError *error) {
    if ((size_t)cells <= reach->capacity) return true;
    sand_free(reach->marks);
    reach->marks = NULL;
    reach->capacity = 0;
    return SAND_GROW(reach->marks, reach->capacity, cells + cells / 8, "cells", error);
}

bool sand_reach_begin(SandReach *reach, const SandRanks *ranks, const SandGridLevel *grid, SandError *error) {
    for (int64_t k = 0; k < reach->marked_count; k++) reach->marks[reach->marked[k]] = 0;
    reach->marked_count = 0;
    reach->failed = false;
    reach->ranks = ranks;
    reach->grid = *grid;
    reach->grid.cell_begin = 0;
    reach->bounded = false;
    return reserve_marks(reach, (int64_t)grid->cells[0] * grid->cells[1] * grid->cells[2] + 1, error);
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

// Marks a cell for a rank.
static void mark(SandReach *reach, int64_t cell, int rank) {
    SandError error;
    if (!reach->marks[cell]) {
        if (!SAND_GROW(reach->marked, reach->marked_capacity, reach->marked_count + 1, "cells", &error)) {
            reach->failed = true;
            return;
        }
        reach->marked[reach->marked_count++] = cell;
    }
    reach->marks[cell] |= UINT64_C(1) << rank;
}

bool sand_reach_mark(SandReach *reach, SandVec3 low, SandVec3 high) {
    const SandGridLevel *g = &reach->grid;
    if (!bounds_met(reach, low, high)) return false;
    Cells cells = cells_of(g, low, high);
    for (int z = 0; z < cells.count[2]; z++)
        for (int y = 0; y < cells.count[1]; y++) {
            int64_t row = row_of(g, &cells, y, z);
            for (int x = 0; x < cells.count[0]; x++)
                mark(reach, row + grid_wrap(cells.first[0] + x, g->cells[0]), reach->ranks->rank);
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

// A cell and the rank that has marked it, as they are sent.
static int64_t note_of(int64_t cell, int rank) { return cell * SAND_CHUNKS + rank; }

// Puts the marks of this rank that may concern another one into the mail.
static bool tell(SandReach *reach, int rank, SandError *error) {
    const SandGridLevel *g = &reach->grid;
    Cells cells = {.count = {g->cells[0], g->cells[1], g->cells[2]}};
    if (reach->bounded) cells = cells_of(g, reach->bound[rank].low, reach->bound[rank].high);
    for (int64_t k = 0; k < reach->marked_count; k++) {
        int64_t note = note_of(reach->marked[k], reach->ranks->rank);
        if (has_cell(g, &cells, reach->marked[k]) && !sand_mail_put(&reach->mail, rank, &note, sizeof note, error))
            return false;
    }
    return true;
}

// Whether anything of a rank may meet anything of this one.
static bool concerns(const SandReach *reach, int rank) {
    int me = reach->ranks->rank;
    return rank != me && (!reach->bounded || bounds_met(reach, reach->bound[me].low, reach->bound[me].high) >> rank & 1);
}

bool sand_reach_share(SandReach *reach, SandError *error) {
    sand_mail_begin(&reach->mail);
    for (int r = 0; r < reach->ranks->count; r++)
        if (concerns(reach, r) && !tell(reach, r, error)) return false;
    if (reach->failed) return sand_fail(error, "out of memory for the cells that a rank reaches");
    if (!sand_mail_exchange(&reach->mail, reach->ranks, error)) return false;
    const int64_t *notes = (const int64_t *)(const void *)reach->mail.received;
    for (size_t k = 0; k < reach->mail.received_bytes / sizeof *notes; k++)
        mark(reach, notes[k] / SAND_CHUNKS, (int)(notes[k] % SAND_CHUNKS));
    return !reach->failed || sand_fail(error, "out of memory for the cells that other ranks reach");
}

uint64_t sand_reach_others(const SandReach *reach, SandVec3 low, SandVec3 high) {
    const SandGridLevel *g = &reach->grid;
    uint64_t found = 0, met = bounds_met(reach, low, high);
    if (!met) return 0;
    Cells cells = cells_of(g, low, high);
    for (int z = 0; z < cells.count[2]; z++)
        for (int y = 0; y < cells.count[1]; y++) {
            int64_t row = row_of(g, &cells, y, z);
            for (int x = 0; x < cells.count[0]; x++) found |= reach->marks[row + grid_wrap(cells.first[0] + x, g->cells[0])];
        }
    return found & met;
}
