// SPDX-License-Identifier: MIT
// The grid: every solver, on every friction model that it supports, on small stored problems, in double. For a model that is
// the minimum over a fixed set all solvers must agree in objective and velocities and satisfy the optimality conditions; for
// the others they must satisfy Coulomb's law. Both are checked with dense algebra and with projections written from the
// definition of the sets, not from the solvers' formulas.
//
//   test_friction           tests the stored problems, tests/problems
//   test_friction freeze    stores new ones; the number of iterations on them depends on the last bits of the simulation
#include "tests/lab/solver/claim.h"
#include "tests/lab/solver/dense.h"
#include "tests/lab/solver/frozen.h"
#include "sim/solver/cpu_kernel.h"
#include "sim/core/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// cmocka.h requires the headers above.
#include <cmocka.h>

enum { SPHERES, CLUMPS, PROBLEMS };
static const char *const problem_names[PROBLEMS] = {"spheres", "clumps"};
static SandProblem problems[PROBLEMS];

static int store_problems(void) {
    SandProblem frozen[PROBLEMS] = {[SPHERES] = frozen_cup(), [CLUMPS] = frozen_scene("clumps", 40, 400, 50)};
    for (int k = 0; k < PROBLEMS; k++) {
        frozen_store(problem_names[k], &frozen[k]);
        sand_problem_free(&frozen[k]);
    }
    return 0;
}

static int load_problems(void **state) {
    (void)state;
    static const double mu[PROBLEMS] = {0.3, 0.4};
    for (int k = 0; k < PROBLEMS; k++) {
        SandProblem frozen = frozen_stored(problem_names[k]);
        problems[k] = frozen_well_posed(&frozen, mu[k]);
        sand_problem_free(&frozen);
        // A tenth of the contacts is frictionless.
        for (int i = 0; i < problems[k].contact_count; i += 10) problems[k].contacts[i].mu = 0;
        print_message("%s: %d bodies, %d contacts\n", problem_names[k], problems[k].dynamic_count,
                      problems[k].contact_count);
    }
    return 0;
}

static int free_problems(void **state) {
    (void)state;
    for (int k = 0; k < PROBLEMS; k++) sand_problem_free(&problems[k]);
    return 0;
}

// ---- solving ----

static SandSolveDef make_def(int solver, SandFriction friction, SandBounds bounds, int iterations, double tolerance) {
    SandSolveDef def = sand_default_solve();
    sand_solve_choose(&def, solver);
    def.friction = friction;
    def.bounds = bounds;
    def.iterations = iterations;
    def.tolerance = tolerance;
    // With clumps the default omega of 0.3 is too large for jacobi.
    if (!strcmp(sand_solver_table[solver].name, "jacobi")) def.params[0] = 0.15;
    return def;
}

// Whether the method solves another problem, and need not agree.
static bool is_inexact(int solver) { return sand_solver_table[solver].friction & SAND_INEXACT; }

static ClaimSolved solve(const SandProblem *p, const SandSolveDef *def) {
    SandError error;
    ClaimSolved s;
    if (!claim_solve(p, def, SAND_DOUBLE, &s, &error)) fail_msg("%s", error.text);
    return s;
}

static double speed_difference(const SandProblem *p, const SandSolution *a, const SandSolution *b) {
    double worst = 0;
    for (int k = 0; k < p->dynamic_count; k++) worst = fmax(worst, v3_length(v3_sub(a->velocity[k], b->velocity[k])));
    return worst;
}

// Violation of the conditions, by dense algebra.
typedef struct Conditions {
    double residual;  // m/s: of the optimality conditions, or of Coulomb's law
    double outside;   // largest distance of an impulse from its set, relative to its size
    double objective; // J
} Conditions;

