// Against Siconos, on problems of the FCLIB collection and in exact Coulomb: what our solvers give is a solution by Siconos'
// own error measure, and its nonsmooth Gauss-Seidel ends at the same velocities. Both are timed.
// test_siconos FOLDER, which holds the files; 77 when there are none.
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// cmocka wants the headers above first.
#include <cmocka.h>

#include <siconos/numerics/FrictionContactProblem.h>
#include <siconos/numerics/Friction_cst.h>
#include <siconos/numerics/NonSmoothDrivers.h>
#include <siconos/numerics/NumericsMatrix.h>
#include <siconos/numerics/SolverOptions.h>
#include <siconos/numerics/fc3d_compute_error.h>
#include <siconos/numerics/fc3d_Solvers.h>

#include "../sim/problem.h"
#include "../sim/team.h"

static char paths[32][1024];
static int path_count;

// The same matrix for Siconos, sparse as it is here.
static FrictionContactProblem *for_siconos(const SandProblem *p) {
    int n = 3 * p->contact_count;
    NumericsMatrix *w = NM_create(NM_SPARSE, n, n);
    NM_triplet_alloc(w, 9 * p->matrix->first[p->contact_count]);
    double *q = malloc((size_t)n * sizeof *q), *mu = malloc((size_t)p->contact_count * sizeof *mu);
    for (int i = 0; i < p->contact_count; i++) {
        const SandVec3 v = p->bodies[i].velocity;
        q[3 * i] = -v.x, q[3 * i + 1] = -v.y, q[3 * i + 2] = -v.z;
        mu[i] = p->contacts[i].mu;
        for (int e = p->matrix->first[i]; e < p->matrix->first[i + 1]; e++)
            for (int k = 0; k < 9; k++)
                NM_entry(w, 3 * i + k / 3, 3 * p->matrix->column[e] + k % 3, p->matrix->block[9 * e + k]);
    }
    return frictionContactProblem_new_with_data(3, p->contact_count, w, q, mu);
}

// Siconos' error of our impulses; it fills in the velocities.
static double siconos_error(FrictionContactProblem *problem, SolverOptions *options, const SandSolution *s) {
    int n = 3 * problem->numberOfContacts;
    double *z = malloc((size_t)n * sizeof *z), *w = calloc((size_t)n, sizeof *w), norm = 0, error = 0;
    for (int i = 0; i < problem->numberOfContacts; i++)
        z[3 * i] = s->impulse[i].x, z[3 * i + 1] = s->impulse[i].y, z[3 * i + 2] = s->impulse[i].z;
    for (int i = 0; i < n; i++) norm += problem->q[i] * problem->q[i];
    fc3d_compute_error(problem, z, w, 1e-8, options, sqrt(norm), &error);
    free(z);
    free(w);
    return error;
}

static void exact_coulomb_agrees(void **state) {
    (void)state;
    int compared = 0;
    for (int f = 0; f < path_count; f++) {
        SandProblem p = {0};
        SandError error = {""};
        if (!sand_problem_open(&p, paths[f], &error)) {
            print_message("%s\n", error.text);
            continue;
        }
        FrictionContactProblem *theirs = for_siconos(&p);
        double norm = 0; // Siconos counts its error from q
        for (int i = 0; i < 3 * p.contact_count; i++) norm += theirs->q[i] * theirs->q[i];
        norm = sqrt(norm);
        SolverOptions *options = solver_options_create(SICONOS_FRICTION_3D_NSGS);
        options->dparam[SICONOS_DPARAM_TOL] = 1e-8;
        options->iparam[SICONOS_IPARAM_MAX_ITER] = 10000;
        int n = 3 * p.contact_count;
        double *z = calloc((size_t)n, sizeof *z), *w = calloc((size_t)n, sizeof *w), begin = sand_seconds();
        int info = fc3d_driver(theirs, z, w, options);
        double nsgs = sand_seconds() - begin;
        print_message("%s: %d contacts; Siconos NSGS: %s, %.1f ms\n", strrchr(paths[f], '/') + 1, p.contact_count,
                      info ? "not solved" : "solved", 1e3 * nsgs);
        const char *const solvers[] = {"gauss-seidel", "admm", "newton", "ipm-soc"};
        double best = INFINITY;
        for (int k = 0; k < 4; k++) {
            SandSolveDef def = sand_default_solve();
            SandSolution s = {0};
            sand_solve_choose(&def, sand_solver_find(solvers[k]));
            def.friction = SAND_FRICTION_COULOMB;
            def.iterations = sand_solver_table[def.solver].direct ? 300 : 60000, def.tolerance = 2e-9 * norm;
            SandCpu *cpu = sand_cpu_create(1, SAND_DOUBLE, &error);
            if (!sand_cpu_solve(cpu, &p, &def, &s, &error)) fail_msg("%s", error.text);
            double e = siconos_error(theirs, options, &s), apart = 0;
            for (int i = 0; i < p.contact_count; i++)
                apart = fmax(apart, v3_length(v3_add(s.velocity[i], v3_make(w[3 * i], w[3 * i + 1], w[3 * i + 2]))));
            print_message("    %s: %s after %d iterations, %.1f ms; Siconos' error %.1e; velocities %.1e apart\n",
                          solvers[k], sand_status_text(s.status), s.iterations, 1e3 * s.seconds, e, apart);
            if (e <= 1e-8) best = fmin(best, s.seconds);
            sand_solution_free(&s);
            sand_cpu_free(cpu);
        }
        // What its own solver does not solve either is only told.
        if (!info) {
            assert_true(isfinite(best));
            print_message("    the fastest of ours takes %.2f of the time of NSGS\n", best / nsgs);
            compared++;
        }
        free(z);
        free(w);
        solver_options_delete(options);
        frictionContactProblem_free(theirs);
        sand_problem_free(&p);
    }
    assert_true(compared > 0);
}

int main(int argc, char **argv) {
    DIR *folder = argc > 1 ? opendir(argv[1]) : NULL;
    for (struct dirent *entry = folder ? readdir(folder) : NULL; entry && path_count < 32; entry = readdir(folder))
        if (strstr(entry->d_name, ".hdf5"))
            snprintf(paths[path_count++], sizeof paths[0], "%.700s/%.300s", argv[1], entry->d_name);
    if (folder) closedir(folder);
    if (!path_count) return 77;
    const struct CMUnitTest tests[] = {cmocka_unit_test(exact_coulomb_agrees)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
