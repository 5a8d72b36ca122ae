// SPDX-License-Identifier: MIT
// The layout of the structs that Python reads, filled in by the compiler: the package makes its ctypes structs and numpy
// types from this table, so that no offset is typed by hand and a library never meets the layout of another version.
#include "python/bridge.h"
#include "python/picture.h"
#include "sandglass/backend.h"
#include "sandglass/batch.h"
#include "sandglass/export.h"
#include "sandglass/query.h"

#include <stddef.h>

// The type of a member, as SandLayoutRow has it.
// clang-format off
#define TYPE(member) \
    _Generic((member), double: "d", int: "i", unsigned: "I", bool: "?", uint64_t: "Q", int64_t: "q", uint8_t: "B", uint16_t: "H", \
             SandVec3: "SandVec3", SandQuat: "SandQuat", SandPose: "SandPose", SandMotion: "SandMotion", SandDrive: "SandDrive", \
             SandMetrics: "SandMetrics", SandIslandReport: "SandIslandReport", SandRecovery: "SandRecovery", SandSolveDef: "SandSolveDef", SandSimulationDef: "SandSimulationDef", SandStudio: "SandStudio", \
             SandParam: "SandParam", SandKnob: "SandKnob", SandWorld: "SandWorld", SandShape: "SandShape")

#define MEMBER(name) ((STRUCT *)0)->name
#define TEXT_OF(word) #word
#define NAME_OF(word) TEXT_OF(word)
#define SIZE {NAME_OF(STRUCT), NULL, 0, sizeof(STRUCT), 1, ""}
#define ROW(name, elements, kind) {NAME_OF(STRUCT), #name, offsetof(STRUCT, name), sizeof MEMBER(name), elements, kind}
#define FIELD(name) ROW(name, 1, TYPE(MEMBER(name)))
#define ARRAY(name) ROW(name, sizeof MEMBER(name) / sizeof MEMBER(name)[0], TYPE(MEMBER(name)[0]))
#define POINTER(name) ROW(name, 1, "P")
#define BODY_ARRAY(type, name) POINTER(name),
#define SETTING(type, name, ...) FIELD(name),
#define TEXT(name) ROW(name, sizeof MEMBER(name), "s")

