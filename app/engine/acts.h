// SPDX-License-Identifier: MIT
// Acts: everything a person can ask of a running simulation, as plain values. Those that change the motion are logged with
// the step before which they took effect; the scene, its settings and that log are all a replay needs to give the same bits.
#pragma once
#include "sandglass/scene.h"
#include "sandglass/simulation.h"

// What a person can ask for.
typedef enum ActKind {
    ACT_PLAY,    // number: 1 runs, 0 pauses
    ACT_TOGGLE,  // runs, or pauses where it runs
    ACT_STEP,    // number: steps to take, then pause
    ACT_BACK,    // number: steps to go back from where the steps that are due end, then pause
    ACT_SEEK,    // number: go to this step, back through the history, and pause
    ACT_RESET,   // restart the scene with the current settings
    ACT_SCENE,   // text: open another scene; number: bodies, 0: as the scene says
    ACT_SOLVE,   // solve: how to solve from now on
    ACT_BACKEND, // number: Backend that takes the steps from now on
    ACT_SHADOW,  // solve: a second solver on the same problems; number: 0 turns it off
    ACT_GRAVITY, // vector, m/s^2
    ACT_START,   // number: 1 the bodies start settled, 0 on their lattice; restarts the scene
    ACT_KNOB,    // text: name of a knob of the scene; number: its value; restarts the scene
    ACT_FLIP,    // turns the glass over
    ACT_DRIVE,   // vector: x and y are the speeds of the left and the right wheels of the vehicle, rad/s
    ACT_PUSH,    // body, vector: a force on it, N, in the coming step
    ACT_MOTOR,   // text: name of a joint; number: the target of its motor from now on, rad, rad/s, m or m/s
    ACT_MOVE,    // text: name of a boundary; vector: its velocity from now on, m/s; number: its rate about its axis, rad/s
    ACT_REMOVE,  // body: taken out
    ACT_GRAB,    // body, vector: hold this point of the body (world)
    ACT_DRAG,    // vector: where the held point is pulled to
    ACT_RELEASE,
    ACT_THROW,  // vector: from, direction: velocity, number: radius
    ACT_AIM,    // vector: origin of a ray, direction: along it, as long as the speed, number: radius; becomes ACT_THROW
    ACT_SPEED,  // number: simulated seconds per second of wall time
    ACT_COLOR,  // number: RenderColor
    ACT_RANGE,  // number: RenderRangeMode; vector: x and y are the ends of RANGE_SET
    ACT_CHAINS, // number: 1 gathers the force chains for the picture
    ACT_CURVE,  // number: 1 keeps the residual curve of every step
    ACT_PICK,   // body: whose contact forces come with each frame, -1: none
    ACT_BESIDE, // solve: of a second run beside the first, from this step on; number: 0 ends it
    ACT_PROBE,  // text: one more probe of the scene, as --probe has it
    ACT_RACE,   // text: the solvers, `a,b`; solve: friction and budget; number: 1 from a cold start
    ACT_RACE_CANCEL,
} ActKind;

typedef struct Act {
    ActKind kind;
    double number;
    int body;
    bool beside; // ACT_GRAB: the point is that of the body in the second run
    SandVec3 vector, direction;
    SandSolveDef solve;
    char text[SAND_SENTENCE];
} Act;

// The acts that changed the motion, sorted by the step before which they took effect.
typedef struct LoggedAct {
    uint64_t step;
    Act act;
} LoggedAct;

typedef struct ActLog {
    LoggedAct *items;
    int count;
    size_t capacity;
} ActLog;

bool act_changes_motion(ActKind kind);
// Applies an act that changes the motion, between two steps. `solve` is the solver definition in use; ACT_SOLVE updates it.
bool act_apply(const Act *act, const SandScene *scene, SandSimulation *sim, SandSolveDef *solve, SandError *error);

bool acts_add(ActLog *log, uint64_t step, const Act *act, SandError *error);
bool acts_copy(ActLog *to, const ActLog *from, SandError *error);
void acts_free(ActLog *log);

// Applies the logged acts from index *done on that belong before the coming step, and advances *done.
bool acts_replay(const ActLog *log, int *done, const SandScene *scene, SandSimulation *sim, SandSolveDef *solve,
                 SandError *error);
