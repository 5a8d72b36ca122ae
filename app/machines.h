// The machines that can take the steps of a simulation, in this build and on this computer.
#pragma once
#include "sim/backend.h"
#include "sim/solver.h"

// The backend for a choice of --backend (options.h); NULL stands for the CPU. `auto` takes CUDA where there is a device that
// can do this solver in this precision, and never fails.
bool machines_choose(int choice, const SandSolveDef *solve, SandPrecision precision, const SandBackend **backend,
                     SandError *error);

// One line about the CUDA device, or why there is none. True where there is one.
bool machines_describe(char *line, size_t size);
