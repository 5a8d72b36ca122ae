// SPDX-License-Identifier: MIT
// Sparse matrices and their factors (sim/solver/reference/factors.h) against the same in plain dense algebra, on matrices of
// the kinds that the reference methods have: definite, quasi-definite and without symmetry, in pieces, dense, and so large
// that nested dissection is tried.
#include "sim/solver/reference/factors.h"
#include "sim/solver/reference/sparse.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t state;

static double chance(void) { // -1 to 1
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / (double)(1ull << 52) - 1;
}

static int below(int count) { return (int)(0.5 * (chance() + 1) * count) % count; }

static SandSparse *from(int rows, int columns, const SandTriplet *list, size_t count) {
    SandSparse *a = sand_sparse_from_triplets(rows, columns, list, count);
    assert_non_null(a);
    return a;
}

static SandSparse *random_sparse(int rows, int columns, int per_column) {
    size_t count = (size_t)columns * (size_t)per_column;
    SandTriplet *list = malloc((count + 1) * sizeof *list);
    for (size_t k = 0; k < count; k++) list[k] = (SandTriplet){below(rows), (int)(k / (size_t)per_column), chance()};
    SandSparse *a = from(rows, columns, list, count);
    free(list);
    return a;
}

static double *dense(const SandSparse *a) {
    double *d = calloc((size_t)a->rows * (size_t)a->columns + 1, sizeof *d);
    for (int j = 0; j < a->columns; j++)
        for (int e = a->begin[j]; e < a->begin[j + 1]; e++)
            d[(size_t)a->rows * (size_t)j + (size_t)a->row[e]] += a->value[e];
    return d;
}

// In order, each place once.
static void check_sorted(const SandSparse *a) {
    assert_int_equal(a->begin[0], 0);
    for (int j = 0; j < a->columns; j++)
        for (int e = a->begin[j]; e < a->begin[j + 1]; e++) {
            assert_in_range(a->row[e], 0, a->rows - 1);
            assert_true(e == a->begin[j] || a->row[e - 1] < a->row[e]);
        }
}

static void check_dense(const SandSparse *a, const double *expected) {
    double *d = dense(a);
    check_sorted(a);
    for (size_t k = 0; k < (size_t)a->rows * (size_t)a->columns; k++) assert_true(fabs(d[k] - expected[k]) < 1e-14);
    free(d);
}

// --- matrices ---------------------------------------------------------------------------------------------

static void matrices_are_what_they_say(void **unused) {
    (void)unused;
    enum { ROWS = 17, COLUMNS = 23 };
    SandSparse *a = random_sparse(ROWS, COLUMNS, 4), *b = random_sparse(ROWS, COLUMNS, 3), *t = sand_sparse_transpose(b);
    SandSparse *sum = sand_sparse_add(a, b, 2, -3), *product = sand_sparse_multiply(a, t), *copy = sand_sparse_copy(a);
    SandSparse *beside = sand_sparse_beside(a, b), *above = sand_sparse_above(a, b);
    double *da = dense(a), *db = dense(b), expected[2 * ROWS * COLUMNS], largest = 0;
    for (int k = 0; k < ROWS * COLUMNS; k++) expected[k] = 2 * da[k] - 3 * db[k];
    check_dense(sum, expected);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++) {
            expected[ROWS * j + i] = 0;
            for (int k = 0; k < COLUMNS; k++) expected[ROWS * j + i] += da[ROWS * k + i] * db[ROWS * k + j];
        }
    check_dense(product, expected);
    check_dense(copy, da);
    memcpy(expected, da, sizeof(double[ROWS * COLUMNS]));
    memcpy(expected + ROWS * COLUMNS, db, sizeof(double[ROWS * COLUMNS]));
    check_dense(beside, expected);
    for (int j = 0; j < COLUMNS; j++)
        for (int i = 0; i < ROWS; i++) {
            expected[2 * ROWS * j + i] = da[ROWS * j + i];
            expected[2 * ROWS * j + ROWS + i] = db[ROWS * j + i];
        }
    check_dense(above, expected);
    for (int i = 0; i < ROWS; i++) {
        double row = 0;
        for (int j = 0; j < COLUMNS; j++) row += fabs(da[ROWS * j + i]);
        largest = fmax(largest, row);
    }
    assert_true(fabs(sand_sparse_norm(a) - largest) < 1e-14);
    SandSparse *all[] = {a, b, t, sum, product, copy, beside, above};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) sand_sparse_free(all[k]);
    free(da);
    free(db);
}

