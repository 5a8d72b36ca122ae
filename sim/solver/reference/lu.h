// LU factorization of a sparse matrix that is not symmetric, by UMFPACK where the build has it. Where a matrix is symmetric
// CHOLMOD is used, which takes half the work.
#pragma once
#include "sandglass/error.h"

typedef struct SandLu SandLu;

// A square matrix in compressed columns, with sorted rows; `begin` and `row` must outlive the factorization.
typedef struct SandLuDef {
    int n;
    const int *begin, *row;
    bool symmetric_pattern; // only its entries are not symmetric
    int refinements;        // steps of iterative refinement in a solve
} SandLuDef;

bool sand_lu_available(void);
SandLu *sand_lu_create(const SandLuDef *def, SandError *error);
void sand_lu_free(SandLu *lu);
double sand_lu_flops(const SandLu *lu); // of a factorization, estimated
// Factorizes the matrix with these entries, which must stay as they are until the last solve. Where it is singular, sets
// *singular, or fails if that is NULL.
bool sand_lu_factor(SandLu *lu, const double *value, bool *singular, SandError *error);
// Solves A x = b.
bool sand_lu_solve(SandLu *lu, const double *b, double *x, SandError *error);
