// SPDX-License-Identifier: MIT
// The tables of verbs and options, and the parser and the error sentences made from them. A new option is one row.
#include "app/cli/options/endings.h"
#include "app/cli/options/option_table.h"

#include "app/engine/backends.h"
#include "sim/core/array.h"
#include "sim/core/suggestion.h"

#include "sandglass/scene.h"
#include "sandglass/solver.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const VerbRow verb_table[VERB_COUNT] = {
    [VERB_RUN] = {"run", "[SCENE | TAKE]", false,
                  "the default verb: open a window on the scene, or on the hourglass where none is named; without a display "
                  "or with --headless film it; with --json, --log or --probes print figures",
                  "sandglass rubble --bodies 2000"},
    [VERB_BENCH] = {"bench", "SCENE | TAKE", true,
                    "measure the time of each stage of a step, bytes and the real-time factor",
                    "sandglass bench cylinder --bodies 4000 --threads 1 --json"},
    [VERB_FREEZE] = {"freeze", "SCENE | TAKE", true, "save the contact problem of one step to a file",
                     "sandglass freeze cylinder --at 2 --out cylinder.sand"},
    [VERB_RECORD] = {"record", "SCENE | TAKE", true, "film a scene, off-screen and in lock step with simulated time",
                     "sandglass record hourglass --bodies 3000 --seconds 10 --mp4 hourglass.mp4"},
    [VERB_EXPORT] = {"export", "SCENE | TAKE", true,
                     "compute a scene and write bodies and contacts over time, for ParaView, OVITO or a table",
                     "sandglass export hopper --seconds 5 --export-contacts --out hopper.pvd"},
    [VERB_RACE] =
        {"race", "SCENE|FILE|FOLDER", true,
         "run solvers on the contact problem of one step, of a scene or of a file, or on all problems of a folder, "
         "and compare them",
         "sandglass race cylinder --bodies 1000 --at 2 --solvers p-spg-fb,gauss-seidel,ipm-soc --plot race.png"},
    [VERB_CONVERGE] = {"converge", "SCENE", true,
                       "measure what budgets of iterations leave unsolved, solver by solver: on the contact problems of "
                       "some steps, and in "
                       "the running simulation",
                       "sandglass converge hourglass --bodies 3000 --at 1,2 --solvers p-spg-fb,apgd --csv converge.csv"},
    [VERB_SWEEP] =
        {"sweep", "SCENE", true,
         "run a scene for every value of a grid of knobs, parameters and options, a process for each run, and keep "
         "a table of what came out; the same call goes on after an interruption",
         "sandglass sweep incline --vary mu=0.1:0.9:9 --vary steeper=0,10 --seconds 1 --out slope"},
    [VERB_DEMO] =
        {"demo", "[FILE]", false,
         "show scenes in turn with captions and a slow camera, as a playlist says, until the window is closed; any "
         "touch takes over; without a display or with --headless film it",
         "sandglass demo --headless --seconds 5 --mp4 demo.mp4"},
    [VERB_LIST] = {"list", "scenes|solvers|friction|backends|formats|columns", true, "say what there is to choose from",
                   "sandglass list solvers --json"},
    [VERB_HELP] = {"help", "[VERB|man|bash|zsh|fish]", false,
                   "print the options of a verb, the manual page, or the completion of a shell", "sandglass help record"},
};

#define RUN (1u << VERB_RUN)
#define BENCH (1u << VERB_BENCH)
#define FREEZE (1u << VERB_FREEZE)
#define LIST (1u << VERB_LIST)
#define HELP (1u << VERB_HELP)
#define RECORD (1u << VERB_RECORD)
#define EXPORT (1u << VERB_EXPORT)
#define RACE (1u << VERB_RACE)
#define CONVERGE (1u << VERB_CONVERGE)
#define SWEEP (1u << VERB_SWEEP)
#define DEMO (1u << VERB_DEMO)
#define LOGGED (RUN | BENCH | FREEZE | RECORD | EXPORT | RACE) // one run of a scene
#define SCENE (LOGGED | CONVERGE | SWEEP)
#define REPORT (RUN | BENCH | FREEZE | EXPORT | RACE)
#define EXPORTS (RUN | BENCH | RECORD | EXPORT)

static const char *const bounds_names[] = {"presolve", "outside", "inside", NULL}; // in the order of SandBounds
static const char *const start_names[] = {"lattice", "settled", NULL};             // of SandStart, without its first
static const char *const precision_names[] = {"float", "double", NULL};
static const char *const color_names[] = {"body",  "speed",    "contacts",
                                          "force", "residual", NULL}; // in the order of RenderColor
static const char *const map_names[] = {"viridis", "cividis", NULL};  // of ColorMap
static const char *const switch_names[] = {"on", "off", NULL};
static const char *const quality_names[] = {"low", "medium", "high", NULL}; // of RendererQuality

