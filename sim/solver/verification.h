// SPDX-License-Identifier: MIT
// The claims of a float solve, verified in double. A status is a claim about the problem as it is given, in double; a float
// kernel has its own, rounded one, in which impulses may be admissible and velocities zero that are not. So what it calls
// solved or infeasible is measured again by the kernel of the same variant in double, for one product; where the claim does
// not hold the solve goes on, to a tolerance as much smaller as it erred.
#pragma once
#include "sim/solver/cpu_kernel.h"

// A kernel, and what it has loaded.
typedef struct SandLoaded {
    const SandSolverKernel *kernel;
    SandSolverWorkspace *workspace;
} SandLoaded;

// Whether a solve that has ended claims something, or its caller wants figures that hold.
bool sand_verification_needed(const SandSolution *solution);
// Verifies it. `solver` is the float solve; `exact` has the same problem in double. Figures, status, and impulses that had
// to be made admissible are those in double.
bool sand_verify(SandLoaded solver, SandLoaded exact, SandThreadPool *pool, const SandProblem *problem,
                 const SandSolveDef *def, SandSolution *solution, SandError *error);
