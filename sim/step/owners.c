#include "sim/step/owners.h"

#include "sim/collision/broad_phase.inl"
#include "sim/core/array.h"

#include <string.h>

void sand_owners_free(SandOwners *o) {
    sand_free(o->cells);
    sand_free(o->cell_of);
    sand_mail_free(&o->ties);
    *o = (SandOwners){0};
}

// --- counting -----------------------------------------------------------------------------------------------

static int64_t cells_of(const SandBroadPhase *g) {
    const SandGridLevel *l = &g->spatial_grid;
    return g->level_count ? (int64_t)l->cells[0] * l->cells[1] * l->cells[2] : 0;
}

// The cell of a body in the order of solver indices, -1: it takes no part. Convex bodies follow the others.
static int64_t find_cell(const SandOwners *o, int i) {
    const SandBroadPhase *g;
    const SandSphereProxy *proxy = sand_first_proxy(o->collision, o->world, i, &g);
    if (!proxy) return -1;
    return (g == &o->collision->convex_phase ? o->sphere_cells : 0) + grid_cell_of(&g->spatial_grid, proxy->center);
}

// Counts the bodies of all ranks in front of each cell.
static bool count_cells(SandOwners *o, const SandRanks *ranks, int64_t *bodies, SandError *error) {
    o->sphere_cells = cells_of(&o->collision->broad_phase);
    o->cell_count = o->sphere_cells + cells_of(&o->collision->convex_phase);
    if (!SAND_GROW(o->cells, o->cell_capacity, o->cell_count + 1, "cells", error) ||
        !SAND_GROW(o->cell_of, o->cell_of_capacity, o->world->body_count + 1, "cells", error) ||
        !ranks->agree(ranks->user, 0, error))
        return false;
    memset(o->cells, 0, (size_t)(o->cell_count + 1) * sizeof *o->cells);
    for (int i = 0; i < o->world->body_count; i++) {
        o->cell_of[i] = find_cell(o, i);
        if (o->cell_of[i] >= 0) o->cells[o->cell_of[i]]++;
    }
    ranks->sum(ranks->user, o->cells, o->cell_count);
    int64_t before = 0;
    for (int64_t c = 0; c <= o->cell_count; c++) {
        int64_t count = o->cells[c];
        o->cells[c] = before;
        before += count;
    }
    *bodies = before;
    return before <= INT32_MAX / 2 || sand_fail(error, "%lld bodies are more than can be numbered", (long long)before);
}

// --- cutting ------------------------------------------------------------------------------------------------

// Ranks get consecutive chunks with about as much work as in the last step, and rank 0 the first.
static void cut_ranges(SandOwners *o, SandHolding *h) {
    int ranks = h->ranks->count, chunks = sand_chunks_of(h->bodies), chunk = 0;
    int64_t all = 0, before = 0;
    if (o->work_chunks != chunks)
        for (int c = 0; c < chunks; c++) o->work[c] = 1;
    for (int c = 0; c < chunks; c++) all += o->work[c];
    for (int r = 0; r <= ranks; r++) {
        while (r > 0 && chunk < chunks && (chunk == 0 || r == ranks || before * ranks < all * r)) before += o->work[chunk++];
        h->first_chunk[r] = chunk;
        h->first_body[r] = sand_chunk_first_body(chunk, h->bodies);
    }
}

// A body in a cell through which ranks are cut: what its place in the cell follows from.
typedef struct Tie {
    int64_t cell, level_cell;
    int level, id;
} Tie;

static bool tie_before(const Tie *a, const Tie *b) {
    if (a->level != b->level) return a->level < b->level;
    if (a->level_cell != b->level_cell) return a->level_cell < b->level_cell;
    return a->id < b->id;
}

// The cell with the body of this solver index.
static int64_t cell_at(const SandOwners *o, int64_t index) {
    int64_t cell = 0, end = o->cell_count;
    while (end - cell > 1) {
        int64_t middle = cell + (end - cell) / 2;
        if (o->cells[middle] <= index)
            cell = middle;
        else
            end = middle;
    }
    return cell;
}

// Finds the cells that are cut, the same on all ranks; false: there are none.
static bool find_cuts(SandOwners *o) {
    const SandHolding *h = o->holding;
    bool any = false;
    for (int r = 0; r < h->ranks->count; r++) {
        int first = h->first_body[r];
        int64_t cell = first < h->bodies ? cell_at(o, first) : -1;
        o->cut[r] = cell >= 0 && o->cells[cell] < first ? cell : -1;
        any = any || o->cut[r] >= 0;
    }
    return any;
}

static bool is_cut(const SandOwners *o, int64_t cell) {
    for (int r = 1; r < o->holding->ranks->count; r++)
        if (o->cut[r] == cell) return true;
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
    sand_mail_begin(&o->ties);
    for (int i = 0; i < o->world->body_count; i++) {
        int64_t cell = o->cell_of[i];
        if (cell < 0 || !is_cut(o, cell)) continue;
        Tie tie = tie_of(o, i, cell);
        if (!sand_mail_put(&o->ties, ranks->rank, &tie, sizeof tie, error)) return false;
    }
    return sand_mail_share(&o->ties, ranks, error);
}

bool sand_owners_find(SandOwners *o, const SandCollision *collision, const SandWorld *world, const int *id, SandHolding *h,
                      SandError *error) {
    int64_t bodies;
    o->collision = collision;
    o->world = world;
    o->id = id;
    o->holding = h;
    if (!count_cells(o, h->ranks, &bodies, error)) return false;
    h->bodies = (int)bodies;
    cut_ranges(o, h);
    return !find_cuts(o) || gather_ties(o, h->ranks, error);
}

// --- answers ------------------------------------------------------------------------------------------------

// The solver index that body i will have, exact where it matters for its owner.
static int64_t index_of(const SandOwners *o, int i) {
    int64_t cell = o->cell_of[i], index = o->cells[cell];
    if (!is_cut(o, cell)) return index;
    const Tie *ties = (const Tie *)(const void *)o->ties.received;
    Tie mine = tie_of(o, i, cell);
    for (size_t k = 0; k < o->ties.received_bytes / sizeof *ties; k++)
        index += ties[k].cell == cell && tie_before(&ties[k], &mine);
    return index;
}

int sand_owner_of(const SandOwners *o, int i) {
    if (o->cell_of[i] < 0) return o->holding->ranks->rank;
    int64_t index = index_of(o, i);
    int r = 0;
    while (index >= o->holding->first_body[r + 1]) r++;
    return r;
}

void sand_owners_weigh(SandOwners *o, const SandCollision *c, const SandHolding *h) {
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
