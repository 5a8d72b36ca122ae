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

// A heavy plate on a layer of small spheres: one body with more than SAND_HUB contacts.
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

enum { CUP, RUBBLE, CYLINDER, HEAVY, PLATE, PROBLEMS };
static const char *const problem_names[PROBLEMS] = {"cup", "rubble", "cylinder", "heavy", "plate"};
static SandProblem problems[PROBLEMS];

static int make_problems(void **state) {
    (void)state;
    problems[CUP] = frozen_cup();
    problems[RUBBLE] = frozen_scene("rubble", 80, 500, 50);
    problems[CYLINDER] = frozen_scene("cylinder", 1000, 250, 50);
    problems[HEAVY] = frozen_scene("heavy", 0, 150, 50);
    problems[PLATE] = frozen_text(plate_scene, 60, 50);
    for (int k = 0; k < PROBLEMS; k++)
        print_message("%s: %d bodies, %d contacts\n", problem_names[k], problems[k].dynamic_count,
                      problems[k].contact_count);
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
    bool knows;        // its residual, without being measured
    bool falls;        // the residual never rises, since the best iterate is kept
} Method;
static const Method methods[] = {{"p-spg-fb", NULL, true, true},
                                 {"spg-fb", NULL, true, true},
                                 {"gauss-seidel", "sequential", false, false},
                                 {"gauss-seidel", "symmetric", false, false},
                                 {"gauss-seidel", "coloured", false, false},
                                 {"jacobi", NULL, false, false},
                                 {"apgd", NULL, true, true},
                                 {"admm", NULL, true, true},
                                 {"gpminres", NULL, true, false},
                                 {"gpminres-p", NULL, true, false},
                                 {"kucera", NULL, true, false},
                                 {"mprgp", NULL, true, false},
                                 {"cpg", NULL, true, false}};
enum { METHODS = sizeof methods / sizeof *methods };

static bool method_can(Method method, SandFriction friction) {
    return sand_solver_can(sand_solver_find(method.solver), friction);
}

