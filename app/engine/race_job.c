// The thread of a race. `running` and `serial` are atomics: the window polls them while the race writes its results.
#include "app/engine/race_job.h"

#include <string.h>

bool race_job_running(const RaceJob *job) { return __atomic_load_n(&job->running, __ATOMIC_ACQUIRE); }
int race_job_serial(const RaceJob *job) { return __atomic_load_n(&job->serial, __ATOMIC_ACQUIRE); }

static void *work(void *argument) {
    RaceJob *job = argument;
    job->failed = !sand_race_run(&job->race, &job->problem, &job->def, &job->error);
    __atomic_add_fetch(&job->serial, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&job->running, 0, __ATOMIC_RELEASE);
    return NULL;
}

static void join(RaceJob *job) {
    if (job->has_thread) pthread_join(job->thread, NULL);
    job->has_thread = false;
}

bool race_job_start(RaceJob *job, const SandProblem *problem, const SandRaceDef *def, uint64_t step, SandError *error) {
    if (race_job_running(job)) return sand_fail(error, "a race is running; cancel it or wait for its end");
    join(job);
    sand_race_free(&job->race);
    if (!sand_problem_copy(&job->problem, problem, error)) return false;
    job->def = *def;
    job->step = step;
    __atomic_store_n(&job->running, 1, __ATOMIC_RELEASE);
    int failed = pthread_create(&job->thread, NULL, work, job);
    job->has_thread = !failed;
    if (failed) job->running = 0;
    return !failed || sand_fail(error, "a race cannot be started: %s", strerror(failed));
}

void race_job_free(RaceJob *job) {
    sand_race_cancel(&job->race);
    join(job);
    sand_race_free(&job->race);
    sand_problem_free(&job->problem);
}
