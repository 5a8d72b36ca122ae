// SPDX-License-Identifier: MIT
// Shared by the solver tests: frozen contact problems of scenes, and the methods by name. Solves are in double unless
// stated.
#pragma once
#include "tests/lab/solver/frozen.h"
#include "sandglass/solver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// cmocka.h needs the headers above.
#include <cmocka.h>

// A heavy plate on a layer of small spheres: one body with more than SAND_HIGH_DEGREE contacts.
static const char plate_scene[] =
    "name: plate\n"
    "about: A heavy plate rests on a layer of small spheres.\n"
    "seconds: 1\n"
    "step: 0.01\n"
    "materials:\n"
    "  - {name: ball, density: 1500, mu: 0.3}\n"
    "boundaries:\n"
    "  - {name: vessel, shape: cylinder, radius: 1, height: 10, caps: bottom}\n"
    "bodies:\n"
    "  - {name: plate, shape: cylinder, radius: 0.95, height: 0.2, mass: 500, position: [0, 0, 0.25]}\n"
    "fills:\n"
    "  - radius: 0.05\n"
    "    count: 200\n"
    "    lattice: {spacing: 0.11, jitter: 0.002, from: 0.055}\n"
    "    region: {cylinder: 0.93}\n";

enum { CUP, CLUMPS, CYLINDER, HEAVY, PLATE, PROBLEMS };
static const char *const problem_names[PROBLEMS] = {"cup", "clumps", "cylinder", "heavy", "plate"};
static SandProblem problems[PROBLEMS];

static inline int make_problems(void **state) {
    (void)state;
    problems[CUP] = frozen_cup();
    problems[CLUMPS] = frozen_scene("clumps", 80, 500, 50);
    problems[CYLINDER] = frozen_scene("cylinder", 1000, 250, 50);
    problems[HEAVY] = frozen_scene("heavy", 0, 150, 50);
    problems[PLATE] = frozen_text(plate_scene, 60, 50);
    for (int k = 0; k < PROBLEMS; k++)
        print_message("%s: %d bodies, %d contacts\n", problem_names[k], problems[k].dynamic_count,
                      problems[k].contact_count);
    return 0;
}

static inline int free_problems(void **state) {
    (void)state;
    for (int k = 0; k < PROBLEMS; k++) sand_problem_free(&problems[k]);
    return 0;
}

// Every method, in every order it has: the rows of the test grid.
typedef struct Method {
    const char *solver;
    const char *order;    // of gauss-seidel
    bool tracks_residual; // it computes its residual itself
    bool monotone;        // the residual never rises, since the best iterate is kept
    bool plans;           // what it does depends on how much of the budget is left
} Method;
static const Method methods[] = {{"p-spg-fb", NULL, true, true, false},
                                 {"spg-fb", NULL, true, true, false},
                                 {"gauss-seidel", "sequential", false, false, false},
                                 {"gauss-seidel", "symmetric", false, false, false},
                                 {"gauss-seidel", "colored", false, false, false},
                                 {"a-gauss-seidel", "sequential", true, false, true},
                                 {"a-gauss-seidel", "colored", true, false, true},
                                 {"block-sweeps", NULL, false, false, true},
                                 {"jacobi", NULL, false, false, false},
                                 {"mass-splitting", NULL, false, false, false},
                                 {"apgd", NULL, true, true, false},
                                 {"avbd", NULL, false, false, false},
                                 {"admm", NULL, true, true, false},
                                 {"admm-spectral", NULL, true, true, false},
                                 {"gpminres", NULL, true, false, false},
                                 {"gpminres-p", NULL, true, false, false},
                                 {"kucera", NULL, true, false, false},
                                 {"mprgp", NULL, true, false, false},
                                 {"cpg", NULL, true, false, false}};
enum { METHODS = sizeof methods / sizeof *methods };

static inline bool method_can(Method method, SandFriction friction) {
    return sand_solver_can(sand_solver_find(method.solver), friction);
}

// Returns the method's defaults, on the cone, or without friction if the method does not support the cone.
static inline SandSolveDef method_def(Method method, int iterations, double tolerance) {
    SandSolveDef def = sand_default_solve();
    SandError error;
    int solver = sand_solver_find(method.solver);
    assert_true(solver >= 0);
    sand_solve_choose(&def, solver);
    if (method.order && !sand_solve_set(&def, "order", method.order, &error)) fail_msg("%s", error.text);
    if (!method_can(method, def.friction)) def.friction = SAND_FRICTIONLESS;
    def.iterations = iterations;
    def.tolerance = tolerance;
    return def;
}

static inline void solve_in(SandPrecision precision, const SandProblem *p, const SandSolveDef *def, SandSolution *solution) {
    SandError error;
    SandCpu *cpu = sand_cpu_create(1, precision, &error);
    if (!cpu || !sand_cpu_solve(cpu, p, def, solution, &error)) fail_msg("%s", error.text);
    sand_cpu_free(cpu);
}

static inline void solve(const SandProblem *p, const SandSolveDef *def, SandSolution *solution) {
    solve_in(SAND_DOUBLE, p, def, solution);
}

// Returns the objective that a solver comes to in this many iterations.
static inline double objective_after(const SandProblem *p, const char *solver, int iterations) {
    SandSolveDef def = method_def((Method){.solver = solver}, iterations, 0);
    SandSolution s = {.want_metrics = true};
    solve(p, &def, &s);
    double objective = s.metrics.objective;
    sand_solution_free(&s);
    return objective;
}

// Returns the largest difference in speed over all points of all bodies.
static inline double speed_difference(const SandProblem *p, const SandSolution *a, const SandSolution *b) {
    double *reach = calloc((size_t)p->body_count + 1, sizeof *reach), worst = 0;
    for (int i = 0; i < p->contact_count; i++) {
        const SandContact *c = &p->contacts[i];
        reach[c->a] = fmax(reach[c->a], v3_length(c->arm_a));
        reach[c->b] = fmax(reach[c->b], v3_length(c->arm_b));
    }
    for (int k = 0; k < p->dynamic_count; k++)
        worst = fmax(worst, v3_length(v3_sub(a->velocity[k], b->velocity[k])) +
                                reach[k] * v3_length(v3_sub(a->spin[k], b->spin[k])));
    free(reach);
    return worst;
}

static inline const char *method_name(Method method) {
    static char name[64];
    snprintf(name, sizeof name, "%s%s%s", method.solver, method.order ? " " : "", method.order ? method.order : "");
    return name;
}
