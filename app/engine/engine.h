// SPDX-License-Identifier: MIT
// The simulation on its own thread. The window never touches the simulation: it leaves requests (acts.h), which the engine
// takes at the next step boundary, and fetches the newest frame, a render scene with the figures that belong to it.
#pragma once
#include "app/engine/beside.h"
#include "app/render/render_scene.h"
#include "app/engine/picked_body.h"
#include "app/engine/probe_readings.h"
#include "app/engine/race_job.h"
#include "app/engine/triple_buffer.h"
#include "app/engine/take.h"
#include "app/engine/wheels.h"
#include "sim/core/array.h"

typedef SAND_ARRAY(SandCurvePoint) EngineCurve;

// One published step. The window owns it until it fetches the next.
typedef struct EngineFrame {
    RenderScene render_scene;
    unsigned scene_version; // EngineScene.version that the surfaces were built for
    uint64_t step;
    double time;             // s, of the simulation
    double step_seconds;     // s, length of a step
    double real_time_factor; // recent simulated over elapsed time
    bool playing;
    int bodies;
    SandCounters counters;
    SandProfile profile;
    double kinetic, potential; // J
    int curve_count, shadow_count;
    EngineCurve curve, shadow;         // of this step, for the two solvers
    uint64_t oldest_step, newest_step; // the range that ACT_SEEK reaches
    int acts;                          // of a person that changed the motion so far, for a take to save
    PickedBody picked;                 // the body that ACT_PICK named
    ProbeReadings probes;              // what the probes of the scene read last
    Wheels wheels;                     // of the vehicle, where the scene has one
    SandVec3 follow_moved;             // m, of the body that the camera follows, since the start; 0: there is none
    SandVec3 follow_velocity;          // m/s
    BesideFrame beside;                // the second run, where there is one
    char transfer[SAND_SENTENCE];      // how the instances reached the renderer: see triple_buffer_transfer
} EngineFrame;

// What the engine thread is busy with.
typedef struct EngineWork {
    char what[SAND_SENTENCE]; // "": it waits
    double seconds;           // since it began
    double expected;          // s, about how long it takes in all; 0: unknown
} EngineWork;

typedef struct Engine Engine;

typedef struct EngineDef {
    const char *scene;        // name or path
    SandScene *opened;        // already open, with its knobs set: the engine takes it over; NULL: open `scene`
    SandSceneOptions options; // for scenes that are opened later
    SandSimulationDef simulation;
    bool own_solve;   // simulation.solve applies to the first scene; else the scene's own does
    bool own_gravity; // likewise `gravity`, for a scene that is already open
    SandVec3 gravity; // m/s^2
    // Chooses the solver of a scene that is opened later; false, with a sentence: it cannot. NULL: as the scene says.
    bool (*choose_solve)(const void *asked, const SandScene *scene, SandSolveDef *solve, SandError *error);
    const void *asked;          // passed to choose_solve
    const SandSolveDef *beside; // a second run beside the first, from the start; NULL: none
    const Take *take;           // replayed until a person acts; NULL: none. Must outlive the engine
    const char *take_file;      // that it was loaded from; NULL: from none
    bool playing;
    bool in_background; // engine_create returns at once, and the scene is opened on the engine's thread: see engine_failed
    size_t history_bytes;
    void (*before_step)(void); // for tests: called by the engine thread, to make a step slow; NULL: nothing
    TripleBuffer *buffer; // owned by the engine from here on; NULL: plain memory, for an engine whose frames are not drawn
} EngineDef;
EngineDef engine_default(void);

// Returns NULL with a sentence on failure; `opened` is consumed either way.
Engine *engine_create(const EngineDef *def, SandError *error);
bool engine_failed(Engine *engine, SandError *error); // the first scene could not be opened; the sentence says why
void engine_free(Engine *engine); // waits for the running step; call it on the thread that fetches frames
// Ends the thread after the running step, and saves a take that was asked for. Messages can still be read.
void engine_stop(Engine *engine);

// Leaves a request; false when too many are waiting.
bool engine_ask(Engine *engine, const Act *act);

// Saves the run up to the next step boundary as a take, with these camera keys; a message reports the outcome. False, with a
// sentence, while another take is being saved.
bool engine_save(Engine *engine, const char *path, const CameraPath *views, SandError *error);

// Opens a file, by what it is: a scene or a take replaces what runs; a stored contact problem is raced beside it, with the
// solvers and the budget of an ACT_RACE. What cannot be opened is a message. False, with a sentence, while another is being
// opened.
bool engine_open(Engine *engine, const char *path, const Act *race, SandError *error);
// The camera keys of the take that was opened last.
void engine_views(Engine *engine, CameraPath *views);

void engine_work(Engine *engine, EngineWork *work);
void engine_cancel(Engine *engine); // ends what it is busy with: a step is not taken, a scene not opened

// Returns the newest frame if there is one newer than the last, else NULL. It is the caller's until the next call that
// returns one. Only one thread may fetch frames: the one that draws.
EngineFrame *engine_frame(Engine *engine);
void engine_drawn(Engine *engine); // every draw call that reads the frame has been issued

// The running scene, copied whenever it changes; `version` goes up with every new scene.
typedef struct EngineScene {
    unsigned version;
    unsigned settings; // goes up when solver or gravity changed other than by a request: by a replay, a step back or a reset
    char name[SAND_NAME], about[SAND_SENTENCE];
    char file[TAKE_PATH];   // that it was opened from, by its path; "": by its name
    int openings;           // how many files were opened so far
    char opened[TAKE_PATH]; // the last of them: a scene, a take or a contact problem
    int bodies;             // how many were asked for; 0: the scene has a fixed number
    bool settled;           // they started settled
    int knob_count;
    SandKnob knobs[SAND_MAX_KNOBS];
    bool drivable;         // it has a vehicle
    bool turns;            // it has a glass that can be turned over
    bool follows;          // the camera can move with one of its bodies
    double fastest_wheels; // rad/s, of the wheels of the vehicle at full throttle
    SandSolveDef solve;
    bool has_beside;     // there is a second run
    SandSolveDef beside; // its solver
    SandPrecision precision;
    Backend backend;  // that takes the steps
    char device[160]; // its description: `CPU, 2 threads, float`
    SandVec3 gravity, view_lower, view_upper;
} EngineScene;
void engine_scene(Engine *engine, EngineScene *scene);

// The race on the step that was shown when it was requested. It runs on its own thread, beside the scene.
RaceJob *engine_race(Engine *engine);

// Moves up to `capacity` pending messages to the caller, oldest first, and returns how many.
int engine_messages(Engine *engine, char (*messages)[SAND_SENTENCE], int capacity);