// The method's defaults, on the cone, or without friction if the method does not know the cone.
static SandSolveDef method_def(Method method, int iterations, double tolerance) {
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

static void solve_in(SandPrecision precision, const SandProblem *p, const SandSolveDef *def, SandSolution *solution) {
    SandError error;
    SandCpu *cpu = sand_cpu_create(1, precision, &error);
    if (!cpu || !sand_cpu_solve(cpu, p, def, solution, &error)) fail_msg("%s", error.text);
    sand_cpu_free(cpu);
}

static void solve(const SandProblem *p, const SandSolveDef *def, SandSolution *solution) {
    solve_in(SAND_DOUBLE, p, def, solution);
}

// The largest difference of the speed of any point of any body.
static double speed_difference(const SandProblem *p, const SandSolution *a, const SandSolution *b) {
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

static const char *method_name(Method method) {
    static char name[64];
    snprintf(name, sizeof name, "%s%s%s", method.solver, method.order ? " " : "", method.order ? method.order : "");
    return name;
}

// ---- the solution ----

// Solves by all methods and compares the velocities, which are unique (the impulses are not). The error of a velocity is
// the residual times some factor of the problem; a residual of 1e-9 leaves room for the 1e-6 that is promised.
static void methods_agree(const SandProblem *p, const char *name, SandFriction friction) {
    SandSolution solutions[METHODS];
    memset(solutions, 0, sizeof solutions);
    for (int m = 0; m < METHODS; m++) {
        if (!method_can(methods[m], friction)) continue;
        SandSolveDef def = method_def(methods[m], 400000, 1e-9); // 52,000 were needed at most
        // With clumps 0.3 is too long a step for jacobi: it then goes round in a circle.
        if (!strcmp(methods[m].solver, "jacobi")) def.params[0] = 0.15;
        def.friction = friction;
        solve(p, &def, &solutions[m]);
        double difference = speed_difference(p, &solutions[0], &solutions[m]);
        print_message("%s: %s: %d iterations, residual %.1e, speeds differ by %.1e\n", name, method_name(methods[m]),
                      solutions[m].iterations, solutions[m].metrics.residual, difference);
        assert_int_equal(solutions[m].status, SAND_SOLVED);
        assert_true(solutions[m].metrics.residual <= 1e-9);
        assert_true(difference <= 1e-6);
    }
    // The impulses do something: the first solution is not the free motion.
    SandSolution nothing = {0};
    SandSolveDef none = method_def(methods[0], 0, 0);
    solve(p, &none, &nothing);
    assert_true(speed_difference(p, &solutions[0], &nothing) > 1e-3);
    sand_solution_free(&nothing);
    for (int m = 0; m < METHODS; m++) sand_solution_free(&solutions[m]);
}

static void solvers_agree_in_the_velocities(void **state) {
    (void)state;
    const double mus[] = {0, 0.2, 0.8};
    for (int k = CUP; k <= RUBBLE; k++)
        for (int m = 0; m < 3; m++) {
            SandProblem p = frozen_well_posed(&problems[k], mus[m]);
            char name[64];
            snprintf(name, sizeof name, "%s, mu %g", problem_names[k], mus[m]);
            methods_agree(&p, name, mus[m] > 0 ? SAND_CONE : SAND_FRICTIONLESS);
            sand_problem_free(&p);
        }
}

// Some contacts with friction and some without in one problem.
static void solvers_agree_with_mixed_friction(void **state) {
    (void)state;
    for (int k = CUP; k <= RUBBLE; k++) {
        SandProblem p = frozen_well_posed(&problems[k], 0.5);
        char name[64];
        for (int i = 0; i < p.contact_count; i++)
            if (i % 3 == 0 || p.contacts[i].b >= p.dynamic_count) p.contacts[i].mu = 0;
        snprintf(name, sizeof name, "%s, mu 0 and 0.5", problem_names[k]);
        methods_agree(&p, name, SAND_CONE);
        sand_problem_free(&p);
    }
}

// The independent truth: the conditions of the minimum, by dense algebra. With a residual of at most e, the gradient is
// within e of the dual cone, and g . u at most e times (|g| + tau |u|); the 1.01 is for rounding.
static void solution_fulfils_the_conditions(void **state) {
    (void)state;
    const double mus[] = {0, 0.2, 0.8, -1};
    const double e = 1e-10;
    for (int k = CUP; k <= RUBBLE; k++)
        for (int m = 0; m < 4; m++) {
            SandProblem p = frozen_well_posed(&problems[k], mus[m]);
            if (mus[m] < 0)
                for (int i = 0; i < p.contact_count; i += 2) p.contacts[i].mu = 0;
            size_t bodies = (size_t)p.body_count;
            SandSolution s = {0};
            SandSolveDef def = method_def(methods[0], 100000, e);
            solve(&p, &def, &s);
            assert_int_equal(s.status, SAND_SOLVED);
            DenseMeasure d = dense_measure(&p, false, s.impulse);
            double largest = 0, scale = 0;
            for (int i = 0; i < p.contact_count; i++) largest = fmax(largest, v3_length(s.impulse[i]));
            for (int i = 0; i < p.dynamic_count; i++) scale = fmax(scale, v3_length(p.bodies[i].velocity));
            print_message("%s, mu %g: outside the cone %.1e, of impulses up to %.2g; outside the dual %.1e; g.u %.1e\n",
                          problem_names[k], mus[m], d.outside, largest, d.inward, d.complementarity);
            assert_true(largest > 0);
            assert_true(d.outside <= 1e-15 * largest);
            assert_true(d.inward <= 1.01 * e);
            assert_true(d.complementarity <= 1.01 * e * (largest + dense_tau(&p, false) * 10 * scale));
            // The velocities are those that the impulses make; 1e-12 of them is rounding.
            SandVec3 *velocity = calloc(bodies, sizeof *velocity), *spin = calloc(bodies, sizeof *spin);
            dense_velocities(&p, s.impulse, velocity, spin);
            for (int i = 0; i < p.body_count; i++) {
                assert_true(v3_length(v3_sub(velocity[i], s.velocity[i])) <= 1e-12);
                assert_true(v3_length(v3_sub(spin[i], s.spin[i])) <= 1e-11);
            }
            free(velocity);
            free(spin);
            sand_solution_free(&s);
            sand_problem_free(&p);
        }
}

// ---- what a solver reports ----

// Residual and objective are those of dense algebra, whether the solver keeps them itself or the metrics module measures.
static void reports_are_dense(void **state) {
    (void)state;
    for (int k = CUP; k <= RUBBLE; k++)
        for (int frictionless = 0; frictionless < 2; frictionless++)
            for (int m = 0; m < METHODS; m++) {
                if (!method_can(methods[m], frictionless ? SAND_FRICTIONLESS : SAND_CONE)) continue;
                const SandProblem *p = &problems[k];
                SandSolution kept = {0}, measured = {.want_metrics = true};
                SandSolveDef def = method_def(methods[m], 37, 0);
                def.friction = frictionless ? SAND_FRICTIONLESS : SAND_CONE;
                solve(p, &def, &kept);
                solve(p, &def, &measured);
                assert_int_equal(kept.status, SAND_BUDGET);
                assert_int_equal(kept.iterations, 37);
                assert_memory_equal(kept.impulse, measured.impulse, (size_t)p->contact_count * sizeof *kept.impulse);
                DenseMeasure d = dense_measure(p, frictionless, kept.impulse);
                // Rounding of a few hundred terms; the kept objective is carried on through 37 iterations.
                double size = fabs(d.objective) + 1;
                assert_true(fabs(kept.metrics.residual - d.residual) <= 1e-9 * d.residual);
                assert_true(fabs(measured.metrics.residual - d.residual) <= 1e-9 * d.residual);
                assert_true(fabs(kept.metrics.objective - d.objective) <= 1e-10 * size);
                assert_true(fabs(measured.metrics.objective - d.objective) <= 1e-10 * size);
                assert_true(fabs(measured.metrics.complementarity - d.complementarity) <= 1e-10 * size);
                assert_true(fabs(kept.metrics.residual_rms - d.residual / sqrt(p->contact_count)) <= 1e-9 * d.residual);
                sand_solution_free(&kept);
                sand_solution_free(&measured);
            }
}

// ---- the budget ----

// gamma_FB: from one budget to a larger one the residual never rises, not by a bit. Measured again by the metrics module
// it may, by rounding: 1e-9 in double, and in float 1e-3 of the residual and what float can see of velocities of 1 m/s
// over thousands of contacts.
static void larger_budgets_never_hurt(void **state) {
    (void)state;
    const int more[] = {80, 100, 150, 200, 300, 500};
    const int budgets = 61 + sizeof more / sizeof *more;
    for (int run = 0; run < 16; run++) {
        bool warm = run & 1, in_float = run & 2;
        SandProblem p = frozen_copy(&problems[run & 8 ? RUBBLE : CYLINDER]);
        if (!warm) frozen_set_cold(&p);
        double last = INFINITY, last_measured = INFINITY;
        for (int b = 0; b < budgets; b++) {
            SandSolution s = {0};
            SandSolveDef def = method_def(methods[run & 4 ? 1 : 0], b <= 60 ? b : more[b - 61], 0);
            solve_in(in_float ? SAND_FLOAT : SAND_DOUBLE, &p, &def, &s);
            assert_int_equal(s.iterations, def.iterations);
            assert_true(s.metrics.residual <= last);
            last = s.metrics.residual;
            if (b % 10 == 0) {
                s.want_metrics = true;
                solve_in(in_float ? SAND_FLOAT : SAND_DOUBLE, &p, &def, &s);
                assert_true(s.metrics.residual <= (in_float ? 1.001 : 1 + 1e-9) * last_measured + (in_float ? 1e-4 : 0));
                last_measured = s.metrics.residual;
            }
            sand_solution_free(&s);
        }
        sand_problem_free(&p);
    }
}

// A budget in milliseconds stops a problem that would go on for minutes. How soon depends on the machine and on who else
// uses it, so a whole second is allowed for one millisecond.
static void milliseconds_stop_a_solve(void **state) {
    (void)state;
    for (int m = 0; m < METHODS; m++) {
        SandSolution s = {0};
        SandSolveDef def = method_def(methods[m], 10000000, 0);
        def.budget_ms = 1;
        SandProblem p = frozen_copy(&problems[CYLINDER]);
        frozen_set_cold(&p);
        solve(&p, &def, &s);
        assert_int_equal(s.status, SAND_BUDGET);
        assert_in_range(s.iterations, 1, 9999999);
        assert_true(s.seconds >= 1e-3 && s.seconds < 1);
        sand_solution_free(&s);
        sand_problem_free(&p);
    }
}

// ---- convergence ----

// The residual of a cold start, and where p-spg-fb brings it.
static double brought_down(const char *name, const SandProblem *problem, SandFriction friction, int iterations,
                           double goal) {
    SandProblem p = frozen_copy(problem);
    frozen_set_cold(&p);
    SandSolution start = {0}, s = {.want_metrics = true};
    SandSolveDef def = method_def(methods[0], 0, 0);
    def.friction = friction;
    solve(&p, &def, &start);
    def.iterations = iterations;
    def.tolerance = goal * start.metrics.residual;
    solve(&p, &def, &s);
    double factor = s.metrics.residual / start.metrics.residual;
    print_message("cylinder 1000, %s: residual %.3g to %.3g m/s, factor %.1e, in %d iterations, %.1f s\n", name,
                  start.metrics.residual, s.metrics.residual, factor, s.iterations, s.seconds);
    sand_solution_free(&start);
    sand_solution_free(&s);
    sand_problem_free(&p);
    return factor;
}

// heyn2012, Test Problem 2, in double from a cold start: down by 1e-6 and more. With friction this is so while the pile
// forms, and when it has settled if the gaps leave it some freedom. Settled as it is, all gaps closed, the impulses of a
// jammed pile are hardly bounded and the residual falls like one over the iterations: 1e-3 is asked of 4,000.
static void cylinder_converges(void **state) {
    (void)state;
    SandProblem forming = frozen_scene("cylinder", 1000, 60, 50), free_gaps = frozen_well_posed(&problems[CYLINDER], -1);
    assert_true(brought_down("settled, mu 0", &problems[CYLINDER], SAND_FRICTIONLESS, 4000, 1e-7) <= 1e-6);
    assert_true(brought_down("forming, mu 0.2", &forming, SAND_CONE, 6000, 1e-7) <= 1e-6);
    assert_true(brought_down("settled, mu 0.2, gaps of 0.1 mm", &free_gaps, SAND_CONE, 6000, 1e-7) <= 1e-6);
    assert_true(brought_down("settled, mu 0.2", &problems[CYLINDER], SAND_CONE, 4000, 1e-7) <= 1e-3);
    sand_problem_free(&forming);
    sand_problem_free(&free_gaps);
}

// heyn2012 Fig. 6 to 8: without friction p-spg-fb is far below jacobi (omega 0.3, lambda 1) at equal iterations, in
// residual and in objective above the best known. The factors asked for are well below those measured.
static void spg_is_far_below_jacobi(void **state) {
    (void)state;
    const struct {
        int iterations;
        double residual, objective; // factors asked for
    } rows[] = {{100, 5, 5}, {1000, 100, 100}};
    SandProblem p = frozen_copy(&problems[CYLINDER]);
    frozen_set_cold(&p);
    SandSolution best = {.want_metrics = true};
    SandSolveDef def = method_def(methods[0], 20000, 1e-11);
    def.friction = SAND_FRICTIONLESS;
    solve(&p, &def, &best);
    print_message("cylinder, mu 0: best known objective %.12g with residual %.1e after %d iterations\n",
                  best.metrics.objective, best.metrics.residual, best.iterations);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        SandSolution spg = {.want_metrics = true}, jacobi = {.want_metrics = true};
        def = method_def(methods[0], rows[k].iterations, 0);
        def.friction = SAND_FRICTIONLESS;
        solve(&p, &def, &spg);
        def = method_def((Method){.solver = "jacobi"}, rows[k].iterations, 0);
        def.friction = SAND_FRICTIONLESS;
        assert_true(def.params[0] == 0.3 && def.params[1] == 1);
        solve(&p, &def, &jacobi);
        double least = best.metrics.objective, rounding = 1e-13 * fabs(least);
        double spg_above = fmax(spg.metrics.objective - least, rounding), jacobi_above = jacobi.metrics.objective - least;
        print_message(
            "%d iterations: residual %.2e and %.2e, factor %.3g; objective above the best %.2e and %.2e, factor %.3g\n",
            rows[k].iterations, spg.metrics.residual, jacobi.metrics.residual,
            jacobi.metrics.residual / spg.metrics.residual, spg_above, jacobi_above, jacobi_above / spg_above);
        assert_true(jacobi.metrics.residual >= rows[k].residual * spg.metrics.residual);
        assert_true(jacobi_above >= rows[k].objective * spg_above);
        sand_solution_free(&spg);
        sand_solution_free(&jacobi);
    }
    sand_solution_free(&best);
    sand_problem_free(&p);
}

// A preconditioner that knows the normal of a contact from its sides against one that averages over both: the residual after
// a few iterations, as a step has them.
static void normals_and_sides_are_weighted_apart(void **state) {
    (void)state;
    for (int k = 0; k < PROBLEMS; k++) {
        double left[2];
        for (int apart = 0; apart < 2; apart++) {
            SandProblem p = frozen_copy(&problems[k]);
            frozen_set_cold(&p);
            SandSolution s = {.want_metrics = true};
            SandSolveDef def = method_def(methods[0], 40, 0);
            SandError error = {""};
            if (!sand_solve_set(&def, "ratio", apart ? "3.5" : "1", &error)) fail_msg("%s", error.text);
            solve(&p, &def, &s);
            left[apart] = s.metrics.residual;
            sand_solution_free(&s), sand_problem_free(&p);
        }
        print_message("%s after 40 iterations: residual %.3e averaged, %.3e apart\n", problem_names[k], left[0], left[1]);
        if (k == CYLINDER) assert_true(left[0] > 1.5 * left[1]);
    }
}

// heyn2012 Table I, on a thousand spheres without friction: jacobi needs many times the iterations of gpminres for the same
// objective (the paper: 43 times, of MINRES iterations alone; here every product is counted). Our pile is solved sooner
// than the paper's: after 1,000 both objectives are rounding, and the residuals still tell.
static void gpminres_is_ten_times_jacobi(void **state) {
    (void)state;
    SandProblem p = frozen_copy(&problems[CYLINDER]);
    frozen_set_cold(&p);
    SandSolution best = {0}, gpminres = {.want_curve = true}, jacobi = {.want_curve = true};
    SandSolveDef def = method_def(methods[0], 20000, 1e-11);
    def.friction = SAND_FRICTIONLESS;
    solve(&p, &def, &best);
    def = method_def((Method){.solver = "gpminres"}, 1000, 0);
    solve(&p, &def, &gpminres);
    def = method_def((Method){.solver = "jacobi"}, 10000, 0);
    def.friction = SAND_FRICTIONLESS;
    solve(&p, &def, &jacobi);
    double above = gpminres.curve[300].objective - best.metrics.objective;
    int needed = 0;
    while (needed < 10000 && jacobi.curve[needed].objective - best.metrics.objective > above) needed++;
    print_message(
        "gpminres: objective %.1e above the best after 300; jacobi needs %d, %.0f times as many; residual %.1e after "
        "1,000, jacobi %.1e after 10,000\n",
        above, needed, needed / 300.0, gpminres.metrics.residual, jacobi.metrics.residual);
    assert_true(needed >= 3000);
    assert_true(jacobi.metrics.residual > gpminres.metrics.residual);
    sand_solution_free(&best);
    sand_solution_free(&gpminres);
    sand_solution_free(&jacobi);
    sand_problem_free(&p);
}

// preclik2009 Fig. 2: without friction and on the box cpg needs about half the iterations of pgs, here to 1e-6 of the first
// residual. Of cpg every product counts; in the paper an iteration has two.
static void cpg_needs_half_of_pgs(void **state) {
    (void)state;
    const SandFriction models[] = {SAND_FRICTIONLESS, SAND_FRICTION_BOX};
    for (int k = 0; k < 2; k++) {
        SandProblem p = frozen_well_posed(&problems[CYLINDER], 0.8);
        int iterations[2];
        for (int m = 0; m < 2; m++) {
            SandSolution start = {0}, s = {0};
            SandSolveDef def =
                method_def(m ? (Method){.solver = "gauss-seidel", .order = "sequential"} : (Method){.solver = "cpg"}, 0, 0);
            def.friction = models[k];
            solve(&p, &def, &start);
            def.iterations = 20000;
            def.tolerance = 1e-6 * start.metrics.residual;
            solve(&p, &def, &s);
            assert_int_equal(s.status, SAND_SOLVED);
            iterations[m] = s.iterations;
            sand_solution_free(&start);
            sand_solution_free(&s);
        }
        print_message("%s, mu 0.8: cpg %d iterations, pgs %d, ratio %.2f\n", sand_friction_table[models[k]].name,
                      iterations[0], iterations[1], (double)iterations[0] / iterations[1]);
        assert_true(iterations[0] <= 0.6 * iterations[1]);
        sand_problem_free(&p);
    }
}

// A body with more than SAND_HUB contacts: coloured gauss-seidel relaxes those as one Jacobi batch.
static void batch_converges(void **state) {
    (void)state;
    for (int k = HEAVY; k <= PLATE; k++) {
        SandProblem p = frozen_well_posed(&problems[k], -1);
        int *count = calloc((size_t)p.body_count, sizeof *count), most = 0;
        for (int i = 0; i < p.contact_count; i++) count[p.contacts[i].a]++, count[p.contacts[i].b]++;
        for (int i = 0; i < p.dynamic_count; i++) most = count[i] > most ? count[i] : most;
        free(count);
        if (k == PLATE) assert_true(most > SAND_HUB);
        SandSolution truth = {0}, start = {0}, s = {0};
        SandSolveDef def = method_def(methods[0], 50000, 1e-9);
        solve(&p, &def, &truth);
        def = method_def((Method){.solver = "gauss-seidel", .order = "coloured"}, 0, 0);
        solve(&p, &def, &start);
        def.iterations = 3000;
        solve(&p, &def, &s);
        print_message("%s: %d contacts on one body; coloured gauss-seidel brings %.2e to %.2e, speeds %.1e from p-spg-fb's "
                      "(%d iterations)\n",
                      problem_names[k], most, start.metrics.residual, s.metrics.residual, speed_difference(&p, &truth, &s),
                      truth.iterations);
        // 3,000 sweeps are the end for one layer under a plate, but not for the heavy pile, where they gain four to six
        // digits.
        assert_true(s.metrics.residual <= (k == PLATE ? 1e-9 : 1e-3) * start.metrics.residual);
        assert_true(speed_difference(&p, &truth, &s) <= (k == PLATE ? 1e-7 : 1e-2));
        sand_solution_free(&truth);
        sand_solution_free(&start);
        sand_solution_free(&s);
        sand_problem_free(&p);
    }
}

// ---- the curve ----

static void curve_is_what_was_asked_for(void **state) {
    (void)state;
    const SandProblem *p = &problems[CUP];
    for (int m = 0; m < METHODS; m++) {
        SandSolution with = {.want_curve = true}, without = {0};
        SandSolveDef def = method_def(methods[m], 40, 0);
        solve(p, &def, &with);
        solve(p, &def, &without);
        assert_int_equal(with.curve_count, 41);
        for (int i = 0; i < with.curve_count; i++) {
            assert_int_equal(with.curve[i].iteration, i);
            assert_true(isfinite(with.curve[i].residual) && isfinite(with.curve[i].objective) && with.curve[i].seconds >= 0);
            if (i) assert_true(with.curve[i].seconds >= with.curve[i - 1].seconds);
            if (i && methods[m].falls) assert_true(with.curve[i].residual <= with.curve[i - 1].residual);
        }
        // The curve ends with what the solution says, and a shorter solve is its beginning. A method that does not know its
        // residual is measured for the curve, which refreshes its velocities: the last bits may differ.
        double near = methods[m].knows ? 0 : 1e-9;
        assert_true(with.curve[40].residual == with.metrics.residual && with.curve[40].objective == with.metrics.objective);
        SandSolution shorter = {0};
        def.iterations = 11;
        solve(p, &def, &shorter);
        assert_true(fabs(shorter.metrics.residual - with.curve[11].residual) <= near * shorter.metrics.residual);
        // Nobody asked: nothing recorded, and the same result.
        assert_int_equal(without.curve_count, 0);
        assert_null(without.curve);
        double most = 0;
        for (int i = 0; i < p->contact_count; i++) most = fmax(most, v3_length(with.impulse[i]));
        for (int i = 0; i < p->contact_count; i++)
            assert_true(v3_length(v3_sub(with.impulse[i], without.impulse[i])) <= near * most);
        sand_solution_free(&with);
        sand_solution_free(&without);
        sand_solution_free(&shorter);
    }
}

// ---- impossible problems ----

// A ball between walls that close in on it. Every method must say infeasible, the run goes on and all stays finite.
static void wedged_ball_is_infeasible(void **state) {
    (void)state;
    for (int run = 0; run < 2 * METHODS; run++) {
        SandScene scene;
        SandError error;
        SandSceneOptions options = {0};
        if (!sand_scene_load(&scene, "wedge", &options, &error)) fail_msg("%s", error.text);
        SandSimulationDef def = sand_default_simulation();
        def.threads = 1;
        def.precision = run < METHODS ? SAND_FLOAT : SAND_DOUBLE;
        def.solve = method_def(methods[run % METHODS], 50, 0);
        SandSimulation *sim = sand_simulation_create(&scene.world, &def, &error);
        if (!sim) fail_msg("%s", error.text);
        for (int k = 0; k < 120; k++) {
            if (!sand_simulation_step(sim, &error)) fail_msg("%s", error.text);
            const SandSolution *s = sand_simulation_solution(sim);
            const SandProblem *p = sand_simulation_problem(sim);
            // The ball weighs 1,309 kg and is squeezed at 1 m/s: impulses may grow before the method sees it, but not for
            // ever.
            for (int i = 0; i < p->contact_count; i++)
                assert_true(v3_finite(s->impulse[i]) && v3_length(s->impulse[i]) < 1e6);
            for (int i = 0; i < p->body_count; i++) assert_true(v3_finite(s->velocity[i]) && v3_finite(s->spin[i]));
            // Before the touch nothing is wrong.
            if (k < 15) assert_true(s->status != SAND_INFEASIBLE);
        }
        const SandCounters *c = sand_simulation_counters(sim);
        print_message("wedge, %s, %s: %d of 120 steps infeasible\n", method_name(methods[run % METHODS]),
                      def.precision == SAND_FLOAT ? "float" : "double", c->infeasible_total);
        assert_true(c->infeasible_total > 0);
        assert_int_equal(c->lost_total, 0);
        assert_int_equal(c->bodies, 1);
        sand_simulation_free(sim);
        sand_scene_free(&scene);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solvers_agree_in_the_velocities),
        cmocka_unit_test(solvers_agree_with_mixed_friction),
        cmocka_unit_test(solution_fulfils_the_conditions),
        cmocka_unit_test(reports_are_dense),
        cmocka_unit_test(larger_budgets_never_hurt),
        cmocka_unit_test(milliseconds_stop_a_solve),
        cmocka_unit_test(cylinder_converges),
        cmocka_unit_test(normals_and_sides_are_weighted_apart),
        cmocka_unit_test(spg_is_far_below_jacobi),
        cmocka_unit_test(gpminres_is_ten_times_jacobi),
        cmocka_unit_test(cpg_needs_half_of_pgs),
        cmocka_unit_test(batch_converges),
        cmocka_unit_test(curve_is_what_was_asked_for),
        cmocka_unit_test(wedged_ball_is_infeasible),
    };
    return cmocka_run_group_tests(tests, make_problems, free_problems);
}
