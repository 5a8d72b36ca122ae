// A take: a file with scene, settings, camera keys and every act with its step. Replayed, it gives the same bits.
#pragma once
#include "app/engine/acts.h"
#include "app/render/camera_path.h"
#include "app/engine/backends.h"
#include "sim/scene/yaml_file.h"

enum { TAKE_PATH = 4096 }; // bytes of a path, with its end

typedef struct TakeKnob {
    char name[SAND_NAME];
    double value;
} TakeKnob;

typedef struct Take {
    char scene[TAKE_PATH];    // name or path
    SandSceneOptions options; // bodies, step, seed
    SandPrecision precision;
    Backend backend;                       // machine of the first step; BACKEND_AUTO: not said
    bool has_solve, has_gravity, has_hash; // else the scene's; the hash is not known
    SandSolveDef solve;
    SandVec3 gravity; // m/s^2, at the start
    int knob_count;
    TakeKnob knobs[SAND_MAX_KNOBS];
    uint64_t steps;     // how long it is; 0: as the scene says
    uint64_t hash;      // of the world after its last step
    uint64_t text_hash; // of the file it was loaded from
    CameraPath views;
    ActLog acts;
    SandYaml file; // that it was loaded from, for messages
} Take;

bool take_is(const char *name); // whether a person who names this means a take: it ends in .take

// What is wrong with a file is told in one line: `file:line: key: what was expected`. False leaves nothing to free.
bool take_load(Take *take, const char *path, SandError *error);
bool take_save(const Take *take, const char *path, SandError *error); // whole or not at all
void take_free(Take *take);

// The start of a run as a take: fills all but backend, steps, hash, views and acts. `opened` is the name or path it was
// opened by.
void take_begin(Take *take, const char *opened, const SandScene *scene, double step, SandPrecision precision,
                const SandSolveDef *solve, SandVec3 gravity);

// Opens the scene of a take that was loaded with its knobs turned, ready to be built.
bool take_open_scene(const Take *take, SandScene *scene, SandError *error);

// Says in a sentence, once the last step is taken, when the run ended otherwise than when the take was made.
bool take_check(const Take *take, const SandWorld *world, SandError *error);

// Whether any of its solves is limited by the clock: no two replays are alike then.
bool take_depends_on_clock(const Take *take);
