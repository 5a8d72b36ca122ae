// SPDX-License-Identifier: MIT
// Reading a scene file: the schema that maps YAML onto the structs of scene_file.h.
#include "sim/scene/scene_file.h"
#include "sim/scene/yaml_schema.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_PATH = 1023,
    MOST_BOUNDARIES = 4096,
    MOST_SINGLE = 100000,
    MOST_CORNERS = 4096,
    MOST_POINTS = 4096,
    MOST_ROWS = 1000000
};

static const cyaml_schema_value_t name_value = {CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char *, 1, SAND_NAME - 1)};

static const cyaml_schema_field_t sphere_fields[] = {
    NUMBERS_NEEDED(SandSphereDef, center, 3),
    REAL_NEEDED(SandSphereDef, radius),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t sphere_value = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, SandSphereDef, sphere_fields)};

static const cyaml_schema_field_t sizes_fields[] = {
    REAL(SandSizesDef, radius),
    REAL(SandSizesDef, height),
    REAL(SandSizesDef, length),
    NUMBERS(SandSizesDef, size, 3),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t point_value = {CYAML_VALUE_SEQUENCE_FIXED(CYAML_FLAG_DEFAULT, double, &real_value, 3)};
static const cyaml_schema_field_t hull_fields[] = {
    LIST(SandHullDef, points, point_value, MOST_POINTS),
    LONG_TEXT(SandHullDef, file, MOST_PATH),
    WHOLE(SandHullDef, corners),
    CYAML_FIELD_END,
};
static const cyaml_schema_field_t stone_fields[] = {
    WHOLE(SandStoneFileDef, seed),
    WHOLE(SandStoneFileDef, points),
    WHOLE(SandStoneFileDef, cuts),
    WHOLE(SandStoneFileDef, variety),
    REAL(SandStoneFileDef, elongation),
    REAL(SandStoneFileDef, flatness),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t turn_fields[] = {
    NUMBERS_NEEDED(SandTurnDef, axis, 3),
    REAL_NEEDED(SandTurnDef, angle),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t piece_fields[] = {
    TEXT_NEEDED(SandPieceFileDef, shape),
    REAL(SandPieceFileDef, radius),
    NUMBERS(SandPieceFileDef, size, 3),
    REAL(SandPieceFileDef, height),
    REAL(SandPieceFileDef, length),
    REAL(SandPieceFileDef, scale),
    NUMBERS(SandPieceFileDef, position, 3),
    PART(SandPieceFileDef, rotation, turn_fields),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t piece_value = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, SandPieceFileDef, piece_fields)};

static const cyaml_schema_field_t compound_fields[] = {
    CYAML_FIELD_SEQUENCE("pieces", CYAML_FLAG_POINTER, SandCompoundFileDef, pieces, &piece_value, 1, SAND_MAX_PIECES),
    LONG_TEXT(SandCompoundFileDef, solid, MOST_PATH),
    CYAML_FIELD_END,
};

// clang-format off
static const cyaml_schema_field_t shape_fields[] = {
    TEXT_NEEDED(SandShapeDef, name),
    CYAML_FIELD_SEQUENCE("spheres", OPTIONAL_PTR, SandShapeDef, spheres, &sphere_value, 1, SAND_MAX_SPHERES),
#define SIZED(KIND, name, ...) CYAML_FIELD_MAPPING_PTR(#name, OPTIONAL_PTR, SandShapeDef, sized[SAND_##KIND], sizes_fields),
    SAND_SIZED_SHAPES(SIZED)
#undef SIZED
    PART(SandShapeDef, hull, hull_fields),
    PART(SandShapeDef, stone, stone_fields),
    PART(SandShapeDef, compound, compound_fields),
    CYAML_FIELD_END,
};
// clang-format on
static const cyaml_schema_value_t shape_value = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, SandShapeDef, shape_fields)};

