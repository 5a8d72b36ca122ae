// For the mock backends of tests: functions that do nothing, and those that several of them share.
#pragma once
#include "sim/step/backend.h"

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

// What read_bodies of a backend brings to the host, but for which bodies are gone.
static inline void mock_copy_bodies(SandWorld *to, const SandWorld *from, int first, int count) {
    for (int i = first; i < first + count; i++) {
        to->position[i] = from->position[i];
        to->velocity[i] = from->velocity[i];
        to->rotation[i] = from->rotation[i];
        to->spin[i] = from->spin[i];
    }
}
