// Factorization and refined solves of the KKT system, and the assembly of N. The matrix handed to CHOLMOD is A = E S (it
// adds I and forms AA'), S N S where the cone program stores N, or the augmented matrix [I A; A' -I]. Where N is not
// symmetric I + S N S goes to UMFPACK.
#include "sim/solver/reference/kkt.h"

#include "sim/core/array.h"
#include "sim/solver/reference/lu.h"

#include <stdlib.h>
#include <string.h>
#include <suitesparse/cholmod.h>

struct SandKkt {
    const SandConeProgram *program;
    SandKktKind kind;
    const double *scaling;
    cholmod_common common;
    cholmod_sparse *matrix; // to factorize: A, S N S, or the augmented matrix
    cholmod_factor *factor; // where the matrix is symmetric
    SandLu *lu;             // where it is not; the matrix then has the identity added
    cholmod_dense *right;
    SAND_ARRAY(double) scaled, product, residual, work; // for the refinement: S y, S N S y, the residual
};

bool sand_cholmod_fail(int status, const char *what, SandError *error) {
    switch (status) {
    case CHOLMOD_OUT_OF_MEMORY: return sand_fail(error, "%s: out of memory", what);
    case CHOLMOD_TOO_LARGE: return sand_fail(error, "%s: the factors would be too large", what);
    default: return sand_fail(error, "%s: CHOLMOD gave up (status %d)", what, status);
    }
}

cholmod_sparse *sand_cone_program_assemble(const SandConeProgram *m, cholmod_common *common, SandError *error) {
    cholmod_sparse matrix = {
        .nrow = (size_t)m->rows, .ncol = (size_t)m->columns, .nzmax = (size_t)m->begin.data[m->columns]};
    matrix.p = m->begin.data;
    matrix.i = m->row.data;
    matrix.x = m->value.data;
    matrix.itype = CHOLMOD_INT;
    matrix.xtype = CHOLMOD_REAL;
    matrix.dtype = CHOLMOD_DOUBLE;
    matrix.packed = 1;
    cholmod_sparse *n = NULL;
    if (m->square) {
        n = cholmod_copy_sparse(&matrix, common);
    } else {
        cholmod_sparse *transpose = cholmod_transpose(&matrix, 1, common);
        if (transpose) n = cholmod_aat(transpose, NULL, 0, 1, common);
        cholmod_free_sparse(&transpose, common);
    }
    if (!n) sand_cholmod_fail(common->status, "assembling N", error);
    return n;
}

// Offset of the entries of column j of A in the augmented matrix: they follow the identity block and the columns before,
// each of which ends with its own diagonal entry.
static int augmented_at(const SandConeProgram *m, int j) { return m->rows + m->begin.data[j] + j; }

// Writes the sparsity pattern and the entries that never change.
static void write_pattern(SandKkt *s) {
    const SandConeProgram *m = s->program;
    int *begin = s->matrix->p, *row = s->matrix->i;
    double *value = s->matrix->x;
    if (s->kind == SAND_KKT_NORMAL) {
        memcpy(begin, m->begin.data, ((size_t)m->columns + 1) * sizeof *begin);
        memcpy(row, m->row.data, (size_t)m->begin.data[m->columns] * sizeof *row);
        return;
    }
    for (int k = 0; k < m->rows; k++) {
        begin[k] = row[k] = k;
        value[k] = 1;
    }
    for (int j = 0; j < m->columns; j++) {
        int at = begin[m->rows + j] = augmented_at(m, j), count = m->begin.data[j + 1] - m->begin.data[j];
        memcpy(row + at, m->row.data + m->begin.data[j], (size_t)count * sizeof *row);
        row[at + count] = m->rows + j;
        value[at + count] = -1;
    }
    begin[m->rows + m->columns] = augmented_at(m, m->columns);
}

SandKkt *sand_kkt_create(const SandConeProgram *m, SandKktKind kind, SandError *error) {
    SandKkt *s = calloc(1, sizeof *s);
    if (!s) {
        sand_fail(error, "out of memory for a linear system");
        return NULL;
    }
    s->program = m;
    s->kind = kind;
    cholmod_start(&s->common);
    s->common.print = 0;
    size_t rows = (size_t)m->rows, columns = (size_t)m->columns, entries = (size_t)m->begin.data[m->columns];
    bool ok = true;
    if (kind == SAND_KKT_AUGMENTED) {
        // Quasi-definite: LDL' exists for any ordering and needs no pivoting.
        s->common.supernodal = CHOLMOD_SIMPLICIAL;
        s->common.final_ll = 0;
        if (m->square) ok = sand_fail(error, "the augmented system needs bodies, and this problem has none");
        size_t all = rows + columns;
        if (ok) s->matrix = cholmod_allocate_sparse(all, all, all + entries, 1, 1, 1, CHOLMOD_REAL, &s->common);
    } else {
        s->matrix = cholmod_allocate_sparse(rows, columns, entries, 0, 1, m->square, CHOLMOD_REAL, &s->common);
    }
    size_t unknowns = rows + (kind == SAND_KKT_AUGMENTED ? columns : 0);
    if (ok && s->matrix) {
        write_pattern(s);
        s->right = cholmod_allocate_dense(unknowns, 1, unknowns, CHOLMOD_REAL, &s->common);
        if (m->square && !m->symmetric)
            s->lu = sand_lu_create(&(SandLuDef){m->columns, m->begin.data, m->row.data, .refinements = 2}, error);
        else
            s->factor = cholmod_analyze(s->matrix, &s->common);
    }
    if (ok && (!s->matrix || !s->right || (!s->factor && !s->lu)))
        ok = sand_cholmod_fail(s->common.status, "analyzing the linear system", error);
    ok = ok && SAND_RESERVE(s->scaled, columns + 1, "linear system", error) &&
         SAND_RESERVE(s->product, columns + 1, "linear system", error) &&
         SAND_RESERVE(s->residual, columns + 1, "linear system", error) &&
         SAND_RESERVE(s->work, rows + 1, "linear system", error);
    if (!ok) {
        sand_kkt_free(s);
        s = NULL;
    }
    return s;
}