const OptionRow option_table[OPTION_COUNT] = {
    [OPTION_SOLVER] = {"solver", KIND_TEXT, SCENE, "NAME", NULL, 0, 0, "contact solver; see `sandglass list solvers`", NULL},
    [OPTION_SET] = {"set", KIND_PAIR, SCENE, "KEY=VALUE", NULL, 0, 0,
                    "a parameter of the solver or a knob of the scene; may be given again", NULL},
    [OPTION_FRICTION] = {"friction", KIND_TEXT, SCENE, "MODEL", NULL, 0, 0, "friction model; see `sandglass list friction`",
                         NULL},
    [OPTION_BOUNDS] = {"bounds", KIND_CHOICE, SCENE, NULL, "presolve", 0, 0,
                       "where the bounds of box, prism and cylinder come from", bounds_names},
    [OPTION_FACETS] = {"facets", KIND_INTEGER, SCENE, "N", "8", 4, SAND_MAX_FACETS,
                       "facets of the friction models polyhedral and prism; an even number", NULL},
    [OPTION_ITERATIONS] = {"iterations", KIND_INTEGER, SCENE, "N", NULL, 1, 1e6,
                           "budget of a solve: products with the contact operator", NULL},
    [OPTION_BUDGET_MS] = {"budget-ms", KIND_ABOVE, SCENE, "X", NULL, 0, 1e6,
                          "budget of a solve in milliseconds, in place of --iterations", NULL},
    [OPTION_TOLERANCE] = {"tolerance", KIND_REAL, SCENE, "X", NULL, 0, 1e6,
                          "m/s; a solve stops when its residual is at most X (default: the scene's)", NULL},
    [OPTION_RELATIVE] =
        {"relative", KIND_FLAG, SCENE, NULL, NULL, 0, 0,
         "--tolerance limits the relative residual, which has no dimension and is at least the error that Siconos reports",
         NULL},
    [OPTION_ACCURACY] = {"accuracy", KIND_ABOVE, SCENE | DEMO, "P", NULL, 0, SAND_MOST_ACCURACY,
                         "percent; a solve stops when this share of the step is solved, or when its budget is used up "
                         "(default: the scene's)",
                         NULL},
    [OPTION_ISLANDS] = {"islands", KIND_INTEGER, SCENE, "N", NULL, 0, 1e6,
                        "solve islands of up to N contacts directly: parts whose bodies touch nothing else that moves "
                        "(default: the scene's)",
                        NULL},
    [OPTION_BACKEND] = {"backend", KIND_CHOICE, SCENE | DEMO, NULL, "auto", 0, 0,
                        "where to compute: the CPU, a GPU, or the ranks of mpirun on CPUs or GPUs", backend_names},
    [OPTION_PRECISION] = {"precision", KIND_CHOICE, SCENE | DEMO, NULL, "float", 0, 0,
                          "precision of the solver; race: double unless it is given", precision_names},
    [OPTION_THREADS] = {"threads", KIND_INTEGER, SCENE | DEMO, "N", NULL, 1, SAND_MAX_THREADS,
                        "threads (default: one for each core); sweep: threads of each run (default: 1)", NULL},
    [OPTION_BODIES] = {"bodies", KIND_INTEGER, SCENE, "N", NULL, 1, SAND_MAX_BODIES,
                       "number of bodies (default: the scene's)", NULL},
    [OPTION_STEP] = {"step", KIND_ABOVE, SCENE, "H", NULL, 0, 1, "time step in seconds (default: the scene's)", NULL},
    [OPTION_SEED] = {"seed", KIND_INTEGER, SCENE, "N", NULL, 0, 9007199254740992.0,
                     "seed of what is random (default: the scene's)", NULL},
    [OPTION_START] = {"start", KIND_CHOICE, SCENE | DEMO, NULL, NULL, 0, 0,
                      "where the bodies of fills start: on their lattice, or settled, which is computed once and kept "
                      "(default: the scene's)",
                      start_names},
    [OPTION_HEADLESS] = {"headless", KIND_FLAG, RUN | DEMO, NULL, NULL, 0, 0,
                         "run without a window: film the scene, or print figures with --json, --log or --probes", NULL},
    [OPTION_LOG] = {"log", KIND_TEXT, LOGGED, "FILE.csv", NULL, 0, 0, "write a line of figures for each step", NULL},
    [OPTION_PROBE] = {"probe", KIND_TEXT, LOGGED | SWEEP, "PROBE", NULL, 0, 0,
                      "measure inside the run, \"NAME KIND KEY=VALUE ...\" as under `probes` of a scene; may be given again",
                      NULL},
    [OPTION_PROBES] = {"probes", KIND_TEXT, LOGGED, "FOLDER", NULL, 0, 0, "write a file NAME.csv for each probe there",
                       NULL},
    [OPTION_CHECKPOINT] = {"checkpoint", KIND_TEXT, RUN | EXPORT, "FILE", NULL, 0, 0,
                           "write the state to this file now and then, for --resume; computes without a window", NULL},
    [OPTION_CHECKPOINT_EVERY] = {"checkpoint-every", KIND_TEXT, RUN | EXPORT, "N|Ss", "60s", 0, 0,
                                 "steps between two checkpoints, or seconds of the clock as in 60s", NULL},
    [OPTION_EXPORT] =
        {"export", KIND_TEXT, RUN | BENCH | RECORD, "FILE", NULL, 0, 0,
         "write bodies over time to this file: .vtkhdf or .pvd for ParaView, .gsd for OVITO, .usda for renderers, .csv for "
         "everything else; run: computes "
         "without a window",
         NULL},
    [OPTION_EXPORT_COLUMNS] = {"export-columns", KIND_TEXT, EXPORTS, "A,B", NULL, 0, 0,
                               "what is exported, by name; see `sandglass list columns`", NULL},
    [OPTION_EXPORT_CONTACTS] = {"export-contacts", KIND_FLAG, EXPORTS, NULL, NULL, 0, 0, "export contacts as well", NULL},
    [OPTION_EXPORT_RATE] = {"export-rate", KIND_ABOVE, EXPORTS, "HZ", "30", 0, 1e9,
                            "frames that are exported for each simulated second; one for each step at most", NULL},
    [OPTION_SECONDS] = {"seconds", KIND_ABOVE, RUN | EXPORT | RECORD | DEMO | CONVERGE | SWEEP, "S", NULL, 0, 1e9,
                        "simulated time to run (default: the scene's); demo: time that each scene is shown (default: the "
                        "playlist's); converge: "
                        "simulated time of each run with a solver and a budget (default: no runs)",
                        NULL},
    [OPTION_FROM] = {"from", KIND_REAL, CONVERGE, "S", NULL, 0, 1e9,
                     "time from which the loss of potential energy is counted (default: half of --seconds)", NULL},
    [OPTION_STEPS] = {"steps", KIND_INTEGER, BENCH, "N", "100", 1, 1e9, "steps to measure", NULL},
    [OPTION_WARMUP] = {"warmup", KIND_INTEGER, BENCH, "N", "20", 0, 1e9, "steps to take before measuring", NULL},
    [OPTION_DRAW] = {"draw", KIND_FLAG, BENCH, NULL, NULL, 0, 0, "draw a picture of each step that is measured", NULL},
    [OPTION_AT] = {"at", KIND_REALS, FREEZE | RACE | CONVERGE, "SECONDS", NULL, 0, 1e9,
                   "simulated time of the step whose contact problem is taken; freeze, race: required with a scene; "
                   "converge: one or more, "
                   "as in 1,2",
                   NULL},
    [OPTION_SOLVERS] = {"solvers", KIND_TEXT, RACE | FREEZE | CONVERGE, "A,B|all", "all", 0, 0,
                        "solvers to run, in this order; freeze: those of --solutions; converge: p-spg-fb, apgd, "
                        "gauss-seidel and jacobi unless it is given",
                        NULL},
    [OPTION_BUDGETS] = {"budgets", KIND_INTEGERS, CONVERGE, "N,N", "20,50,140,400,1000", 1, 1e6,
                        "budgets that each solver gets, in products with the contact operator", NULL},
    [OPTION_REFERENCE] = {"reference", KIND_INTEGER, CONVERGE, "N", "20000", 1, 1e7,
                          "most products of the solve, by p-apgd, that the gap of a frozen problem is measured from", NULL},
    [OPTION_CONVERGED] = {"converged", KIND_INTEGER, CONVERGE, "N", "2000", 1, 1e6,
                          "budget of a step in the run, by p-apgd, that the others are compared with", NULL},
    [OPTION_COLD] = {"cold", KIND_FLAG, RACE, NULL, NULL, 0, 0,
                     "every solver starts from zero impulses, not from those of the last step", NULL},
    [OPTION_CSV] = {"csv", KIND_TEXT, RACE | CONVERGE, "FILE", NULL, 0, 0,
                    "write every point of every curve; race FOLDER: file of results; converge: every row", NULL},
    [OPTION_PLOT] = {"plot", KIND_TEXT, RACE | CONVERGE | SWEEP, "FILE.png", NULL, 0, 0,
                     "draw the curves as a picture; race FOLDER: the profiles, PNG, SVG or CSV; converge: the share of the "
                     "gap against products, likewise; sweep: --column against the first number that varies, likewise",
                     NULL},
    [OPTION_SOLUTIONS] = {"solutions", KIND_TEXT, RACE | FREEZE, "FOLDER", NULL, 0, 0,
                          "write the solution of each solver as HDF5 in FCLIB's layout, as CSV and for ParaView", NULL},
    [OPTION_GLOBAL] = {"global", KIND_FLAG, RACE | FREEZE, NULL, NULL, 0, 0,
                       "write FCLIB's global form (M, H, f, w) in place of the local one (W, q)", NULL},
    [OPTION_LIMIT] = {"limit", KIND_ABOVE, RACE, "SECONDS", "10", 0, 1e6, "race FOLDER: most time of one solve", NULL},
    [OPTION_JOBS] = {"jobs", KIND_INTEGER, RACE | SWEEP, "N", NULL, 1, 256,
                     "race FOLDER: solves at once, a process each; sweep: runs at once (default: one for each core)", NULL},
    [OPTION_VARY] = {"vary", KIND_PAIR, SWEEP, "NAME=VALUES", NULL, 0, 0,
                     "values of a knob of the scene, a parameter of the solver or an option of run: FROM:TO:COUNT, or A,B,C "
                     "(A;B;C where a value has commas); may be given again",
                     NULL},
    [OPTION_SEEDS] = {"seeds", KIND_INTEGER, SWEEP, "N", NULL, 1, 1e5, "run each point with the seeds 1 to N", NULL},
    [OPTION_COLUMN] = {"column", KIND_TEXT, SWEEP, "NAME", NULL, 0, 0, "column of the table that --plot draws", NULL},
    [OPTION_TASK] = {"task", KIND_INTEGER, SWEEP, "I", NULL, 1, 1e5,
                     "take run I alone, counted from 1: for the array jobs of a batch system", NULL},
    [OPTION_TASKS] = {"tasks", KIND_FLAG, SWEEP, NULL, NULL, 0, 0, "print how many runs there are, and take none", NULL},
    [OPTION_OUT] =
        {"out", KIND_TEXT, FREEZE | EXPORT | RECORD | SWEEP | DEMO, "PATH", NULL, 0, 0,
         "freeze: file to write, required; FCLIB's HDF5 where it ends in .hdf5; export: file to write, as for --export; "
         "record, demo: folder for PNG frames; sweep: folder of the table and the runs, required",
         NULL},
    [OPTION_FRAMES] = {"frames", KIND_INTEGER, RECORD, "N", NULL, 1, 1e7, "frames to film, in place of --seconds", NULL},
    [OPTION_FPS] =
        {"fps", KIND_ABOVE, RECORD | BENCH | DEMO, "F", "60", 0, 10000,
         "frames for each second of the film; bench --draw: for each simulated second, one for each step unless given",
         NULL},
    [OPTION_SLOW] = {"slow", KIND_ABOVE, RUN | RECORD, "X", "1", 0, 1000,
                     "the film shows everything X times slower than it happens; below 1 faster", NULL},
    [OPTION_SIZE] = {"size", KIND_SIZE, RUN | RECORD | BENCH | DEMO, "WxH", "1920x1080", 16, 16384,
                     "size of the picture in pixels; a window's is 1280x720 at first", NULL},
    [OPTION_MP4] = {"mp4", KIND_TEXT, RECORD | DEMO, "FILE", NULL, 0, 0, "film as H.264, by ffmpeg", NULL},
    [OPTION_WEBM] = {"webm", KIND_TEXT, RECORD | DEMO, "FILE", NULL, 0, 0, "film as VP9, by ffmpeg", NULL},
    [OPTION_GIF] = {"gif", KIND_TEXT, RECORD | DEMO, "FILE", NULL, 0, 0, "film as GIF, by ffmpeg; --fps 50 at most", NULL},
    [OPTION_SAMPLES] = {"samples", KIND_INTEGER, RECORD | DEMO, "N", "4", 1, 16, "samples of a pixel: 1, 4, 9 or 16", NULL},
    [OPTION_ALPHA] = {"alpha", KIND_FLAG, RECORD, NULL, NULL, 0, 0, "no ground and no sky: a transparent picture", NULL},
    [OPTION_CAPTION] = {"caption", KIND_TEXT, RECORD, "TEXT", NULL, 0, 0, "caption along the lower edge", NULL},
    [OPTION_CAMERA] = {"camera", KIND_TEXT, RUN | RECORD, "NAME", "default", 0, 0,
                       "default, front, side, back, top, low, high, plan, elevation, corner, or x,y,z,tx,ty,tz", NULL},
    [OPTION_CAMERA_KEY] = {"camera-key", KIND_PAIR, RECORD, "SECONDS=VIEW", NULL, 0, 0,
                           "a view as for --camera at this time, interpolated smoothly; may be given again", NULL},
    [OPTION_TURNTABLE] = {"turntable", KIND_ABOVE, RECORD, "SECONDS", NULL, 0, 1e6,
                          "the camera goes round the scene, once in this time of the film", NULL},
    [OPTION_APERTURE] = {"aperture", KIND_ABOVE, RECORD, "X", NULL, 0, 1,
                         "depth of field: width of the lens, as a share of the distance in focus; 0.03 is soft", NULL},
    [OPTION_FOCUS] = {"focus", KIND_TEXT, RECORD, "D|X,Y,Z", NULL, 0, 0,
                      "distance from the camera, or point, that is in focus (default: what the camera looks at)", NULL},
    [OPTION_SHUTTER] = {"shutter", KIND_ABOVE, RECORD, "X", NULL, 0, 1,
                        "motion blur: share of the time between two frames that the shutter is open; 0.5 as in a cinema",
                        NULL},
    [OPTION_SUBFRAMES] = {"subframes", KIND_INTEGER, RECORD, "N", "16", 2, 1024,
                          "pictures that make a frame with --aperture or --shutter; fewer are grainy", NULL},
    [OPTION_RESUME] =
        {"resume", KIND_FLAG, RUN | EXPORT | RECORD, NULL, NULL, 0, 0,
         "run, export: go on from the state in the file of --checkpoint, where there is one; record: after the last "
         "whole frame that --out has already",
         NULL},
    [OPTION_ROUNDS] = {"rounds", KIND_INTEGER, DEMO, "N", NULL, 1, 1e6,
                       "how often the playlist is shown (default: without end; in a film once)", NULL},
    [OPTION_KIOSK] =
        {"kiosk", KIND_FLAG, DEMO, NULL, NULL, 0, 0,
         "nobody watches over the screen: visitors throw balls and no more, the window cannot be closed, and the "
         "program is started anew where it ends or stands still; a signal ends it",
         NULL},
    [OPTION_COLOR] = {"color", KIND_CHOICE, RUN | RECORD, NULL, "body", 0, 0, "what the bodies' color shows", color_names},
    [OPTION_COLORMAP] = {"colormap", KIND_CHOICE, RUN | RECORD, NULL, "viridis", 0, 0, "color map", map_names},
    [OPTION_RANGE] = {"range", KIND_TEXT, RUN | RECORD, "LOW,HIGH|fit", NULL, 0, 0,
                      "values at the ends of the color map; fit: chosen for each picture (default: the scene's)", NULL},
    [OPTION_CHAINS] = {"chains", KIND_FLAG, RUN | RECORD, NULL, NULL, 0, 0,
                       "draw the force chains: every contact as a tube, as thick as its normal force is strong", NULL},
    [OPTION_CHAIN_THRESHOLD] = {"chain-threshold", KIND_TEXT, RUN | RECORD, "X|XN", "0.01", 0, 0,
                                "leave out weaker contacts: a share of the thickest chain's force, or newtons as in 20N",
                                NULL},
    [OPTION_CHAIN_SCALE] = {"chain-scale", KIND_ABOVE, RUN | RECORD, "X", "1", 0, 100, "factor of the chains' thickness",
                            NULL},
    [OPTION_CUT] = {"cut", KIND_TEXT, RUN | RECORD, "X,Y,Z,D", NULL, 0, 0,
                    "hide the bodies and chains where X x + Y y + Z z is more than D", NULL},
    [OPTION_EXPOSURE] = {"exposure", KIND_ABOVE, RUN | RECORD | DEMO, "X", "1", 0, 100,
                         "brightness of the picture, times that of the scene", NULL},
    [OPTION_QUALITY] = {"quality", KIND_CHOICE, RUN | RECORD | BENCH | DEMO, NULL, "high", 0, 0,
                        "quality of shadows and ambient light", quality_names},
    [OPTION_OVERLAY] = {"overlay", KIND_TEXT, RUN | RECORD, "LIST", NULL, 0, 0,
                        "in the picture: clock,legend,residual or some of them", NULL},
    [OPTION_SHADOW] = {"shadow", KIND_TEXT, RUN, "NAME", NULL, 0, 0,
                       "a second solver whose residual is shown beside the first's, in the window", NULL},
    [OPTION_BESIDE] = {"beside", KIND_TEXT, RUN | RECORD, "NAME", NULL, 0, 0,
                       "the same scene once more, beside the first, with this solver", NULL},
    [OPTION_BESIDE_ITERATIONS] = {"beside-iterations", KIND_INTEGER, RUN | RECORD, "N", NULL, 1, 1e6,
                                  "the same scene once more, with this budget of a solve", NULL},
    [OPTION_BESIDE_FRICTION] = {"beside-friction", KIND_TEXT, RUN | RECORD, "MODEL", NULL, 0, 0,
                                "the same scene once more, with this friction model", NULL},
    [OPTION_GRAVITY] = {"gravity", KIND_TEXT, SCENE, "X,Y,Z", NULL, 0, 0, "m/s^2 (default: the scene's)", NULL},
    [OPTION_SPEED] = {"speed", KIND_ABOVE, RUN, "X", NULL, 0, 1000,
                      "simulated seconds for each second of the clock, in the window (default: 1)", NULL},
    [OPTION_PAUSED] = {"paused", KIND_FLAG, RUN, NULL, NULL, 0, 0, "the window waits at the start", NULL},
    [OPTION_PANEL] = {"panel", KIND_CHOICE, RUN, NULL, NULL, 0, 0,
                      "the panel of the window, at the start of this run (default: as it was left)", switch_names},
    [OPTION_FOLLOW] = {"follow", KIND_CHOICE, RUN | RECORD, NULL, "on", 0, 0,
                       "the camera follows the body that the scene names, unless it has keys", switch_names},
    [OPTION_TAKE] = {"take", KIND_TEXT, RUN, "FILE.take", NULL, 0, 0,
                     "save the run as a take at its end: scene, settings, camera keys and every act", NULL},
    [OPTION_UI_SCALE] = {"ui-scale", KIND_REAL, RUN | DEMO, "S", NULL, 0.5, 8,
                         "size of the panel's text and widgets (default: the display's)", NULL},
    [OPTION_NONDETERMINISTIC] = {"nondeterministic", KIND_FLAG, RECORD, NULL, NULL, 0, 0,
                                 "allow --budget-ms, with which no two films are alike", NULL},
    [OPTION_JSON] = {"json", KIND_FLAG, REPORT | LIST, NULL, NULL, 0, 0, "one JSON object on standard output", NULL},
    [OPTION_MARKDOWN] = {"markdown", KIND_FLAG, LIST, NULL, NULL, 0, 0, "the table of docs/solvers.md (solvers only)", NULL},
    [OPTION_HELP] = {"help", KIND_FLAG, SCENE | LIST | HELP | DEMO, NULL, NULL, 0, 0, "show this help", NULL},
    [OPTION_VERSION] = {"version", KIND_FLAG, SCENE | LIST | HELP | DEMO, NULL, NULL, 0, 0, "show the version", NULL},
};