static void nothing_makes_nothing(void **unused) {
    (void)unused;
    SandSparse *empty = from(0, 0, NULL, 0), *t = sand_sparse_transpose(empty), *product = sand_sparse_multiply(empty, t);
    assert_int_equal(product->begin[0], 0);
    assert_null(sand_sparse_multiply(empty, NULL));
    assert_null(sand_sparse_add(NULL, empty, 1, 1));
    assert_null(sand_sparse_transpose(NULL));
    assert_null(sand_sparse_above(empty, NULL));
    sand_sparse_free(empty);
    sand_sparse_free(t);
    sand_sparse_free(product);
}

// --- factors ----------------------------------------------------------------------------------------------

// Solves A x = b for a random b. Returns the residual over the sizes of A and x.
static double solve_error(SandFactors *f, const SandSparse *a) {
    size_t n = (size_t)a->columns;
    double *b = malloc((3 * n + 1) * sizeof *b), *x = b + n, *r = x + n, left = 0, size = 0, whole = 0;
    for (size_t k = 0; k < n; k++) r[k] = b[k] = chance();
    sand_factors_solve(f, b, x);
    for (int j = 0; j < a->columns; j++)
        for (int e = a->begin[j]; e < a->begin[j + 1]; e++) r[a->row[e]] -= a->value[e] * x[j];
    for (size_t k = 0; k < n; k++) {
        left = fmax(left, fabs(r[k]));
        size = fmax(size, fabs(x[k]));
    }
    whole = sand_sparse_norm(a) * size;
    free(b);
    return n ? left / whole : 0;
}

// Factorizes twice, as one analysis serves all, and checks both.
static void check(SandFactorsKind kind, const SandSparse *a) {
    SandError error;
    SandFactors *f = sand_factors_create(
        &(SandFactorsDef){kind, a->columns, a->begin, a->row, .refinements = kind == SAND_FACTORS_GENERAL}, &error);
    assert_non_null(f);
    double *other = malloc(((size_t)a->begin[a->columns] + 1) * sizeof *other);
    for (int e = 0; e < a->begin[a->columns]; e++) other[e] = 2 * a->value[e];
    assert_true(sand_factors_factor(f, other));
    assert_true(sand_factors_factor(f, a->value));
    // Some rounding errors for each unknown in the way of another; 1e-15 is met where there are few.
    assert_true(solve_error(f, a) < 1e-13);
    assert_true(a->columns == 0 || sand_factors_flops(f) > 0);
    sand_factors_free(f);
    free(other);
}

// A A' + I, of unknowns in groups of `size` that are coupled alike, as those of a body.
static SandSparse *definite(int groups, int size, int links, double diagonal) {
    int n = groups * size;
    size_t count = 0;
    SandTriplet *list = malloc(((size_t)links * 2 * (size_t)size + 1) * sizeof *list);
    for (int l = 0; l < links; l++) {
        int first = below(groups), second = below(groups);
        for (int k = 0; k < size; k++) {
            list[count++] = (SandTriplet){size * first + k, l, chance()};
            list[count++] = (SandTriplet){size * second + k, l, chance()};
        }
    }
    SandSparse *a = from(n, links, list, count), *t = sand_sparse_transpose(a), *aa = sand_sparse_multiply(a, t);
    SandSparse *identity = sand_sparse_identity(n), *sum = sand_sparse_add(aa, identity, 1, diagonal);
    sand_sparse_free(a);
    sand_sparse_free(t);
    sand_sparse_free(aa);
    sand_sparse_free(identity);
    free(list);
    return sum;
}

