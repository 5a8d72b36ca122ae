// SPDX-License-Identifier: MIT
// The command line. One table of options makes the parser, the error sentences, and what manual.c prints.
#pragma once
#include "sandglass/error.h"
#include <stdio.h>

typedef enum Verb {
    VERB_RUN,
    VERB_BENCH,
    VERB_FREEZE,
    VERB_RECORD,
    VERB_EXPORT,
    VERB_RACE,
    VERB_CONVERGE,
    VERB_SWEEP,
    VERB_DEMO,
    VERB_LIST,
    VERB_HELP,
    VERB_COUNT
} Verb;

typedef enum OptionId {
    OPTION_SOLVER,
    OPTION_SET,
    OPTION_FRICTION,
    OPTION_BOUNDS,
    OPTION_FACETS,
    OPTION_ITERATIONS,
    OPTION_BUDGET_MS,
    OPTION_TOLERANCE,
    OPTION_RELATIVE,
    OPTION_ACCURACY,
    OPTION_ISLANDS,
    OPTION_BACKEND,
    OPTION_PRECISION,
    OPTION_THREADS,
    OPTION_BODIES,
    OPTION_STEP,
    OPTION_SEED,
    OPTION_START,
    OPTION_HEADLESS,
    OPTION_LOG,
    OPTION_PROBE,
    OPTION_PROBES,
    OPTION_CHECKPOINT,
    OPTION_CHECKPOINT_EVERY,
    OPTION_EXPORT,
    OPTION_EXPORT_COLUMNS,
    OPTION_EXPORT_CONTACTS,
    OPTION_EXPORT_RATE,
    OPTION_SECONDS,
    OPTION_FROM,
    OPTION_STEPS,
    OPTION_WARMUP,
    OPTION_DRAW,
    OPTION_AT,
    OPTION_SOLVERS,
    OPTION_BUDGETS,
    OPTION_REFERENCE,
    OPTION_CONVERGED,
    OPTION_COLD,
    OPTION_CSV,
    OPTION_PLOT,
    OPTION_SOLUTIONS,
    OPTION_GLOBAL,
    OPTION_LIMIT,
    OPTION_JOBS,
    OPTION_VARY,
    OPTION_SEEDS,
    OPTION_COLUMN,
    OPTION_TASK,
    OPTION_TASKS,
    OPTION_OUT,
    OPTION_FRAMES,
    OPTION_FPS,
    OPTION_SLOW,
    OPTION_SIZE,
    OPTION_MP4,
    OPTION_WEBM,
    OPTION_GIF,
    OPTION_SAMPLES,
    OPTION_ALPHA,
    OPTION_CAPTION,
    OPTION_CAMERA,
    OPTION_CAMERA_KEY,
    OPTION_TURNTABLE,
    OPTION_APERTURE,
    OPTION_FOCUS,
    OPTION_SHUTTER,
    OPTION_SUBFRAMES,
    OPTION_RESUME,
    OPTION_ROUNDS,
    OPTION_KIOSK,
    OPTION_COLOR,
    OPTION_COLORMAP,
    OPTION_RANGE,
    OPTION_CHAINS,
    OPTION_CHAIN_THRESHOLD,
    OPTION_CHAIN_SCALE,
    OPTION_CUT,
    OPTION_EXPOSURE,
    OPTION_QUALITY,
    OPTION_OVERLAY,
    OPTION_SHADOW,
    OPTION_BESIDE,
    OPTION_BESIDE_ITERATIONS,
    OPTION_BESIDE_FRICTION,
    OPTION_GRAVITY,
    OPTION_SPEED,
    OPTION_PAUSED,
    OPTION_PANEL,
    OPTION_FOLLOW,
    OPTION_TAKE,
    OPTION_UI_SCALE,
    OPTION_NONDETERMINISTIC,
    OPTION_JSON,
    OPTION_MARKDOWN,
    OPTION_HELP,
    OPTION_VERSION,
    OPTION_COUNT
} OptionId;

enum {
    OPTIONS_MAX_LIST = 64,    // --set, --probe, --vary and --camera-key may be given this many times
    OPTIONS_MAX_NUMBERS = 16, // in a list of numbers
};

typedef struct OptionValue {
    bool given;                          // on the command line; false: the default
    const char *text;                    // as written; NULL where there is neither a value nor a default
    double real;                         // of a list the first
    int64_t integer;                     // integers, flags and the index of a choice
    int width, height;                   // of a size
    double numbers[OPTIONS_MAX_NUMBERS]; // of a list
    int count;
} OptionValue;

typedef struct OptionList {
    const char *items[OPTIONS_MAX_LIST]; // as written
    int count;
} OptionList;

typedef struct Options {
    Verb verb;
    const char *subject; // a scene, a take, a file, or the topic of a list; NULL: not given
    OptionValue values[OPTION_COUNT];
    OptionList sets, probes, varied, camera_keys; // every --set, --probe, --vary and --camera-key
} Options;

int options_find_verb(const char *name); // Verb, or -1

// Parses the command line. False, with one sentence, when it is wrong.
bool options_parse(Options *options, int argc, char **argv, SandError *error);

// Gives one more option its value, as the command line would. False, with a sentence, when the value is wrong.
bool options_set(Options *options, OptionId id, const char *text, SandError *error);
// Checks across options; options_parse does so too.
bool options_check(const Options *options, SandError *error);
// Whether a run goes on from a checkpoint: --resume is given, and the file of --checkpoint is there.
bool options_resume(const Options *options);

// --- option_notes.c: what must be unchanged for a run to go on ---

// Writes a line `--name value` for every option that decides what a film shows, but not its length or destination: what must
// be unchanged for --resume.
void options_write_film(const Options *options, FILE *out);
// The same for a sweep: every option that decides what its runs compute, and which runs there are.
void options_write_sweep(const Options *options, FILE *out);
