// SPDX-License-Identifier: MIT
// The coarse correction (sim/solver/kernel/coarse.inl) against plain sums over contacts and dense algebra. The kernel is
// compiled into this test, in double, so that its parts can be called one by one.
#include "sim/solver/cpu_kernel.c"

#include "tests/lab/solver/dense.h"
#include "tests/lab/solver/frozen.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
// cmocka.h needs the headers above.
#include <cmocka.h>

enum { CLUMPS, CYLINDER, PROBLEMS };
static SandProblem problems[PROBLEMS];

static int make_problems(void **state) {
    (void)state;
    problems[CLUMPS] = frozen_scene("clumps", 80, 500, 50);
    problems[CYLINDER] = frozen_scene("cylinder", 1000, 250, 50);
    return 0;
}

static int free_problems(void **state) {
    (void)state;
    for (int k = 0; k < PROBLEMS; k++) sand_problem_free(&problems[k]);
    return 0;
}

// A problem loaded into the kernel, with its start in vector 0 and the gradient of it in vector 1.
typedef struct Bench {
    SandProblem problem;
    SandSolverWorkspace *workspace;
    SandThreadPool *pool;
    SandVec3 *g, *u; // world vectors
} Bench;

static void begin_work(SandWorker *w, void *argument) {
    SandSolverWorkspace *workspace = argument;
    const Op *op = &workspace->op;
    load_impulses(workspace, w);
    gather_bodies_of(w, op, op_vector(op, 0), op->free, op->body);
    Sum sum;
    sum_open(w, &sum, 1, 0);
    SAND_FOR_GRADIENTS(w, i, op, op->body, &sum) {
        ContactRef ref = SAND_CONTACT(op, i);
        row_store(op_vector(op, 1), ref, SAND_GRADIENT(op, ref));
    }
    sum_total(w, &sum);
    CoarseSource from = {op_vector(op, 0), op_vector(op, 1), false};
    coarse_sum(w, op, from);
    coarse_begin(w, op);
}

static Bench *bench_begin(SandProblem problem, int threads) {
    SandError error = {""};
    Bench *b = calloc(1, sizeof *b);
    b->problem = problem;
    b->workspace = kernel_create(&error);
    b->pool = sand_thread_pool_create(threads, &error);
    SandSolveDef def = sand_default_solve();
    def.solver = METHOD_c_spg_fb;
    def.iterations = 20;
    if (!kernel_load(b->workspace, b->pool, &b->problem, NULL, &def, &error)) fail_msg("%s", error.text);
    size_t n = (size_t)problem.contact_count;
    b->g = calloc(n, sizeof *b->g);
    b->u = calloc(n, sizeof *b->u);
    for (size_t i = 0; i < n; i++) // some impulse at every contact, so that nothing is tested with zeros
        b->g[i] = v3_madd(dense_project(problem.start[i], problem.contacts[i].normal, problem.contacts[i].mu),
                          0.01 + 0.01 * (double)(i % 7), problem.contacts[i].normal);
    SandVec3 *r = calloc(n, sizeof *r);
    dense_product(&b->problem, false, b->g, b->u, NULL);
    dense_r(&b->problem, false, r);
    for (size_t i = 0; i < n; i++) b->u[i] = v3_add(b->u[i], r[i]);
    free(r);
    b->workspace->x = b->g;
    sand_thread_pool_run_spans(b->pool, &b->workspace->spans, begin_work, b->workspace);
    return b;
}

static void bench_end(Bench *b) {
    kernel_destroy(b->workspace);
    sand_thread_pool_free(b->pool);
    free(b->g);
    free(b->u);
    free(b);
}

static double random_number(unsigned *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / (1 << 24) - 0.5;
}

// The coordinate of a node along an axis, in cells.
static int node_at(const Op *op, int n, int axis) {
    int x = op->cells[0] + 1, y = op->cells[1] + 1;
    return axis == 0 ? n % x : axis == 1 ? n / x % y : n / x / y;
}

// phi of values y, at a place in cells, within the cell `corner`, or beyond it as its polynomial goes on.
static double phi_at(const Op *op, const double *y, const int *corner, SandVec3 place) {
    double sum = 0, x[3] = {place.x, place.y, place.z};
    for (int n = 0; n < coarse_nodes(op); n++) {
        double weight = 1;
        for (int axis = 0; axis < 3; axis++) {
            int at = node_at(op, n, axis) - corner[axis];
            double f = x[axis] - corner[axis];
            weight *= at == 0 ? 1 - f : at == 1 ? f : 0;
        }
        sum += weight * y[n];
    }
    return sum;
}

static void corner_of(const Op *op, int k, int *corner) {
    for (int axis = 0; axis < 3; axis++) {
        int cell = (int)floor(op->place[4 * k + axis]);
        corner[axis] = cell < op->cells[axis] ? cell : op->cells[axis] - 1;
    }
}

