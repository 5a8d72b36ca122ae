// SPDX-License-Identifier: MIT
// Rolling and spinning friction: the projection on the larger cone, the operator and the metrics against dense rows, and
// every method that can do it on random problems of contacts and joints.
#include "tests/lab/solver/joint_problem.h"
#include "sim/core/random.h"
#include "sim/solver/cpu_kernel.h"
#include "sim/solver/kernel/operator.inl"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// cmocka.h requires the headers above.
#include <cmocka.h>

enum { SEEDS = 4 };

// --- the projection -----------------------------------------------------------------------------------------

typedef struct Cone {
    double mu, rolling, spinning, across, turning;
} Cone;

static double choose(SandRandom *random, double scale) {
    double u = sand_random_unit(random);
    return u < 0.15 ? 0 : scale * pow(10, 2 * sand_random_signed(random));
}
static double signed_number(SandRandom *random) {
    double size = choose(random, 1);
    return sand_random_signed(random) < 0 ? -size : size;
}

static Row random_row(SandRandom *random) {
    Row x = {{signed_number(random), signed_number(random), signed_number(random)},
             {signed_number(random), signed_number(random), signed_number(random)}};
    return x;
}

static void check_within(Cone k, Row z, double size) {
    double n = z.force.x, more = 1e-12 * size;
    assert_true(n >= 0);
    assert_true(hypot(z.force.y, z.force.z) <= k.mu * n + more);
    assert_true(hypot(z.torque.y, z.torque.z) <= k.rolling * n + more);
    assert_true(fabs(z.torque.x) <= k.spinning * n + more);
}

// A point of the cone with this normal part, each other part on its bound or within.
static Row point_of(SandRandom *random, Cone k, double n) {
    double a = 6.3 * sand_random_unit(random), b = 6.3 * sand_random_unit(random);
    double inside = sand_random_unit(random) < 0.5 ? 1 : sand_random_unit(random);
    Row y = {{n, inside * k.mu * n * cos(a), inside * k.mu * n * sin(a)},
             {(sand_random_signed(random) < 0 ? -1 : 1) * k.spinning * n, k.rolling * n * cos(b), k.rolling * n * sin(b)}};
    return y;
}

static double weighted(Cone k, Row a, Row b) {
    return a.force.x * b.force.x + k.across * (a.force.y * b.force.y + a.force.z * b.force.z) +
           k.turning * vec_dot(a.torque, b.torque);
}

// z is the nearest point of a convex set if no point y of the set lies beyond it: (x - z)'W (y - z) <= 0.
static void check_nearest(SandRandom *random, Cone k, Row x, Row z) {
    double size = sqrt(weighted(k, x, x)) + 1e-300;
    check_within(k, z, sqrt(row_dot(x, x)));
    for (int tries = 0; tries < 50; tries++) {
        Row y = point_of(random, k, tries ? choose(random, 1) : z.force.x);
        Row out = row_sub(x, z), along = row_sub(y, z);
        double length = sqrt(weighted(k, along, along));
        if (weighted(k, out, along) > 1e-11 * size * (length + size)) fail_msg("a nearer point of the cone");
    }
    const double length[3] = {hypot(x.force.y, x.force.z), hypot(x.torque.y, x.torque.z), fabs(x.torque.x)};
    const double slope[3] = {k.mu, k.rolling, k.spinning}, weight[3] = {k.across, k.turning, k.turning};
    assert_float_equal(z.force.x, dense_larger_cone(x.force.x, length, slope, weight), 1e-12 * size);
}

// Which parts lie beyond their bounds, as bits; 8: the tip.
static int case_of(Cone k, Row x, Row z) {
    double n = z.force.x;
    return (hypot(x.force.y, x.force.z) > k.mu * n) + 2 * (hypot(x.torque.y, x.torque.z) > k.rolling * n) +
           4 * (fabs(x.torque.x) > k.spinning * n) + 8 * (n == 0);
}

