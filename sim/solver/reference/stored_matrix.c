// Completes and checks the matrices of a stored problem, reduces a global problem to a local one by CHOLMOD (UMFPACK where M
// is not symmetric), and converts W to the block matrix of SandMatrix.
#include "sim/solver/reference/stored_matrix.h"

#include "sim/core/array.h"
#include "sim/solver/reference/lu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Relative sizes of the skew part: up to the first it is rounding and removed, beyond the second the halves contradict each
// other. In between it is meant: some time steppers treat gyroscopic terms implicitly.
static const double ROUNDING = 1e-12, CONTRADICTION = 0.01;

void sand_stored_start(cholmod_common *c) {
    cholmod_start(c);
    c->print = 0;
    c->supernodal = CHOLMOD_SUPERNODAL; // LL', which detects that M is not positive definite
}

// --- symmetry ---------------------------------------------------------------------------------------------

// Counts the entries other than zero: above the diagonal, on it, below it.
static void count_halves(const cholmod_sparse *a, size_t count[3]) {
    const int *begin = a->p, *row = a->i;
    const double *value = a->x;
    count[0] = count[1] = count[2] = 0;
    for (int j = 0; j < (int)a->ncol; j++)
        for (int e = begin[j]; e < begin[j + 1]; e++)
            if (value[e] != 0) count[row[e] < j ? 0 : row[e] == j ? 1 : 2]++;
}

// Replaces a matrix of which one half is stored by the whole one. *half tells whether it was; NULL: it was not stored.
static bool complete(cholmod_sparse **a, bool *half, cholmod_common *c) {
    size_t count[3];
    if (!half) return true;
    count_halves(*a, count);
    *half = !count[0] != !count[2];
    if (!*half) return true;
    cholmod_sparse *one = cholmod_copy(*a, count[0] ? 1 : -1, 1, c); // takes this half for both
    cholmod_sparse *whole = one ? cholmod_copy(one, 0, 1, c) : NULL;
    cholmod_free_sparse(&one, c);
    if (!whole) return false;
    cholmod_free_sparse(a, c);
    *a = whole;
    return true;
}

// Completes a matrix, measures the relative size of its skew part, and replaces it by its symmetric part, bit for bit
// symmetric, where the difference is rounding (*asymmetry is then 0).
static bool check_symmetry(const SandStored *s, const char *name, cholmod_sparse **a, bool *half, double *asymmetry,
                           SandError *error) {
    cholmod_common *c = s->common;
    double half_of[2] = {0.5, 0}, minus_half[2] = {-0.5, 0};
    cholmod_sparse *t = NULL, *even = NULL, *odd = NULL;
    bool ok = complete(a, half, c) && (t = cholmod_transpose(*a, 1, c)) &&
              (even = cholmod_add(*a, t, half_of, half_of, 1, 1, c)) &&
              (odd = cholmod_add(*a, t, half_of, minus_half, 1, 1, c));
    if (!ok) sand_fail(error, "%.200s: out of memory for %s", s->path, name);
    double size = ok ? cholmod_norm_sparse(even, 0, c) : 0;
    *asymmetry = ok ? cholmod_norm_sparse(odd, 0, c) / size : 0;
    if (ok && !(size > 0))
        ok = sand_fail(error, "%.200s: %s is zero, so that impulses move nothing and there is nothing to solve", s->path,
                       name);
    if (ok && !(*asymmetry <= CONTRADICTION))
        ok = sand_fail(error, "%.200s: the halves of %s contradict each other, by %.2g of its size: it is not symmetric",
                       s->path, name, *asymmetry);
    if (ok && *asymmetry <= ROUNDING) {
        *asymmetry = 0;
        cholmod_free_sparse(a, c);
        *a = even;
        even = NULL;
    }
    cholmod_free_sparse(&t, c);
    cholmod_free_sparse(&even, c);
    cholmod_free_sparse(&odd, c);
    return ok;
}

// --- a global problem -------------------------------------------------------------------------------------

// M^-1 applied to the columns of a matrix; by Cholesky, or by LU where M is not symmetric.
typedef struct Inverse {
    cholmod_factor *factor;
    SandLu *lu;
} Inverse;

