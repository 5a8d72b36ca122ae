// SPDX-License-Identifier: MIT
// What a solve claims about its impulses, held against plain double-precision algebra that shares no code with the solvers.
#pragma once
#include "sandglass/problem.h"
#include "tests/lab/solver/admissible.h"

// A solution and what its admissible sets were.
typedef struct ClaimSolved {
    SandSolution solution;
    double *bound; // friction bound of each contact, as the solver used it
} ClaimSolved;

// Solves on one thread, with metrics. False, with a sentence, when the solver refuses or fails.
bool claim_solve_on(SandCpu *cpu, const SandProblem *p, const SandSolveDef *def, ClaimSolved *s, SandError *error);
bool claim_solve(const SandProblem *p, const SandSolveDef *def, SandPrecision precision, ClaimSolved *s, SandError *error);
void claim_free(ClaimSolved *s);

// The figures of a solution by sums over bodies and contacts.
typedef struct ClaimFigures {
    double residual, relative, objective; // as SandMetrics
    double r_norm;                        // m/s
    double energy;                        // J, g'Ng / 2
    double scale;                         // m/s: the norm of the sums of magnitudes of all terms, the scale of rounding
    double tau;
} ClaimFigures;
ClaimFigures claim_measure(const SandProblem *p, const SandSolveDef *def, const ClaimSolved *s);

// NULL where figures and status of the solution hold to the rounding of double, whatever the precision of the solve; else a
// sentence in `text` that says what does not.
const char *claim_check(const SandSolveDef *def, const ClaimSolved *s, const ClaimFigures *found, char text[static 256]);