static void projection_is_the_nearest_point(void **state) {
    (void)state;
    SandRandom random = sand_random(5);
    int cases[16] = {0};
    for (int i = 0; i < 20000; i++) {
        Cone k = {choose(&random, 0.3), choose(&random, 0.1), choose(&random, 0.1), pow(10, sand_random_signed(&random)),
                  pow(10, sand_random_signed(&random))};
        Row x = random_row(&random);
        Row z = larger_cone_project(x, k.mu, k.rolling, k.spinning, k.across, k.turning);
        check_nearest(&random, k, x, z);
        cases[case_of(k, x, z)]++;
        Row again = larger_cone_project(z, k.mu, k.rolling, k.spinning, k.across, k.turning), moved = row_sub(again, z);
        assert_true(row_dot(moved, moved) <= 1e-24 * row_dot(x, x));
    }
    for (int c = 0; c < 8; c++) assert_true(cases[c] > 20); // every part beyond its bound or not
    assert_true(cases[15] > 20);                            // and the tip
}

static void points_of_the_cone_stay_as_they_are(void **state) {
    (void)state;
    Row x = {{0.1, 0.012, -0.005}, {0.0007, -0.003, 0.002}};
    Row z = larger_cone_project(x, 0.3, 0.1, 0.01, 3.5, 2.7);
    assert_memory_equal(&z, &x, sizeof x);
}

// Without torques it is the circular cone.
static void without_torques_it_is_the_circular_cone(void **state) {
    (void)state;
    SandRandom random = sand_random(6);
    for (int i = 0; i < 1000; i++) {
        double mu = choose(&random, 0.3), ratio = 1 + 5 * sand_random_unit(&random);
        Row x = random_row(&random);
        x.torque = vec_make(0, 0, 0);
        Vec z = larger_cone_project(x, mu, 0, 0, ratio, 1).force;
        Vec want = cone_project_by(x.force, 0, vec_make(1, 0, 0), mu, ratio, 1 / (1 + ratio * mu * mu));
        Vec off = vec_sub(z, want);
        assert_true(vec_dot(off, off) <= 1e-28 * vec_dot(x.force, x.force));
    }
}

// --- the operator -------------------------------------------------------------------------------------------

static SandCpu *cpu_of(int threads, SandPrecision precision) {
    SandError error;
    SandCpu *cpu = sand_cpu_create(threads, precision, &error);
    if (!cpu) fail_msg("%s", error.text);
    return cpu;
}

// Random impulses of the rows that exist.
static void random_impulses(const SandProblem *p, const DenseRows *rows, int seed, SandVec3 *world) {
    SandRandom random = sand_random((uint64_t)seed + 100);
    for (int i = 0; i < sand_problem_vectors(p); i++) world[i] = v3_make(0, 0, 0);
    for (int row = 0; row < rows->count; row++) {
        double x = sand_random_signed(&random);
        if (rows->exists[row]) world[row / 3] = v3_madd(world[row / 3], x, rows->axis[row]);
    }
}

static void check_operator(int seed, SandPrecision precision, double tolerance) {
    SandProblem p = rolling_problem(seed);
    SandSolveDef def = sand_default_solve();
    SandCpu *cpu = cpu_of(2, precision);
    const SandSolverKernel *kernel;
    SandSolverWorkspace *workspace;
    SandError error = {""};
    SandVec3 x[2 * JOINT_PROBLEM_CONTACTS], y[2 * JOINT_PROBLEM_CONTACTS];
    double in[JOINT_PROBLEM_ROWS], out[JOINT_PROBLEM_ROWS];
    static DenseRows rows;
    rows = dense_rows(&p, false);
    random_impulses(&p, &rows, seed, x);
    dense_rows_of(&rows, x, in);
    assert_true(sand_cpu_load(cpu, &p, &def, &kernel, &workspace, &error));
    kernel->product(workspace, sand_cpu_thread_pool(cpu), x, y);
    dense_rows_of(&rows, y, out);
    for (int row = 0; row < rows.count; row++) {
        double sum = 0;
        for (int k = 0; k < rows.count; k++) sum += rows.n[row][k] * in[k];
        assert_float_equal(out[row], sum, 100 * tolerance);
    }
    SandMetrics metrics;
    kernel->measure(workspace, sand_cpu_thread_pool(cpu), x, &metrics);
    double residual = dense_rows_residual(&p, &rows, DENSE_CONE, in);
    assert_float_equal(metrics.residual, residual, 100 * tolerance * residual);
    assert_float_equal(metrics.objective, dense_rows_objective(&rows, in), 1000 * tolerance);
    sand_cpu_free(cpu);
    sand_problem_free(&p);
}