const char *option_value_text(const OptionRow *row, char *text, size_t size) {
    if (row->kind != KIND_CHOICE) return row->value ? row->value : "";
    size_t used = 0;
    for (int i = 0; row->choices[i] && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? "|" : "", row->choices[i]);
    return text;
}

// Parses a finite number that fills the whole text.
static bool read_number(const char *text, double *number) {
    char *end;
    errno = 0;
    *number = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*number);
}

// Parses a number within the limits of the row.
static bool read_limited(const OptionRow *row, const char *text, double *number, SandError *error) {
    bool whole = row->kind == KIND_INTEGER || row->kind == KIND_INTEGERS;
    if (!read_number(text, number)) return sand_fail(error, "--%s %s: expected a number", row->name, text);
    if (whole && *number != floor(*number)) return sand_fail(error, "--%s %s: expected a whole number", row->name, text);
    bool low = row->kind == KIND_ABOVE ? *number <= row->least : *number < row->least;
    if (!low && *number <= row->most) return true;
    return sand_fail(error, "--%s %s: expected %s %.16g and at most %.16g", row->name, text,
                     row->kind == KIND_ABOVE ? "above" : "at least", row->least, row->most);
}

// Parses `1,2,5`.
static bool read_list(const OptionRow *row, const char *text, OptionValue *value, SandError *error) {
    value->count = 0;
    for (const char *word = text; word;) {
        size_t length = strcspn(word, ",");
        char one[32];
        snprintf(one, sizeof one, "%.*s", (int)length, word);
        if (value->count == OPTIONS_MAX_NUMBERS)
            return sand_fail(error, "--%s: more than %d numbers", row->name, OPTIONS_MAX_NUMBERS);
        double *number = &value->numbers[value->count];
        if (!length) return sand_fail(error, "--%s %.100s: expected numbers with commas between them", row->name, text);
        if (!read_limited(row, one, number, error)) return false;
        if (value->count++ && number[0] <= number[-1])
            return sand_fail(error, "--%s %.100s: expected numbers that rise", row->name, text);
        word = word[length] ? word + length + 1 : NULL;
    }
    value->real = value->numbers[0];
    return true;
}

