// SPDX-License-Identifier: MIT
// A world under construction from a scene file, what its stages share, and the stages, each in a file of its own;
// scene_build.c goes through them. Internal to sim/scene.
#pragma once
#include "sandglass/scene.h"
#include "sim/core/random.h"
#include "sim/scene/packing.h"
#include "sim/scene/scene_file.h"

#define SAND_DEGREE (3.14159265358979323846 / 180)
#define SAND_FAR 1e7   // m, the largest length and coordinate
#define SAND_TINY 1e-6 // m, the smallest size
#define SAND_FAST 1e6  // m/s and rad/s, the largest speeds

// A world under construction.
typedef struct SandBuilder {
    SandScene *scene;
    const SandSceneFile *file;
    const SandSceneDef *def;
    SandWorld *world;
    SandError *error;
    SandRandom random;
    char path[96];   // path of the entry being built, "fills[0]"
    int *fill_first; // first body of each fill
    SandKept kept;   // of the bodies of fills
    bool is_full;    // the build failed because a fill had too little room
} SandBuilder;

// The value of an optional key, or its default.
static inline double sand_number(const double *value, double otherwise) { return value ? *value : otherwise; }
static inline SandVec3 sand_vector(const double *v) { return v ? v3_make(v[0], v[1], v[2]) : v3_make(0, 0, 0); }

// Fails with a message about a key of the entry being built.
__attribute__((format(printf, 3, 4))) bool sand_build_wrong(SandBuilder *b, const char *key, const char *format, ...);
// Check optional numbers of that entry: one in [least, most], or three in [-most, most].
bool sand_build_range(SandBuilder *b, const char *key, const double *value, double least, double most);
bool sand_build_range3(SandBuilder *b, const char *key, const double *value, double most);
bool sand_build_color(SandBuilder *b, const char *key, const double *color); // red, green and blue from 0 to 1
// Finds the path of a file that the scene names: relative to the scene file, unless it is absolute.
enum { SAND_PATH = 4096 };
bool sand_build_path(SandBuilder *b, const char *file, char path[SAND_PATH], SandError *reason);
// Reads an axis and an angle in degrees; the identity where there are none.
bool sand_build_rotation(SandBuilder *b, const SandTurnDef *turn, SandQuat *rotation);
// Returns the index of a material (NULL: the first one), or -1 with a message.
int sand_build_material(SandBuilder *b, const char *name, const char *key);
// Returns the single body of this name, or -2 with a message that says what it is for: to `purpose`.
int sand_build_find_body(SandBuilder *b, const char *name, const char *key, const char *purpose);
// Returns the value of a knob that was set, or NULL: then the file's value holds.
const double *sand_build_knob_value(const SandBuilder *b, SandKnobKind kind, int target);

// Builds the shapes of the file (scene_shapes.c).
bool sand_build_shapes(SandBuilder *b);
// Returns the index of the sphere or of a shape of the file by name, and how many shapes it stands for, or -1 with a
// message. `single` names the shapes that only a single body may have as well.
int sand_build_find_shape(SandBuilder *b, const char *name, const char *key, bool single, int *count);
// Returns the shape and scale of a single body, or -1; boxes, cylinders and capsules get a shape of their own.
int sand_build_body_shape(SandBuilder *b, const SandBodyFileDef *from, double *scale);
enum { SAND_MOST_VARIETY = 64 };

// Builds all boundaries (scene_boundaries.c).
bool sand_build_boundaries(SandBuilder *b);
// Joins the single bodies, which are in the world already (scene_joints.c).
bool sand_build_joints(SandBuilder *b);
bool sand_build_scenery(SandBuilder *b); // scene_scenery.c
// Finds the joints that drive the vehicle of the file, where it has one (scene_vehicle.c).
bool sand_build_vehicle(SandBuilder *b);

// Builds the fills, for which room is made first (scene_fills.c).
bool sand_build_check_counts(SandBuilder *b); // that one fill or inlet at most, and one where it is needed, takes `size`
bool sand_build_reserve_bodies(SandBuilder *b);
bool sand_build_fills(SandBuilder *b);
// Whether this process keeps one block alone. To settle takes all bodies.
static inline bool sand_build_keeps_block(const SandBuilder *b) {
    return b->scene->options.process > 0 && !b->scene->settled;
}
// Reads shapes and sizes of a fill.
enum { SAND_FILL_SHAPES = 1024 }; // most shapes that a fill or an inlet draws from
bool sand_build_fill_shapes(SandBuilder *b, const SandFillDef *from, SandFill *fill, int shapes[SAND_FILL_SHAPES]);
// Finds the number of bodies of a fill or an inlet: its own, or that of the scene's size.
bool sand_build_count(SandBuilder *b, const uint32_t *given, int *count);

// Build the outlets and inlets (scene_flow.c).
bool sand_build_outlets(SandBuilder *b);
bool sand_build_inlets(SandBuilder *b);
// Build the probes of the file and of the options (scene_probes.c).
bool sand_build_probes(SandBuilder *b);
// Reads along which axes the world repeats, once its box and its bodies are known.
bool sand_build_period(SandBuilder *b);
