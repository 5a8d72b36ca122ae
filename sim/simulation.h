// The way of one step: detect, match, build, solve, integrate. Open simulation.c to walk it.
#pragma once
#include "checkpoint.h"
#include "problem.h"
#include "world.h"

// Times of the phases of the last step, in milliseconds.
typedef struct SandProfile {
    double detect, match, build, solve, integrate, step;
} SandProfile;

// What the last step did. Panel, log and benchmark read this and the profile.
typedef struct SandCounters {
    int bodies; // taking part
    int contacts;
    int matched; // contacts that found last step's impulse
    int iterations;
    SandStatus status;
    SandMetrics metrics;    // residual and objective; complementarity only when asked
    double penetration_max; // m, of the gaps the step began with
    double penetration_p99; // m, 99th percentile of the penetrating contacts; filled by sand_simulation_measure
    uint64_t growths;       // arrays that grew in this step
    int lost_total;         // bodies that left the world or became non-finite, since the start
    int infeasible_total;   // steps that ended infeasible, since the start
} SandCounters;

typedef struct SandSimulationDef {
    int threads;             // 0: one for each core
    SandPrecision precision; // of the solver
    SandSolveDef solve;
} SandSimulationDef;
SandSimulationDef sand_default_simulation(void);

typedef struct SandSimulation SandSimulation;

// Called when something must be told to a person (a lost body, an infeasible step); one sentence, no newline.
typedef void SandReport(void *user, const char *sentence);

// Takes the world over: its arrays belong to the simulation from now on, also when this fails.
SandSimulation *sand_simulation_create(SandWorld *world, const SandSimulationDef *def, SandError *error);
void sand_simulation_free(SandSimulation *sim);
void sand_simulation_on_report(SandSimulation *sim, SandReport *report, void *user);

bool sand_simulation_step(SandSimulation *sim, SandError *error);

// Detects, matches and builds the problem of the coming step without taking it.
bool sand_simulation_build(SandSimulation *sim, SandError *error);
const SandProblem *sand_simulation_problem(const SandSimulation *sim);   // of the last build
const SandSolution *sand_simulation_solution(const SandSimulation *sim); // of the last step
const int *sand_simulation_order(const SandSimulation *sim);             // the world's number of each body of the problem

// Goes back to where a checkpoint was taken; the run from there gives the same bits again.
bool sand_simulation_save(const SandSimulation *sim, SandCheckpoint *checkpoint, SandError *error);
bool sand_simulation_restore(SandSimulation *sim, const SandCheckpoint *checkpoint, SandError *error);

// What a person may change between two steps: gravity, the spring of a hand, the motion of boundaries, further bodies.
SandWorld *sand_simulation_change(SandSimulation *sim);

const SandWorld *sand_simulation_world(const SandSimulation *sim);
const SandProfile *sand_simulation_profile(const SandSimulation *sim);
const SandCounters *sand_simulation_counters(const SandSimulation *sim);
void sand_simulation_want_curve(SandSimulation *sim, bool want);                // keep the residual curve of each solve
void sand_simulation_measure(SandSimulation *sim);                              // fills what costs time: the percentile
void sand_simulation_set_solve(SandSimulation *sim, const SandSolveDef *solve); // from the next step on
