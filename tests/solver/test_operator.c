// SPDX-License-Identifier: MIT
// The operator: the matrix-free product against dense D' M^-1 D, the gradient, and the projection on the cone.
#include "tests/lab/solver/dense.h"
#include "tests/lab/solver/frozen.h"
#include "sim/solver/cpu_kernel.h"
#include "sim/core/array.h"
#include "sim/core/random.h"
#include "sandglass/scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// cmocka.h requires the headers above.
#include <cmocka.h>

static SandVec3 random_vector(SandRandom *random, double size) {
    double x = sand_random_signed(random), y = sand_random_signed(random), z = sand_random_signed(random);
    return v3_make(size * x, size * y, size * z);
}

static SandVec3 random_unit(SandRandom *random) {
    for (;;) {
        SandVec3 v = random_vector(random, 1);
        double l = v3_length(v);
        if (l > 0.1 && l <= 1) return v3_scale(1 / l, v);
    }
}

// ---- the problems ----

static SandCpu *cpu_of(int threads, SandPrecision precision) {
    SandError error;
    SandCpu *cpu = sand_cpu_create(threads, precision, &error);
    if (!cpu) fail_msg("%s", error.text);
    return cpu;
}

// A ball of radius 1 covered with small ones, in a spherical shell: one high-degree body with hundreds of contacts, which is
// gathered in segments. Everything moves and spins at random.
enum { SMALL = 300 };

static SandProblem big_ball(void) {
    SandWorld world;
    SandShape sphere;
    SandBoundary shell;
    SandError error;
    SandRandom random = sand_random(7);
    const double radius = 0.08;
    sand_world_init(&world);
    world.envelope = 0.01;
    assert_int_equal(sand_world_add_material(&world, &(SandMaterial){.name = "stone", .density = 2000, .mu = 0.4}, &error),
                     0);
    assert_true(sand_shape_sphere(&sphere, &error));
    assert_int_equal(sand_world_add_shape(&world, &sphere, &error), 0);
    assert_true(sand_boundary_sphere(&shell, 1 + 2 * radius + 0.006, SAND_INSIDE, &error));
    assert_int_equal(sand_world_add_boundary(&world, &shell, &error), 0);
    for (int k = 0; k <= SMALL; k++) {
        SandBodyDef def = sand_default_body();
        double z = 1 - (2 * k - 1.0) / SMALL, turn = 2.39996322972865332 * k, side = sqrt(fmax(0, 1 - z * z));
        def.scale = k ? radius : 1;
        if (k) def.pose.position = v3_scale(1 + radius + 0.003, v3_make(side * cos(turn), side * sin(turn), z));
        def.velocity = random_vector(&random, 0.5);
        def.spin = random_vector(&random, 1);
        assert_true(sand_world_add_body(&world, &def, &error) >= 0);
    }
    return frozen_world(&world, 0, 0);
}

// Few steps and iterations: there must be contacts of every kind, not a pile at rest.
typedef struct Case {
    const char *name;
    SandProblem problem;
} Case;

enum { CYLINDER, CLUMPS, HEAVY, DRUM, BIG_BALL, BIG_BALL_FULL, CASES };
static Case cases[CASES];

static int largest_contact_count(const SandProblem *p) {
    int *count = calloc((size_t)p->body_count + 1, sizeof *count), most = 0;
    for (int i = 0; i < p->contact_count; i++) {
        count[p->contacts[i].a]++;
        count[p->contacts[i].b]++;
    }
    for (int k = 0; k < p->dynamic_count; k++) most = count[k] > most ? count[k] : most;
    free(count);
    return most;
}

static int make_cases(void **state) {
    (void)state;
    cases[CYLINDER] = (Case){"cylinder", frozen_scene("cylinder", 700, 60, 5)};
    cases[CLUMPS] = (Case){"clumps", frozen_scene("clumps", 100, 250, 5)};
    cases[HEAVY] = (Case){"heavy", frozen_scene("heavy", 0, 60, 4)};
    cases[DRUM] = (Case){"drum", frozen_scene("drum", 300, 60, 5)};
    cases[BIG_BALL] = (Case){"big ball", big_ball()};
    // The same without the radial specialization, as in a scene that has one clump.
    cases[BIG_BALL_FULL] = (Case){"big ball, full arms", frozen_copy(&cases[BIG_BALL].problem)};
    cases[BIG_BALL_FULL].problem.radial = false;
    for (int k = 0; k < CASES; k++) {
        const SandProblem *p = &cases[k].problem;
        print_message("%s: %d bodies, %d contacts, at most %d on one, %s\n", cases[k].name, p->dynamic_count,
                      p->contact_count, largest_contact_count(p), p->radial ? "radial" : "full arms");
    }
    return 0;
}