static void operator_and_metrics_are_those_of_dense_rows(void **state) {
    (void)state;
    for (int seed = 0; seed < SEEDS; seed++) {
        check_operator(seed, SAND_DOUBLE, 1e-12);
        check_operator(seed, SAND_FLOAT, 2e-6); // a few roundings of numbers up to some tens
    }
}

// --- every method -------------------------------------------------------------------------------------------

static bool does_rolling(int solver) { return sand_solver_table[solver].friction & SAND_ROLLS; }

// Residuals in m/s, of speeds of some m/s. In float the bilateral rows of very different masses leave four digits; there a
// method is asked for its best.
enum { MOST_ITERATIONS = 20000, FLOAT_ITERATIONS = 2000 };
static double tolerance_of(SandPrecision precision) { return precision == SAND_DOUBLE ? 1e-7 : 1e-3; }

// The minimum has one set of velocities, whatever the impulses.
static void check_minimum(const DenseRows *rows, const double *x, const double *best, double tolerance, const char *name) {
    double want = dense_rows_objective(rows, best), got = dense_rows_objective(rows, x);
    if (!(fabs(got - want) <= tolerance * fabs(want))) fail_msg("%s: objective %.12g and not %.12g", name, got, want);
    for (int row = 0; row < rows->count; row++) {
        double off = 0;
        for (int k = 0; k < rows->count; k++) off += rows->n[row][k] * (x[k] - best[k]);
        if (fabs(off) > 100 * tolerance) fail_msg("%s: the velocity of row %d is off by %g", name, row, off);
    }
}

typedef struct Case {
    SandProblem problem;
    DenseRows rows;
    double best[JOINT_PROBLEM_ROWS];
} Case;

static void check_method(const Case *c, int solver, SandFriction friction, SandPrecision precision) {
    SandSolveDef def = sand_default_solve();
    SandSolution s = {.want_metrics = true};
    SandCpu *cpu = cpu_of(1, precision);
    SandError error = {""};
    sand_solve_choose(&def, solver);
    def.friction = friction;
    def.iterations = precision == SAND_DOUBLE ? MOST_ITERATIONS : FLOAT_ITERATIONS;
    def.tolerance = precision == SAND_DOUBLE ? tolerance_of(precision) : 0;
    char name[80];
    snprintf(name, sizeof name, "%s, %s, %s", sand_solver_table[solver].name, sand_friction_table[friction].name,
             precision == SAND_DOUBLE ? "double" : "float");
    if (!sand_cpu_solve(cpu, &c->problem, &def, &s, &error)) fail_msg("%s: %s", name, error.text);
    if (precision == SAND_DOUBLE && s.status != SAND_SOLVED)
        fail_msg("%s: %s after %d products, residual %g", name, sand_status_text(s.status), s.iterations,
                 s.metrics.residual);
    double x[JOINT_PROBLEM_ROWS];
    dense_rows_of(&c->rows, s.impulse, x);
    DenseModel model = friction == SAND_FRICTION_CONE ? DENSE_CONE : DENSE_LAW;
    double residual = dense_rows_residual(&c->problem, &c->rows, model, x);
    if (!(residual <= 2 * tolerance_of(precision))) fail_msg("%s: a dense residual of %g m/s", name, residual);
    if (model == DENSE_CONE) check_minimum(&c->rows, x, c->best, tolerance_of(precision), name);
    print_message("%s: %d products, residual %.1e m/s\n", name, s.iterations, residual);
    sand_solution_free(&s);
    sand_cpu_free(cpu);
}

static void every_method_solves_rolling_friction(void **state) {
    (void)state;
    static Case c;
    int solved = 0;
    for (int seed = 0; seed < SEEDS; seed++) {
        c.problem = rolling_problem(seed);
        c.rows = dense_rows(&c.problem, false);
        dense_rows_minimize(&c.problem, &c.rows, c.best);
        assert_true(dense_rows_residual(&c.problem, &c.rows, DENSE_CONE, c.best) < 1e-11);
        for (int solver = 0; solver < sand_solver_count(); solver++) {
            if (!does_rolling(solver)) continue;
            for (int precision = SAND_FLOAT; precision <= SAND_DOUBLE; precision++) {
                check_method(&c, solver, SAND_FRICTION_CONE, (SandPrecision)precision);
                check_method(&c, solver, SAND_FRICTION_COULOMB, (SandPrecision)precision);
                solved += 2;
            }
        }
        sand_problem_free(&c.problem);
    }
    print_message("%d solves\n", solved);
    assert_true(solved >= 7 * 4 * SEEDS);
}

