// Methods that see the whole problem at once, as a matrix, on the CPU and in double: the rows SAND_DIRECT of the solver
// table. One iteration is one factorisation, or one cycle of amg. The driver measures every iterate by the measure that all
// solvers share, keeps the best, and minds the budget; a method is four verbs.
#pragma once
#include "cpu_text.h"

typedef struct SandDirect {
    // A method ready at its first iterate; NULL, with a sentence, when it cannot be.
    void *(*begin)(const SandProblem *problem, const SandSolveDef *def, SandError *error);
    // One iteration. *status stays SAND_BUDGET while there is more to do; SAND_SOLVED: nothing can be gained any more.
    bool (*step)(void *method, SandStatus *status, SandError *error);
    void (*impulses)(const void *method, SandVec3 *impulse); // of the iterate, feasible, world frame
    void (*end)(void *method);
} SandDirect;

// One for each row SAND_DIRECT.
#define SAND_ROW(id, ...)
#define SAND_DIRECT(id, ...) extern const SandDirect sand_direct_##id;
#include "solver_table.inl"

// Runs a method. `text` was loaded with the problem, in double: it measures.
bool sand_direct_solve(const SandDirect *method, const SandTextVerbs *verbs, SandText *text, SandTeam *team,
                       const SandProblem *problem, const SandSolveDef *def, SandSolution *solution, SandError *error);
