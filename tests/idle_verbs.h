// Verbs of a machine that have nothing to do, for machines of tests.
#pragma once
#include "../sim/backend.h"

static inline bool idle_match(SandMachine *m, SandError *error) { return (void)m, (void)error, true; }
static inline bool idle_build(SandMachine *m, const SandSolveDef *def, SandError *error) {
    return (void)m, (void)def, (void)error, true;
}
static inline bool idle_solve(SandMachine *m, const SandSolveDef *def, bool curve, bool metrics, const int *stop,
                              SandError *error) {
    return (void)m, (void)def, (void)curve, (void)metrics, (void)stop, (void)error, true;
}
