// SPDX-License-Identifier: MIT
// What the factors of a sparse matrix look like, from its pattern alone: in which order the unknowns are eliminated so that
// little fills in, and which columns of the factor then have the same rows. These, a *supernode*, are stored and factorized
// densely (Ng and Peyton 1993; Chen, Davis, Hager and Rajamanickam 2008).
//
// The order is the one of approximate minimum degree (AMD, Amestoy, Davis and Duff 1996); where the factors are large nested
// dissection (METIS, Karypis and Kumar 1998) is tried too, and the one with less work is taken.
#pragma once
#include "sandglass/error.h"

typedef enum SandOrdering { SAND_ORDERING_BEST, SAND_ORDERING_MINIMUM_DEGREE, SAND_ORDERING_DISSECTION } SandOrdering;

typedef struct SandFactorShape {
    int n, supernodes;
    int *order, *place; // order[k] is eliminated as k-th; place is its inverse
    int *first;         // supernode p has the columns first[p] .. first[p + 1] - 1
    int *supernode_of;  // of each column
    size_t *begin;      // rows of supernode p: row[begin[p]] .. row[begin[p + 1] - 1], its own columns first, in order
    int *row;
    // Of the factor's columns: their lengths, without the zeros that supernodes store, and the squares of these.
    double entries, squares;
} SandFactorShape;

// The pattern is that of A + A' for the matrix in compressed columns. False, with nothing left to free, if memory is out.
bool sand_factor_shape_make(SandFactorShape *shape, int n, const int *begin, const int *row, SandOrdering ordering,
                            SandError *error);
void sand_factor_shape_free(SandFactorShape *shape);

static inline int sand_supernode_columns(const SandFactorShape *s, int p) { return s->first[p + 1] - s->first[p]; }
static inline int sand_supernode_rows(const SandFactorShape *s, int p) { return (int)(s->begin[p + 1] - s->begin[p]); }
