// SPDX-License-Identifier: MIT
// Reader of Siconos' text format: see siconos_text.h. Dense matrices and blocks are column-major. Every count is compared
// with the length of the file before memory is asked for: a number takes two characters at least.
#include "sim/solver/reference/siconos_text.h"

#include "sim/core/array.h"
#include "sim/solver/reference/stored_matrix.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The text, and how far it was read.
typedef struct Reader {
    const char *path;
    char *text;
    const char *at;
    size_t length;
    SandError *error;
} Reader;

// A matrix while it is read.
typedef struct Matrix {
    int rows, columns;
    SandTriplet *entries;
    size_t count, capacity;
} Matrix;

enum { DENSE = 0, BLOCKS = 1, SPARSE = 2 };       // Siconos' NM_types
enum { SPARSE_TRIPLETS = 1, SPARSE_COLUMNS = 2 }; // its NumericsSparseOrigin

static int line_of(const Reader *r) {
    int line = 1;
    for (const char *c = r->text; c < r->at; c++) line += *c == '\n';
    return line;
}

static bool refuse(const Reader *r, const char *what) {
    return sand_fail(r->error, "%.200s, line %d: %s", r->path, line_of(r), what);
}

static bool read_integer(Reader *r, const char *what, int least, int *value) {
    char *end;
    errno = 0;
    long number = strtol(r->at, &end, 10);
    if (end == r->at || errno || number < least || number > INT_MAX)
        return sand_fail(r->error, "%.200s, line %d: expected %s, a number from %d on", r->path, line_of(r), what, least);
    r->at = end;
    *value = (int)number;
    return true;
}

static bool read_real(Reader *r, double *value) {
    char *end;
    *value = strtod(r->at, &end);
    if (end == r->at) return refuse(r, "expected a number");
    r->at = end;
    return isfinite(*value) || refuse(r, "a number is not finite");
}

// Whether the rest of the file can hold this many numbers.
static bool can_hold(const Reader *r, uint64_t count) {
    size_t left = r->length - (size_t)(r->at - r->text);
    if (count <= left / 2 + 1) return true;
    return sand_fail(r->error, "%.200s, line %d: promises %llu numbers, which the file does not hold", r->path, line_of(r),
                     (unsigned long long)count);
}

static double *read_vector(Reader *r, size_t count) {
    double *x = can_hold(r, count) ? malloc((count + 1) * sizeof *x) : NULL;
    bool ok = x != NULL;
    for (size_t k = 0; ok && k < count; k++) ok = read_real(r, &x[k]);
    if (ok) return x;
    free(x);
    return NULL;
}

static bool add_entry(Reader *r, Matrix *m, int row, int column, double value) {
    if (row < 0 || row >= m->rows || column < 0 || column >= m->columns) return refuse(r, "an entry is outside its matrix");
    if (value == 0) return true;
    if (m->count == m->capacity && !SAND_GROW(m->entries, m->capacity, 2 * m->count + 64, "matrix", r->error)) return false;
    m->entries[m->count++] = (SandTriplet){row, column, value};
    return true;
}

static bool read_dense(Reader *r, Matrix *m) {
    int rows, columns;
    if (!read_integer(r, "the number of rows", 0, &rows) || !read_integer(r, "the number of columns", 0, &columns))
        return false;
    if (rows != m->rows || columns != m->columns) return refuse(r, "a matrix has two sizes");
    if (!can_hold(r, (uint64_t)rows * (uint64_t)columns)) return false;
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rows; i++) {
            double value;
            if (!read_real(r, &value) || !add_entry(r, m, i, j, value)) return false;
        }
    return true;
}

static int *read_integers(Reader *r, const char *what, int count) {
    int *x = can_hold(r, (uint64_t)count) ? malloc(((size_t)count + 1) * sizeof *x) : NULL;
    bool ok = x != NULL;
    for (int k = 0; ok && k < count; k++) ok = read_integer(r, what, 0, &x[k]);
    if (ok) return x;
    free(x);
    return NULL;
}

// The ends of the blocks along one side, which must rise to its length.
static bool are_ends(const Reader *r, const int *ends, int count, int length) {
    for (int k = 0; k < count; k++)
        if (ends[k] < (k ? ends[k - 1] : 0) || ends[k] > length)
            return refuse(r, "the sizes of the blocks do not fit the matrix");
    return count == 0 || ends[count - 1] == length || refuse(r, "the sizes of the blocks do not fit the matrix");
}

