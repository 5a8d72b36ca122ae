// SPDX-License-Identifier: MIT
// Stored problems beyond contacts with three rows: bilateral constraints and rolling friction, in FCLIB files (local and
// global) and in Siconos' text. What is solved is judged by the definitions of the formats, in dense algebra.
#include "tests/lab/solver/fclib_lab.h"
#include "sandglass/problem.h"
#include "sim/core/random.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { DOFS = 18, CONTACTS = 3, MOST = 5, ROWS = 5 * CONTACTS + MOST };

// A problem M v = H r + G l + f, u = H' v + w, G' v + b = 0; the columns of G follow those of H, and b follows w.
typedef struct Dense {
    int components, own, bilateral, rows; // of a contact; rows of contacts, of constraints, of both
    double mass[DOFS][DOFS], inverse[DOFS][DOFS], lever[DOFS][ROWS], force[DOFS], drift[ROWS];
    double mu[CONTACTS], mu_r[CONTACTS];
    double w[ROWS][ROWS], q[ROWS]; // the same, reduced
} Dense;

static void invert(const double m[DOFS][DOFS], double inverse[DOFS][DOFS]) {
    double a[DOFS][2 * DOFS] = {{0}};
    for (int i = 0; i < DOFS; i++) {
        for (int j = 0; j < DOFS; j++) a[i][j] = m[i][j];
        a[i][DOFS + i] = 1;
    }
    for (int k = 0; k < DOFS; k++)
        for (int i = 0; i < DOFS; i++) {
            double f = i == k ? 1 - 1 / a[k][k] : a[i][k] / a[k][k];
            for (int j = 2 * DOFS - 1; j >= k; j--) a[i][j] -= f * a[k][j];
        }
    for (int i = 0; i < DOFS; i++)
        for (int j = 0; j < DOFS; j++) inverse[i][j] = a[i][DOFS + j];
}

// v = M^-1 (H r + G l + f)
static void global_velocity(const Dense *d, const double *r, double *v) {
    double load[DOFS];
    for (int k = 0; k < DOFS; k++) {
        load[k] = d->force[k];
        for (int j = 0; r && j < d->rows; j++) load[k] += d->lever[k][j] * r[j];
    }
    for (int k = 0; k < DOFS; k++) {
        v[k] = 0;
        for (int j = 0; j < DOFS; j++) v[k] += d->inverse[k][j] * load[j];
    }
}

// The velocities of all rows: zero is what the last of them ask for.
static void row_velocities(const Dense *d, const double *r, double *u) {
    double v[DOFS];
    global_velocity(d, r, v);
    for (int i = 0; i < d->rows; i++) {
        u[i] = d->drift[i];
        for (int k = 0; k < DOFS; k++) u[i] += d->lever[k][i] * v[k];
    }
}

static Dense random_problem(int seed, int components, int bilateral) {
    SandRandom random = sand_random((uint64_t)seed + 3);
    Dense d = {.components = components, .own = components * CONTACTS, .bilateral = bilateral};
    d.rows = d.own + bilateral;
    for (int i = 0; i < DOFS; i++) {
        d.mass[i][i] = 1 + 0.1 * i;
        if (i + 3 < DOFS) d.mass[i][i + 3] = d.mass[i + 3][i] = 0.2;
        d.force[i] = 0.5 * sand_random_signed(&random);
        for (int j = 0; j < d.rows; j++) d.lever[i][j] = sand_random_signed(&random);
    }
    for (int j = 0; j < d.rows; j++) d.drift[j] = sand_random_signed(&random) - (j < d.own && j % components == 0 ? 2 : 0);
    for (int i = 0; i < CONTACTS; i++) {
        d.mu[i] = 0.2 + 0.2 * i;
        d.mu_r[i] = 0.1 + 0.15 * i;
    }
    invert(d.mass, d.inverse);
    row_velocities(&d, NULL, d.q);
    for (int j = 0; j < d.rows; j++) {
        double one[ROWS] = {0}, u[ROWS];
        one[j] = 1;
        row_velocities(&d, one, u);
        for (int i = 0; i < d.rows; i++) d.w[i][j] = u[i] - d.q[i];
    }
    return d;
}

// --- writing ------------------------------------------------------------------------------------------------

static char path[64];

static void put_part(hid_t problem, const char *name, const double *dense, int stride, int m, int n, Form form) {
    double part[ROWS * ROWS];
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) part[i * n + j] = dense[i * stride + j];
    put_matrix(problem, name, part, m, n, form);
}

