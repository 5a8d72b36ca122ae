// SPDX-License-Identifier: MIT
// Reader of FCLIB files: the HDF5 datasets; stored_matrix.c makes a problem of them. Problems in two dimensions are refused.
#include "sim/solver/reference/fclib.h"

#ifndef SAND_HDF5

bool sand_fclib_load(SandProblem *problem, const char *path, SandError *error) {
    (void)problem;
    return sand_fail(error, "%.200s: this build cannot read HDF5; build where libhdf5-dev is installed", path);
}

#else

#include "sim/solver/reference/stored_matrix.h"

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A file being read.
typedef struct Reader {
    const char *path;
    const char *group; // fclib_local or fclib_global
    hid_t file;
    SandError *error;
} Reader;

static bool has(const Reader *r, const char *name) {
    char whole[128];
    snprintf(whole, sizeof whole, "%s/%s", r->group, name);
    return H5Lexists(r->file, whole, H5P_DEFAULT) > 0;
}

// Whether the file holds as many bytes as the extent of a dataset promises. A chunked dataset may claim any extent without
// storing a byte; what is compressed may grow by 1032 at most, the limit of deflate.
static bool is_stored(const Reader *r, hid_t set, uint64_t bytes) {
    const uint64_t deflate = 1032;
    hsize_t file = 0, stored = H5Dget_storage_size(set);
    hid_t list = H5Dget_create_plist(set);
    bool filtered = H5Pget_nfilters(list) > 0;
    bool inside = H5Pget_layout(list) != H5D_VIRTUAL && H5Pget_external_count(list) == 0; // no other files
    H5Pclose(list);
    return inside && H5Fget_filesize(r->file, &file) >= 0 && stored <= file &&
           (filtered ? bytes / deflate : bytes) <= stored;
}

// Reads a dataset as ints or doubles into memory that the caller frees. *count receives the number of elements.
static void *read_array(Reader *r, const char *name, hid_t type, size_t size, size_t *count) {
    char whole[128];
    snprintf(whole, sizeof whole, "%s/%s", r->group, name);
    hid_t set = H5Dopen2(r->file, whole, H5P_DEFAULT), space = set >= 0 ? H5Dget_space(set) : -1;
    hid_t kept = set >= 0 ? H5Dget_type(set) : -1;
    hssize_t points = space >= 0 && kept >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    bool held = points >= 0 && points < INT32_MAX && is_stored(r, set, (uint64_t)points * H5Tget_size(kept));
    void *numbers = held ? malloc(((size_t)points + 1) * size) : NULL;
    if (numbers && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) < 0) {
        free(numbers);
        numbers = NULL;
    }
    if (kept >= 0) H5Tclose(kept);
    if (space >= 0) H5Sclose(space);
    if (set >= 0) H5Dclose(set);
    if (points >= 0 && !held)
        sand_fail(r->error, "%.200s: %s promises %lld numbers, which the file does not hold", r->path, whole,
                  (long long)points);
    else if (!numbers)
        sand_fail(r->error, "%.200s: %s is missing or is no array of numbers", r->path, whole);
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

enum { ANY = -1 }; // length of a vector

// Reads a vector of `wanted` numbers, or of ANY; *count receives how many.
static double *read_vector(Reader *r, const char *name, size_t wanted, size_t *count) {
    double *numbers = read_array(r, name, H5T_NATIVE_DOUBLE, sizeof *numbers, count);
    bool ok = numbers != NULL;
    if (ok && wanted != (size_t)ANY && *count != wanted)
        ok = sand_fail(r->error, "%.200s: %s/%s has %zu numbers where %zu are wanted", r->path, r->group, name, *count,
                       wanted);
    for (size_t k = 0; ok && k < *count; k++)
        if (!isfinite(numbers[k]))
            ok = sand_fail(r->error, "%.200s: %s/%s has a number that is not finite", r->path, r->group, name);
    if (!ok) {
        free(numbers);
        numbers = NULL;
    }
    return numbers;
}

// Converts a matrix to triplets from compressed columns (nz = -1), compressed rows (nz = -2) or triplets (nz = their
// number). *count receives how many there are.
static bool fill_triplets(Reader *r, const char *name, size_t rows, size_t columns, int nz, const int *p, size_t p_count,
                          const int *i, size_t i_count, const double *x, SandTriplet *t, size_t *count) {
    bool compressed = nz < 0;
    size_t lines = nz == -1 ? columns : rows, entries = compressed ? 0 : (size_t)nz;
    bool fits = compressed ? p_count >= lines + 1 : p_count >= entries && i_count >= entries;
    for (size_t line = 0; fits && compressed && line < lines; line++) {
        fits = p[line] >= 0 && p[line + 1] >= p[line] && (size_t)p[line + 1] <= i_count;
        for (int e = p[line]; fits && e < p[line + 1]; e++, entries++)
            t[entries] = nz == -1 ? (SandTriplet){i[e], (int)line, x[e]} : (SandTriplet){(int)line, i[e], x[e]};
    }
    for (size_t e = 0; fits && !compressed && e < entries; e++) t[e] = (SandTriplet){i[e], p[e], x[e]};
    for (size_t e = 0; fits && e < entries; e++)
        fits = t[e].row >= 0 && (size_t)t[e].row < rows && t[e].column >= 0 && (size_t)t[e].column < columns &&
               isfinite(t[e].value);
    *count = entries;
    return fits || sand_fail(r->error, "%.200s: the entries of %s/%s do not fit its size", r->path, r->group, name);
}

