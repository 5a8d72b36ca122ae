// SPDX-License-Identifier: MIT
// Factors of a sparse matrix: L D L' where it is symmetric, else L U. Supernodes of columns (factor_shape.h) are updated by
// those before them that reach into them and then factored densely (the left-looking supernodal method of Ng and Peyton
// 1993). One analysis of the pattern serves all matrices that have it.
//
// There is no exchange of rows beyond a supernode: a matrix that is not symmetric needs none if its symmetric part is
// positive definite, and what rounding costs otherwise is won back by refinement, or the caller sees it in the solution.
#pragma once
#include "sim/solver/reference/factor_shape.h"

typedef enum SandFactorsKind {
    SAND_FACTORS_DEFINITE,   // symmetric and positive definite
    SAND_FACTORS_INDEFINITE, // symmetric and quasi-definite: pivots of either sign, in any order (Vanderbei 1995)
    SAND_FACTORS_GENERAL,
} SandFactorsKind;

// A square matrix in compressed columns; `begin` and `row` must outlive the factors. Of a symmetric one the entries on and
// above the diagonal are read.
typedef struct SandFactorsDef {
    SandFactorsKind kind;
    int n;
    const int *begin, *row;
    int refinements; // steps of iterative refinement in a solve, at most
} SandFactorsDef;

typedef struct SandFactors SandFactors;

SandFactors *sand_factors_create(const SandFactorsDef *def, SandError *error);
void sand_factors_free(SandFactors *factors);
double sand_factors_flops(const SandFactors *factors); // of a factorization, without those of stored zeros
// Factorizes the matrix with these entries, which must stay as they are until the last solve. False: it has no factors, as a
// definite one whose pivots are not positive, or one with numbers that are not finite.
bool sand_factors_factor(SandFactors *factors, const double *value);
// Solves A x = b; x and b may be the same.
void sand_factors_solve(SandFactors *factors, const double *b, double *x);
