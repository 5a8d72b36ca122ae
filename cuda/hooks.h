// SPDX-License-Identifier: MIT
// What the stages of a step leave to the one who holds the bodies: a simulation alone (cuda/alone.cu), or one rank of
// several (cuda/ranks/rank_engine.cu). Then the parts of stages that both of them are made of.
#pragma once
#include "cuda/device.h"

// The functions of a rank are collective. Those with a SandError have filled it where they fail.
struct DeviceHooks {
    bool marks_chunks; // collision detection keeps the arrays chunk_of and mask
    void (*free)(SandDevice *device);
    bool (*check)(const SandDevice *device, const SandWorld *w, SandError *error); // refuses features that it lacks
    bool (*upload)(SandDevice *device, SandHostState *host, SandError *error);     // bodies and impulses
    // In the order of a step. Before contacts are looked for: sets body_total, sphere_total, grid_spheres and table_cells,
    // uploads what acts on bodies, and lets bodies enter; `w` is the host's.
    bool (*begin)(SandDevice *device, const SandWorld *w, SandError *error);
    bool (*place)(SandDevice *device);                   // sorts spheres into the grids
    bool (*share)(SandDevice *device, SandError *error); // contacts have been found
    bool (*warm_start)(SandDevice *device);
    bool (*laws)(SandDevice *device, SandError *error);  // cohesion and restitution, before the problem is packed
    bool (*divide)(SandDevice *device);                  // leaves contacts of what rests out of device->problem
    bool (*bound)(SandDevice *device, SandError *error); // sets Counts.kept, the share of the impulses that are kept
    bool (*integrated)(SandDevice *device);
    void (*repeats)(SandDevice *device, bool again); // whether the step must be repeated
    bool (*report)(SandDevice *device, SandStepReport *report, SandError *error);
    int (*probe_blocks)(const SandDevice *device, int alone); // thread blocks that sum a probe; alone, those that are given
    bool (*find)(SandDevice *device, int number, int *body);  // the index of a body of the world; INT_MAX: it is not held
    bool (*measured)(SandDevice *device, SandProbeBatch *batch, SandError *error);
};
extern const DeviceHooks hooks_alone;

// cuda/step/settings.cu: points the world of the step at these forces and torques on the bodies of the device.
bool forces_upload(SandDevice *device, const SandVec3 *force, const SandVec3 *torque, size_t bodies);
// cuda/step/flow.cu: marks in device->blocked the cells of inlets that bodies reach into. `number`: NULL, or of each body of
// a rank, which one it is of the world; `left_out`: NULL, or the bodies that do not count. Then lets bodies enter.
bool inlets_block_enqueue(SandDevice *device, const SandWorld *w, const int *number, const uint8_t *left_out);
bool inlets_enter_enqueue(SandDevice *device);
// cuda/step/laws.cu: what cohesion does to the free motion of bodies, in device->pulls; and how fast contacts bounce, in
// device->impacts, by the approaches that a simulation alone has kept.
bool pulls_enqueue(SandDevice *device);
bool impacts_enqueue(SandDevice *device);
bool bound_enqueue(SandDevice *device); // cuda/step/integrate.cu: over the bodies of a simulation alone
