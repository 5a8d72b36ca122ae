// A race on its own thread: started with a copy of the problem, watched and cancelled by another. One at a time in a job.
#pragma once
#include <pthread.h>

#include "sim/step/race.h"

typedef struct RaceJob {
    SandRace race; // to be read when the job is done, until it is started again
    SandRaceDef def;
    SandProblem problem;
    uint64_t step; // of the scene that the problem was taken from
    SandError error;
    bool failed;
    pthread_t thread;
    bool has_thread;
    int running; // both are read and set by several threads, through the functions below
    int serial;
} RaceJob;

// False while one runs, and when it cannot be started.
bool race_job_start(RaceJob *job, const SandProblem *problem, const SandRaceDef *def, uint64_t step, SandError *error);
bool race_job_running(const RaceJob *job);
int race_job_serial(const RaceJob *job); // how many were started and are done
void race_job_free(RaceJob *job);        // cancels and waits
