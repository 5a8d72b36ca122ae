// SPDX-License-Identifier: MIT
// Checkpoints: the state of a simulation, kept in memory or in a file. A run that goes on from one has the same bits as the
// run that was never interrupted, in the same simulation or in another one of the same world, also in another process and
// on another machine of the same kind:
//
//     void *state;
//     size_t size;
//     sand_simulation_save(sim, &state, &size, &error);
//     ... sand_simulation_step, many times ...
//     sand_simulation_restore(other, state, size, &error);
//     sand_free(state);
//
// A state holds time, bodies, impulses for the next step, which bodies are asleep, gravity, the mouse spring, the box, where
// boundaries are and how they move, joints with their drives, what has passed inlets and outlets, what probes have counted,
// and the counters. It does not hold the world itself, nor solver, precision and device: those are the simulation's own, and
// the bits are the same where they are. Files of the program (--checkpoint) and of the Python package are the same.
#pragma once
#include "sandglass/simulation.h"

#ifdef __cplusplus
extern "C" {
#endif

// Saves the state to memory: `*bytes` is the caller's, to be freed with sand_free.
SAND_API bool sand_simulation_save(SandSimulation *sim, void **bytes, size_t *size, SandError *error);
// Restores a state that was saved from this simulation or from another one of the same world. Bodies and probes that were
// added since are taken out, or begin anew; there are no contacts until the next step. Refuses bytes that are empty, cut off
// or damaged, that another version has written, and a state of another world, with a sentence that names what differs; then
// nothing has changed.
SAND_API bool sand_simulation_restore(SandSimulation *sim, const void *bytes, size_t size, SandError *error);

// The same in a file. It is written under another name and renamed: whatever happens, `path` has the state of before or that
// of now, whole.
SAND_API bool sand_simulation_save_file(SandSimulation *sim, const char *path, SandError *error);
SAND_API bool sand_simulation_restore_file(SandSimulation *sim, const char *path, SandError *error);

#ifdef __cplusplus
}
#endif
