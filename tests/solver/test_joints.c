// SPDX-License-Identifier: MIT
// Joints among the contacts of a problem: operator, projection and metrics against dense rows, and every method on random
// problems of contacts and joints.
#include "tests/lab/solver/joint_problem.h"
#include "sim/core/random.h"
#include "sim/solver/cpu_kernel.h"
#include "sandglass/solver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// cmocka.h requires the headers above.
#include <cmocka.h>

enum { SEEDS = 4 };

static SandCpu *cpu_of(SandPrecision precision) {
    SandError error;
    SandCpu *cpu = sand_cpu_create(2, precision, &error);
    if (!cpu) fail_msg("%s", error.text);
    return cpu;
}

static void random_impulses(int seed, SandVec3 *x) {
    SandRandom random = sand_random((uint64_t)seed + 100);
    for (int i = 0; i < JOINT_PROBLEM_CONTACTS; i++) {
        x[i].x = sand_random_signed(&random);
        x[i].y = sand_random_signed(&random);
        x[i].z = sand_random_signed(&random);
    }
}

// The impulses without what belongs to rows that do not exist.
static void keep_rows(const DenseRows *rows, SandVec3 *world) {
    double x[JOINT_PROBLEM_ROWS];
    dense_rows_of(rows, world, x);
    for (int i = 0; i < JOINT_PROBLEM_CONTACTS; i++) world[i] = v3_make(0, 0, 0);
    for (int row = 0; row < rows->count; row++)
        if (rows->exists[row]) world[row / 3] = v3_madd(world[row / 3], x[row], rows->axis[row]);
}

// N x and P(x), in both precisions, against rows.
static void check_operator(int seed, SandPrecision precision, double tolerance) {
    SandProblem p = joint_problem(seed);
    SandSolveDef def = sand_default_solve();
    SandCpu *cpu = cpu_of(precision);
    const SandSolverKernel *kernel;
    SandSolverWorkspace *workspace;
    SandError error = {""};
    SandVec3 x[JOINT_PROBLEM_CONTACTS], y[JOINT_PROBLEM_CONTACTS];
    double in[JOINT_PROBLEM_ROWS], out[JOINT_PROBLEM_ROWS];
    static DenseRows rows;
    rows = dense_rows(&p, false);
    random_impulses(seed, x);
    keep_rows(&rows, x);
    dense_rows_of(&rows, x, in);
    assert_true(sand_cpu_load(cpu, &p, &def, &kernel, &workspace, &error));
    kernel->product(workspace, sand_cpu_thread_pool(cpu), x, y);
    dense_rows_of(&rows, y, out);
    for (int row = 0; row < rows.count; row++) {
        double sum = 0;
        for (int k = 0; k < rows.count; k++) sum += rows.n[row][k] * in[k];
        assert_float_equal(out[row], sum, 30 * tolerance);
    }
    kernel->project(workspace, x, y);
    dense_rows_of(&rows, y, out);
    for (int row = 0; row < rows.count; row++)
        if (sand_problem_joint(&p, row / 3))
            assert_float_equal(out[row], fmin(fmax(in[row], rows.low[row]), rows.high[row]), tolerance);
    sand_cpu_free(cpu);
    sand_problem_free(&p);
}

static void operator_is_that_of_dense_rows(void **state) {
    (void)state;
    for (int seed = 0; seed < SEEDS; seed++) {
        check_operator(seed, SAND_DOUBLE, 1e-12);
        check_operator(seed, SAND_FLOAT, 2e-6); // a few roundings of numbers up to some tens
    }
}