static const cyaml_strval_t looks[] = {
    {"sand", SAND_LOOK_SAND},         {"stone", SAND_LOOK_ROCK},  {"metal", SAND_LOOK_METAL},
    {"chrome", SAND_LOOK_CHROME},     {"steel", SAND_LOOK_STEEL}, {"glass", SAND_LOOK_GLASS},
    {"graphite", SAND_LOOK_GRAPHITE}, {"wood", SAND_LOOK_WOOD},   {"brass", SAND_LOOK_BRASS},
    {"rubber", SAND_LOOK_RUBBER},     {"paint", SAND_LOOK_PAINT}, {"brick", SAND_LOOK_BRICK},
    {"quartz", SAND_LOOK_QUARTZ},     {"black", SAND_LOOK_BLACK}, {"concrete", SAND_LOOK_CONCRETE},
    {"none", SAND_LOOK_NONE},
};
static const cyaml_schema_field_t material_fields[] = {
    TEXT_NEEDED(SandMaterialDef, name), REAL(SandMaterialDef, density),
    REAL(SandMaterialDef, mu),          REAL(SandMaterialDef, restitution),
    REAL(SandMaterialDef, cohesion),    REAL(SandMaterialDef, rolling),
    REAL(SandMaterialDef, spinning),    CHOICE(SandMaterialDef, look, looks),
    NUMBERS(SandMaterialDef, color, 3), CYAML_FIELD_END,
};
static const cyaml_schema_value_t material_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, SandMaterialDef, material_fields)};

static const cyaml_schema_field_t pair_fields[] = {
    TEXT_NEEDED(SandPairDef, a), TEXT_NEEDED(SandPairDef, b), REAL(SandPairDef, mu),       REAL(SandPairDef, restitution),
    REAL(SandPairDef, cohesion), REAL(SandPairDef, rolling),  REAL(SandPairDef, spinning), CYAML_FIELD_END,
};
static const cyaml_schema_value_t pair_value = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, SandPairDef, pair_fields)};

static const cyaml_schema_value_t path_row = {CYAML_VALUE_SEQUENCE_FIXED(CYAML_FLAG_DEFAULT, double, &real_value, 5)};
static const cyaml_schema_field_t motion_fields[] = {
    NUMBERS(SandMotionDef, velocity, 3),
    NUMBERS(SandMotionDef, axis, 3),
    NUMBERS(SandMotionDef, center, 3),
    REAL(SandMotionDef, rate),
    REAL(SandMotionDef, start),
    REAL(SandMotionDef, stop),
    NUMBERS(SandMotionDef, amplitude, 3),
    REAL(SandMotionDef, swing),
    REAL(SandMotionDef, frequency),
    REAL(SandMotionDef, phase),
    NUMBERS(SandMotionDef, surface, 3),
    LIST(SandMotionDef, path, path_row, MOST_ROWS),
    CYAML_FIELD_END,
};

static const cyaml_strval_t boundary_shapes[] = {
    {"plane", SAND_BOUNDARY_PLANE},     {"box", SAND_BOUNDARY_BOX},         {"cylinder", SAND_BOUNDARY_CYLINDER},
    {"frustum", SAND_BOUNDARY_FRUSTUM}, {"sphere", SAND_BOUNDARY_SPHERE},   {"revolution", SAND_BOUNDARY_REVOLUTION},
    {"mesh", SAND_BOUNDARY_MESH},       {"terrain", SAND_BOUNDARY_TERRAIN},
};
static const cyaml_strval_t sides[] = {{"inside", SAND_INSIDE}, {"outside", SAND_OUTSIDE}};
static const cyaml_strval_t caps[] = {
    {"both", SAND_CAPS_BOTH}, {"bottom", SAND_CAPS_BOTTOM}, {"top", SAND_CAPS_TOP}, {"none", SAND_CAPS_NONE}};
static const cyaml_schema_value_t corner_value = {CYAML_VALUE_SEQUENCE_FIXED(CYAML_FLAG_DEFAULT, double, &real_value, 2)};

