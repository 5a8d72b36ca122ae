// SPDX-License-Identifier: MIT
// a-gauss-seidel: a contact of two spheres is solved by one relaxation, and on a deep pile momentum and corrections come
// closer to the minimum than p-apgd does with as many products.
#include "tests/lab/solver/solver_lab.h"
#include "sim/core/array.h"
#include "sim/core/random.h"

#include <math.h>

// Two spheres that touch, of any masses and any inertia, sliding or sticking: one contact, nothing else.
static SandProblem two_spheres(SandRandom *random) {
    SandProblem p = {.body_count = 2, .dynamic_count = 2, .contact_count = 1, .radial = true, .step = 0.01};
    SandError error;
    assert_true(SAND_GROW(p.bodies, p.body_capacity, 2, "bodies", &error) &&
                SAND_GROW(p.contacts, p.contact_capacity, 1, "contacts", &error) &&
                SAND_GROW(p.start, p.start_capacity, 1, "impulses", &error));
    p.start[0] = v3_make(0, 0, 0);
    for (int k = 0; k < 2; k++) {
        SandProblemBody *b = &p.bodies[k];
        *b = (SandProblemBody){0};
        double mass = pow(10, sand_random_signed(random)), share = 0.2 + sand_random_unit(random); // of m r^2
        b->radius = 0.1 + 0.4 * sand_random_unit(random);
        b->inverse_mass = 1 / mass;
        for (int c = 0; c < 3; c++) b->inverse_inertia[c] = 1 / (share * mass * b->radius * b->radius);
        b->velocity = v3_make(sand_random_signed(random), sand_random_signed(random), k ? -1 : 1);
        b->spin = v3_make(sand_random_signed(random), sand_random_signed(random), sand_random_signed(random));
    }
    p.contacts[0] = (SandContact){.a = 0,
                                  .b = 1,
                                  .normal = {0, 0, 1},
                                  .arm_a = {0, 0, p.bodies[0].radius},
                                  .arm_b = {0, 0, -p.bodies[1].radius},
                                  .mu = sand_random_unit(random)};
    return p;
}

static void one_sweep_solves_a_contact_of_spheres(void **state) {
    (void)state;
    SandRandom random = sand_random(7);
    int slides = 0;
    for (int k = 0; k < 300; k++) {
        SandProblem p = two_spheres(&random);
        SandSolveDef def = method_def((Method){.solver = "a-gauss-seidel"}, 2, 0); // a sweep, and the look at it
        SandSolution s = {.want_metrics = true};
        solve(&p, &def, &s);
        SandVec3 g = s.impulse[0];
        double mu = p.contacts[0].mu;
        slides += hypot(g.x, g.y) > 0.999 * mu * g.z;
        assert_true(g.z > 0);
        assert_true(s.metrics.residual < 1e-13);
        sand_solution_free(&s);
        sand_problem_free(&p);
    }
    assert_true(slides > 30 && slides < 270); // both cases were met
}

// Steps of few iterations before: what they left over long distances is there to be put right.
static void comes_closer_than_gradients(void **state) {
    (void)state;
    SandProblem p = frozen_scene("hourglass", 6000, 100, 20);
    double end = objective_after(&p, "p-apgd", 3000);
    double gradients = objective_after(&p, "p-apgd", 150) - end, sweeps = objective_after(&p, "a-gauss-seidel", 150) - end;
    print_message("above the minimum after 150 iterations: p-apgd %g J, a-gauss-seidel %g J\n", gradients, sweeps);
    assert_true(sweeps < 0.5 * gradients);
    sand_problem_free(&p);
}

// A budget of any length ends with a look at what was done, so that none of it is lost: each is better than half of it. One
// iteration is no error.
static void every_budget_counts(void **state) {
    (void)state;
    SandProblem p = frozen_scene("cylinder", 500, 100, 20);
    double last = INFINITY;
    for (int n = 1; n <= 64; n *= 2) {
        SandSolveDef def = method_def((Method){.solver = "a-gauss-seidel"}, n, 0);
        SandSolution s = {.want_metrics = true};
        solve(&p, &def, &s);
        assert_int_equal(s.iterations, n);
        assert_true(n < 2 ? isfinite(s.metrics.objective) : s.metrics.objective < last);
        last = s.metrics.objective;
        sand_solution_free(&s);
    }
    sand_problem_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_sweep_solves_a_contact_of_spheres),
        cmocka_unit_test(comes_closer_than_gradients),
        cmocka_unit_test(every_budget_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
