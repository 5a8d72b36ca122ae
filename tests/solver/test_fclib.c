// SPDX-License-Identifier: MIT
// FCLIB files: every storage format of their matrices is read, the methods solve them with the same kernels as scenes, and
// unsupported problems are refused with a sentence. The files are generated here.
#include <hdf5.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
// cmocka.h requires the headers above.
#include <cmocka.h>

#include "tests/lab/solver/fclib_lab.h"
#include "tests/lab/solver/frozen.h"
#include "sim/solver/method_traits.h"

enum { CONTACTS = 4, ROWS = 3 * CONTACTS, DOFS = 9 };

// M has nine degrees of freedom with couplings; W = H' M^-1 H has 12 rows and is therefore singular.
static double mass[DOFS][DOFS], lever[DOFS][ROWS], force[DOFS], drift[ROWS], friction[CONTACTS];
static double w_dense[ROWS][ROWS], q_dense[ROWS];

// W = H' M^-1 H and q = H' M^-1 f + w, by Gauss-Jordan elimination.
static void reduce_dense(void) {
    double a[DOFS][DOFS + ROWS + 1];
    for (int i = 0; i < DOFS; i++) {
        for (int j = 0; j < DOFS; j++) a[i][j] = mass[i][j];
        for (int j = 0; j < ROWS; j++) a[i][DOFS + j] = lever[i][j];
        a[i][DOFS + ROWS] = force[i];
    }
    for (int k = 0; k < DOFS; k++)
        for (int i = 0; i < DOFS; i++) {
            double f = i == k ? 1 - 1 / a[k][k] : a[i][k] / a[k][k];
            for (int j = DOFS + ROWS; j >= k; j--) a[i][j] -= f * a[k][j];
        }
    for (int i = 0; i < ROWS; i++) {
        q_dense[i] = drift[i];
        for (int k = 0; k < DOFS; k++) q_dense[i] += lever[k][i] * a[k][DOFS + ROWS];
        for (int j = 0; j < ROWS; j++) {
            w_dense[i][j] = 0;
            for (int k = 0; k < DOFS; k++) w_dense[i][j] += lever[k][i] * a[k][DOFS + j];
        }
    }
}

static void make_numbers(void) {
    unsigned state = 7;
    for (int i = 0; i < DOFS; i++) {
        mass[i][i] = 1 + 0.5 * i;
        if (i + 3 < DOFS) mass[i][i + 3] = mass[i + 3][i] = 0.2;
        force[i] = 0.1 * (i % 4) - 0.15;
        for (int j = 0; j < ROWS; j++) {
            state = state * 1664525u + 1013904223u;
            lever[i][j] = (state >> 16) % 3 ? 0 : (double)(state >> 20) / 4096 - 0.5;
        }
        for (int j = i; j < ROWS; j += DOFS) lever[i][j] = 1;
    }
    for (int j = 0; j < ROWS; j++) drift[j] = j % 3 ? 0.3 - 0.05 * j : -1 - 0.1 * j;
    for (int i = 0; i < CONTACTS; i++) friction[i] = 0.2 + 0.2 * i;
    reduce_dense();
}

// ---- writing ----