static const cyaml_schema_field_t boundary_fields[] = {
    TEXT(SandBoundaryDef, name),
    TEXT(SandBoundaryDef, material),
    CHOICE_NEEDED(SandBoundaryDef, shape, boundary_shapes),
    CHOICE(SandBoundaryDef, side, sides),
    NUMBERS(SandBoundaryDef, position, 3),
    NUMBERS(SandBoundaryDef, normal, 3),
    NUMBERS(SandBoundaryDef, size, 3),
    PART(SandBoundaryDef, rotation, turn_fields),
    PART(SandBoundaryDef, motion, motion_fields),
    REAL(SandBoundaryDef, radius),
    REAL(SandBoundaryDef, height),
    NUMBERS(SandBoundaryDef, radii, 2),
    CHOICE(SandBoundaryDef, caps, caps),
    LIST(SandBoundaryDef, profile, corner_value, MOST_CORNERS),
    LONG_TEXT(SandBoundaryDef, file, MOST_PATH),
    REAL(SandBoundaryDef, width),
    REAL(SandBoundaryDef, length),
    REAL(SandBoundaryDef, amplitude),
    REAL(SandBoundaryDef, wavelength),
    WHOLE(SandBoundaryDef, cells),
    WHOLE(SandBoundaryDef, seed),
    FLAG(SandBoundaryDef, scales),
    FLAG(SandBoundaryDef, hidden),
    REAL(SandBoundaryDef, narrowest),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t boundary_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, SandBoundaryDef, boundary_fields)};

static const cyaml_schema_field_t body_fields[] = {
    TEXT(SandBodyFileDef, name),
    TEXT(SandBodyFileDef, material),
    TEXT_NEEDED(SandBodyFileDef, shape),
    REAL(SandBodyFileDef, radius),
    NUMBERS(SandBodyFileDef, size, 3),
    REAL(SandBodyFileDef, height),
    REAL(SandBodyFileDef, length),
    REAL(SandBodyFileDef, scale),
    REAL(SandBodyFileDef, mass),
    NUMBERS(SandBodyFileDef, position, 3),
    NUMBERS(SandBodyFileDef, velocity, 3),
    NUMBERS(SandBodyFileDef, spin, 3),
    PART(SandBodyFileDef, rotation, turn_fields),
    REAL(SandBodyFileDef, enter),
    FLAG(SandBodyFileDef, scales),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t body_value = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, SandBodyFileDef, body_fields)};

static const cyaml_schema_field_t motor_fields[] = {
    REAL(SandMotorFileDef, speed),   REAL(SandMotorFileDef, position), REAL(SandMotorFileDef, rate),
    REAL(SandMotorFileDef, fastest), REAL(SandMotorFileDef, strength), CYAML_FIELD_END,
};
static const cyaml_schema_field_t spring_fields[] = {
    REAL(SandSpringFileDef, stiffness),
    REAL(SandSpringFileDef, damping),
    REAL(SandSpringFileDef, rest),
    CYAML_FIELD_END,
};
static const cyaml_strval_t joint_kinds[] = {{"ball", SAND_JOINT_BALL},     {"hinge", SAND_JOINT_HINGE},
                                             {"slider", SAND_JOINT_SLIDER}, {"universal", SAND_JOINT_UNIVERSAL},
                                             {"fixed", SAND_JOINT_FIXED},   {"distance", SAND_JOINT_DISTANCE},
                                             {"rod", SAND_JOINT_ROD},       {"rope", SAND_JOINT_ROPE}};
static const cyaml_schema_field_t joint_fields[] = {
    TEXT(SandJointFileDef, name),
    CHOICE_NEEDED(SandJointFileDef, kind, joint_kinds),
    TEXT(SandJointFileDef, a),
    TEXT_NEEDED(SandJointFileDef, b),
    NUMBERS(SandJointFileDef, anchor, 3),
    NUMBERS(SandJointFileDef, anchor_b, 3),
    NUMBERS(SandJointFileDef, axis, 3),
    NUMBERS(SandJointFileDef, axis_b, 3),
    NUMBERS(SandJointFileDef, limits, 2),
    PART(SandJointFileDef, motor, motor_fields),
    PART(SandJointFileDef, spring, spring_fields),
    FLAG(SandJointFileDef, collide),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t joint_value = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, SandJointFileDef, joint_fields)};

