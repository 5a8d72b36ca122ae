// Reader of FCLIB files: the HDF5 datasets, the reduction of a global problem to a local one by CHOLMOD, and the conversion
// of W to the block matrix of SandMatrix. Problems outside what the solvers do (bilateral constraints, rolling friction, two
// dimensions) are refused.
#include "sim/solver/reference/fclib.h"

#ifndef SAND_HDF5

bool sand_fclib_load(SandProblem *problem, const char *path, SandError *error) {
    (void)problem;
    return sand_fail(error, "%.200s: this build cannot read HDF5; build where libhdf5-dev is installed", path);
}

#else

#include "sim/core/array.h"

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/cholmod.h>

// A file being read.
typedef struct Reader {
    const char *path;
    const char *group; // fclib_local or fclib_global
    hid_t file;
    cholmod_common common;
    SandError *error;
} Reader;

static bool has(const Reader *r, const char *name) {
    char whole[128];
    snprintf(whole, sizeof whole, "%s/%s", r->group, name);
    return H5Lexists(r->file, whole, H5P_DEFAULT) > 0;
}

// Reads a dataset as ints or doubles into memory that the caller frees. *count receives the number of elements.
static void *read_array(Reader *r, const char *name, hid_t type, size_t size, size_t *count) {
    char whole[128];
    snprintf(whole, sizeof whole, "%s/%s", r->group, name);
    hid_t set = H5Dopen2(r->file, whole, H5P_DEFAULT), space = set >= 0 ? H5Dget_space(set) : -1;
    hssize_t points = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    void *numbers = points >= 0 && points < INT32_MAX ? malloc(((size_t)points + 1) * size) : NULL;
    if (numbers && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) < 0) {
        free(numbers);
        numbers = NULL;
    }
    if (space >= 0) H5Sclose(space);
    if (set >= 0) H5Dclose(set);
    if (!numbers) sand_fail(r->error, "%.200s: %s is missing or is no array of numbers", r->path, whole);
    *count = numbers ? (size_t)points : 0;
    return numbers;
}

static bool read_integer(Reader *r, const char *name, int *value) {
    size_t count;
    int *numbers = read_array(r, name, H5T_NATIVE_INT, sizeof *numbers, &count);
    if (numbers) *value = count ? numbers[0] : 0;
    free(numbers);
    return numbers != NULL;
}

static double *read_vector(Reader *r, const char *name, size_t wanted) {
    size_t count;
    double *numbers = read_array(r, name, H5T_NATIVE_DOUBLE, sizeof *numbers, &count);
    if (numbers && count != wanted) {
        sand_fail(r->error, "%.200s: %s/%s has %zu numbers where %zu are wanted", r->path, r->group, name, count, wanted);
        free(numbers);
        numbers = NULL;
    }
    for (size_t k = 0; numbers && k < wanted; k++)
        if (!isfinite(numbers[k])) {
            sand_fail(r->error, "%.200s: %s/%s has a number that is not finite", r->path, r->group, name);
            free(numbers);
            numbers = NULL;
        }
    return numbers;
}

// Converts a matrix to triplets from compressed columns (nz = -1), compressed rows (nz = -2) or triplets (nz = their
// number).
static bool fill_triplets(Reader *r, const char *name, int nz, const int *p, size_t p_count, const int *i, size_t i_count,
                          const double *x, cholmod_triplet *t) {
    int *rows = t->i, *columns = t->j;
    double *values = t->x;
    bool compressed = nz < 0;
    size_t lines = nz == -1 ? t->ncol : t->nrow, entries = compressed ? 0 : (size_t)nz;
    bool fits = compressed ? p_count >= lines + 1 : p_count >= entries && i_count >= entries;
    for (size_t line = 0; fits && compressed && line < lines; line++) {
        fits = p[line] >= 0 && p[line + 1] >= p[line] && (size_t)p[line + 1] <= i_count;
        for (int e = p[line]; fits && e < p[line + 1]; e++, entries++) {
            rows[entries] = nz == -1 ? i[e] : (int)line;
            columns[entries] = nz == -1 ? (int)line : i[e];
            values[entries] = x[e];
        }
    }
    for (size_t e = 0; fits && !compressed && e < entries; e++) {
        rows[e] = i[e];
        columns[e] = p[e];
        values[e] = x[e];
    }
    for (size_t e = 0; fits && e < entries; e++)
        fits = rows[e] >= 0 && (size_t)rows[e] < t->nrow && columns[e] >= 0 && (size_t)columns[e] < t->ncol &&
               isfinite(values[e]);
    t->nnz = entries;
    return fits || sand_fail(r->error, "%.200s: the entries of %s/%s do not fit its size", r->path, r->group, name);
}

