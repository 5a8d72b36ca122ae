// SPDX-License-Identifier: MIT
// Checkpoints of a run at regular distances, within a memory budget: what a seek goes back to. A step between two
// checkpoints is reached by restoring the earlier one and stepping forward again, which gives the same bits.
#pragma once
#include "sandglass/simulation.h"
#include "sim/step/checkpoint.h"

typedef struct History {
    SandCheckpoint *frames;
    int count, next; // kept checkpoints, and the index of the next; a ring once the budget is reached
    size_t capacity;
    int distance;  // steps between two checkpoints
    size_t budget; // bytes
} History;

void history_init(History *history, int distance, size_t budget);
void history_free(History *history);
void history_clear(History *history); // drops all checkpoints, keeps the memory

// Saves a checkpoint if one is due. Call it after every step, and once before the first.
bool history_note(History *history, SandSimulation *sim, SandError *error);

// The newest checkpoint at or before the step, or NULL; and the oldest step that can be restored.
const SandCheckpoint *history_before(const History *history, uint64_t step);
uint64_t history_oldest(const History *history);

// Drops the checkpoints after a step: the run branches off there.
void history_cut(History *history, uint64_t step);
