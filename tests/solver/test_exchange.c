// SPDX-License-Identifier: MIT
// Problems and solutions as files for other programs: what is written in FCLIB's layout, local and global, is the same
// problem by dense algebra; a solution read back fulfills u = W r + q; Siconos' text files are read in each of its storages,
// and where Siconos is installed (SAND_SICONOS) they are those that it writes itself.
#include <hdf5.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
// cmocka.h requires the headers above.
#include <cmocka.h>

#ifdef SAND_SICONOS
#include <siconos/numerics/FrictionContactProblem.h>
#include <siconos/numerics/GlobalFrictionContactProblem.h>
#include <siconos/numerics/NumericsMatrix.h>
#include <siconos/numerics/SparseBlockMatrix.h>
#endif

#include "sim/solver/contact_result.h"
#include "sim/solver/reference/fclib.h"
#include "tests/lab/solver/dense.h"
#include "tests/lab/solver/frozen.h"

static char path[64];
static int open_folder(void **state) {
    (void)state;
    snprintf(path, sizeof path, "/tmp/test_exchange_%d", (int)getpid());
    return 0;
}
static int close_folder(void **state) {
    (void)state;
    remove(path);
    return 0;
}

static SandProblem opened(void) {
    SandProblem p = {0};
    SandError error = {""};
    if (!sand_problem_open(&p, path, &error)) fail_msg("%s", error.text);
    return p;
}

// The stored W and q are those of the bodies, in the frames of the contacts.
static void assert_same_problem(const SandProblem *stored, const SandProblem *bodies) {
    assert_int_equal(stored->contact_count, bodies->contact_count);
    SandVec3 *r = malloc((size_t)bodies->contact_count * sizeof *r);
    dense_r(bodies, false, r);
    double scale = 0;
    for (int e = 0; e < 9 * stored->matrix->first[stored->contact_count]; e++)
        scale = fmax(scale, fabs(stored->matrix->block[e]));
    for (int i = 0; i < bodies->contact_count; i++) {
        SandVec3 to[3], from[3];
        sand_contact_axes(bodies, i, to);
        const double q[3] = {-stored->bodies[i].velocity.x, -stored->bodies[i].velocity.y, -stored->bodies[i].velocity.z};
        for (int k = 0; k < 3; k++) assert_true(fabs(q[k] - v3_dot(to[k], r[i])) <= 1e-12);
        assert_true(stored->contacts[i].mu == bodies->contacts[i].mu);
        int e = stored->matrix->first[i];
        for (int j = 0; j < bodies->contact_count; j++) {
            const SandMatrix *m = stored->matrix;
            bool there = e < m->first[i + 1] && m->column[e] == j;
            sand_contact_axes(bodies, j, from);
            for (int c = 0; c < 3; c++) {
                SandVec3 column = dense_block(bodies, i, j, from[c]);
                for (int k = 0; k < 3; k++)
                    assert_true(fabs((there ? m->block[9 * e + 3 * k + c] : 0) - v3_dot(to[k], column)) <= 1e-12 * scale);
            }
            e += there;
        }
    }
    free(r);
}

static const char *const stored_names[] = {"spheres", "clumps", "pebbles"};
enum { STORED = 3 };

static void a_written_problem_is_the_same(void **state) {
    (void)state;
    SandError error = {""};
    for (int k = 0; k < STORED; k++)
        for (int form = 0; form < 2; form++) {
            SandProblem p = frozen_stored(stored_names[k]);
            if (!sand_fclib_save(&p, NULL, (SandFclibForm)form, path, &error)) fail_msg("%s", error.text);
            SandProblem read = opened();
            assert_same_problem(&read, &p);
            // A stored W written again is the same, bit for bit.
            if (!sand_fclib_save(&read, NULL, SAND_FCLIB_LOCAL, path, &error)) fail_msg("%s", error.text);
            SandProblem again = opened();
            int blocks = read.matrix->first[read.contact_count];
            assert_int_equal(again.matrix->first[again.contact_count], blocks);
            assert_memory_equal(again.matrix->block, read.matrix->block, 9 * (size_t)blocks * sizeof(double));
            assert_false(sand_fclib_save(&read, NULL, SAND_FCLIB_GLOBAL, path, &error));
            assert_non_null(strstr(error.text, "no global form"));
            sand_problem_free(&again);
            sand_problem_free(&read);
            sand_problem_free(&p);
        }
}