// Writes a problem and leaves it open, for a test to add to it.
static hid_t begin(const char *path, bool global, Form form, hid_t *problem) {
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    *problem = H5Gcreate2(file, global ? "fclib_global" : "fclib_local", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t vectors = H5Gcreate2(*problem, "vectors", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    put_int(*problem, "spacedim", 3);
    put(vectors, "mu", H5T_NATIVE_DOUBLE, friction, CONTACTS);
    if (global) {
        put_matrix(*problem, "M", &mass[0][0], DOFS, DOFS, form);
        put_matrix(*problem, "H", &lever[0][0], DOFS, ROWS, form);
        put(vectors, "f", H5T_NATIVE_DOUBLE, force, DOFS);
        put(vectors, "w", H5T_NATIVE_DOUBLE, drift, ROWS);
    } else {
        put_matrix(*problem, "W", &w_dense[0][0], ROWS, ROWS, form);
        put(vectors, "q", H5T_NATIVE_DOUBLE, q_dense, ROWS);
    }
    H5Gclose(vectors);
    return file;
}

static void end(hid_t file, hid_t problem) {
    H5Gclose(problem);
    H5Fclose(file);
}

static char path[64];
static int open_folder(void **state) {
    (void)state;
    snprintf(path, sizeof path, "/tmp/test_fclib_%d.hdf5", (int)getpid());
    make_numbers();
    return 0;
}
static int close_folder(void **state) {
    (void)state;
    remove(path);
    return 0;
}

// ---- reading ----

static double read_w(const SandProblem *p, int row, int column) {
    const SandMatrix *m = p->matrix;
    for (int e = m->first[row / 3]; e < m->first[row / 3 + 1]; e++)
        if (m->column[e] == column / 3) return m->block[9 * e + 3 * (row % 3) + column % 3];
    return 0;
}

static void every_form_is_read(void **state) {
    (void)state;
    for (int global = 0; global < 2; global++)
        for (int form = 0; form < FORMS; form++) {
            hid_t problem, file = begin(path, global, (Form)form, &problem);
            end(file, problem);
            SandProblem p = {0};
            SandError error = {""};
            assert_true(sand_problem_is_stored(path));
            if (!sand_problem_open(&p, path, &error)) fail_msg("%s", error.text);
            assert_int_equal(p.contact_count, CONTACTS);
            for (int i = 0; i < ROWS; i++)
                for (int j = 0; j < ROWS; j++) assert_true(fabs(read_w(&p, i, j) - w_dense[i][j]) <= 1e-14);
            for (int i = 0; i < CONTACTS; i++) {
                SandVec3 q = v3_make(q_dense[3 * i], q_dense[3 * i + 1], q_dense[3 * i + 2]);
                assert_true(v3_length(v3_add(p.bodies[i].velocity, q)) <= 1e-14);
                assert_true(p.contacts[i].mu == friction[i]);
            }
            sand_problem_free(&p);
        }
}

static void open_equals_dense(const char *note) {
    SandProblem p = {0};
    SandError error = {""};
    if (!sand_problem_open(&p, path, &error)) fail_msg("%s", error.text);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++)
            if (fabs(read_w(&p, i, j) - w_dense[i][j]) > 1e-14)
                fail_msg("W[%d][%d] is %.17g and not %.17g", i, j, read_w(&p, i, j), w_dense[i][j]);
    for (int i = 0; i < CONTACTS; i++) {
        SandVec3 q = v3_make(q_dense[3 * i], q_dense[3 * i + 1], q_dense[3 * i + 2]);
        assert_true(v3_length(v3_add(p.bodies[i].velocity, q)) <= 1e-14);
    }
    if (!strstr(p.note, note)) fail_msg("'%s' does not say '%s'", p.note, note);
    sand_problem_free(&p);
}

// Keeps one triangle of a square matrix, with the diagonal.
static void cut(double *dense, int n, bool lower) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (lower ? j > i : j < i) dense[i * n + j] = 0;
}

// A symmetric matrix may be stored by one of its halves.
static void one_half_is_enough(void **state) {
    (void)state;
    for (int lower = 0; lower < 2; lower++)
        for (int form = 0; form < FORMS; form++) {
            double whole_m[DOFS][DOFS], whole_w[ROWS][ROWS];
            memcpy(whole_m, mass, sizeof mass);
            memcpy(whole_w, w_dense, sizeof w_dense);
            cut(&mass[0][0], DOFS, lower);
            cut(&w_dense[0][0], ROWS, lower);
            hid_t problem, file = begin(path, true, (Form)form, &problem);
            end(file, problem);
            double half_w[ROWS][ROWS];
            memcpy(half_w, w_dense, sizeof w_dense);
            memcpy(mass, whole_m, sizeof mass);
            memcpy(w_dense, whole_w, sizeof w_dense);
            open_equals_dense("H' M^-1 H, symmetric; the file has one half of M");

            memcpy(w_dense, half_w, sizeof w_dense);
            file = begin(path, false, (Form)form, &problem);
            end(file, problem);
            memcpy(w_dense, whole_w, sizeof w_dense);
            open_equals_dense("W as stored, symmetric; the file has one half of it");
        }
}

// Adds a skew part to M: 0.3 percent of its size. W follows.
static void skew_mass(double by) {
    for (int i = 0; i + 1 < DOFS; i++) {
        mass[i][i + 1] += by;
        mass[i + 1][i] -= by;
    }
    reduce_dense();
}

// A matrix that is not symmetric is read as it is.
static void an_unsymmetric_matrix_is_kept(void **state) {
    (void)state;
    skew_mass(0.01);
    for (int global = 0; global < 2; global++)
        for (int form = 0; form < FORMS; form++) {
            hid_t problem, file = begin(path, global, (Form)form, &problem);
            end(file, problem);
            open_equals_dense("symmetric only to 0.00");
        }
    skew_mass(-0.01);
}

