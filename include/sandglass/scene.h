// SPDX-License-Identifier: MIT
// Scenes: YAML files that a person can read and edit (docs/scenes.md lists the keys), and the worlds built from them.
//
// A scene is opened (the file is read and checked), its knobs may be set, and then its world is built:
//     sand_scene_open -> sand_scene_set_knob ... -> sand_scene_build -> scene.world
// sand_scene_load does the first and the last in one go. Building again gives the same initial state, with the knobs as they
// are by then. Fills start on their lattice; where scene.settled says so, sand_scene_settle then brings the bodies to rest.
#pragma once
#include "sandglass/error.h"
#include "sandglass/solver.h"
#include "sandglass/world.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SAND_SENTENCE = 256,         // bytes of a sentence in a scene, with the terminating zero
    SAND_UNIT = 16,              // bytes of a unit, with the terminating zero
    SAND_MAX_KNOBS = 16,         // knobs of a scene
    SAND_MAX_BODIES = 200000000, // bodies of a scene
    SAND_MAX_WHEELS = 16,        // driven wheels of a vehicle
};

// Where the bodies of fills are at the start.
typedef enum SandStart {
    SAND_START_AS_SCENE, // as the scene says
    SAND_START_LATTICE,  // on the lattice of their fill
    SAND_START_SETTLED,  // at rest, packed at random: sand_scene_settle
} SandStart;

// What the caller may change about any scene when it is opened; all zero changes nothing.
typedef struct SandSceneOptions {
    int bodies;    // number of bodies; the scene's lengths scale along. 0: as the scene says
    double step;   // s, length of a step; 0: as the scene says
    bool has_seed; // use `seed` and not the scene's
    uint64_t seed; // of the random numbers; 0 is the built-in seed
    SandStart start;
    const char *const
        *probes; // more probes, as text: "NAME KIND KEY=VALUE ..."; the caller keeps it while the scene is open
    int probe_count;
    // Rank and number of ranks of an MPI run; 0 and 0 for a single process. Rank 0 builds every body and checks for
    // overlaps; the others keep only their block of each fill that does not settle, a contiguous range of body numbers.
    int process, processes;
    int limit;     // the most bodies, cells and lattice points tried, for fuzzing; 0: SAND_MAX_BODIES
    bool no_files; // refuse to open files that the scene names, for fuzzing
} SandSceneOptions;

// What a knob changes.
typedef enum SandKnobKind {
    SAND_KNOB_MASS,        // kg, of a single body
    SAND_KNOB_NARROWEST,   // m, the smallest radius of a boundary's profile: the neck of the hourglass
    SAND_KNOB_RATE,        // rad/s, how fast a boundary rotates
    SAND_KNOB_MU,          // friction coefficient of a material
    SAND_KNOB_RESTITUTION, // of a material
    SAND_KNOB_COHESION,    // N, of a material
    SAND_KNOB_ROLLING,     // m, coefficient of rolling friction of a material
    SAND_KNOB_SPINNING,    // m, coefficient of spinning friction of a material
    SAND_KNOB_TILT,        // degrees by which gravity is rotated about the y axis, towards +x
} SandKnobKind;

// A quantity that the scene offers to change.
typedef struct SandKnob {
    char name[SAND_NAME];      // unique in the scene
    char about[SAND_SENTENCE]; // what it does
    char unit[SAND_UNIT];      // for display; may be empty
    double value, least, most; // as set, and its range
    SandKnobKind kind;
    int target;   // index of the body, boundary or material in the world; -1 for gravity
    bool changed; // it was set, and no longer has the file's value
} SandKnob;

// The ground that a picture shows where the scene has none of its own.
typedef enum SandFloor {
    SAND_FLOOR_STUDIO, // a seamless sweep: ground and backdrop are one
    SAND_FLOOR_GRID,   // the same with lines, for scale
    SAND_FLOOR_NONE,   // no ground
} SandFloor;

// What holds a vessel of revolution: two discs and turned columns. It is drawn only; no body touches it.
typedef enum SandVesselFrame { SAND_FRAME_NONE, SAND_FRAME_WOOD, SAND_FRAME_BRASS } SandVesselFrame;

// Places that a scene is set in, made by code: a ground, a sky or a room, and their light.
typedef enum SandPlace {
    SAND_PLACE_STUDIO,     // a gray sweep
    SAND_PLACE_TABLE,      // an oak table by a window
    SAND_PLACE_WORKSHOP,   // a maple bench under a lamp
    SAND_PLACE_STAGE,      // a black floor and soft boxes
    SAND_PLACE_LABORATORY, // a white bench with a grid
    SAND_PLACE_GALLERY,    // a white room
    SAND_PLACE_HALL,       // the concrete floor of a factory
    SAND_PLACE_YARD,       // slabs of concrete under a cloudy sky
    SAND_PLACE_QUARRY,     // crushed rock, and dust in the air
    SAND_PLACE_REGOLITH,   // red dust under a low sun
    SAND_PLACE_MOON,       // gray dust under a black sky
    SAND_PLACE_DESERT,     // pale sand under a blue sky
    SAND_PLACE_SNOW,
    SAND_PLACE_REACTOR, // steel and a blue glow
    SAND_PLACE_COUNT
} SandPlace;