static double *read_numbers(hid_t file, const char *name, int count) {
    double *x = malloc((size_t)count * sizeof *x);
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
    assert_int_equal(H5Sget_simple_extent_npoints(space), count);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0);
    H5Sclose(space);
    H5Dclose(set);
    return x;
}

static SandSolution solved(const SandProblem *p) {
    SandError error = {""};
    SandSolveDef def = sand_default_solve();
    SandSolution s = {0};
    SandCpu *cpu = sand_cpu_create(1, SAND_DOUBLE, &error);
    sand_solve_choose(&def, sand_solver_find("ngs"));
    def.friction = SAND_FRICTION_COULOMB;
    def.iterations = 3000;
    if (!sand_cpu_solve(cpu, p, &def, &s, &error)) fail_msg("%s", error.text);
    sand_cpu_free(cpu);
    return s;
}

// Solution and problem of one file belong together: u = W r + q; and the body velocities of the global form are those of
// the solver.
static void a_written_solution_fits_its_problem(void **state) {
    (void)state;
    SandError error = {""};
    for (int k = 0; k < STORED; k++)
        for (int form = 0; form < 2; form++) {
            SandProblem p = frozen_stored(stored_names[k]);
            SandSolution s = solved(&p);
            if (!sand_fclib_save(&p, &s, (SandFclibForm)form, path, &error)) fail_msg("%s", error.text);
            SandProblem read = opened();
            int rows = 3 * p.contact_count;
            hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
            double *r = read_numbers(file, "solution/r", rows), *u = read_numbers(file, "solution/u", rows);
            double *status = read_numbers(file, "sandglass/contact_status", p.contact_count);
            double *after = read_numbers(file, "sandglass/gap_after", p.contact_count);
            int count[3] = {0};
            for (int i = 0; i < p.contact_count; i++) {
                SandVec3 w = v3_neg(read.bodies[i].velocity);
                for (int e = read.matrix->first[i]; e < read.matrix->first[i + 1]; e++) {
                    const double *g = r + 3 * read.matrix->column[e];
                    w = v3_add(w, sand_matrix_apply(read.matrix, e, v3_make(g[0], g[1], g[2])));
                }
                assert_true(fabs(w.x - u[3 * i]) + fabs(w.y - u[3 * i + 1]) + fabs(w.z - u[3 * i + 2]) <= 1e-9);
                double gap = p.contacts[i].gap, bias = sand_contact_bias(&p, i);
                assert_true(fabs(after[i] - (gap + p.step * (u[3 * i] - bias))) <= 1e-12);
                double friction = hypot(r[3 * i + 1], r[3 * i + 2]), bound = p.contacts[i].mu * r[3 * i];
                if (status[i] == SAND_CONTACT_STICKS) assert_true(r[3 * i] > 0 && friction < bound);
                if (status[i] == SAND_CONTACT_SLIDES) assert_true(r[3 * i] > 0 && friction >= 0.99 * bound);
                count[(int)status[i]]++;
            }
            print_message("%s: %d open, %d stick, %d slide\n", stored_names[k], count[0], count[1], count[2]);
            assert_true(count[1] + count[2] > 0);
            for (int b = 0; form == SAND_FCLIB_GLOBAL && b < p.dynamic_count; b++) {
                double *v = b ? NULL : read_numbers(file, "solution/v", 6 * p.dynamic_count);
                if (v) assert_true(v[0] == s.velocity[0].x && v[5] == s.spin[0].z);
                free(v);
            }
            H5Fclose(file);
            free(r);
            free(u);
            free(status);
            free(after);
            sand_problem_free(&read);
            sand_solution_free(&s);
            sand_problem_free(&p);
        }
}