const SandLayoutRow sand_layout[] = {
// --- values --------------------------------------------------------------------------------------------------
#define STRUCT SandVec3
    SIZE, FIELD(x), FIELD(y), FIELD(z),
#undef STRUCT
#define STRUCT SandQuat
    SIZE, FIELD(w), FIELD(x), FIELD(y), FIELD(z),
#undef STRUCT
#define STRUCT SandPose
    SIZE, FIELD(position), FIELD(rotation),
#undef STRUCT
#define STRUCT SandError
    SIZE, TEXT(text),
#undef STRUCT
// --- solvers and problems --------------------------------------------------------------------------------------
#define STRUCT SandParam
    SIZE, POINTER(name), FIELD(kind), FIELD(value), FIELD(least), FIELD(most), POINTER(text), POINTER(choices),
#undef STRUCT
#define STRUCT SandSolver
    SIZE, POINTER(name), POINTER(paper), POINTER(idea), POINTER(weakness), FIELD(friction), FIELD(on_cuda), FIELD(assembled),
    ARRAY(params),
#undef STRUCT
#define STRUCT SandFrictionRow
    SIZE, POINTER(name), POINTER(text),
#undef STRUCT
#define STRUCT SandBoundsRow
    SIZE, POINTER(name), POINTER(text),
#undef STRUCT
#define STRUCT SandSolveDef
    SIZE, FIELD(solver), FIELD(friction), FIELD(bounds), FIELD(facets), FIELD(presolve), FIELD(renewal), ARRAY(params),
    FIELD(iterations), FIELD(budget_ms), FIELD(tolerance), FIELD(relative), FIELD(accuracy), FIELD(islands),
#undef STRUCT
#define STRUCT SandContact
    SIZE, FIELD(a), FIELD(b), FIELD(normal), FIELD(arm_a), FIELD(arm_b), FIELD(gap), FIELD(mu), FIELD(rolling),
    FIELD(spinning), FIELD(bounce), FIELD(pull),
#undef STRUCT
#define STRUCT SandProblemBody
    SIZE, FIELD(inverse_mass), ARRAY(inverse_inertia), FIELD(velocity), FIELD(spin), FIELD(radius), FIELD(position),
#undef STRUCT
#define STRUCT SandRecovery
    SIZE, FIELD(speed), FIELD(depth), FIELD(fraction), FIELD(fall),
#undef STRUCT
#define STRUCT SandProblem
    SIZE, POINTER(matrix), FIELD(body_count), FIELD(dynamic_count), FIELD(contact_count), FIELD(radial), FIELD(bounces),
    FIELD(step), FIELD(recovery), POINTER(bodies), POINTER(contacts), FIELD(rolls), POINTER(start), FIELD(joint_count),
    POINTER(joint),
#undef STRUCT
#define STRUCT SandMetrics
    SIZE, FIELD(residual), FIELD(residual_rms), FIELD(objective), FIELD(complementarity), FIELD(relative), FIELD(r_norm),
#undef STRUCT
#define STRUCT SandIslandReport
    SIZE, FIELD(count), FIELD(solved), FIELD(factorizations), FIELD(rms),
#undef STRUCT
#define STRUCT SandCurvePoint
    SIZE, FIELD(iteration), FIELD(seconds), FIELD(residual), FIELD(objective),
#undef STRUCT
#define STRUCT SandSolution
    SIZE, FIELD(status), FIELD(iterations), FIELD(seconds), FIELD(metrics), FIELD(islands), FIELD(least_energy), POINTER(impulse),
    POINTER(velocity), POINTER(spin), FIELD(want_curve), FIELD(want_metrics), FIELD(curve_count), POINTER(curve),
#undef STRUCT
// --- worlds ----------------------------------------------------------------------------------------------------
#define STRUCT SandMotion
    SIZE, FIELD(velocity), FIELD(center), FIELD(axis), FIELD(rate), FIELD(start), FIELD(stop), FIELD(amplitude), FIELD(swing),
    FIELD(frequency), FIELD(phase), FIELD(surface), FIELD(path),
#undef STRUCT
#define STRUCT SandMotionPoint
    SIZE, FIELD(time), FIELD(shift), FIELD(angle),
#undef STRUCT
#define STRUCT SandShape
    SIZE, FIELD(kind), FIELD(piece_count), FIELD(volume), FIELD(inertia), FIELD(bound), FIELD(from_input),
#undef STRUCT
#define STRUCT SandShapeSizes
    SIZE, FIELD(radius), FIELD(height), FIELD(length), FIELD(size),
#undef STRUCT
#define STRUCT SandShapeSphere
    SIZE, FIELD(center), FIELD(radius),
#undef STRUCT
#define STRUCT SandPiece
    SIZE, FIELD(shape), FIELD(scale), FIELD(pose),
#undef STRUCT
#define STRUCT SandSolid
    SIZE, FIELD(volume), FIELD(center), FIELD(moments), FIELD(products),
#undef STRUCT
#define STRUCT SandMeshData
    SIZE, FIELD(vertex_count), FIELD(face_count), POINTER(vertices), POINTER(faces), POINTER(lines),
#undef STRUCT
#define STRUCT SandBoundary
    SIZE, FIELD(kind), TEXT(name), FIELD(material), FIELD(pose), FIELD(motion), FIELD(moves),
#undef STRUCT
#define STRUCT SandMaterial
    SIZE, TEXT(name), FIELD(density), FIELD(mu), FIELD(restitution), FIELD(cohesion), FIELD(rolling), FIELD(spinning), FIELD(look), FIELD(color),
#undef STRUCT
#define STRUCT SandPair
    SIZE, FIELD(mu), FIELD(restitution), FIELD(cohesion), FIELD(rolling), FIELD(spinning),
#undef STRUCT
#define STRUCT SandBodyDef
    SIZE, FIELD(shape), FIELD(material), FIELD(scale), FIELD(mass), FIELD(pose), FIELD(velocity), FIELD(spin), FIELD(enter),
#undef STRUCT
#define STRUCT SandDrive
    SIZE, FIELD(low), FIELD(high), FIELD(motor), FIELD(target), FIELD(rate), FIELD(speed), FIELD(strength), FIELD(stiffness),
    FIELD(damping), FIELD(rest),
#undef STRUCT
#define STRUCT SandJointDef
    SIZE, FIELD(kind), FIELD(a), FIELD(b), FIELD(anchor), FIELD(anchor_b), FIELD(axis), FIELD(axis_b), FIELD(drive),
    FIELD(collide), TEXT(name),
#undef STRUCT
#define STRUCT SandJoint
    SIZE, FIELD(kind), FIELD(a), FIELD(b), TEXT(name), FIELD(drive),
#undef STRUCT
#define STRUCT SandOutlet
    SIZE, TEXT(name), FIELD(lower), FIELD(upper), FIELD(normal), FIELD(offset), FIELD(bodies), FIELD(mass),
#undef STRUCT
#define STRUCT SandProbe
    SIZE, TEXT(name), FIELD(kind), FIELD(rate), FIELD(outlet), FIELD(boundary), FIELD(body), FIELD(whole), ARRAY(size),
    FIELD(radius), ARRAY(cells), FIELD(least_force),
#undef STRUCT
#define STRUCT SandWorld
    SIZE, FIELD(body_count), SAND_BODY_ARRAYS(BODY_ARRAY) FIELD(shape_count),
    FIELD(boundary_count), FIELD(material_count), POINTER(shapes), POINTER(boundaries), POINTER(materials), POINTER(pairs),
    FIELD(joint_count), POINTER(joints), FIELD(outlet_count), POINTER(outlets), FIELD(probe_count), POINTER(probes), FIELD(gravity), FIELD(lower), FIELD(upper), ARRAY(periodic),
    SAND_WORLD_SETTINGS(SETTING) FIELD(time), FIELD(step_index),
#undef STRUCT
// --- scenes and simulations ------------------------------------------------------------------------------------
#define STRUCT SandSceneOptions
    SIZE, FIELD(bodies), FIELD(step), FIELD(has_seed), FIELD(seed), FIELD(start), POINTER(probes), FIELD(probe_count),
#undef STRUCT
#define STRUCT SandKnob
    SIZE, TEXT(name), TEXT(about), TEXT(unit), FIELD(value), FIELD(least), FIELD(most),
#undef STRUCT
#define STRUCT SandStudio
    SIZE, FIELD(exposure), FIELD(floor), FIELD(frame),
#undef STRUCT
#define STRUCT SandScene
    SIZE, TEXT(name), TEXT(about), FIELD(seconds), FIELD(seed), FIELD(studio), FIELD(solve), FIELD(knob_count), ARRAY(knobs),
    FIELD(world), FIELD(view_lower), FIELD(view_upper), FIELD(follow), FIELD(follow_from),
#undef STRUCT
#define STRUCT SandSceneEntry
    SIZE, TEXT(name), TEXT(about),
#undef STRUCT
#define STRUCT SandDeviceArrays
    SIZE, FIELD(bodies), FIELD(contacts), POINTER(position), POINTER(velocity), POINTER(spin), POINTER(rotation),
    POINTER(impulse),
#undef STRUCT
#define STRUCT SandSimulationDef
    SIZE, FIELD(threads), FIELD(precision), FIELD(solve), POINTER(backend),
#undef STRUCT
#define STRUCT SandBatchDef
    SIZE, FIELD(count), FIELD(simulation), POINTER(seeds), FIELD(scatter),
#undef STRUCT
#define STRUCT SandBatchBodies
    SIZE, POINTER(position), POINTER(velocity), POINTER(spin), POINTER(rotation), POINTER(force), POINTER(torque),
#undef STRUCT
#define STRUCT SandBatchJoints
    SIZE, POINTER(position), POINTER(speed), POINTER(motor),
#undef STRUCT
#define STRUCT SandForces
    SIZE, FIELD(count), POINTER(body), POINTER(force), POINTER(torque), POINTER(at),
#undef STRUCT
#define STRUCT SandJointState
    SIZE, FIELD(position), FIELD(speed), FIELD(motor),
#undef STRUCT
#define STRUCT SandJointRow
    SIZE, FIELD(contact), FIELD(joint), FIELD(block), FIELD(a), FIELD(b), FIELD(angular), FIELD(axis), FIELD(impulse),
#undef STRUCT
#define STRUCT SandRay
    SIZE, FIELD(from), FIELD(along), FIELD(reach), FIELD(passes),
#undef STRUCT
#define STRUCT SandHit
    SIZE, FIELD(distance), FIELD(body), FIELD(boundary), FIELD(point), FIELD(normal),
#undef STRUCT
#define STRUCT SandContactEvent
    SIZE, FIELD(a), FIELD(b), FIELD(begins), FIELD(ends), FIELD(touching), FIELD(first), FIELD(last), FIELD(impulse), FIELD(hardest),
    FIELD(point), FIELD(normal),
#undef STRUCT
#define STRUCT SandExportDef
    SIZE, POINTER(path), POINTER(columns), FIELD(contacts), FIELD(rate), FIELD(lower), FIELD(upper), POINTER(scene), FIELD(has_seed),
    FIELD(seed), POINTER(on_message), POINTER(message_user),
#undef STRUCT
#define STRUCT SandEnergy
    SIZE, FIELD(kinetic), FIELD(potential),
#undef STRUCT
#define STRUCT SandProfile
    SIZE, FIELD(collide), FIELD(warm_start), FIELD(build), FIELD(solve), FIELD(integrate), FIELD(step), FIELD(downloaded),
#undef STRUCT
#define STRUCT SandCounters
    SIZE, FIELD(bodies), FIELD(contacts), FIELD(joint_rows), FIELD(asleep), FIELD(solved_contacts), FIELD(warm_started), FIELD(iterations),
    FIELD(status), FIELD(metrics), FIELD(islands), FIELD(solved), FIELD(penetration_max), FIELD(penetration_walls), FIELD(lost_total),
    FIELD(infeasible_total), FIELD(entered_total), FIELD(left_total), FIELD(left_mass),
#undef STRUCT
#define STRUCT SandDeviceInfo
    SIZE, TEXT(name), FIELD(memory), FIELD(processors), FIELD(doubles),
#undef STRUCT
#define STRUCT SandStateInfo
    SIZE, FIELD(time), FIELD(steps), FIELD(bodies),
#undef STRUCT
#define STRUCT SandMatrixDef
    SIZE, FIELD(contacts), POINTER(begin), POINTER(row), POINTER(value), POINTER(q), POINTER(mu),
#undef STRUCT
#define STRUCT SandPictureDef
    SIZE, FIELD(width), FIELD(height), POINTER(view), FIELD(followed), FIELD(follows), POINTER(quality), POINTER(color), POINTER(values), POINTER(map), FIELD(has_range),
    FIELD(low), FIELD(high), FIELD(chains), FIELD(samples), FIELD(exposure),
#undef STRUCT
    {0}};

#define CONSTANT(name) {#name, name}
// clang-format on
const SandConstant sand_constants[] = {
    CONSTANT(SAND_FRICTION_COUNT), CONSTANT(SAND_BOUNDS_COUNT),  CONSTANT(SAND_FLOAT),         CONSTANT(SAND_DOUBLE),
    CONSTANT(SAND_INSIDE),         CONSTANT(SAND_OUTSIDE),       CONSTANT(SAND_JOINT_KINDS),   CONSTANT(SAND_LOOK_COUNT),
    CONSTANT(SAND_PROBE_KINDS),    CONSTANT(SAND_PROBE_FLOW),    CONSTANT(SAND_MOTOR_SPEED),   CONSTANT(SAND_MOTOR_POSITION),
    CONSTANT(SAND_MOTOR_NONE),     CONSTANT(SAND_START_LATTICE), CONSTANT(SAND_START_SETTLED), CONSTANT(SAND_SHAPE_KINDS),
    CONSTANT(SAND_SPHERE),         CONSTANT(SAND_PYTHON_ARRAYS), CONSTANT(SAND_PYTHON_AVX2),   {0}};