static bool read_block(Reader *r, Matrix *m, const int *row_end, const int *column_end, int row, int column) {
    int top = row ? row_end[row - 1] : 0, left = column ? column_end[column - 1] : 0;
    for (int j = left; j < column_end[column]; j++)
        for (int i = top; i < row_end[row]; i++) {
            double value;
            if (!read_real(r, &value) || !add_entry(r, m, i, j, value)) return false;
        }
    return true;
}

// Block CSR: the ends of rows and columns of blocks, filled1 offsets of the rows, filled2 columns, and the blocks, each
// after its number.
static bool read_blocks(Reader *r, Matrix *m) {
    int blocks, rows, columns, filled1, filled2, number;
    int *row_end = NULL, *column_end = NULL, *first = NULL, *column = NULL;
    bool ok = read_integer(r, "the number of blocks", 0, &blocks) && read_integer(r, "the rows of blocks", 0, &rows) &&
              read_integer(r, "the columns of blocks", 0, &columns) &&
              (row_end = read_integers(r, "the end of a block", rows)) &&
              (column_end = read_integers(r, "the end of a block", columns)) && are_ends(r, row_end, rows, m->rows) &&
              are_ends(r, column_end, columns, m->columns) && read_integer(r, "filled1", 0, &filled1) &&
              read_integer(r, "filled2", 0, &filled2) && (first = read_integers(r, "an offset of a row", filled1)) &&
              (column = read_integers(r, "a column of blocks", filled2));
    if (ok && (filled2 != blocks || filled1 > rows + 1)) ok = refuse(r, "the numbers of blocks contradict each other");
    for (int row = 0; ok && row + 1 < filled1; row++) {
        if (first[row] > first[row + 1] || first[row + 1] > blocks)
            ok = refuse(r, "the offsets of the rows are out of order");
        for (int k = first[row]; ok && k < first[row + 1]; k++) {
            if (column[k] >= columns) ok = refuse(r, "a block is outside its matrix");
            ok = ok && read_integer(r, "the number of a block", 0, &number);
            if (ok && number != k) ok = refuse(r, "the blocks are out of order");
            ok = ok && read_block(r, m, row_end, column_end, row, column[k]);
        }
    }
    free(row_end);
    free(column_end);
    free(first);
    free(column);
    return ok;
}

// Skips the rest of this line and the white space after it.
static void skip_line(Reader *r) {
    r->at += strcspn(r->at, "\n");
    while (isspace((unsigned char)*r->at)) r->at++;
}

// Reads what cs_print of CSparse wrote: `triplet: M-by-N, nzmax: A nnz: B` and lines `i j : x`, or the same of compressed
// columns, `col J : locations A to B` before the lines `i : x` of each.
static bool read_sparse(Reader *r, Matrix *m) {
    int origin, row, column = -1;
    if (!read_integer(r, "how the sparse matrix is stored", 1, &origin)) return false;
    if (origin != SPARSE_TRIPLETS && origin != SPARSE_COLUMNS)
        return refuse(r, "this storage of a sparse matrix is not read");
    skip_line(r);
    if (strncmp(r->at, "CSparse", 7) != 0) return refuse(r, "expected what CSparse prints");
    skip_line(r);
    const char *line_end = r->at + strcspn(r->at, "\n"), *nnz = strstr(r->at, "nnz: ");
    if (!nnz || nnz > line_end) return refuse(r, "expected the number of entries, nnz");
    r->at = nnz + 5;
    int count;
    if (!read_integer(r, "the number of entries", 0, &count) || !can_hold(r, (uint64_t)count)) return false;
    skip_line(r);
    for (int k = 0; k < count; k++) {
        double value;
        while (origin == SPARSE_COLUMNS && !strncmp(r->at, "col ", 4)) {
            r->at += 4;
            if (!read_integer(r, "a column", 0, &column)) return false;
            skip_line(r);
        }
        if (!read_integer(r, "a row", 0, &row)) return false;
        if (origin == SPARSE_TRIPLETS && !read_integer(r, "a column", 0, &column)) return false;
        r->at += strspn(r->at, " \t");
        if (*r->at++ != ':') return r->at--, refuse(r, "expected `:` and an entry");
        if (!read_real(r, &value) || !add_entry(r, m, row, column, value)) return false;
        skip_line(r);
    }
    while (!strncmp(r->at, "col ", 4)) skip_line(r); // empty columns at the end
    return true;
}

