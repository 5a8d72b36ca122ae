// SPDX-License-Identifier: MIT
// The thread of a race. `running`, `serial` and `begun` are atomics: the window polls them while the race writes its
// results.
#include "app/engine/race_job.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/core/array.h"

bool race_job_running(const RaceJob *job) { return __atomic_load_n(&job->running, __ATOMIC_ACQUIRE); }
int race_job_serial(const RaceJob *job) { return __atomic_load_n(&job->serial, __ATOMIC_ACQUIRE); }

void race_job_init(RaceJob *job) {
    *job = (RaceJob){0};
    pthread_mutex_init(&job->lock, NULL);
}

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

static bool start(RaceJob *job, const SandProblem *problem, const SandRaceDef *def, const char *subject, uint64_t step,
                  SandError *error) {
    sand_race_free(&job->race);
    if (!sand_problem_copy(&job->problem, problem, error)) return false;
    job->def = *def;
    snprintf(job->subject, sizeof job->subject, "%s", subject);
    job->step = step;
    job->begun++;
    __atomic_store_n(&job->running, 1, __ATOMIC_RELEASE);
    int failed = pthread_create(&job->thread, NULL, work, job);
    job->has_thread = !failed;
    if (failed) job->running = 0;
    return !failed || sand_fail(error, "a race cannot be started: %s", strerror(failed));
}

bool race_job_start(RaceJob *job, const SandProblem *problem, const SandRaceDef *def, const char *subject, uint64_t step,
                    SandError *error) {
    if (race_job_running(job)) return sand_fail(error, "a race is running; cancel it or wait for its end");
    join(job);
    pthread_mutex_lock(&job->lock);
    bool started = start(job, problem, def, subject, step, error);
    pthread_mutex_unlock(&job->lock);
    return started;
}

void race_job_free(RaceJob *job) {
    sand_race_cancel(&job->race);
    join(job);
    sand_race_free(&job->race);
    sand_problem_free(&job->problem);
    pthread_mutex_destroy(&job->lock);
}

// --- copies ----------------------------------------------------------------------------------------------------

// A race that this copy does not know yet.
static void begin_copy(const RaceJob *job, RaceCurves *curves) {
    curves->begun = job->begun;
    memcpy(curves->subject, job->subject, sizeof curves->subject);
    curves->step = job->step;
    curves->contacts = job->problem.contact_count;
    curves->count = job->def.count;
    for (int i = 0; i < curves->count; i++) {
        Racer *racer = &curves->racers[i];
        *racer =
            (Racer){.solver = job->def.solvers[i], .curve = racer->curve, .capacity = racer->capacity, .least = INFINITY};
    }
}

static bool copy_points(const SandRace *race, int i, Racer *racer, SandError *error) {
    const SandCurvePoint *points;
    int count = sand_race_points(race, i, &points);
    if (count <= racer->count) return true;
    size_t wanted = (size_t)count;
    if (wanted > racer->capacity && !SAND_GROW(racer->curve, racer->capacity, wanted + wanted / 2, "a curve", error))
        return false;
    memcpy(racer->curve + racer->count, points + racer->count, (size_t)(count - racer->count) * sizeof *points);
    for (; racer->count < count; racer->count++) racer->least = fmin(racer->least, racer->curve[racer->count].objective);
    return true;
}

// What is known of a racer that has ended.
static void copy_end(const SandRaceEntry *entry, Racer *racer) {
    const SandSolution *s = &entry->solution;
    racer->state = entry->ran ? RACER_DONE : RACER_REFUSED;
    snprintf(racer->device, sizeof racer->device, "%s", entry->device);
    snprintf(racer->refused, sizeof racer->refused, "%s", entry->refused);
    racer->status = s->status;
    racer->iterations = s->iterations;
    racer->seconds = s->seconds;
    racer->metrics = s->metrics;
}

static bool copy(RaceJob *job, RaceCurves *curves, SandError *error) {
    const SandRace *race = &job->race;
    // In this order: what is done when `running` ends is seen whole.
    curves->running = race_job_running(job);
    if (curves->begun != job->begun) begin_copy(job, curves);
    bool failed = !curves->running && job->failed;
    if (failed) *error = job->error;
    if (failed) return false;
    int done = sand_race_at(race);
    double least = INFINITY;
    for (int i = 0; i < curves->count; i++) {
        Racer *racer = &curves->racers[i];
        bool ended = racer->state == RACER_DONE || racer->state == RACER_REFUSED;
        if (!ended && !copy_points(race, i, racer, error)) return false;
        if (!ended && i < done) copy_end(&race->entries[i], racer);
        if (i == done && curves->running) racer->state = RACER_RUNS;
        least = fmin(least, racer->least);
    }
    bool has_objective = sand_friction_table[job->def.solve.friction].set != SAND_SET_LAW;
    curves->reference = !curves->running ? race->reference : has_objective ? least : NAN;
    return true;
}

bool race_job_copy(RaceJob *job, RaceCurves *curves, SandError *error) {
    pthread_mutex_lock(&job->lock);
    bool ok = job->begun == 0 || copy(job, curves, error);
    pthread_mutex_unlock(&job->lock);
    return ok;
}

void race_curves_free(RaceCurves *curves) {
    for (int i = 0; i < SAND_RACE_MOST; i++) sand_free(curves->racers[i].curve);
    *curves = (RaceCurves){0};
}