// The change of the impulse and of the angular impulse of body k: its contacts, scaled by phi to first order about its
// center, whose gradient is a difference of phi.
static void change_of(const Bench *b, const double *y, int k, SandVec3 *impulse, SandVec3 *torque, double *work) {
    const SandProblem *p = &b->problem;
    const Op *op = &b->workspace->op;
    int corner[3];
    corner_of(op, k, corner);
    SandVec3 place = v3_make(op->place[4 * k], op->place[4 * k + 1], op->place[4 * k + 2]);
    double phi = phi_at(op, y, corner, place), d = 1e-3; // along an axis phi is linear
    SandVec3 gradient = v3_make((phi_at(op, y, corner, v3_add(place, v3_make(d, 0, 0))) - phi) / d,
                                (phi_at(op, y, corner, v3_add(place, v3_make(0, d, 0))) - phi) / d,
                                (phi_at(op, y, corner, v3_add(place, v3_make(0, 0, d))) - phi) / d);
    *impulse = *torque = v3_make(0, 0, 0);
    *work = 0;
    for (int i = 0; i < p->contact_count; i++) {
        const SandContact *c = &p->contacts[i];
        if (c->a != k && c->b != k) continue;
        SandVec3 arm = c->a == k ? c->arm_a : c->arm_b;
        double at = phi + op->per_edge * v3_dot(gradient, arm);
        SandVec3 change = v3_scale(c->a == k ? -at : at, b->g[i]);
        *impulse = v3_add(*impulse, change);
        *torque = v3_add(*torque, v3_cross(arm, change));
        *work += (c->b < p->dynamic_count ? 0.5 : 1) * at * v3_dot(b->g[i], b->u[i]);
    }
}

// y'Ay, and y'right in `right`, of the assembled equations.
static double form(const Op *op, const double *y, double *right) {
    double yAy = 0;
    *right = 0;
    for (int n = 0; n < coarse_nodes(op); n++) {
        yAy += y[n] * coarse_times(op, n, y);
        *right += y[n] * coarse_vector(op, COARSE_R)[n];
    }
    return yAy;
}

// y'Ay and y'right of the assembled equations, for random y, are the sums over bodies.
static void equations(void **state) {
    (void)state;
    for (int which = 0; which < 2; which++) {
        Bench *b = bench_begin(which ? problems[CLUMPS] : problems[CYLINDER], 2);
        const Op *op = &b->workspace->op;
        int nodes = coarse_nodes(op);
        assert_true(which || coarse_cells(op) > 1);
        double *y = calloc((size_t)nodes, sizeof *y);
        unsigned seed = 1;
        for (int trial = 0; trial < 3; trial++) {
            for (int n = 0; n < nodes; n++) y[n] = random_number(&seed);
            double right, yAy = form(op, y, &right), want = 0, want_right = 0;
            for (int k = 0; k < op->dynamic_count; k++) {
                SandVec3 f, t;
                double work;
                change_of(b, y, k, &f, &t, &work);
                const SandProblemBody *body = &b->problem.bodies[k];
                want += body->inverse_mass * v3_dot(f, f) + v3_dot(t, m3_apply_symmetric(body->inverse_inertia, t));
                want_right -= work;
            }
            assert_float_equal(yAy, want, 1e-6 * want);
            assert_float_equal(right, want_right, 1e-6 * fabs(want_right) + 1e-9);
        }
        free(y);
        bench_end(b);
    }
}

static void spread_work(SandWorker *w, void *argument) {
    SandSolverWorkspace *workspace = argument;
    coarse_spread(w, &workspace->op);
}

// A field that is linear in space is the same seen from both bodies of a contact, so that for it y'Ay is d'Nd of the change
// d that the factors make, and y'right is -d'u: the model is exact.
static void model_is_exact_for_linear_fields(void **state) {
    (void)state;
    Bench *b = bench_begin(problems[CYLINDER], 1);
    const Op *op = &b->workspace->op;
    int nodes = coarse_nodes(op), contacts = b->problem.contact_count;
    double *y = coarse_vector(op, COARSE_Y);
    SandVec3 *d = calloc((size_t)contacts, sizeof *d), *Nd = calloc((size_t)contacts, sizeof *Nd);
    for (int field = 0; field < 4; field++) {
        for (int n = 0; n < nodes; n++) y[n] = field < 3 ? 0.01 * (1 + node_at(op, n, field)) : 0.02;
        sand_thread_pool_run_spans(b->pool, &b->workspace->spans, spread_work, b->workspace);
        double right, yAy = form(op, y, &right), dNd = 0, du = 0;
        for (int i = 0; i < contacts; i++) d[i] = v3_scale(coarse_factor(op, loaded_contact(b->workspace, i)) - 1, b->g[i]);
        dense_product(&b->problem, false, d, Nd, NULL);
        for (int i = 0; i < contacts; i++) {
            dNd += v3_dot(d[i], Nd[i]);
            du += v3_dot(d[i], b->u[i]);
        }
        assert_true(dNd > 0);
        assert_float_equal(yAy, dNd, 1e-9 * dNd);
        assert_float_equal(right, -du, 1e-9 * fabs(du));
    }
    free(d);
    free(Nd);
    bench_end(b);
}

