// SPDX-License-Identifier: MIT
// A second run of the scene beside the first, with a solver of its own. It parts from the first at some step, with the same
// state to the last bit; from there on both take the same steps and the same acts, but for changes of the solver. The first
// run does not notice.
#pragma once
#include "app/engine/timeline.h"
#include "app/render/render_scene.h"

typedef struct Beside {
    SandSimulation *sim; // NULL: there is no second run
    Timeline timeline;   // its own checkpoints; its log holds acts as the first run got them
    uint64_t since;      // step at which it parted
    SandMessageCallback *tell;
    void *user; // passed to `tell`
} Beside;

typedef struct BesideDef {
    SandScene *scene;             // of the first run; its world is built once more
    SandSimulation *first;        // the first run, whose state it takes over
    const ActLog *log;            // of the first run
    int done;                     // acts of that log applied so far; the second run gets the later ones too
    SandSimulationDef simulation; // threads, precision and backend of the first, and the solver of the second
    size_t history_bytes;         // for checkpoints; 0: none are kept, and it cannot go back
    SandMessageCallback *tell;    // hears its messages
    void *user;                   // passed to `tell`
} BesideDef;

// Replaces a second run that there is; on failure, with a sentence, there is none. A backend that lacks its solver is left
// to the first run: the CPU takes the steps of the second, with a message.
bool beside_start(Beside *beside, const BesideDef *def, SandError *error);
void beside_free(Beside *beside);

// An act that has changed the motion of the first run. A solver is that of the first alone, but the run branches off.
bool beside_act(Beside *beside, const Act *act, const SandScene *scene, SandSimulation *first, SandError *error);
// Another solver from this step on; acts that are ahead of the first run stay ahead of both.
bool beside_solve(Beside *beside, const SandSolveDef *solve, const SandScene *scene, const Timeline *first,
                  SandError *error);
// The acts of the log that belong before the coming step of both runs. Call it before the first run takes that step.
bool beside_replay(Beside *beside, const SandScene *scene, SandSimulation *first, SandError *error);
// Catches up with the first run. Call it after every step of the first.
bool beside_follow(Beside *beside, const SandScene *scene, SandSimulation *first, SandError *error);

// Restores its checkpoint at or before a past step; the first run must come to the step of that checkpoint before both go
// on. False: it parted later, or the step is no longer kept.
bool beside_go_back(Beside *beside, uint64_t step, const SandScene *scene, SandError *error);

// Translates a grab from one run to the other, where the body may be elsewhere: the same point of the body.
bool beside_translate(Act *act, SandSimulation *from, SandSimulation *to, SandError *error);

// The second run in a published frame.
typedef struct BesideFrame {
    bool on; // there is one; else nothing below is meant
    RenderScene render_scene;
    unsigned scene_version; // that the surfaces were built for
    SandSolveDef solve;
    uint64_t since; // step at which it parted from the first
    SandCounters counters;
    double kinetic, potential; // J
} BesideFrame;
// Fills it; `like` is the render scene of the first run in the same frame: a color means the same in both.
bool beside_show(Beside *beside, const SandScene *scene, unsigned scene_version, const RenderScene *like, BesideFrame *frame,
                 SandError *error);
// The settings of a picture of the second run: those of the first, with the range that its colors came to have.
void beside_match(RenderScene *second, const RenderScene *first);
