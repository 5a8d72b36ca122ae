// SPDX-License-Identifier: MIT
// Letting bodies in: the threads look which boxes are blocked, then each inlet places those that are due where there is
// room, in their order.
#include "sim/step/inlet.h"

#include "sim/core/array.h"
#include "sim/step/inlet.inl"

#include <string.h>

void sand_inlets_free(SandInletScratch *scratch) {
    SAND_FREE_ARRAYS(&scratch->blocked, &scratch->marks);
    *scratch = (SandInletScratch){0};
}

typedef struct BlockJob {
    const SandWorld *world;
    const int *number;
    uint8_t *blocked;
} BlockJob;

static void block_work(SandWorker *worker, void *argument) {
    const BlockJob *job = argument;
    const SandWorld *w = job->world;
    for (int64_t i = sand_chunk_begin(worker->first_chunk, w->body_count);
         i < sand_chunk_begin(worker->last_chunk, w->body_count); i++) {
        uint8_t *blocked = job->blocked;
        if (!sand_world_active(w, (int)i) || inlet_waits(w, job->number ? job->number[i] : (int)i)) continue;
        for (int k = 0; k < w->inlet_count; k++) {
            inlet_block(w, &w->inlets[k], (int)i, blocked);
            blocked += inlet_cells(&w->inlets[k]);
        }
    }
}

// Lets bodies enter by one inlet; returns how many did.
static int enter(SandWorld *w, const SandInlet *in, const uint8_t *blocked) {
    int due = inlet_due(w, in), cells = inlet_cells(in), next = in->first + in->entered, entered = 0;
    for (int k = 0; k < cells && entered < due; k++) {
        int cell = inlet_cell_at(w, in, k);
        if (!blocked[cell]) inlet_enter(w, in, next + entered++, cell);
    }
    for (int k = entered; k < cells; k++) inlet_wait(w, in, next + k);
    return entered;
}

static size_t count_cells(const SandWorld *w) {
    size_t cells = 0;
    for (int k = 0; k < w->inlet_count; k++) cells += (size_t)inlet_cells(&w->inlets[k]);
    return cells;
}

bool sand_inlets_begin(SandInletScratch *scratch, const SandWorld *w, bool shared, size_t *cells, SandError *error) {
    *cells = count_cells(w);
    return SAND_RESERVE(scratch->blocked, *cells, "inlets", error) &&
           SAND_RESERVE(scratch->marks, shared ? *cells : 0, "inlets", error);
}

bool sand_inlets_block(SandInletScratch *scratch, const SandWorld *w, const int *number, SandThreadPool *pool,
                       SandError *error) {
    size_t cells;
    if (!sand_inlets_begin(scratch, w, number, &cells, error)) return false;
    if (cells) memset(scratch->blocked.data, 0, cells);
    sand_thread_pool_run(pool, block_work, &(BlockJob){w, number, scratch->blocked.data});
    return true;
}

void sand_inlets_share(SandInletScratch *scratch, const SandWorld *w, const SandRanks *ranks) {
    size_t cells = count_cells(w);
    for (size_t k = 0; k < cells; k++) scratch->marks.data[k] = scratch->blocked.data[k];
    ranks->sum(ranks->user, scratch->marks.data, (int64_t)cells);
    for (size_t k = 0; k < cells; k++) scratch->blocked.data[k] = scratch->marks.data[k] > 0;
}

void sand_inlets_let_in(const SandInletScratch *scratch, SandWorld *w, int *entered) {
    const uint8_t *blocked = scratch->blocked.data;
    for (int k = 0; k < w->inlet_count; k++) {
        entered[k] = enter(w, &w->inlets[k], blocked);
        blocked += inlet_cells(&w->inlets[k]);
    }
}

bool sand_inlets_wait(const SandWorld *w, int body) { return inlet_waits(w, body); }

bool sand_inlets_enter(SandInletScratch *scratch, SandWorld *w, SandThreadPool *pool, int *entered, SandError *error) {
    if (!w->inlet_count) return true;
    if (!sand_inlets_block(scratch, w, NULL, pool, error)) return false;
    sand_inlets_let_in(scratch, w, entered);
    return true;
}