// Factorizes M; its symmetric part must be positive definite.
static bool inverse_make(Inverse *inverse, const SandStored *s, double asymmetry, SandError *error) {
    cholmod_common *c = s->common;
    double half[2] = {0.5, 0};
    cholmod_sparse *m = s->m, *t = cholmod_transpose(m, 1, c), *even = t ? cholmod_add(m, t, half, half, 1, 1, c) : NULL;
    cholmod_sparse *upper = even ? cholmod_copy(even, 1, 1, c) : NULL;
    inverse->factor = upper ? cholmod_analyze(upper, c) : NULL;
    bool ok = inverse->factor != NULL || sand_fail(error, "%.200s: out of memory for M", s->path);
    if (ok) cholmod_factorize(upper, inverse->factor, c);
    if (ok && inverse->factor->minor < inverse->factor->n)
        ok = sand_fail(error, "%.200s: M is not positive definite", s->path);
    if (ok && asymmetry > 0) {
        inverse->lu = sand_lu_create(&(SandLuDef){(int)m->ncol, m->p, m->i, .refinements = 2}, error);
        ok = inverse->lu && sand_lu_factor(inverse->lu, m->x, NULL, error);
    }
    cholmod_free_sparse(&t, c);
    cholmod_free_sparse(&even, c);
    cholmod_free_sparse(&upper, c);
    return ok;
}

// Solves M X = B column by column, and keeps what is not zero.
static cholmod_sparse *solve_columns(SandLu *lu, const cholmod_sparse *b, cholmod_common *c, SandError *error) {
    size_t n = b->nrow;
    double *right = calloc(n + 1, sizeof *right), *x = malloc((n + 1) * sizeof *x);
    cholmod_sparse *out = cholmod_allocate_sparse(n, b->ncol, 4 * b->nzmax + 16, 1, 1, 0, CHOLMOD_REAL, c);
    bool ok = right && x && out;
    int count = 0;
    for (size_t j = 0; ok && j < b->ncol; j++) {
        const int *begin = b->p, *row = b->i;
        for (int e = begin[j]; e < begin[j + 1]; e++) right[row[e]] = ((double *)b->x)[e];
        ok = sand_lu_solve(lu, right, x, error);
        for (int e = begin[j]; e < begin[j + 1]; e++) right[row[e]] = 0;
        ((int *)out->p)[j] = count;
        for (size_t i = 0; ok && i < n; i++) {
            if (x[i] == 0) continue;
            if ((size_t)count == out->nzmax) ok = cholmod_reallocate_sparse(2 * out->nzmax, out, c);
            if (!ok) break;
            ((int *)out->i)[count] = (int)i;
            ((double *)out->x)[count++] = x[i];
        }
    }
    if (ok) ((int *)out->p)[b->ncol] = count;
    free(right);
    free(x);
    if (!ok) cholmod_free_sparse(&out, c);
    return out;
}

// Computes W, and q in place.
static bool reduce(SandStored *s, double asymmetry, double *q, SandError *error) {
    cholmod_common *c = s->common;
    cholmod_sparse *h = s->h, *x = NULL, *transposed = NULL;
    cholmod_dense *f = cholmod_allocate_dense(s->m->nrow, 1, s->m->nrow, CHOLMOD_REAL, c), *v = NULL;
    Inverse inverse = {0};
    bool ok = f || sand_fail(error, "%.200s: out of memory for f", s->path);
    ok = ok && inverse_make(&inverse, s, asymmetry, error);
    if (ok) {
        memcpy(f->x, s->f, s->m->nrow * sizeof *s->f);
        if (inverse.lu) {
            v = cholmod_zeros(s->m->nrow, 1, CHOLMOD_REAL, c);
            ok = v && sand_lu_solve(inverse.lu, s->f, v->x, error);
            x = ok ? solve_columns(inverse.lu, h, c, error) : NULL;
        } else {
            v = cholmod_solve(CHOLMOD_A, inverse.factor, f, c);
            x = cholmod_spsolve(CHOLMOD_A, inverse.factor, h, c);
        }
        transposed = cholmod_transpose(h, 1, c);
        s->w = x && transposed ? cholmod_ssmult(transposed, x, 0, 1, 1, c) : NULL;
        ok = (s->w && v) || sand_fail(error, "%.200s: out of memory for H' M^-1 H", s->path);
    }
    for (size_t j = 0; ok && j < h->ncol; j++)
        for (int e = ((int *)h->p)[j]; e < ((int *)h->p)[j + 1]; e++)
            q[j] += ((double *)h->x)[e] * ((double *)v->x)[((int *)h->i)[e]];
    cholmod_free_sparse(&x, c);
    cholmod_free_sparse(&transposed, c);
    cholmod_free_factor(&inverse.factor, c);
    sand_lu_free(inverse.lu);
    cholmod_free_dense(&f, c);
    cholmod_free_dense(&v, c);
    return ok;
}

