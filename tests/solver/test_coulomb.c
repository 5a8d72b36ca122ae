// SPDX-License-Identifier: MIT
// ngs-newton: its impulses obey Coulomb's law to many digits, checked by dense algebra that shares no code with it, contact
// by contact and in the words of the law; also where contacts are redundant, where N is stored and not symmetric, and where
// the answer is known.
#include "sandglass/problem.h"
#include "tests/lab/solver/dense.h"
#include "tests/lab/solver/frozen.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// cmocka.h requires the headers above.
#include <cmocka.h>

static SandSolution solve(const SandProblem *p, const char *solver, SandFriction friction, double tolerance) {
    SandError error = {""};
    SandSolveDef def = sand_default_solve();
    sand_solve_choose(&def, sand_solver_find(solver));
    def.friction = friction;
    def.iterations = 1000000;
    def.tolerance = tolerance;
    SandSolution s = {.want_metrics = true};
    SandCpu *cpu = sand_cpu_create(1, SAND_DOUBLE, &error);
    if (!sand_cpu_solve(cpu, p, &def, &s, &error)) fail_msg("%s", error.text);
    sand_cpu_free(cpu);
    return s;
}

// How far an impulse g and a velocity u of a contact are from the law, in m/s. Products and friction are divided by the
// largest impulse.
static double violation(SandVec3 n, double mu, SandVec3 g, SandVec3 u, double largest) {
    double gn = v3_dot(g, n), un = v3_dot(u, n);
    SandVec3 gt = v3_madd(g, -gn, n), ut = v3_madd(u, -un, n);
    double speed = v3_length(ut), most = fmax(fmax(-un, 0), fmax(-gn, 0) / largest);
    most = fmax(most, fmin(gn / largest, fabs(un)));
    most = fmax(most, (v3_length(gt) - mu * gn) / largest);
    // It sticks, or friction is at its bound and against the motion: |mu g_n u_t + |u_t| g_t| = 0.
    return fmax(most, fmin(speed, v3_length(v3_add(v3_scale(mu * gn, ut), v3_scale(speed, gt))) / largest));
}

static double worst_violation(const SandProblem *p, const SandSolution *s) {
    SandVec3 *u = calloc((size_t)p->contact_count + 1, sizeof *u), *r = calloc((size_t)p->contact_count + 1, sizeof *r);
    dense_product(p, false, s->impulse, u, NULL);
    dense_r(p, false, r);
    double largest = 1e-300, worst = 0;
    for (int i = 0; i < p->contact_count; i++) largest = fmax(largest, v3_length(s->impulse[i]));
    for (int i = 0; i < p->contact_count; i++)
        worst = fmax(worst, violation(p->contacts[i].normal, p->contacts[i].mu, s->impulse[i], v3_add(u[i], r[i]), largest));
    free(u);
    free(r);
    return worst;
}

static const char box_scene[] = "name: box\n"
                                "materials:\n"
                                "  - {name: wood, density: 700, mu: 0.5}\n"
                                "boundaries:\n"
                                "  - {name: floor, shape: plane}\n"
                                "bodies:\n"
                                "  - {name: box, shape: box, size: [1, 0.6, 0.4], position: [0, 0, 0.2]}\n";

// Piles whose contacts stick, slide and open; and a box on a plane, half of whose rows are redundant.
static void law_holds(void **state) {
    (void)state;
    SandProblem problems[] = {frozen_stored("spheres"), frozen_stored("clumps"), frozen_text(box_scene, 20, 50),
                              frozen_scene("cylinder", 200, 60, 50), frozen_scene("incline", 0, 50, 50)};
    for (size_t k = 0; k < sizeof problems / sizeof *problems; k++) {
        SandProblem *p = &problems[k];
        frozen_set_cold(p);
        SandSolution s = solve(p, "ngs-newton", SAND_FRICTION_COULOMB, 1e-10);
        double worst = worst_violation(p, &s);
        print_message("%d contacts: %s after %d iterations, residual %.1e, law %.1e\n", p->contact_count,
                      sand_status_text(s.status), s.iterations, s.metrics.residual, worst);
        assert_int_equal(s.status, SAND_SOLVED);
        assert_true(s.metrics.residual <= 1e-10);
        // The violation of one contact is below the residual of all but for the scale of its diagonal beside the mean one.
        assert_true(worst <= 1e-8);
        sand_solution_free(&s);
        sand_problem_free(p);
    }
}

// Without friction the law is that of every cone program: the velocities are those of ipm-soc.
static void frictionless_is_the_minimum(void **state) {
    (void)state;
    SandProblem p = frozen_stored("clumps");
    SandSolution s = solve(&p, "ngs-newton", SAND_FRICTIONLESS, 1e-10), other = solve(&p, "ipm-soc", SAND_FRICTIONLESS, 0);
    assert_int_equal(s.status, SAND_SOLVED);
    assert_true(dense_measure(&p, true, s.impulse).residual <= 2e-10);
    for (int k = 0; k < p.dynamic_count; k++) assert_true(v3_length(v3_sub(s.velocity[k], other.velocity[k])) <= 1e-7);
    sand_solution_free(&s);
    sand_solution_free(&other);
    sand_problem_free(&p);
}

