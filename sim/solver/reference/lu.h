// LU factorization of a sparse matrix that is not symmetric, by UMFPACK. Where a matrix is symmetric CHOLMOD is used, which
// takes half the work.
#pragma once
#include "sandglass/error.h"

typedef struct SandLu SandLu;

// For a square matrix of n rows in compressed columns, with sorted rows; `begin` and `row` must outlive it.
SandLu *sand_lu_create(int n, const int *begin, const int *row, SandError *error);
void sand_lu_free(SandLu *lu);
// Factorizes the matrix with these entries, which must stay as they are until the last solve. False where it is singular.
bool sand_lu_factor(SandLu *lu, const double *value, SandError *error);
// Solves A x = b.
bool sand_lu_solve(SandLu *lu, const double *b, double *x, SandError *error);
