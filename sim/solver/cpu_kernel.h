// What cpu_text.c gives to cpu.c, once for each precision, number of rows and kind of arms.
#pragma once
#include "sim/solver/problem.h"
#include "sim/core/thread_pool.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SandText SandText; // the operator, the vectors and the run, typed inside

typedef struct SandTextVerbs {
    SandText *(*create)(SandError *error);
    void (*destroy)(SandText *text);
    // Lays the problem out for the solver. False when memory is out.
    bool (*load)(SandText *text, SandThreadPool *pool, const SandProblem *problem, const SandSolveDef *def,
                 SandError *error);
    // Solves what was loaded and fills the solution.
    bool (*solve)(SandText *text, SandThreadPool *pool, const SandProblem *problem, const SandSolveDef *def,
                  SandSolution *solution, SandError *error);
    // How good x is, world vectors; for methods that are not one of the texts.
    void (*measure)(SandText *text, SandThreadPool *pool, const SandVec3 *x, SandMetrics *metrics);
    // How far each contact is from its law at the impulses x: each block's share of the residual, m/s.
    void (*residuals)(SandText *text, SandThreadPool *pool, const SandVec3 *x, double *each);
    // y = N x for block vectors given as world vectors; for tests.
    void (*product)(SandText *text, SandThreadPool *pool, const SandVec3 *x, SandVec3 *y);
    void (*project)(SandText *text, const SandVec3 *x, SandVec3 *y); // P(x), block by block; for tests
} SandTextVerbs;

// Float or double; one row, three, or three in the frame of each contact (l); full or radial arms.
extern const SandTextVerbs sand_text_f1f, sand_text_f1r, sand_text_f3f, sand_text_f3r, sand_text_flf, sand_text_flr;
extern const SandTextVerbs sand_text_d1f, sand_text_d1r, sand_text_d3f, sand_text_d3r, sand_text_dlf, sand_text_dlr;

// Chooses the text for the problem, loads it and says which it is; sand_cpu_solve begins with it, and tests of the
// operator alone.
bool sand_cpu_load(SandCpu *cpu, const SandProblem *problem, const SandSolveDef *def, const SandTextVerbs **verbs,
                   SandText **text, SandError *error);

// Solves what was loaded, by the text or by a method of direct.h.
bool sand_cpu_run(SandCpu *cpu, const SandTextVerbs *verbs, SandText *text, const SandProblem *problem,
                  const SandSolveDef *def, SandSolution *solution, SandError *error);

#ifdef __cplusplus
}
#endif