static Conditions conditions(const SandProblem *p, const SandSolveDef *def, const ClaimSolved *s, bool law) {
    size_t n = (size_t)p->contact_count;
    SandVec3 *r = calloc(n, sizeof *r), *y = calloc(n, sizeof *y);
    const SandVec3 *x = s->solution.impulse;
    bool frictionless = def->friction == SAND_FRICTIONLESS;
    dense_r(p, frictionless, r);
    dense_product(p, frictionless, x, y, NULL);
    double tau = dense_tau(p, frictionless), sum = 0;
    Conditions found = {0};
    for (size_t i = 0; i < n; i++) {
        const SandContact *c = &p->contacts[i];
        AdmissibleSet set = {&sand_friction_table[def->friction], frictionless ? 0 : c->mu, s->bound[i], def->facets};
        SandVec3 g = v3_add(y[i], r[i]), goal;
        double size = v3_length(x[i]);
        if (law) {
            // Coulomb's law literally: the normal impulse depends on the normal velocity alone, and the tangential one is
            // the projection on the section that the normal impulse allows.
            double xn = v3_dot(x[i], c->normal), un = v3_dot(g, c->normal);
            set.bound = set.mu * fmax(xn, 0);
            goal = admissible_nearest(&set, false, c->normal, v3_madd(x[i], -tau, g));
            goal = v3_madd(goal, fmax(xn - tau * un, 0) - v3_dot(goal, c->normal), c->normal);
        } else {
            bool cone = set.model->set == SAND_SET_CONE;
            goal = admissible_nearest(&set, cone, c->normal, v3_madd(x[i], -tau, g));
            SandVec3 t1, t2;
            admissible_tangents(c->normal, &t1, &t2);
            const double local[3] = {v3_dot(x[i], c->normal), v3_dot(x[i], t1), v3_dot(x[i], t2)};
            if (size > 0) found.outside = fmax(found.outside, admissible_outside(&set, cone, local) / size);
        }
        SandVec3 e = v3_sub(x[i], goal);
        sum += v3_dot(e, e);
        found.objective += 0.5 * v3_dot(x[i], y[i]) + v3_dot(x[i], r[i]);
    }
    found.residual = sqrt(sum) / tau;
    free(r);
    free(y);
    return found;
}

// ---- the tests ----

// Every projection returns the nearest point, for random vectors of all kinds.
static void projections_are_nearest(void **state) {
    (void)state;
    SandError error;
    SandRandom random = sand_random(5);
    for (int friction = 0; friction < SAND_FRICTION_COUNT; friction++)
        for (int facets = 4; facets <= 10; facets += 6) {
            const SandProblem *p = &problems[CLUMPS];
            size_t n = (size_t)p->contact_count;
            SandSolveDef def = make_def(sand_solver_default, (SandFriction)friction, SAND_BOUNDS_PRESOLVE, 5, 0);
            def.facets = facets;
            SandCpu *cpu = sand_cpu_create(1, SAND_DOUBLE, &error);
            const SandSolverKernel *kernel;
            SandSolverWorkspace *workspace;
            SandSolution s = {0};
            if (!sand_cpu_load(cpu, p, &def, &kernel, &workspace, &error) ||
                !sand_cpu_run(cpu, kernel, workspace, p, &def, &s, &error))
                fail_msg("%s", error.text);
            ClaimSolved bounds = solve(p, &def);
            SandVec3 *x = calloc(n, sizeof *x), *y = calloc(n, sizeof *y);
            double worst = 0;
            for (int trial = 0; trial < 200; trial++) {
                for (size_t i = 0; i < n; i++) {
                    double size = trial % 2 ? 1 : 3 * bounds.bound[i] + 1e-3;
                    x[i] = v3_make(size * (2 * sand_random_unit(&random) - 1), size * (2 * sand_random_unit(&random) - 1),
                                   size * (2 * sand_random_unit(&random) - 1));
                }
                kernel->project(workspace, x, y);
                for (size_t i = 0; i < n; i++) {
                    const SandContact *c = &p->contacts[i];
                    AdmissibleSet set = {&sand_friction_table[friction], friction ? c->mu : 0, bounds.bound[i], facets};
                    bool cone = set.model->set != SAND_SET_CYLINDER;
                    SandVec3 want = admissible_nearest(&set, cone, c->normal, x[i]);
                    worst = fmax(worst, v3_length(v3_sub(want, y[i])) / v3_length(x[i]));
                }
            }
            // 1e-12: rounding in narrow facets; one wrong facet or sign gives about 1.
            print_message("%s, %d facets: projections differ by %.1e\n", sand_friction_table[friction].name, facets, worst);
            assert_true(worst <= 1e-12);
            free(x);
            free(y);
            claim_free(&bounds);
            sand_solution_free(&s);
            sand_cpu_free(cpu);
        }
}

