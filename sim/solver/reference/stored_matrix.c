// SPDX-License-Identifier: MIT
// Completes and checks the matrices of a stored problem, reduces a global problem to a local one, and converts W to the
// block matrix of SandMatrix.
#include "sim/solver/reference/stored_matrix.h"

#include "sim/core/array.h"
#include "sim/solver/reference/factors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Relative sizes of the skew part: up to the first it is rounding and removed, beyond the second the halves contradict each
// other. In between it is meant: some time steppers treat gyroscopic terms implicitly.
static const double ROUNDING = 1e-12, CONTRADICTION = 0.01;

// --- symmetry ---------------------------------------------------------------------------------------------

// Counts the entries other than zero: above the diagonal, on it, below it.
static void count_halves(const SandSparse *a, size_t count[3]) {
    count[0] = count[1] = count[2] = 0;
    for (int j = 0; j < a->columns; j++)
        for (int e = a->begin[j]; e < a->begin[j + 1]; e++)
            if (a->value[e] != 0) count[a->row[e] < j ? 0 : a->row[e] == j ? 1 : 2]++;
}

static bool replace(SandSparse **a, SandSparse *by) {
    if (!by) return false;
    sand_sparse_free(*a);
    *a = by;
    return true;
}

// Replaces a matrix of which one half is stored by the whole one. *half tells whether it was; NULL: it was not stored.
static bool complete(SandSparse **a, bool *half) {
    size_t count[3];
    if (!half) return true;
    count_halves(*a, count);
    *half = !count[0] != !count[2];
    if (!*half) return true;
    SandSparse *mirror = sand_sparse_transpose(*a);
    for (int j = 0; mirror && j < mirror->columns; j++)
        for (int e = mirror->begin[j]; e < mirror->begin[j + 1]; e++)
            if (mirror->row[e] == j) mirror->value[e] = 0; // the diagonal once
    SandSparse *whole = sand_sparse_add(*a, mirror, 1, 1);
    sand_sparse_free(mirror);
    return replace(a, whole);
}

// Completes a matrix, measures the relative size of its skew part, and replaces it by its symmetric part, bit for bit
// symmetric, where the difference is rounding (*asymmetry is then 0).
static bool check_symmetry(const SandStored *s, const char *name, SandSparse **a, bool *half, double *asymmetry,
                           SandError *error) {
    SandSparse *t = NULL, *even = NULL, *odd = NULL;
    double size = 0, skew = 0;
    bool ok = complete(a, half) && (t = sand_sparse_transpose(*a)) && (even = sand_sparse_add(*a, t, 0.5, 0.5)) &&
              (odd = sand_sparse_add(*a, t, 0.5, -0.5)) && (size = sand_sparse_norm(even)) >= 0 &&
              (skew = sand_sparse_norm(odd)) >= 0;
    if (!ok) sand_fail(error, "%.200s: out of memory for %s", s->path, name);
    *asymmetry = ok ? skew / size : 0;
    if (ok && !(size > 0))
        ok = sand_fail(error, "%.200s: %s is zero, so that impulses move nothing and there is nothing to solve", s->path,
                       name);
    if (ok && !(*asymmetry <= CONTRADICTION))
        ok = sand_fail(error, "%.200s: the halves of %s contradict each other, by %.2g of its size: it is not symmetric",
                       s->path, name, *asymmetry);
    if (ok && *asymmetry <= ROUNDING) {
        *asymmetry = 0;
        replace(a, even);
        even = NULL;
    }
    sand_sparse_free(t);
    sand_sparse_free(even);
    sand_sparse_free(odd);
    return ok;
}

// --- a global problem -------------------------------------------------------------------------------------

// M and its factors: of its symmetric part, where that is all of it.
typedef struct Inverse {
    SandSparse *even;
    SandFactors *factors;
} Inverse;

static void inverse_free(Inverse *inverse) {
    sand_factors_free(inverse->factors);
    sand_sparse_free(inverse->even);
}

static bool factor(Inverse *inverse, const SandStored *s, SandFactorsKind kind, const SandSparse *m, SandError *error) {
    bool definite = kind == SAND_FACTORS_DEFINITE;
    sand_factors_free(inverse->factors);
    SandFactorsDef def = {kind, m->columns, m->begin, m->row, .refinements = definite ? 0 : 2};
    inverse->factors = sand_factors_create(&def, error);
    if (!inverse->factors) return false;
    return sand_factors_factor(inverse->factors, m->value) ||
           sand_fail(error, "%.200s: M is %s", s->path, definite ? "not positive definite" : "singular");
}

