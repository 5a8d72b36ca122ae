// SPDX-License-Identifier: MIT
// Factorization and refined solves of the KKT system, and the assembly of N. What is factorized is I + AA' for A = E S,
// where the cone program stores N I + S N S, or the augmented matrix [I A; A' -I].
#include "sim/solver/reference/kkt.h"

#include "sim/core/array.h"
#include "sim/solver/reference/factors.h"

#include <stdlib.h>
#include <string.h>

struct SandKkt {
    const SandConeProgram *program;
    SandKktKind kind;
    const double *scaling;
    SandSparse *matrix; // A, I + S N S, or the augmented matrix
    SandSparse *normal; // I + AA', on and above the diagonal; NULL: the matrix itself is factorized
    // The entries of A by rows: `entry` is its place in the matrix.
    int *begin, *entry, *column;
    SandFactors *factors;
    bool sound;
    double *right, *solved, *sum;               // of the size of the factors
    double *scaled, *product, *residual, *work; // for the refinement: S y, S N S y, the residual
    size_t vectors_capacity, begin_capacity, entry_capacity, column_capacity, scaled_capacity, product_capacity,
        residual_capacity, work_capacity;
};

// The matrix of the cone program.
static SandSparse stored_matrix(const SandConeProgram *m) {
    return (SandSparse){m->rows, m->columns, m->begin.data, m->row.data, m->value.data};
}

SandSparse *sand_cone_program_assemble(const SandConeProgram *m, SandError *error) {
    SandSparse matrix = stored_matrix(m);
    SandSparse *t = sand_sparse_transpose(&matrix);
    SandSparse *n = m->square ? sand_sparse_transpose(t) : sand_sparse_multiply(t, &matrix);
    sand_sparse_free(t);
    if (!n) sand_fail(error, "out of memory for N");
    return n;
}

// --- patterns ---------------------------------------------------------------------------------------------

// Offset of the entries of column j of A in the augmented matrix: they follow the identity block and the columns before,
// each of which ends with its own diagonal entry.
static int augmented_at(const SandConeProgram *m, int j) { return m->rows + m->begin.data[j] + j; }

// [I A; . -I], with the entries that never change.
static SandSparse *make_augmented(const SandConeProgram *m) {
    int all = m->rows + m->columns;
    SandSparse *a = sand_sparse_allocate(all, all, (size_t)all + (size_t)m->begin.data[m->columns]);
    for (int k = 0; a && k < m->rows; k++) {
        a->begin[k] = a->row[k] = k;
        a->value[k] = 1;
    }
    for (int j = 0; a && j < m->columns; j++) {
        int at = a->begin[m->rows + j] = augmented_at(m, j), count = m->begin.data[j + 1] - m->begin.data[j];
        memcpy(a->row + at, m->row.data + m->begin.data[j], (size_t)count * sizeof *a->row);
        a->row[at + count] = m->rows + j;
        a->value[at + count] = -1;
    }
    if (a) a->begin[all] = augmented_at(m, m->columns);
    return a;
}

// The entries of AA' and the identity on and above the diagonal.
static SandSparse *make_normal(const SandConeProgram *m) {
    SandSparse matrix = stored_matrix(m), *t = sand_sparse_transpose(&matrix), *product = sand_sparse_multiply(&matrix, t);
    SandSparse *identity = sand_sparse_identity(m->rows), *all = sand_sparse_add(product, identity, 1, 1);
    int kept = 0;
    for (int j = 0, e = 0; all && j < all->columns; j++) {
        for (int end = all->begin[j + 1]; e < end; e++)
            if (all->row[e] <= j) all->row[kept++] = all->row[e];
        all->begin[j + 1] = kept;
    }
    sand_sparse_free(t);
    sand_sparse_free(product);
    sand_sparse_free(identity);
    return all;
}

// Lists the entries of A by rows.
static bool list_rows(SandKkt *s, SandError *error) {
    const SandConeProgram *m = s->program;
    int entries = m->begin.data[m->columns];
    if (!SAND_GROW(s->begin, s->begin_capacity, m->rows + 2, "linear system", error) ||
        !SAND_GROW(s->entry, s->entry_capacity, entries + 1, "linear system", error) ||
        !SAND_GROW(s->column, s->column_capacity, entries + 1, "linear system", error))
        return false;
    // begin[k + 2] counts row k; begin[k + 1] is then where it begins, and after the filling where it ends.
    for (int e = 0; e < entries; e++) s->begin[m->row.data[e] + 2]++;
    for (int k = 2; k <= m->rows; k++) s->begin[k] += s->begin[k - 1];
    for (int j = 0; j < m->columns; j++)
        for (int e = m->begin.data[j]; e < m->begin.data[j + 1]; e++) {
            int to = s->begin[m->row.data[e] + 1]++;
            s->entry[to] = e;
            s->column[to] = j;
        }
    return true;
}

