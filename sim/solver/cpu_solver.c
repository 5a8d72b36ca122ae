// SPDX-License-Identifier: MIT
// A solver on the CPU: a thread pool, and the workspaces of the kernel variants it has used. It chooses the variant by
// precision, friction model and shapes. On a rank it solves its subproblem, and exchanges ghosts and sums with the other
// ranks.
#include "sim/solver/cpu_kernel.h"

#include "sim/solver/accuracy.h"
#include "sim/solver/assembled.h"
#include "sim/solver/islands.h"
#include "sim/solver/method_traits.h"
#include "sim/solver/verification.h"
#include "sim/core/array.h"
#include "sim/core/clock.h"
#include "sim/core/hash.h"

#include <stdio.h>
#include <stdlib.h>

// Variants: one row (normal impulses alone); three rows in world coordinates, the quickest, for the circular cone; three
// rows in the basis of each contact, for every other model; the same with joints among the contacts; and with torques.
enum { KIND_NORMAL, KIND_WORLD, KIND_LOCAL, KIND_JOINTS, KIND_ROLLING, KINDS };

struct SandCpu {
    SandThreadPool *pool;
    SandPrecision precision;
    SandSubproblem subproblem;                   // of the last problem that several ranks solved
    SandIslands *islands;                        // created when first needed
    SandSolution rest;                           // of what islands leave
    SandSolverWorkspace *workspace[2][KINDS][2]; // float, double; full, radial: created when first needed
};

static const SandSolverKernel *const kernels[2][KINDS][2] = {
    {{&sand_kernel_f32_normal_full, &sand_kernel_f32_normal_radial},
     {&sand_kernel_f32_world_full, &sand_kernel_f32_world_radial},
     {&sand_kernel_f32_local_full, &sand_kernel_f32_local_radial},
     {&sand_kernel_f32_joints_full, &sand_kernel_f32_joints_full},
     {&sand_kernel_f32_rolling_full, &sand_kernel_f32_rolling_full}},
    {{&sand_kernel_f64_normal_full, &sand_kernel_f64_normal_radial},
     {&sand_kernel_f64_world_full, &sand_kernel_f64_world_radial},
     {&sand_kernel_f64_local_full, &sand_kernel_f64_local_radial},
     {&sand_kernel_f64_joints_full, &sand_kernel_f64_joints_full},
     {&sand_kernel_f64_rolling_full, &sand_kernel_f64_rolling_full}},
};

SandCpu *sand_cpu_create(int threads, SandPrecision precision, SandError *error) {
    SandCpu *cpu = calloc(1, sizeof *cpu);
    if (!cpu) return sand_fail(error, "out of memory for a solver"), NULL;
    cpu->precision = precision;
    cpu->pool = sand_thread_pool_create(threads, error);
    if (!cpu->pool) return sand_cpu_free(cpu), NULL;
    return cpu;
}

void sand_cpu_free(SandCpu *cpu) {
    if (!cpu) return;
    for (int precision = 0; precision < 2; precision++)
        for (int kind = 0; kind < KINDS; kind++)
            for (int radial = 0; radial < 2; radial++)
                kernels[precision][kind][radial]->destroy(cpu->workspace[precision][kind][radial]);
    sand_subproblem_free(&cpu->subproblem);
    sand_islands_free(cpu->islands);
    sand_solution_free(&cpu->rest);
    sand_thread_pool_free(cpu->pool);
    free(cpu);
}

SandThreadPool *sand_cpu_thread_pool(SandCpu *cpu) { return cpu->pool; }

const SandSubproblem *sand_cpu_subproblem(const SandCpu *cpu) { return &cpu->subproblem; }

static bool rubs(const SandProblem *problem) {
    for (int i = 0; i < problem->contact_count; i++)
        if (problem->contacts[i].mu > 0) return true;
    return false;
}

