// SPDX-License-Identifier: MIT
// Assembled methods: solvers that need N as a sparse matrix. They run on the CPU in double precision and are the rows
// SAND_ASSEMBLED_ROW and SAND_TAO_ROW of the solver table; one method per file in sim/solver/reference. One iteration is one
// factorization, one multigrid cycle, or one product with N, whichever the method is made of.
//
// The driver in assembled.c measures every iterate with the residual that all solvers share, keeps the best one, enforces
// the budget and the tolerance, and decides the status. A method supplies begin, step (or a loop of its own, run), impulses
// and end. Start reading at reference/newton.c, the shortest method; reference/cone_program.h explains the problem that all
// of them solve.
#pragma once
#include "sim/solver/cpu_kernel.h"
#include "sim/solver/registry.h"

// Observes a running solve: measures iterates, keeps the best, records the curve. Methods with a loop of their own call it.
typedef struct SandIterationMonitor SandIterationMonitor;
// Measures the current iterate; `iterations` is the total so far. Returns false when the method must stop at this iterate.
bool sand_monitor_iterate(SandIterationMonitor *monitor, int iterations);
// Returns whether budget is left and no stop was requested; for long work between two iterates.
bool sand_monitor_has_budget(const SandIterationMonitor *monitor, int iterations);

struct SandAssembledMethod {
    // Creates the method at its first iterate. Returns NULL and sets the error on failure.
    void *(*begin)(const SandProblem *problem, const SandSolveDef *def, SandError *error);
    // Performs one iteration. *end stays SAND_END_NONE while there is more to do. SAND_END_EXHAUSTED: no further gain is
    // possible. SAND_END_RECEDES: the impulses seem to grow without end; the driver checks them, and goes on if they do not
    // prove it.
    bool (*step)(void *method, SandEnd *end, SandError *error);
    void (*impulses)(const void *method, SandVec3 *impulse); // of the current iterate: feasible, world frame
    void (*end)(void *method);
    // Replaces step: iterates, and reports each iterate to the monitor, until the monitor returns false or no further gain
    // is possible.
    bool (*run)(void *method, SandIterationMonitor *monitor, SandError *error);
    // Once-per-process initialization, excluded from the measured time; NULL: none.
    bool (*prepare)(SandError *error);
};

// Runs a method. `workspace` must hold the same problem in double precision: `kernel` uses it to measure the iterates.
bool sand_assembled_solve(const SandAssembledMethod *method, const SandSolverKernel *kernel, SandSolverWorkspace *workspace,
                          SandThreadPool *pool, const SandProblem *problem, const SandSolveDef *def, SandSolution *solution,
                          SandError *error);
