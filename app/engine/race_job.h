// A race (sim/step/race.h) on its own thread, with a copy of the problem; other threads watch and cancel it. One at a time.
#pragma once
#include <pthread.h>

#include "sim/step/race.h"

typedef struct RaceJob {
    SandRace race; // readable once the job is done, until the next start
    SandRaceDef def;
    SandProblem problem;
    uint64_t step; // of the scene that the problem was taken from
    SandError error;
    bool failed;
    pthread_t thread;
    bool has_thread;
    int running; // atomics, accessed through the functions below
    int serial;
} RaceJob;

// False, with a sentence, while one is running or when no thread can be created.
bool race_job_start(RaceJob *job, const SandProblem *problem, const SandRaceDef *def, uint64_t step, SandError *error);
bool race_job_running(const RaceJob *job);
int race_job_serial(const RaceJob *job); // number of finished races
void race_job_free(RaceJob *job);        // cancels and waits