static void others_refuse_by_name(void **state) {
    (void)state;
    SandProblem p = rolling_problem(0);
    SandCpu *cpu = cpu_of(1, SAND_DOUBLE);
    SandSolution s = {0};
    int methods = 0, models = 0;
    p.joint_count = 0; // which some of them refuse first
    for (int solver = 0; solver < sand_solver_count(); solver++)
        for (int friction = 0; friction < SAND_FRICTION_COUNT; friction++) {
            SandSolveDef def = sand_default_solve();
            SandError error = {""};
            sand_solve_choose(&def, solver);
            def.friction = (SandFriction)friction;
            bool circular = friction == SAND_FRICTION_CONE || friction == SAND_FRICTION_COULOMB;
            if (!sand_solver_can(solver, def.friction) || friction == SAND_FRICTIONLESS) continue;
            if (does_rolling(solver) && circular) continue;
            assert_false(sand_cpu_solve(cpu, &p, &def, &s, &error));
            assert_non_null(strstr(error.text, "rolling friction"));
            bool named = strstr(error.text, sand_solver_table[solver].name) ||
                         (circular ? false : strstr(error.text, sand_friction_table[friction].name) != NULL);
            if (!named) fail_msg("%s", error.text);
            *(does_rolling(solver) ? &models : &methods) += 1;
        }
    assert_true(methods > 5 && models > 5);
    sand_solution_free(&s);
    sand_cpu_free(cpu);
    sand_problem_free(&p);
}

// Without friction there is no torque, and the answer of any method says so.
static void frictionless_has_no_torques(void **state) {
    (void)state;
    SandProblem p = rolling_problem(1);
    SandCpu *cpu = cpu_of(1, SAND_DOUBLE);
    SandSolveDef def = sand_default_solve();
    SandSolution s = {0};
    SandError error = {""};
    def.friction = SAND_FRICTIONLESS;
    if (!sand_cpu_solve(cpu, &p, &def, &s, &error)) fail_msg("%s", error.text);
    for (int i = 0; i < p.contact_count; i++) assert_true(v3_length(s.impulse[p.contact_count + i]) == 0);
    sand_solution_free(&s);
    sand_cpu_free(cpu);
    sand_problem_free(&p);
}

// The answer is a start from which nothing is left to do, torques and all.
static void a_solution_is_a_start(void **state) {
    (void)state;
    SandProblem p = rolling_problem(2);
    SandCpu *cpu = cpu_of(1, SAND_DOUBLE);
    SandSolveDef def = sand_default_solve();
    SandSolution s = {.want_metrics = true};
    SandError error = {""};
    def.iterations = MOST_ITERATIONS;
    def.tolerance = 1e-9;
    if (!sand_cpu_solve(cpu, &p, &def, &s, &error)) fail_msg("%s", error.text);
    assert_true(s.iterations > 10);
    memcpy(p.start, s.impulse, (size_t)sand_problem_vectors(&p) * sizeof *p.start);
    def.tolerance = 1e-7;
    if (!sand_cpu_solve(cpu, &p, &def, &s, &error)) fail_msg("%s", error.text);
    assert_int_equal(s.status, SAND_SOLVED);
    assert_int_equal(s.iterations, 0);
    sand_solution_free(&s);
    sand_cpu_free(cpu);
    sand_problem_free(&p);
}

