// SPDX-License-Identifier: MIT
// Cholesky factorization of a symmetric positive definite matrix of 6 x 6 blocks, one for each body of an island, within its
// skyline: row r has all blocks from first[r] to the diagonal, and what lies left of them is zero and stays so. With bodies
// in an order of small bandwidth that is a narrow band; a wall of 20 x 20 bricks has some 21 blocks a row.
//
// A block is stored column by column, and the blocks of a row follow each other: a row is one panel of six by six times its
// blocks, and an entry of the factor the product of two such panels.
#pragma once
#include "sandglass/error.h"
#include "sim/core/array.h"

enum { SAND_BLOCK = 6, SAND_BLOCK_SIZE = 36 };

typedef struct SandSkyline {
    int count;                // of block rows
    SAND_ARRAY(int) first;    // of each: its first block column
    SAND_ARRAY(size_t) begin; // of each: its first block among all, and their number behind them
    SAND_ARRAY(double) value; // SAND_BLOCK_SIZE numbers for each block: the matrix, and after sand_skyline_factor its factor
} SandSkyline;

void sand_skyline_free(SandSkyline *s);
// Makes room for `count` block rows, each with its diagonal block alone. The caller lowers `first` where there is more, and
// then calls sand_skyline_shape.
bool sand_skyline_reserve(SandSkyline *s, int count, SandError *error);
double sand_skyline_work(const SandSkyline *s); // multiplications of a factorization, from `first` alone
bool sand_skyline_shape(SandSkyline *s, SandError *error);
void sand_skyline_clear(SandSkyline *s);
// Block (row, column), column <= row and within the skyline.
static inline double *sand_skyline_block(const SandSkyline *s, int row, int column) {
    return s->value.data + SAND_BLOCK_SIZE * (s->begin.data[row] + (size_t)(column - s->first.data[row]));
}
// Replaces the matrix by its factor L, L L'. False where it is not positive definite.
bool sand_skyline_factor(SandSkyline *s);
void sand_skyline_solve(const SandSkyline *s, double *x); // x := (L L')^-1 x