static SandProblem global_problem(void) {
    hid_t problem, file = begin(path, true, TRIPLETS, &problem);
    end(file, problem);
    SandProblem p = {0};
    SandError error = {""};
    if (!sand_problem_open(&p, path, &error)) fail_msg("%s", error.text);
    return p;
}

// u = W g + q at contact i.
static void velocity_of(const SandSolution *s, int i, double u[3]) {
    for (int r = 0; r < 3; r++) {
        const double *row = w_dense[3 * i + r];
        u[r] = q_dense[3 * i + r];
        for (int j = 0; j < CONTACTS; j++)
            u[r] += row[3 * j] * s->impulse[j].x + row[3 * j + 1] * s->impulse[j].y + row[3 * j + 2] * s->impulse[j].z;
    }
}

// The optimality conditions, from the dense matrix: u = W g + q in the dual cone, g in the cone, g . u = 0.
static void solvers_run_on_a_matrix(void **state) {
    (void)state;
    SandError error = {""};
    SandProblem p = global_problem();
    const char *const solvers[] = {"ipm-soc", "newton", "p-spg-fb", "gauss-seidel", "jacobi", "apgd", "admm"};
    for (size_t k = 0; k < sizeof solvers / sizeof *solvers; k++) {
        SandSolveDef def = sand_default_solve();
        sand_solve_choose(&def, sand_solver_find(solvers[k]));
        def.iterations = 20000;
        def.tolerance = 1e-10;
        if (!strcmp(solvers[k], "jacobi")) def.params[0] = 0.1; // rows are coupled more strongly than in a pile
        SandSolution s = {0};
        SandCpu *cpu = sand_cpu_create(2, SAND_DOUBLE, &error);
        if (!sand_cpu_solve(cpu, &p, &def, &s, &error)) fail_msg("%s", error.text);
        print_message("%s: %s after %d iterations, residual %.1e\n", solvers[k], sand_status_text(s.status), s.iterations,
                      s.metrics.residual);
        assert_int_equal(s.status, SAND_SOLVED);
        double total = 0;
        for (int i = 0; i < CONTACTS; i++) {
            double u[3];
            velocity_of(&s, i, u);
            SandVec3 g = s.impulse[i];
            assert_true(hypot(g.y, g.z) <= friction[i] * g.x + 1e-12);
            assert_true(friction[i] * hypot(u[1], u[2]) <= u[0] + 1e-8);
            assert_true(fabs(g.x * u[0] + g.y * u[1] + g.z * u[2]) <= 1e-8);
            // The body of the contact moves as the contact does.
            assert_true(fabs(s.velocity[i].x + u[0]) + fabs(s.velocity[i].y + u[1]) <= 1e-11);
            total += g.x;
        }
        assert_true(total > 0.1);
        sand_solution_free(&s);
        sand_cpu_free(cpu);
    }
    sand_problem_free(&p);
}

// That the impulse of a contact and its velocity, from the dense matrix, obey Coulomb's law. Returns whether it slides.
static bool assert_law(const SandSolution *s, int i, double tolerance) {
    double u[3];
    velocity_of(s, i, u);
    SandVec3 g = s->impulse[i];
    double slip = hypot(u[1], u[2]), bound = friction[i] * g.x;
    assert_true(g.x >= 0 && u[0] >= -tolerance && g.x * u[0] <= tolerance);
    assert_true(hypot(g.y, g.z) <= bound + 1e-12);
    assert_true(fabs(g.y * u[1] + g.z * u[2] + bound * slip) <= tolerance); // maximum dissipation
    return slip > 1e-3 && g.x > 1e-3;
}

// A matrix has no bodies. Methods that work on bodies say so, with their name.
static void methods_of_bodies_refuse_a_matrix(void **state) {
    (void)state;
    SandProblem p = global_problem();
    int refused = 0;
    for (int k = 0; k < sand_solver_count(); k++) {
        if (!(sand_solver_table[k].needs & SAND_NEEDS_BODIES)) continue;
        SandError error = {""};
        SandSolution s = {0};
        SandSolveDef def = sand_default_solve();
        sand_solve_choose(&def, k);
        SandCpu *cpu = sand_cpu_create(1, SAND_DOUBLE, &error);
        assert_false(sand_cpu_solve(cpu, &p, &def, &s, &error));
        assert_ptr_equal(strstr(error.text, sand_solver_table[k].name), error.text);
        assert_non_null(strstr(error.text, "needs bodies"));
        sand_cpu_free(cpu);
        refused++;
    }
    assert_true(refused > 0);
    sand_problem_free(&p);
}

