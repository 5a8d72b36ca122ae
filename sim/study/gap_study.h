// SPDX-License-Identifier: MIT
// A gap study: what budgets of products with N leave of the objective gap of one frozen, warm-started problem, solver by
// solver. The gap is q(g0) - q(g*), from the warm start to a reference solution; shares of it are 1 at the start and 0 at
// the reference. Every returned impulse is measured on the host in double (sim/solver/evaluator.h).
#pragma once
#include "sim/solver/evaluator.h"
#include "sim/study/race.h"

enum { SAND_GAP_BUDGETS = 16 };

// The method of references: the quickest of those for any number of contacts, when many digits are wanted.
#define SAND_GAP_REFERENCE "p-apgd"

// Called before each solve, with the share of the work that is done, 0 to 1, and what comes next. False ends the study.
typedef bool SandGapProgress(void *user, double done, const char *next);

typedef struct SandGapStudyDef {
    SandRaceDef race; // solvers, friction, parameters, devices; its budgets and tolerances are not used, nor is `cold`
    int budgets[SAND_GAP_BUDGETS]; // rising
    int budget_count;
    int reference;             // most products of the reference solve
    SandGapProgress *progress; // may be NULL
    void *user;
} SandGapStudyDef;

typedef struct SandGapRow {
    int solver; // of the table
    int budget;
    bool ran;
    char refused[160];  // why not
    const char *device; // its name
    SandStatus status;
    int iterations;
    double seconds;     // of the solve, without upload and packing; where it is short, the least of three
    double equivalents; // seconds over those of one product
    SandEvaluation at;
    double gap;      // share of the objective gap that is left; NAN where there is no gap
    double velocity; // energy of the error of the velocities, as a share of that of the warm start; NAN as well
} SandGapRow;

typedef struct SandGapStudy {
    SandEvaluation start, reference;
    int reference_iterations;
    const char *reference_device;
    bool reference_ended;   // its residual no longer fell; else its budget was used up
    double velocity_energy; // J, of the error of the velocities at the warm start
    double product_seconds; // of one product: an iteration of jacobi
    SandGapRow *rows;       // by solver, then by budget
    int count;
    size_t capacity;
} SandGapStudy;

// A solver that cannot do the model, or that fails, says so in its rows; false when nothing can be studied, or on request.
bool sand_gap_study_run(SandGapStudy *study, const SandProblem *problem, const SandGapStudyDef *def, SandError *error);
void sand_gap_study_free(SandGapStudy *study);
// False where the warm start is a solution already, to the rounding of its objective.
bool sand_gap_study_has_gap(const SandGapStudy *study);

// Where the gap of one solver falls to `share`, by interpolation between its `count` budgets in logarithms of share and
// cost; shares below 1e-6 count as 1e-6. Below the first cost: 0; never: INFINITY.
typedef enum SandGapCost { SAND_GAP_PRODUCTS, SAND_GAP_EQUIVALENTS } SandGapCost;
double sand_gap_cost_to(const SandGapRow *rows, int count, double share, SandGapCost cost);
