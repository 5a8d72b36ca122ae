// SPDX-License-Identifier: MIT
// The ring of checkpoints: growth within the memory budget, search, and truncation when the run branches off.
#include "app/engine/history.h"

#include "sim/core/array.h"

void history_init(History *h, int distance, size_t budget) { *h = (History){.distance = distance, .budget = budget}; }

void history_free(History *h) {
    for (size_t i = 0; i < h->capacity; i++) sand_checkpoint_free(&h->frames[i]);
    sand_free(h->frames);
    *h = (History){0};
}

void history_clear(History *h) { h->count = h->next = 0; }

// Index of the k-th kept checkpoint, counted from the oldest.
static int place(const History *h, int k) { return (h->next - h->count + k + (int)h->capacity) % (int)h->capacity; }

static size_t bytes_held(const History *h) {
    size_t bytes = 0;
    for (size_t i = 0; i < h->capacity; i++) bytes += sand_checkpoint_bytes(&h->frames[i]);
    return bytes;
}

// Grows the ring while the budget allows, so that the oldest checkpoint stays. Only when the ring is in order (next is 0 or
// capacity).
static bool lengthen(History *h, SandError *error) {
    size_t n = h->capacity, average = n ? bytes_held(h) / n : 0;
    size_t longer = n + n / 2 + 8, capacity = n;
    if (h->count < (int)n || (n >= 2 && longer * average > h->budget) || h->next % (n ? (int)n : 1) != 0) return true;
    if (!SAND_GROW(h->frames, capacity, longer, "history", error)) return false;
    h->capacity = capacity;
    h->next = h->count;
    return true;
}

bool history_note(History *h, SandSimulation *sim, SandError *error) {
    uint64_t step = sand_simulation_world(sim)->step_index;
    bool known = h->count && h->frames[place(h, h->count - 1)].step_index >= step; // the run goes over known steps again
    bool due = h->count == 0 || step % (uint64_t)h->distance == 0;                 // the first is where the run begins
    if (!due || known) return true;
    if (!lengthen(h, error)) return false;
    if (h->next == (int)h->capacity) h->next = 0;
    if (!sand_simulation_save_state(sim, &h->frames[h->next], error)) return false;
    h->next++;
    if (h->count < (int)h->capacity) h->count++;
    return true;
}

const SandCheckpoint *history_before(const History *h, uint64_t step) {
    for (int k = h->count - 1; k >= 0; k--) {
        const SandCheckpoint *frame = &h->frames[place(h, k)];
        if (frame->step_index <= step) return frame;
    }
    return NULL;
}

uint64_t history_oldest(const History *h) { return h->count ? h->frames[place(h, 0)].step_index : 0; }

void history_cut(History *h, uint64_t step) {
    while (h->count && h->frames[place(h, h->count - 1)].step_index > step) {
        h->count--;
        h->next = (h->next - 1 + (int)h->capacity) % (int)h->capacity;
    }
}
