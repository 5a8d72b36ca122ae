// SPDX-License-Identifier: MIT
// A checkpoint: all that changes in a simulation from step to step. A run that goes on from one gives the same bits.
#pragma once
#include "sim/collision/warm_start.h"
#include "sandglass/checkpoint.h"
#include "sim/core/array.h"
#include "sim/world/world_key.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SandBoundaryState {
    SandPose pose;
    SandMotion motion;
    bool moves;
} SandBoundaryState;

typedef struct SandCheckpoint {
    SandFingerprint world; // that it was saved in, where somebody will ask: sand_checkpoint_mark
    double time;
    uint64_t step_index;
    SandVec3 gravity;
    SandSpring spring;
    SandVec3 lower, upper; // of the box, which may be squeezed
    SandSqueeze squeeze;
    int boundary_count;
    SAND_ARRAY(SandBoundaryState) boundaries; // where they are and how they move, which a person may have changed
    int joint_count;
    SAND_ARRAY(SandJoint) joints; // with their drives, which may have been changed
    int body_count;
    SAND_BODY_STATE(SAND_BODY_POINTER)
    struct {
        SAND_BODY_STATE(SAND_BODY_CAPACITY)
    } body_capacity;
    int outlet_count, inlet_count, probe_count;
    SAND_ARRAY(SandProbeState) probes;     // what they have counted
    int64_t left_bodies[SAND_MAX_OUTLETS]; // through each outlet so far
    double left_mass[SAND_MAX_OUTLETS];
    int entered[SAND_MAX_INLETS]; // through each inlet so far
    SandWarmStart warm_start;
    SandCounters counters; // of the last step, and the totals since the start; kept by sand_simulation_save_state
} SandCheckpoint;

void sand_checkpoint_free(SandCheckpoint *checkpoint);
bool sand_checkpoint_reserve(SandCheckpoint *checkpoint, int bodies, SandError *error); // room for this many
size_t sand_checkpoint_bytes(const SandCheckpoint *checkpoint);                         // that it holds

bool sand_checkpoint_save(SandCheckpoint *checkpoint, const SandWorld *world, const SandWarmStart *warm_start,
                          SandError *error);
// Saves what is neither bodies nor warm start. The number of bodies is that of the world.
bool sand_checkpoint_save_settings(SandCheckpoint *checkpoint, const SandWorld *world, SandError *error);
// Notes which world it is, for a state that leaves the simulation: sand_checkpoint_belongs asks.
void sand_checkpoint_mark(SandCheckpoint *checkpoint, const SandWorld *world);
// Whether it is a state of this world; bodies and probes may have been added since. False, with a sentence that names what
// differs.
bool sand_checkpoint_belongs(const SandCheckpoint *checkpoint, const SandWorld *world, SandError *error);
// Bodies that were added since are taken out again. On failure nothing has changed.
bool sand_checkpoint_restore(const SandCheckpoint *checkpoint, SandWorld *world, SandWarmStart *warm_start,
                             SandError *error);

// Saves and restores the state; the run from a checkpoint gives the same bits again.
bool sand_simulation_save_state(SandSimulation *sim, SandCheckpoint *checkpoint, SandError *error);
bool sand_simulation_restore_state(SandSimulation *sim, const SandCheckpoint *checkpoint, SandError *error);
// The same of a state that may be any: of another world it is refused.
bool sand_simulation_restore_checked(SandSimulation *sim, const SandCheckpoint *checkpoint, SandError *error);
// Restores the counters as well: for a run that goes on in another process, and not back in its own.
void sand_simulation_restore_counters(SandSimulation *sim, const SandCheckpoint *checkpoint);

#ifdef __cplusplus
}
#endif
