// Methods that see the whole problem at once, as a matrix, on the CPU and in double: the rows SAND_ASSEMBLED_ROW of the
// solver table. One iteration is one factorization, one cycle of amg, or one product with N where a method is made of these.
// The driver measures every iterate by the measure that all solvers share, keeps the best, and minds the budget; a method is
// four verbs.
#pragma once
#include "sim/solver/cpu_kernel.h"

// A solve under way, for a method that has a loop of its own.
typedef struct SandWatch SandWatch;
// Measures the iterate, reached after so many iterations in all. False: it is the last that is wanted.
bool sand_watch_look(SandWatch *watch, int iterations);
// Whether there is budget left and nobody asked to stop; for long work between two iterates.
bool sand_watch_goes_on(const SandWatch *watch, int iterations);

typedef struct SandAssembledMethod {
    // A method ready at its first iterate; NULL, with a sentence, when it cannot be.
    void *(*begin)(const SandProblem *problem, const SandSolveDef *def, SandError *error);
    // One iteration. *status stays SAND_BUDGET while there is more to do; SAND_SOLVED: nothing can be gained any more.
    bool (*step)(void *method, SandStatus *status, SandError *error);
    void (*impulses)(const void *method, SandVec3 *impulse); // of the iterate, feasible, world frame
    void (*end)(void *method);
    // In place of step: iterates, and looks at each iterate, until a look says false or nothing can be gained any more.
    bool (*run)(void *method, SandWatch *watch, SandStatus *status, SandError *error);
    // What has to be done once in a program and is not on the clock; NULL: nothing.
    bool (*prepare)(SandError *error);
} SandAssembledMethod;

// One for each row SAND_ASSEMBLED_ROW and SAND_TAO_ROW.
#define SAND_ROW(id, ...)
#define SAND_ASSEMBLED_ROW(id, ...) extern const SandAssembledMethod sand_assembled_##id;
#define SAND_TAO_ROW SAND_ASSEMBLED_ROW
#include "sim/solver/solver_table.inl"

// Runs a method. `text` was loaded with the problem, in double: it measures.
bool sand_assembled_solve(const SandAssembledMethod *method, const SandSolverKernel *verbs, SandSolverWorkspace *text,
                          SandThreadPool *pool, const SandProblem *problem, const SandSolveDef *def, SandSolution *solution,
                          SandError *error);