// A problem without friction takes one row per contact, by the model or because every mu is zero. Of several ranks all have
// the same kind.
static int kind_of(const SandProblem *problem, const SandSubproblem *subproblem, const SandSolveDef *def) {
    if (problem->rolls && def->friction != SAND_FRICTIONLESS) return KIND_ROLLING;
    if (subproblem ? subproblem->joined : problem->joint_count > 0) return KIND_JOINTS;
    if (def->friction == SAND_FRICTIONLESS || !(subproblem ? subproblem->rubs : rubs(problem))) return KIND_NORMAL;
    return def->friction == SAND_FRICTION_CONE ? KIND_WORLD : KIND_LOCAL;
}

// Methods that rely on the symmetry of N refuse a stored matrix without it, and name those that do not.
static bool check_symmetry(const SandProblem *problem, const SandSolveDef *def, SandError *error) {
    const SandSolver *solver = &sand_solver_table[def->solver];
    if (!problem->matrix || problem->matrix->asymmetry == 0 || solver->friction & SAND_UNSYMMETRIC) return true;
    char others[160] = "none";
    size_t used = 0;
    for (int k = 0; k < sand_solver_count() && used < sizeof others; k++)
        if (sand_solver_table[k].friction & SAND_UNSYMMETRIC && sand_solver_can(k, def->friction))
            used +=
                (size_t)snprintf(others + used, sizeof others - used, "%s%s", used ? ", " : "", sand_solver_table[k].name);
    return sand_fail(error, "%s needs a symmetric W, and this is symmetric only to %.1g; solvers that do not: %s",
                     solver->name, problem->matrix->asymmetry, others);
}

// Methods that work on bodies refuse a stored matrix, which has none.
static bool check_bodies(const SandProblem *problem, const SandSolveDef *def, SandError *error) {
    const SandSolver *solver = &sand_solver_table[def->solver];
    if (!problem->matrix || !(solver->needs & SAND_NEEDS_BODIES)) return true;
    return sand_fail(error, "%s needs bodies, and this problem is a matrix", solver->name);
}

// Blocks of three rows have no torques, and a caller may have forgotten to say how many there are.
static bool check_matrix(const SandProblem *problem, SandError *error) {
    int rows = problem->matrix ? problem->matrix->rows : 0;
    if (!problem->matrix || rows == 6 || (rows == 3 && !problem->rolls)) return true;
    return sand_fail(error, "the blocks of the matrix have %d rows, and %s", rows,
                     problem->rolls ? "contacts that roll need 6" : "a contact has 3, or 6 with torques");
}

// Methods that know contacts alone refuse joints.
static bool check_joints(const SandProblem *problem, const SandSolveDef *def, SandError *error) {
    const SandSolver *solver = &sand_solver_table[def->solver];
    if (!problem->joint_count || !(solver->friction & SAND_CONTACTS_ONLY)) return true;
    return sand_fail(error, "%s cannot do joints, and this problem has %d blocks of them", solver->name,
                     problem->joint_count);
}

// Rolling friction is that of the circular cone, and only some methods know torques.
static bool check_rolling(const SandProblem *problem, const SandSolveDef *def, SandError *error) {
    const SandSolver *solver = &sand_solver_table[def->solver];
    if (problem->rolls && problem->matrix && solver->assembled)
        return sand_fail(error, "%s cannot do a stored matrix with rolling friction", solver->name);
    return !problem->rolls || sand_solve_check_rolling(def, error);
}

// Packs the problem for the kernel of its variant, in the given precision.
static bool pack(SandCpu *cpu, SandPrecision precision, const SandProblem *problem, const SandSubproblem *subproblem,
                 const SandSolveDef *def, SandLoaded *loaded, SandError *error) {
    int kind = kind_of(problem, subproblem, def), radial = problem->radial && kind < KIND_JOINTS;
    const SandSolverKernel *v = kernels[precision][kind][radial];
    SandSolverWorkspace **kept = &cpu->workspace[precision][kind][radial];
    if (!*kept) *kept = v->create(error);
    if (!*kept || !v->load(*kept, cpu->pool, problem, subproblem, def, error)) return false;
    *loaded = (SandLoaded){v, *kept};
    return true;
}