// What the ground is made of, and what is around the scene.
typedef enum SandGround {
    SAND_GROUND_SWEEP, // the backdrop itself
    SAND_GROUND_PLANKS,
    SAND_GROUND_SOIL, // with pebbles
    SAND_GROUND_SLABS,
    SAND_GROUND_GLOSS,
    SAND_GROUND_TILES,
    SAND_GROUND_SNOW,
} SandGround;
typedef enum SandSky {
    SAND_SKY_SWEEP,   // a backdrop with two soft boxes
    SAND_SKY_OPEN,    // hills under a sky
    SAND_SKY_INDOORS, // a room with a window
    SAND_SKY_BOXES,   // darkness and soft boxes
    SAND_SKY_HALL,    // a long room with rows of windows
    SAND_SKY_STARS,   // hills under the stars
} SandSky;

// Pieces of scenery hold and surround what moves. They are drawn only; nothing touches them.
typedef enum SandSceneryKind {
    SAND_SCENERY_BOX,  // between two corners
    SAND_SCENERY_BAR,  // between the middles of its square ends
    SAND_SCENERY_ROD,  // a round one
    SAND_SCENERY_RING, // about the first point, its axis towards the other
    SAND_SCENERY_LINK, // of a chain, from end to end
} SandSceneryKind;
typedef struct SandScenery {
    SandSceneryKind kind;
    SandLook look;
    SandVec3 color;    // black: that of the look
    SandVec3 from, to; // m; where a body carries it, in the frame of the body
    double radius;     // m, of a rod, a ring, and the round ends of a link
    double width;      // m, of a bar, and of the wire of a ring or a link
    double turn;       // rad, about its length
    int body;          // that carries it, -1: none
} SandScenery;
enum { SAND_MAX_SCENERY = 64 }; // pieces of a scene

// A view of its own name.
typedef struct SandSceneCamera {
    char name[SAND_NAME];
    SandVec3 eye, target; // m
    double angle;         // rad, vertical field of view
} SandSceneCamera;
enum { SAND_MAX_CAMERAS = 9 }; // of a scene, one for each digit

// How pictures of a scene are lit and set. Colors are red, green and blue in linear light. No simulation depends on it.
typedef struct SandStudio {
    SandVec3 key_direction;             // from the scene to the key light; any length
    SandVec3 key_color, fill_color;     // of the light that casts shadows, and of the soft light from everywhere
    double key_strength, fill_strength; // factors of the two
    SandVec3 horizon, zenith;           // the backdrop at eye level and below, and high up
    double exposure;                    // factor of all light; raising it brightens the picture
    SandGround ground;
    SandVec3 ground_color, ground_accent; // of planks and joints, soil and pebbles, ...
    double ground_roughness;              // 0 mirrors, 1 is matte
    SandSky sky;
    double clouds; // share of the sky; of a room: how much of it is seen
    double hills;  // height of the horizon's, as a slope
    double haze;   // dust in the air: how much of the light is lost over the length of the scene
    SandFloor floor;
    SandVesselFrame frame;
    int camera_count;
    SandSceneCamera cameras[SAND_MAX_CAMERAS]; // those that scale do so when the scene is built
    int scenery_count;                         // set when the scene is built
    SandScenery scenery[SAND_MAX_SCENERY];
} SandStudio;
SAND_API SandStudio sand_default_studio(void); // that of the first set
SAND_API SandStudio sand_place_studio(SandPlace set);

// A vehicle that a person can drive: wheels on hinges with motors, which turn forward at positive speeds.
typedef struct SandWheel {
    char name[SAND_NAME]; // of its joint
    int joint;            // index into the world's joints
    bool right;           // on the right side of the vehicle; else on the left
} SandWheel;

typedef struct SandVehicle {
    int wheel_count; // 0: the scene has no vehicle
    SandWheel wheels[SAND_MAX_WHEELS];
    double speed; // rad/s, of a wheel at full throttle
} SandVehicle;

typedef struct SandSceneFile SandSceneFile; // the file's text and what was read from it

