// SPDX-License-Identifier: MIT
// Products of dense matrices stored by columns, for the supernodes of factors.h.
#pragma once

enum { SAND_MULTIPLY_WORK = 64 * 1024 }; // numbers of workspace

// C -= A B, with C of m x n and k columns of A. Entry (l, j) of B is b[row_stride l + column_stride j], so that it may be
// transposed.
typedef struct SandProduct {
    int m, n, k;
    const double *a;
    int lda;
    const double *b;
    int row_stride, column_stride;
    double *c;
    int ldc;
} SandProduct;

void sand_dense_subtract(const SandProduct *product, double *work);
// The same for the entries of C on and below its diagonal; some of those above are changed too.
void sand_dense_subtract_lower(const SandProduct *product, double *work);