// Residual and objective of impulses that are no solution.
static void metrics_are_those_of_dense_rows(void **state) {
    (void)state;
    for (int seed = 0; seed < 2 * SEEDS; seed++) {
        SandProblem p = joint_problem(seed);
        SandSolveDef def = sand_default_solve();
        bool frictionless = seed % 2;
        if (frictionless) def.friction = SAND_FRICTIONLESS;
        SandCpu *cpu = cpu_of(SAND_DOUBLE);
        const SandSolverKernel *kernel;
        SandSolverWorkspace *workspace;
        SandMetrics metrics;
        SandError error;
        SandVec3 x[JOINT_PROBLEM_CONTACTS];
        double in[JOINT_PROBLEM_ROWS];
        static DenseRows rows;
        rows = dense_rows(&p, frictionless);
        random_impulses(seed, x);
        keep_rows(&rows, x);
        dense_rows_of(&rows, x, in);
        assert_true(sand_cpu_load(cpu, &p, &def, &kernel, &workspace, &error));
        kernel->measure(workspace, sand_cpu_thread_pool(cpu), x, &metrics);
        assert_float_equal(metrics.objective, dense_rows_objective(&rows, in), 1e-9);
        double residual = dense_rows_residual(&p, &rows, frictionless ? DENSE_FRICTIONLESS : DENSE_CONE, in);
        assert_float_equal(metrics.residual, residual, 1e-9 * residual);
        sand_cpu_free(cpu);
        sand_problem_free(&p);
    }
}

// How many products a method may take to a residual of 1e-7 m/s, of speeds of some m/s. kucera ends at 3e-8 on a disc.
enum { MOST_ITERATIONS = 20000 };
#define TOLERANCE 1e-7

static void check_solution(const SandProblem *p, bool frictionless, const SandSolution *s, const char *name) {
    static DenseRows rows;
    double x[JOINT_PROBLEM_ROWS], best[JOINT_PROBLEM_ROWS];
    rows = dense_rows(p, frictionless);
    dense_rows_of(&rows, s->impulse, x);
    double residual = dense_rows_residual(p, &rows, frictionless ? DENSE_FRICTIONLESS : DENSE_CONE, x);
    if (!(residual <= 2 * TOLERANCE)) fail_msg("%s: a dense residual of %g m/s", name, residual);
    for (int row = 0; row < rows.count; row++)
        if (x[row] < rows.low[row] - 1e-12 || x[row] > rows.high[row] + 1e-12) fail_msg("%s: row %d is outside", name, row);
    if (!frictionless) return;
    dense_rows_solve(&rows, best);
    for (int row = 0; row < rows.count; row++) // N is regular, with eigenvalues from about 1e-2 on
        if (fabs(x[row] - best[row]) > 1e-5) fail_msg("%s: row %d is %g and not %g", name, row, x[row], best[row]);
}

// Interior point methods have no motors: here theirs are never overcome.
static void unbind_motors(SandProblem *p) {
    for (int k = 0; k < p->joint_count; k++) {
        SandJointRows *j = &p->joints[k];
        if (j->low < 0 && j->low > -INFINITY) j->low = -INFINITY;
        if (j->high > 0 && j->high < INFINITY) j->high = INFINITY;
    }
}

static void check_method(int solver, SandFriction friction, int seed) {
    SandProblem p = joint_problem(seed);
    if (sand_solver_table[solver].assembled) unbind_motors(&p);
    SandSolveDef def = sand_default_solve();
    SandSolution solution = {.want_metrics = true};
    SandCpu *cpu = cpu_of(SAND_DOUBLE);
    SandError error = {""};
    sand_solve_choose(&def, solver);
    def.friction = friction;
    def.iterations = MOST_ITERATIONS;
    def.tolerance = TOLERANCE;
    char name[80];
    snprintf(name, sizeof name, "%s, %s, seed %d", sand_solver_table[solver].name, sand_friction_table[friction].name, seed);
    if (!sand_cpu_solve(cpu, &p, &def, &solution, &error)) fail_msg("%s: %s", name, error.text);
    if (solution.status != SAND_SOLVED)
        fail_msg("%s: %s after %d products, residual %g", name, sand_status_text(solution.status), solution.iterations,
                 solution.metrics.residual);
    if (friction == SAND_FRICTIONLESS || friction == SAND_FRICTION_CONE)
        check_solution(&p, friction == SAND_FRICTIONLESS, &solution, name);
    if (seed == 0) print_message("%s: %d products\n", name, solution.iterations);
    sand_solution_free(&solution);
    sand_cpu_free(cpu);
    sand_problem_free(&p);
}

