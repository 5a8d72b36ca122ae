// The solver texts on the GPU against the same texts on the CPU: one problem, laid out once, solved on both machines.
// Skips where there is no CUDA device.
#include "cuda/solve.h"
#include "sim/memory.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t random_state = 88172645463325252ull;
static double random_unit(void) { // in [-1, 1)
    random_state ^= random_state << 13, random_state ^= random_state >> 7, random_state ^= random_state << 17;
    return (double)(random_state >> 11) * (2.0 / 9007199254740992.0) - 1;
}

// Unit spheres of 1 kg on a cubic lattice of n layers of n x n, each touching its neighbours along the axes, the lowest
// on the floor. `clumsy` gives them full inertias and arms off the normal, as clumps have.
static void make_lattice(SandProblem *p, int n, double mu, bool clumsy) {
    SandError error;
    memset(p, 0, sizeof *p);
    p->dynamic_count = n * n * n;
    p->body_count = p->dynamic_count + 1;
    p->radial = !clumsy;
    p->step = 0.01, p->recovery = 1;
    assert_true(SAND_GROW(p->bodies, p->body_room, p->body_count, "bodies", &error));
    assert_true(SAND_GROW(p->contacts, p->contact_room, 3 * p->dynamic_count, "contacts", &error));
    assert_true(SAND_GROW(p->start, p->start_room, 3 * p->dynamic_count, "contacts", &error));
    for (int k = 0; k < p->body_count; k++) {
        bool moves = k < p->dynamic_count;
        double j = moves ? 2.5 : 0;
        p->bodies[k] = (SandProblemBody){.inverse_mass = moves, .inverse_inertia = {j, j, j, 0, 0, 0}, .radius = moves};
        if (moves) p->bodies[k].velocity = v3_make(0.1 * random_unit(), 0.1 * random_unit(), -0.0981);
    }
    const SandVec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int k = 0; k < p->dynamic_count; k++) {
        int x = k % n, y = k / n % n, z = k / n / n,
            next[3] = {x + 1 < n ? k + 1 : -1, y + 1 < n ? k + n : -1, z + 1 < n ? k + n * n : -1};
        for (int a = 0; a < 4; a++) {
            int other = a < 3 ? next[a] : z == 0 ? p->dynamic_count : -1;
            if (other < 0) continue;
            SandVec3 normal = a < 3 ? axes[a] : v3_make(0, 0, -1);
            double gap = 1e-4 * random_unit();
            SandContact c = {.a = k, .b = other, .normal = normal, .gap = gap, .mu = mu};
            c.arm_a = v3_scale(1 + 0.5 * gap, normal);
            c.arm_b = other < p->dynamic_count ? v3_scale(-1 - 0.5 * gap, normal) : v3_make(0, 0, 0);
            if (clumsy) c.arm_a = v3_add(c.arm_a, v3_make(0.1 * random_unit(), 0.1 * random_unit(), 0.1 * random_unit()));
            p->contacts[p->contact_count++] = c;
        }
    }
}

// Solves on both machines and compares: the sums are added in another order, so a few float roundings grow along the
// iterations; after few of them the impulses still agree closely, after many both have come as far down.
static void compare(int n, double mu, bool clumsy, const char *solver, int iterations, double close) {
    SandProblem problem;
    make_lattice(&problem, n, mu, clumsy);
    SandError error;
    SandCpu *cpu = sand_cpu_create(2, SAND_FLOAT, &error);
    SandSolveDef def = sand_default_solve();
    sand_solve_choose(&def, sand_solver_find(solver));
    def.iterations = iterations;
    const SandTextVerbs *verbs;
    SandText *text;
    SandTextLayout layout;
    SandSolution on_cpu = {.want_metrics = true}, on_gpu = {.want_metrics = true}, again = {.want_metrics = true};
    assert_true(SAND_GROW(on_gpu.impulse, on_gpu.impulse_room, problem.contact_count, "impulses", &error));
    assert_true(SAND_GROW(again.impulse, again.impulse_room, problem.contact_count, "impulses", &error));

    assert_true(sand_cpu_load(cpu, &problem, &def, &verbs, &text, &error));
    verbs->layout(text, &layout);
    if (!sand_cuda_solve(&layout, &problem, mu > 0 ? 3 : 1, &def, &on_gpu, &error)) fail_msg("%s", error.text);
    assert_true(sand_cuda_solve(&layout, &problem, mu > 0 ? 3 : 1, &def, &again, &error));
    assert_true(sand_cpu_solve(cpu, &problem, &def, &on_cpu, &error));

    double difference = 0, size = 0;
    for (int i = 0; i < problem.contact_count; i++) {
        SandVec3 d = v3_sub(on_cpu.impulse[i], on_gpu.impulse[i]);
        difference += v3_dot(d, d), size += v3_dot(on_cpu.impulse[i], on_cpu.impulse[i]);
    }
    double relative = sqrt(difference / size);
    printf("%-13s mu %.1f %s %7d contacts %3d iterations: CPU residual %.3e, GPU %.3e, impulses differ by %.1e, %.2f us an "
           "iteration\n",
           solver, mu, clumsy ? "full  " : "radial", problem.contact_count, iterations, on_cpu.metrics.residual,
           on_gpu.metrics.residual, relative, 1e6 * on_gpu.seconds / iterations);
    assert_int_equal(on_gpu.iterations, on_cpu.iterations);
    assert_true(relative <= close);
    assert_true(on_gpu.metrics.residual <= 1.3 * on_cpu.metrics.residual + 1e-6 &&
                on_cpu.metrics.residual <= 1.3 * on_gpu.metrics.residual + 1e-6);
    assert_memory_equal(on_gpu.impulse, again.impulse,
                        (size_t)problem.contact_count * sizeof *on_gpu.impulse); // the same bits
    sand_solution_free(&on_cpu), sand_solution_free(&on_gpu), sand_solution_free(&again);
    sand_problem_free(&problem);
    sand_cpu_free(cpu);
}

static void test_few_iterations(void **state) {
    (void)state;
    const char *const solvers[] = {"jacobi", "gauss-seidel", "spg-fb", "p-spg-fb"};
    for (int s = 0; s < 4; s++)
        for (int clumsy = 0; clumsy < 2; clumsy++)
            for (int mu = 0; mu < 2; mu++) compare(8, 0.3 * mu, clumsy, solvers[s], 5, 1e-4);
}

static void test_many_iterations(void **state) {
    (void)state;
    compare(12, 0.3, false, "p-spg-fb", 100, 0.2);
    compare(12, 0, false, "p-spg-fb", 100, 0.2);
    compare(12, 0.3, false, "jacobi", 100, 1e-3);
}

static void test_large(void **state) {
    (void)state;
    compare(24, 0.3, false, "p-spg-fb", 20, 0.05);
    compare(47, 0.3, false, "p-spg-fb", 20, 0.05);
    compare(47, 0.3, false, "jacobi", 20, 1e-3);
}

int main(void) {
    SandError why;
    if (sand_cuda_devices(&why) == 0) {
        printf("skipped: %s\n", why.text);
        return 77; // what ctest takes for skipped
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_few_iterations), cmocka_unit_test(test_many_iterations),
                                       cmocka_unit_test(test_large)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