static const cyaml_schema_field_t vehicle_fields[] = {
    LIST(SandVehicleFileDef, left, name_value, SAND_MAX_WHEELS),
    LIST(SandVehicleFileDef, right, name_value, SAND_MAX_WHEELS),
    REAL(SandVehicleFileDef, speed),
    REAL(SandVehicleFileDef, torque),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t lattice_fields[] = {
    REAL_NEEDED(SandLatticeDef, spacing),
    REAL(SandLatticeDef, jitter),
    REAL(SandLatticeDef, from),
    REAL(SandLatticeDef, to),
    NUMBERS(SandLatticeDef, center, 2),
    WHOLE(SandLatticeDef, columns),
    REAL(SandLatticeDef, pour),
    FLAG(SandLatticeDef, dense),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t region_fields[] = {
    REAL(SandRegionDef, cylinder),
    NUMBERS(SandRegionDef, box, 2),
    REAL(SandRegionDef, clearance),
    FLAG(SandRegionDef, inside),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t fill_fields[] = {
    TEXT(SandFillDef, name),
    TEXT(SandFillDef, material),
    TEXT(SandFillDef, shape),
    LIST(SandFillDef, shapes, name_value, 255),
    REAL(SandFillDef, radius),
    NUMBERS(SandFillDef, radii, 2),
    NUMBERS(SandFillDef, sizes, 2),
    REAL(SandFillDef, mass),
    WHOLE(SandFillDef, count),
    CYAML_FIELD_MAPPING("lattice", CYAML_FLAG_DEFAULT, SandFillDef, lattice, lattice_fields),
    PART(SandFillDef, region, region_fields),
    NUMBERS(SandFillDef, velocity, 3),
    FLAG(SandFillDef, scales),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t fill_value = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, SandFillDef, fill_fields)};

static const cyaml_schema_field_t outlet_fields[] = {
    TEXT(SandOutletDef, name),
    NUMBERS(SandOutletDef, lower, 3),
    NUMBERS(SandOutletDef, upper, 3),
    NUMBERS(SandOutletDef, point, 3),
    NUMBERS(SandOutletDef, normal, 3),
    FLAG(SandOutletDef, scales),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t outlet_value = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, SandOutletDef, outlet_fields)};

static const cyaml_schema_field_t inlet_fields[] = {
    TEXT(SandInletDef, name),
    TEXT(SandInletDef, material),
    TEXT(SandInletDef, shape),
    LIST(SandInletDef, shapes, name_value, 255),
    REAL(SandInletDef, radius),
    NUMBERS(SandInletDef, radii, 2),
    NUMBERS(SandInletDef, sizes, 2),
    REAL(SandInletDef, mass),
    WHOLE(SandInletDef, count),
    NUMBERS_NEEDED(SandInletDef, lower, 3),
    NUMBERS_NEEDED(SandInletDef, upper, 3),
    REAL_NEEDED(SandInletDef, rate),
    REAL(SandInletDef, start),
    NUMBERS(SandInletDef, velocity, 3),
    FLAG(SandInletDef, scales),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t inlet_value = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, SandInletDef, inlet_fields)};

static const cyaml_schema_value_t whole_value = {CYAML_VALUE_UINT(CYAML_FLAG_DEFAULT, uint32_t)};
static const cyaml_strval_t probe_kinds[] = {
    {"flow", SAND_PROBE_FLOW},         {"force", SAND_PROBE_FORCE},   {"density", SAND_PROBE_DENSITY},
    {"velocity", SAND_PROBE_VELOCITY}, {"stress", SAND_PROBE_STRESS}, {"coordination", SAND_PROBE_COORDINATION},
    {"surface", SAND_PROBE_SURFACE},   {"center", SAND_PROBE_CENTER}, {"energy", SAND_PROBE_ENERGY},
    {"path", SAND_PROBE_PATH},
};
static const cyaml_schema_field_t probe_fields[] = {
    TEXT_NEEDED(SandProbeFileDef, name),
    CHOICE_NEEDED(SandProbeFileDef, kind, probe_kinds),
    REAL(SandProbeFileDef, rate),
    NUMBERS(SandProbeFileDef, point, 3),
    NUMBERS(SandProbeFileDef, normal, 3),
    NUMBERS(SandProbeFileDef, axis, 3),
    NUMBERS(SandProbeFileDef, size, 2),
    REAL(SandProbeFileDef, radius),
    TEXT(SandProbeFileDef, outlet),
    TEXT(SandProbeFileDef, boundary),
    TEXT(SandProbeFileDef, body),
    WHOLE(SandProbeFileDef, index),
    NUMBERS(SandProbeFileDef, about, 3),
    NUMBERS(SandProbeFileDef, lower, 3),
    NUMBERS(SandProbeFileDef, upper, 3),
    CYAML_FIELD_SEQUENCE_FIXED("cells", OPTIONAL_PTR, SandProbeFileDef, cells, &whole_value, 3),
    NUMBERS(SandProbeFileDef, from, 3),
    NUMBERS(SandProbeFileDef, to, 3),
    REAL(SandProbeFileDef, width),
    WHOLE(SandProbeFileDef, bins),
    REAL(SandProbeFileDef, least_force),
    FLAG(SandProbeFileDef, scales),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t probe_value = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, SandProbeFileDef, probe_fields)};
