// SPDX-License-Identifier: MIT
// From the matrices of a stored problem to a SandProblem: what the readers of FCLIB files and of Siconos' text files share.
//   local problem    u = W r + q
//   global problem   M v = H r + f, u = H' v + w, which is reduced to W = H' M^-1 H and q = H' M^-1 f + w
// Bilateral constraints are further rows, whose velocity is zero and whose impulses l are not bounded:
//   local problem    u = W r + V l + q, V' r + R l + s = 0
//   global problem   M v = H r + G l + f, G' v + b = 0
// With rolling friction a contact has five components: normal, two tangents, and torques about the tangents.
// A matrix may be stored whole or by one of its halves. W is solved as it is stored: where it is not symmetric, by the
// methods that can (SAND_UNSYMMETRIC).
#pragma once
#include "sandglass/problem.h"
#include "sim/solver/reference/sparse.h"

// What a file says. The matrices may be replaced by sand_stored_problem.
typedef struct SandStored {
    const char *path; // for error sentences
    int contacts;
    int components;        // of a contact: 3, or 5 with rolling friction
    int bilateral;         // rows of bilateral constraints
    double *mu;            // malloc, as all vectors
    double *mu_r;          // of rolling friction; NULL: there is none
    SandSparse *w, *m, *h; // W of a local problem; else M and H
    SandSparse *v, *r, *g; // V and R of a local problem, or G, where there are bilateral constraints
    double *q, *f;         // q of a local problem, w of a global one; f
    double *s;             // s of a local problem, b of a global one
} SandStored;

bool sand_stored_problem(SandProblem *problem, SandStored *stored, SandError *error);
void sand_stored_free(SandStored *stored); // its matrices and vectors