// Parses `1920x1080`.
static bool read_size(const OptionRow *row, const char *text, OptionValue *value, SandError *error) {
    char rest;
    double wide, high;
    bool read = sscanf(text, "%lfx%lf%c", &wide, &high, &rest) == 2 && wide == floor(wide) && high == floor(high);
    if (!read || wide < row->least || high < row->least || wide > row->most || high > row->most)
        return sand_fail(error, "--%s %.60s: expected WIDTHxHEIGHT, from %gx%g to %gx%g", row->name, text, row->least,
                         row->least, row->most, row->most);
    value->width = (int)wide;
    value->height = (int)high;
    return true;
}

static bool refuse_choice(const OptionRow *row, const char *text, SandError *error) {
    char expected[64];
    SandSuggestion names = sand_suggestion(text);
    for (int i = 0; row->choices[i]; i++) sand_suggestion_add(&names, row->choices[i]);
    return sand_fail(error, "--%s %.60s: expected %s%s", row->name, text, option_value_text(row, expected, sizeof expected),
                     sand_suggestion_hint(&names));
}

// Parses the value according to its kind, with range checks.
static bool read_value(const OptionRow *row, const char *text, OptionValue *value, SandError *error) {
    value->text = text;
    switch (row->kind) {
    case KIND_FLAG: value->integer = 1; return true;
    case KIND_TEXT:
        if (!*text) return sand_fail(error, "--%s needs a value: %s", row->name, row->value);
        return true;
    case KIND_PAIR: {
        const char *equals = strchr(text, '=');
        if (!equals || equals == text || !equals[1])
            return sand_fail(error, "--%s %s: expected %s", row->name, text, row->value);
        return true;
    }
    case KIND_CHOICE:
        for (int i = 0; row->choices[i]; i++) {
            value->integer = i;
            if (strcmp(row->choices[i], text) == 0) return true;
        }
        return refuse_choice(row, text, error);
    case KIND_SIZE: return read_size(row, text, value, error);
    case KIND_INTEGERS:
    case KIND_REALS: return read_list(row, text, value, error);
    case KIND_INTEGER:
    case KIND_REAL:
    case KIND_ABOVE: break;
    }
    if (!read_limited(row, text, &value->real, error)) return false;
    if (row->kind == KIND_INTEGER) value->integer = (int64_t)value->real;
    return true;
}

