// SPDX-License-Identifier: MIT
// A whole problem cut into the parts of ranks, each of which a rank holds without knowing more: for the tests of what ranks
// do with them. It sees everything at once, which no rank ever does.
#pragma once
#include "sim/solver/subproblem.h"

typedef struct CutProblem {
    SandPartition partition;
    SandProblem problem; // what the rank holds
    int *body, *contact; // of each held moving body and contact: which one it is of the whole problem
    int *owner;          // of each held moving body
    SandAdjacency whole; // of the whole problem
    int first_contact[SAND_MAX_RANKS + 1];
} CutProblem;

void cut_problem(CutProblem *subproblem, const SandProblem *whole, const SandRanks *ranks);
void cut_problem_free(CutProblem *subproblem);