// Coulomb's law, from the dense matrix, for every method that supports it. The rows of a contact are coupled here, so
// methods that relax a contact exactly need its diagonal block of W.
static void coulomb_on_a_matrix(void **state) {
    (void)state;
    SandError error = {""};
    SandProblem p = global_problem();
    int sliding = 0;
    for (int k = 0; k < sand_solver_count(); k++) {
        if (!sand_solver_can(k, SAND_FRICTION_COULOMB) || sand_solver_table[k].needs & SAND_NEEDS_BODIES) continue;
        SandSolveDef def = sand_default_solve();
        sand_solve_choose(&def, k);
        def.friction = SAND_FRICTION_COULOMB;
        def.iterations = 20000;
        def.tolerance = 1e-9;
        if (!strcmp(sand_solver_table[k].name, "jacobi")) def.params[0] = 0.1;
        SandSolution s = {0};
        SandCpu *cpu = sand_cpu_create(1, SAND_DOUBLE, &error);
        if (!sand_cpu_solve(cpu, &p, &def, &s, &error)) fail_msg("%s", error.text);
        print_message("%s: %s after %d iterations, residual %.1e\n", sand_solver_table[k].name, sand_status_text(s.status),
                      s.iterations, s.metrics.residual);
        assert_int_equal(s.status, SAND_SOLVED);
        for (int i = 0; i < CONTACTS; i++) sliding += assert_law(&s, i, 1e-8);
        sand_solution_free(&s);
        sand_cpu_free(cpu);
    }
    assert_true(sliding > 0);
    sand_problem_free(&p);
}

// Where W is not symmetric, methods that need no symmetry solve it as it is stored, by Coulomb's law and the dense matrix;
// the others refuse it and name those that can. The symmetric part has another solution.
static void an_unsymmetric_matrix_is_solved(void **state) {
    (void)state;
    skew_mass(0.01);
    SandError error = {""};
    SandProblem p = global_problem();
    int solved = 0;
    for (int k = 0; k < sand_solver_count(); k++) {
        if (!sand_solver_can(k, SAND_FRICTION_COULOMB) || sand_solver_table[k].needs & SAND_NEEDS_BODIES) continue;
        const char *name = sand_solver_table[k].name;
        SandSolveDef def = sand_default_solve();
        sand_solve_choose(&def, k);
        def.friction = SAND_FRICTION_COULOMB;
        def.iterations = 20000;
        def.tolerance = 1e-10;
        if (!strcmp(name, "jacobi")) def.params[0] = 0.1; // rows are coupled more strongly than in a pile
        SandSolution s = {0};
        SandCpu *cpu = sand_cpu_create(1, SAND_DOUBLE, &error);
        if (!(sand_solver_table[k].friction & SAND_UNSYMMETRIC)) {
            assert_false(sand_cpu_solve(cpu, &p, &def, &s, &error));
            if (strncmp(error.text, name, strlen(name)) || !strstr(error.text, "symmetric W") || !strstr(error.text, "ngs"))
                fail_msg("%s", error.text);
        } else {
            if (!sand_cpu_solve(cpu, &p, &def, &s, &error)) fail_msg("%s", error.text);
            print_message("%s: %s after %d iterations, residual %.1e\n", name, sand_status_text(s.status), s.iterations,
                          s.metrics.residual);
            assert_int_equal(s.status, SAND_SOLVED);
            solved++;
        }
        for (int i = 0; s.impulse && i < CONTACTS; i++) {
            double u[3];
            velocity_of(&s, i, u);
            assert_law(&s, i, 1e-9);
            assert_true(fabs(s.velocity[i].x + u[0]) + fabs(s.velocity[i].y + u[1]) <= 1e-11);
        }
        sand_solution_free(&s);
        sand_cpu_free(cpu);
    }
    assert_true(solved >= 4); // gauss-seidel, jacobi, ngs, newton
    sand_problem_free(&p);
    skew_mass(-0.01);
}

static void refused(const char *words) {
    SandProblem p = {0};
    SandError error = {""};
    if (sand_problem_open(&p, path, &error)) fail_msg("was taken, where '%s' was expected", words);
    if (!strstr(error.text, words)) fail_msg("'%s' does not say '%s'", error.text, words);
    sand_problem_free(&p);
}