static void csv_has_a_line_per_contact(void **state) {
    (void)state;
    SandError error = {""};
    SandProblem p = frozen_stored("clumps");
    SandSolution s = solved(&p);
    if (!sand_solution_save_csv(&p, &s, path, &error)) fail_msg("%s", error.text);
    FILE *file = fopen(path, "r");
    char line[512], word[16];
    int lines = 0, a, b, number;
    double mu, n;
    assert_non_null(fgets(line, sizeof line, file));
    assert_int_equal(strncmp(line, "contact,a,b,mu,impulse n (N s)", 30), 0);
    for (; fgets(line, sizeof line, file); lines++) {
        assert_int_equal(sscanf(line, "%d,%d,%d,%lf,%lf", &number, &a, &b, &mu, &n), 5);
        assert_true(number == lines && a == p.contacts[lines].a && b == p.contacts[lines].b);
        assert_true(fabs(n - v3_dot(p.contacts[lines].normal, s.impulse[lines])) <= 1e-15 * fabs(n) + 1e-300);
        assert_int_equal(sscanf(strrchr(line, ',') + 1, "%15s", word), 1);
        assert_true(!strcmp(word, "open") || !strcmp(word, "sticks") || !strcmp(word, "slides"));
    }
    fclose(file);
    assert_int_equal(lines, p.contact_count);
    sand_solution_free(&s);
    sand_problem_free(&p);
}

// --- Siconos' text ----------------------------------------------------------------------------------------

static void write_text(const char *text) {
    FILE *file = fopen(path, "wb");
    fputs(text, file);
    fclose(file);
}

static void refused(const char *text, const char *words) {
    SandProblem p = {0};
    SandError error = {""};
    write_text(text);
    if (sand_problem_open(&p, path, &error)) fail_msg("was taken, where '%s' was expected", words);
    if (!strstr(error.text, words)) fail_msg("'%s' does not say '%s'", error.text, words);
    sand_problem_free(&p);
}

// One contact, W with an entry off the diagonal, in each storage as Siconos 4.4 writes it.
#define END "\n-1.0e+00 5.0e-01 0.0e+00 \n3.0e-01 \n"
static const char *const samples[] = {
    "3\n1\n0\n3\n3\n3\t3\n2.0e+00 1.0e-03 0.0e+00\n1.0e-03 3.0e+00 0.0e+00\n0.0e+00 0.0e+00 4.0e+00 " END,
    "3\n1\n1\n3\n3\n1\n1\n1\n3\t\n3\t\n2\n1\n0\t1\t\n0\t\n0\n2.0e+00\n1.0e-03\n0.0e+00\n1.0e-03\n3.0e+00\n0.0e+00\n0.0e+00\n"
    "0.0e+00\n4.0e+00" END,
    "3\n1\n2\n3\n3\n1\nCSparse Version 3.2.0, Sept 12, 2017.  Copyright (c) Timothy A. Davis, 2006-2016\n"
    "triplet: 3-by-3, nzmax: 9 nnz: 5\n    0 0 : 2\n    1 1 : 3\n    2 2 : 4\n    0 1 : 0.001\n    1 0 : 0.001" END,
    "3\n1\n2\n3\n3\n2\nCSparse Version 3.2.0, Sept 12, 2017.  Copyright (c) Timothy A. Davis, 2006-2016\n"
    "3-by-3, nzmax: 5 nnz: 5, 1-norm: 4\n    col 0 : locations 0 to 1\n      0 : 2\n      1 : 0.001\n"
    "    col 1 : locations 2 to 3\n      1 : 3\n      0 : 0.001\n    col 2 : locations 4 to 4\n      2 : 4" END,
};

