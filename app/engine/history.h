// The last steps of a run, to go back to: keyframes at even distances within a budget of memory. A step between two of
// them is reached by going back to the one before it and running again, which gives the same bits.
#pragma once
#include "sandglass/simulation.h"
#include "sim/step/checkpoint.h"

typedef struct History {
    SandCheckpoint *frames;
    int count, next; // kept, and where the next one goes: a ring once the budget is reached
    size_t capacity;
    int distance;  // steps between two keyframes
    size_t budget; // bytes
} History;

void history_init(History *history, int distance, size_t budget);
void history_free(History *history);
void history_clear(History *history); // forgets all, keeps the memory

// To be called after every step, and once before the first; keeps what is due.
bool history_note(History *history, SandSimulation *sim, SandError *error);

// The newest keyframe that is not after the step, or NULL; and the oldest step that can be gone back to.
const SandCheckpoint *history_before(const History *history, uint64_t step);
uint64_t history_oldest(const History *history);

// Forgets what comes after a step: the run goes on another way from there.
void history_cut(History *history, uint64_t step);
