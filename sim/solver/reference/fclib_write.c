// SPDX-License-Identifier: MIT
// Writer of FCLIB files: H and M of the bodies in contact frames, W from them, and the HDF5 datasets in the layout of
// fclib.c of the FCLIB library.
#include "sim/solver/reference/fclib.h"

#ifndef SAND_HDF5

bool sand_fclib_save(const SandProblem *problem, const SandSolution *solution, SandFclibForm form, const char *path,
                     SandError *error) {
    (void)problem, (void)solution, (void)form;
    return sand_fail(error, "%.200s: this build cannot write HDF5; build where libhdf5-dev is installed", path);
}

#else

#include "sim/solver/contact_result.h"
#include "sim/solver/reference/sparse.h"
#include "sim/solver/symmetric.h"

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- matrices ---------------------------------------------------------------------------------------------

// A matrix while it is made.
typedef struct Entries {
    SandTriplet *list;
    size_t count;
} Entries;

static Entries make_entries(size_t most) { return (Entries){malloc((most + 1) * sizeof(SandTriplet)), 0}; }

static void put_entry(Entries *t, size_t row, size_t column, double value) {
    if (value != 0) t->list[t->count++] = (SandTriplet){(int)row, (int)column, value};
}

static SandSparse *finish(Entries t, size_t rows, size_t columns) {
    SandSparse *a = t.list ? sand_sparse_from_triplets((int)rows, (int)columns, t.list, t.count) : NULL;
    free(t.list);
    return a;
}

// H: how the impulses of a contact, in its frame, act on the bodies, six rows each.
static SandSparse *make_h(const SandProblem *p) {
    size_t columns = 3 * (size_t)p->contact_count;
    Entries t = make_entries(12 * columns);
    for (int i = 0; t.list && i < p->contact_count; i++) {
        const SandContact *contact = &p->contacts[i];
        SandVec3 axes[3];
        sand_contact_axes(p, i, axes);
        for (int side = 0; side < 2; side++) {
            int body = side ? contact->b : contact->a;
            if (body >= p->dynamic_count) continue;
            for (int k = 0; k < 3; k++) {
                SandVec3 f = side ? axes[k] : v3_neg(axes[k]), m = v3_cross(side ? contact->arm_b : contact->arm_a, f);
                double parts[6] = {f.x, f.y, f.z, m.x, m.y, m.z};
                for (size_t row = 0; row < 6; row++)
                    put_entry(&t, 6 * (size_t)body + row, 3 * (size_t)i + (size_t)k, parts[row]);
            }
        }
    }
    return finish(t, 6 * (size_t)p->dynamic_count, columns);
}

// M, or its inverse. NULL where a body has no finite mass or inertia, and its M is wanted.
static SandSparse *make_m(const SandProblem *p, bool inverse) {
    static const int place[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};
    size_t rows = 6 * (size_t)p->dynamic_count;
    Entries t = make_entries(12 * (size_t)p->dynamic_count);
    bool ok = t.list != NULL;
    for (int k = 0; ok && k < p->dynamic_count; k++) {
        const SandProblemBody *b = &p->bodies[k];
        double inertia[6], mass = inverse ? b->inverse_mass : 1 / b->inverse_mass;
        memcpy(inertia, b->inverse_inertia, sizeof inertia);
        ok = inverse || (b->inverse_mass > 0 && sand_symmetric_invert(b->inverse_inertia, inertia));
        for (size_t i = 0; ok && i < 3; i++) {
            put_entry(&t, 6 * (size_t)k + i, 6 * (size_t)k + i, mass);
            for (size_t j = 0; j < 3; j++) put_entry(&t, 6 * (size_t)k + 3 + i, 6 * (size_t)k + 3 + j, inertia[place[i][j]]);
        }
    }
    if (ok) return finish(t, rows, rows);
    free(t.list);
    return NULL;
}

static SandSparse *make_w(const SandProblem *p) {
    if (p->matrix) {
        const SandMatrix *m = p->matrix;
        size_t n = 3 * (size_t)p->contact_count;
        Entries t = make_entries(9 * (size_t)m->first[p->contact_count]);
        for (int i = 0; t.list && i < p->contact_count; i++)
            for (int e = m->first[i]; e < m->first[i + 1]; e++)
                for (size_t k = 0; k < 9; k++)
                    put_entry(&t, 3 * (size_t)i + k / 3, 3 * (size_t)m->column[e] + k % 3, m->block[9 * (size_t)e + k]);
        return finish(t, n, n);
    }
    SandSparse *h = make_h(p), *inverse = make_m(p, true), *transposed = sand_sparse_transpose(h);
    SandSparse *x = sand_sparse_multiply(inverse, h), *w = sand_sparse_multiply(transposed, x);
    sand_sparse_free(h);
    sand_sparse_free(inverse);
    sand_sparse_free(transposed);
    sand_sparse_free(x);
    return w;
}

