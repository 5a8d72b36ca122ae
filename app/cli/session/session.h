// SPDX-License-Identifier: MIT
// A scene set up and run as the command line says: what run, bench, freeze, race and record share.
#pragma once
#include "app/io/json.h"
#include "app/cli/outcome.h"
#include "app/cli/session/export.h"
#include "app/cli/session/log.h"
#include "app/cli/options/options.h"
#include "app/cli/session/probe_files.h"
#include "app/cli/session/progress.h"
#include "sandglass/scene.h"
#include "sandglass/simulation.h"
#include "app/engine/take.h"

typedef struct Session {
    SandScene scene;
    SandSimulationDef def;
    SandSimulation *sim;
    SandSolveDef solve; // current; def.solve is that of the start
    bool has_take;
    Take take;       // being replayed
    int acts_done;   // of the take
    Backend backend; // as asked for
    Progress progress;
    Log log;
    ProbeFiles probes;
    ExportDef export;   // path NULL: nothing is exported
    Exporter *exporter; // opened before the first step
    bool has_gravity, has_shadow, has_beside;
    SandVec3 gravity;    // m/s^2, as asked for; once open, at the start
    SandSolveDef shadow; // a second solver, for the window
    SandSolveDef beside; // of a second run, for windows and films
    double begin;        // s, when the simulation was ready
} Session;

// Opens the scene with every option applied, without building it: what the engine of a window starts from. Call
// session_close whatever the outcome.
Outcome session_plan(Session *session, const Options *options, SandError *error);
SandSceneOptions session_scene_options(const Options *options);
int session_threads(const Options *options); // one per core, unless --threads
// Solver, parameters, friction and budget: the scene's, with the options applied.
bool session_solve(const Options *options, const SandScene *scene, SandSolveDef *solve, SandError *error);
// Applies --friction, --bounds and --facets.
bool session_model(const Options *options, SandSolveDef *solve, SandError *error);
// Applies --tolerance, --relative and --accuracy.
bool session_tolerance(const Options *options, SandSolveDef *solve, SandError *error);
const char *session_name(const Options *options); // of the scene or take
// Builds the planned scene and settles its bodies where they are to start settled, with a line of progress.
bool session_build(Session *session, SandError *error);
// Plans, builds the scene and creates the simulation.
Outcome session_open(Session *session, const Options *options, const char *label, SandError *error);
double session_seconds(const Session *session,
                       const Options *options); // s, length of the run: by --seconds, the take or the scene
int64_t session_steps(const Session *session, const Options *options); // of the whole run
// Saves the run so far as a take.
bool session_save_take(const Session *session, const Options *options, const char *path, SandError *error);
// Takes step `at` of `total`, counted from 0: applies the acts of a take that belong before it, logs it, shows progress.
bool session_step(Session *session, int64_t at, int64_t total, SandError *error);
// Closes the log and frees everything. Returns the outcome so far, or a failure of the log.
Outcome session_close(Session *session, Outcome outcome, SandError *error);

// Whether SIGINT (Ctrl-C) or SIGTERM came. A second one ends the program at once.
bool session_interrupted(void);
void session_watch(void); // installs the handlers; session_plan does so too

// Penetrations at the current positions, not at those that the last step began with. Finding them takes the contacts on the
// host: of more than SESSION_MOST_SEARCHED bodies they are the largest of the last step, and the others are NAN.
enum { SESSION_MOST_SEARCHED = 20000000 };
typedef struct Penetration {
    double largest;    // m
    double p99;        // m, 99th percentile of the penetrating contacts
    double all;        // m, 99th percentile of all contacts
    double bodies;     // m, largest between two bodies, boundaries excluded
    double boundaries; // m, largest into boundaries
    int contacts;      // within the contact envelope now
} Penetration;
bool session_penetration(Session *session, Penetration *penetration, SandError *error);

// Writes the keys that all reports share: what ran, and its state.
void session_write(const Session *session, const Penetration *penetration, Json *json);
double session_memory_mb(void); // peak resident memory
