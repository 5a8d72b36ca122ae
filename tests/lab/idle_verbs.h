// Backend functions that do nothing, for the mock backends of tests.
#pragma once
#include "sim/step/backend.h"

static inline bool idle_warm_start(SandDevice *m, SandError *error) { return (void)m, (void)error, true; }
static inline bool idle_build(SandDevice *m, const SandSolveDef *def, SandError *error) {
    return (void)m, (void)def, (void)error, true;
}
static inline bool idle_read_bodies(SandDevice *m, SandProblemBody *bodies, int count, SandError *error) {
    return (void)m, (void)bodies, (void)count, (void)error, true;
}
static inline bool idle_read_start(SandDevice *m, SandVec3 *start, SandError *error) {
    return (void)m, (void)start, (void)error, true;
}
static inline bool idle_read_solution(SandDevice *m, SandSolution *solution, SandError *error) {
    return (void)m, (void)solution, (void)error, true;
}
static inline bool idle_solve(SandDevice *m, const SandSolveDef *def, bool curve, bool metrics, const int *stop,
                              SandError *error) {
    return (void)m, (void)def, (void)curve, (void)metrics, (void)stop, (void)error, true;
}