// The minimum over a fixed set: every solver that supports the model agrees with p-spg-fb, and both satisfy the optimality
// conditions.
static void associated_models_agree(void **state) {
    (void)state;
    for (int k = 0; k < PROBLEMS; k++)
        for (int friction = 0; friction < SAND_FRICTION_COUNT; friction++) {
            const SandProblem *p = &problems[k];
            const char *model = sand_friction_table[friction].name;
            if (sand_friction_table[friction].set == SAND_SET_LAW) continue;
            SandSolveDef best = make_def(sand_solver_default, (SandFriction)friction, SAND_BOUNDS_PRESOLVE, 100000, 1e-11);
            ClaimSolved truth = solve(p, &best);
            assert_int_equal(truth.solution.status, SAND_SOLVED);
            double least = conditions(p, &best, &truth, false).objective;
            for (int solver = 0; solver < sand_solver_count(); solver++) {
                if (!sand_solver_can(solver, (SandFriction)friction) || is_inexact(solver)) continue;
                SandSolveDef def = make_def(solver, (SandFriction)friction, SAND_BOUNDS_PRESOLVE, 100000, 1e-9);
                ClaimSolved s = solve(p, &def);
                Conditions c = conditions(p, &def, &s, false);
                double apart = fabs(c.objective - least) / fabs(least), speed;
                speed = speed_difference(p, &s.solution, &truth.solution);
                print_message("%s, %s, %s: %d iterations, residual %.1e, objective %.1e, speeds %.1e, outside %.1e\n",
                              problem_names[k], model, sand_solver_table[solver].name, s.solution.iterations, c.residual,
                              apart, speed, c.outside);
                assert_int_equal(s.solution.status, SAND_SOLVED);
                assert_memory_equal(s.bound, truth.bound, (size_t)p->contact_count * sizeof *s.bound);
                assert_true(c.residual <= 2e-9);
                assert_true(apart <= 1e-8);
                assert_true(speed <= 1e-6);
                // Four roundings, among them those of the rotation into and out of the contact frame.
                assert_true(c.outside <= 4 * 2.2e-16);
                claim_free(&s);
            }
            claim_free(&truth);
        }
}

// A method that solves another problem still returns impulses of the set, and is the better for them than without contact.
static void inexact_methods_are_feasible(void **state) {
    (void)state;
    for (int k = 0; k < PROBLEMS; k++)
        for (int solver = 0; solver < sand_solver_count(); solver++)
            for (int friction = 0; friction < SAND_FRICTION_COUNT; friction++) {
                if (!is_inexact(solver) || !sand_solver_can(solver, (SandFriction)friction)) continue;
                SandSolveDef def = make_def(solver, (SandFriction)friction, SAND_BOUNDS_PRESOLVE, 50, 0);
                ClaimSolved s = solve(&problems[k], &def);
                Conditions c = conditions(&problems[k], &def, &s, false);
                assert_true(c.outside <= 4 * 2.2e-16);
                assert_true(c.objective < 0);
                claim_free(&s);
            }
}

// A jam, with penetrations as they were stored, has directions in which N is singular and which lead far before they meet a
// bound. gpminres follows them to the bound and does not stall.
static void a_jam_does_not_stop_gpminres(void **state) {
    (void)state;
    for (int k = 0; k < PROBLEMS; k++) {
        SandProblem p = frozen_stored(problem_names[k]);
        frozen_set_cold(&p);
        SandSolveDef def = make_def(sand_solver_find("gpminres"), SAND_FRICTION_BOX, SAND_BOUNDS_PRESOLVE, 20000, 1e-9);
        ClaimSolved s = solve(&p, &def);
        print_message("%s as stored, box, gpminres: %d iterations, residual %.1e\n", problem_names[k], s.solution.iterations,
                      s.solution.metrics.residual);
        assert_int_equal(s.solution.status, SAND_SOLVED);
        claim_free(&s);
        sand_problem_free(&p);
    }
}