static int free_cases(void **state) {
    (void)state;
    for (int k = 0; k < CASES; k++) sand_problem_free(&cases[k].problem);
    return 0;
}

static void cases_are_of_every_kind(void **state) {
    (void)state;
    for (int k = 0; k < CASES; k++) assert_in_range(cases[k].problem.contact_count, 100, 6000);
    assert_true(cases[CYLINDER].problem.radial && cases[BIG_BALL].problem.radial);
    assert_false(cases[CLUMPS].problem.radial || cases[HEAVY].problem.radial || cases[DRUM].problem.radial);
    // The big ball is gathered in several segments.
    assert_true(largest_contact_count(&cases[BIG_BALL].problem) > 4 * SAND_HIGH_DEGREE);
    assert_true(largest_contact_count(&cases[HEAVY].problem) > 30); // the weight is on the spheres
    // The drum's wall moves.
    const SandProblem *drum = &cases[DRUM].problem;
    assert_true(v3_length(drum->bodies[drum->dynamic_count].spin) > 0);
}

// ---- the product ----

// The largest error of the product, relative to the size of the terms that were summed, over some random vectors. The bits
// must be the same for any number of threads.
static double product_error(const SandProblem *p, SandFriction friction, SandPrecision precision) {
    size_t n = (size_t)p->contact_count;
    SandVec3 *x = calloc(n, sizeof *x), *want = calloc(n, sizeof *want), *got = calloc(n, sizeof *got),
             *first = calloc(n, sizeof *got);
    double *size = calloc(n, sizeof *size), worst = 0;
    SandRandom random = sand_random(11);
    SandSolveDef def = sand_default_solve();
    SandError error;
    def.friction = friction;
    // The product is computed as a gradient minus the stabilization term, so it is made large compared with that: 100 m/s.
    double impulse = 100 * dense_tau(p, friction == SAND_FRICTIONLESS);
    for (int trial = 0; trial < 2; trial++) {
        for (size_t i = 0; i < n; i++) x[i] = random_vector(&random, impulse);
        // A contact of one row has no tangential impulse.
        for (size_t i = 0; i < n; i++)
            if (friction == SAND_FRICTIONLESS || p->contacts[i].mu == 0) x[i] = v3_scale(x[i].x, p->contacts[i].normal);
        dense_product(p, friction == SAND_FRICTIONLESS, x, want, size);
        for (int threads = 1; threads <= 3; threads++) {
            const SandSolverKernel *kernel;
            SandSolverWorkspace *workspace;
            SandCpu *cpu = cpu_of(threads, precision);
            if (!sand_cpu_load(cpu, p, &def, &kernel, &workspace, &error)) fail_msg("%s", error.text);
            kernel->product(workspace, sand_cpu_thread_pool(cpu), x, got);
            if (threads == 1) memcpy(first, got, n * sizeof *got);
            assert_memory_equal(first, got, n * sizeof *got);
            sand_cpu_free(cpu);
        }
        for (size_t i = 0; i < n; i++) worst = fmax(worst, v3_length(v3_sub(got[i], want[i])) / size[i]);
    }
    free(x);
    free(want);
    free(got);
    free(first);
    free(size);
    return worst;
}

// 1e-12 in double: some hundred additions at 1e-16 each, and arms rounded as differences of positions. 1e-5 in float: the
// same at 6e-8. One error of sign or index gives about 1.
static void product_is_dense(SandFriction friction) {
    for (int k = 0; k < CASES; k++) {
        double in_double = product_error(&cases[k].problem, friction, SAND_DOUBLE);
        double in_float = product_error(&cases[k].problem, friction, SAND_FLOAT);
        print_message("%s: error of the product %.1e in double, %.1e in float\n", cases[k].name, in_double, in_float);
        assert_true(in_double <= 1e-12);
        assert_true(in_float <= 1e-5);
    }
}

static void product_is_dense_with_friction(void **state) {
    (void)state;
    product_is_dense(SAND_FRICTION_CONE);
}

// With rotations into the contact frames and back.
static void product_is_dense_in_local_frames(void **state) {
    (void)state;
    product_is_dense(SAND_FRICTION_PYRAMID);
}

static void product_is_dense_without_friction(void **state) {
    (void)state;
    product_is_dense(SAND_FRICTIONLESS);
}

