// SPDX-License-Identifier: MIT
// Judges impulses of one frozen problem on the host and in double, whatever device and precision they come from: a float
// objective of millions of contacts has too few digits for the differences by which solvers are compared. Time and memory
// are linear in the number of contacts.
#pragma once
#include "sandglass/problem.h"

typedef struct SandEvaluation {
    double objective;    // J, q(g)
    double residual_rms; // m/s, root mean square over the contacts
    double residual_max; // m/s, of the worst contact
} SandEvaluation;

typedef struct SandEvaluator SandEvaluator;

// Whether the friction model is a fixed cone for each contact: what minimizes over another set, or nothing, has no gap to a
// minimum. False with a sentence.
bool sand_evaluator_check(const SandSolveDef *def, SandError *error);
// For the friction model of `def`. The problem must outlive the evaluator.
SandEvaluator *sand_evaluator_create(const SandProblem *problem, const SandSolveDef *def, int threads, SandError *error);
void sand_evaluator_free(SandEvaluator *evaluator);

// The nearest admissible impulses; `to` may be `from`. Those of a float solve are outside by a rounding.
void sand_evaluator_project(SandEvaluator *evaluator, const SandVec3 *from, SandVec3 *to);
SandEvaluation sand_evaluate(SandEvaluator *evaluator, const SandVec3 *impulse);
// Kinetic energy of the difference of the velocities that x and y cause, J: (v_x - v_y)' M (v_x - v_y) / 2, which is
// (x - y)' N (x - y) / 2.
double sand_evaluator_energy(SandEvaluator *evaluator, const SandVec3 *x, const SandVec3 *y);
