// Scenes: files that a person can read and edit, and the worlds built from them.
//
// A scene is opened (the file is read and checked), its knobs may be turned, and then its world is built:
//     sand_scene_open -> sand_scene_set_knob ... -> sand_scene_build -> scene.world
// sand_scene_load does the first and the last. Building again gives the same start, with the knobs as they are.
#pragma once
#include "sim/core/error.h"
#include "sim/solver/solver.h"
#include "sim/world/world.h"

enum {
    SAND_SENTENCE = 256,        // bytes of a sentence in a scene, with its end
    SAND_UNIT = 16,             // bytes of a unit, with its end
    SAND_MAX_KNOBS = 16,        // knobs of a scene
    SAND_MAX_BODIES = 50000000, // bodies of a scene
};

// What the command line may change about any scene.
typedef struct SandSceneOptions {
    int bodies;  // how many bodies; 0: as the scene says
    double step; // s; 0: as the scene says
    bool has_seed;
    uint64_t seed; // start of the random numbers; 0 is the built-in seed
    int limit;     // most bodies, cells and lattice points tried, for fuzzing; 0: SAND_MAX_BODIES and no more
    bool no_files; // refuse to open files that the scene names, for fuzzing
} SandSceneOptions;

typedef enum SandKnobKind {
    SAND_KNOB_MASS,      // kg, of a single body
    SAND_KNOB_NARROWEST, // m, the smallest radius of a boundary's profile: the neck of the glass
    SAND_KNOB_RATE,      // rad/s, how fast a boundary turns
    SAND_KNOB_MU,        // friction of a material
    SAND_KNOB_TILT,      // degrees that gravity is turned by, about the y axis, towards +x
} SandKnobKind;

// A quantity that the scene offers to change.
typedef struct SandKnob {
    char name[SAND_NAME];
    char about[SAND_SENTENCE];
    char unit[SAND_UNIT];
    double value, least, most;
    SandKnobKind kind;
    int target;  // index of the body, boundary or material in the world; -1 for gravity
    bool turned; // it was set, and no longer has the file's value
} SandKnob;

typedef struct SandSceneFile SandSceneFile; // the file's text and what was read from it: scene_file.h

typedef struct SandScene {
    char name[SAND_NAME];
    char like[SAND_NAME];      // the scene that it takes the rest from; empty: none
    char about[SAND_SENTENCE]; // one or two sentences: what to look at
    double seconds;            // s, how long it is worth watching
    uint64_t seed;
    SandSolveDef solve;
    int knob_count;
    SandKnob knobs[SAND_MAX_KNOBS];
    SandWorld world;                 // empty until built
    SandVec3 view_lower, view_upper; // m, what a camera should show; set when built
    double scale;                    // lengths of what scales, against the file: (bodies / size.bodies)^(1/3)
    int bodies;                      // bodies in the fill that follows --bodies; 0: the scene has a fixed number
    SandSceneFile *file;             // owned
    SandSceneOptions options;
} SandScene;

// All of these return false with one line, `file:line: key: what was expected`, and leave an empty scene that may be
// freed or not.

// A name like `hourglass`, found in the scenes folder, or a path to a file (with a slash, or ending in .yaml).
bool sand_scene_open(SandScene *scene, const char *name_or_path, const SandSceneOptions *options, SandError *error);
// The same from text; `file_name` is for messages and for finding mesh files beside it.
bool sand_scene_open_text(SandScene *scene, const char *text, size_t size, const char *file_name,
                          const SandSceneOptions *options, SandError *error);
int sand_scene_knob(const SandScene *scene, const char *name); // index, or -1: not a knob of this scene
bool sand_scene_set_knob(SandScene *scene, int knob, double value, SandError *error); // takes effect when built
bool sand_scene_build(SandScene *scene, SandError *error); // on failure the world is empty, the scene stays open

// Open and build in one go.
bool sand_scene_load(SandScene *scene, const char *name_or_path, const SandSceneOptions *options, SandError *error);
bool sand_scene_parse(SandScene *scene, const char *text, size_t size, const char *file_name,
                      const SandSceneOptions *options, SandError *error);

void sand_scene_free(SandScene *scene);

// Where scenes are found: $SANDGLASS_SCENES, else `scenes` beside the program or up to two folders above it, else
// what the build compiled in. Points to a buffer that the next call overwrites.
const char *sand_scenes_folder(void);

typedef struct SandSceneEntry {
    char name[SAND_NAME];      // of the file, without .yaml
    char about[SAND_SENTENCE]; // or what is wrong with the file
} SandSceneEntry;

// The scenes of the folder, sorted by name. The array is the caller's, to be given to sand_free.
bool sand_scenes_list(SandSceneEntry **entries, int *count, SandError *error);