// Contacts with and without friction in one problem.
static void product_is_dense_with_mixed_friction(void **state) {
    (void)state;
    for (int k = 0; k < CASES; k++) {
        SandProblem p = frozen_copy(&cases[k].problem);
        for (int i = 0; i < p.contact_count; i += 3) p.contacts[i].mu = 0;
        assert_true(product_error(&p, SAND_FRICTION_CONE, SAND_DOUBLE) <= 1e-12);
        sand_problem_free(&p);
    }
}

// ---- the gradient ----

// A solve of no iterations returns the start, scaled to the best point of its ray, and its metrics. They must be those of
// dense algebra, so that r = b + D' v_free has the right signs and values. Tried on random feasible starts.
static void gradient_is_dense(void **state) {
    (void)state;
    SandCpu *cpus[2] = {cpu_of(2, SAND_FLOAT), cpu_of(2, SAND_DOUBLE)};
    SandError error;
    for (int k = 0; k < CASES; k++) {
        for (int trial = 0; trial < 4; trial++) {
            bool frictionless = trial == 2, in_float = trial == 3;
            SandProblem p = frozen_copy(&cases[k].problem);
            size_t n = (size_t)p.contact_count;
            SandVec3 *r = calloc(n, sizeof *r), *y = calloc(n, sizeof *y);
            SandRandom random = sand_random((uint64_t)(100 * k + trial + 1));
            SandSolution solution = {.want_metrics = true};
            SandSolveDef def = sand_default_solve();
            def.iterations = 0;
            def.friction = frictionless ? SAND_FRICTIONLESS : SAND_FRICTION_CONE;
            dense_r(&p, frictionless, r);
            double rx = 0, xNx = 0, size = 0;
            // Mostly impulses against the approach: the start must be a descent direction, else its best point is zero.
            double down = 0, up = 0;
            for (size_t i = 0; i < n; i++) {
                const SandContact *c = &p.contacts[i];
                p.start[i] = dense_project(random_vector(&random, 1), c->normal, frictionless ? 0 : c->mu);
                down += fmax(0, -v3_dot(p.start[i], r[i]));
            }
            for (size_t i = 0; i < n; i++) {
                double more = fmax(0, v3_dot(p.start[i], r[i]));
                if (up + more > 0.5 * down)
                    p.start[i] = v3_make(0, 0, 0);
                else
                    up += more;
            }
            dense_product(&p, frictionless, p.start, y, NULL);
            for (size_t i = 0; i < n; i++) {
                rx += v3_dot(r[i], p.start[i]);
                xNx += v3_dot(y[i], p.start[i]);
                size += v3_length(r[i]) * v3_length(p.start[i]) + v3_length(y[i]) * v3_length(p.start[i]);
            }
            assert_true(rx < 0);
            double t = fmin(1.5, -rx / xNx);
            if (!sand_cpu_solve(cpus[in_float ? 0 : 1], &p, &def, &solution, &error)) fail_msg("%s", error.text);
            assert_int_equal(solution.iterations, 0);
            DenseMeasure want = dense_measure(&p, frictionless, solution.impulse);
            // Sums of thousands of terms: 1e-11 of their size in double, 1e-4 in float.
            double near = in_float ? 1e-4 : 1e-11;
            for (size_t i = 0; i < n; i++)
                assert_true(v3_length(v3_madd(solution.impulse[i], -t, p.start[i])) <= near * (1 + v3_length(p.start[i])));
            assert_true(fabs(solution.metrics.objective - want.objective) <= near * size);
            assert_true(fabs(solution.metrics.residual - want.residual) <= near * want.residual);
            assert_true(fabs(solution.metrics.complementarity - want.complementarity) <= 10 * near * want.complementarity);
            assert_true(fabs(solution.metrics.residual_rms - want.residual / sqrt((double)n)) <= near * want.residual);
            sand_solution_free(&solution);
            sand_problem_free(&p);
            free(r);
            free(y);
        }
    }
    sand_cpu_free(cpus[0]);
    sand_cpu_free(cpus[1]);
}

// ---- the projection ----

// Trials of the projection: one contact each, all on the same body, for every combination of mu and kind of vector.
enum { MUS = 7, KINDS = 8, TRIALS = 60, ALL = MUS * KINDS * TRIALS };
static const double mus[MUS] = {0, 1e-6, 0.2, 0.8, 1, 10, 1e3};

typedef struct Trials {
    SandProblem problem;
    SandVec3 *x; // one vector a contact
} Trials;

static SandVec3 to_float(SandVec3 v) { return v3_make((float)v.x, (float)v.y, (float)v.z); }