static bool does_joints(int solver) { return !(sand_solver_table[solver].friction & SAND_CONTACTS_ONLY); }

static void every_method_solves_joints(void **state) {
    (void)state;
    int solved = 0;
    for (int solver = 0; solver < sand_solver_count(); solver++)
        for (int friction = 0; friction < SAND_FRICTION_COUNT; friction++)
            for (int seed = 0; seed < SEEDS; seed++) {
                if (!sand_solver_can(solver, (SandFriction)friction) || !does_joints(solver)) continue;
                check_method(solver, (SandFriction)friction, seed);
                solved++;
            }
    print_message("%d solves\n", solved);
    assert_true(solved > 100);
}

static void other_methods_refuse_joints_by_name(void **state) {
    (void)state;
    SandProblem p = joint_problem(0);
    SandCpu *cpu = cpu_of(SAND_DOUBLE);
    SandSolution solution = {0};
    int refused = 0;
    for (int solver = 0; solver < sand_solver_count(); solver++) {
        SandSolveDef def = sand_default_solve();
        SandError error = {""};
        sand_solve_choose(&def, solver);
        if (does_joints(solver)) continue;
        while (!sand_solver_can(solver, def.friction)) def.friction = (def.friction + 1) % SAND_FRICTION_COUNT;
        assert_false(sand_cpu_solve(cpu, &p, &def, &solution, &error));
        assert_non_null(strstr(error.text, sand_solver_table[solver].name));
        assert_non_null(strstr(error.text, "cannot do joints"));
        refused++;
    }
    assert_true(refused > 0);
    sand_cpu_free(cpu);
    sand_problem_free(&p);
}

static void interior_points_refuse_motors(void **state) {
    (void)state;
    SandProblem p = joint_problem(0);
    SandCpu *cpu = cpu_of(SAND_DOUBLE);
    SandSolution solution = {0};
    SandSolveDef def = sand_default_solve();
    SandError error = {""};
    sand_solve_choose(&def, sand_solver_find("ipm-soc"));
    assert_false(sand_cpu_solve(cpu, &p, &def, &solution, &error));
    assert_non_null(strstr(error.text, "ipm-soc cannot do motors"));
    sand_solution_free(&solution);
    sand_cpu_free(cpu);
    sand_problem_free(&p);
}

static void files_and_copies_have_the_joints(void **state) {
    (void)state;
    SandProblem p = joint_problem(3), copy = {0}, read = {0};
    SandError error = {""};
    const char *path = "joints.sand";
    assert_true(sand_problem_copy(&copy, &p, &error));
    if (!sand_problem_save(&p, path, &error) || !sand_problem_load(&read, path, &error)) fail_msg("%s", error.text);
    const SandProblem *others[] = {&copy, &read};
    for (int k = 0; k < 2; k++) {
        assert_int_equal(others[k]->joint_count, p.joint_count);
        for (int i = 0; i < p.contact_count; i++) {
            const SandJointRows *want = sand_problem_joint(&p, i), *got = sand_problem_joint(others[k], i);
            assert_int_equal(want == NULL, got == NULL);
            if (!want) continue;
            assert_int_equal(want->angular, got->angular);
            assert_true(want->low == got->low && want->high == got->high && want->across == got->across);
            assert_true(want->compliance == got->compliance && v3_length(v3_sub(want->bias, got->bias)) == 0);
        }
    }
    remove(path);
    sand_problem_free(&p);
    sand_problem_free(&copy);
    sand_problem_free(&read);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operator_is_that_of_dense_rows), cmocka_unit_test(metrics_are_those_of_dense_rows),
        cmocka_unit_test(every_method_solves_joints),     cmocka_unit_test(other_methods_refuse_joints_by_name),
        cmocka_unit_test(interior_points_refuse_motors),  cmocka_unit_test(files_and_copies_have_the_joints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
