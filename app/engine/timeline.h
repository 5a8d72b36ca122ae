// A run along its steps: the log of acts that changed its motion, and keyframes to go back by. A step that was passed is
// reached again from the keyframe before it, with the acts of the log done again, which gives the same bits.
#pragma once
#include "app/engine/history.h"
#include "app/engine/take.h"

typedef struct Timeline {
    History history;
    ActLog log;
    int done;         // acts of the log that are done
    uint64_t newest;  // furthest step the run has come to
    const Take *take; // the log is this take's, and nobody has acted otherwise; NULL: the run is a person's own
    // The settings that a checkpoint does not hold, now and at the start of the scene.
    SandSolveDef solve, first_solve;
    Backend backend, first_backend;
    SandVec3 first_gravity; // m/s^2; that of now is the world's
} Timeline;

// With the acts of a take, which must outlive it; NULL: none.
bool timeline_init(Timeline *timeline, const Take *take, size_t history_bytes, SandError *error);
void timeline_free(Timeline *timeline);

// A new simulation at its start, solved like this. What was before is forgotten, but for the acts of a take.
bool timeline_begin(Timeline *timeline, SandSimulation *sim, const SandSolveDef *solve, SandError *error);

// Does an act that changes the motion, and logs it. The run takes another way from here: what was ahead is forgotten.
bool timeline_act(Timeline *timeline, const Act *act, const SandScene *scene, SandSimulation *sim, SandError *error);

// Before every step: does the acts of the log that belong there, when the run goes over old ground again.
bool timeline_replay(Timeline *timeline, const SandScene *scene, SandSimulation *sim, SandError *error);

// After every step, in this order: whether the machine failed in it, and the CPU went on, perhaps from an earlier one (then
// what was ahead is forgotten, and going back goes by the CPU too); and a note of how far the run has come.
bool timeline_lost_device(Timeline *timeline, const SandSimulation *sim);
bool timeline_note(Timeline *timeline, SandSimulation *sim, SandError *error);

// Goes to the keyframe before a step that was passed, with the settings that were in use there; the steps from there on are
// for the caller to take. False, with a sentence: none is kept.
bool timeline_go_back(Timeline *timeline, uint64_t step, const SandScene *scene, SandSimulation *sim, SandError *error);
