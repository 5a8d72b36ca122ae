// What scene.c (opening), scene_build.c and scene_walls.c (building) share. Not for others.
#pragma once
#include "sim/core/random.h"
#include "sim/scene/scene_file.h"

#define SAND_DEGREE (3.14159265358979323846 / 180)
#define SAND_FAR 1e7             // m, the largest length and coordinate
#define SAND_TINY 1e-6           // m, the smallest size
#define SAND_FAST 1e6            // m/s and rad/s, the largest speeds
#define SAND_FILE_DENSITY 2500.0 // kg/m^3, of a material that names none
#define SAND_FILE_MU 0.5         // of a material that names none

// Adds a name to a list for a message, "a, b, c".
void sand_scene_add_name(char *list, size_t capacity, const char *name);

// The smallest radius of a boundary's profile once scaled: not below what `narrowest` says. 0: it has no profile.
double sand_scene_narrowest(const SandWallDef *wall, double scale);

typedef struct SandBuilder {
    SandScene *scene;
    const SandSceneFile *file;
    const SandSceneDef *def;
    SandWorld *world;
    SandError *error;
    SandRandom random;
    char place[96];  // path of the entry being built, "fills[0]"
    int *fill_first; // first body of each fill, and the end
} SandBuilder;

static inline double sand_number(const double *value, double otherwise) { return value ? *value : otherwise; }
static inline SandVec3 sand_vector(const double *v) { return v ? v3_make(v[0], v[1], v[2]) : v3_make(0, 0, 0); }

// Says what is wrong with a key of the entry being built, and returns false.
__attribute__((format(printf, 3, 4))) bool sand_build_wrong(SandBuilder *b, const char *key, const char *format, ...);
// Check numbers of that entry, where they are given: one in [least, most], or three in [-most, most].
bool sand_build_range(SandBuilder *b, const char *key, const double *value, double least, double most);
bool sand_build_range3(SandBuilder *b, const char *key, const double *value, double most);
bool sand_build_rotation(SandBuilder *b, const SandTurnDef *turn, SandQuat *rotation);
int sand_build_material(SandBuilder *b, const char *name, const char *key);           // the index, or -1 with a message
const double *sand_build_turned(const SandBuilder *b, SandKnobKind kind, int target); // a turned knob's value, or NULL

bool sand_build_walls(SandBuilder *b);
