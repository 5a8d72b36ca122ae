// SPDX-License-Identifier: MIT
// Sparse matrices in compressed columns, for matrices that are stored (fclib.h, siconos_text.h) and for methods that
// assemble N. A function that makes a matrix returns NULL where memory is out, or where an argument is NULL, so that calls
// nest. The rows of a column are in order, each of them once.
#pragma once
#include "sandglass/error.h"

typedef struct SandSparse {
    int rows, columns;
    int *begin; // of each column among the entries, and their number behind them
    int *row;
    double *value;
} SandSparse;

// Entries in any order; those of one place are added up.
typedef struct SandTriplet {
    int row, column;
    double value;
} SandTriplet;

SandSparse *sand_sparse_allocate(int rows, int columns, size_t entries);
void sand_sparse_free(SandSparse *a);
SandSparse *sand_sparse_from_triplets(int rows, int columns, const SandTriplet *triplets, size_t count);
SandSparse *sand_sparse_copy(const SandSparse *a);
SandSparse *sand_sparse_transpose(const SandSparse *a);
// alpha A + beta B. Entries that cancel are kept.
SandSparse *sand_sparse_add(const SandSparse *a, const SandSparse *b, double alpha, double beta);
SandSparse *sand_sparse_multiply(const SandSparse *a, const SandSparse *b);
SandSparse *sand_sparse_beside(const SandSparse *a, const SandSparse *b); // (A B)
SandSparse *sand_sparse_above(const SandSparse *a, const SandSparse *b);  // (A; B)
SandSparse *sand_sparse_identity(int size);
double sand_sparse_norm(const SandSparse *a); // the largest sum of absolute values in a row; negative: out of memory
