// From the matrices of a stored problem to a SandProblem: what the readers of FCLIB files and of Siconos' text files share.
//   local problem    u = W r + q
//   global problem   M v = H r + f, u = H' v + w, which is reduced to W = H' M^-1 H and q = H' M^-1 f + w
// A matrix may be stored whole or by one of its halves. W is solved as it is stored: where it is not symmetric, by the
// methods that can (SAND_UNSYMMETRIC).
#pragma once
#include "sandglass/problem.h"

#include <suitesparse/cholmod.h>

// What a file says. The matrices may be replaced by sand_stored_problem.
typedef struct SandStored {
    const char *path; // for error sentences
    cholmod_common *common;
    int contacts;
    double *mu;                // malloc, as q and f
    cholmod_sparse *w, *m, *h; // W of a local problem; else M and H
    double *q, *f;             // q of a local problem, w of a global one; f
} SandStored;

bool sand_stored_problem(SandProblem *problem, SandStored *stored, SandError *error);
void sand_stored_free(SandStored *stored);      // its matrices and vectors
void sand_stored_start(cholmod_common *common); // initializes CHOLMOD for sand_stored_problem
