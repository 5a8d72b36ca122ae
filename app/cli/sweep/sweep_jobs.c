// SPDX-License-Identifier: MIT
// Starting the runs of a sweep as child processes, a number of them at once, collecting those that end, and saving the table
// now and then. Children end with their parent, so that no run goes on beside the sweep that is started next.
#include "app/cli/sweep/sweep_jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "app/cli/session/session.h"
#include "app/cli/sweep/sweep_run.h"

enum { MOST_AT_ONCE = 256 };
static const double SAVE_SECONDS = 1; // between two tables; a table of many short runs is not written for each

typedef struct Job {
    pid_t pid; // 0: none
    int run;
} Job;

typedef struct Field {
    const SweepJobs *jobs;
    Job running[MOST_AT_ONCE];
    int next, end; // runs that have not been looked at
    int busy, done;
    double saved; // s, when the table was last written
    Progress progress;
} Field;

// --- a process ----------------------------------------------------------------------------------------------------

// The run ends with the sweep, even if that is killed: else it would go on beside the one that is started next.
static void end_with(pid_t parent) {
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != parent) _exit(OUTCOME_FAILED);
}

// Messages of the run go to a file of its own.
static void open_messages(const char *folder, int run) {
    char path[SWEEP_PATH];
    sweep_run_path(path, folder, run, "log");
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0) return; // then they are mixed with those of the sweep
    dup2(file, STDERR_FILENO);
    close(file);
}

static void drop_empty_messages(const char *folder, int run) {
    char path[SWEEP_PATH];
    sweep_run_path(path, folder, run, "log");
    if (lseek(STDERR_FILENO, 0, SEEK_END) == 0) unlink(path);
}

static void run_process(const SweepJobs *jobs, int run, pid_t parent) {
    SandError error;
    end_with(parent);
    open_messages(jobs->table->folder, run);
    bool written = sweep_run_take(jobs->grid, run, jobs->options, jobs->table->folder, &error);
    if (!written) fprintf(stderr, "sandglass: %s\n", error.text);
    drop_empty_messages(jobs->table->folder, run);
    _exit(written ? OUTCOME_DONE : OUTCOME_FAILED); // without the parent's buffers
}

static bool start_job(Field *f, Job *job, int run, SandError *error) {
    char path[SWEEP_PATH];
    pid_t parent = getpid();
    sweep_run_path(path, f->jobs->table->folder, run, "csv");
    unlink(path); // of a run that failed before
    pid_t pid = fork();
    if (pid < 0) return sand_fail(error, "cannot start a process: %s", strerror(errno));
    if (pid == 0) run_process(f->jobs, run, parent);
    *job = (Job){.pid = pid, .run = run};
    f->busy++;
    return true;
}

// A run that left no file was ended from outside, or could not write it.
static bool note_end(const SweepJobs *jobs, int run, int status, SandError *error) {
    char sentence[SAND_SENTENCE];
    SweepTable *table = jobs->table;
    if (!sweep_table_read(table, run, error)) return false;
    if (table->rows[run]) return true;
    if (WIFSIGNALED(status))
        snprintf(sentence, sizeof sentence, "the process of the run was ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else
        snprintf(sentence, sizeof sentence, "the run ended without a result; runs/%d.log says why", run + 1);
    return sweep_run_fail(jobs->grid, run, table->folder, sentence, error) && sweep_table_read(table, run, error);
}

// --- all of them --------------------------------------------------------------------------------------------------

static bool fill_places(Field *f, SandError *error) {
    for (int j = 0; j < f->jobs->at_once; j++) {
        while (f->next < f->end && sweep_table_has(f->jobs->table, f->next)) {
            f->next++;
            f->done++;
        }
        if (f->running[j].pid || f->next == f->end) continue;
        if (!start_job(f, &f->running[j], f->next++, error)) return false;
    }
    return true;
}

static bool collect(Field *f, SandError *error) {
    for (int j = 0; j < f->jobs->at_once; j++) {
        Job *job = &f->running[j];
        int status;
        if (!job->pid || waitpid(job->pid, &status, WNOHANG) != job->pid) continue;
        job->pid = 0;
        f->busy--;
        f->done++;
        if (session_interrupted()) continue; // it was interrupted as well, and has not failed
        if (!note_end(f->jobs, job->run, status, error)) return false;
    }
    return true;
}

static bool save_now_and_then(Field *f, SandError *error) {
    if (!f->jobs->saves || progress_now() - f->saved < SAVE_SECONDS) return true;
    f->saved = progress_now();
    return sweep_table_save(f->jobs->table, error);
}

static void tell(Field *f) {
    char detail[64];
    if (!progress_due(&f->progress)) return;
    snprintf(detail, sizeof detail, "%d of %d runs, %d at once", f->done, f->jobs->count, f->busy);
    progress_update(&f->progress, (double)f->done / f->jobs->count, detail);
}

static bool refuse_interrupted(const Field *f, SandError *error) {
    return !session_interrupted() ||
           sand_fail(error, "interrupted; the same call goes on with the runs that %.300s has not", f->jobs->table->folder);
}

static void end_all(Field *f) {
    for (int j = 0; j < f->jobs->at_once; j++) {
        if (!f->running[j].pid) continue;
        kill(f->running[j].pid, SIGKILL);
        waitpid(f->running[j].pid, NULL, 0);
    }
}

bool sweep_jobs_take(const SweepJobs *asked, SandError *error) {
    SweepJobs jobs = *asked;
    if (jobs.at_once > MOST_AT_ONCE) jobs.at_once = MOST_AT_ONCE;
    Field f = {.jobs = &jobs, .next = jobs.first, .end = jobs.first + jobs.count, .progress = progress_begin("sweep")};
    bool ok = true;
    session_watch();
    while (ok && (f.next < f.end || f.busy)) {
        ok = refuse_interrupted(&f, error) && fill_places(&f, error);
        if (ok && f.busy) nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        ok = ok && collect(&f, error) && save_now_and_then(&f, error);
        tell(&f);
    }
    end_all(&f);
    progress_end(&f.progress);
    return ok && refuse_interrupted(&f, error);
}
