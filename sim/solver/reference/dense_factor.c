// SPDX-License-Identifier: MIT
// Dense factors: see dense_factor.h. Blocks of columns are factored by loops, and what is behind them is updated by
// products.
#include "sim/solver/reference/dense_factor.h"

#include "sim/solver/reference/dense_multiply.h"

#include <math.h>
#include <stddef.h>

enum { BLOCK = 32 }; // columns that loops factor

#define AT(a, lda, row, column) ((a) + (size_t)(lda) * (size_t)(column) + (row))

static int least_of(int a, int b) { return a < b ? a : b; }

// A triangle T above the diagonal: entry (k, j) is t[row_stride k + column_stride j], and `unit`: 1 on the diagonal.
typedef struct Triangle {
    const double *t;
    int row_stride, column_stride;
    bool unit;
} Triangle;

static double entry(const Triangle *t, int k, int j) {
    return t->t[(ptrdiff_t)t->row_stride * k + (ptrdiff_t)t->column_stride * j];
}

// Solves X T = A for the columns from..end, when those before are solved and subtracted.
static void solve_columns(int m, int from, int end, double *a, int lda, const Triangle *t) {
    enum { ROWS = 64 }; // that stay in the first cache
    for (int row = 0; row < m; row += ROWS) {
        int rows = least_of(ROWS, m - row);
        for (int j = from; j < end; j++) {
            double *restrict x = AT(a, lda, row, j);
            for (int k = from; k < j; k++) {
                const double *restrict before = AT(a, lda, row, k);
                double factor = entry(t, k, j);
                for (int i = 0; i < rows; i++) x[i] -= factor * before[i];
            }
            double per = t->unit ? 1 : 1 / entry(t, j, j);
            for (int i = 0; i < rows; i++) x[i] *= per;
        }
    }
}

// A = A T^-1
static void solve_behind(int m, int n, double *a, int lda, const Triangle *t, double *work) {
    for (int k = 0; k < n && m > 0; k += BLOCK) {
        int end = least_of(n, k + BLOCK);
        SandProduct before = {m,
                              end - k,
                              k,
                              a,
                              lda,
                              t->t + (ptrdiff_t)t->column_stride * k,
                              t->row_stride,
                              t->column_stride,
                              AT(a, lda, 0, k),
                              lda};
        sand_dense_subtract(&before, work);
        solve_columns(m, k, end, a, lda, t);
    }
}

// --- L D L' -----------------------------------------------------------------------------------------------

// The square block at the head of a panel.
static bool factor_head(int n, double *a, int lda, bool definite, signed char *sign) {
    const double huge = 1e64; // the root of a pivot that its unknown is nothing against
    bool sound = true;
    for (int j = 0; j < n; j++) {
        double *column = AT(a, lda, 0, j);
        for (int k = 0; k < j; k++) {
            const double *before = AT(a, lda, 0, k);
            double factor = sign[k] * before[j];
            for (int i = j; i < n; i++) column[i] -= factor * before[i];
        }
        double pivot = column[j];
        bool good = definite ? pivot > 0 : fabs(pivot) > 0;
        sign[j] = pivot < 0 && !definite ? -1 : 1;
        column[j] = good ? sqrt(fabs(pivot)) : huge;
        sound = sound && good;
        double per = sign[j] / column[j];
        for (int i = j + 1; i < n; i++) column[i] *= per;
    }
    return sound;
}

// The rows behind it: A L'^-1 D.
static void solve_rows(int m, int n, double *a, int lda, const double *head, const signed char *sign) {
    solve_columns(m, 0, n, a, lda, &(Triangle){head, lda, 1, false});
    for (int j = 0; j < n; j++)
        for (int i = 0; sign[j] < 0 && i < m; i++) *AT(a, lda, i, j) *= -1;
}

// Subtracts the product of the columns from..from+n of a panel from those behind them, below the diagonal.
static void update_panel(int m, int columns, double *a, int lda, int from, int n, const signed char *sign, double *work) {
    double scaled[BLOCK * BLOCK];
    for (int j = from + n; j < columns; j += BLOCK) {
        int width = least_of(BLOCK, columns - j);
        for (int k = 0; k < n; k++)
            for (int i = 0; i < width; i++) scaled[BLOCK * k + i] = sign[from + k] * *AT(a, lda, j + i, from + k);
        SandProduct product = {m - j, width, n, AT(a, lda, j, from), lda, scaled, BLOCK, 1, AT(a, lda, j, j), lda};
        sand_dense_subtract(&product, work);
    }
}

bool sand_dense_cholesky(int m, int n, double *a, int lda, bool definite, signed char *sign, double *work) {
    bool sound = true;
    for (int k = 0; k < n; k += BLOCK) {
        int width = least_of(BLOCK, n - k);
        double *head = AT(a, lda, k, k);
        if (!factor_head(width, head, lda, definite, sign + k)) sound = false;
        solve_rows(m - k - width, width, head + width, lda, head, sign + k);
        update_panel(m, n, a, lda, k, width, sign, work);
    }
    return sound;
}

// --- L U --------------------------------------------------------------------------------------------------

static void exchange(double *a, double *b) {
    double swapped = *a;
    *a = *b;
    *b = swapped;
}

// Factors the columns k..end of a square of n rows, by the rows from k on.
static bool factor_columns(int n, double *a, int lda, int k, int end, double least, int *pivot) {
    for (int j = k; j < end; j++) {
        double *column = AT(a, lda, 0, j);
        pivot[j] = j;
        for (int i = j + 1; i < n; i++)
            if (fabs(column[i]) > fabs(column[pivot[j]])) pivot[j] = i;
        for (int l = 0; l < n && pivot[j] != j; l++) exchange(AT(a, lda, j, l), AT(a, lda, pivot[j], l));
        if (!isfinite(column[j])) return false;
        if (fabs(column[j]) < least) column[j] = copysign(least, column[j]);
        double per = 1 / column[j];
        for (int i = j + 1; i < n; i++) column[i] *= per;
        for (int l = j + 1; l < end; l++) {
            double *other = AT(a, lda, 0, l), factor = other[j];
            for (int i = j + 1; i < n; i++) other[i] -= factor * column[i];
        }
    }
    return true;
}

// The rows k..end of U in the columns behind them.
static void solve_above(int n, double *a, int lda, int k, int end) {
    for (int j = end; j < n; j++) {
        double *column = AT(a, lda, 0, j);
        for (int l = k; l < end; l++)
            for (int i = l + 1; i < end; i++) column[i] -= column[l] * *AT(a, lda, i, l);
    }
}

static bool factor_square(int n, double *a, int lda, double least, int *pivot, double *work) {
    for (int k = 0; k < n; k += BLOCK) {
        int end = least_of(n, k + BLOCK), rest = n - end;
        if (!factor_columns(n, a, lda, k, end, least, pivot)) return false;
        solve_above(n, a, lda, k, end);
        SandProduct product = {
            rest, rest, end - k, AT(a, lda, end, k), lda, AT(a, lda, k, end), 1, lda, AT(a, lda, end, end), lda};
        sand_dense_subtract(&product, work);
    }
    return true;
}

bool sand_dense_lu(int n, int behind, double *a, int lda, double *right, double least, int *pivot, double *work) {
    if (!factor_square(n, a, lda, least, pivot, work)) return false;
    solve_behind(behind, n, a + n, lda, &(Triangle){a, 1, lda, false}, work);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < behind && pivot[k] != k; i++) exchange(AT(right, behind, i, k), AT(right, behind, i, pivot[k]));
    solve_behind(behind, n, right, behind, &(Triangle){a, lda, 1, true}, work);
    return true;
}
