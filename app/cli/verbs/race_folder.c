// SPDX-License-Identifier: MIT
// `sandglass race FOLDER`: every solve is a process of its own, with a limit of time; --jobs of them run at once. A result
// is a line of a CSV file as soon as it is known, so that a run that was interrupted goes on where it was, and other
// programs can add lines of their own solvers (tests/bench/peer_siconos.c). Table and profiles are made from that file.
#include "app/cli/verbs/race_folder.h"

#include "app/cli/verbs/problem_list.h"
#include "app/cli/verbs/profile.h"
#include "sim/core/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_JOBS = 256 };
static const char UNREADABLE[] = "unreadable", NO_STEP[] = "no time step"; // of the statuses of results

bool race_is_folder(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

// --- one solve, in a process of its own -------------------------------------------------------------------------

typedef struct Job {
    pid_t pid;
    double deadline;
    int problem, solver;
} Job;

typedef struct Field {
    const Options *options;
    const SandRaceDef *def;
    const char *folder, *results;
    double limit; // s
    int descriptor;
    ProblemList problems;
} Field;

static void write_line(const Field *f, int problem, int solver, int contacts, const char *status, bool solved,
                       const SandSolution *s) {
    ProfileRow row = {.contacts = contacts,
                      .tolerance = f->def->solve.tolerance,
                      .accuracy = f->def->solve.accuracy,
                      .is_relative = f->def->solve.relative,
                      .solved = solved,
                      .seconds = s ? s->seconds : NAN,
                      .iterations = s ? s->iterations : 0,
                      .residual = s ? s->metrics.residual : NAN,
                      .relative = s ? s->metrics.relative : NAN};
    snprintf(row.problem, sizeof row.problem, "%s", f->problems.items[problem]);
    snprintf(row.friction, sizeof row.friction, "%s", sand_friction_table[f->def->solve.friction].name);
    snprintf(row.solver, sizeof row.solver, "%s", sand_solver_table[f->def->solvers[solver]].name);
    snprintf(row.status, sizeof row.status, "%s", status);
    profile_append(f->descriptor, &row);
}

static bool open_problem(const Field *f, int problem, SandProblem *p, SandError *error) {
    char path[4096];
    snprintf(path, sizeof path, "%.3800s/%s", f->folder, f->problems.items[problem]);
    return sand_problem_open(p, path, error);
}

static void solve_one(const Field *f, int problem, int solver) {
    SandProblem p = {0};
    SandSolution s = {.want_metrics = true};
    SandError why = {""};
    SandSolveDef def = f->def->solve;
    if (!f->def->own_params || f->def->solvers[solver] != def.solver) sand_solve_choose(&def, f->def->solvers[solver]);
    if (!open_problem(f, problem, &p, &why)) {
        write_line(f, problem, solver, 0, UNREADABLE, false, NULL);
        return;
    }
    if (p.matrix && def.accuracy > 0) {
        write_line(f, problem, solver, p.contact_count, NO_STEP, false, NULL);
        return;
    }
    SandCpu *cpu = sand_cpu_create(1, f->def->precision, &why);
    for (int i = 0; f->def->cold && i < sand_problem_vectors(&p); i++) p.start[i] = v3_make(0, 0, 0);
    if (!cpu || !sand_cpu_solve(cpu, &p, &def, &s, &why)) {
        write_line(f, problem, solver, p.contact_count, "refused", false, NULL);
    } else {
        write_line(f, problem, solver, p.contact_count, sand_status_text(s.status), s.status == SAND_SOLVED, &s);
    }
}

static bool start_job(const Field *f, Job *job, int problem, int solver, SandError *error) {
    *job = (Job){.problem = problem, .solver = solver, .deadline = sand_seconds() + 2 * f->limit + 10};
    job->pid = fork();
    if (job->pid < 0) return sand_fail(error, "cannot start a process: %s", strerror(errno));
    if (job->pid > 0) return true;
    solve_one(f, problem, solver);
    _exit(0); // without the parent's buffers
}

// Whether a job has ended. One that was killed by its deadline or by a signal has written nothing.
static bool end_job(const Field *f, Job *job) {
    int status = 0;
    bool late = sand_seconds() > job->deadline;
    if (late) kill(job->pid, SIGKILL);
    if (waitpid(job->pid, &status, late ? 0 : WNOHANG) != job->pid) return false;
    if (WIFSIGNALED(status)) write_line(f, job->problem, job->solver, 0, late ? "no answer" : "crashed", false, NULL);
    job->pid = 0;
    return true;
}

// --- all of them ------------------------------------------------------------------------------------------------

static bool is_known(const Profile *known, const Field *f, int problem, int solver) {
    for (size_t k = 0; k < known->count; k++) {
        const ProfileRow *row = &known->rows[k];
        if (!strcmp(row->problem, f->problems.items[problem]) &&
            !strcmp(row->solver, sand_solver_table[f->def->solvers[solver]].name))
            return true;
    }
    return false;
}

static bool run_all(const Field *f, const Profile *known, SandError *error) {
    Job jobs[MOST_JOBS] = {0};
    int most =
        f->options->values[OPTION_JOBS].given ? (int)f->options->values[OPTION_JOBS].integer : session_threads(f->options);
    int solvers = f->def->count, next = 0, all = (int)f->problems.count * solvers, running = 0, done = 0;
    if (most > MOST_JOBS) most = MOST_JOBS;
    Progress progress = progress_begin("race");
    bool ok = true;
    while (ok && (next < all || running)) {
        for (int j = 0; ok && j < most; j++) {
            while (next < all && is_known(known, f, next / solvers, next % solvers)) {
                next++;
                done++;
            }
            if (jobs[j].pid || next >= all) continue;
            ok = start_job(f, &jobs[j], next / solvers, next % solvers, error);
            running += ok;
            next += ok;
        }
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        for (int j = 0; j < most; j++)
            if (jobs[j].pid && end_job(f, &jobs[j])) {
                running--;
                done++;
            }
        if (session_interrupted()) ok = sand_fail(error, "interrupted; the same call goes on from %.300s", f->results);
        if (progress_due(&progress))
            progress_update(&progress, (double)done / all, next < all ? f->problems.items[next / solvers] : "the last ones");
    }
    for (int j = 0; j < most; j++)
        if (jobs[j].pid) {
            kill(jobs[j].pid, SIGKILL);
            waitpid(jobs[j].pid, NULL, 0);
        }
    progress_end(&progress);
    return ok;
}

// --- what was not raced -----------------------------------------------------------------------------------------

static bool has_status(const Profile *profile, const char *problem, const char *status) {
    for (size_t k = 0; k < profile->count; k++)
        if (!strcmp(profile->rows[k].problem, problem) && !strcmp(profile->rows[k].status, status)) return true;
    return false;
}

// Why a file cannot be read. The results have the word alone, also those of an earlier call, so that it is opened again.
static void tell_unreadable(const Field *f, int problem) {
    SandProblem p = {0};
    SandError why = {""};
    if (open_problem(f, problem, &p, &why))
        fprintf(stderr, "%s: was unreadable and no longer is; remove its lines from %s to race it\n",
                f->problems.items[problem], f->results);
    else
        fprintf(stderr, "%s\n", why.text);
    sand_problem_free(&p);
}

// A line for each file that was not raced.
static void tell_reasons(const Field *f, const Profile *profile) {
    for (int k = 0; k < (int)f->problems.count; k++) {
        const char *name = f->problems.items[k];
        if (has_status(profile, name, UNREADABLE)) tell_unreadable(f, k);
        if (has_status(profile, name, NO_STEP))
            fprintf(stderr, "%s: has no time step to measure an accuracy by; race it to a --tolerance\n", name);
    }
}

// --- the verb ---------------------------------------------------------------------------------------------------

Outcome race_folder(const Options *options, const SandRaceDef *given, SandError *error) {
    SandRaceDef def = *given;
    char results[4096];
    const OptionValue *values = options->values;
    Field f = {.options = options, .def = &def, .folder = options->subject, .results = results};
    f.limit = values[OPTION_LIMIT].real;
    if (!values[OPTION_TOLERANCE].given && !values[OPTION_ACCURACY].given) def.solve.tolerance = 1e-6;
    if (!values[OPTION_ITERATIONS].given) def.solve.iterations = 100000000;
    if (!values[OPTION_BUDGET_MS].given) def.solve.budget_ms = 1e3 * f.limit;
    if (values[OPTION_CSV].given)
        snprintf(results, sizeof results, "%s", values[OPTION_CSV].text);
    else
        snprintf(results, sizeof results, "%.4000s/race.csv", f.folder);
    Profile profile = {0};
    const SandSolveDef *solve = &def.solve;
    ProfileKind kind = {sand_friction_table[solve->friction].name, solve->tolerance, solve->accuracy, solve->relative};
    bool ok = problem_list_read(&f.problems, f.folder, error) && profile_load(&profile, results, kind, error);
    if (ok) {
        f.descriptor = open(results, O_WRONLY | O_CREAT | O_APPEND, 0666);
        ok = f.descriptor >= 0 || sand_fail(error, "%.300s: cannot write: %s", results, strerror(errno));
    }
    if (ok) {
        fprintf(stderr, "%s: %zu problems, %d solvers, results in %s\n", f.folder, f.problems.count, def.count, results);
        ok = run_all(&f, &profile, error);
        close(f.descriptor);
    }
    ok = ok && profile_load(&profile, results, kind, error);
    if (ok) tell_reasons(&f, &profile);
    if (ok && values[OPTION_JSON].given)
        profile_write_json(&profile);
    else if (ok)
        profile_write_table(&profile);
    if (ok && values[OPTION_PLOT].given) ok = profile_draw(&profile, values[OPTION_PLOT].text, error);
    profile_free(&profile);
    problem_list_free(&f.problems);
    return ok ? OUTCOME_DONE : OUTCOME_FAILED;
}
