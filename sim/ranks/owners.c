// SPDX-License-Identifier: MIT
// The search for the cells in which ranks begin: bodies of all ranks are counted in ever smaller ranges of cells. Where the
// cut falls inside of a cell, the bodies of that cell are gathered on all ranks, to order them. Beside it, the partition by
// the work of the last step.
#include "sim/ranks/owners.h"

#include "sim/collision/broad_phase.inl"
#include "sim/core/array.h"
#include "sim/ranks/cut_chunks.h"

#include <string.h>

void sand_owners_free(SandOwners *o) {
    SAND_FREE_ARRAYS(&o->cell_of, &o->tally);
    sand_messages_free(&o->ties);
    *o = (SandOwners){0};
}

// --- cells --------------------------------------------------------------------------------------------------

static int64_t cells_of(const SandBroadPhase *g) {
    const SandGridLevel *l = &g->spatial_grid;
    return g->level_count ? (int64_t)l->cells[0] * l->cells[1] * l->cells[2] : 0;
}

// The cell of a body, numbered in the order of solver indices; -1: it takes no part. Cells of convex bodies follow those of
// spheres.
static int64_t find_cell(const SandOwners *o, int i) {
    const SandBroadPhase *g;
    const SandSphereProxy *proxy = sand_first_proxy(o->collision, o->world, i, &g);
    if (!proxy) return -1;
    return (g == &o->collision->convex_phase ? o->sphere_cells : 0) + grid_cell_of(&g->spatial_grid, proxy->center);
}

static bool find_cells(SandOwners *o, SandError *error) {
    o->sphere_cells = cells_of(&o->collision->broad_phase);
    o->cell_count = o->sphere_cells + cells_of(&o->collision->convex_phase);
    if (!SAND_RESERVE(o->cell_of, o->world->body_count + 1, "cells", error)) return false;
    for (int i = 0; i < o->world->body_count; i++) o->cell_of.data[i] = find_cell(o, i);
    return true;
}

// --- counting -----------------------------------------------------------------------------------------------

// The ranges of `width` cells in which ranks begin, ascending, each once.
typedef struct CellRanges {
    int64_t first[SAND_CHUNKS], width;
    int count;
} CellRanges;

// The range that has a cell, or -1.
static int range_of(const CellRanges *ranges, int64_t cell) {
    int range = 0, end = ranges->count;
    while (end - range > 1) {
        int middle = (range + end) / 2;
        if (ranges->first[middle] <= cell)
            range = middle;
        else
            end = middle;
    }
    int64_t at = cell - ranges->first[range];
    return at >= 0 && at < ranges->width ? range : -1;
}

// Divides each range into `parts` parts of `width` cells, and counts the bodies of all ranks in each.
static void tally(SandOwners *o, const SandRanks *ranks, const CellRanges *ranges, int64_t parts, int64_t width) {
    memset(o->tally.data, 0, (size_t)(parts * ranges->count) * sizeof *o->tally.data);
    for (int i = 0; i < o->world->body_count; i++) {
        int range = o->cell_of.data[i] < 0 ? -1 : range_of(ranges, o->cell_of.data[i]);
        if (range >= 0) o->tally.data[range * parts + (o->cell_of.data[i] - ranges->first[range]) / width]++;
    }
    ranks->sum(ranks->user, o->tally.data, parts * ranges->count);
}

// Cuts the chunks by their work in the last step, where it is known.
static void cut_ranges(SandOwners *o, SandPartition *h) {
    int ranks = h->ranks->count, chunks = sand_chunks_of(h->bodies);
    if (o->work_chunks != chunks)
        for (int c = 0; c < chunks; c++) o->work[c] = 1;
    sand_cut_chunks(o->work, chunks, ranks, h->first_chunk);
    for (int r = 0; r <= ranks; r++) h->first_body[r] = sand_chunk_first_body(h->first_chunk[r], h->bodies);
}

// Makes the partition, now that bodies are counted, and starts the search with the range of all cells.
static bool begin_search(SandOwners *o, SandPartition *h, int64_t parts, SandError *error) {
    int64_t bodies = 0;
    for (int64_t k = 0; k < parts; k++) bodies += o->tally.data[k];
    if (bodies > INT32_MAX / 2) return sand_fail(error, "%lld bodies are more than can be numbered", (long long)bodies);
    h->bodies = (int)bodies;
    cut_ranges(o, h);
    for (int r = 0; r < h->ranks->count; r++) {
        o->begin[r] = h->first_body[r] < h->bodies ? 0 : o->cell_count;
        o->ahead[r] = h->first_body[r] < h->bodies ? 0 : h->bodies;
    }
    return true;
}

// Finds the parts in which ranks begin, and makes these the ranges of the next round.
static void narrow(SandOwners *o, const SandPartition *h, CellRanges *ranges, int64_t parts, int64_t width) {
    CellRanges next = {.width = width};
    for (int r = 0; r < h->ranks->count && o->begin[r] < o->cell_count; r++) {
        const int64_t *counts = o->tally.data + range_of(ranges, o->begin[r]) * parts;
        for (int64_t k = 0; o->ahead[r] + counts[k] <= h->first_body[r]; k++) {
            o->ahead[r] += counts[k];
            o->begin[r] += width;
        }
        if (!next.count || next.first[next.count - 1] != o->begin[r]) next.first[next.count++] = o->begin[r];
    }
    *ranges = next;
}