void sand_kkt_free(SandKkt *s) {
    if (!s) return;
    cholmod_free_sparse(&s->matrix, &s->common);
    cholmod_free_factor(&s->factor, &s->common);
    cholmod_free_dense(&s->right, &s->common);
    sand_lu_free(s->lu);
    cholmod_finish(&s->common);
    SAND_FREE_ARRAYS(&s->scaled, &s->product, &s->residual, &s->work);
    free(s);
}

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
    double *value = s->matrix->x;
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
    double *value = s->matrix->x;
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
            if (m->row.data[e] == j) ((double *)s->matrix->x)[e] += 1;
}

bool sand_kkt_factor(SandKkt *s, const double *scaling, SandError *error) {
    s->scaling = scaling;
    scale_columns(s);
    if (s->program->square) scale_rows(s);
    if (s->lu) return add_identity(s), sand_lu_factor(s->lu, s->matrix->x, NULL, error);
    // CHOLMOD adds the identity, and forms AA' of an unsymmetric matrix.
    double identity[2] = {s->kind == SAND_KKT_NORMAL ? 1 : 0, 0};
    cholmod_factorize_p(s->matrix, identity, NULL, 0, s->factor, &s->common);
    return s->common.status >= CHOLMOD_OK || sand_cholmod_fail(s->common.status, "factorizing the linear system", error);
}

bool sand_kkt_sound(const SandKkt *s) { return s->lu || s->factor->minor == s->factor->n; }

// Solves once without refinement: y = b - A' (I + AA')^-1 A b.
static bool solve_once(SandKkt *s, const double *b, double *y, SandError *error) {
    const SandConeProgram *m = s->program;
    double *right = s->right->x;
    size_t unknowns = s->right->nrow;
    if (s->lu) return sand_lu_solve(s->lu, b, y, error);
    memset(right, 0, unknowns * sizeof *right);
    if (s->kind == SAND_KKT_AUGMENTED) {
        for (int j = 0; j < m->columns; j++) right[m->rows + j] = -b[j];
    } else if (m->square) {
        memcpy(right, b, unknowns * sizeof *right);
    } else {
        const double *value = s->matrix->x;
        for (int j = 0; j < m->columns; j++)
            for (int e = m->begin.data[j]; e < m->begin.data[j + 1]; e++) right[m->row.data[e]] += value[e] * b[j];
    }
    cholmod_dense *x = cholmod_solve(CHOLMOD_A, s->factor, s->right, &s->common);
    if (!x) return sand_cholmod_fail(s->common.status, "solving the linear system", error);
    const double *solved = x->x;
    if (s->kind == SAND_KKT_AUGMENTED) {
        memcpy(y, solved + m->rows, (size_t)m->columns * sizeof *y);
    } else if (m->square) {
        memcpy(y, solved, unknowns * sizeof *y);
    } else {
        const double *value = s->matrix->x;
        for (int j = 0; j < m->columns; j++) {
            double dot = 0;
            for (int e = m->begin.data[j]; e < m->begin.data[j + 1]; e++) dot += value[e] * solved[m->row.data[e]];
            y[j] = b[j] - dot;
        }
    }
    cholmod_free_dense(&x, &s->common);
    return true;
}

bool sand_kkt_solve(SandKkt *s, const double *b, double *y, SandError *error) {
    enum { REFINEMENTS = 3 };
    const SandConeProgram *m = s->program;
    double last = INFINITY;
    if (!solve_once(s, b, y, error)) return false;
    for (int k = 0; k < REFINEMENTS; k++) {
        // residual = b - y - S N S y
        double size = 0, left = 0;
        scale(s, y, s->scaled.data);
        sand_cone_program_product(m, s->scaled.data, s->product.data, s->work.data);
        scale(s, s->product.data, s->product.data);
        for (int j = 0; j < m->columns; j++) {
            s->residual.data[j] = b[j] - y[j] - s->product.data[j];
            left += s->residual.data[j] * s->residual.data[j];
            size += b[j] * b[j];
        }
        if (!(left > 1e-28 * size) || !(left < 0.25 * last)) return true;
        last = left;
        if (!solve_once(s, s->residual.data, s->product.data, error)) return false;
        for (int j = 0; j < m->columns; j++) y[j] += s->product.data[j];
    }
    return true;
}
