// The simulation on its own thread. The window never touches it: it leaves requests, which the engine takes at the next
// step boundary, and picks up the newest picture with the figures that belong to it.
#pragma once
#include "app/render/render_scene.h"
#include "app/engine/probe.h"
#include "app/engine/race_job.h"
#include "app/engine/triple_buffer.h"
#include "app/engine/take.h"

// What belongs to one picture. The window owns it until it asks for the next.
typedef struct EngineFrame {
    RenderScene render_scene;
    unsigned scene_version; // of the scene that the picture's surfaces were made for
    uint64_t step;
    double time;             // s, of the simulation
    double step_seconds;     // s, length of a step
    double real_time_factor; // simulated over elapsed, lately
    bool playing;
    int bodies;
    SandCounters counters;
    SandProfile profile;
    double kinetic, potential; // J
    int curve_count, shadow_count;
    SandCurvePoint *curve, *shadow; // of this step, for the two solvers
    size_t curve_capacity, shadow_capacity;
    uint64_t oldest_step, newest_step; // what can be gone to
    Probe picked;                      // the body that ACT_PICK named
    char way[SAND_SENTENCE];           // how its instances came to be drawn: see triple_buffer_way
} EngineFrame;

typedef struct Engine Engine;

typedef struct EngineDef {
    const char *scene;        // name or path
    SandScene *opened;        // open already, with its knobs turned: taken over instead; NULL: none
    SandSceneOptions options; // for scenes that are opened later
    SandSimulationDef simulation;
    bool own_solve;   // simulation.solve was chosen for the first scene; else it has its own
    bool own_gravity; // likewise, for a scene that is open already
    SandVec3 gravity; // m/s^2
    // How a scene that is opened later is solved; false, with a sentence: not as asked for. NULL: as the scene says.
    bool (*choose_solve)(const void *asked, const SandScene *scene, SandSolveDef *solve, SandError *error);
    const void *asked; // given to it
    const Take *take;  // its acts are done again, until a person acts; NULL: none. It must outlive the engine
    bool playing;
    size_t history_bytes;
    void (*before_step)(void); // for tests: what makes a step slow; NULL: nothing
    TripleBuffer
        *buffer; // where frames go through, taken over; NULL: plain memory, for an engine whose frames are not drawn
} EngineDef;
EngineDef engine_default(void);

// NULL with a sentence; what was opened is freed either way.
Engine *engine_create(const EngineDef *def, SandError *error);
void engine_free(Engine *engine); // waits for the step that runs; on the thread that takes frames
// Ends the thread after the step that runs, and saves a take that was asked for. Messages can still be read.
void engine_stop(Engine *engine);

// Leaves a request; false when too many are waiting.
bool engine_ask(Engine *engine, const Act *act);

// Saves the run up to the next step boundary as a take, with these camera keys; a message tells how that went. False, with
// a sentence, while another is being saved.
bool engine_save(Engine *engine, const char *path, const CameraPath *views, SandError *error);

// The newest frame if there is one newer than the last, else NULL. It is the caller's until the next call that gives one.
// Only one thread may take frames: the one that draws.
EngineFrame *engine_frame(Engine *engine);
void engine_drawn(Engine *engine); // everything that draws the frame was given to the driver

// The scene that runs: name, about, knobs. A copy, made when it changed; `version` goes up then.
typedef struct EngineScene {
    unsigned version;
    unsigned settings; // goes up when solver or gravity changed other than by a request: a replay, a step back, a reset
    char name[SAND_NAME], about[SAND_SENTENCE];
    int bodies; // how many were asked for; 0: the scene has a fixed number
    int knob_count;
    SandKnob knobs[SAND_MAX_KNOBS];
    SandSolveDef solve;
    SandPrecision precision;
    Backend backend;  // where the steps are taken
    char device[160]; // the same for people: `CPU, 2 threads, float`
    SandVec3 gravity, view_lower, view_upper;
} EngineScene;
void engine_scene(Engine *engine, EngineScene *scene);

// The race on the step that was shown when it was asked for. It runs on a thread of its own, beside the scene.
const RaceJob *engine_race(const Engine *engine);

// Messages for the person since the last call, oldest first; returns how many were written, each at most SAND_SENTENCE.
int engine_messages(Engine *engine, char (*messages)[SAND_SENTENCE], int capacity);