// Finds the cells in which ranks begin, in rounds with ever smaller ranges.
static bool find_begins(SandOwners *o, SandPartition *h, SandError *error) {
    enum { MOST = 4096 }; // counts that are summed over the ranks in a round
    CellRanges ranges = {.width = o->cell_count ? o->cell_count : 1, .count = 1};
    bool first = true;
    if (!SAND_RESERVE(o->tally, MOST, "cells", error) || !h->ranks->agree(h->ranks->user, 0, error)) return false;
    do {
        int64_t most = MOST / ranges.count, width = (ranges.width + most - 1) / most,
                parts = (ranges.width + width - 1) / width;
        tally(o, h->ranks, &ranges, parts, width);
        if (first && !begin_search(o, h, parts, error)) return false;
        first = false;
        narrow(o, h, &ranges, parts, width);
    } while (ranges.count && ranges.width > 1);
    return true;
}

// --- ties ---------------------------------------------------------------------------------------------------

// A body of a cell that is cut, with the keys of its place among the bodies of the cell.
typedef struct Tie {
    int64_t cell, level_cell;
    int level, id;
} Tie;

static bool tie_before(const Tie *a, const Tie *b) {
    if (a->level != b->level) return a->level < b->level;
    if (a->level_cell != b->level_cell) return a->level_cell < b->level_cell;
    return a->id < b->id;
}

// Whether rank r begins behind the first body of its cell.
static bool cuts_cell(const SandOwners *o, int r) {
    return o->begin[r] < o->cell_count && o->ahead[r] < o->partition->first_body[r];
}

static bool is_cut(const SandOwners *o, int64_t cell) {
    for (int r = 1; r < o->partition->ranks->count; r++)
        if (o->begin[r] == cell && cuts_cell(o, r)) return true;
    return false;
}

static bool any_cut(const SandOwners *o) {
    for (int r = 1; r < o->partition->ranks->count; r++)
        if (cuts_cell(o, r)) return true;
    return false;
}

static Tie tie_of(const SandOwners *o, int i, int64_t cell) {
    const SandBroadPhase *g;
    const SandSphereProxy *proxy = sand_first_proxy(o->collision, o->world, i, &g);
    int level = grid_level_of_extent(g, proxy->extent);
    return (Tie){cell, grid_cell_of(&g->levels[level], proxy->center), level, o->id[i]};
}

// Gathers the bodies of all ranks in cells that are cut.
static bool gather_ties(SandOwners *o, const SandRanks *ranks, SandError *error) {
    sand_messages_begin(&o->ties);
    for (int i = 0; i < o->world->body_count; i++) {
        int64_t cell = o->cell_of.data[i];
        if (cell < 0 || !is_cut(o, cell)) continue;
        Tie tie = tie_of(o, i, cell);
        if (!sand_messages_put(&o->ties, ranks->rank, &tie, sizeof tie, error)) return false;
    }
    return sand_messages_share(&o->ties, ranks, error);
}

bool sand_owners_find(SandOwners *o, const SandCollision *collision, const SandWorld *world, const int *id, SandPartition *h,
                      SandError *error) {
    o->collision = collision;
    o->world = world;
    o->id = id;
    o->partition = h;
    return find_cells(o, error) && find_begins(o, h, error) && (!any_cut(o) || gather_ties(o, h->ranks, error));
}

// --- answers ------------------------------------------------------------------------------------------------

// The number of bodies before body i in its cell; 0 where the cell is not cut, since one rank owns all of it.
static int64_t place_of(const SandOwners *o, int i) {
    int64_t cell = o->cell_of.data[i], place = 0;
    if (!is_cut(o, cell)) return 0;
    const Tie *ties = (const Tie *)(const void *)o->ties.received;
    Tie mine = tie_of(o, i, cell);
    for (size_t k = 0; k < o->ties.received_bytes / sizeof *ties; k++)
        place += ties[k].cell == cell && tie_before(&ties[k], &mine);
    return place;
}

int sand_owner_of(const SandOwners *o, int i) {
    const SandPartition *h = o->partition;
    int64_t cell = o->cell_of.data[i], place;
    int r = 0;
    if (cell < 0) return h->ranks->rank;
    place = place_of(o, i);
    while (r + 1 < h->ranks->count &&
           (cell > o->begin[r + 1] || (cell == o->begin[r + 1] && o->ahead[r + 1] + place >= h->first_body[r + 1])))
        r++;
    return r;
}

void sand_owners_weigh(SandOwners *o, const SandCollision *c, const SandPartition *h) {
    int me = h->ranks->rank, shift = h->below - h->first_body[me];
    memset(o->work, 0, sizeof o->work);
    o->work_chunks = sand_chunks_of(h->bodies);
    for (int chunk = h->first_chunk[me]; chunk < h->first_chunk[me + 1]; chunk++) {
        int first = sand_chunk_first_body(chunk, h->bodies) + shift,
            end = sand_chunk_first_body(chunk + 1, h->bodies) + shift;
        o->work[chunk] = end - first + (int64_t)2 * (c->first[end] - c->first[first]);
    }
    h->ranks->sum(h->ranks->user, o->work, SAND_CHUNKS);
}
