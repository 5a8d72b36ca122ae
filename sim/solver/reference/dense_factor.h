// SPDX-License-Identifier: MIT
// Factors of the columns of a supernode (factors.h), a panel, stored by columns. `work` has room for a product
// (dense_multiply.h).
#pragma once
#include <stdbool.h>

// Factors a panel of n columns and m >= n rows, L D L' with D of 1 and -1: `sign` receives D. Where the matrix is `definite`
// all pivots must be positive. A pivot that is not, or is zero, is replaced so that its unknown is solved to zero; returns
// whether there was none.
bool sand_dense_cholesky(int m, int n, double *a, int lda, bool definite, signed char *sign, double *work);

// Factors the first n rows of a panel, with the pivots of a column sought among them: row k is exchanged with row pivot[k].
// Pivots below `least` are raised to it. The rows behind become those of L; `right`, of `behind` rows, the transpose of
// those of U. Returns false if a number is not finite.
bool sand_dense_lu(int n, int behind, double *a, int lda, double *right, double least, int *pivot, double *work);