// A random unit vector orthogonal to n.
static SandVec3 tangent(SandRandom *random, SandVec3 n) {
    SandVec3 d = random_unit(random);
    return v3_unit_or(v3_madd(d, -v3_dot(d, n), n), v3_perpendicular(n));
}

static SandVec3 trial_vector(SandRandom *random, int kind, SandVec3 n, double mu) {
    SandVec3 t = tangent(random, n);
    double size = pow(10, 6 * sand_random_signed(random)), other = pow(10, 6 * sand_random_signed(random));
    switch (kind) {
    case 0: return random_vector(random, 1);
    case 1: return random_vector(random, size);
    case 2: return v3_madd(v3_scale(size, t), other, n);           // parts of very different size
    case 3: return v3_madd(v3_scale(size, t), -other, n);          // the same, below
    case 4: return v3_scale(sand_random_signed(random) * size, n); // on the axis, up and down
    case 5: return v3_madd(v3_scale(mu * size, t), size, n);       // on the surface of the cone
    case 6: return v3_madd(v3_scale(size, t), -mu * size, n);      // on the surface of the polar cone
    default: return v3_make(0, 0, 0);
    }
}

static Trials make_trials(bool radial, SandPrecision precision) {
    Trials t = {.problem = {.body_count = 2, .dynamic_count = 1, .contact_count = ALL, .radial = radial, .step = 0.01}};
    SandProblem *p = &t.problem;
    SandRandom random = sand_random(5);
    assert_true(SAND_GROW(p->bodies, p->body_capacity, 2, "bodies", NULL));
    assert_true(SAND_GROW(p->contacts, p->contact_capacity, ALL, "contacts", NULL));
    assert_true(SAND_GROW(p->start, p->start_capacity, ALL, "starts", NULL));
    t.x = calloc(ALL, sizeof *t.x);
    p->bodies[0] = (SandProblemBody){.inverse_mass = 1, .inverse_inertia = {1, 1, 1}, .radius = 1};
    for (int i = 0; i < ALL; i++) {
        // Numbers that are exact in float, so that both precisions get the same input.
        SandVec3 n = i % 5 ? random_unit(&random) : v3_make(0, 0, i % 2 ? 1 : -1);
        double mu = mus[i % MUS];
        if (precision == SAND_FLOAT) {
            n = to_float(n);
            mu = (float)mu;
        }
        p->contacts[i] = (SandContact){.a = 0, .b = 1, .normal = n, .arm_a = n, .mu = mu};
        t.x[i] = trial_vector(&random, i / MUS % KINDS, n, mu);
        if (precision == SAND_FLOAT) t.x[i] = to_float(t.x[i]);
    }
    return t;
}

static void project(SandCpu *cpu, const SandProblem *p, const SandVec3 *x, SandVec3 *y) {
    const SandSolverKernel *kernel;
    SandSolverWorkspace *workspace;
    SandError error;
    SandSolveDef def = sand_default_solve();
    if (!sand_cpu_load(cpu, p, &def, &kernel, &workspace, &error)) fail_msg("%s", error.text);
    kernel->project(workspace, x, y);
}

// Distance from the cone of a point that is in it or nearly so.
static double distance_from_cone(SandVec3 y, SandVec3 n, double mu) {
    double yn = v3_dot(y, n), yt = v3_length(v3_madd(y, -yn, n));
    return fmax(fmax(0, -yn), (yt - mu * yn) / sqrt(1 + mu * mu));
}