// --- bilateral constraints --------------------------------------------------------------------------------

static bool append(const SandStored *s, cholmod_sparse **a, cholmod_sparse *b, bool below, SandError *error) {
    cholmod_sparse *both = below ? cholmod_vertcat(*a, b, 1, s->common) : cholmod_horzcat(*a, b, 1, s->common);
    if (!both) return sand_fail(error, "%.200s: out of memory for bilateral constraints", s->path);
    cholmod_free_sparse(a, s->common);
    *a = both;
    return true;
}

// Puts the rows of bilateral constraints behind those of the contacts: H becomes (H G), W becomes (W V; V' R).
static bool join_constraints(SandStored *s, SandError *error) {
    if (!s->bilateral) return true;
    if (s->m) return append(s, &s->h, s->g, false, error);
    bool half;
    cholmod_sparse *below = cholmod_transpose(s->v, 1, s->common);
    bool ok = (below && complete(&s->w, &half, s->common) && complete(&s->r, &half, s->common)) ||
              sand_fail(error, "%.200s: out of memory for bilateral constraints", s->path);
    ok = ok && append(s, &s->w, s->v, false, error) && append(s, &below, s->r, false, error) &&
         append(s, &s->w, below, true, error);
    cholmod_free_sparse(&below, s->common);
    return ok;
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
static bool fill_pattern(SandMatrix *m, const SandStored *s, const cholmod_sparse *pattern, SandError *error) {
    int contacts = block_count(s), blocks = 0;
    const int *begin = pattern->p, *row = pattern->i;
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
    cholmod_common *c = s->common;
    double one[2] = {1, 0}, zero[2] = {0, 0};
    cholmod_sparse *w = s->w, *t = cholmod_transpose(w, 1, c), *identity = cholmod_speye(w->nrow, w->ncol, CHOLMOD_REAL, c);
    cholmod_sparse *both = t ? cholmod_add(w, t, one, one, 0, 0, c) : NULL;
    cholmod_sparse *pattern = both && identity ? cholmod_add(both, identity, one, zero, 0, 1, c) : NULL;
    m->rows = s->components == 5 ? 6 : 3;
    bool ok = (pattern || sand_fail(error, "%.200s: out of memory for W", s->path)) && fill_pattern(m, s, pattern, error);
    const int *begin = w->p, *row = w->i;
    size_t numbers = ok ? (size_t)m->first[block_count(s)] * (size_t)(m->rows * m->rows) : 0;
    for (size_t k = 0; k < numbers; k++) m->block[k] = 0; // left from another problem
    for (int j = 0; ok && j < (int)w->ncol; j++)
        for (int e = begin[j]; e < begin[j + 1]; e++)
            *entry_of(m, place_of(s, row[e]), place_of(s, j)) = ((double *)w->x)[e];
    for (int i = 0; ok && i < block_count(s); i++)
        for (int e = m->first[i]; e < m->first[i + 1]; e++) m->mirror[e] = find_block(m, m->column[e], i);
    cholmod_free_sparse(&t, c);
    cholmod_free_sparse(&identity, c);
    cholmod_free_sparse(&both, c);
    cholmod_free_sparse(&pattern, c);
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
    cholmod_free_sparse(&stored->w, stored->common);
    cholmod_free_sparse(&stored->m, stored->common);
    cholmod_free_sparse(&stored->h, stored->common);
    cholmod_free_sparse(&stored->v, stored->common);
    cholmod_free_sparse(&stored->r, stored->common);
    cholmod_free_sparse(&stored->g, stored->common);
    free(stored->mu);
    free(stored->mu_r);
    free(stored->s);
    free(stored->q);
    free(stored->f);
}
