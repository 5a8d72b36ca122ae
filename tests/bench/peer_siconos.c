// SPDX-License-Identifier: MIT
// Solvers of Siconos over the stored problems of a folder, with exact Coulomb friction: adds their results to those of
// `sandglass race FOLDER --friction coulomb`, where they become columns of the table and curves of the profiles.
//
//   peer_siconos [--relative] FOLDER [RESULTS.csv [TOLERANCE [LIMIT]]]      FOLDER/race.csv, 1e-6 m/s, 10 s
//
// They start from no impulses. With --relative the tolerance is of the residual relative to q; without, of the residual in
// m/s. Siconos' own error is the former over the largest of 1, |r| / |q| and |u| / |q|, so that its tolerance is tightened
// until the residual that we measure is within ours, by no more than needed; the time is that of the last of these solves.
// Each of them has the whole limit. A solver runs in a process of its own, which is ended at the limit.
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <siconos/numerics/Friction_cst.h>
#include <siconos/numerics/NonSmoothDrivers.h>
#include <siconos/numerics/SolverOptions.h>
#include <siconos/numerics/fc3d_Solvers.h>
#include <siconos/numerics/fc3d_compute_error.h>

#include "app/cli/verbs/problem_list.h"
#include "sim/core/clock.h"
#include "tests/lab/solver/dense.h"
#include "tests/lab/solver/siconos_problem.h"

static const struct {
    const char *name;
    int id;
} solvers[] = {{"siconos-nsgs", SICONOS_FRICTION_3D_NSGS},
               {"siconos-admm", SICONOS_FRICTION_3D_ADMM},
               {"siconos-nsn-ac", SICONOS_FRICTION_3D_NSN_AC},
               {"siconos-prox", SICONOS_FRICTION_3D_PROX}};
enum { SOLVERS = sizeof solvers / sizeof *solvers };

// Mean diagonal of N over all contacts, as in the residual of every solver of ours.
static double mean_diagonal(const SandProblem *p) {
    if (!p->matrix) return 1 / dense_tau(p, false);
    double sum = 0;
    for (int i = 0; i < p->contact_count; i++)
        for (int e = p->matrix->first[i]; e < p->matrix->first[i + 1]; e++)
            for (int k = 0; p->matrix->column[e] == i && k < 3; k++) sum += p->matrix->block[9 * e + 4 * k] / 3;
    return sum / p->contact_count;
}

// The residual of Coulomb's law, by its definition (docs/problem.md): |x - P(x - t (u + mu |u_t| n))| / t.
static double residual_of(const SandProblem *p, const double *impulse, const double *velocity, double t) {
    double sum = 0;
    for (int i = 0; i < p->contact_count; i++) {
        const double *r = impulse + 3 * i, *u = velocity + 3 * i;
        double mu = p->contacts[i].mu;
        SandVec3 x = v3_make(r[0], r[1], r[2]), g = v3_make(u[0] + mu * hypot(u[1], u[2]), u[1], u[2]);
        SandVec3 e = v3_sub(x, dense_project(v3_madd(x, -t, g), v3_make(1, 0, 0), mu));
        sum += v3_dot(e, e);
    }
    return sqrt(sum) / t;
}