// A sphere that sticks to a plane, by sliding and by rolling friction: both turn it, so that a step by the mean diagonal for
// either would overshoot and a sweep of gauss-seidel lead away. Within the cone a sweep is linear: it must contract.
static void a_sphere_is_relaxed_without_overshooting(void **state) {
    (void)state;
    const double radius = 0.1;
    SandProblemBody bodies[2] = {
        {.inverse_mass = 1,
         .inverse_inertia = {2.5 / (radius * radius), 2.5 / (radius * radius), 2.5 / (radius * radius)},
         .velocity = {0.1, 0.05, -2},
         .spin = {0.3, -0.4, 0.5},
         .radius = radius}};
    SandContact contact = {
        .a = 0, .b = 1, .normal = {0, 0, -1}, .arm_a = {0, 0, -radius}, .mu = 1, .rolling = 1, .spinning = 1};
    SandVec3 start[2] = {{0, 0, 0}, {0, 0, 0}};
    SandProblem p = {.body_count = 2, .dynamic_count = 1, .contact_count = 1, .step = 0.01, .rolls = true};
    p.bodies = bodies;
    p.contacts = &contact;
    p.start = start;
    SandCpu *cpu = cpu_of(1, SAND_DOUBLE);
    SandSolveDef def = sand_default_solve();
    SandSolution s = {.want_metrics = true};
    SandError error = {""};
    sand_solve_choose(&def, sand_solver_find("gauss-seidel"));
    def.iterations = 300;
    def.tolerance = 1e-12;
    if (!sand_cpu_solve(cpu, &p, &def, &s, &error)) fail_msg("%s", error.text);
    print_message("residual %g after %d sweeps\n", s.metrics.residual, s.iterations);
    assert_int_equal(s.status, SAND_SOLVED);
    assert_true(v3_length(s.velocity[0]) < 1e-10 && v3_length(s.spin[0]) < 1e-9); // nothing moves
    sand_solution_free(&s);
    sand_cpu_free(cpu);
}

static void threads_do_not_change_a_bit(void **state) {
    (void)state;
    SandProblem p = rolling_problem(3);
    SandVec3 first[2 * JOINT_PROBLEM_CONTACTS];
    for (int threads = 1; threads <= 5; threads += 2) {
        SandCpu *cpu = cpu_of(threads, SAND_FLOAT);
        SandSolveDef def = sand_default_solve();
        SandSolution s = {0};
        SandError error = {""};
        if (!sand_cpu_solve(cpu, &p, &def, &s, &error)) fail_msg("%s", error.text);
        if (threads > 1) assert_memory_equal(first, s.impulse, sizeof first);
        memcpy(first, s.impulse, sizeof first);
        sand_solution_free(&s);
        sand_cpu_free(cpu);
    }
    sand_problem_free(&p);
}

static void files_and_copies_have_it(void **state) {
    (void)state;
    SandProblem p = rolling_problem(3), copy = {0}, read = {0};
    SandError error = {""};
    const char *path = "rolling.sand";
    assert_true(sand_problem_copy(&copy, &p, &error));
    if (!sand_problem_save(&p, path, &error) || !sand_problem_load(&read, path, &error)) fail_msg("%s", error.text);
    const SandProblem *others[] = {&copy, &read};
    for (int k = 0; k < 2; k++) {
        assert_true(others[k]->rolls);
        assert_memory_equal(others[k]->start, p.start, (size_t)sand_problem_vectors(&p) * sizeof *p.start);
        for (int i = 0; i < p.contact_count; i++) {
            assert_true(others[k]->contacts[i].rolling == p.contacts[i].rolling);
            assert_true(others[k]->contacts[i].spinning == p.contacts[i].spinning);
        }
    }
    p.contacts[1].rolling = -1;
    assert_true(sand_problem_save(&p, path, &error));
    assert_false(sand_problem_load(&read, path, &error));
    assert_non_null(strstr(error.text, "negative friction"));
    remove(path);
    sand_problem_free(&p);
    sand_problem_free(&copy);
    sand_problem_free(&read);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(projection_is_the_nearest_point),
        cmocka_unit_test(points_of_the_cone_stay_as_they_are),
        cmocka_unit_test(without_torques_it_is_the_circular_cone),
        cmocka_unit_test(operator_and_metrics_are_those_of_dense_rows),
        cmocka_unit_test(every_method_solves_rolling_friction),
        cmocka_unit_test(others_refuse_by_name),
        cmocka_unit_test(frictionless_has_no_torques),
        cmocka_unit_test(a_solution_is_a_start),
        cmocka_unit_test(a_sphere_is_relaxed_without_overshooting),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(files_and_copies_have_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
