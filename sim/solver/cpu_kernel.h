// What cpu_text.c gives to cpu.c, once for each precision, number of rows and kind of arms.
#pragma once
#include "sandglass/problem.h"
#include "sim/core/thread_pool.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SandSolverWorkspace SandSolverWorkspace; // the operator, the vectors and the run, typed inside

typedef struct SandSolverKernel {
    SandSolverWorkspace *(*create)(SandError *error);
    void (*destroy)(SandSolverWorkspace *text);
    // Lays the problem out for the solver. False when memory is out.
    bool (*load)(SandSolverWorkspace *text, SandThreadPool *pool, const SandProblem *problem, const SandSolveDef *def,
                 SandError *error);
    // Solves what was loaded and fills the solution.
    bool (*solve)(SandSolverWorkspace *text, SandThreadPool *pool, const SandProblem *problem, const SandSolveDef *def,
                  SandSolution *solution, SandError *error);
    // How good x is, world vectors; for methods that are not one of the texts.
    void (*measure)(SandSolverWorkspace *text, SandThreadPool *pool, const SandVec3 *x, SandMetrics *metrics);
    // How far each contact is from its law at the impulses x: each block's share of the residual, m/s.
    void (*residuals)(SandSolverWorkspace *text, SandThreadPool *pool, const SandVec3 *x, double *each);
    // y = N x for block vectors given as world vectors; for tests.
    void (*product)(SandSolverWorkspace *text, SandThreadPool *pool, const SandVec3 *x, SandVec3 *y);
    void (*project)(SandSolverWorkspace *text, const SandVec3 *x, SandVec3 *y); // P(x), block by block; for tests
} SandSolverKernel;

// Float or double; one row, three, or three in the frame of each contact (l); full or radial arms.
extern const SandSolverKernel sand_kernel_f32_normal_full, sand_kernel_f32_normal_radial, sand_kernel_f32_world_full,
    sand_kernel_f32_world_radial, sand_kernel_f32_local_full, sand_kernel_f32_local_radial;
extern const SandSolverKernel sand_kernel_f64_normal_full, sand_kernel_f64_normal_radial, sand_kernel_f64_world_full,
    sand_kernel_f64_world_radial, sand_kernel_f64_local_full, sand_kernel_f64_local_radial;

// Chooses the text for the problem, loads it and says which it is; sand_cpu_solve begins with it, and tests of the
// operator alone.
bool sand_cpu_load(SandCpu *cpu, const SandProblem *problem, const SandSolveDef *def, const SandSolverKernel **verbs,
                   SandSolverWorkspace **text, SandError *error);

// Solves what was loaded, by the text or by a method of direct.h.
bool sand_cpu_run(SandCpu *cpu, const SandSolverKernel *verbs, SandSolverWorkspace *text, const SandProblem *problem,
                  const SandSolveDef *def, SandSolution *solution, SandError *error);

#ifdef __cplusplus
}
#endif
