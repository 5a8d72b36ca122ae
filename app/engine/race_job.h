// SPDX-License-Identifier: MIT
// A race (sim/study/race.h) on its own thread, with a copy of the problem; other threads watch its curves grow, and cancel
// it. One at a time.
#pragma once
#include <pthread.h>

#include "sim/study/race.h"

enum { RACE_SUBJECT = 96 }; // bytes of the name of what is raced on, `hourglass, step 12` or that of a file

typedef struct RaceJob {
    SandRace race; // readable once the job is done, until the next start
    SandRaceDef def;
    SandProblem problem;
    char subject[RACE_SUBJECT];
    uint64_t step; // of the scene that the problem was taken from; 0: it was stored
    SandError error;
    bool failed;
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock; // held while a race is replaced, and while its curves are copied
    int running;          // atomics, accessed through the functions below
    int serial;
    int begun;
} RaceJob;

void race_job_init(RaceJob *job);
// Races on a copy of the problem. False, with a sentence, while one is running or when no thread can be created.
bool race_job_start(RaceJob *job, const SandProblem *problem, const SandRaceDef *def, const char *subject, uint64_t step,
                    SandError *error);
bool race_job_running(const RaceJob *job);
int race_job_serial(const RaceJob *job); // number of finished races
void race_job_free(RaceJob *job);        // cancels and waits

// --- a copy of the curves, which grows with them ---------------------------------------------------------------

typedef enum RacerState { RACER_WAITS, RACER_RUNS, RACER_DONE, RACER_REFUSED } RacerState;

typedef struct Racer {
    int solver; // row of the solver table
    RacerState state;
    char device[32];
    char refused[160]; // why it does not run
    SandStatus status; // once it is done
    int iterations;
    double seconds;
    SandMetrics metrics;
    SandCurvePoint *curve; // owned
    int count;             // points
    double least;          // J, of the objective so far
    size_t capacity;
} Racer;

typedef struct RaceCurves {
    int begun;    // which race this is; 0: none yet
    bool running; // it is still going on
    char subject[RACE_SUBJECT];
    uint64_t step; // of the scene; 0: the problem was stored
    int contacts, count;
    Racer racers[SAND_RACE_MOST];
    double reference; // J, the least objective; while the race runs the least so far. NAN: the model has none
} RaceCurves;

// Brings the copy up to date. Costs little when nothing is new. False with a sentence: out of memory, or the race failed.
bool race_job_copy(RaceJob *job, RaceCurves *curves, SandError *error);
void race_curves_free(RaceCurves *curves);