static void write_fclib(const Dense *d, bool global, Form form) {
    bool rolling = d->components == 5;
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const char *names[2][2] = {{"fclib_local", "fclib_local_rolling"}, {"fclib_global", "fclib_global_rolling"}};
    hid_t problem = H5Gcreate2(file, names[global][rolling], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t vectors = H5Gcreate2(problem, "vectors", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    put_int(problem, "spacedim", d->components);
    put(vectors, "mu", H5T_NATIVE_DOUBLE, d->mu, CONTACTS);
    if (rolling) put(vectors, "mu_r", H5T_NATIVE_DOUBLE, d->mu_r, CONTACTS);
    hsize_t own = (hsize_t)d->own, bilateral = (hsize_t)d->bilateral;
    if (global) {
        put_part(problem, "M", &d->mass[0][0], DOFS, DOFS, DOFS, form);
        put_part(problem, "H", &d->lever[0][0], ROWS, DOFS, d->own, form);
        put(vectors, "f", H5T_NATIVE_DOUBLE, d->force, DOFS);
        put(vectors, "w", H5T_NATIVE_DOUBLE, d->drift, own);
        if (d->bilateral) put_part(problem, "G", &d->lever[0][d->own], ROWS, DOFS, d->bilateral, form);
        if (d->bilateral) put(vectors, "b", H5T_NATIVE_DOUBLE, d->drift + d->own, bilateral);
    } else {
        put_part(problem, "W", &d->w[0][0], ROWS, d->own, d->own, form);
        put(vectors, "q", H5T_NATIVE_DOUBLE, d->q, own);
        if (d->bilateral) {
            put_part(problem, "V", &d->w[0][d->own], ROWS, d->own, d->bilateral, form);
            put_part(problem, "R", &d->w[d->own][d->own], ROWS, d->bilateral, d->bilateral, form);
            put(vectors, "s", H5T_NATIVE_DOUBLE, d->q + d->own, bilateral);
        }
    }
    H5Gclose(vectors);
    H5Gclose(problem);
    H5Fclose(file);
}

static void print_vector(FILE *file, const double *x, int count) {
    for (int k = 0; k < count; k++) fprintf(file, "%.17e ", x[k]);
    fputc('\n', file);
}

static void print_matrix(FILE *file, const double *dense, int stride, int rows, int columns) {
    fprintf(file, "0\n%d\n%d\n%d\t%d\n", rows, columns, rows, columns);
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rows; i++) fprintf(file, "%.17e ", dense[i * stride + j]);
    fputc('\n', file);
}

// As Siconos writes a problem of rolling friction: its q is f here, its b is w.
static void write_text(const Dense *d, bool global) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%d\n%d\n", d->components, CONTACTS);
    if (global) {
        print_matrix(file, &d->mass[0][0], DOFS, DOFS, DOFS);
        print_matrix(file, &d->lever[0][0], ROWS, DOFS, d->own);
        print_vector(file, d->force, DOFS);
        print_vector(file, d->drift, d->own);
    } else {
        print_matrix(file, &d->w[0][0], ROWS, d->own, d->own);
        print_vector(file, d->q, d->own);
    }
    print_vector(file, d->mu, CONTACTS);
    if (d->components == 5) print_vector(file, d->mu_r, CONTACTS);
    fclose(file);
}

// --- solving ------------------------------------------------------------------------------------------------

// The impulses of a solution by stored rows.
static void rows_of(const Dense *d, const SandProblem *p, const SandSolution *s, double *r) {
    for (int i = 0; i < CONTACTS; i++) {
        const SandVec3 *g = &s->impulse[i], *t = p->rolls ? &s->impulse[p->contact_count + i] : NULL;
        const double numbers[5] = {g->x, g->y, g->z, t ? t->y : 0, t ? t->z : 0};
        if (t) assert_true(t->x == 0);
        memcpy(r + d->components * i, numbers, (size_t)d->components * sizeof *r);
    }
    for (int k = 0; k < d->bilateral; k++) {
        SandVec3 g = s->impulse[CONTACTS + k / 3];
        int left = d->bilateral - 3 * (k / 3), at = left == 2 ? k % 3 + 1 : k % 3;
        r[d->own + k] = at == 0 ? g.x : at == 1 ? g.y : g.z;
    }
}