static void unsupported_problems_are_refused(void **state) {
    (void)state;
    hid_t problem, file = begin(path, true, COLUMNS, &problem);
    put_matrix(problem, "G", &mass[0][0], DOFS, DOFS, COLUMNS);
    end(file, problem);
    refused("of its bilateral constraints vectors/b is missing");

    file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    problem = H5Gcreate2(file, "fclib_global_rolling", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    put_int(problem, "spacedim", 3);
    end(file, problem);
    refused("is in 3 dimensions, not 5");

    file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    refused("has no FCLIB problem");

    double heavy = mass[0][0];
    mass[0][0] = -1;
    file = begin(path, true, COLUMNS, &problem);
    mass[0][0] = heavy;
    end(file, problem);
    refused("not positive definite");

    double kept = w_dense[0][4];
    w_dense[0][4] += 1;
    file = begin(path, false, LINES, &problem);
    w_dense[0][4] = kept;
    end(file, problem);
    refused("not symmetric");

    file = begin(path, false, COLUMNS, &problem);
    H5Ldelete(problem, "vectors/q", H5P_DEFAULT);
    end(file, problem);
    refused("vectors/q is missing");

    friction[1] = NAN;
    file = begin(path, false, COLUMNS, &problem);
    friction[1] = 0.4;
    end(file, problem);
    refused("not finite");
}

// Replaces a vector of the problem by one that claims 2^30 numbers and stores none of them.
static void promise(hid_t problem, const char *name) {
    hsize_t count = (hsize_t)1 << 30, chunk = 1024;
    H5Ldelete(problem, name, H5P_DEFAULT);
    hid_t space = H5Screate_simple(1, &count, NULL), list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, 1, &chunk);
    hid_t set = H5Dcreate2(problem, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(set >= 0);
    H5Dclose(set);
    H5Pclose(list);
    H5Sclose(space);
}

// Files that contradict themselves, promise what they do not hold, or have nothing to solve.
static void broken_files_are_refused(void **state) {
    (void)state;
    hid_t problem, file;
    double kept[DOFS][DOFS];
    memcpy(kept, mass, sizeof mass);
    mass[0][3] = 0; // one entry of a half, where the other half has it
    file = begin(path, true, COLUMNS, &problem);
    memcpy(mass, kept, sizeof mass);
    end(file, problem);
    refused("the halves of M contradict each other");

    double kept_w[ROWS][ROWS];
    memcpy(kept_w, w_dense, sizeof w_dense);
    memset(w_dense, 0, sizeof w_dense);
    file = begin(path, false, COLUMNS, &problem);
    end(file, problem);
    refused("W is zero");
    memcpy(w_dense, kept_w, sizeof w_dense);
    w_dense[4][4] = -0.001;
    file = begin(path, false, COLUMNS, &problem);
    memcpy(w_dense, kept_w, sizeof w_dense);
    end(file, problem);
    refused("entry 4 of W's diagonal is -0.001");

    file = begin(path, false, COLUMNS, &problem);
    H5Ldelete(problem, "vectors/mu", H5P_DEFAULT);
    put(problem, "vectors/mu", H5T_NATIVE_DOUBLE, friction, 0);
    end(file, problem);
    refused("has no contacts");

    static const char *const promises[] = {"vectors/mu", "vectors/q", "W/p", "W/i", "W/x", "W/m"};
    for (size_t k = 0; k < sizeof promises / sizeof *promises; k++) {
        file = begin(path, false, COLUMNS, &problem);
        promise(problem, promises[k]);
        end(file, problem);
        refused("promises 1073741824 numbers, which the file does not hold");
    }

    file = begin(path, false, TRIPLETS, &problem);
    H5Ldelete(problem, "W/m", H5P_DEFAULT);
    put_int(problem, "W/m", 2000000001);
    end(file, problem);
    refused("is 2000000001 by 12 where the vectors ask for 12 by 12");

    remove(path);
    refused("cannot read: No such file");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_is_read),
        cmocka_unit_test(one_half_is_enough),
        cmocka_unit_test(an_unsymmetric_matrix_is_kept),
        cmocka_unit_test(an_unsymmetric_matrix_is_solved),
        cmocka_unit_test(solvers_run_on_a_matrix),
        cmocka_unit_test(coulomb_on_a_matrix),
        cmocka_unit_test(methods_of_bodies_refuse_a_matrix),
        cmocka_unit_test(unsupported_problems_are_refused),
        cmocka_unit_test(broken_files_are_refused),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