static void every_storage_of_the_text_is_read(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof samples / sizeof *samples; k++) {
        write_text(samples[k]);
        assert_true(sand_problem_is_stored(path));
        SandProblem p = opened();
        assert_int_equal(p.contact_count, 1);
        const double w[9] = {2, 0.001, 0, 0.001, 3, 0, 0, 0, 4};
        for (int e = 0; e < 9; e++) assert_true(p.matrix->block[e] == w[e]);
        assert_true(p.bodies[0].velocity.x == 1 && p.bodies[0].velocity.y == -0.5 && p.contacts[0].mu == 0.3);
        sand_problem_free(&p);
    }
}

static void broken_files_are_refused(void **state) {
    (void)state;
    refused("2\n1\n0\n2\n2\n2\t2\n1 0 0 1\n0 0\n0.3\n", "is in 2 dimensions, not 3");
    refused("3\n0\n0\n0\n0\n0\t0\n", "has no contacts");
    refused("3\n700000000\n0\n3\n3\n3\t3\n1 0 0\n", "promises 2100000000 numbers");
    refused("3\n1\n0\n40000\n40000\n40000\t40000\n1 0 0\n", "promises 40000 numbers");
    refused("3\n1\n7\n3\n3\n0 0 0\n", "storage of a matrix is none that is known");
    refused("3\n1\n0\n3\n3\n3\t3\n1 0 0 0 1 0 0 0 nan\n0.0 0.0 0.0\n0.3\n", "line 7: a number is not finite");
    refused("3\n1\n0\n3\n3\n3\t3\n1 0 0 0 1 0 0 0 1\n0.0 0.0 0.0\n", "expected a number");
    refused("3\n1\n0\n3\n3\n3\t3\n1 0 0 0 1 0 0 0 1\n0.0 0.0 0.0\n-0.3\n", "negative mu");
    refused("3\n1\n1\n3\n3\n9\n1\n1\n3\n3\n2\n1\n0 1\n0\n0\n1 0 0 0 1 0 0 0 1\n0.0 0.0 0.0\n0.3\n", "contradict each other");
    refused("3\n1\n2\n3\n3\n1\nCSparse\ntriplet: nnz: 1\n 5 5 : 2\n0.0 0.0 0.0\n0.3\n", "outside its matrix");
}

#ifdef SAND_SICONOS
static NumericsMatrix *siconos_matrix(const SandProblem *p, int storage) {
    int n = 3 * p->contact_count;
    NumericsMatrix *w = NM_create(NM_SPARSE, n, n);
    NM_triplet_alloc(w, 9 * p->matrix->first[p->contact_count]);
    for (int i = 0; i < p->contact_count; i++)
        for (int e = p->matrix->first[i]; e < p->matrix->first[i + 1]; e++)
            for (int k = 0; k < 9; k++)
                if (p->matrix->block[9 * e + k] != 0)
                    NM_entry(w, 3 * i + k / 3, 3 * p->matrix->column[e] + k % 3, p->matrix->block[9 * e + k]);
    if (storage == NM_SPARSE) return w;
    NumericsMatrix *other = NM_create((NM_types)storage, n, n);
    if (storage == NM_DENSE) NM_to_dense(w, other);
    if (storage == NM_SPARSE_BLOCK) SBM_from_csparse(3, NM_csc(w), other->matrix1);
    NM_free(w);
    return other;
}