// Factorizes M; its symmetric part must be positive definite.
static bool inverse_make(Inverse *inverse, const SandStored *s, double asymmetry, SandError *error) {
    SandSparse *t = sand_sparse_transpose(s->m);
    inverse->even = sand_sparse_add(s->m, t, 0.5, 0.5);
    sand_sparse_free(t);
    if (!inverse->even) return sand_fail(error, "%.200s: out of memory for M", s->path);
    return factor(inverse, s, SAND_FACTORS_DEFINITE, inverse->even, error) &&
           (asymmetry == 0 || factor(inverse, s, SAND_FACTORS_GENERAL, s->m, error));
}

// Solves M X = B column by column, and keeps what is not zero.
static SandSparse *solve_columns(Inverse *inverse, const SandSparse *b, SandError *error) {
    size_t n = (size_t)b->rows, count = 0, capacity = 0;
    double *right = calloc(2 * n + 1, sizeof *right), *x = right + n;
    SandTriplet *entries = NULL;
    bool ok = right != NULL;
    for (int j = 0; ok && j < b->columns; j++) {
        for (int e = b->begin[j]; e < b->begin[j + 1]; e++) right[b->row[e]] = b->value[e];
        sand_factors_solve(inverse->factors, right, x);
        for (int e = b->begin[j]; e < b->begin[j + 1]; e++) right[b->row[e]] = 0;
        ok = SAND_GROW(entries, capacity, count + n, "a matrix", error);
        for (size_t i = 0; ok && i < n; i++)
            if (x[i] != 0) entries[count++] = (SandTriplet){(int)i, j, x[i]};
    }
    SandSparse *out = ok ? sand_sparse_from_triplets(b->rows, b->columns, entries, count) : NULL;
    free(right);
    sand_free(entries);
    return out;
}

// Computes W, and q in place.
static bool reduce(SandStored *s, double asymmetry, double *q, SandError *error) {
    SandSparse *h = s->h, *x = NULL, *transposed = sand_sparse_transpose(h);
    double *v = malloc(((size_t)s->m->rows + 1) * sizeof *v);
    Inverse inverse = {0};
    bool ok = inverse_make(&inverse, s, asymmetry, error);
    if (ok && v) {
        sand_factors_solve(inverse.factors, s->f, v);
        x = solve_columns(&inverse, h, error);
        s->w = sand_sparse_multiply(transposed, x);
    }
    if (ok) ok = s->w || sand_fail(error, "%.200s: out of memory for H' M^-1 H", s->path);
    for (int j = 0; ok && j < h->columns; j++)
        for (int e = h->begin[j]; e < h->begin[j + 1]; e++) q[j] += h->value[e] * v[h->row[e]];
    sand_sparse_free(x);
    sand_sparse_free(transposed);
    inverse_free(&inverse);
    free(v);
    return ok;
}

// --- bilateral constraints --------------------------------------------------------------------------------

// Puts the rows of bilateral constraints behind those of the contacts: H becomes (H G), W becomes (W V; V' R).
static bool join_constraints(SandStored *s, SandError *error) {
    if (!s->bilateral) return true;
    bool half, ok;
    if (s->m) {
        ok = replace(&s->h, sand_sparse_beside(s->h, s->g));
    } else {
        ok = complete(&s->w, &half) && complete(&s->r, &half);
        SandSparse *transposed = sand_sparse_transpose(s->v), *above = sand_sparse_beside(s->w, s->v);
        SandSparse *below = sand_sparse_beside(transposed, s->r);
        ok = ok && replace(&s->w, sand_sparse_above(above, below));
        sand_sparse_free(transposed);
        sand_sparse_free(above);
        sand_sparse_free(below);
    }
    return ok || sand_fail(error, "%.200s: out of memory for bilateral constraints", s->path);
}

// --- the problem ------------------------------------------------------------------------------------------

// Blocks of rows: one for each contact, and then one for three rows of bilateral constraints.
static int block_count(const SandStored *s) { return s->contacts + (s->bilateral + 2) / 3; }

// The first stored row of a block, and of the end behind all.
static int first_row(const SandStored *s, int block) {
    int rows = s->components * s->contacts;
    if (block <= s->contacts) return s->components * block;
    return rows + (block == block_count(s) ? s->bilateral : 3 * (block - s->contacts));
}

// Which row of its block a stored row is. Torques are the last three rows of a block, and there is none about the normal;
// two bilateral rows alone are those across an axis.
typedef struct Place {
    int block, row;
} Place;
static Place place_of(const SandStored *s, int row) {
    int rows = s->components * s->contacts;
    if (row < rows) {
        Place at = {row / s->components, row % s->components};
        if (at.row > 2) at.row++;
        return at;
    }
    Place at = {s->contacts + (row - rows) / 3, (row - rows) % 3};
    if (first_row(s, at.block + 1) - first_row(s, at.block) == 2) at.row++;
    return at;
}

