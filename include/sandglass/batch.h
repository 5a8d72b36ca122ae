// SPDX-License-Identifier: MIT
// Many worlds at once: a batch steps small worlds side by side, which know nothing of each other, for statistics over many
// runs and for learning.
//
//     SandBatchDef def = sand_default_batch();
//     def.count = 1024;
//     def.seeds = seeds;                                      // one for each world: no two begin alike
//     SandBatch *batch = sand_batch_create(&world, &def, &error);
//     sand_batch_set_targets(batch, &elbow, 1, angles, &error) && sand_batch_step(batch, NULL, 10, &error) && ...
//     sand_batch_reset(batch, fallen, NULL, &error);          // those of this mask begin anew
//
// Each world is a simulation, which sand_batch_simulation lends: what can be done with one can be done with each. Arrays of
// a batch have an entry for each world, one behind the other: of m bodies of n worlds n x m. A mask has an entry for each
// world, true for those that are meant; NULL means all.
//
// CUDA. With that backend (SandBatchDef.simulation.backend) all worlds step together on the GPU, a thread block for each,
// and a world has the bits that it has alone on the GPU. They are worlds of spheres and boundaries that do not spin, of at
// most 512 in all, with the circular cone and a method without colors, cells or blocks; bodies and counters can be read.
// Whatever else is asked for is refused by name.
//
// Threads. On the CPU a world is stepped by one thread alone; the threads of the batch take the worlds in the order of their
// numbers, each the next that nobody has begun. Since the bits of a simulation do not depend on its threads, a world has the
// same bits in a batch as alone, whatever the batch and its threads. A batch is used by one thread at a time, and its worlds
// not while a call with the batch is under way: a second call is refused.
//
// Errors. A sentence begins with the world that it is about, "world 17: ", of several that failed with the one that has the
// lowest number. All others have done what was asked for.
#pragma once
#include "sandglass/simulation.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SandBatch SandBatch;

typedef struct SandBatchDef {
    int count;                    // worlds, at least 1
    SandSimulationDef simulation; // of every world; `threads` are those of the batch (0: one for each core)
    const uint64_t *seeds;        // of each world, by which sand_world_scatter moves its bodies; NULL: they stay
    double scatter;               // the share of a body's size by which they do; 0: not at all
} SandBatchDef;
SAND_API SandBatchDef sand_default_batch(void); // one world, no seeds, a scatter of 0.001

// Moves every body that no joint holds a little: along each axis by a random part of `share` of its size, which is the
// radius of a sphere around it. Inlets draw other places. Nothing sleeps then. The same seed does the same to the same
// world.
SAND_API void sand_world_scatter(SandWorld *world, uint64_t seed, double share);

// Makes a batch of copies of a world, which stays the caller's. Refused where its backend has no
// batches, or not for this world.
SAND_API SandBatch *sand_batch_create(const SandWorld *world, const SandBatchDef *def, SandError *error);
// Makes a batch of these worlds, def->count of them. It takes them over, also where it fails.
SAND_API SandBatch *sand_batch_of_worlds(SandWorld *worlds, const SandBatchDef *def, SandError *error);
SAND_API void sand_batch_free(SandBatch *batch);

SAND_API int sand_batch_count(const SandBatch *batch); // worlds
// The simulation of a world, which belongs to the batch; NULL: there is no such world. It has one thread.
SAND_API SandSimulation *sand_batch_simulation(const SandBatch *batch, int world);
// Called with what the worlds report, after all have done what was asked for, in the order of their numbers.
typedef void SandBatchMessageCallback(void *user, int world, const char *sentence);
SAND_API void sand_batch_on_message(SandBatch *batch, SandBatchMessageCallback *callback, void *user);

// Takes this many steps of each world of the mask.
SAND_API bool sand_batch_step(SandBatch *batch, const bool *mask, int steps, SandError *error);
// Brings the worlds of the mask back to their start, and scatters their bodies: by new seeds, one for each world (those that
// the mask leaves out are not read), or where seeds is NULL by the last ones, so that the same run begins again.
SAND_API bool sand_batch_reset(SandBatch *batch, const bool *mask, const uint64_t *seeds, SandError *error);
// Puts a state that was saved (sandglass/checkpoint.h) into the worlds of the mask, which must be of the same world. Their
// start stays what it was.
SAND_API bool sand_batch_restore(SandBatch *batch, const bool *mask, const void *bytes, size_t size, SandError *error);
// Makes what the worlds of the mask are now their start. They have no seed then, until a reset gives them one.
SAND_API bool sand_batch_keep_start(SandBatch *batch, const bool *mask, SandError *error);

// --- observations and actions -------------------------------------------------------------------------------------

// The most that a world of the batch has. Arrays over all bodies, joints or cells are that wide; a world that has fewer has
// NAN in the rest.
SAND_API int sand_batch_body_count(const SandBatch *batch);
SAND_API int sand_batch_joint_count(const SandBatch *batch);

// Arrays of worlds x bodies entries to be filled; NULL: not wanted.
typedef struct SandBatchBodies {
    SandVec3 *position, *velocity, *spin; // m, m/s, rad/s
    SandQuat *rotation;
    SandVec3 *force, *torque; // N, N m, of the contacts of the last step (sandglass/query.h)
} SandBatchBodies;
// Reads the same `count` bodies of every world, by their numbers; NULL: all, and count is not looked at.
SAND_API bool sand_batch_read_bodies(SandBatch *batch, const int *bodies, int count, const SandBatchBodies *to,
                                     SandError *error);

// Arrays of worlds x joints entries to be filled, as SandJointState has them; NULL: not wanted.
typedef struct SandBatchJoints {
    double *position, *speed, *motor;
} SandBatchJoints;
// Reads the same `count` joints of every world, by their numbers; NULL: all, and count is not looked at.
SAND_API bool sand_batch_read_joints(SandBatch *batch, const int *joints, int count, const SandBatchJoints *to,
                                     SandError *error);

// Reads the last sample of a probe in every world: worlds x cells x columns numbers. Refused where a world has no such probe
// or one with other cells or columns than the first world has.
SAND_API bool sand_batch_read_probe(SandBatch *batch, int probe, double *to, SandError *error);

// Sets the targets of the motors of the same `count` joints in every world of the mask, from the next step on: worlds x
// joints numbers, m or rad, or m/s or rad/s, as the motor of the joint has it. Refuses joints without a motor and numbers
// that are not finite; then no target of that world was set.
SAND_API bool sand_batch_set_targets(SandBatch *batch, const bool *mask, const int *joints, int count, const double *targets,
                                     SandError *error);
// Adds forces (N) and torques (N m; NULL: none) to what acts in the coming step on the same `count` bodies of every world of
// the mask, at their centers of mass: worlds x bodies entries (sand_simulation_apply_force).
SAND_API bool sand_batch_apply_force(SandBatch *batch, const bool *mask, const int *bodies, int count, const SandVec3 *force,
                                     const SandVec3 *torque, SandError *error);

#ifdef __cplusplus
}
#endif
