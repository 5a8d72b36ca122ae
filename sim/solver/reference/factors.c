// SPDX-License-Identifier: MIT
// Sparse factors: see factors.h.
#include "sim/solver/reference/factors.h"

#include "sim/core/array.h"
#include "sim/solver/reference/dense_factor.h"
#include "sim/solver/reference/dense_multiply.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct SandFactors {
    SandFactorsDef def;
    SandFactorShape shape;
    const double *matrix; // its entries
    size_t *left, *right; // where supernodes of L begin among the values, and those of U', without its diagonal
    size_t *at;           // where each entry of the matrix goes; beyond all values: nowhere
    double *value, *product, *scaled, *work, *copies; // copies: of dense_multiply.h
    signed char *sign;
    int *pivot;                          // of each column, within its supernode
    int *place, *next, *pending, *reach; // see update
    size_t values, value_capacity, product_capacity, scaled_capacity, work_capacity, copies_capacity, at_capacity;
};

static int rows_of(const SandFactors *f, int p) { return sand_supernode_rows(&f->shape, p); }
static int columns_of(const SandFactors *f, int p) { return sand_supernode_columns(&f->shape, p); }
static const int *row_list(const SandFactors *f, int p) { return f->shape.row + f->shape.begin[p]; }

// --- storage ----------------------------------------------------------------------------------------------

// Where the rows of a supernode from `from` on that belong to the supernode of the first of them end.
static int segment_end(const SandFactors *f, int p, int from) {
    const int *row = row_list(f, p);
    int end = f->shape.first[f->shape.supernode_of[row[from]] + 1], k = from;
    while (k < rows_of(f, p) && row[k] < end) k++;
    return k;
}

// Places the supernodes, and finds how much room an update takes at most.
static void place_supernodes(SandFactors *f, size_t *product, size_t *scaled) {
    bool general = f->def.kind == SAND_FACTORS_GENERAL;
    for (int p = 0; p < f->shape.supernodes; p++) {
        size_t rows = (size_t)rows_of(f, p), columns = (size_t)columns_of(f, p);
        f->left[p] = f->values;
        f->values += rows * columns;
        f->right[p] = f->values;
        if (general) f->values += (rows - columns) * columns;
        for (int k = (int)columns, end; k < (int)rows; k = end) {
            end = segment_end(f, p, k);
            size_t width = (size_t)(end - k), all = (rows - (size_t)k) * width;
            if (all > *product) *product = all;
            if (width * columns > *scaled) *scaled = width * columns;
        }
    }
}