int options_find_verb(const char *name) {
    for (int v = 0; v < VERB_COUNT; v++)
        if (strcmp(verb_table[v].name, name) == 0) return v;
    return -1;
}

int option_find(const char *name, size_t length) {
    for (int i = 0; i < OPTION_COUNT; i++)
        if (strlen(option_table[i].name) == length && memcmp(option_table[i].name, name, length) == 0) return i;
    return -1;
}

static bool refuse_option(const Options *options, const char *word, size_t length, SandError *error) {
    const char *verb = verb_table[options->verb].name;
    char name[SAND_NAME];
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    SandSuggestion names = sand_suggestion(name + strspn(name, "-"));
    for (int i = 0; i < OPTION_COUNT; i++)
        if (option_table[i].verbs & 1u << options->verb) sand_suggestion_add(&names, option_table[i].name);
    const char *nearest = sand_suggestion_nearest(&names);
    if (nearest) return sand_fail(error, "%s is not an option of %s; did you mean --%s?", name, verb, nearest);
    return sand_fail(error, "%s is not an option; `sandglass help %s` names them", name, verb);
}

// The list of an option that may be given again, else NULL.
static OptionList *option_list(Options *options, int id) {
    if (id == OPTION_SET) return &options->sets;
    if (id == OPTION_PROBE) return &options->probes;
    if (id == OPTION_VARY) return &options->varied;
    return id == OPTION_CAMERA_KEY ? &options->camera_keys : NULL;
}