static void definite_systems_are_solved(void **unused) {
    (void)unused;
    const int shapes[][3] = {{0, 1, 0},   {1, 1, 0},    {1, 6, 3},     {5, 1, 0},
                             {40, 6, 20}, {40, 6, 150}, {300, 3, 500}, {80, 3, 3000}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        SandSparse *a = definite(shapes[k][0], shapes[k][1], shapes[k][2], 1);
        check(SAND_FACTORS_DEFINITE, a);
        sand_sparse_free(a);
    }
}

// [I A; A' -I]
static void quasi_definite_systems_are_solved(void **unused) {
    (void)unused;
    for (int n = 1; n < 200; n += 33) {
        SandSparse *a = random_sparse(n, 2 * n, 3), *t = sand_sparse_transpose(a), *one = sand_sparse_identity(n);
        SandSparse *two = sand_sparse_identity(2 * n), *minus = sand_sparse_add(two, two, -0.5, -0.5);
        SandSparse *top = sand_sparse_beside(one, a), *bottom = sand_sparse_beside(t, minus);
        SandSparse *whole = sand_sparse_above(top, bottom);
        check(SAND_FACTORS_INDEFINITE, whole);
        SandSparse *all[] = {a, t, one, two, minus, top, bottom, whole};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) sand_sparse_free(all[k]);
    }
}

// A definite part and a skew one, once with a pattern that is not symmetric either.
static void systems_without_symmetry_are_solved(void **unused) {
    (void)unused;
    for (int groups = 1; groups < 100; groups += 14) {
        SandSparse *a = definite(groups, 6, 3 * groups, 1), *skew = random_sparse(6 * groups, 6 * groups, 2);
        SandSparse *t = sand_sparse_transpose(skew), *odd = sand_sparse_add(skew, t, 1, -1);
        SandSparse *whole = sand_sparse_add(a, odd, 1, 3), *lopsided = sand_sparse_add(a, skew, 1, 0.2);
        check(SAND_FACTORS_GENERAL, whole);
        check(SAND_FACTORS_GENERAL, lopsided);
        SandSparse *all[] = {a, skew, t, odd, whole, lopsided};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) sand_sparse_free(all[k]);
    }
}

// The diagonal has zeros, so that rows of a supernode must be exchanged.
static void rows_are_exchanged(void **unused) {
    (void)unused;
    const SandTriplet list[] = {{0, 1, 2}, {1, 0, 3}, {1, 2, 1}, {2, 1, 4}, {2, 2, 1}, {0, 2, 5}, {2, 0, 1}};
    SandSparse *a = from(3, 3, list, sizeof list / sizeof *list);
    check(SAND_FACTORS_GENERAL, a);
    sand_sparse_free(a);
}

// The Laplace operator on a cube of points: its factors are so large that nested dissection is tried, and chosen.
static void large_systems_are_dissected(void **unused) {
    (void)unused;
    enum { SIDE = 26, ALL = SIDE * SIDE * SIDE };
    const int step[3] = {1, SIDE, SIDE * SIDE};
    SandTriplet *list = malloc(7 * ALL * sizeof *list);
    size_t count = 0;
    for (int k = 0; k < ALL; k++) {
        list[count++] = (SandTriplet){k, k, 6.1};
        for (int axis = 0; axis < 3; axis++) {
            if (k / step[axis] % SIDE == SIDE - 1) continue;
            list[count++] = (SandTriplet){k, k + step[axis], -1};
            list[count++] = (SandTriplet){k + step[axis], k, -1};
        }
    }
    SandSparse *a = from(ALL, ALL, list, count);
    SandFactorShape best, degree, dissection;
    SandError error;
    assert_true(sand_factor_shape_make(&best, ALL, a->begin, a->row, SAND_ORDERING_BEST, &error));
    assert_true(sand_factor_shape_make(&degree, ALL, a->begin, a->row, SAND_ORDERING_MINIMUM_DEGREE, &error));
    assert_true(sand_factor_shape_make(&dissection, ALL, a->begin, a->row, SAND_ORDERING_DISSECTION, &error));
    assert_true(dissection.squares < degree.squares);
    assert_true(best.squares == dissection.squares);
    sand_factor_shape_free(&best);
    sand_factor_shape_free(&degree);
    sand_factor_shape_free(&dissection);
    check(SAND_FACTORS_DEFINITE, a);
    check(SAND_FACTORS_GENERAL, a);
    sand_sparse_free(a);
    free(list);
}