// --- vectors ----------------------------------------------------------------------------------------------

// The velocity of a contact before contact: of all bodies, or of the boundaries alone; with the gap's part.
static void free_velocity(const SandProblem *p, int i, bool boundaries, double *out) {
    const SandContact *c = &p->contacts[i];
    SandVec3 axes[3], u = v3_make(0, 0, 0);
    sand_contact_axes(p, i, axes);
    for (int side = 0; side < 2; side++) {
        int body = side ? c->b : c->a;
        if (boundaries && body < p->dynamic_count) continue;
        const SandProblemBody *b = &p->bodies[body];
        u = v3_madd(u, side ? 1 : -1, v3_add(b->velocity, v3_cross(b->spin, side ? c->arm_b : c->arm_a)));
    }
    for (int k = 0; k < 3; k++) out[k] = v3_dot(axes[k], u);
    out[0] += sand_contact_bias(p, i);
}

static void put_vec(double *out, SandVec3 v) {
    out[0] = v.x;
    out[1] = v.y;
    out[2] = v.z;
}

// --- the file ---------------------------------------------------------------------------------------------

// A file being written; once something fails nothing more is written.
typedef struct Writer {
    hid_t file;
    bool ok;
} Writer;

static void write_array(Writer *w, const char *name, hid_t type, const void *numbers, size_t count) {
    if (!w->ok) return;
    hsize_t size = count;
    hid_t space = H5Screate_simple(1, &size, NULL), links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    hid_t set = H5Dcreate2(w->file, name, type, space, links, H5P_DEFAULT, H5P_DEFAULT);
    w->ok = set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) >= 0;
    if (set >= 0) H5Dclose(set);
    H5Pclose(links);
    H5Sclose(space);
}

static void write_integer(Writer *w, const char *name, int value) { write_array(w, name, H5T_NATIVE_INT, &value, 1); }

static void write_vector(Writer *w, const char *name, const double *x, size_t count) {
    write_array(w, name, H5T_NATIVE_DOUBLE, x, count);
}

static void write_text(Writer *w, const char *name, const char *text) {
    if (!w->ok) return;
    hid_t space = H5Screate(H5S_SCALAR), type = H5Tcopy(H5T_C_S1), links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    H5Tset_size(type, strlen(text) + 1);
    hid_t set = H5Dcreate2(w->file, name, type, space, links, H5P_DEFAULT, H5P_DEFAULT);
    w->ok = set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0;
    if (set >= 0) H5Dclose(set);
    H5Pclose(links);
    H5Tclose(type);
    H5Sclose(space);
}

// Compressed columns: nz = -1.
static void write_matrix(Writer *w, const char *group, const char *name, const SandSparse *a) {
    char part[64];
    int count = a->begin[a->columns];
#define PART(which) (snprintf(part, sizeof part, "%s/%s/%s", group, name, which), part)
    write_integer(w, PART("nzmax"), count);
    write_integer(w, PART("m"), a->rows);
    write_integer(w, PART("n"), a->columns);
    write_integer(w, PART("nz"), -1);
    write_array(w, PART("p"), H5T_NATIVE_INT, a->begin, (size_t)a->columns + 1);
    write_array(w, PART("i"), H5T_NATIVE_INT, a->row, (size_t)count);
    write_vector(w, PART("x"), a->value, (size_t)count);
#undef PART
}

static void write_solution(Writer *w, const SandProblem *p, const SandSolution *s, SandFclibForm form, double *numbers,
                           SandContactResult *results) {
    size_t contacts = (size_t)p->contact_count, bodies = (size_t)p->dynamic_count;
    sand_contact_results(p, s, results);
    for (size_t k = 0; form == SAND_FCLIB_GLOBAL && k < bodies; k++) {
        put_vec(numbers + 6 * k, s->velocity[k]);
        put_vec(numbers + 6 * k + 3, s->spin[k]);
    }
    if (form == SAND_FCLIB_GLOBAL) write_vector(w, "solution/v", numbers, 6 * bodies);
    for (size_t i = 0; i < contacts; i++) memcpy(numbers + 3 * i, results[i].velocity, sizeof results[i].velocity);
    write_vector(w, "solution/u", numbers, 3 * contacts);
    for (size_t i = 0; i < contacts; i++) memcpy(numbers + 3 * i, results[i].impulse, sizeof results[i].impulse);
    write_vector(w, "solution/r", numbers, 3 * contacts);
    for (size_t i = 0; i < contacts; i++) numbers[i] = (double)results[i].status;
    write_vector(w, "sandglass/contact_status", numbers, contacts); // 0 open, 1 sticks, 2 slides
    for (size_t i = 0; i < contacts; i++) numbers[i] = results[i].gap_after;
    if (!p->matrix) write_vector(w, "sandglass/gap_after", numbers, contacts);
    write_text(w, "sandglass/status", sand_status_text(s->status));
    write_integer(w, "sandglass/iterations", s->iterations);
    write_vector(w, "sandglass/residual", &s->metrics.residual, 1);
}