bool options_set(Options *options, OptionId id, const char *text, SandError *error) {
    options->values[id].given = true;
    return read_value(&option_table[id], text, &options->values[id], error);
}

// Parses the option at argv[*at]; advances *at past a separate value.
static bool read_option(Options *options, int argc, char **argv, int *at, SandError *error) {
    const char *verb = verb_table[options->verb].name;
    const char *word = argv[*at];
    if (strcmp(word, "-h") == 0) word = "--help";
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : strlen(word);
    int id = word[1] == '-' ? option_find(word + 2, length - 2) : -1;
    if (id < 0) return refuse_option(options, word, length, error);
    const OptionRow *row = &option_table[id];
    if (!(row->verbs & 1u << options->verb))
        return sand_fail(error, "--%s is not an option of %s; `sandglass help %s` names them", row->name, verb, verb);

    const char *text = "";
    if (row->kind == KIND_FLAG) {
        if (equals) return sand_fail(error, "--%s takes no value", row->name);
    } else if (equals) {
        text = equals + 1;
    } else {
        // A word that starts with two dashes is the next option, not a value.
        if (*at + 1 >= argc || strncmp(argv[*at + 1], "--", 2) == 0) {
            char value[64];
            return sand_fail(error, "--%s needs a value: %s", row->name, option_value_text(row, value, sizeof value));
        }
        text = argv[++*at];
    }

    if (!options_set(options, (OptionId)id, text, error)) return false;
    OptionList *list = option_list(options, id);
    if (!list) return true;
    if (list->count == OPTIONS_MAX_LIST)
        return sand_fail(error, "--%s is given more than %d times", row->name, OPTIONS_MAX_LIST);
    list->items[list->count++] = text;
    return true;
}

