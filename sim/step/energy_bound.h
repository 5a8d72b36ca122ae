// SPDX-License-Identifier: MIT
// The bound on the energy of a step (energy_bound.inl), summed over the bodies of a host state.
#pragma once
#include "sim/core/ranks.h"
#include "sim/core/thread_pool.h"
#include "sim/step/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

// Whether steps of this world are bound: no joints, boundaries that stand still, and something that could add energy beside
// the overlaps of a heap of spheres, from which its contacts take far more in each step: restitution, bodies that are not
// spheres, or no gravity.
bool sand_energy_is_bound(const SandWorld *world);

// The share of the impulses that the velocities of this step keep (kept_share). With ranks all of them call it.
double sand_energy_share(const SandHostState *host, const SandRanks *ranks, SandThreadPool *pool);

#ifdef __cplusplus
}
#endif