static const cyaml_schema_value_t one_probe = {CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, SandProbeFileDef, probe_fields)};

static const cyaml_strval_t knob_kinds[] = {
    {"mass", SAND_KNOB_MASS},       {"narrowest", SAND_KNOB_NARROWEST},     {"rate", SAND_KNOB_RATE},
    {"mu", SAND_KNOB_MU},           {"restitution", SAND_KNOB_RESTITUTION}, {"cohesion", SAND_KNOB_COHESION},
    {"rolling", SAND_KNOB_ROLLING}, {"spinning", SAND_KNOB_SPINNING},       {"tilt", SAND_KNOB_TILT}};
static const cyaml_schema_field_t knob_fields[] = {
    TEXT_NEEDED(SandKnobDef, name),
    LONG_TEXT(SandKnobDef, about, SAND_SENTENCE - 1),
    LONG_TEXT(SandKnobDef, unit, SAND_UNIT - 1),
    TEXT(SandKnobDef, of),
    CHOICE_NEEDED(SandKnobDef, kind, knob_kinds),
    REAL_NEEDED(SandKnobDef, least),
    REAL_NEEDED(SandKnobDef, most),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t knob_value = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, SandKnobDef, knob_fields)};

static const cyaml_schema_field_t bounds_fields[] = {
    NUMBERS_NEEDED(SandBoundsDef, lower, 3),
    NUMBERS_NEEDED(SandBoundsDef, upper, 3),
    FLAG(SandBoundsDef, scales),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t squeeze_fields[] = {
    REAL_NEEDED(SandSqueezeDef, rate),
    REAL_NEEDED(SandSqueezeDef, pressure),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t world_fields[] = {
    NUMBERS_NEEDED(SandBoundsDef, lower, 3), NUMBERS_NEEDED(SandBoundsDef, upper, 3),      FLAG(SandBoundsDef, scales),
    TEXT(SandBoundsDef, periodic),           PART(SandBoundsDef, squeeze, squeeze_fields), CYAML_FIELD_END,
};

static const cyaml_schema_field_t key_fields[] = {
    NUMBERS(SandLampDef, direction, 3),
    NUMBERS(SandLampDef, color, 3),
    REAL(SandLampDef, strength),
    CYAML_FIELD_END,
};
static const cyaml_schema_field_t fill_light_fields[] = {
    NUMBERS(SandLampDef, color, 3),
    REAL(SandLampDef, strength),
    CYAML_FIELD_END,
};
static const cyaml_schema_field_t backdrop_fields[] = {
    NUMBERS(SandBackdropDef, horizon, 3),
    NUMBERS(SandBackdropDef, zenith, 3),
    CYAML_FIELD_END,
};
static const cyaml_strval_t floors[] = {{"studio", SAND_FLOOR_STUDIO}, {"grid", SAND_FLOOR_GRID}, {"none", SAND_FLOOR_NONE}};
static const cyaml_strval_t frames[] = {{"none", SAND_FRAME_NONE}, {"wood", SAND_FRAME_WOOD}, {"brass", SAND_FRAME_BRASS}};
static const cyaml_strval_t sets[] = {
    {"studio", SAND_PLACE_STUDIO},
    {"table", SAND_PLACE_TABLE},
    {"workshop", SAND_PLACE_WORKSHOP},
    {"stage", SAND_PLACE_STAGE},
    {"laboratory", SAND_PLACE_LABORATORY},
    {"gallery", SAND_PLACE_GALLERY},
    {"hall", SAND_PLACE_HALL},
    {"yard", SAND_PLACE_YARD},
    {"quarry", SAND_PLACE_QUARRY},
    {"regolith", SAND_PLACE_REGOLITH},
    {"moon", SAND_PLACE_MOON},
    {"desert", SAND_PLACE_DESERT},
    {"snow", SAND_PLACE_SNOW},
    {"reactor", SAND_PLACE_REACTOR},
};
static const cyaml_schema_field_t look_fields[] = {
    CHOICE(SandLookDef, set, sets),
    PART(SandLookDef, key, key_fields),
    PART(SandLookDef, fill, fill_light_fields),
    PART(SandLookDef, background, backdrop_fields),
    REAL(SandLookDef, exposure),
    CHOICE(SandLookDef, floor, floors),
    CHOICE(SandLookDef, frame, frames),
    CYAML_FIELD_END,
};

static const cyaml_strval_t scenery_kinds[] = {{"box", SAND_SCENERY_BOX},
                                               {"bar", SAND_SCENERY_BAR},
                                               {"rod", SAND_SCENERY_ROD},
                                               {"ring", SAND_SCENERY_RING},
                                               {"link", SAND_SCENERY_LINK}};
static const cyaml_schema_field_t scenery_fields[] = {
    CHOICE_NEEDED(SandSceneryFileDef, shape, scenery_kinds),
    NUMBERS_NEEDED(SandSceneryFileDef, from, 3),
    NUMBERS_NEEDED(SandSceneryFileDef, to, 3),
    REAL(SandSceneryFileDef, radius),
    REAL(SandSceneryFileDef, width),
    REAL(SandSceneryFileDef, turn),
    NUMBERS(SandSceneryFileDef, color, 3),
    CHOICE_NEEDED(SandSceneryFileDef, look, looks),
    TEXT(SandSceneryFileDef, body),
    FLAG(SandSceneryFileDef, scales),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t scenery_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, SandSceneryFileDef, scenery_fields)};

static const cyaml_schema_field_t camera_fields[] = {
    TEXT_NEEDED(SandSceneCameraDef, name),
    NUMBERS_NEEDED(SandSceneCameraDef, eye, 3),
    NUMBERS_NEEDED(SandSceneCameraDef, target, 3),
    REAL(SandSceneCameraDef, angle),
    FLAG(SandSceneCameraDef, scales),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t camera_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, SandSceneCameraDef, camera_fields)};