bool options_check(const Options *options, SandError *error) {
    const OptionValue *values = options->values;
    const VerbRow *verb = &verb_table[options->verb];
    if (values[OPTION_HELP].given || values[OPTION_VERSION].given) return true;
    if (verb->needs_subject && !options->subject)
        return sand_fail(error, "%s needs %s; for example `%s`", verb->name, verb->subject, verb->example);
    if (values[OPTION_ITERATIONS].given && values[OPTION_BUDGET_MS].given)
        return sand_fail(error, "--iterations and --budget-ms are two budgets; give one of them");
    if (values[OPTION_FRAMES].given && values[OPTION_SECONDS].given)
        return sand_fail(error, "--frames and --seconds are two lengths; give one of them");
    if (values[OPTION_AT].count > 1 && options->verb != VERB_CONVERGE)
        return sand_fail(error, "--at %.100s: %s takes one time", values[OPTION_AT].text, verb->name);
    if (options->verb == VERB_CONVERGE && !values[OPTION_AT].given && !values[OPTION_SECONDS].given)
        return sand_fail(error, "converge needs --at SECONDS for frozen problems, --seconds S for runs, or both");
    if (values[OPTION_FROM].given && !(values[OPTION_FROM].real < values[OPTION_SECONDS].real))
        return sand_fail(error, "--from %s: expected a time before the end that --seconds S gives",
                         values[OPTION_FROM].text);
    if (options->verb == VERB_SWEEP && !values[OPTION_VARY].given && !values[OPTION_SEEDS].given)
        return sand_fail(error, "sweep needs --vary NAME=VALUES or --seeds N; for example `%s`", verb->example);
    if (options->verb == VERB_SWEEP && !values[OPTION_OUT].given && !values[OPTION_TASKS].given)
        return sand_fail(error, "sweep needs --out FOLDER; for example `%s`", verb->example);
    if (options->verb == VERB_SWEEP && values[OPTION_PLOT].given != values[OPTION_COLUMN].given)
        return sand_fail(error, "--plot FILE draws the column of the table that --column NAME names; give both");
    if (options->verb == VERB_SWEEP && values[OPTION_PLOT].given && values[OPTION_TASK].given)
        return sand_fail(error, "--plot: one run makes no plot; give it without --task when all runs are done");
    if (options->verb == VERB_EXPORT && !values[OPTION_OUT].given)
        return sand_fail(error, "export needs --out FILE; for example `%s`", verb->example);
    if (options->verb != VERB_RECORD && values[OPTION_RESUME].given && !values[OPTION_CHECKPOINT].given)
        return sand_fail(error, "--resume goes on from the state in a file; name it by --checkpoint FILE");
    if (values[OPTION_CHECKPOINT_EVERY].given && !values[OPTION_CHECKPOINT].given)
        return sand_fail(error, "--checkpoint-every says how often --checkpoint FILE is written; give both");
    if (options->verb == VERB_FREEZE && (!values[OPTION_AT].given || !values[OPTION_OUT].given))
        return sand_fail(error, "freeze needs --at SECONDS and --out FILE; for example `%s`", verb->example);
    if (options->verb == VERB_CONVERGE && values[OPTION_PLOT].given && !values[OPTION_AT].given)
        return sand_fail(error, "--plot draws what is left at the times that --at SECONDS names; give both");
    return endings_check(options, error);
}

