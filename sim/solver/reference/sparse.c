// SPDX-License-Identifier: MIT
// Sparse matrices in compressed columns: see sparse.h. Sums are made in the order of the entries, and so repeat their bits.
#include "sim/solver/reference/sparse.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

SandSparse *sand_sparse_allocate(int rows, int columns, size_t entries) {
    SandSparse *a = entries < INT32_MAX ? calloc(1, sizeof *a) : NULL;
    if (!a) return NULL;
    *a = (SandSparse){.rows = rows,
                      .columns = columns,
                      .begin = calloc((size_t)columns + 1, sizeof *a->begin),
                      .row = malloc((entries + 1) * sizeof *a->row),
                      .value = malloc((entries + 1) * sizeof *a->value)};
    if (a->begin && a->row && a->value) return a;
    sand_sparse_free(a);
    return NULL;
}

void sand_sparse_free(SandSparse *a) {
    if (!a) return;
    free(a->begin);
    free(a->row);
    free(a->value);
    free(a);
}

SandSparse *sand_sparse_copy(const SandSparse *a) {
    size_t entries = a ? (size_t)a->begin[a->columns] : 0;
    SandSparse *copy = a ? sand_sparse_allocate(a->rows, a->columns, entries) : NULL;
    if (!copy) return NULL;
    memcpy(copy->begin, a->begin, ((size_t)a->columns + 1) * sizeof *a->begin);
    memcpy(copy->row, a->row, entries * sizeof *a->row);
    memcpy(copy->value, a->value, entries * sizeof *a->value);
    return copy;
}

// Turns counts, begin[k + 1] of column k, into where each column begins.
static void sum_counts(int *begin, int columns) {
    for (int k = 0; k < columns; k++) begin[k + 1] += begin[k];
}

// After each column was filled from begin[k] on, which moved it to the end of the column.
static void restore_begins(int *begin, int columns) {
    memmove(begin + 1, begin, (size_t)columns * sizeof *begin);
    begin[0] = 0;
}

SandSparse *sand_sparse_transpose(const SandSparse *a) {
    SandSparse *t = a ? sand_sparse_allocate(a->columns, a->rows, (size_t)a->begin[a->columns]) : NULL;
    if (!t) return NULL;
    for (int e = 0; e < a->begin[a->columns]; e++) t->begin[a->row[e] + 1]++;
    sum_counts(t->begin, t->columns);
    for (int j = 0; j < a->columns; j++)
        for (int e = a->begin[j]; e < a->begin[j + 1]; e++) {
            int to = t->begin[a->row[e]]++;
            t->row[to] = j;
            t->value[to] = a->value[e];
        }
    restore_begins(t->begin, t->columns);
    return t;
}

// Adds up the entries of one place, which follow each other.
static void merge_repeated(SandSparse *a) {
    int kept = 0;
    for (int j = 0, e = 0; j < a->columns; j++) {
        int from = kept, end = a->begin[j + 1];
        for (; e < end; e++) {
            bool again = kept > from && a->row[kept - 1] == a->row[e];
            if (again) {
                a->value[kept - 1] += a->value[e];
                continue;
            }
            a->row[kept] = a->row[e];
            a->value[kept++] = a->value[e];
        }
        a->begin[j] = from;
    }
    a->begin[a->columns] = kept;
}

SandSparse *sand_sparse_from_triplets(int rows, int columns, const SandTriplet *triplets, size_t count) {
    // By rows first; the transpose then has its columns in order.
    SandSparse *t = sand_sparse_allocate(columns, rows, count);
    if (!t) return NULL;
    for (size_t k = 0; k < count; k++) t->begin[triplets[k].row + 1]++;
    sum_counts(t->begin, rows);
    for (size_t k = 0; k < count; k++) {
        int to = t->begin[triplets[k].row]++;
        t->row[to] = triplets[k].column;
        t->value[to] = triplets[k].value;
    }
    restore_begins(t->begin, rows);
    SandSparse *a = sand_sparse_transpose(t);
    sand_sparse_free(t);
    if (a) merge_repeated(a);
    return a;
}

// Column j of alpha A + beta B, from entry `at` on. Returns its end.
static int add_column(const SandSparse *a, const SandSparse *b, double alpha, double beta, int j, SandSparse *sum, int at) {
    int e = a->begin[j], f = b->begin[j], a_end = a->begin[j + 1], b_end = b->begin[j + 1];
    while (e < a_end || f < b_end) {
        int row = e < a_end && (f >= b_end || a->row[e] <= b->row[f]) ? a->row[e] : b->row[f];
        double value = 0;
        if (e < a_end && a->row[e] == row) value += alpha * a->value[e++];
        if (f < b_end && b->row[f] == row) value += beta * b->value[f++];
        sum->row[at] = row;
        sum->value[at++] = value;
    }
    return at;
}