// Reads a matrix whose number of rows must be this; -1: any.
static SandSparse *read_matrix(Reader *r, int rows) {
    Matrix m = {0};
    int storage;
    bool ok = read_integer(r, "the storage of a matrix", 0, &storage) &&
              read_integer(r, "the rows of a matrix", 0, &m.rows) &&
              read_integer(r, "the columns of a matrix", 0, &m.columns);
    // q and b, further down, have a number for each row and column.
    ok = ok && can_hold(r, (uint64_t)m.rows) && can_hold(r, (uint64_t)m.columns);
    if (ok && rows >= 0 && m.rows != rows) ok = refuse(r, "the sizes of the matrices do not fit");
    if (ok) switch (storage) {
        case DENSE: ok = read_dense(r, &m); break;
        case BLOCKS: ok = read_blocks(r, &m); break;
        case SPARSE: ok = read_sparse(r, &m); break;
        default: ok = refuse(r, "the storage of a matrix is none that is known"); break;
        }
    SandSparse *sparse = ok ? sand_sparse_from_triplets(m.rows, m.columns, m.entries, m.count) : NULL;
    if (ok && !sparse) sand_fail(r->error, "%.200s: out of memory for a matrix", r->path);
    sand_free(m.entries);
    return sparse;
}

static bool read_problem(Reader *r, SandProblem *p) {
    int dimension = 0, contacts = 0;
    if (!read_integer(r, "the dimension", 0, &dimension)) return false;
    if (dimension != 3 && dimension != 5)
        return sand_fail(r->error, "%.200s: is in %d dimensions, not 3, or 5 with rolling friction", r->path, dimension);
    if (!read_integer(r, "the number of contacts", 0, &contacts)) return false;
    if (contacts == 0) return sand_fail(r->error, "%.200s: has no contacts, so that there is nothing to solve", r->path);
    if (!can_hold(r, (uint64_t)dimension * (uint64_t)contacts)) return false;
    SandStored stored = {.path = r->path, .contacts = contacts, .components = dimension};
    SandSparse *first = read_matrix(r, -1);
    bool ok = first != NULL;
    // W has three or five rows a contact and q follows it; M of a global problem is followed by another matrix, H. What
    // comes next tells them apart: a storage is an integer, and q is written with an exponent.
    const char *word = r->at + strspn(r->at, " \t\r\n");
    bool global = ok && strcspn(word, " \t\r\n") == 1;
    size_t rows = (size_t)dimension * (size_t)contacts;
    if (ok && first->rows != first->columns) ok = refuse(r, "a matrix that should be square is not");
    if (ok && global) {
        stored.m = first;
        ok = (stored.h = read_matrix(r, first->rows)) != NULL;
        if (ok && (size_t)stored.h->columns != rows)
            ok = refuse(r, dimension == 3 ? "H has not three columns a contact" : "H has not five columns a contact");
        ok = ok && (stored.f = read_vector(r, (size_t)first->rows)) && (stored.q = read_vector(r, rows));
    } else if (ok) {
        stored.w = first;
        if ((size_t)first->rows != rows)
            ok = refuse(r, dimension == 3 ? "W has not three rows a contact" : "W has not five rows a contact");
        ok = ok && (stored.q = read_vector(r, rows));
    }
    ok = ok && (stored.mu = read_vector(r, (size_t)contacts)) &&
         (dimension == 3 || (stored.mu_r = read_vector(r, (size_t)contacts))) && sand_stored_problem(p, &stored, r->error);
    if (!stored.m && !stored.w) stored.w = first;
    sand_stored_free(&stored);
    return ok;
}

bool sand_siconos_text_load(SandProblem *p, const char *path, SandError *error) {
    Reader r = {.path = path, .error = error};
    FILE *file = fopen(path, "rb");
    if (!file) return sand_fail(error, "%.200s: cannot read: %s", path, strerror(errno));
    long length = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    rewind(file);
    r.text = length >= 0 ? malloc((size_t)length + 1) : NULL;
    bool ok = r.text || sand_fail(error, "%.200s: cannot read it as a whole", path);
    if (ok) r.length = fread(r.text, 1, (size_t)length, file);
    fclose(file);
    if (ok) {
        r.text[r.length] = '\0';
        r.at = r.text;
        if (strlen(r.text) != r.length) ok = sand_fail(error, "%.200s: is no text", path);
    }
    if (ok) {
        ok = read_problem(&r, p);
    }
    free(r.text);
    return ok;
}