typedef struct SandScene {
    char name[SAND_NAME];
    char like[SAND_NAME];            // the scene it takes everything else from; empty: none
    char about[SAND_SENTENCE];       // one or two sentences: what to look at
    double seconds;                  // s, how long it is worth watching
    uint64_t seed;                   // of the random numbers
    SandStudio studio;               // light, backdrop and frame of its pictures
    SandSolveDef solve;              // solver, friction model and budget the scene asks for
    int knob_count;                  // knobs in use
    SandKnob knobs[SAND_MAX_KNOBS];  // what the scene offers to change
    SandVehicle vehicle;             // that can be driven; set when built
    SandWorld world;                 // empty until built; sand_simulation_create takes it over
    SandVec3 view_lower, view_upper; // m, what a camera should show; set when built
    int follow;                      // body that the camera moves with, -1: none; set when built
    SandVec3 follow_from;            // m, where that body is at the start
    double scale;             // of all lengths that scale: (bodies / size.bodies)^(1/3); where that leaves no room, larger
    int bodies;               // bodies in the fill that follows options.bodies; 0: the scene has a fixed number
    bool settled;             // its bodies are to be settled before the first step
    bool has_plug;            // while they settle, a level floor closes the vessel,
    double plug;              // m, at this height
    SandSceneFile *file;      // owned
    SandSceneOptions options; // as opened
} SandScene;

// On failure all of these write one line, `file:line: key: what was expected`, and (but for sand_scene_build and
// sand_scene_set_knob) leave an empty scene that may be freed or not. `options` may be NULL.

// Opens a scene by a name like `hourglass`, found in the scenes folder, or by a path (with a slash, or ending in .yaml).
SAND_API bool sand_scene_open(SandScene *scene, const char *name_or_path, const SandSceneOptions *options, SandError *error);
// Opens a scene from text; `file_name` is for messages and for finding mesh files beside it.
SAND_API bool sand_scene_open_text(SandScene *scene, const char *text, size_t size, const char *file_name,
                                   const SandSceneOptions *options, SandError *error);
// Returns the index of a knob, or -1: not a knob of this scene.
SAND_API int sand_scene_knob(const SandScene *scene, const char *name);
// Sets a knob within its range; takes effect when the scene is built.
SAND_API bool sand_scene_set_knob(SandScene *scene, int knob, double value, SandError *error);
// Builds scene->world, in place of the one before. On failure the world is empty and the scene stays open.
SAND_API bool sand_scene_build(SandScene *scene, SandError *error);

// Adds a probe, as text like those of the options, to a world that was built from the scene, even while it runs in a
// simulation. Fails with a line that names the probe and its key; then nothing has changed.
SAND_API bool sand_scene_add_probe(SandScene *scene, SandWorld *world, const char *text, SandError *error);

// How to settle the bodies of a scene.
typedef struct SandSettleDef {
    const char *cache; // folder in which settled states are kept and looked for, made where it is missing; NULL: none
    int threads;       // 0: one for each core; the result does not depend on it
    // Called now and then with the share that is done, 0 to 1; false cancels. NULL: nobody hears.
    bool (*tell)(void *user, double done);
    void (*on_message)(void *user, const char *sentence); // hears that a state could not be kept; NULL: nobody does
    void *user;                                           // passed to both
} SandSettleDef;

// Brings the bodies of a built scene that are there from its start to rest in a random packing: they are laid on each other
// by geometry, then relax under gravity in damped steps of the CPU. Boundaries stand still meanwhile, and the plug closes
// the vessel. The same scene gives the same bits, computed or from the cache; a damaged state is computed anew. On failure
// the world is empty and the scene stays open.
SAND_API bool sand_scene_settle(SandScene *scene, const SandSettleDef *def, SandError *error);

// Open and build in one go.
SAND_API bool sand_scene_load(SandScene *scene, const char *name_or_path, const SandSceneOptions *options, SandError *error);
SAND_API bool sand_scene_load_text(SandScene *scene, const char *text, size_t size, const char *file_name,
                                   const SandSceneOptions *options, SandError *error);

SAND_API void sand_scene_free(SandScene *scene); // with its world; leaves an empty scene

// Returns the folder of scenes: $SANDGLASS_SCENES, else `scenes` beside the program or up to two folders above it, else the
// one compiled in. Points to a static buffer that the next call overwrites.
SAND_API const char *sand_scenes_folder(void);
// Uses this folder in place of those beside the program and the one compiled in; $SANDGLASS_SCENES still comes first. For a
// library whose program is an interpreter. The text is copied; NULL: none.
SAND_API bool sand_scenes_use(const char *folder, SandError *error);

// One scene of the folder.
typedef struct SandSceneEntry {
    char name[SAND_NAME];      // of the file, without .yaml
    char about[SAND_SENTENCE]; // the scene's, or what is wrong with the file
} SandSceneEntry;

// Lists the scenes of the folder, sorted by name. The array is the caller's, to be freed with sand_free.
SAND_API bool sand_scenes_list(SandSceneEntry **entries, int *count, SandError *error);

#ifdef __cplusplus
}
#endif
