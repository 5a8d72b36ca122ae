// SPDX-License-Identifier: MIT
// A scene file as it was read, before anything is made of it: the structs that cyaml fills, one member for each key. A
// pointer is NULL where the key is not in the file. Internal to sim/scene; everyone else sees scene.h.
#pragma once
#include "sandglass/error.h"
#include "sandglass/geometry.h"
#include "sandglass/scene.h"
#include "sandglass/world.h"
#include "sim/scene/solver_file.h"
#include "sim/scene/yaml_file.h"

typedef enum SandBoundaryShape {
    SAND_BOUNDARY_PLANE,
    SAND_BOUNDARY_BOX,
    SAND_BOUNDARY_CYLINDER,
    SAND_BOUNDARY_FRUSTUM,
    SAND_BOUNDARY_SPHERE,
    SAND_BOUNDARY_REVOLUTION,
    SAND_BOUNDARY_MESH,
    SAND_BOUNDARY_TERRAIN,
    SAND_BOUNDARY_COUNT,
} SandBoundaryShape;

typedef enum SandCaps { SAND_CAPS_BOTH, SAND_CAPS_BOTTOM, SAND_CAPS_TOP, SAND_CAPS_NONE } SandCaps;

typedef struct SandSphereDef {
    double center[3];
    double radius;
} SandSphereDef;

typedef struct SandSizesDef {                // those that a shape of the kind has
    double *radius, *height, *length, *size; // size: 3
} SandSizesDef;

typedef struct SandHullDef {
    double (*points)[3];
    uint32_t points_count;
    char *file;
    uint32_t *corners; // at most
} SandHullDef;

typedef struct SandStoneFileDef {
    uint64_t *seed;
    uint32_t *points, *cuts, *variety;
    double *elongation, *flatness;
} SandStoneFileDef;

typedef struct SandTurnDef {
    double axis[3];
    double angle; // degrees
} SandTurnDef;

// A piece of a compound: a kind with its sizes, or a shape of the file.
typedef struct SandPieceFileDef {
    char *shape;
    double *radius, *size, *height, *length, *scale; // size: 3
    double *position;                                // 3
    SandTurnDef *rotation;
} SandPieceFileDef;

typedef struct SandCompoundFileDef {
    SandPieceFileDef *pieces;
    uint32_t pieces_count;
    char *solid; // a file
} SandCompoundFileDef;

// A shape of its own name: one of the keys below it.
typedef struct SandShapeDef {
    char *name;
    SandSphereDef *spheres;
    uint32_t spheres_count;
    SandSizesDef *sized[SAND_SHAPE_KINDS]; // of SAND_SIZED_SHAPES
    SandHullDef *hull;
    SandStoneFileDef *stone;
    SandCompoundFileDef *compound;
} SandShapeDef;

typedef struct SandMaterialDef {
    char *name;
    double *density, *mu, *restitution, *cohesion, *rolling, *spinning;
    SandLook *look;
    double *color; // 3
} SandMaterialDef;

typedef struct SandPairDef {
    char *a, *b;
    double *mu, *restitution, *cohesion, *rolling, *spinning;
} SandPairDef;

typedef struct SandMotionDef {
    double *velocity, *axis, *center;
    double *rate, *start, *stop;
    double *amplitude, *surface; // 3 each
    double *swing, *frequency, *phase;
    double (*path)[5]; // time, shift, angle
    uint32_t path_count;
} SandMotionDef;

typedef struct SandBoundaryDef {
    char *name, *material;
    SandBoundaryShape shape;
    SandSide *side;
    double *position, *normal, *size; // 3 each
    SandTurnDef *rotation;
    SandMotionDef *motion;
    double *radius, *height, *radii; // radii: bottom and top
    SandCaps *caps;
    double (*profile)[2];
    uint32_t profile_count;
    char *file;
    double *width, *length, *amplitude, *wavelength; // terrain
    uint32_t *cells;
    uint64_t *seed;
    bool *scales, *hidden;
    double *narrowest;
} SandBoundaryDef;

typedef struct SandBodyFileDef {
    char *name, *material, *shape;
    double *radius, *size, *height, *length, *scale, *mass; // size: 3
    double *position, *velocity, *spin;                     // 3 each
    SandTurnDef *rotation;
    double *enter;
    bool *scales; // the position only
} SandBodyFileDef;

typedef struct SandMotorFileDef {
    double *speed, *position; // one of them: m/s or rad/s, m or degrees
    double *rate, *fastest, *strength;
} SandMotorFileDef;

typedef struct SandSpringFileDef {
    double *stiffness, *damping, *rest; // rest: m or degrees
} SandSpringFileDef;

typedef struct SandJointFileDef {
    char *name, *a, *b; // a and b: names of bodies; a NULL: the world
    SandJointKind kind;
    double *anchor, *anchor_b, *axis, *axis_b; // 3 each
    double *limits;                            // 2: m or degrees
    SandMotorFileDef *motor;
    SandSpringFileDef *spring;
    bool *collide;
} SandJointFileDef;

typedef struct SandVehicleFileDef {
    char **left, **right; // names of joints
    uint32_t left_count, right_count;
    double *speed, *torque;
} SandVehicleFileDef;

typedef struct SandLatticeDef {
    double spacing;
    double *jitter, *from, *to, *center; // center: 2
    uint32_t *columns;
    double *pour; // m/s
    bool *dense;
} SandLatticeDef;

typedef struct SandRegionDef {
    double *cylinder;  // radius
    double *box;       // 2: full widths
    double *clearance; // m
    bool *inside;
} SandRegionDef;