SandSparse *sand_sparse_add(const SandSparse *a, const SandSparse *b, double alpha, double beta) {
    if (!a || !b) return NULL;
    size_t most = (size_t)a->begin[a->columns] + (size_t)b->begin[b->columns];
    SandSparse *sum = sand_sparse_allocate(a->rows, a->columns, most);
    if (!sum) return NULL;
    for (int j = 0; j < a->columns; j++) sum->begin[j + 1] = add_column(a, b, alpha, beta, j, sum, sum->begin[j]);
    return sum;
}

// Entries of A B, each counted once; `seen` is zero for every row of A.
static size_t count_product(const SandSparse *a, const SandSparse *b, int *seen) {
    size_t count = 0;
    for (int j = 0; j < b->columns; j++)
        for (int f = b->begin[j]; f < b->begin[j + 1]; f++)
            for (int k = b->row[f], e = a->begin[k]; e < a->begin[k + 1]; e++) {
                if (seen[a->row[e]] == j + 1) continue;
                seen[a->row[e]] = j + 1;
                count++;
            }
    memset(seen, 0, (size_t)a->rows * sizeof *seen);
    return count;
}

// Its rows are in no order.
static void fill_product(const SandSparse *a, const SandSparse *b, int *seen, double *sum, SandSparse *product) {
    for (int j = 0, at = 0; j < b->columns; j++) {
        for (int f = b->begin[j]; f < b->begin[j + 1]; f++)
            for (int k = b->row[f], e = a->begin[k]; e < a->begin[k + 1]; e++) {
                int row = a->row[e];
                if (seen[row] != j + 1) {
                    seen[row] = j + 1;
                    sum[row] = 0;
                    product->row[at++] = row;
                }
                sum[row] += a->value[e] * b->value[f];
            }
        for (int e = product->begin[j]; e < at; e++) product->value[e] = sum[product->row[e]];
        product->begin[j + 1] = at;
    }
}

SandSparse *sand_sparse_multiply(const SandSparse *a, const SandSparse *b) {
    if (!a || !b) return NULL;
    int *seen = calloc((size_t)a->rows + 1, sizeof *seen);
    double *sum = malloc(((size_t)a->rows + 1) * sizeof *sum);
    SandSparse *product = NULL, *transposed = NULL, *sorted = NULL;
    if (seen && sum) product = sand_sparse_allocate(a->rows, b->columns, count_product(a, b, seen));
    if (product) fill_product(a, b, seen, sum, product);
    // Transposing twice puts the rows in order.
    transposed = sand_sparse_transpose(product);
    sorted = sand_sparse_transpose(transposed);
    sand_sparse_free(product);
    sand_sparse_free(transposed);
    free(seen);
    free(sum);
    return sorted;
}

SandSparse *sand_sparse_beside(const SandSparse *a, const SandSparse *b) {
    if (!a || !b) return NULL;
    int left = a->begin[a->columns], right = b->begin[b->columns];
    SandSparse *both = sand_sparse_allocate(a->rows, a->columns + b->columns, (size_t)left + (size_t)right);
    if (!both) return NULL;
    memcpy(both->begin, a->begin, (size_t)a->columns * sizeof *a->begin);
    for (int j = 0; j <= b->columns; j++) both->begin[a->columns + j] = left + b->begin[j];
    memcpy(both->row, a->row, (size_t)left * sizeof *a->row);
    memcpy(both->row + left, b->row, (size_t)right * sizeof *b->row);
    memcpy(both->value, a->value, (size_t)left * sizeof *a->value);
    memcpy(both->value + left, b->value, (size_t)right * sizeof *b->value);
    return both;
}

SandSparse *sand_sparse_above(const SandSparse *a, const SandSparse *b) {
    SandSparse *at = sand_sparse_transpose(a), *bt = sand_sparse_transpose(b), *both = sand_sparse_beside(at, bt);
    SandSparse *above = sand_sparse_transpose(both);
    sand_sparse_free(at);
    sand_sparse_free(bt);
    sand_sparse_free(both);
    return above;
}

SandSparse *sand_sparse_identity(int size) {
    SandSparse *a = sand_sparse_allocate(size, size, (size_t)size);
    for (int k = 0; a && k < size; k++) {
        a->begin[k + 1] = k + 1;
        a->row[k] = k;
        a->value[k] = 1;
    }
    return a;
}

double sand_sparse_norm(const SandSparse *a) {
    double *sum = calloc((size_t)a->rows + 1, sizeof *sum), norm = sum ? 0 : -1;
    for (int e = 0; sum && e < a->begin[a->columns]; e++) sum[a->row[e]] += fabs(a->value[e]);
    for (int i = 0; sum && i < a->rows; i++) norm = sum[i] > norm || isnan(sum[i]) ? sum[i] : norm;
    free(sum);
    return norm;
}