static void check(const Dense *d, const SandProblem *p, const SandSolution *s, bool law) {
    double r[ROWS], u[ROWS], most = 0;
    rows_of(d, p, s, r);
    row_velocities(d, r, u);
    for (int k = d->own; k < d->rows; k++) assert_true(fabs(u[k]) <= 1e-7); // the constraints hold
    for (int i = 0; i < CONTACTS; i++) {
        const double *g = r + d->components * i, *v = u + d->components * i;
        double slip = hypot(v[1], v[2]), rolls = d->components == 5 ? hypot(v[3], v[4]) : 0;
        double lost = d->mu[i] * slip + d->mu_r[i] * rolls, normal = v[0] + (law ? lost : 0), work = g[0] * normal;
        for (int k = 1; k < d->components; k++) work += g[k] * v[k];
        assert_true(g[0] >= 0 && hypot(g[1], g[2]) <= d->mu[i] * g[0] + 1e-9);
        if (d->components == 5) assert_true(hypot(g[3], g[4]) <= d->mu_r[i] * g[0] + 1e-9);
        assert_true(normal >= lost - 1e-7); // in the dual cone
        assert_true(fabs(work) <= 1e-6);
        most = fmax(most, g[0]);
    }
    assert_true(most > 0.1);
}

static void solve_stored(const Dense *d, const char *solver, SandFriction friction) {
    SandProblem p = {0}, copy = {0};
    SandSolveDef def = sand_default_solve();
    SandSolution s = {.want_metrics = true};
    SandError error = {""};
    if (!sand_problem_open(&p, path, &error)) fail_msg("%s", error.text);
    assert_true(sand_problem_copy(&copy, &p, &error));
    assert_int_equal(p.contact_count, CONTACTS + (d->bilateral + 2) / 3);
    assert_true(p.rolls == (d->components == 5));
    sand_solve_choose(&def, sand_solver_find(solver));
    def.friction = friction;
    def.iterations = 100000;
    def.tolerance = 1e-9;
    if (!strcmp(solver, "jacobi")) def.params[0] = 0.05; // rows are coupled more strongly than in a pile
    SandCpu *cpu = sand_cpu_create(1, SAND_DOUBLE, &error);
    if (!sand_cpu_solve(cpu, &copy, &def, &s, &error)) fail_msg("%s", error.text);
    if (s.status != SAND_SOLVED)
        fail_msg("%s, %s: %s, residual %g", solver, sand_friction_table[friction].name, sand_status_text(s.status),
                 s.metrics.residual);
    check(d, &p, &s, friction == SAND_FRICTION_COULOMB);
    sand_solution_free(&s);
    sand_cpu_free(cpu);
    sand_problem_free(&copy);
    sand_problem_free(&p);
}

static const char *const methods[] = {"p-spg-fb", "apgd", "p-apgd", "gauss-seidel", "jacobi", "admm"};

static void solve_all(const Dense *d) {
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        solve_stored(d, methods[k], SAND_FRICTION_CONE);
        solve_stored(d, methods[k], SAND_FRICTION_COULOMB);
    }
    if (d->components == 3) solve_stored(d, "ipm-soc", SAND_FRICTION_CONE);
}

static void bilateral_constraints_are_solved(void **state) {
    (void)state;
    for (int bilateral = 1; bilateral <= MOST; bilateral++)
        for (int global = 0; global < 2; global++) {
            Dense d = random_problem(bilateral, 3, bilateral);
            write_fclib(&d, global, (Form)(bilateral % FORMS));
            solve_all(&d);
        }
}

static void rolling_friction_is_solved(void **state) {
    (void)state;
    for (int seed = 0; seed < 4; seed++)
        for (int global = 0; global < 2; global++) {
            Dense d = random_problem(seed, 5, seed % 2 ? seed : 0); // with bilateral constraints, too
            write_fclib(&d, global, (Form)(seed % FORMS));
            solve_all(&d);
            if (d.bilateral) continue; // Siconos' text has none
            write_text(&d, global);
            assert_true(sand_problem_is_stored(path));
            solve_stored(&d, "p-spg-fb", SAND_FRICTION_COULOMB);
        }
}

