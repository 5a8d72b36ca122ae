// SPDX-License-Identifier: MIT
// Comparison with Siconos on problems of the FCLIB collection, with W as stored and exact Coulomb friction: our relative
// residual is Siconos' own error times what that is relative to over |q|, so that what our solvers call solved is so by
// that error; and its nonsmooth Gauss-Seidel (NSGS) is compared in velocities and time.
//
//   test_siconos FOLDER [TOLERANCE]
// The folder holds FCLIB files or problems saved by `sandglass freeze`; without any the exit status is 77 (skipped). The
// tolerance is for Siconos' error (1e-8).
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// cmocka.h requires the headers above.
#include <cmocka.h>

#include <siconos/numerics/FrictionContactProblem.h>
#include <siconos/numerics/Friction_cst.h>
#include <siconos/numerics/NonSmoothDrivers.h>
#include <siconos/numerics/SolverOptions.h>
#include <siconos/numerics/fc3d_compute_error.h>
#include <siconos/numerics/fc3d_Solvers.h>

#include "sandglass/problem.h"
#include "tests/lab/solver/frozen.h"
#include "tests/lab/solver/siconos_problem.h"
#include "sim/core/clock.h"

static char paths[32][1024];
static int path_count;
static double tolerance = 1e-8;

// A problem in Siconos' form, and the result of its nonsmooth Gauss-Seidel.
typedef struct Peer {
    FrictionContactProblem *problem;
    SolverOptions *options;
    double norm; // of q, which its error is relative to
    double *impulse, *velocity;
    double seconds;
    bool solved;
} Peer;

static Peer peer_solve(const SandProblem *p) {
    Peer peer = {.problem = siconos_problem(p), .options = solver_options_create(SICONOS_FRICTION_3D_NSGS)};
    size_t n = 3 * (size_t)p->contact_count;
    for (size_t i = 0; i < n; i++) peer.norm += peer.problem->q[i] * peer.problem->q[i];
    peer.norm = sqrt(peer.norm);
    peer.options->dparam[SICONOS_DPARAM_TOL] = tolerance;
    peer.options->iparam[SICONOS_IPARAM_MAX_ITER] = 10000;
    peer.impulse = calloc(n, sizeof(double));
    peer.velocity = calloc(n, sizeof(double));
    double begin = sand_seconds();
    peer.solved = fc3d_driver(peer.problem, peer.impulse, peer.velocity, peer.options) == 0;
    peer.seconds = sand_seconds() - begin;
    return peer;
}

static void peer_free(Peer *peer) {
    free(peer->impulse);
    free(peer->velocity);
    solver_options_delete(peer->options);
    frictionContactProblem_free(peer->problem);
}

// Returns Siconos' error of our impulses; *apart receives the largest difference between their velocities and Siconos',
// *unit what the error is relative to, over |q|: it is the largest of |q|, |z| and |W z + q|.
static double peer_error(const Peer *peer, const SandProblem *p, const SandSolution *s, double *apart, double *unit) {
    size_t n = 3 * (size_t)p->contact_count;
    double *z = malloc((n + 1) * sizeof *z), *w = calloc(n + 1, sizeof *w), error = 0, ww = 0, zz = 0;
    for (int i = 0; i < p->contact_count; i++) {
        siconos_into(p, i, s->impulse[i], z + 3 * i);
    }
    fc3d_compute_error(peer->problem, z, w, tolerance, peer->options, peer->norm, &error);
    *apart = 0;
    for (size_t i = 0; i < n; i++) {
        *apart = fmax(*apart, fabs(w[i] - peer->velocity[i]));
        ww += w[i] * w[i];
        zz += z[i] * z[i];
    }
    *unit = fmax(1, sqrt(fmax(ww, zz)) / peer->norm);
    free(z);
    free(w);
    return error;
}

