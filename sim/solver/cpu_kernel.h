// SPDX-License-Identifier: MIT
// The interface of the solver kernels on the CPU: cpu_kernel.c fills this table once per variant, cpu_solver.c chooses among
// them.
#pragma once
#include "sandglass/problem.h"
#include "sim/core/thread_pool.h"
#include "sim/solver/status.h"
#include "sim/solver/subproblem.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SandSolverWorkspace SandSolverWorkspace; // operator, vectors and state of a solve; typed inside the variant

typedef struct SandSolverKernel {
    SandSolverWorkspace *(*create)(SandError *error);
    void (*destroy)(SandSolverWorkspace *workspace);
    // Packs the problem into the layout of the kernel. With a subproblem it is what this rank holds of one that several
    // solve together. False when memory is out, or another rank has failed.
    bool (*load)(SandSolverWorkspace *workspace, SandThreadPool *pool, const SandProblem *problem,
                 const SandSubproblem *subproblem, const SandSolveDef *def, SandError *error);
    // Solves what was loaded and fills the solution; with a subproblem the velocities of ghosts are their owners' to know.
    // In float its claims are provisional: the caller verifies them in double (verification.h). Then only what follows about
    // this solve, or another load.
    bool (*solve)(SandSolverWorkspace *workspace, SandThreadPool *pool, const SandProblem *problem, const SandSolveDef *def,
                  SandSolution *solution, SandError *error);
    SandEnd (*end)(const SandSolverWorkspace *workspace);      // why the last solve ended
    double (*tolerance)(const SandSolverWorkspace *workspace); // its tolerance, of the residual or of the relative one
    // Goes on with a solve that has ended, to a tolerance of its own.
    void (*resume)(SandSolverWorkspace *workspace, SandThreadPool *pool, double tolerance);
    // The direction that an infeasible problem recedes in, as world vectors.
    void (*direction)(const SandSolverWorkspace *workspace, SandVec3 *d);
    // Bounds of friction of each contact that a solve has frozen, to be carried to a workspace of another precision.
    void (*read_bounds)(const SandSolverWorkspace *workspace, double *bound);
    void (*write_bounds)(SandSolverWorkspace *workspace, const double *bound);
    // Measures impulses x, given as world vectors; for assembled methods and the evaluator.
    void (*measure)(SandSolverWorkspace *workspace, SandThreadPool *pool, const SandVec3 *x, SandMetrics *metrics);
    // Looks for a direction that recedes near x, given as world vectors.
    SandRecession (*recession)(SandSolverWorkspace *workspace, SandThreadPool *pool, const SandVec3 *x);
    // Each contact's share of the residual at the impulses x, m/s.
    void (*residuals)(SandSolverWorkspace *workspace, SandThreadPool *pool, const SandVec3 *x, double *each);
    // y = N x, given as world vectors; for the evaluator and for tests.
    void (*product)(SandSolverWorkspace *workspace, SandThreadPool *pool, const SandVec3 *x, SandVec3 *y);
    void (*project)(SandSolverWorkspace *workspace, const SandVec3 *x, SandVec3 *y); // P(x), contact by contact
} SandSolverKernel;

// Float or double; one row (normal), three in world coordinates, or three in the basis of each contact (local); full or
// radial arms; local and full with joints, and with torques as well.
extern const SandSolverKernel sand_kernel_f32_normal_full, sand_kernel_f32_normal_radial, sand_kernel_f32_world_full,
    sand_kernel_f32_world_radial, sand_kernel_f32_local_full, sand_kernel_f32_local_radial, sand_kernel_f32_joints_full,
    sand_kernel_f32_rolling_full;
extern const SandSolverKernel sand_kernel_f64_normal_full, sand_kernel_f64_normal_radial, sand_kernel_f64_world_full,
    sand_kernel_f64_world_radial, sand_kernel_f64_local_full, sand_kernel_f64_local_radial, sand_kernel_f64_joints_full,
    sand_kernel_f64_rolling_full;

// Solves what this rank holds of a problem together with the other ranks, which call it for their parts. Completes the
// ghosts of the problem.
bool sand_cpu_solve_subproblem(SandCpu *cpu, SandProblem *problem, const SandPartition *partition, const SandSolveDef *def,
                               SandSolution *solution, SandError *error);
// The same for the residual of each contact that it holds, as sand_cpu_residuals.
bool sand_cpu_residuals_subproblem(SandCpu *cpu, SandProblem *problem, const SandPartition *partition,
                                   const SandSolveDef *def, const SandVec3 *impulse, double *each, SandError *error);
const SandSubproblem *sand_cpu_subproblem(const SandCpu *cpu); // of the last such problem

// Chooses the kernel for the problem and packs the problem for it. sand_cpu_solve begins with it, and so do tests of the
// operator.
bool sand_cpu_load(SandCpu *cpu, const SandProblem *problem, const SandSolveDef *def, const SandSolverKernel **kernel,
                   SandSolverWorkspace **workspace, SandError *error);

// Makes room for the solution of a problem.
bool sand_solution_reserve(SandSolution *solution, const SandProblem *problem, const SandSolveDef *def, SandError *error);

// Computes the body velocities after contact, v = v_free + M^-1 D x, from the impulses of a solution; without torques.
void sand_solution_move_bodies(const SandProblem *problem, SandSolution *solution);

// Solves what was loaded, by the kernel or by an assembled method, and verifies what a float solve claims.
bool sand_cpu_run(SandCpu *cpu, const SandSolverKernel *kernel, SandSolverWorkspace *workspace, const SandProblem *problem,
                  const SandSolveDef *def, SandSolution *solution, SandError *error);

SandThreadPool *sand_cpu_thread_pool(SandCpu *cpu); // that it works with

#ifdef __cplusplus
}
#endif