// The counts of a shape are those of an elimination that is carried out on a dense pattern.
static void counts_are_those_of_an_elimination(void **unused) {
    (void)unused;
    for (int n = 1; n < 80; n += 13) {
        SandSparse *a = random_sparse(n, n, 2);
        SandFactorShape s;
        SandError error;
        bool *full = calloc((size_t)(n * n), sizeof *full);
        double entries = 0, squares = 0;
        assert_true(sand_factor_shape_make(&s, n, a->begin, a->row, SAND_ORDERING_BEST, &error));
        for (int j = 0; j < n; j++)
            for (int e = a->begin[j]; e < a->begin[j + 1]; e++)
                full[n * s.place[j] + s.place[a->row[e]]] = full[n * s.place[a->row[e]] + s.place[j]] = true;
        for (int k = 0; k < n; k++) {
            double length = 1;
            const int *row = s.row + s.begin[s.supernode_of[k]];
            assert_int_equal(s.order[s.place[k]], k);
            for (int i = k + 1; i < n; i++) {
                if (!full[n * k + i]) continue;
                length++;
                // Its supernode has this row.
                int found = 0;
                for (int r = 0; r < sand_supernode_rows(&s, s.supernode_of[k]); r++) found += row[r] == i;
                assert_int_equal(found, 1);
                for (int j = k + 1; j < n; j++) full[n * i + j] = full[n * i + j] || full[n * k + j];
            }
            entries += length;
            squares += length * length;
        }
        assert_true(s.entries == entries && s.squares == squares);
        sand_factor_shape_free(&s);
        sand_sparse_free(a);
        free(full);
    }
}

static void what_has_no_factors_is_refused(void **unused) {
    (void)unused;
    SandError error;
    const SandTriplet list[] = {{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {1, 1, 1}, {2, 2, 1}};
    SandSparse *a = from(3, 3, list, 5);
    double b[3] = {1, 1, 1}, x[3];
    for (int kind = SAND_FACTORS_DEFINITE; kind <= SAND_FACTORS_GENERAL; kind++) {
        SandFactors *f =
            sand_factors_create(&(SandFactorsDef){(SandFactorsKind)kind, 3, a->begin, a->row, .refinements = 0}, &error);
        assert_int_equal(sand_factors_factor(f, a->value), kind != SAND_FACTORS_DEFINITE); // its pivots are 1 and -3
        sand_factors_solve(f, b, x);
        for (int k = 0; k < 3; k++) assert_true(isfinite(x[k]));
        double wrong[5] = {0, 0, 0, 0, 0};
        assert_false(sand_factors_factor(f, wrong));
        wrong[0] = NAN;
        assert_false(sand_factors_factor(f, wrong));
        sand_factors_free(f);
    }
    sand_sparse_free(a);
}

// Supernodes beyond one block of columns.
static void wide_supernodes_are_factored(void **unused) {
    (void)unused;
    for (int n = 40; n < 240; n += 60) {
        SandSparse *a = random_sparse(n, n, 3 * n), *t = sand_sparse_transpose(a), *product = sand_sparse_multiply(a, t);
        SandSparse *identity = sand_sparse_identity(n), *sum = sand_sparse_add(product, identity, 1, 1);
        check(SAND_FACTORS_DEFINITE, sum);
        check(SAND_FACTORS_GENERAL, sum);
        check(SAND_FACTORS_GENERAL, a); // full, so that rows are sought everywhere
        SandSparse *all[] = {a, t, product, identity, sum};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) sand_sparse_free(all[k]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices_are_what_they_say),          cmocka_unit_test(nothing_makes_nothing),
        cmocka_unit_test(definite_systems_are_solved),         cmocka_unit_test(quasi_definite_systems_are_solved),
        cmocka_unit_test(systems_without_symmetry_are_solved), cmocka_unit_test(rows_are_exchanged),
        cmocka_unit_test(large_systems_are_dissected),         cmocka_unit_test(counts_are_those_of_an_elimination),
        cmocka_unit_test(what_has_no_factors_is_refused),      cmocka_unit_test(wide_supernodes_are_factored)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