static bool make_matrices(SandKkt *s, SandError *error) {
    const SandConeProgram *m = s->program;
    SandSparse stored = stored_matrix(m);
    bool augmented = s->kind == SAND_KKT_AUGMENTED, normal = !augmented && !m->square;
    if (augmented && m->square) return sand_fail(error, "the augmented system needs bodies, and this problem has none");
    s->matrix = augmented ? make_augmented(m) : sand_sparse_copy(&stored);
    if (normal) s->normal = make_normal(m);
    if (!s->matrix || (normal && !s->normal)) return sand_fail(error, "out of memory for a linear system");
    return !normal || list_rows(s, error);
}

static bool allocate(SandKkt *s, SandError *error) {
    const SandConeProgram *m = s->program;
    const SandSparse *a = s->normal ? s->normal : s->matrix;
    bool general = m->square && !m->symmetric;
    SandFactorsKind kind = s->kind == SAND_KKT_AUGMENTED ? SAND_FACTORS_INDEFINITE
                           : general                     ? SAND_FACTORS_GENERAL
                                                         : SAND_FACTORS_DEFINITE;
    size_t size = (size_t)a->columns;
    s->factors =
        sand_factors_create(&(SandFactorsDef){kind, a->columns, a->begin, a->row, .refinements = general ? 2 : 0}, error);
    if (!s->factors || !SAND_GROW(s->right, s->vectors_capacity, 3 * size + 1, "linear system", error) ||
        !SAND_GROW(s->scaled, s->scaled_capacity, m->columns + 1, "linear system", error) ||
        !SAND_GROW(s->product, s->product_capacity, m->columns + 1, "linear system", error) ||
        !SAND_GROW(s->residual, s->residual_capacity, m->columns + 1, "linear system", error) ||
        !SAND_GROW(s->work, s->work_capacity, m->rows + 1, "linear system", error))
        return false;
    s->solved = s->right + size;
    s->sum = s->solved + size;
    return true;
}

SandKkt *sand_kkt_create(const SandConeProgram *m, SandKktKind kind, SandError *error) {
    SandKkt *s = calloc(1, sizeof *s);
    if (!s) return sand_fail(error, "out of memory for a linear system"), NULL;
    s->program = m;
    s->kind = kind;
    if (make_matrices(s, error) && allocate(s, error)) return s;
    sand_kkt_free(s);
    return NULL;
}

void sand_kkt_free(SandKkt *s) {
    if (!s) return;
    sand_sparse_free(s->matrix);
    sand_sparse_free(s->normal);
    sand_factors_free(s->factors);
    void *arrays[] = {s->begin, s->entry, s->column, s->right, s->scaled, s->product, s->residual, s->work};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) sand_free(arrays[k]);
    free(s);
}

// --- values -----------------------------------------------------------------------------------------------

// y = S x; y may alias x.
static void scale(const SandKkt *s, const double *x, double *y) {
    const SandConeProgram *m = s->program;
    for (int c = 0; c < m->cones; c++) {
        const double *w = s->scaling + 9 * c;
        int j = m->first.data[c];
        if (sand_cone_program_size(m, c) == 1) {
            y[j] = w[0] * x[j];
            continue;
        }
        double a = x[j], b = x[j + 1], d = x[j + 2];
        for (int k = 0; k < 3; k++) y[j + k] = w[3 * k] * a + w[3 * k + 1] * b + w[3 * k + 2] * d;
    }
}

// Computes the values of A = E S, or of N S. The columns of a cone have the same rows, so entry e of a scaled column
// combines entry e of each.
static void scale_columns(const SandKkt *s) {
    const SandConeProgram *m = s->program;
    double *value = s->matrix->value;
    for (int c = 0; c < m->cones; c++) {
        const double *w = s->scaling + 9 * c;
        int first = m->first.data[c], size = sand_cone_program_size(m, c),
            count = m->begin.data[first + 1] - m->begin.data[first];
        for (int k = 0; k < size; k++) {
            double *out = value + (s->kind == SAND_KKT_AUGMENTED ? augmented_at(m, first + k) : m->begin.data[first + k]);
            for (int e = 0; e < count; e++) {
                double sum = 0;
                for (int l = 0; l < size; l++) sum += m->value.data[m->begin.data[first + l] + e] * w[3 * l + k];
                out[e] = sum;
            }
        }
    }
}

