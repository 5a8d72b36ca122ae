// SPDX-License-Identifier: MIT
// The run along its steps: the log of acts that changed the motion, and checkpoints (history.h). A past step is reached from
// the checkpoint before it by applying the logged acts again, which gives the same bits.
#pragma once
#include "app/engine/history.h"
#include "app/engine/take.h"

typedef struct Timeline {
    History history;
    ActLog log;
    int done;         // logged acts applied so far
    uint64_t newest;  // furthest step of the run
    const Take *take; // whose log is replayed, as long as nobody acts; NULL: the run is a person's own
    // Settings that checkpoints do not hold, now and at the start of the scene.
    SandSolveDef solve, first_solve;
    Backend backend, first_backend;
    SandVec3 first_gravity; // m/s^2; the current gravity is the world's
} Timeline;

// Initializes with the acts of a take, which must outlive the timeline; NULL: none.
bool timeline_init(Timeline *timeline, const Take *take, size_t history_bytes, SandError *error);
void timeline_free(Timeline *timeline);

// Starts over with a new simulation at step 0. Drops log and checkpoints, but keeps the acts of a take.
bool timeline_begin(Timeline *timeline, SandSimulation *sim, const SandSolveDef *solve, SandError *error);

// The run branches off here: later acts and checkpoints are dropped.
void timeline_branch(Timeline *timeline, const SandSimulation *sim);
// Applies and logs an act that changes the motion, where the run branches off.
bool timeline_act(Timeline *timeline, const Act *act, const SandScene *scene, SandSimulation *sim, SandError *error);

// Call it before every step: applies the logged acts that belong there, when the run goes over known steps again.
bool timeline_replay(Timeline *timeline, const SandScene *scene, SandSimulation *sim, SandError *error);

// Call both after every step, in this order. timeline_lost_device: whether the device failed in it and the CPU went on,
// perhaps from an earlier step; then later checkpoints are dropped, and seeks use the CPU too. timeline_note: keeps how far
// the run has come, and a checkpoint when one is due.
bool timeline_lost_device(Timeline *timeline, const SandSimulation *sim);
bool timeline_note(Timeline *timeline, SandSimulation *sim, SandError *error);

// Restores the checkpoint at or before a past step, with the settings in use there; the caller steps forward from it. False,
// with a sentence, when none is kept.
bool timeline_go_back(Timeline *timeline, uint64_t step, const SandScene *scene, SandSimulation *sim, SandError *error);
