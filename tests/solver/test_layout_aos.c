// SPDX-License-Identifier: MIT
// The array-of-structures layout of the GPU (SAND_LAYOUT_AOS), compiled for the CPU in double: contact records fetched into
// the ContactRef, vectors of four numbers per contact, and iterates interleaved with their gradients. It must find what the
// structure-of-arrays layout of the CPU finds, so that the layout is tested where there is no GPU.
#include "tests/lab/solver/frozen.h"
#include "tests/lab/solver/joint_problem.h"
#include "sim/solver/cpu_kernel.h"
#include "sim/solver/method_traits.h"
#include "sandglass/solver.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// cmocka.h requires the headers above.
#include <cmocka.h>

extern const SandSolverKernel sand_kernel_aos_world_full, sand_kernel_aos_world_radial, sand_kernel_aos_normal_full,
    sand_kernel_aos_normal_radial, sand_kernel_aos_joints_full, sand_kernel_aos_rolling_full;

static const SandSolverKernel *aos_kernel_for(const SandProblem *p, const SandSolveDef *def) {
    if (p->rolls) return &sand_kernel_aos_rolling_full;
    if (p->joint_count) return &sand_kernel_aos_joints_full;
    if (def->friction == SAND_FRICTIONLESS) return p->radial ? &sand_kernel_aos_normal_radial : &sand_kernel_aos_normal_full;
    return p->radial ? &sand_kernel_aos_world_radial : &sand_kernel_aos_world_full;
}

// How far two layouts may be apart, which add in different orders. A coarse correction ends its conjugate gradients at a
// hundredth of their first residual, where rounding may decide about one more iteration.
static double tolerance_of(const SandSolveDef *def) {
    return sand_solver_table[def->solver].needs & SAND_NEEDS_CELLS ? 1e-4 : 1e-7;
}

// Solves in both layouts and compares status, iterations, curve, impulses and velocities.
static void compare(const SandProblem *p, const SandSolveDef *def, int threads, bool want_metrics) {
    SandError error = {""};
    double tolerance = tolerance_of(def);
    SandSolution want = {.want_metrics = want_metrics, .want_curve = true}, got = want;
    SandCpu *cpu = sand_cpu_create(threads, SAND_DOUBLE, &error);
    const SandSolverKernel *kernel, *aos = aos_kernel_for(p, def);
    SandSolverWorkspace *workspace;
    if (!cpu || !sand_cpu_load(cpu, p, def, &kernel, &workspace, &error) ||
        !kernel->solve(workspace, sand_cpu_thread_pool(cpu), p, def, &want, &error))
        fail_msg("%s", error.text);
    SandSolverWorkspace *aos_workspace = aos->create(&error);
    if (!aos_workspace || !aos->load(aos_workspace, sand_cpu_thread_pool(cpu), p, NULL, def, &error) ||
        !aos->solve(aos_workspace, sand_cpu_thread_pool(cpu), p, def, &got, &error))
        fail_msg("%s", error.text);

    assert_int_equal(want.status, got.status);
    assert_int_equal(want.iterations, got.iterations);
    assert_int_equal(want.curve_count, got.curve_count);
    for (int k = 0; k < want.curve_count; k++) {
        assert_float_equal(want.curve[k].residual, got.curve[k].residual, tolerance * (1 + want.curve[0].residual));
        assert_float_equal(want.curve[k].objective, got.curve[k].objective, tolerance * (1 + fabs(want.curve[k].objective)));
    }
    double size = 0, apart = 0, faster = 0;
    for (int i = 0; i < sand_problem_vectors(p); i++) {
        size = fmax(size, v3_length(want.impulse[i]));
        apart = fmax(apart, v3_length(v3_sub(want.impulse[i], got.impulse[i])));
    }
    for (int k = 0; k < p->body_count; k++) faster = fmax(faster, v3_length(v3_sub(want.velocity[k], got.velocity[k])));
    assert_true(size > 0);
    assert_true(apart <= tolerance * size);
    assert_true(faster <= tolerance);
    aos->destroy(aos_workspace);
    sand_cpu_free(cpu);
    sand_solution_free(&want);
    sand_solution_free(&got);
}