// The relative residual is Siconos': that of the rows as they are stored, whatever the arms of the torques.
static void the_relative_residual_is_in_stored_rows(void **state) {
    (void)state;
    Dense d = random_problem(5, 5, 0);
    SandProblem p = {0};
    SandSolveDef def = sand_default_solve();
    SandSolution s = {.want_metrics = true};
    SandError error = {""};
    double r[ROWS], u[ROWS], sum = 0, size = 0;
    write_fclib(&d, false, COLUMNS);
    if (!sand_problem_open(&p, path, &error)) fail_msg("%s", error.text);
    def.iterations = 3;
    SandCpu *cpu = sand_cpu_create(1, SAND_DOUBLE, &error);
    if (!sand_cpu_solve(cpu, &p, &def, &s, &error)) fail_msg("%s", error.text);
    rows_of(&d, &p, &s, r);
    row_velocities(&d, r, u);
    for (int i = 0; i < d.own; i++) size += d.q[i] * d.q[i];
    for (int i = 0; i < CONTACTS; i++) {
        double z[5], left = INFINITY;
        for (int k = 0; k < 5; k++) z[k] = r[5 * i + k] - u[5 * i + k];
        double low = 0, high = 1e6; // the nearest point of the cone, by bisection
        for (int step = 0; step < 200; step++) {
            double n = 0.5 * (low + high);
            left = n - z[0] - d.mu[i] * fmax(hypot(z[1], z[2]) - d.mu[i] * n, 0) -
                   d.mu_r[i] * fmax(hypot(z[3], z[4]) - d.mu_r[i] * n, 0);
            *(left > 0 ? &high : &low) = n;
        }
        double slides = fmin(1, d.mu[i] * low / hypot(z[1], z[2])), rolls = fmin(1, d.mu_r[i] * low / hypot(z[3], z[4]));
        const double nearest[5] = {low, slides * z[1], slides * z[2], rolls * z[3], rolls * z[4]};
        for (int k = 0; k < 5; k++) sum += (r[5 * i + k] - nearest[k]) * (r[5 * i + k] - nearest[k]);
    }
    double want = sqrt(sum / size);
    assert_true(want > 1e-3 && fabs(s.metrics.relative - want) <= 1e-9 * want);
    sand_solution_free(&s);
    sand_cpu_free(cpu);
    sand_problem_free(&p);
}

static void refused(const char *words) {
    SandProblem p = {0};
    SandError error = {""};
    if (sand_problem_open(&p, path, &error)) fail_msg("was taken, where '%s' was expected", words);
    if (!strstr(error.text, words)) fail_msg("'%s' does not say '%s'", error.text, words);
    sand_problem_free(&p);
}

static void what_is_missing_is_named(void **state) {
    (void)state;
    const char *parts[] = {"V", "R", "vectors/s"};
    for (int k = 0; k < 3; k++) {
        Dense d = random_problem(1, 3, 2);
        char whole[64], words[80];
        write_fclib(&d, false, COLUMNS);
        hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        snprintf(whole, sizeof whole, "fclib_local/%s", parts[k]);
        snprintf(words, sizeof words, "of its bilateral constraints %s is missing", parts[k]);
        assert_true(H5Ldelete(file, whole, H5P_DEFAULT) >= 0);
        H5Fclose(file);
        refused(words);
    }
    Dense d = random_problem(1, 5, 0);
    d.mu_r[1] = -1;
    write_fclib(&d, true, COLUMNS);
    refused("contact 1 has a negative mu");
}

// Methods without torques refuse them by name; so does an assembled one that would leave the torques out.
static void others_refuse_by_name(void **state) {
    (void)state;
    Dense d = random_problem(2, 5, 0);
    SandProblem p = {0};
    SandError error = {""};
    SandSolution s = {0};
    write_fclib(&d, false, COLUMNS);
    assert_true(sand_problem_open(&p, path, &error));
    SandCpu *cpu = sand_cpu_create(1, SAND_DOUBLE, &error);
    const char *names[] = {"ngs", "ipm-soc", "newton"};
    for (int k = 0; k < 3; k++) {
        SandSolveDef def = sand_default_solve();
        sand_solve_choose(&def, sand_solver_find(names[k]));
        def.friction = SAND_FRICTION_COULOMB;
        assert_false(sand_cpu_solve(cpu, &p, &def, &s, &error));
        assert_true(strstr(error.text, names[k]) && strstr(error.text, "rolling friction"));
        def.friction = SAND_FRICTIONLESS;
        assert_int_equal(sand_cpu_solve(cpu, &p, &def, &s, &error), k == 0);
    }
    sand_solution_free(&s);
    sand_cpu_free(cpu);
    sand_problem_free(&p);
}

static int open_folder(void **state) {
    (void)state;
    snprintf(path, sizeof path, "/tmp/test_stored_rows_%d", (int)getpid());
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return 0;
}
static int close_folder(void **state) {
    (void)state;
    remove(path);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(bilateral_constraints_are_solved),
                                       cmocka_unit_test(rolling_friction_is_solved),
                                       cmocka_unit_test(the_relative_residual_is_in_stored_rows),
                                       cmocka_unit_test(what_is_missing_is_named), cmocka_unit_test(others_refuse_by_name)};
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