static bool load(SandCpu *cpu, const SandProblem *problem, const SandSubproblem *subproblem, const SandSolveDef *def,
                 SandLoaded *loaded, SandError *error) {
    if (!sand_solve_check(def, error) || !check_matrix(problem, error) || !check_bodies(problem, def, error) ||
        !check_symmetry(problem, def, error) || !check_joints(problem, def, error) || !check_rolling(problem, def, error))
        return false;
    bool assembled = sand_solver_table[def->solver].assembled;
    return pack(cpu, assembled ? SAND_DOUBLE : cpu->precision, problem, subproblem, def, loaded, error);
}

bool sand_cpu_load(SandCpu *cpu, const SandProblem *problem, const SandSolveDef *def, const SandSolverKernel **found,
                   SandSolverWorkspace **workspace, SandError *error) {
    SandLoaded loaded = {0};
    bool ok = load(cpu, problem, NULL, def, &loaded, error);
    *found = loaded.kernel;
    *workspace = loaded.workspace;
    return ok;
}

// A solve without friction has no torques.
static bool clear_torques(const SandProblem *problem, SandSolution *s, SandError *error) {
    if (!SAND_GROW(s->impulse, s->impulse_capacity, sand_problem_vectors(problem), "impulses", error)) return false;
    for (int i = problem->contact_count; i < sand_problem_vectors(problem); i++) s->impulse[i] = v3_make(0, 0, 0);
    return true;
}

// Verifies a float solve in double. The method that measures can do all models, and has the fewest vectors.
static bool verify(SandCpu *cpu, SandLoaded solver, const SandProblem *problem, const SandSubproblem *subproblem,
                   const SandSolveDef *def, SandSolution *solution, SandError *error) {
    if (!sand_verification_needed(solution)) return true;
    double begin = sand_seconds();
    bool claims = solution->status == SAND_SOLVED || solution->status == SAND_INFEASIBLE;
    SandSolveDef model = *def;
    SandLoaded exact;
    sand_solve_choose(&model, sand_solver_find("jacobi"));
    if (!pack(cpu, SAND_DOUBLE, problem, subproblem, &model, &exact, error)) return false;
    double packing = sand_seconds() - begin;
    if (!sand_verify(solver, exact, cpu->pool, problem, def, solution, error)) return false;
    if (claims) solution->seconds += packing;
    return true;
}

static bool run(SandCpu *cpu, SandLoaded loaded, const SandProblem *problem, const SandSubproblem *subproblem,
                const SandSolveDef *def, SandSolution *solution, SandError *error) {
    const SandAssembledMethod *method = sand_solver_assembled(def->solver);
    const SandSolverKernel *v = loaded.kernel;
    bool ok = method ? sand_assembled_solve(method, v, loaded.workspace, cpu->pool, problem, def, solution, error)
                     : v->solve(loaded.workspace, cpu->pool, problem, def, solution, error);
    if (ok && !method && cpu->precision == SAND_FLOAT) ok = verify(cpu, loaded, problem, subproblem, def, solution, error);
    bool rolls = problem->rolls && def->friction != SAND_FRICTIONLESS;
    return ok && (rolls || clear_torques(problem, solution, error));
}

bool sand_cpu_run(SandCpu *cpu, const SandSolverKernel *v, SandSolverWorkspace *workspace, const SandProblem *problem,
                  const SandSolveDef *def, SandSolution *solution, SandError *error) {
    return run(cpu, (SandLoaded){v, workspace}, problem, NULL, def, solution, error);
}

