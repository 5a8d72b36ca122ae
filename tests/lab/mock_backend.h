// SPDX-License-Identifier: MIT
// The mock backends of tests: one table, of which a test names what its backend does otherwise.
#pragma once
#include "sim/step/backend.h"

#pragma GCC diagnostic ignored "-Woverride-init" // rows of the table are there to be replaced

static inline bool noop_upload(SandDevice *device, SandHostState *host, SandError *error) {
    return (void)device, (void)host, (void)error, true;
}
static inline bool noop_collide(SandDevice *device, const SandWorld *world, SandError *error) {
    return (void)device, (void)world, (void)error, true;
}
static inline bool noop_warm_start(SandDevice *device, SandError *error) { return (void)device, (void)error, true; }
static inline bool noop_build(SandDevice *device, const SandSolveDef *def, SandError *error) {
    return (void)device, (void)def, (void)error, true;
}
static inline bool noop_solve(SandDevice *device, const SandSolveDef *def, bool curve, bool metrics, const int *stop,
                              SandError *error) {
    return (void)device, (void)def, (void)curve, (void)metrics, (void)stop, (void)error, true;
}
static inline bool noop_read_problem_bodies(SandDevice *device, SandProblemBody *bodies, int count, SandError *error) {
    return (void)device, (void)bodies, (void)count, (void)error, true;
}
static inline bool noop_read_start(SandDevice *device, SandVec3 *start, SandError *error) {
    return (void)device, (void)start, (void)error, true;
}
static inline bool noop_read_solution(SandDevice *device, SandSolution *solution, SandError *error) {
    return (void)device, (void)solution, (void)error, true;
}

// Reports nothing of the step.
static inline bool mock_finish(SandDevice *device, SandStepReport *report, SandError *error) {
    (void)device, (void)error;
    *report = (SandStepReport){0};
    return true;
}

// Nothing is kept of the last step.
static inline bool mock_read_warm_start(SandDevice *device, SandWarmStart *warm_start, SandError *error) {
    (void)device, (void)error;
    warm_start->step = 0;
    return true;
}

static inline const char *mock_describe(const SandDevice *device) { return (void)device, "a mock device"; }

// A backend whose step does nothing, with these rows in place of its own: MOCK_BACKEND(.name = "lifting", .create = create,
// ...). It needs a name, create and destroy.
#define MOCK_BACKEND(...) \
    { \
        .describe = mock_describe, .upload = noop_upload, .collide = noop_collide, .warm_start = noop_warm_start, \
        .build = noop_build, .solve = noop_solve, .finish = mock_finish, .read_warm_start = mock_read_warm_start, \
        .read_problem_bodies = noop_read_problem_bodies, .read_start = noop_read_start, \
        .read_solution = noop_read_solution, __VA_ARGS__ \
    }

// What read_bodies of a backend brings to the host, but for which bodies are gone.
static inline void mock_copy_bodies(SandWorld *to, const SandWorld *from, int first, int count) {
    for (int i = first; i < first + count; i++) {
        to->position[i] = from->position[i];
        to->velocity[i] = from->velocity[i];
        to->rotation[i] = from->rotation[i];
        to->spin[i] = from->spin[i];
    }
}