static const cyaml_schema_field_t size_fields[] = {WHOLE_NEEDED(SandSizeDef, bodies), CYAML_FIELD_END};

static const cyaml_schema_field_t start_fields[] = {
    FLAG(SandStartDef, settled), REAL(SandStartDef, plug), WHOLE(SandStartDef, most),
    FLAG(SandStartDef, scales),  CYAML_FIELD_END,
};

#define FIELD_double(key) REAL(SandSceneDef, key)
#define FIELD_int(key) INTEGER(SandSceneDef, key)
#define SETTING_FIELD(type, name, ...) FIELD_##type(name),

static const cyaml_schema_field_t scene_fields[] = {
    TEXT_NEEDED(SandSceneDef, name),
    TEXT(SandSceneDef, like),
    LONG_TEXT(SandSceneDef, about, SAND_SENTENCE - 1),
    SAND_WORLD_SETTINGS(SETTING_FIELD) // step and recovery among them
    REAL(SandSceneDef, seconds),
    WHOLE(SandSceneDef, seed),
    NUMBERS(SandSceneDef, gravity, 3),
    PART(SandSceneDef, world, world_fields),
    PART(SandSceneDef, view, bounds_fields),
    TEXT(SandSceneDef, follow),
    PART(SandSceneDef, size, size_fields),
    PART(SandSceneDef, start, start_fields),
    PART(SandSceneDef, look, look_fields),
    PART(SandSceneDef, solver, sand_solver_fields),
    TEXT(SandSceneDef, friction),
    LIST(SandSceneDef, materials, material_value, SAND_MAX_MATERIALS),
    LIST(SandSceneDef, pairs, pair_value, 65536),
    LIST(SandSceneDef, shapes, shape_value, 256),
    LIST(SandSceneDef, boundaries, boundary_value, MOST_BOUNDARIES),
    LIST(SandSceneDef, bodies, body_value, MOST_SINGLE),
    LIST(SandSceneDef, joints, joint_value, MOST_SINGLE),
    PART(SandSceneDef, vehicle, vehicle_fields),
    LIST(SandSceneDef, fills, fill_value, 256),
    LIST(SandSceneDef, outlets, outlet_value, SAND_MAX_OUTLETS),
    LIST(SandSceneDef, inlets, inlet_value, SAND_MAX_INLETS),
    LIST(SandSceneDef, probes, probe_value, SAND_MAX_PROBES),
    LIST(SandSceneDef, knobs, knob_value, SAND_MAX_KNOBS),
    LIST(SandSceneDef, scenery, scenery_value, SAND_MAX_SCENERY),
    LIST(SandSceneDef, cameras, camera_value, SAND_MAX_CAMERAS),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t scene_value = {CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, SandSceneDef, scene_fields)};