bool sand_solution_reserve(SandSolution *s, const SandProblem *problem, const SandSolveDef *def, SandError *error) {
    return SAND_GROW(s->impulse, s->impulse_capacity, sand_problem_vectors(problem), "impulses", error) &&
           SAND_GROW(s->velocity, s->velocity_capacity, problem->body_count, "velocities", error) &&
           SAND_GROW(s->spin, s->spin_capacity, problem->body_count, "velocities", error) &&
           (!s->want_curve ||
            SAND_GROW(s->curve, s->curve_capacity, sand_curve_points(def->iterations), "residual curve", error));
}

// A hash of everything that decides which sums and exchanges a solve makes. Ranks that differ in it would wait for each
// other forever.
static uint64_t solve_key(const SandSubproblem *subproblem, const SandSolveDef *def, const SandSolution *s) {
    const double numbers[] = {def->solver,
                              def->friction,
                              def->bounds,
                              def->presolve,
                              def->renewal,
                              def->budget_ms,
                              def->tolerance,
                              def->accuracy,
                              def->iterations,
                              s->want_curve,
                              s->stop != NULL,
                              s->want_metrics,
                              subproblem->partition->bodies,
                              subproblem->all_contacts};
    return sand_hash_bytes(SAND_HASH_BEGIN, numbers, sizeof numbers);
}

// Loads what this rank holds of a problem.
static bool load_subproblem(SandCpu *cpu, SandProblem *problem, const SandPartition *partition, const SandSolveDef *def,
                            const SandSolution *solution, SandLoaded *loaded, SandError *error) {
    SandSubproblem *subproblem = &cpu->subproblem;
    if (!sand_subproblem_share(subproblem, problem, partition, sand_solve_needs_colors(def), error)) return false;
    subproblem->key = solve_key(subproblem, def, solution);
    return load(cpu, problem, subproblem, def, loaded, error);
}

bool sand_cpu_solve_subproblem(SandCpu *cpu, SandProblem *problem, const SandPartition *partition, const SandSolveDef *def,
                               SandSolution *solution, SandError *error) {
    SandLoaded loaded;
    return sand_solve_check_ranks(def, error) && sand_solution_reserve(solution, problem, def, error) &&
           load_subproblem(cpu, problem, partition, def, solution, &loaded, error) &&
           run(cpu, loaded, problem, &cpu->subproblem, def, solution, error);
}

bool sand_cpu_residuals_subproblem(SandCpu *cpu, SandProblem *problem, const SandPartition *partition,
                                   const SandSolveDef *def, const SandVec3 *impulse, double *each, SandError *error) {
    SandLoaded loaded;
    if (!load_subproblem(cpu, problem, partition, def, &(SandSolution){0}, &loaded, error)) return false;
    loaded.kernel->residuals(loaded.workspace, cpu->pool, impulse, each);
    return true;
}

// --- islands ----------------------------------------------------------------------------------------------

static bool solve_whole(SandCpu *cpu, const SandProblem *problem, const SandSolveDef *def, SandSolution *solution,
                        SandError *error) {
    SandLoaded loaded;
    solution->islands = (SandIslandReport){0};
    return load(cpu, problem, NULL, def, &loaded, error) && run(cpu, loaded, problem, NULL, def, solution, error);
}

// Solves what the islands left, by the method of the definition.
static bool solve_rest(SandCpu *cpu, const SandProblem *rest, const SandSolveDef *def, SandSolution *whole,
                       SandError *error) {
    SandSolution *s = &cpu->rest;
    s->want_curve = whole->want_curve;
    s->want_metrics = false;
    s->stop = whole->stop;
    if (!solve_whole(cpu, rest, def, s, error)) return false;
    sand_islands_merge(cpu->islands, s, whole);
    whole->status = s->status;
    whole->iterations = s->iterations;
    whole->least_energy = s->least_energy;
    whole->curve_count = s->curve_count;
    for (int k = 0; k < s->curve_count; k++) whole->curve[k] = s->curve[k];
    return true;
}

