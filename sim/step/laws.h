// SPDX-License-Identifier: MIT
// Restitution, cohesion and rolling friction on the host: what laws.inl says of each contact, put into the problem of a
// step.
#pragma once
#include "sim/core/array.h"
#include "sim/core/thread_pool.h"
#include "sim/step/backend.h"
#include "sim/step/laws.inl"

// Of one step; empty in a world without such laws.
typedef struct SandLaws {
    SAND_ARRAY(SandImpact) impacts; // of each contact, where contacts bounce
    SAND_ARRAY(FixedSum) pulls;     // of each body, by solver index, where contacts cohere
} SandLaws;
void sand_laws_free(SandLaws *laws);

// Adds the bounces, pulls and rolling friction to the contacts of the problem, and the pulls to the free velocities. After
// sand_problem_build.
bool sand_laws_apply(SandLaws *laws, SandHostState *host, SandThreadPool *pool, SandError *error);
// Keeps the approaches of the step with the impulses that were just stored for the next one.
bool sand_laws_keep(const SandLaws *laws, SandHostState *host, SandError *error);
// Adds pulls and rolling friction to contacts that were rebuilt; the free velocities have the pulls.
void sand_laws_rebuild(SandHostState *host);