// What Siconos prints is what is read: exactly, or to the six digits that CSparse prints of a sparse matrix.
static void what_siconos_writes_is_read(void **state) {
    (void)state;
    SandError error = {""};
    static const NM_types storages[] = {NM_DENSE, NM_SPARSE_BLOCK, NM_SPARSE};
    SandProblem bodies = frozen_stored("clumps");
    if (!sand_fclib_save(&bodies, NULL, SAND_FCLIB_LOCAL, path, &error)) fail_msg("%s", error.text);
    SandProblem p = opened();
    for (int k = 0; k < 3; k++) {
        size_t contacts = (size_t)p.contact_count;
        double *q = malloc(3 * contacts * sizeof *q), *mu = malloc(contacts * sizeof *mu);
        for (size_t i = 0; i < contacts; i++) {
            q[3 * i] = -p.bodies[i].velocity.x;
            q[3 * i + 1] = -p.bodies[i].velocity.y;
            q[3 * i + 2] = -p.bodies[i].velocity.z;
            mu[i] = p.contacts[i].mu;
        }
        FrictionContactProblem *peer =
            frictionContactProblem_new_with_data(3, p.contact_count, siconos_matrix(&p, storages[k]), q, mu);
        frictionContact_printInFilename(peer, path);
        SandProblem read = opened();
        double digits = storages[k] == NM_SPARSE ? 1e-5 : 0;
        int blocks = p.matrix->first[p.contact_count];
        assert_int_equal(read.matrix->first[read.contact_count], blocks);
        for (int e = 0; e < 9 * blocks; e++)
            assert_true(fabs(read.matrix->block[e] - p.matrix->block[e]) <= digits * fabs(p.matrix->block[e]));
        for (size_t i = 0; i < contacts; i++) {
            assert_true(read.bodies[i].velocity.x == p.bodies[i].velocity.x);
            assert_true(read.contacts[i].mu == p.contacts[i].mu);
        }
        sand_problem_free(&read);
        frictionContactProblem_free(peer);
    }
    sand_problem_free(&p);
    sand_problem_free(&bodies);
}

// A global problem: two bodies of three degrees of freedom, one contact between them.
static void a_global_problem_of_siconos_is_read(void **state) {
    (void)state;
    GlobalFrictionContactProblem *peer = globalFrictionContactProblem_new();
    peer->dimension = 3;
    peer->numberOfContacts = 1;
    peer->M = NM_create(NM_SPARSE, 6, 6);
    peer->H = NM_create(NM_SPARSE, 6, 3);
    NM_triplet_alloc(peer->M, 6);
    NM_triplet_alloc(peer->H, 6);
    peer->q = malloc(6 * sizeof(double));
    peer->b = malloc(3 * sizeof(double));
    peer->mu = malloc(sizeof(double));
    for (int i = 0; i < 6; i++) {
        NM_entry(peer->M, i, i, i < 3 ? 2 : 4);
        NM_entry(peer->H, i, i % 3, i < 3 ? 1 : -1);
        peer->q[i] = i;
    }
    for (int i = 0; i < 3; i++) peer->b[i] = 0.25 * i - 1;
    peer->mu[0] = 0.5;
    FILE *file = fopen(path, "w");
    globalFrictionContact_printInFile(peer, file);
    fclose(file);
    SandProblem p = opened();
    assert_int_equal(p.contact_count, 1);
    const double v[3] = {p.bodies[0].velocity.x, p.bodies[0].velocity.y, p.bodies[0].velocity.z};
    for (int i = 0; i < 3; i++) {
        assert_true(fabs(p.matrix->block[4 * i] - 0.75) <= 1e-15); // 1/2 + 1/4
        assert_true(fabs(-v[i] - (i / 2.0 - (i + 3) / 4.0 + peer->b[i])) <= 1e-15);
    }
    sand_problem_free(&p);
    globalFrictionContact_free(peer);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_written_problem_is_the_same), cmocka_unit_test(a_written_solution_fits_its_problem),
        cmocka_unit_test(csv_has_a_line_per_contact),    cmocka_unit_test(every_storage_of_the_text_is_read),
        cmocka_unit_test(broken_files_are_refused),
#ifdef SAND_SICONOS
        cmocka_unit_test(what_siconos_writes_is_read),   cmocka_unit_test(a_global_problem_of_siconos_is_read),
#endif
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