// The metrics of the whole, in double.
static bool measure_whole(SandCpu *cpu, const SandProblem *problem, const SandSolveDef *def, SandSolution *s,
                          SandError *error) {
    SandSolveDef model = *def;
    SandLoaded exact;
    sand_solve_choose(&model, sand_solver_find("jacobi")); // it can do all models, and has the fewest vectors
    if (!pack(cpu, SAND_DOUBLE, problem, NULL, &model, &exact, error)) return false;
    exact.kernel->measure(exact.workspace, cpu->pool, s->impulse, &s->metrics);
    return true;
}

// The status of a problem whose islands were all solved directly: each to its goal, or to the tolerance that was asked for.
static SandStatus status_of_islands(const SandProblem *p, const SandSolveDef *def, const SandSolution *s) {
    double goal = SAND_ISLAND_RMS * sqrt(p->contact_count), tolerance = def->tolerance;
    if (def->accuracy > 0) tolerance = sand_accuracy_rms(def, p->recovery, p->step) * sqrt(p->contact_count);
    bool relative = def->relative && !(def->accuracy > 0) && def->tolerance > 0;
    SandEvidence evidence = {s->metrics.residual,
                             s->metrics.relative,
                             s->metrics.objective,
                             s->metrics.r_norm,
                             relative ? tolerance : fmax(tolerance, 1.001 * goal),
                             relative,
                             0,
                             0,
                             0};
    return sand_status_of(SAND_END_TOLERANCE, evidence);
}

static bool solve_islands(SandCpu *cpu, const SandProblem *problem, const SandSolveDef *def, SandSolution *s,
                          SandError *error) {
    double begin = sand_seconds();
    SandSolveDef alone = *def;
    alone.islands = 0;
    if (!sand_solve_check(def, error)) return false;
    if (!cpu->islands && !(cpu->islands = sand_islands_create(error))) return false;
    if (!sand_solution_reserve(s, problem, def, error) ||
        !sand_islands_solve(cpu->islands, cpu->pool, problem, def, s->stop, s->impulse, &s->islands, error))
        return false;
    const SandProblem *rest = sand_islands_rest(cpu->islands);
    SandIslandReport report = s->islands;
    if (rest && !report.solved) {
        if (!solve_whole(cpu, problem, &alone, s, error)) return false;
        s->islands = report;
        return true;
    }
    sand_solution_move_bodies(problem, s);
    s->iterations = s->curve_count = 0;
    s->least_energy = 0;
    if (rest && !solve_rest(cpu, rest, &alone, s, error)) return false;
    if (!measure_whole(cpu, problem, def, s, error)) return false;
    if (!rest) s->status = status_of_islands(problem, def, s);
    if (report.factorizations > s->iterations) s->iterations = report.factorizations;
    s->seconds = sand_seconds() - begin;
    if (s->want_curve && !rest)
        s->curve[s->curve_count++] = (SandCurvePoint){s->iterations, s->seconds, s->metrics.residual, s->metrics.objective};
    return true;
}

bool sand_cpu_solve(SandCpu *cpu, const SandProblem *problem, const SandSolveDef *def, SandSolution *solution,
                    SandError *error) {
    if (def->islands > 0 && !problem->matrix && problem->contact_count)
        return solve_islands(cpu, problem, def, solution, error);
    return solve_whole(cpu, problem, def, solution, error);
}

bool sand_cpu_residuals(SandCpu *cpu, const SandProblem *problem, const SandSolveDef *def, const SandVec3 *impulse,
                        double *each, SandError *error) {
    SandLoaded loaded;
    if (!load(cpu, problem, NULL, def, &loaded, error)) return false;
    loaded.kernel->residuals(loaded.workspace, cpu->pool, impulse, each);
    return true;
}

void sand_solution_free(SandSolution *s) {
    sand_free(s->impulse);
    sand_free(s->velocity);
    sand_free(s->spin);
    sand_free(s->curve);
    *s = (SandSolution){0};
}
