// A scene that runs as the command line says: what run, bench and freeze share.
#pragma once
#include "app/io/json.h"
#include "app/cli/log.h"
#include "app/cli/options.h"
#include "app/cli/progress.h"
#include "sandglass/scene.h"
#include "sandglass/simulation.h"
#include "app/engine/take.h"

// Exit status of the program.
typedef enum Outcome { OUTCOME_DONE = 0, OUTCOME_FAILED = 1, OUTCOME_WRONG = 2 } Outcome;

typedef struct Session {
    SandScene scene;
    SandSimulationDef def;
    SandSimulation *sim;
    SandSolveDef solve; // in use now; def.solve is that of the start
    bool has_take;
    Take take;       // that is replayed
    int acts_done;   // of the take
    Backend backend; // as asked for
    Progress progress;
    Log log;
    bool has_gravity, has_shadow;
    SandVec3 gravity;    // m/s^2, that was asked for; once open, that of the start
    SandSolveDef shadow; // a second solver, for the window
    double begin;        // s, when the simulation stood ready
} Session;

// Opens the scene with every option applied, without building it: what a window's engine starts from. Whatever the
// outcome, session_close frees what there is.
Outcome session_plan(Session *session, const Options *options, SandError *error);
SandSceneOptions session_scene_options(const Options *options);
int session_threads(const Options *options); // as many as cores, unless the call says
// Solver, parameters, friction and budget: the scene's, unless the call says otherwise.
bool session_solve(const Options *options, const SandScene *scene, SandSolveDef *solve, SandError *error);
// The friction model as --friction, --bounds and --facets say; left alone where they do not.
bool session_model(const Options *options, SandSolveDef *solve, SandError *error);
const char *session_name(const Options *options); // of the scene or take
// The same, and makes the simulation.
Outcome session_open(Session *session, const Options *options, const char *label, SandError *error);
double session_seconds(const Session *session, const Options *options); // s, how long: as asked, as the take or the scene is
// Saves the run so far as a take.
bool session_save_take(const Session *session, const Options *options, const char *path, SandError *error);
// Takes a step, with the acts of a take that belong before it, logs it and shows the progress: step number `at` of `total`,
// from 0.
bool session_step(Session *session, int64_t at, int64_t total, SandError *error);
// Writes what is left of the log and frees everything. Returns the outcome so far, or a failure of the log.
Outcome session_close(Session *session, Outcome outcome, SandError *error);

// Whether the person pressed Ctrl-C (or the system asked to end). A second one ends the program at once.
bool session_interrupted(void);
void session_watch(void); // from now on that is noted, not obeyed at once; session_plan does it too

// Penetrations of the positions as they are now, not those the last step began with.
typedef struct Penetration {
    double largest; // m
    double p99;     // m, 99th percentile of the penetrating contacts
    double all;     // m, that of all contacts
    double bodies;  // m, largest between two bodies, boundaries left out
    int contacts;   // now within the envelope
} Penetration;
bool session_penetration(Session *session, Penetration *penetration, SandError *error);

// The keys that every report has in common: what ran, and how it stands.
void session_write(const Session *session, const Penetration *penetration, Json *json);
double session_memory_mb(void); // most memory the program has held