static cholmod_sparse *read_matrix(Reader *r, const char *name) {
    char part[16];
    int m = 0, n = 0, nz = 0;
    size_t p_count = 0, i_count = 0, x_count = 0;
    int *p = NULL, *i = NULL;
    double *x = NULL;
    cholmod_sparse *sparse = NULL;
#define PART(which) (snprintf(part, sizeof part, "%s/%s", name, which), part)
    bool ok = read_integer(r, PART("m"), &m) && read_integer(r, PART("n"), &n) && read_integer(r, PART("nz"), &nz);
    if (ok && (m <= 0 || n <= 0 || nz < -2)) ok = sand_fail(r->error, "%.200s: %s/%s has no size", r->path, r->group, name);
    ok = ok && (p = read_array(r, PART("p"), H5T_NATIVE_INT, sizeof *p, &p_count)) &&
         (i = read_array(r, PART("i"), H5T_NATIVE_INT, sizeof *i, &i_count)) &&
         (x = read_array(r, PART("x"), H5T_NATIVE_DOUBLE, sizeof *x, &x_count));
#undef PART
    if (ok && i_count > x_count) i_count = x_count;
    cholmod_triplet *t = NULL;
    if (ok) t = cholmod_allocate_triplet((size_t)m, (size_t)n, x_count, 0, CHOLMOD_REAL, &r->common);
    if (ok && t && fill_triplets(r, name, nz, p, p_count, i, i_count, x, t)) {
        sparse = cholmod_triplet_to_sparse(t, 0, &r->common);
        if (!sparse) sand_fail(r->error, "%.200s: out of memory for %s/%s", r->path, r->group, name);
    }
    cholmod_free_triplet(&t, &r->common);
    free(p);
    free(i);
    free(x);
    return sparse;
}

// --- the problem ------------------------------------------------------------------------------------------

// Computes W and q of a global problem.
static bool make_local(Reader *r, cholmod_sparse **w, double **q, SandError *error) {
    cholmod_common *c = &r->common;
    cholmod_sparse *m = read_matrix(r, "M"), *h = m ? read_matrix(r, "H") : NULL, *transposed = NULL, *x = NULL,
                   *upper = NULL;
    cholmod_factor *factor = NULL;
    cholmod_dense *f = NULL, *v = NULL;
    bool ok = h != NULL;
    if (ok && (m->nrow != m->ncol || h->nrow != m->nrow))
        ok = sand_fail(error, "%.200s: M is %zu by %zu and H %zu by %zu, which do not fit", r->path, m->nrow, m->ncol,
                       h->nrow, h->ncol);
    double *force = ok ? read_vector(r, "vectors/f", m->nrow) : NULL;
    *q = force ? read_vector(r, "vectors/w", h->ncol) : NULL;
    ok = *q != NULL;
    if (ok) {
        upper = cholmod_copy(m, 1, 1, c);
        factor = upper ? cholmod_analyze(upper, c) : NULL;
        if (factor) cholmod_factorize(upper, factor, c);
        if (!factor || factor->minor < factor->n) ok = sand_fail(error, "%.200s: M is not positive definite", r->path);
    }
    if (ok) {
        f = cholmod_allocate_dense(m->nrow, 1, m->nrow, CHOLMOD_REAL, c);
        if (f) memcpy(f->x, force, m->nrow * sizeof *force);
        v = f ? cholmod_solve(CHOLMOD_A, factor, f, c) : NULL;
        x = cholmod_spsolve(CHOLMOD_A, factor, h, c);
        transposed = cholmod_transpose(h, 1, c);
        *w = x && transposed ? cholmod_ssmult(transposed, x, 0, 1, 1, c) : NULL;
        ok = (*w && v) || sand_fail(error, "%.200s: out of memory for H' M^-1 H", r->path);
    }
    // q = H' v + w
    for (size_t j = 0; ok && j < h->ncol; j++)
        for (int e = ((int *)h->p)[j]; e < ((int *)h->p)[j + 1]; e++)
            (*q)[j] += ((double *)h->x)[e] * ((double *)v->x)[((int *)h->i)[e]];
    cholmod_free_sparse(&m, c);
    cholmod_free_sparse(&h, c);
    cholmod_free_sparse(&upper, c);
    cholmod_free_sparse(&x, c);
    cholmod_free_sparse(&transposed, c);
    cholmod_free_factor(&factor, c);
    cholmod_free_dense(&f, c);
    cholmod_free_dense(&v, c);
    free(force);
    return ok;
}