static void projection_is_right(SandPrecision precision, bool radial) {
    // One unit in the last place of a number of size 1. All errors are relative to |x|: the normal itself has an error of
    // one unit, which rotates the cone by as much.
    const double ulp = precision == SAND_FLOAT ? 1.1920929e-7 : 2.220446e-16;
    Trials t = make_trials(radial, precision);
    const SandProblem *p = &t.problem;
    SandVec3 *y = calloc(ALL, sizeof *y), *twice = calloc(ALL, sizeof *y), *x2 = calloc(ALL, sizeof *y),
             *y2 = calloc(ALL, sizeof *y);
    SandCpu *cpu = cpu_of(1, precision);
    SandRandom random = sand_random(13);
    project(cpu, p, t.x, y);
    project(cpu, p, y, twice);
    // Second points, near and far, to test that the projection is nonexpansive.
    for (int i = 0; i < ALL; i++) {
        double l = v3_length(t.x[i]) + (i % 3 == 0);
        x2[i] = v3_add(t.x[i], random_vector(&random, i % 2 ? l : 1e-3 * l));
        if (precision == SAND_FLOAT) x2[i] = to_float(x2[i]);
    }
    project(cpu, p, x2, y2);
    double feasible = 0, idempotent = 0, expanded = 0, upright = 0, polar = 0, differs = 0;
    for (int i = 0; i < ALL; i++) {
        SandVec3 n = p->contacts[i].normal, x = t.x[i], rest = v3_sub(x, y[i]);
        double mu = p->contacts[i].mu, l = v3_length(x), l2 = v3_length(x2[i]);
        assert_true(v3_finite(y[i]));
        // The zero vector must be exact.
        double unit = ulp * (l > 0 ? l : 1);
        if (l == 0) assert_true(v3_length(y[i]) == 0);
        feasible = fmax(feasible, distance_from_cone(y[i], n, mu) / unit);
        idempotent = fmax(idempotent, v3_length(v3_sub(twice[i], y[i])) / unit);
        double apart = v3_length(v3_sub(x, x2[i]));
        expanded = fmax(expanded, (v3_length(v3_sub(y[i], y2[i])) - apart) / (ulp * (l + l2 > 0 ? l + l2 : 1)));
        // The remainder is in the normal cone at y: orthogonal to y, and at no acute angle to any point of K.
        upright = fmax(upright, fabs(v3_dot(rest, y[i])) / (unit * (l > 0 ? l : 1)));
        for (int k = 0; k < 4; k++) {
            // A point of the cone: on the axis, on its surface, or inside.
            double slope = k == 0 ? 0 : k == 1 ? mu : mu * sand_random_unit(&random);
            SandVec3 z = v3_madd(n, slope, tangent(&random, n));
            polar = fmax(polar, v3_dot(rest, z) / v3_length(z) / unit);
        }
        differs = fmax(differs, v3_length(v3_sub(y[i], dense_project(x, v3_unit_or(n, n), mu))) / unit);
    }
    print_message(
        "%s: units in the last place: infeasible by %.1f, idempotent to %.1f, expands by %.1f, remainder off by %.1f "
        "and %.1f, from the three cases %.1f\n",
        precision == SAND_FLOAT ? "float" : "double", feasible, idempotent, expanded, upright, polar, differs);
    // A dozen roundings, most of them half a unit; impulses may be outside their cone by 4 units.
    assert_true(feasible <= 4);
    assert_true(idempotent <= 6);
    assert_true(expanded <= 6);
    assert_true(upright <= 6);
    assert_true(polar <= 6);
    assert_true(differs <= 6);
    sand_cpu_free(cpu);
    sand_problem_free(&t.problem);
    free(t.x);
    free(y);
    free(twice);
    free(x2);
    free(y2);
}

static void projection_is_right_in_double(void **state) {
    (void)state;
    projection_is_right(SAND_DOUBLE, false);
    projection_is_right(SAND_DOUBLE, true);
}

static void projection_is_right_in_float(void **state) {
    (void)state;
    projection_is_right(SAND_FLOAT, false);
    projection_is_right(SAND_FLOAT, true);
}

// Without friction the cone is the half-line along n: max(x_n, 0) n up to rounding.
static void projection_without_friction(void **state) {
    (void)state;
    Trials t = make_trials(true, SAND_DOUBLE);
    SandVec3 *y = calloc(ALL, sizeof *y);
    SandCpu *cpu = cpu_of(1, SAND_DOUBLE);
    frozen_set_mu(&t.problem, 0);
    project(cpu, &t.problem, t.x, y);
    for (int i = 0; i < ALL; i++) {
        SandVec3 n = t.problem.contacts[i].normal;
        assert_true(v3_length(v3_sub(y[i], v3_scale(fmax(0, v3_dot(t.x[i], n)), n))) <= 1e-15 * v3_length(t.x[i]));
    }
    sand_cpu_free(cpu);
    sand_problem_free(&t.problem);
    free(t.x);
    free(y);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cases_are_of_every_kind),
        cmocka_unit_test(product_is_dense_with_friction),
        cmocka_unit_test(product_is_dense_without_friction),
        cmocka_unit_test(product_is_dense_in_local_frames),
        cmocka_unit_test(product_is_dense_with_mixed_friction),
        cmocka_unit_test(gradient_is_dense),
        cmocka_unit_test(projection_is_right_in_double),
        cmocka_unit_test(projection_is_right_in_float),
        cmocka_unit_test(projection_without_friction),
    };
    return cmocka_run_group_tests(tests, make_cases, free_cases);
}