static void solve(const char *path, int solver, double limit, int results, ProfileRow *row) {
    SandProblem p = {0};
    SandError error = {""};
    snprintf(row->status, sizeof row->status, "unreadable");
    if (!sand_problem_open(&p, path, &error)) return profile_append(results, row);
    size_t n = 3 * (size_t)p.contact_count;
    double norm = 0, own;
    FrictionContactProblem *problem = siconos_problem(&p);
    double *impulse = malloc((n + 1) * sizeof *impulse), *velocity = malloc((n + 1) * sizeof *velocity);
    for (size_t k = 0; k < n; k++) norm += problem->q[k] * problem->q[k];
    norm = norm > 0 ? sqrt(norm) : 1;
    // In m/s it begins looser, as the two measures may be far apart.
    double goal = row->is_relative ? row->tolerance : 100 * row->tolerance / norm;
    row->contacts = p.contact_count;
    snprintf(row->status, sizeof row->status, "budget reached");
    for (double least = 1e-9 * goal; goal > least && !row->solved;) {
        SolverOptions *options = solver_options_create(solvers[solver].id);
        options->dparam[SICONOS_DPARAM_TOL] = goal;
        options->iparam[SICONOS_IPARAM_MAX_ITER] = 1000000;
        memset(impulse, 0, n * sizeof *impulse);
        memset(velocity, 0, n * sizeof *velocity);
        alarm((unsigned)ceil(limit)); // its default action ends the process
        double begin = sand_seconds();
        int info = fc3d_driver(problem, impulse, velocity, options);
        row->seconds = sand_seconds() - begin;
        fc3d_compute_error(problem, impulse, velocity, goal, options, norm, &own); // makes velocities of the impulses
        row->iterations = options->iparam[SICONOS_IPARAM_ITER_DONE];
        row->residual = residual_of(&p, impulse, velocity, 1 / mean_diagonal(&p));
        row->relative = residual_of(&p, impulse, velocity, 1) / norm;
        double judged = row->is_relative ? row->relative : row->residual;
        row->solved = judged <= row->tolerance;
        goal *= fmin(0.9, 0.9 * row->tolerance / judged);
        solver_options_delete(options);
        if (info != 0) break;
    }
    if (row->solved) snprintf(row->status, sizeof row->status, "solved");
    profile_append(results, row);
}

static bool is_known(const Profile *known, const ProfileRow *row) {
    for (size_t k = 0; k < known->count; k++)
        if (!strcmp(known->rows[k].problem, row->problem) && !strcmp(known->rows[k].solver, row->solver)) return true;
    return false;
}

int main(int argc, char **argv) {
    char path[4096], file[4096];
    SandError error = {""};
    Profile known = {0};
    ProblemList problems = {0};
    bool is_relative = argc > 1 && !strcmp(argv[1], "--relative");
    argc -= is_relative;
    argv += is_relative;
    if (argc < 2) return fprintf(stderr, "peer_siconos [--relative] FOLDER [RESULTS.csv [TOLERANCE [LIMIT]]]\n"), 2;
    double tolerance = argc > 3 ? atof(argv[3]) : 1e-6, limit = argc > 4 ? atof(argv[4]) : 10;
    snprintf(path, sizeof path, "%.4000s/race.csv", argv[1]);
    if (argc > 2) snprintf(path, sizeof path, "%s", argv[2]);
    if (!problem_list_read(&problems, argv[1], &error) ||
        !profile_load(&known, path, (ProfileKind){.friction = "coulomb", .tolerance = tolerance, .is_relative = is_relative},
                      &error))
        return fprintf(stderr, "%s\n", error.text), 1;
    int results = open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (results < 0) return fprintf(stderr, "%s: cannot write\n", path), 1;
    for (size_t k = 0; k < problems.count; k++) {
        for (int s = 0; s < SOLVERS; s++) {
            ProfileRow row = {.tolerance = tolerance,
                              .is_relative = is_relative,
                              .seconds = NAN,
                              .residual = NAN,
                              .relative = NAN,
                              .friction = "coulomb"};
            snprintf(row.problem, sizeof row.problem, "%s", problems.items[k]);
            snprintf(row.solver, sizeof row.solver, "%s", solvers[s].name);
            if (is_known(&known, &row)) continue;
            snprintf(file, sizeof file, "%.3800s/%s", argv[1], problems.items[k]);
            pid_t child = fork();
            if (child == 0) {
                solve(file, s, limit, results, &row);
                _exit(0);
            }
            int status = 0;
            if (child < 0 || waitpid(child, &status, 0) != child) return fprintf(stderr, "cannot start a process\n"), 1;
            if (WIFSIGNALED(status)) {
                snprintf(row.status, sizeof row.status, "%s", WTERMSIG(status) == SIGALRM ? "no answer" : "crashed");
                profile_append(results, &row);
            }
        }
    }
    profile_free(&known);
    problem_list_free(&problems);
    return 0;
}