// Replaces W by (W + W') / 2, which is symmetric in its pattern and bit for bit. Refuses a W that is far from symmetric.
static bool make_symmetric(Reader *r, cholmod_sparse **w, SandProblem *p, SandError *error) {
    const double most = 0.01; // some files come from time steppers with implicit gyroscopic terms
    cholmod_common *c = &r->common;
    double half[2] = {0.5, 0}, minus[2] = {-0.5, 0};
    if ((*w)->nrow != (*w)->ncol || (*w)->nrow % 3)
        return sand_fail(error, "%.200s: W is %zu by %zu, not three rows a contact", r->path, (*w)->nrow, (*w)->ncol);
    cholmod_sparse *t = cholmod_transpose(*w, 1, c);
    cholmod_sparse *even = t ? cholmod_add(*w, t, half, half, 1, 1, c) : NULL;
    cholmod_sparse *odd = t ? cholmod_add(*w, t, half, minus, 1, 1, c) : NULL;
    bool ok = even && odd;
    if (!ok) sand_fail(error, "%.200s: out of memory for W", r->path);
    double part = ok ? cholmod_norm_sparse(odd, 0, c) / cholmod_norm_sparse(even, 0, c) : 0;
    if (ok && !(part <= most)) ok = sand_fail(error, "%.200s: W is not symmetric", r->path);
    if (part > 1e-9)
        snprintf(p->note, sizeof p->note, "W is symmetric only to %.1g of its size; its symmetric part is taken", part);
    cholmod_free_sparse(&t, c);
    cholmod_free_sparse(&odd, c);
    cholmod_free_sparse(ok ? w : &even, c);
    if (ok) *w = even;
    return ok;
}

// Gathers the 3 x 3 blocks of W by rows. W is symmetric, so its columns serve as rows.
static bool fill_matrix(SandMatrix *m, const cholmod_sparse *w, SandError *error) {
    int contacts = (int)(w->nrow / 3);
    const int *begin = w->p, *row = w->i;
    const double *value = w->x;
    if (!SAND_GROW(m->first, m->first_capacity, contacts + 1, "matrix", error)) return false;
    int *slot = calloc((size_t)contacts, sizeof *slot), blocks = 0; // slot: index plus 1 of this row's block in each column
    bool ok = slot || sand_fail(error, "out of memory for a matrix");
    for (int i = 0; ok && i < contacts; i++) {
        m->first[i] = blocks;
        for (int e = begin[3 * i]; ok && e < begin[3 * i + 3]; e++) {
            int k = row[e] / 3;
            if (slot[k] > m->first[i]) continue;
            ok = SAND_GROW(m->column, m->column_capacity, blocks + 1, "matrix", error);
            if (ok) {
                m->column[blocks++] = k;
                slot[k] = blocks;
            }
        }
        // Sort by column, so that sums are always added in the same order.
        for (int a = m->first[i] + 1; a < blocks; a++)
            for (int b = a; b > m->first[i] && m->column[b] < m->column[b - 1]; b--) {
                int swap = m->column[b];
                m->column[b] = m->column[b - 1];
                m->column[b - 1] = swap;
            }
        ok = ok && SAND_GROW(m->block, m->block_capacity, 9 * (size_t)blocks + 1, "matrix", error);
        for (int b = m->first[i]; ok && b < blocks; b++) slot[m->column[b]] = b + 1;
        for (int k = 0; ok && k < 3; k++)
            for (int e = begin[3 * i + k]; e < begin[3 * i + k + 1]; e++)
                m->block[9 * (slot[row[e] / 3] - 1) + 3 * k + row[e] % 3] = value[e];
    }
    m->first[contacts] = blocks;
    free(slot);
    return ok;
}