bool sand_scene_file_read(SandSceneFile **out, const char *text, size_t size, const char *name, SandError *error) {
    SandSceneFile *file = *out = calloc(1, sizeof *file);
    if (!file) return sand_fail(error, "%.200s: out of memory", name);
    if (!sand_yaml_read(&file->yaml, "scene", &scene_value, text, size, name, error))
        return sand_scene_file_free(file), *out = NULL, false;
    file->def = file->yaml.def;
    return true;
}

bool sand_probe_file_read(SandYaml *yaml, const char *text, size_t size, const char *name, SandError *error) {
    return sand_yaml_read(yaml, "probe", &one_probe, text, size, name, error);
}

// Checks that a scene that is like another overrides no more than it may: other keys would have to fit lists that this file
// does not show.
static bool check_like(const SandSceneFile *file, SandError *error) {
    const SandSceneDef *d = file->def;
    SandSceneDef only;
    memset(&only, 0, sizeof only);
    only.name = d->name;
    only.like = d->like;
    only.about = d->about;
    only.seconds = d->seconds;
    only.size = d->size;
    only.look = d->look;
    only.solver = d->solver;
    only.friction = d->friction;
    if (memcmp(&only, d, sizeof only) != 0)
        return sand_yaml_wrong(
            &file->yaml, error, "like",
            "a scene like another has no other keys than name, about, seconds, size, look, solver and friction");
    if (strchr(d->like, '/'))
        return sand_yaml_wrong(&file->yaml, error, "like", "expected the name of a scene beside this one");
    return true;
}

bool sand_scene_file_become_like(SandSceneFile *file, SandError *error) {
    const SandSceneDef *own = file->def;
    if (!check_like(file, error)) return false;
    const char *slash = strrchr(file->yaml.name, '/');
    char path[4096], *text;
    size_t size = 0;
    int folder = slash ? (int)(slash - file->yaml.name) + 1 : 0;
    int length = snprintf(path, sizeof path, "%.*s%s.yaml", folder, file->yaml.name, own->like);
    if (length < 0 || (size_t)length >= sizeof path)
        return sand_yaml_wrong(&file->yaml, error, "like", "the path is too long");
    SandError why;
    bool ok = sand_yaml_text(path, "scene", &text, &size, &why);
    if (!ok) return sand_yaml_wrong(&file->yaml, error, "like", "%.200s", why.text);
    ok = sand_scene_file_read(&file->base, text, size, path, error);
    free(text);
    if (!ok) return false;
    if (file->base->def->like) return sand_yaml_wrong(&file->yaml, error, "like", "%s is itself like another", own->like);

    SandSceneDef *d = &file->merged;
    *d = *file->base->def;
    d->name = own->name;
    if (own->about) d->about = own->about;
    if (own->seconds) d->seconds = own->seconds;
    if (own->look) d->look = own->look;
    if (own->solver) d->solver = own->solver;
    if (own->friction) d->friction = own->friction;
    if (own->size) file->bodies = own->size->bodies > INT32_MAX ? INT32_MAX : (int)own->size->bodies;
    file->def = d;
    return true;
}

void sand_scene_file_free(SandSceneFile *file) {
    if (!file) return;
    sand_scene_file_free(file->base);
    sand_yaml_free(&file->yaml);
    free(file);
}
