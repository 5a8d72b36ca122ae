// SPDX-License-Identifier: MIT
// A race: solvers run in turn on one frozen problem, from the same start, and their curves are kept.
#pragma once
#include "sim/step/backend.h"

enum { SAND_RACE_MOST = 32 }; // solvers in a race

typedef struct SandRaceDef {
    int solvers[SAND_RACE_MOST]; // of the table
    int count;
    SandSolveDef solve; // friction, budget and tolerance of all; each takes its own parameters, as the table has them
    bool own_params;    // the solver of `solve` keeps the parameters there
    bool cold;          // from no impulses at all, not from the warm start
    const SandBackend *backend; // where those run that can, unless N is a matrix; NULL: all on the CPU
    int threads;                // of the CPU
    SandPrecision precision;    // of the CPU; CUDA solves in float
} SandRaceDef;
SandRaceDef sand_default_race(void); // every solver, 500 iterations, one thread of the CPU, double

typedef struct SandRaceEntry {
    int solver;
    bool ran;
    char refused[160];  // why not
    const char *device; // its name
    SandSolution solution;
    int live; // points of its curve so far: see sand_race_points
} SandRaceEntry;

typedef struct SandRace {
    SandRaceEntry entries[SAND_RACE_MOST];
    int count;
    double reference; // J, NAN where the model has no objective; the least objective: of ipm-soc or ipm where the model is
                      // theirs, else of the best in the race
    bool exact;       // it is that of an interior point method, converged
    int stop, at;     // read and set by other threads, through the functions below
} SandRace;

// What a solver of the race solves with.
SandSolveDef sand_race_solve(const SandRaceDef *def, int solver);
// Runs all of them. What a solver cannot do is kept in its entry; false only when nothing can run at all.
bool sand_race_run(SandRace *race, const SandProblem *problem, const SandRaceDef *def, SandError *error);
void sand_race_free(SandRace *race);

// From any thread while it runs.
void sand_race_cancel(SandRace *race);
bool sand_race_canceled(const SandRace *race);
int sand_race_at(const SandRace *race); // solvers that are done
// The points that the curve of a racer has so far, and where they are; the points of a GPU come when it has ended.
int sand_race_points(const SandRace *race, int racer, const SandCurvePoint **points);

// Reads `a,b` or `all` into the definition. False, with a sentence that names those there are.
bool sand_race_parse(SandRaceDef *def, const char *list, SandError *error);
// One line a point: solver, device, iteration, seconds, residual, objective, objective above the reference (empty where
// there is none).
bool sand_race_save_csv(const SandRace *race, const char *path, SandError *error);