// Reads a matrix, whose size must be this.
static SandSparse *read_matrix(Reader *r, const char *name, size_t rows, size_t columns) {
    char part[16];
    int m = 0, n = 0, nz = 0;
    size_t p_count = 0, i_count = 0, x_count = 0;
    int *p = NULL, *i = NULL;
    double *x = NULL;
    SandSparse *sparse = NULL;
#define PART(which) (snprintf(part, sizeof part, "%s/%s", name, which), part)
    bool ok = read_integer(r, PART("m"), &m) && read_integer(r, PART("n"), &n) && read_integer(r, PART("nz"), &nz);
    if (ok && (m < 0 || n < 0 || (size_t)m != rows || (size_t)n != columns || nz < -2))
        ok = sand_fail(r->error, "%.200s: %s/%s is %d by %d where the vectors ask for %zu by %zu", r->path, r->group, name,
                       m, n, rows, columns);
    ok = ok && (p = read_array(r, PART("p"), H5T_NATIVE_INT, sizeof *p, &p_count)) &&
         (i = read_array(r, PART("i"), H5T_NATIVE_INT, sizeof *i, &i_count)) &&
         (x = read_array(r, PART("x"), H5T_NATIVE_DOUBLE, sizeof *x, &x_count));
#undef PART
    if (ok && i_count > x_count) i_count = x_count;
    SandTriplet *t = ok ? malloc((x_count + 1) * sizeof *t) : NULL;
    size_t count;
    bool filled = t && fill_triplets(r, name, rows, columns, nz, p, p_count, i, i_count, x, t, &count);
    if (filled) sparse = sand_sparse_from_triplets(m, n, t, count);
    if (ok && (!t || (filled && !sparse))) sand_fail(r->error, "%.200s: out of memory for %s/%s", r->path, r->group, name);
    free(t);
    free(p);
    free(i);
    free(x);
    return sparse;
}

// --- the problem ------------------------------------------------------------------------------------------

// Reads the matrices and the vector of bilateral constraints, where there are any: V, R and s of a local problem, G and b of
// a global one.
static bool read_constraints(Reader *r, SandStored *stored, size_t rows, size_t dofs) {
    bool global = stored->m != NULL;
    const char *parts[3] = {global ? "G" : "V", global ? "G" : "R", global ? "vectors/b" : "vectors/s"};
    int found = 0;
    for (int k = 0; k < 3; k++) found += has(r, parts[k]);
    if (found == 0) return true;
    if (found < 3)
        return sand_fail(r->error, "%.200s: of its bilateral constraints %s is missing", r->path,
                         !has(r, parts[0])   ? parts[0]
                         : !has(r, parts[1]) ? parts[1]
                                             : parts[2]);
    size_t count = 0;
    stored->s = read_vector(r, parts[2], ANY, &count);
    stored->bilateral = (int)count;
    if (!stored->s || count == 0) return stored->s != NULL;
    if (global) return (stored->g = read_matrix(r, "G", dofs, count)) != NULL;
    return (stored->v = read_matrix(r, "V", rows, count)) && (stored->r = read_matrix(r, "R", count, count));
}

// The group of the problem, which says what kind it is.
static bool find_group(Reader *r) {
    static const char *const kinds[] = {"fclib_local", "fclib_global", "fclib_local_rolling", "fclib_global_rolling"};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds && !r->group; k++)
        if (H5Lexists(r->file, kinds[k], H5P_DEFAULT) > 0) r->group = kinds[k];
    return r->group || sand_fail(r->error, "%.200s: has no FCLIB problem, neither fclib_local nor fclib_global", r->path);
}

static bool read_problem(Reader *r, SandProblem *p, SandError *error) {
    int dimension = 0;
    if (!find_group(r) || !read_integer(r, "spacedim", &dimension)) return false;
    bool global = strstr(r->group, "global") != NULL, rolling = strstr(r->group, "rolling") != NULL;
    int components = rolling ? 5 : 3;
    if (dimension != components)
        return sand_fail(error, "%.200s: is in %d dimensions, not %d", r->path, dimension, components);

    // The vectors come first: their lengths are what the sizes of the matrices must agree with.
    size_t contacts = 0, dofs = 0;
    SandStored stored = {.path = r->path, .components = components};
    bool ok = (stored.mu = read_vector(r, "vectors/mu", ANY, &contacts)) != NULL;
    size_t rows = (size_t)components * contacts;
    stored.contacts = (int)contacts;
    if (ok && contacts == 0) ok = sand_fail(error, "%.200s: has no contacts, so that there is nothing to solve", r->path);
    ok = ok && (stored.q = read_vector(r, global ? "vectors/w" : "vectors/q", rows, &(size_t){0})) &&
         (!rolling || (stored.mu_r = read_vector(r, "vectors/mu_r", contacts, &(size_t){0}))) &&
         (!global || (stored.f = read_vector(r, "vectors/f", ANY, &dofs)));
    if (ok && global)
        ok = (stored.m = read_matrix(r, "M", dofs, dofs)) && (stored.h = read_matrix(r, "H", dofs, rows));
    else if (ok)
        ok = (stored.w = read_matrix(r, "W", rows, rows)) != NULL;
    ok = ok && read_constraints(r, &stored, rows, dofs) && sand_stored_problem(p, &stored, error);
    sand_stored_free(&stored);
    return ok;
}

bool sand_fclib_load(SandProblem *p, const char *path, SandError *error) {
    Reader r = {.path = path, .error = error};
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); // keeps HDF5 from printing its error stack
    r.file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (r.file < 0) return sand_fail(error, "%.200s: is no HDF5 file, or is damaged", path);
    bool ok = read_problem(&r, p, error);
    H5Fclose(r.file);
    return ok;
}

#endif
