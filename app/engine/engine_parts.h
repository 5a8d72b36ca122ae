// SPDX-License-Identifier: MIT
// The engine's own state, for its own files: engine.c is the thread and its loop, engine_requests.c what it does between two
// steps, engine_scene.c the scenes and the second run, engine_publish.c what the window reads.
#pragma once
#include "app/engine/engine.h"

#include "app/engine/timeline.h"

#include <pthread.h>
#include <stdatomic.h>

enum { ENGINE_QUEUE = 256, ENGINE_MESSAGES = 64 };

struct Engine {
    pthread_t thread;
    bool started;
    bool failed; // the first scene was not opened, guarded by `lock`
    SandError failure;
    atomic_bool quit;

    // The simulation: owned by the engine thread while it runs.
    EngineDef def;
    SandScene scene;
    SandScene opened; // that the def brought, until it is started
    bool has_opened;
    SandSimulation *sim;
    char scene_name[TAKE_PATH]; // name or path it was opened by
    int own_bodies;             // that its file asked for then
    Timeline timeline;
    Take *take;    // that a person opened; NULL: none. That of `def` is the caller's
    Beside beside; // the second run
    SandCpu *shadow_cpu;
    SandSolveDef shadow_solve;
    bool shadow, curve;
    SandSolution shadow_solution;
    RaceJob race;
    bool playing;
    int64_t steps_due; // steps still to take, even while paused
    double speed;
    double clock_wall, clock_time; // pacing: this simulated time is due at this wall time
    double factor;                 // recent real-time factor
    double factor_wall, factor_time;
    RenderColor color;
    int picked;                          // body that was picked, -1: none
    const char *probes[SAND_MAX_PROBES]; // that were added to those of the scene: by the command line, then by a person
    char own_probes[SAND_MAX_PROBES][SAND_SENTENCE]; // texts of the latter
    int probe_count, own_probe_count;
    bool chains;
    RenderRange limits; // of the color map

    EngineFrame frames[TRIPLE_BUFFER_SLOTS]; // one for each slot of the triple buffer, which holds its instances
    TripleBuffer *buffer;

    // Shared with the window, guarded by `lock`.
    pthread_mutex_t lock;
    pthread_cond_t wake;
    Act queue[ENGINE_QUEUE];
    int queued;
    EngineScene shown;
    char save_path[TAKE_PATH]; // a take is to be saved here; "": none
    CameraPath save_views;
    char open_path[TAKE_PATH]; // a file is to be opened; "": none
    Act open_race;             // how to race a contact problem
    CameraPath views;          // of the take that was opened last
    EngineWork work;           // `seconds` is the wall time at which it began
    int stop;                  // atomic: cancels the work
    char messages[ENGINE_MESSAGES][SAND_SENTENCE];
    int message_count;
};

// Why the published scene changed: a request, a replay or a step back that changed settings, or a new scene.
typedef enum Reason { AFTER_ACT, AFTER_REPLAY, NEW_SCENE } Reason;

// engine_publish.c
void engine_tell(void *engine, const char *sentence); // a message for the window
void engine_show_scene(Engine *e, Reason reason);
// Fills the frame of the slot being written and publishes it, replacing one that the window has not fetched yet.
bool engine_publish(Engine *e, SandError *error);
// Tells the window what goes on, until engine_end_work; false: it is part of something that was told already.
bool engine_begin_work(Engine *e, double expected, const char *format, ...) __attribute__((format(printf, 3, 4)));
void engine_work_done(Engine *e, double share); // of the present work, from which its duration is guessed
void engine_end_work(Engine *e, bool began);
bool engine_canceled(const Engine *e);

// engine_scene.c
void engine_restart_clock(Engine *e);
// Builds an opened scene and replaces the simulation. On failure the old one goes on. `gravity` NULL: as the scene says.
bool engine_start_scene(Engine *e, SandScene *scene, const SandSolveDef *solve, const SandVec3 *gravity, SandError *error);
// Restarts the scene with the current settings; a take that is being replayed restarts with its own.
bool engine_restart_scene(Engine *e, bool own_gravity, SandError *error);
void engine_replace_scene(Engine *e, SandScene *scene, const char *name); // takes ownership of it and publishes it
// Opens and starts a scene with this many bodies, 0: as it says. On failure the old one goes on.
bool engine_open_scene(Engine *e, const char *name, int bodies, SandError *error);
// Opens another scene. The body count asked for at the start is an upper bound for every scene that can be that small.
bool engine_change_scene(Engine *e, const char *name, int bodies, SandError *error);
// Opens the file that was asked for: see engine_open.
bool engine_open_file(Engine *e, const char *path, const Act *race, SandError *error);
bool engine_ask_beside(Engine *e, const Act *act, SandError *error); // begins, changes or ends the second run
void engine_part_anew(Engine *e);                                    // after the first run began somewhere else
void engine_end_beside(Engine *e, const SandError *why);
// Adds a probe to the scene, which keeps it when it is restarted; what is wrong with it is a message.
void engine_add_probe(Engine *e, const char *text);

// engine_requests.c
bool engine_obey(Engine *e, const Act *act, SandError *error);
// Takes one step, first applying the logged acts that belong before it when the run goes over known steps again.
bool engine_take_step(Engine *e, bool with_shadow, SandError *error);