// What a file of FCLIB has no place for.
static void write_bodies(Writer *w, const SandProblem *p, double *numbers) {
    size_t contacts = (size_t)p->contact_count;
    for (size_t i = 0; i < contacts; i++) numbers[i] = p->contacts[i].gap;
    write_vector(w, "sandglass/gap", numbers, contacts);
    for (size_t i = 0; i < contacts; i++) put_vec(numbers + 3 * i, p->contacts[i].normal);
    write_vector(w, "sandglass/normal", numbers, 3 * contacts);
    write_vector(w, "sandglass/step", &p->step, 1);
}

static void write_problem(Writer *w, const SandProblem *p, SandFclibForm form, const SandSparse *m, const SandSparse *matrix,
                          double *numbers) {
    const char *group = form == SAND_FCLIB_GLOBAL ? "fclib_global" : "fclib_local";
    size_t contacts = (size_t)p->contact_count;
    char name[64];
#define NAME(which) (snprintf(name, sizeof name, "%s/%s", group, which), name)
    write_integer(w, NAME("spacedim"), 3);
    if (form == SAND_FCLIB_GLOBAL) write_matrix(w, group, "M", m);
    write_matrix(w, group, form == SAND_FCLIB_GLOBAL ? "H" : "W", matrix);
    for (int i = 0; i < p->contact_count; i++) free_velocity(p, i, form == SAND_FCLIB_GLOBAL, numbers + 3 * i);
    write_vector(w, NAME(form == SAND_FCLIB_GLOBAL ? "vectors/w" : "vectors/q"), numbers, 3 * contacts);
    for (size_t i = 0; i < contacts; i++) numbers[i] = p->contacts[i].mu;
    write_vector(w, NAME("vectors/mu"), numbers, contacts);
    if (form == SAND_FCLIB_GLOBAL) {
        // f = M v
        size_t rows = (size_t)m->rows;
        memset(numbers, 0, rows * sizeof *numbers);
        for (size_t j = 0; j < rows; j++) {
            const SandProblemBody *b = &p->bodies[j / 6];
            double v[6];
            put_vec(v, b->velocity);
            put_vec(v + 3, b->spin);
            for (int e = m->begin[j]; e < m->begin[j + 1]; e++) numbers[m->row[e]] += m->value[e] * v[j % 6];
        }
        write_vector(w, NAME("vectors/f"), numbers, rows);
    }
    write_text(w, NAME("info/title"), "sandglass");
    write_text(w, NAME("info/description"), p->matrix ? p->note : "the contact problem of one step");
    write_text(w, NAME("info/math_info"), "u = W r + q, r in the friction cone; the normal component comes first");
#undef NAME
}

bool sand_fclib_save(const SandProblem *p, const SandSolution *s, SandFclibForm form, const char *path, SandError *error) {
    bool global = form == SAND_FCLIB_GLOBAL;
    if (p->contact_count == 0) return sand_fail(error, "%.200s: FCLIB has no problems without contacts", path);
    if (p->joint_count) return sand_fail(error, "%.200s: FCLIB knows contacts alone, and this problem has joints", path);
    if (p->rolls) return sand_fail(error, "%.200s: this problem has rolling friction, which is not written to FCLIB", path);
    if (global && p->matrix) return sand_fail(error, "%.200s: a problem that is stored as W has no global form", path);
    SandSparse *m = global ? make_m(p, false) : NULL;
    if (global && !m)
        return sand_fail(error, "%.200s: a body without a finite mass and inertia has no place in the global form", path);
    SandSparse *matrix = global ? make_h(p) : make_w(p);
    size_t rows = 3 * (size_t)p->contact_count, dofs = 6 * (size_t)p->dynamic_count;
    double *numbers = malloc((rows > dofs ? rows : dofs) * sizeof *numbers);
    SandContactResult *results = malloc((size_t)p->contact_count * sizeof *results);
    bool ok = (matrix && numbers && results) || sand_fail(error, "%.200s: out of memory for the matrices", path);
    if (ok) {
        H5Eset_auto2(H5E_DEFAULT, NULL, NULL); // keeps HDF5 from printing its error stack
        Writer w = {.file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)};
        w.ok = w.file >= 0;
        write_problem(&w, p, form, m, matrix, numbers);
        if (!p->matrix) write_bodies(&w, p, numbers);
        if (s) write_solution(&w, p, s, form, numbers, results);
        if (w.file >= 0) w.ok = H5Fclose(w.file) >= 0 && w.ok;
        ok = w.ok || sand_fail(error, "%.200s: cannot write it", path);
    }
    free(numbers);
    free(results);
    sand_sparse_free(m);
    sand_sparse_free(matrix);
    return ok;
}

#endif