// Solves with one of our methods. Returns the time in seconds, INFINITY where it was not accurate enough, NAN where the
// method needs the symmetry that W has not.
static double ours(const Peer *peer, const SandProblem *p, const char *solver) {
    SandError error;
    SandSolveDef def = sand_default_solve();
    SandSolution s = {.want_metrics = true};
    SandCpu *cpu = sand_cpu_create(1, SAND_DOUBLE, &error);
    sand_solve_choose(&def, sand_solver_find(solver));
    def.friction = SAND_FRICTION_COULOMB;
    def.tolerance = tolerance;
    def.relative = true;
    // An iteration of most assembled methods is a factorization; most of ngs-newton's are sweeps.
    def.iterations = sand_solver_table[def.solver].assembled && strcmp(solver, "ngs-newton") ? 300 : 60000;
    if (!sand_cpu_solve(cpu, p, &def, &s, &error)) {
        if (!p->matrix || p->matrix->asymmetry == 0 || !strstr(error.text, "needs a symmetric W"))
            fail_msg("%s", error.text);
        print_message("    %s\n", error.text);
        sand_cpu_free(cpu);
        return NAN;
    }
    double apart, unit, e = peer_error(peer, p, &s, &apart, &unit);
    print_message("    %s: %s after %d iterations, %.1f ms; Siconos' error %.1e; velocities %.1e apart\n", solver,
                  sand_status_text(s.status), s.iterations, 1e3 * s.seconds, e, apart);
    // Two sums of the same terms, in another order and other axes, with impulses up to 50 times q.
    assert_true(fabs(s.metrics.relative - unit * e) <= 1e-6 * s.metrics.relative + 1e-13);
    double seconds = s.status == SAND_SOLVED ? s.seconds : INFINITY;
    sand_solution_free(&s);
    sand_cpu_free(cpu);
    return seconds;
}

static void exact_coulomb_agrees(void **state) {
    (void)state;
    const char *const solvers[] = {"gauss-seidel", "ngs", "apgd", "admm", "newton", "ipm-soc"};
    int compared = 0;
    for (int f = 0; f < path_count; f++) {
        SandProblem p = {0};
        SandError error = {""};
        if (!sand_problem_open(&p, paths[f], &error)) {
            print_message("%s\n", error.text);
            continue;
        }
        frozen_set_cold(&p);
        Peer peer = peer_solve(&p);
        print_message("%s: %d contacts%s%s; Siconos NSGS: %s, %.1f ms\n", strrchr(paths[f], '/') + 1, p.contact_count,
                      p.note[0] ? ", " : "", p.note, peer.solved ? "solved" : "not solved", 1e3 * peer.seconds);
        double exact = ours(&peer, &p, "ngs-newton"), usual = ours(&peer, &p, sand_solver_table[sand_solver_default].name);
        double best = fmin(exact, usual);
        for (size_t k = 0; k < sizeof solvers / sizeof *solvers; k++) best = fmin(best, ours(&peer, &p, solvers[k]));
        // The default solver takes part wherever W is symmetric.
        assert_true(!isnan(usual) || (p.matrix && p.matrix->asymmetry > 0));
        // A problem that Siconos does not solve either is reported but does not fail the test.
        if (isfinite(best)) print_message("    the fastest of ours takes %.3f of the time of NSGS\n", best / peer.seconds);
        // ngs-newton is there to solve what Siconos solves.
        assert_true(isfinite(exact) || !peer.solved);
        compared += peer.solved && !isnan(usual);
        peer_free(&peer);
        sand_problem_free(&p);
    }
    assert_true(compared > 0);
}

int main(int argc, char **argv) {
    DIR *folder = argc > 1 ? opendir(argv[1]) : NULL;
    for (struct dirent *entry = folder ? readdir(folder) : NULL; entry && path_count < 32; entry = readdir(folder))
        if (strstr(entry->d_name, ".hdf5") || strstr(entry->d_name, ".sand"))
            snprintf(paths[path_count++], sizeof paths[0], "%.700s/%.300s", argv[1], entry->d_name);
    if (folder) closedir(folder);
    if (!path_count) return 77;
    if (argc > 2) tolerance = atof(argv[2]);
    const struct CMUnitTest tests[] = {cmocka_unit_test(exact_coulomb_agrees)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