static void solve_coarse_work(SandWorker *w, void *argument) {
    SandSolverWorkspace *workspace = argument;
    coarse_solve(w, &workspace->op);
}

// Conjugate gradients leave a hundredth of the right-hand side, in the norm of the preconditioner, or have taken all their
// iterations; the residual that they keep is that of their solution. The same bits for any number of threads.
static void solution(void **state) {
    (void)state;
    Bench *b = bench_begin(problems[CYLINDER], 1), *other = bench_begin(problems[CYLINDER], 3);
    const Op *op = &b->workspace->op;
    int nodes = coarse_nodes(op);
    double *right = calloc((size_t)nodes, sizeof *right), first = 0, last = 0, apart = 0, size = 0;
    for (int n = 0; n < nodes; n++) right[n] = coarse_vector(op, COARSE_R)[n];
    sand_thread_pool_run_spans(b->pool, &b->workspace->spans, solve_coarse_work, b->workspace);
    sand_thread_pool_run_spans(other->pool, &other->workspace->spans, solve_coarse_work, other->workspace);
    const double *y = coarse_vector(op, COARSE_Y), *inverse = coarse_vector(op, COARSE_INVERSE);
    for (int n = 0; n < nodes; n++) {
        double r = inverse[n] > 0 ? right[n] - coarse_times(op, n, y) : 0;
        first += right[n] * inverse[n] * right[n];
        last += r * inverse[n] * r;
        apart = fmax(apart, fabs(r - coarse_vector(op, COARSE_R)[n]));
        size = fmax(size, fabs(right[n]));
        assert_true(y[n] == coarse_vector(&other->workspace->op, COARSE_Y)[n]);
    }
    assert_true(last <= 1e-2 * first);
    assert_true(apart <= 1e-9 * size);
    free(right);
    bench_end(b);
    bench_end(other);
}

static SandSolution solved(const SandProblem *p, const char *solver, int iterations) {
    SandError error = {""};
    SandSolution s = {.want_metrics = true};
    SandSolveDef def = sand_default_solve();
    sand_solve_choose(&def, sand_solver_find(solver));
    def.iterations = iterations;
    SandCpu *cpu = sand_cpu_create(2, SAND_DOUBLE, &error);
    if (!cpu || !sand_cpu_solve(cpu, p, &def, &s, &error)) fail_msg("%s", error.text);
    sand_cpu_free(cpu);
    return s;
}

// What it is for: sand that runs through an hourglass, where loads change over the whole height in every step.
static void lowers_the_objective_of_a_deep_pile(void **state) {
    (void)state;
    SandProblem p = frozen_scene("hourglass", 6000, 100, 50);
    SandSolution plain = solved(&p, "p-spg-fb", 20), coarse = solved(&p, "c-spg-fb", 20), end = solved(&p, "p-apgd", 1000);
    double gap = plain.metrics.objective - end.metrics.objective, left = coarse.metrics.objective - end.metrics.objective;
    print_message("above the minimum after 20 products: p-spg-fb %g J, c-spg-fb %g J\n", gap, left);
    assert_true(left > 0);
    assert_true(left < 0.8 * gap);
    sand_solution_free(&plain);
    sand_solution_free(&coarse);
    sand_solution_free(&end);
    sand_problem_free(&p);
}

// Without positions every body is in one place, and the field is one factor for all: the method must work all the same.
static void works_without_positions(void **state) {
    (void)state;
    SandProblem p = frozen_copy(&problems[CYLINDER]);
    for (int k = 0; k < p.body_count; k++) p.bodies[k].position = v3_make(0, 0, 0);
    SandSolution s = solved(&p, "c-spg-fb", 2000), end = solved(&p, "p-spg-fb", 2000);
    assert_float_equal(s.metrics.objective, end.metrics.objective, 1e-3 * fabs(end.metrics.objective));
    sand_solution_free(&s);
    sand_solution_free(&end);
    sand_problem_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equations),
        cmocka_unit_test(model_is_exact_for_linear_fields),
        cmocka_unit_test(solution),
        cmocka_unit_test(lowers_the_objective_of_a_deep_pile),
        cmocka_unit_test(works_without_positions),
    };
    return cmocka_run_group_tests(tests, make_problems, free_problems);
}