// Whether the first word is neither a verb nor a scene, and is nearer to a verb than to any scene; then with a sentence.
static bool is_mistyped_verb(const char *word, SandError *error) {
    SandSuggestion names = sand_suggestion(word);
    for (int v = 0; v < VERB_COUNT; v++) sand_suggestion_add(&names, verb_table[v].name);
    if (word[strcspn(word, "-/.")] || !sand_suggestion_nearest(&names)) return false; // an option, or the path of a file
    SandSuggestion scenes = sand_suggestion(word);
    SandSceneEntry *entries = NULL;
    int count = 0;
    SandError ignored; // without a folder of scenes there is no scene of that name
    if (!sand_scenes_list(&entries, &count, &ignored)) count = 0;
    for (int i = 0; i < count; i++) sand_suggestion_add(&scenes, entries[i].name);
    sand_free(entries);
    if (scenes.distance <= names.distance) return false;
    sand_fail(error, "%s is neither a verb nor a scene; did you mean `sandglass %s`?", word, names.nearest);
    return true;
}

bool options_resume(const Options *options) {
    const OptionValue *path = &options->values[OPTION_CHECKPOINT];
    return options->values[OPTION_RESUME].given && path->given && access(path->text, F_OK) == 0;
}

bool options_parse(Options *options, int argc, char **argv, SandError *error) {
    *options = (Options){.verb = VERB_RUN};
    for (int i = 0; i < OPTION_COUNT; i++)
        if (option_table[i].preset && !read_value(&option_table[i], option_table[i].preset, &options->values[i], error))
            return false;

    int at = 1;
    int verb = argc > 1 ? options_find_verb(argv[1]) : -1;
    if (verb >= 0) {
        options->verb = (Verb)verb;
        at = 2;
    } else if (argc > 1 && is_mistyped_verb(argv[1], error)) {
        return false;
    }
    bool only_words = false; // after a bare "--"
    for (; at < argc; at++) {
        if (!only_words && strcmp(argv[at], "--") == 0) {
            only_words = true;
        } else if (!only_words && argv[at][0] == '-' && argv[at][1]) {
            if (!read_option(options, argc, argv, &at, error)) return false;
        } else if (options->subject) {
            return sand_fail(error, "%s takes one %s; what is '%s'?", verb_table[options->verb].name,
                             verb_table[options->verb].subject, argv[at]);
        } else {
            options->subject = argv[at];
        }
    }
    return options_check(options, error);
}