// Creates the bodies and contacts: one body per contact, whose velocity is minus that of the contact, and one at rest. See
// SandMatrix.
static bool fill_problem(SandProblem *p, const double *q, const double *mu, int contacts, SandError *error) {
    if (!SAND_GROW(p->bodies, p->body_capacity, contacts + 1, "bodies", error) ||
        !SAND_GROW(p->contacts, p->contact_capacity, contacts, "contacts", error) ||
        !SAND_GROW(p->start, p->start_capacity, contacts, "contacts", error))
        return false;
    p->contact_count = p->dynamic_count = contacts;
    p->body_count = contacts + 1;
    p->step = 1;
    p->recovery = 0;
    p->radial = false;
    for (int i = 0; i <= contacts; i++) p->bodies[i] = (SandProblemBody){0};
    for (int i = 0; i < contacts; i++) {
        p->bodies[i].inverse_mass = 1;
        p->bodies[i].velocity = v3_make(-q[3 * i], -q[3 * i + 1], -q[3 * i + 2]);
        p->contacts[i] = (SandContact){.a = i, .b = contacts, .normal = {1, 0, 0}, .mu = mu[i]};
        p->start[i] = v3_make(0, 0, 0);
    }
    return true;
}

static bool read_problem(Reader *r, SandProblem *p, SandError *error) {
    static const char *const kinds[] = {"fclib_local", "fclib_global"};
    static const char *const bilateral[] = {"V", "R", "G", "vectors/s", "vectors/b"};
    int dimension = 0;
    for (int k = 0; k < 2 && !r->group; k++)
        if (H5Lexists(r->file, kinds[k], H5P_DEFAULT) > 0) r->group = kinds[k];
    if (!r->group) {
        bool rolling = H5Lexists(r->file, "fclib_global_rolling", H5P_DEFAULT) > 0 ||
                       H5Lexists(r->file, "fclib_local_rolling", H5P_DEFAULT) > 0;
        return rolling ? sand_fail(error,
                                   "%.200s: a rolling friction problem (five components a contact), which is not done here",
                                   r->path)
                       : sand_fail(error, "%.200s: has no FCLIB problem, neither fclib_local nor fclib_global", r->path);
    }
    for (size_t k = 0; k < sizeof bilateral / sizeof *bilateral; k++)
        if (has(r, bilateral[k]))
            return sand_fail(error, "%.200s: has bilateral constraints (%s), which are not done here", r->path,
                             bilateral[k]);
    if (!read_integer(r, "spacedim", &dimension)) return false;
    if (dimension != 3) return sand_fail(error, "%.200s: is in %d dimensions, not 3", r->path, dimension);

    cholmod_sparse *w = NULL;
    double *q = NULL, *mu = NULL;
    bool ok;
    if (!strcmp(r->group, "fclib_local")) {
        w = read_matrix(r, "W");
        q = w ? read_vector(r, "vectors/q", w->nrow) : NULL;
        ok = q != NULL;
    } else {
        ok = make_local(r, &w, &q, error);
    }
    ok = ok && make_symmetric(r, &w, p, error);
    int contacts = ok ? (int)(w->nrow / 3) : 0;
    mu = ok ? read_vector(r, "vectors/mu", (size_t)contacts) : NULL;
    ok = mu != NULL;
    for (int i = 0; ok && i < contacts; i++)
        if (mu[i] < 0) ok = sand_fail(error, "%.200s: contact %d has a negative mu", r->path, i);
    p->matrix = ok ? calloc(1, sizeof *p->matrix) : NULL;
    if (ok && !p->matrix) ok = sand_fail(error, "out of memory for a matrix");
    ok = ok && fill_matrix(p->matrix, w, error) && fill_problem(p, q, mu, contacts, error);
    cholmod_free_sparse(&w, &r->common);
    free(q);
    free(mu);
    return ok;
}

bool sand_fclib_load(SandProblem *p, const char *path, SandError *error) {
    Reader r = {.path = path, .error = error};
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); // keeps HDF5 from printing its error stack
    r.file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (r.file < 0) return sand_fail(error, "%.200s: is no HDF5 file, or is damaged", path);
    cholmod_start(&r.common);
    r.common.print = 0;
    r.common.supernodal = CHOLMOD_SUPERNODAL; // LL', which detects that M is not positive definite
    bool ok = read_problem(&r, p, error);
    cholmod_finish(&r.common);
    H5Fclose(r.file);
    return ok;
}

#endif
