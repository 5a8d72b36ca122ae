// SPDX-License-Identifier: MIT
// The whole library: this header includes all others. docs/library.md says how to build and link a program.
//
// Start from a world (world.h) or from a scene file (scene.h), make a simulation of it (simulation.h), on the CPU or on a
// GPU (backend.h), take steps, read bodies, contacts and probes, and keep its state (checkpoint.h). Contact problems of
// one's own are solved without a world (problem.h, solver.h).
//
// Errors. A function that can fail says so in its result, and fills a SandError with one sentence. Nothing exits or aborts.
//
// Threads. Different worlds, scenes, problems and simulations may be used by different threads at once; one of them by one
// thread at a time. A simulation has threads of its own, and the result does not depend on how many. Exceptions are the
// folder of scenes (sand_scenes_folder, sand_scenes_use, sand_scene_open by a name), which the process has once, and
// sand_reference_enable: call them from one thread at a time, the latter before anything else.
//
// Lifetime. Who makes something frees it: sand_..._free for what a function of that name has made, sand_free for memory that
// a function returns. sand_simulation_create takes the world over. Pointers that a simulation returns (world, problem,
// solution, counters) are its own; they are good until it is freed, and their contents until the next call that changes it.
//
// Fork. A process that was forked has the memory of its parent and none of its threads: there a simulation of the parent is
// refused with a sentence, may be freed, and others may be created. A GPU cannot be used in a fork of a process that has
// used it.
//
// Stability. Until version 1.0 a minor version (0.2, 0.3) may change functions and structs, and a patch (0.2.1) changes
// neither: the name of the shared library has the minor version, and a program is built again for another. Files of states
// are read by the version that wrote them. A run has the same bits with the same version, compiler and kind of processor.
#pragma once
#include "sandglass/backend.h"
#include "sandglass/batch.h"
#include "sandglass/checkpoint.h"
#include "sandglass/error.h"
#include "sandglass/export.h"
#include "sandglass/geometry.h"
#include "sandglass/math.h"
#include "sandglass/probe.h"
#include "sandglass/problem.h"
#include "sandglass/query.h"
#include "sandglass/scene.h"
#include "sandglass/simulation.h"
#include "sandglass/solver.h"
#include "sandglass/world.h"