static void every_solver(void **state) {
    (void)state;
    SandProblem problems[] = {frozen_scene("cylinder", 300, 150, 20), frozen_scene("heavy", 0, 60, 20),
                              frozen_scene("clumps", 150, 200, 20), frozen_scene("drum", 300, 60, 20)};
    assert_true(problems[0].radial);
    assert_false(problems[2].radial);
    int solved = 0;
    for (size_t k = 0; k < sizeof problems / sizeof *problems; k++) {
        assert_true(problems[k].contact_count > 60);
        for (int solver = 0; solver < sand_solver_count(); solver++) {
            if (!sand_solver_table[solver].on_cuda) continue;
            SandFriction models[] = {SAND_FRICTION_CONE, SAND_FRICTIONLESS};
            for (int f = 0; f < 2; f++) {
                SandSolveDef def = sand_default_solve();
                def.solver = solver;
                def.friction = models[f];
                def.iterations = 20;
                for (int i = 0; i < SAND_MAX_PARAMS; i++) def.params[i] = sand_solver_table[solver].params[i].value;
                SandError error;
                if (!sand_solve_check(&def, &error)) continue; // the solver does not support this model
                compare(&problems[k], &def, 1 + solved % 2, solved % 3 == 0);
                solved++;
            }
        }
    }
    print_message("%d solves are the same in both layouts\n", solved);
    assert_true(solved > 40);
    for (size_t k = 0; k < sizeof problems / sizeof *problems; k++) sand_problem_free(&problems[k]);
}

// A high-degree body is gathered in segments, and a cold start makes the line search of the spectral steps shorten some.
static void many_contacts_and_long_solves(void **state) {
    (void)state;
    SandProblem heavy = frozen_scene("heavy", 0, 200, 20);
    frozen_set_cold(&heavy);
    SandSolveDef def = sand_default_solve();
    def.iterations = 60;
    compare(&heavy, &def, 1, true);
    sand_problem_free(&heavy);
}

// Joints among the contacts, with every model that the methods of a GPU can do.
static void joints(void **state) {
    (void)state;
    SandProblem p = joint_problem(1);
    int solved = 0;
    for (int solver = 0; solver < sand_solver_count(); solver++)
        for (int friction = 0; friction < SAND_FRICTION_COUNT; friction++) {
            const SandSolver *row = &sand_solver_table[solver];
            SandSolveDef def = sand_default_solve();
            SandError error;
            sand_solve_choose(&def, solver);
            def.friction = (SandFriction)friction;
            def.iterations = 15;
            if (!row->on_cuda || row->friction & SAND_CONTACTS_ONLY || !sand_solve_check(&def, &error)) continue;
            compare(&p, &def, 1 + solved % 2, solved % 3 == 0);
            solved++;
        }
    print_message("%d solves with joints are the same in both layouts\n", solved);
    assert_true(solved > 40);
    sand_problem_free(&p);
}

// And with rolling friction.
static void rolling(void **state) {
    (void)state;
    SandProblem p = rolling_problem(1);
    int solved = 0;
    for (int solver = 0; solver < sand_solver_count(); solver++)
        for (int law = 0; law < 2; law++) {
            SandSolveDef def = sand_default_solve();
            sand_solve_choose(&def, solver);
            if (law) def.friction = SAND_FRICTION_COULOMB;
            def.iterations = 15;
            if (!(sand_solver_table[solver].friction & SAND_ROLLS)) continue;
            compare(&p, &def, 1 + solved % 2, solved % 3 == 0);
            solved++;
        }
    print_message("%d solves with rolling friction are the same in both layouts\n", solved);
    assert_true(solved >= 14);
    sand_problem_free(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_solver),
        cmocka_unit_test(many_contacts_and_long_solves),
        cmocka_unit_test(joints),
        cmocka_unit_test(rolling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