static void assert_refused(const SandProblem *p, const char *sentence) {
    SandError error = {""};
    SandSolveDef def = sand_default_solve();
    SandSolution s = {0};
    SandCpu *cpu = sand_cpu_create(1, SAND_DOUBLE, &error);
    assert_non_null(cpu);
    assert_false(sand_cpu_solve(cpu, p, &def, &s, &error));
    assert_string_equal(error.text, sentence);
    sand_solution_free(&s);
    sand_cpu_free(cpu);
}

// A block on a floor whose free velocity is (1, 0, -0.1): it sticks where mu is at least 10, else loses 0.1 mu of its speed.
// Three blocks beside each other with N stored as a matrix, in which a blow to one also moves the next, but not back.
static void known_answers(void **state) {
    (void)state;
    enum { CONTACTS = 3 };
    const double mu[CONTACTS] = {0.3, 20, 0};
    int first[CONTACTS + 1] = {0, 1, 3, 5}, column[] = {0, 0, 1, 1, 2};
    double block[5 * 9] = {0};
    for (int e = 0; e < 5; e++)
        for (int k = 0; k < 9; k += 4) block[9 * e + k] = e == 1 || e == 3 ? 0.5 : 1;
    SandMatrix matrix = {.first = first, .column = column, .rows = 3, .block = block};
    SandProblemBody bodies[CONTACTS + 1] = {0};
    SandContact contacts[CONTACTS] = {0};
    SandVec3 start[CONTACTS] = {0};
    SandProblem p = {.matrix = &matrix,
                     .body_count = CONTACTS + 1,
                     .dynamic_count = CONTACTS,
                     .contact_count = CONTACTS,
                     .step = 1,
                     .recovery = {.speed = 1},
                     .bodies = bodies,
                     .contacts = contacts,
                     .start = start};
    for (int i = 0; i < CONTACTS; i++) {
        bodies[i].inverse_mass = 1;
        bodies[i].velocity = v3_make(0.1, -1, 0); // minus the velocity of the contact, normal first
        contacts[i] = (SandContact){.a = i, .b = CONTACTS, .normal = v3_make(1, 0, 0), .mu = mu[i]};
    }
    matrix.rows = 0;
    assert_refused(&p, "the blocks of the matrix have 0 rows, and a contact has 3, or 6 with torques");
    matrix.rows = 3;
    SandSolution s = solve(&p, "ngs-newton", SAND_FRICTION_COULOMB, 1e-13);
    assert_int_equal(s.status, SAND_SOLVED);
    // The first slides: z = (0.1, -0.03, 0). The second feels half of that, u_free = (-0.05, 0.985, 0), and sticks:
    // z = (0.05, -0.985, 0). The third is without friction, and half of the second's blow keeps it from closing by 0.025.
    const double expected[CONTACTS][2] = {{0.1, -0.03}, {0.05, -0.985}, {0.075, 0}};
    for (int i = 0; i < CONTACTS; i++) {
        assert_true(fabs(s.impulse[i].x - expected[i][0]) <= 1e-12);
        assert_true(fabs(s.impulse[i].y - expected[i][1]) <= 1e-12);
        assert_true(fabs(s.impulse[i].z) <= 1e-12);
    }
    sand_solution_free(&s);
}

// Work is counted, not timed: the same problem gives the same bits.
static void results_repeat(void **state) {
    (void)state;
    SandProblem p = frozen_stored("clumps");
    frozen_set_mu(&p, 1.2); // so that sweeps alone are not enough
    frozen_set_cold(&p);
    SandSolution a = solve(&p, "ngs-newton", SAND_FRICTION_COULOMB, 1e-9);
    SandSolution b = solve(&p, "ngs-newton", SAND_FRICTION_COULOMB, 1e-9);
    assert_int_equal(a.iterations, b.iterations);
    assert_memory_equal(a.impulse, b.impulse, (size_t)p.contact_count * sizeof *a.impulse);
    sand_solution_free(&a);
    sand_solution_free(&b);
    sand_problem_free(&p);
}

// A budget ends it, with the best impulses so far; no contacts are no trouble.
static void budget_ends_it(void **state) {
    (void)state;
    SandError error = {""};
    SandProblem p = frozen_stored("clumps"), none = {.step = 1};
    SandSolveDef def = sand_default_solve();
    sand_solve_choose(&def, sand_solver_find("ngs-newton"));
    def.friction = SAND_FRICTION_COULOMB;
    def.iterations = 7;
    SandSolution s = {.want_metrics = true, .want_curve = true};
    SandCpu *cpu = sand_cpu_create(1, SAND_DOUBLE, &error);
    frozen_set_cold(&p);
    assert_true(sand_cpu_solve(cpu, &p, &def, &s, &error));
    assert_int_equal(s.iterations, 7);
    assert_int_equal(s.status, SAND_BUDGET);
    assert_true(s.metrics.residual < 0.5 * s.curve[0].residual);
    sand_solution_free(&s);
    assert_true(sand_cpu_solve(cpu, &none, &def, &s, &error));
    assert_int_equal(s.status, SAND_SOLVED);
    sand_solution_free(&s);
    sand_cpu_free(cpu);
    sand_problem_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(law_holds), cmocka_unit_test(frictionless_is_the_minimum),
                                       cmocka_unit_test(known_answers), cmocka_unit_test(results_repeat),
                                       cmocka_unit_test(budget_ends_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