// Which of the rows of a supernode a row is.
static size_t find_row(const SandFactors *f, int p, int row) {
    const int *list = row_list(f, p);
    int low = 0, high = rows_of(f, p) - 1;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (list[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return (size_t)low;
}

static size_t place_entry(const SandFactors *f, int i, int j) {
    const SandFactorShape *s = &f->shape;
    bool general = f->def.kind == SAND_FACTORS_GENERAL;
    if (!general && i > j) return f->values;
    int row = s->place[i], column = s->place[j], p = s->supernode_of[column];
    if (row >= s->first[p] && (general || row >= column))
        return f->left[p] + (size_t)rows_of(f, p) * (size_t)(column - s->first[p]) + find_row(f, p, row);
    int low = row < column ? row : column, high = row < column ? column : row;
    p = s->supernode_of[low];
    size_t rows = (size_t)rows_of(f, p), columns = (size_t)columns_of(f, p), at = (size_t)(low - s->first[p]);
    if (!general) return f->left[p] + rows * at + find_row(f, p, high);
    return f->right[p] + (rows - columns) * at + find_row(f, p, high) - columns;
}

static bool allocate(SandFactors *f, SandError *error) {
    size_t n = (size_t)f->def.n, supernodes = (size_t)f->shape.supernodes, entries = (size_t)f->def.begin[f->def.n],
           product = 0, scaled = 0;
    f->left = malloc((supernodes + 1) * sizeof *f->left);
    f->right = malloc((supernodes + 1) * sizeof *f->right);
    f->sign = malloc(n + 1);
    f->pivot = malloc((5 * n + 1) * sizeof *f->pivot);
    if (!f->left || !f->right || !f->sign || !f->pivot) return sand_fail(error, "out of memory for a linear system");
    f->place = f->pivot + n;
    f->next = f->place + n;
    f->pending = f->next + n;
    f->reach = f->pending + n;
    place_supernodes(f, &product, &scaled);
    const char *what = "the factors of a linear system";
    if (!SAND_GROW(f->value, f->value_capacity, f->values + 1, what, error) ||
        !SAND_GROW(f->product, f->product_capacity, product + 1, what, error) ||
        !SAND_GROW(f->scaled, f->scaled_capacity, scaled + 1, what, error) ||
        !SAND_GROW(f->work, f->work_capacity, 4 * n + 1, what, error) ||
        !SAND_GROW(f->copies, f->copies_capacity, SAND_MULTIPLY_WORK, what, error) ||
        !SAND_GROW(f->at, f->at_capacity, entries + 1, what, error))
        return false;
    for (int j = 0; j < f->def.n; j++)
        for (int e = f->def.begin[j]; e < f->def.begin[j + 1]; e++) f->at[e] = place_entry(f, f->def.row[e], j);
    return true;
}

SandFactors *sand_factors_create(const SandFactorsDef *def, SandError *error) {
    SandFactors *f = calloc(1, sizeof *f);
    if (!f) return sand_fail(error, "out of memory for a linear system"), NULL;
    f->def = *def;
    if (sand_factor_shape_make(&f->shape, def->n, def->begin, def->row, SAND_ORDERING_BEST, error) && allocate(f, error))
        return f;
    sand_factors_free(f);
    return NULL;
}

void sand_factors_free(SandFactors *f) {
    if (!f) return;
    sand_factor_shape_free(&f->shape);
    free(f->left);
    free(f->right);
    free(f->sign);
    free(f->pivot);
    sand_free(f->value);
    sand_free(f->product);
    sand_free(f->scaled);
    sand_free(f->work);
    sand_free(f->copies);
    sand_free(f->at);
    free(f);
}

double sand_factors_flops(const SandFactors *f) { return (f->def.kind == SAND_FACTORS_GENERAL ? 2 : 1) * f->shape.squares; }

// --- factorization ----------------------------------------------------------------------------------------

// Adds what is in f->product, whose columns belong to the rows of supernode d from `from` on and whose rows to those from
// `from` + `skip` on, to supernode p.
static void scatter(const SandFactors *f, double *supernode, size_t stride, int p, int d, int from, int skip, int width) {
    const int *row = row_list(f, d) + from;
    int count = rows_of(f, d) - from - skip;
    bool lower = f->def.kind != SAND_FACTORS_GENERAL;
    const double *product = f->product;
    for (int j = 0; j < width; j++, product += count) {
        double *column = supernode + stride * (size_t)(row[j] - f->shape.first[p]);
        for (int i = lower ? j : 0; i < count; i++) column[f->place[row[skip + i]]] += product[i];
    }
}

// f->product = -A B', of m rows, `width` columns, for k columns of A and B; the part above the diagonal may be left out.
static void multiply(const SandFactors *f, int m, int width, int k, const double *a, int lda, const double *b, int ldb) {
    memset(f->product, 0, (size_t)m * (size_t)width * sizeof *f->product);
    SandProduct product = {m, width, k, a, lda, b, ldb, 1, f->product, m};
    if (f->def.kind == SAND_FACTORS_GENERAL)
        sand_dense_subtract(&product, f->copies);
    else
        sand_dense_subtract_lower(&product, f->copies);
}

// The columns of L of supernode d in some rows, times D where that is not one.
static const double *with_signs(const SandFactors *f, int d, int from, int width, int *stride) {
    const double *left = f->value + f->left[d] + from;
    *stride = rows_of(f, d);
    if (f->def.kind != SAND_FACTORS_INDEFINITE) return left;
    for (int k = 0; k < columns_of(f, d); k++)
        for (int i = 0; i < width; i++)
            f->scaled[(size_t)width * (size_t)k + (size_t)i] =
                f->sign[f->shape.first[d] + k] * left[(size_t)*stride * (size_t)k + (size_t)i];
    *stride = width;
    return f->scaled;
}

// Updates supernode p by supernode d before it. The rows of d from reach[d] on are those that supernodes from p on still
// wait for; of these, `width` are columns of p.
static void update(SandFactors *f, int p, int d) {
    int from = f->reach[d], end = segment_end(f, d, from), width = end - from;
    int rows = rows_of(f, d), columns = columns_of(f, d), left = rows - from, stride;
    double *l = f->value + f->left[d] + from, *to = f->value + f->left[p], *u = f->value + f->right[d] - columns;
    size_t behind = (size_t)(rows_of(f, p) - columns_of(f, p));
    f->reach[d] = end;
    if (f->def.kind != SAND_FACTORS_GENERAL) {
        const double *scaled = with_signs(f, d, from, width, &stride);
        multiply(f, left, width, columns, l, rows, scaled, stride);
        scatter(f, to, (size_t)rows_of(f, p), p, d, from, 0, width);
        return;
    }
    multiply(f, left, width, columns, l, rows, u + from, rows - columns);
    scatter(f, to, (size_t)rows_of(f, p), p, d, from, 0, width);
    if (end == rows) return;
    multiply(f, rows - end, width, columns, u + end, rows - columns, l, rows);
    scatter(f, f->value + f->right[p] - columns_of(f, p), behind, p, d, from, width, width);
}

// Appends a supernode to those that wait for the supernode of its next rows.
static void wait_for_next(SandFactors *f, int d) {
    if (f->reach[d] == rows_of(f, d)) return;
    int p = f->shape.supernode_of[row_list(f, d)[f->reach[d]]];
    f->next[d] = f->pending[p];
    f->pending[p] = d;
}

static bool factor_supernode(SandFactors *f, int p, double least) {
    int rows = rows_of(f, p), columns = columns_of(f, p), first = f->shape.first[p];
    double *supernode = f->value + f->left[p];
    if (f->def.kind == SAND_FACTORS_GENERAL)
        return sand_dense_lu(columns, rows - columns, supernode, rows, f->value + f->right[p], least, f->pivot + first,
                             f->copies);
    return sand_dense_cholesky(rows, columns, supernode, rows, f->def.kind == SAND_FACTORS_DEFINITE, f->sign + first,
                               f->copies);
}

// Writes the matrix into the supernodes. Returns the largest of its entries.
static double load(SandFactors *f, const double *value) {
    double most = 0;
    memset(f->value, 0, (f->values + 1) * sizeof *f->value);
    for (int e = 0; e < f->def.begin[f->def.n]; e++) {
        f->value[f->at[e]] += value[e];
        most = fmax(most, fabs(value[e]));
    }
    return most;
}

bool sand_factors_factor(SandFactors *f, const double *value) {
    const double rounding = 1e-14; // a pivot below this share of the matrix is made of it
    double least = rounding * load(f, value);
    bool sound = least > 0 || f->def.n == 0;
    f->matrix = value;
    for (int p = 0; p < f->shape.supernodes; p++) f->pending[p] = -1;
    for (int p = 0; p < f->shape.supernodes; p++) {
        for (int k = 0; k < rows_of(f, p); k++) f->place[row_list(f, p)[k]] = k;
        for (int d = f->pending[p], next; d >= 0; d = next) {
            next = f->next[d];
            update(f, p, d);
            wait_for_next(f, d);
        }
        if (!factor_supernode(f, p, least)) sound = false;
        f->reach[p] = columns_of(f, p);
        wait_for_next(f, p);
    }
    return sound;
}

// --- solving ----------------------------------------------------------------------------------------------

// y = L^-1 y, with the exchanges of rows.
static void solve_left(const SandFactors *f, double *restrict y, double *restrict sum) {
    bool general = f->def.kind == SAND_FACTORS_GENERAL;
    for (int p = 0; p < f->shape.supernodes; p++) {
        int rows = rows_of(f, p), columns = columns_of(f, p);
        const double *l = f->value + f->left[p];
        const int *row = row_list(f, p), *pivot = f->pivot + f->shape.first[p];
        double *x = y + f->shape.first[p];
        for (int k = 0; general && k < columns; k++) {
            double swapped = x[k];
            x[k] = x[pivot[k]];
            x[pivot[k]] = swapped;
        }
        for (int i = columns; i < rows; i++) sum[i] = 0;
        for (int k = 0; k < columns; k++, l += rows) {
            if (!general) x[k] /= l[k];
            for (int i = k + 1; i < columns; i++) x[i] -= l[i] * x[k];
            for (int i = columns; i < rows; i++) sum[i] += l[i] * x[k];
        }
        for (int i = columns; i < rows; i++) y[row[i]] -= sum[i];
    }
}

// In eight sums, which need not wait for each other.
static double dot(int n, const double *restrict a, const double *restrict b) {
    double sum[8] = {0};
    int i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++) sum[k] += a[i + k] * b[i + k];
    for (; i < n; i++) sum[0] += a[i] * b[i];
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

// y = L'^-1 D y, or U^-1 y.
static void solve_right(const SandFactors *f, double *y, double *sum) {
    bool general = f->def.kind == SAND_FACTORS_GENERAL;
    for (int p = f->shape.supernodes - 1; p >= 0; p--) {
        int rows = rows_of(f, p), columns = columns_of(f, p), stride = general ? rows - columns : rows;
        const double *l = f->value + f->left[p], *u = general ? f->value + f->right[p] - columns : l;
        const int *row = row_list(f, p);
        double *x = y + f->shape.first[p];
        for (int i = columns; i < rows; i++) sum[i] = y[row[i]];
        for (int k = columns - 1; k >= 0; k--) {
            double left = general ? x[k] : f->sign[f->shape.first[p] + k] * x[k];
            left -= dot(rows - columns, u + (size_t)stride * (size_t)k + columns, sum + columns);
            for (int i = k + 1; i < columns; i++)
                left -= (general ? l[(size_t)rows * (size_t)i + (size_t)k] : l[(size_t)rows * (size_t)k + (size_t)i]) * x[i];
            x[k] = left / l[(size_t)rows * (size_t)k + (size_t)k];
        }
    }
}

static void solve_once(const SandFactors *f, const double *b, double *x) {
    int n = f->def.n;
    double *y = f->work, *sum = y + n;
    for (int k = 0; k < n; k++) y[k] = b[f->shape.order[k]];
    solve_left(f, y, sum);
    solve_right(f, y, sum);
    for (int k = 0; k < n; k++) x[f->shape.order[k]] = y[k];
}

// b - A x. Returns its size. Only of a general matrix, of which all entries are stored.
static double residual(const SandFactors *f, const double *b, const double *x, double *r) {
    double size = 0;
    memcpy(r, b, (size_t)f->def.n * sizeof *r);
    for (int j = 0; j < f->def.n; j++)
        for (int e = f->def.begin[j]; e < f->def.begin[j + 1]; e++) r[f->def.row[e]] -= f->matrix[e] * x[j];
    for (int i = 0; i < f->def.n; i++) size += r[i] * r[i];
    return size;
}

void sand_factors_solve(SandFactors *f, const double *b, double *x) {
    int n = f->def.n;
    double *r = f->work + 2 * n, *step = r + n, last = INFINITY;
    solve_once(f, b, x);
    for (int k = 0; k < f->def.refinements; k++) {
        double size = residual(f, b, x, r);
        if (!(size > 0) || !(size < 0.25 * last)) return;
        last = size;
        solve_once(f, r, step);
        for (int i = 0; i < n; i++) x[i] += step[i];
    }
}