// Coulomb's law: by every formulation the law holds to 1e-6 of the residual of the start, and the velocities agree. Only cpg
// with bounds adapted inside the iteration never settles, as the paper says ("the convergence deteriorates"): it must reach
// three tenths.
static void coulombs_law_holds(void **state) {
    (void)state;
    const struct {
        SandFriction friction;
        SandBounds bounds;
    } formulations[] = {{SAND_FRICTION_COULOMB, SAND_BOUNDS_PRESOLVE}, {SAND_FRICTION_CYLINDER, SAND_BOUNDS_OUTSIDE},
                        {SAND_FRICTION_CYLINDER, SAND_BOUNDS_INSIDE},  {SAND_FRICTION_BOX, SAND_BOUNDS_OUTSIDE},
                        {SAND_FRICTION_BOX, SAND_BOUNDS_INSIDE},       {SAND_FRICTION_PRISM, SAND_BOUNDS_OUTSIDE},
                        {SAND_FRICTION_PRISM, SAND_BOUNDS_INSIDE}};
    for (int k = 0; k < PROBLEMS; k++) {
        ClaimSolved first[4] = {{.bound = NULL}}; // of each section
        for (size_t v = 0; v < sizeof formulations / sizeof *formulations; v++)
            for (int solver = 0; solver < sand_solver_count(); solver++) {
                const SandProblem *p = &problems[k];
                SandError error;
                SandSolveDef def = make_def(solver, formulations[v].friction, formulations[v].bounds, 0, 0);
                if (!sand_solve_check(&def, &error) || is_inexact(solver)) continue;
                ClaimSolved start = solve(p, &def);
                double begin = conditions(p, &def, &start, true).residual;
                // The last residual of a method with few large steps says less, so its tolerance is tighter.
                bool assembled = sand_solver_table[solver].assembled;
                def.iterations = 100000;
                def.tolerance = (assembled ? 1e-9 : 1e-7) * begin;
                ClaimSolved s = solve(p, &def);
                Conditions c = conditions(p, &def, &s, true);
                ClaimSolved *truth = &first[sand_friction_table[formulations[v].friction].section];
                double speed = truth->bound ? speed_difference(p, &s.solution, &truth->solution) : 0;
                print_message("%s, %s %s, %s: %d iterations, residual %.1e of the start, speeds %.1e\n", problem_names[k],
                              sand_friction_table[formulations[v].friction].name,
                              sand_bounds_table[formulations[v].bounds].name, sand_solver_table[solver].name,
                              s.solution.iterations, c.residual / begin, speed);
                bool jitters =
                    formulations[v].bounds == SAND_BOUNDS_INSIDE && !strcmp(sand_solver_table[solver].name, "cpg");
                assert_true(jitters || s.solution.status == SAND_SOLVED);
                assert_true(c.residual <= (jitters ? 0.3 : 1e-6) * begin);
                assert_true(speed <= (jitters ? 1e-2 : 1e-6));
                claim_free(&start);
                if (truth->bound)
                    claim_free(&s);
                else
                    *truth = s;
            }
        for (int v = 0; v < 4; v++) claim_free(&first[v]);
    }
}

// Models that a method does not support are refused with its name in the message.
static void others_are_refused_by_name(void **state) {
    (void)state;
    SandError error;
    SandCpu *cpu = sand_cpu_create(1, SAND_FLOAT, &error);
    SandSolution s = {0};
    int refused = 0;
    for (int solver = 0; solver < sand_solver_count(); solver++)
        for (int friction = 0; friction < SAND_FRICTION_COUNT; friction++)
            for (int bounds = 0; bounds < SAND_BOUNDS_COUNT; bounds++) {
                SandSolveDef def = make_def(solver, (SandFriction)friction, (SandBounds)bounds, 2, 0);
                bool can = sand_solve_check(&def, &error);
                assert_int_equal(sand_cpu_solve(cpu, &problems[SPHERES], &def, &s, &error), can);
                if (can) continue;
                refused++;
                assert_non_null(strstr(error.text, sand_solver_table[solver].name));
            }
    SandSolveDef odd = make_def(sand_solver_default, SAND_FRICTION_PRISM, SAND_BOUNDS_PRESOLVE, 2, 0);
    odd.facets = 7;
    assert_false(sand_cpu_solve(cpu, &problems[SPHERES], &odd, &s, &error));
    assert_non_null(strstr(error.text, "facets"));
    assert_true(refused > 0);
    sand_solution_free(&s);
    sand_cpu_free(cpu);
}

int main(int count, char **arguments) {
    if (count > 1 && strcmp(arguments[1], "freeze") == 0) return store_problems();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(projections_are_nearest),      cmocka_unit_test(associated_models_agree),
        cmocka_unit_test(inexact_methods_are_feasible), cmocka_unit_test(a_jam_does_not_stop_gpminres),
        cmocka_unit_test(coulombs_law_holds),           cmocka_unit_test(others_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, load_problems, free_problems);
}