// Applies S from the left to every column of N S. The rows of a column come in whole cones.
static void scale_rows(const SandKkt *s) {
    const SandConeProgram *m = s->program;
    double *value = s->matrix->value;
    for (int c = 0; c < m->cones; c++)
        for (int j = m->first.data[c]; j < m->first.data[c + 1]; j++)
            for (int e = m->begin.data[j]; e < m->begin.data[j + 1];) {
                int k = m->row.data[e], cone = m->cone_of.data[k];
                const double *w = s->scaling + 9 * cone;
                int size = sand_cone_program_size(m, cone);
                double x[3] = {value[e], size > 1 ? value[e + 1] : 0, size > 1 ? value[e + 2] : 0};
                for (int l = 0; l < size; l++) value[e + l] = w[3 * l] * x[0] + w[3 * l + 1] * x[1] + w[3 * l + 2] * x[2];
                e += size;
            }
}

// Adds the identity to S N S, whose diagonal entries are all stored.
static void add_identity(const SandKkt *s) {
    const SandConeProgram *m = s->program;
    for (int j = 0; j < m->columns; j++)
        for (int e = m->begin.data[j]; e < m->begin.data[j + 1]; e++)
            if (m->row.data[e] == j) s->matrix->value[e] += 1;
}

// Computes the values of I + AA', column by column: column k is the sum of the columns of A that row k meets.
static void fill_normal(const SandKkt *s) {
    const SandConeProgram *m = s->program;
    const double *a = s->matrix->value;
    SandSparse *n = s->normal;
    memset(s->sum, 0, (size_t)m->rows * sizeof *s->sum);
    for (int k = 0; k < m->rows; k++) {
        for (int t = s->begin[k]; t < s->begin[k + 1]; t++)
            for (int e = m->begin.data[s->column[t]]; e < m->begin.data[s->column[t] + 1]; e++)
                s->sum[m->row.data[e]] += a[s->entry[t]] * a[e];
        for (int e = n->begin[k]; e < n->begin[k + 1]; e++) n->value[e] = s->sum[n->row[e]] + (n->row[e] == k);
        for (int t = s->begin[k]; t < s->begin[k + 1]; t++)
            for (int e = m->begin.data[s->column[t]]; e < m->begin.data[s->column[t] + 1]; e++) s->sum[m->row.data[e]] = 0;
    }
}

void sand_kkt_factor(SandKkt *s, const double *scaling) {
    s->scaling = scaling;
    scale_columns(s);
    if (s->program->square) {
        scale_rows(s);
        add_identity(s);
    }
    if (s->normal) fill_normal(s);
    s->sound = sand_factors_factor(s->factors, s->normal ? s->normal->value : s->matrix->value);
}

bool sand_kkt_sound(const SandKkt *s) { return s->sound; }

// Solves once without refinement; with bodies y = b - A' (I + AA')^-1 A b.
static void solve_once(SandKkt *s, const double *b, double *y) {
    const SandConeProgram *m = s->program;
    const double *value = s->matrix->value;
    if (m->square) {
        sand_factors_solve(s->factors, b, y);
        return;
    }
    bool augmented = s->kind == SAND_KKT_AUGMENTED;
    memset(s->right, 0, (size_t)m->rows * sizeof *s->right);
    for (int j = 0; augmented && j < m->columns; j++) s->right[m->rows + j] = -b[j];
    for (int j = 0; !augmented && j < m->columns; j++)
        for (int e = m->begin.data[j]; e < m->begin.data[j + 1]; e++) s->right[m->row.data[e]] += value[e] * b[j];
    sand_factors_solve(s->factors, s->right, s->solved);
    if (augmented) memcpy(y, s->solved + m->rows, (size_t)m->columns * sizeof *y);
    for (int j = 0; !augmented && j < m->columns; j++) {
        double dot = 0;
        for (int e = m->begin.data[j]; e < m->begin.data[j + 1]; e++) dot += value[e] * s->solved[m->row.data[e]];
        y[j] = b[j] - dot;
    }
}

void sand_kkt_solve(SandKkt *s, const double *b, double *y) {
    enum { REFINEMENTS = 3 };
    const SandConeProgram *m = s->program;
    double last = INFINITY;
    solve_once(s, b, y);
    for (int k = 0; k < REFINEMENTS; k++) {
        // residual = b - y - S N S y
        double size = 0, left = 0;
        scale(s, y, s->scaled);
        sand_cone_program_product(m, s->scaled, s->product, s->work);
        scale(s, s->product, s->product);
        for (int j = 0; j < m->columns; j++) {
            s->residual[j] = b[j] - y[j] - s->product[j];
            left += s->residual[j] * s->residual[j];
            size += b[j] * b[j];
        }
        if (!(left > 1e-28 * size) || !(left < 0.25 * last)) return;
        last = left;
        solve_once(s, s->residual, s->product);
        for (int j = 0; j < m->columns; j++) y[j] += s->product[j];
    }
}