typedef struct SandFillDef {
    char *name, *material;
    char **shapes;
    uint32_t shapes_count;
    char *shape;
    double *radius, *radii, *sizes; // 2 each but radius
    double *mass;
    uint32_t *count;
    SandLatticeDef lattice;
    SandRegionDef *region;
    double *velocity;
    bool *scales;
} SandFillDef;

typedef struct SandOutletDef {
    char *name;
    double *lower, *upper;  // 3 each: a box
    double *point, *normal; // 3 each: or a plane
    bool *scales;
} SandOutletDef;

typedef struct SandInletDef {
    char *name, *material;
    char **shapes; // these as of a fill
    uint32_t shapes_count;
    char *shape;
    double *radius, *radii, *sizes;
    double *mass;
    uint32_t *count;
    double lower[3], upper[3];
    double rate; // 1/s
    double *start, *velocity;
    bool *scales;
} SandInletDef;

typedef struct SandProbeFileDef {
    char *name;
    SandProbeKind kind;
    double *rate;                   // Hz
    double *point, *normal, *axis;  // 3 each, of a flow
    double *size, *radius;          // 2, of a flow
    char *outlet, *boundary, *body; // names
    uint32_t *index;                // of a body
    double *about;                  // 3, of a force
    double *lower, *upper;          // 3 each: a box
    uint32_t *cells;                // 3, of a box
    double *from, *to, *width;      // 3 each but width: a line
    uint32_t *bins;                 // of a line
    double *least_force;            // N
    bool *scales;
} SandProbeFileDef;

typedef struct SandKnobDef {
    char *name, *about, *unit, *of;
    SandKnobKind kind;
    double least, most;
} SandKnobDef;

typedef struct SandSqueezeDef {
    double rate, pressure;
} SandSqueezeDef;

typedef struct SandBoundsDef {
    double lower[3], upper[3];
    bool *scales;
    char *periodic; // axes, of the world only
    SandSqueezeDef *squeeze;
} SandBoundsDef;

typedef struct SandLampDef {
    double *direction, *color; // 3 each; the fill has no direction
    double *strength;
} SandLampDef;

typedef struct SandBackdropDef {
    double *horizon, *zenith; // 3 each
} SandBackdropDef;

typedef struct SandLookDef {
    SandLampDef *key, *fill;
    SandBackdropDef *background;
    double *exposure;
    SandFloor *floor;
    SandVesselFrame *frame;
    SandPlace *set;
} SandLookDef;

typedef struct SandSceneryFileDef {
    SandSceneryKind shape;
    double from[3], to[3];
    double *radius, *width, *turn, *color; // turn: degrees; color: 3
    SandLook look;
    char *body;
    bool *scales;
} SandSceneryFileDef;

typedef struct SandSceneCameraDef {
    char *name;
    double eye[3], target[3];
    double *angle; // degrees
    bool *scales;
} SandSceneCameraDef;

typedef struct SandSizeDef {
    uint32_t bodies;
} SandSizeDef;

typedef struct SandStartDef {
    bool *settled;
    double *plug; // m, height
    uint32_t *most;
    bool *scales;
} SandStartDef;

// A setting of the world as a key, NULL where it is not given.
#define SAND_KEY_double double
#define SAND_KEY_int int64_t
#define SAND_SETTING_KEY(type, name, ...) SAND_KEY_##type *name;

typedef struct SandSceneDef {
    char *name, *like, *about;
    double *seconds, *gravity;
    uint64_t *seed;
    SAND_WORLD_SETTINGS(SAND_SETTING_KEY)
    SandBoundsDef *world, *view;
    char *follow; // name of a body
    SandSizeDef *size;
    SandStartDef *start;
    SandLookDef *look;
    SandSolverDef *solver;
    char *friction;
    SandMaterialDef *materials;
    SandPairDef *pairs;
    SandShapeDef *shapes;
    SandBoundaryDef *boundaries;
    SandBodyFileDef *bodies;
    SandJointFileDef *joints;
    SandVehicleFileDef *vehicle;
    SandFillDef *fills;
    SandOutletDef *outlets;
    SandInletDef *inlets;
    SandProbeFileDef *probes;
    SandKnobDef *knobs;
    SandSceneryFileDef *scenery;
    SandSceneCameraDef *cameras;
    uint32_t materials_count, pairs_count, shapes_count, boundaries_count, bodies_count, joints_count, fills_count,
        outlets_count, inlets_count, probes_count, knobs_count, scenery_count, cameras_count;
} SandSceneDef;

struct SandSceneFile {
    SandYaml yaml;
    SandSceneDef *def;   // of yaml, or `merged`
    SandSceneFile *base; // the scene that this one is like, else NULL
    SandSceneDef merged; // the base, overridden by what this scene says itself
    int bodies;          // a scene that is like another: the size it has by default; 0: the base's
};

// Reads and checks the text of a file: syntax, keys, types, names of choices. What numbers mean is checked
// in scene_open.c.
bool sand_scene_file_read(SandSceneFile **file, const char *text, size_t size, const char *name, SandError *error);
// Reads the scene that this one is like, from the same folder, and merges the two.
bool sand_scene_file_become_like(SandSceneFile *file, SandError *error);
void sand_scene_file_free(SandSceneFile *file);
// Reads one probe by the keys of an entry of `probes`; `yaml->def` is then a SandProbeFileDef.
bool sand_probe_file_read(SandYaml *yaml, const char *text, size_t size, const char *name, SandError *error);
