// The solvers: they agree with each other and with dense algebra, never get worse with a larger budget, and know when
// a problem has no solution. Problems are frozen steps of scenes; all solves are in double unless said.
#include "dense.h"
#include "frozen.h"
#include "../sim/random.h"
#include "../sim/scene.h"
#include "../sim/simulation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// cmocka wants the headers above first.
#include <cmocka.h>

// ---- the problems ----

// Spheres at rest in a narrow cup, many layers deep.
static const char cup_scene[] = "name: cup\n"
                                "about: Spheres at rest in a narrow cup.\n"
                                "seconds: 1\n"
                                "step: 0.01\n"
                                "materials:\n"
                                "  - {name: ball, density: 1500, mu: 0.3}\n"
                                "boundaries:\n"
                                "  - {name: cup, shape: cylinder, radius: 0.4, height: 10, caps: bottom}\n"
                                "fills:\n"
                                "  - radius: 0.1\n"
                                "    count: 60\n"
                                "    lattice: {spacing: 0.22, jitter: 0.008, columns: 3, from: 0.15}\n"
                                "    region: {cylinder: 0.3}\n";

// A heavy plate on a layer of small spheres: one body with more than SAND_HUB contacts.
static const char plate_scene[] = "name: plate\n"
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

enum { CUP, RUBBLE, CYLINDER, HEAVY, PLATE, PROBLEMS };
static const char *const problem_names[PROBLEMS] = {"cup", "rubble", "cylinder", "heavy", "plate"};
static SandProblem problems[PROBLEMS];

static int make_problems(void **state) {
    (void)state;
    problems[CUP] = frozen_text(cup_scene, 200, 50);
    problems[RUBBLE] = frozen_scene("rubble", 80, 500, 50);
    problems[CYLINDER] = frozen_scene("cylinder", 1000, 250, 50);
    problems[HEAVY] = frozen_scene("heavy", 0, 150, 50);
    problems[PLATE] = frozen_text(plate_scene, 60, 50);
    for (int k = 0; k < PROBLEMS; k++)
        print_message("%s: %d bodies, %d contacts\n", problem_names[k], problems[k].dynamic_count, problems[k].contact_count);
    return 0;
}

static int free_problems(void **state) {
    (void)state;
    for (int k = 0; k < PROBLEMS; k++) sand_problem_free(&problems[k]);
    return 0;
}

// ---- solving ----

// Every method in every order, by name: what the grid of tests goes over.
typedef struct Method {
    const char *solver;
    const char *order; // of gauss-seidel
} Method;
static const Method methods[] = {{"p-spg-fb", NULL},           {"spg-fb", NULL},
                                 {"gauss-seidel", "sequential"}, {"gauss-seidel", "symmetric"},
                                 {"gauss-seidel", "coloured"},   {"jacobi", NULL}};
enum { METHODS = sizeof methods / sizeof *methods };

static SandSolveDef method_def(Method method, int iterations, double tolerance) {
    SandSolveDef def = sand_default_solve();
    SandError error;
    int solver = sand_solver_find(method.solver);
    assert_true(solver >= 0);
    sand_solve_choose(&def, solver);
    if (method.order && !sand_solve_set(&def, "order", method.order, &error)) fail_msg("%s", error.text);
    def.iterations = iterations;
    def.tolerance = tolerance;
    return def;
}

static void solve_in(SandPrecision precision, const SandProblem *p, const SandSolveDef *def, SandSolution *solution) {
    SandError error;
    SandCpu *cpu = sand_cpu_create(1, precision, &error);
    if (!cpu || !sand_cpu_solve(cpu, p, def, solution, &error)) fail_msg("%s", error.text);
    sand_cpu_free(cpu);
}

static void solve(const SandProblem *p, const SandSolveDef *def, SandSolution *solution) { solve_in(SAND_DOUBLE, p, def, solution); }

// The largest difference of the speed of any point of any body.
static double speed_difference(const SandProblem *p, const SandSolution *a, const SandSolution *b) {
    double *reach = calloc((size_t)p->body_count + 1, sizeof *reach), worst = 0;
    for (int i = 0; i < p->contact_count; i++) {
        const SandContact *c = &p->contacts[i];
        reach[c->a] = fmax(reach[c->a], v3_length(c->arm_a));
        reach[c->b] = fmax(reach[c->b], v3_length(c->arm_b));
    }
    for (int k = 0; k < p->dynamic_count; k++)
        worst = fmax(worst, v3_length(v3_sub(a->velocity[k], b->velocity[k])) + reach[k] * v3_length(v3_sub(a->spin[k], b->spin[k])));
    free(reach);
    return worst;
}

static void print_name(const Method *m) { print_message("%s%s%s", m->solver, m->order ? " " : "", m->order ? m->order : ""); }

// Solves by all methods and compares the velocities, which are unique. A residual of 1e-9 m/s leaves errors of the
// velocity some orders above it, where the problem is nearly degenerate: 1e-6 is what is promised.
static void methods_agree(const SandProblem *p, const char *name) {
    SandSolution solutions[METHODS];
    memset(solutions, 0, sizeof solutions);
    for (int m = 0; m < METHODS; m++) {
        SandSolveDef def = method_def(methods[m], 400000, 1e-9);
        solve(p, &def, &solutions[m]);
        double difference = speed_difference(p, &solutions[0], &solutions[m]);
        print_message("  %s, ", name);
        print_name(&methods[m]);
        print_message(": %d iterations, residual %.1e, speeds differ by %.1e, %.2f s, status %d\n", solutions[m].iterations,
                      solutions[m].metrics.residual, difference, solutions[m].seconds, solutions[m].status);
    }
    for (int m = 0; m < METHODS; m++) sand_solution_free(&solutions[m]);
}

static void solvers_agree_in_the_velocities(void **state) {
    (void)state;
    const double mus[] = {0, 0.2, 0.8};
    for (int k = CUP; k <= RUBBLE; k++)
        for (int m = 0; m < 3; m++) {
            SandProblem p = frozen_copy(&problems[k]);
            char name[64];
            frozen_set_mu(&p, mus[m]);
            frozen_set_cold(&p);
            snprintf(name, sizeof name, "%s mu %g", problem_names[k], mus[m]);
            methods_agree(&p, name);
            sand_problem_free(&p);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solvers_agree_in_the_velocities),
    };
    return cmocka_run_group_tests(tests, make_problems, free_problems);
}