// Finds the block of row i in column k, or -1.
static int find_block(const SandMatrix *m, int i, int k) {
    int low = m->first[i], high = m->first[i + 1] - 1;
    while (low <= high) {
        int middle = low + (high - low) / 2;
        if (m->column[middle] == k) return middle;
        if (m->column[middle] < k)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return -1;
}

static int compare_ints(const void *a, const void *b) {
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

// Lists the blocks of every row: those where W or its transpose has an entry, and the diagonal.
static bool fill_pattern(SandMatrix *m, const SandStored *s, const SandSparse *pattern, SandError *error) {
    int contacts = block_count(s), blocks = 0;
    const int *begin = pattern->begin, *row = pattern->row;
    int *seen = calloc((size_t)contacts, sizeof *seen); // the last row, plus 1, that listed this column
    bool ok = (seen || sand_fail(error, "out of memory for a matrix")) &&
              SAND_GROW(m->first, m->first_capacity, contacts + 1, "matrix", error);
    for (int i = 0; ok && i < contacts; i++) {
        m->first[i] = blocks;
        for (int e = begin[first_row(s, i)]; ok && e < begin[first_row(s, i + 1)]; e++) {
            int k = place_of(s, row[e]).block;
            if (seen[k] == i + 1) continue;
            seen[k] = i + 1;
            ok = SAND_GROW(m->column, m->column_capacity, blocks + 1, "matrix", error);
            if (ok) m->column[blocks++] = k;
        }
        // Sorted by column, so that sums are always added in the same order.
        if (ok) qsort(m->column + m->first[i], (size_t)(blocks - m->first[i]), sizeof *m->column, compare_ints);
    }
    if (ok) m->first[contacts] = blocks;
    free(seen);
    return ok && SAND_GROW(m->block, m->block_capacity, (size_t)(m->rows * m->rows) * (size_t)blocks + 1, "matrix", error) &&
           SAND_GROW(m->mirror, m->mirror_capacity, blocks + 1, "matrix", error);
}

static double *entry_of(const SandMatrix *m, Place row, Place column) {
    size_t block = (size_t)find_block(m, row.block, column.block), rows = (size_t)m->rows;
    return m->block + rows * (rows * block + (size_t)row.row) + column.row;
}

static bool fill_matrix(SandMatrix *m, const SandStored *s, SandError *error) {
    SandSparse *w = s->w, *t = sand_sparse_transpose(w), *identity = sand_sparse_identity(w->rows);
    SandSparse *both = sand_sparse_add(w, t, 1, 1), *pattern = sand_sparse_add(both, identity, 1, 1);
    m->rows = s->components == 5 ? 6 : 3;
    bool ok = (pattern || sand_fail(error, "%.200s: out of memory for W", s->path)) && fill_pattern(m, s, pattern, error);
    size_t numbers = ok ? (size_t)m->first[block_count(s)] * (size_t)(m->rows * m->rows) : 0;
    for (size_t k = 0; k < numbers; k++) m->block[k] = 0; // left from another problem
    for (int j = 0; ok && j < w->columns; j++)
        for (int e = w->begin[j]; e < w->begin[j + 1]; e++)
            *entry_of(m, place_of(s, w->row[e]), place_of(s, j)) = w->value[e];
    for (int i = 0; ok && i < block_count(s); i++)
        for (int e = m->first[i]; e < m->first[i + 1]; e++) m->mirror[e] = find_block(m, m->column[e], i);
    sand_sparse_free(t);
    sand_sparse_free(identity);
    sand_sparse_free(both);
    sand_sparse_free(pattern);
    return ok;
}

// W = H' M^-1 H has no negative diagonal.
static bool check_diagonal(const SandMatrix *m, const SandStored *s, SandError *error) {
    for (int row = 0; row < first_row(s, block_count(s)); row++) {
        double d = *entry_of(m, place_of(s, row), place_of(s, row));
        if (!(d >= 0))
            return sand_fail(error, "%.200s: entry %d of W's diagonal is %g; it is not positive semidefinite", s->path, row,
                             d);
    }
    return true;
}

// The rows of bilateral constraints, three to a block; the last block may have one, along its axis, or two, across it.
static bool fill_constraints(SandProblem *p, const SandStored *s, SandError *error) {
    if (!sand_problem_reserve_joints(p, p->contact_count - s->contacts, error)) return false;
    for (int k = 0; k < p->joint_count; k++) {
        int rows = first_row(s, s->contacts + k + 1) - first_row(s, s->contacts + k);
        double along = rows == 2 ? 0 : INFINITY;
        p->joint[s->contacts + k] = k;
        p->joints[k] = (SandJointRows){.low = -along, .high = along, .across = rows == 1 ? 0 : INFINITY};
    }
    return true;
}

// Creates the bodies and contacts: one body per contact, whose velocity is minus that of the contact, and one at rest. See
// SandMatrix.
static bool fill_problem(SandProblem *p, const SandStored *s, const double *q, SandError *error) {
    int contacts = block_count(s);
    p->rolls = s->components == 5;
    if (!SAND_GROW(p->bodies, p->body_capacity, contacts + 1, "bodies", error) ||
        !SAND_GROW(p->contacts, p->contact_capacity, contacts, "contacts", error) ||
        !SAND_GROW(p->start, p->start_capacity, 2 * contacts, "contacts", error))
        return false;
    p->contact_count = p->dynamic_count = contacts;
    p->body_count = contacts + 1;
    p->step = 1;
    p->recovery = (SandRecovery){0};
    p->radial = false;
    for (int i = 0; i <= contacts; i++) p->bodies[i] = (SandProblemBody){0};
    for (int i = 0; i < contacts; i++) {
        p->bodies[i].inverse_mass = 1;
        bool constraint = i >= s->contacts;
        double mu = constraint ? 0 : s->mu[i], rolling = constraint || !p->rolls ? 0 : s->mu_r[i];
        double u[6] = {0};
        for (int row = first_row(s, i); row < first_row(s, i + 1); row++) u[place_of(s, row).row] = -q[row];
        p->bodies[i].velocity = v3_make(u[0], u[1], u[2]);
        p->bodies[i].spin = v3_make(u[3], u[4], u[5]);
        p->contacts[i] = (SandContact){.a = i, .b = contacts, .normal = {1, 0, 0}, .mu = mu, .rolling = rolling};
        p->start[i] = p->start[contacts + i] = v3_make(0, 0, 0);
    }
    return fill_constraints(p, s, error);
}

// Says in a sentence what is solved.
static void write_note(SandProblem *p, const SandStored *s, bool half) {
    char symmetry[48] = "symmetric";
    if (p->matrix->asymmetry > 0) snprintf(symmetry, sizeof symmetry, "symmetric only to %.1g", p->matrix->asymmetry);
    char constraints[48] = "";
    if (s->bilateral) snprintf(constraints, sizeof constraints, ", %d bilateral rows", s->bilateral);
    snprintf(p->note, sizeof p->note, "%s, %s%s%s", s->m ? "H' M^-1 H" : "W as stored", symmetry, constraints,
             !half  ? ""
             : s->m ? "; the file has one half of M"
                    : "; the file has one half of it");
}

bool sand_stored_problem(SandProblem *p, SandStored *s, SandError *error) {
    bool half = false, global = s->m != NULL;
    double asymmetry = 0;
    for (int i = 0; i < s->contacts; i++)
        if (!(s->mu[i] >= 0) || (s->mu_r && !(s->mu_r[i] >= 0)))
            return sand_fail(error, "%.200s: contact %d has a negative mu", s->path, i);
    size_t own = (size_t)s->components * (size_t)s->contacts, rows = own + (size_t)s->bilateral;
    double *q = malloc((rows + 1) * sizeof *q);
    if (!q) return sand_fail(error, "%.200s: out of memory for q", s->path);
    memcpy(q, s->q, own * sizeof *q);
    if (s->bilateral) memcpy(q + own, s->s, (size_t)s->bilateral * sizeof *q);
    bool ok = join_constraints(s, error);
    ok = ok && (!global || (check_symmetry(s, "M", &s->m, &half, &asymmetry, error) && reduce(s, asymmetry, q, error)));
    ok = ok && check_symmetry(s, "W", &s->w, global ? NULL : &half, &asymmetry, error);
    if (ok && !p->matrix) p->matrix = calloc(1, sizeof *p->matrix);
    if (ok && !p->matrix) ok = sand_fail(error, "out of memory for a matrix");
    ok = ok && fill_matrix(p->matrix, s, error) && check_diagonal(p->matrix, s, error) && fill_problem(p, s, q, error);
    if (ok) {
        p->matrix->asymmetry = asymmetry;
        write_note(p, s, half);
    }
    free(q);
    return ok;
}

void sand_stored_free(SandStored *stored) {
    sand_sparse_free(stored->w);
    sand_sparse_free(stored->m);
    sand_sparse_free(stored->h);
    sand_sparse_free(stored->v);
    sand_sparse_free(stored->r);
    sand_sparse_free(stored->g);
    free(stored->mu);
    free(stored->mu_r);
    free(stored->s);
    free(stored->q);
    free(stored->f);
}
