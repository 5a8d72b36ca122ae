// SPDX-License-Identifier: MIT
// A take: a recorded run as a YAML file, with scene, settings, camera keys and every act with its step. Replayed, it gives
// the same bits.
#pragma once
#include <stdio.h>

#include "app/engine/acts.h"
#include "app/render/camera_path.h"
#include "app/engine/backends.h"
#include "sim/scene/yaml_file.h"

enum { TAKE_PATH = 4096 }; // bytes of a path, terminator included

typedef struct TakeKnob {
    char name[SAND_NAME];
    double value;
} TakeKnob;

typedef struct Take {
    char scene[TAKE_PATH];    // name or path
    SandSceneOptions options; // bodies, step, seed
    SandPrecision precision;
    Backend backend;                       // of the first step; BACKEND_AUTO: unspecified
    bool has_solve, has_gravity, has_hash; // false: as the scene says; no hash is known
    SandSolveDef solve;
    SandVec3 gravity; // m/s^2, at the start
    int knob_count;
    TakeKnob knobs[SAND_MAX_KNOBS];
    uint64_t steps;     // length; 0: as the scene says
    uint64_t hash;      // of the world after its last step
    uint64_t text_hash; // of the text of the file it was loaded from
    CameraPath views;
    ActLog acts;
    SandYaml file; // that it was loaded from, for error messages with line numbers
} Take;

bool take_is(const char *name); // whether a name on the command line is that of a take: it ends in .take

// An error is one line, `file:line: key: what was expected`. On failure there is nothing to free.
bool take_load(Take *take, const char *path, SandError *error);
bool take_save(const Take *take, const char *path, SandError *error); // atomically: whole or not at all
// Writes what the run starts from, a key on each line: the text of a take without camera, acts and end.
void take_write_start(const Take *take, FILE *file);
void take_free(Take *take);

// Fills a take from the start of a run, all but backend, steps, hash, views and acts. `opened` is the name or path that the
// scene was opened by.
void take_begin(Take *take, const char *opened, const SandScene *scene, double step, SandPrecision precision,
                const SandSolveDef *solve, SandVec3 gravity);

// Opens the scene of a loaded take with its knobs set, ready to be built.
bool take_open_scene(const Take *take, SandScene *scene, SandError *error);

// After the last step: false, with a sentence, when the state differs from that of the recorded run.
bool take_check(const Take *take, const SandWorld *world, SandError *error);

// Whether any of its solves has a budget in milliseconds: then no two replays are alike.
bool take_depends_on_clock(const Take *take);
