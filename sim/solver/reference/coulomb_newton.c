// SPDX-License-Identifier: MIT
// Nonsmooth Newton steps on Coulomb's law: see coulomb_newton.h.
#include "sim/solver/reference/coulomb_newton.h"

#include "sim/core/array.h"

#include <stdlib.h>
#include <string.h>

#define PROXIMAL_LEAST 1e-8 // of the diagonal of N; keeps the system regular where contacts are redundant
#define FLOPS_OF_BLOCK 300  // estimated flops of a factorization in the time that a sweep spends on a block of N

void sand_coulomb_newton_free(SandCoulombNewton *m) {
    void *arrays[] = {m->begin, m->row, m->at, m->value, m->right, m->solved, m->f, m->linear, m->dz, m->de, m->left};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) sand_free(arrays[k]);
    sand_factors_free(m->factors);
    *m = (SandCoulombNewton){0};
}

// --- the sparsity pattern ---------------------------------------------------------------------------------

// A pair of blocks, row and column.
typedef struct Pair {
    int column, row;
} Pair;

static int compare(const void *a, const void *b) {
    const Pair *x = a, *y = b;
    if (x->column != y->column) return x->column < y->column ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

// Writes the pattern of a matrix of square blocks from pairs, which are sorted here. Repeated pairs are merged.
static bool write_pattern(SandCoulombNewton *m, Pair *pairs, size_t *count, int blocks, int size, SandError *error) {
    qsort(pairs, *count, sizeof *pairs, compare);
    size_t kept = 0;
    for (size_t k = 0; k < *count; k++)
        if (!kept || compare(&pairs[kept - 1], &pairs[k]) != 0) pairs[kept++] = pairs[k];
    *count = kept;
    size_t entries = kept * (size_t)(size * size);
    m->rows = size * blocks;
    if (entries >= INT32_MAX) return sand_fail(error, "the Newton system has %zu entries, too many to factorize", entries);
    if (!SAND_GROW(m->begin, m->begin_capacity, m->rows + 1, "a Newton system", error) ||
        !SAND_GROW(m->row, m->row_capacity, entries + 1, "a Newton system", error) ||
        !SAND_GROW(m->value, m->value_capacity, entries + 1, "a Newton system", error))
        return false;
    int entry = 0;
    for (size_t k = 0, next; k < kept; k = next) {
        for (next = k; next < kept && pairs[next].column == pairs[k].column;) next++;
        for (int c = 0; c < size; c++) {
            m->begin[size * pairs[k].column + c] = entry;
            for (size_t l = k; l < next; l++)
                for (int r = 0; r < size; r++) m->row[entry++] = size * pairs[l].row + r;
        }
    }
    m->begin[m->rows] = entry;
    return true;
}

// Where block (row, column) begins in the values; its columns follow at the stride of the column.
static int block_at(const SandCoulombNewton *m, int row, int column, int size) {
    int low = 0, high = (m->begin[size * column + 1] - m->begin[size * column]) / size;
    while (low < high) {
        int middle = (low + high) / 2;
        if (m->row[m->begin[size * column] + size * middle] < size * row)
            low = middle + 1;
        else
            high = middle;
    }
    return m->begin[size * column] + size * low;
}

static bool pattern_of_bodies(SandCoulombNewton *m, SandError *error) {
    const SandCoulomb *law = m->law;
    Pair *pairs = NULL;
    size_t capacity = 0, count = 0;
    if (!SAND_GROW(pairs, capacity, (size_t)law->bodies + 2 * (size_t)law->contacts, "a Newton system", error) ||
        !SAND_GROW(m->at, m->at_capacity, 4 * (size_t)law->contacts + 1, "a Newton system", error)) {
        sand_free(pairs);
        return false;
    }
    for (int k = 0; k < law->bodies; k++) pairs[count++] = (Pair){k, k};
    for (int i = 0; i < law->contacts; i++) {
        if (law->b.data[i] < 0) continue;
        pairs[count++] = (Pair){law->a.data[i], law->b.data[i]};
        pairs[count++] = (Pair){law->b.data[i], law->a.data[i]};
    }
    bool ok = write_pattern(m, pairs, &count, law->bodies, 6, error);
    for (int i = 0; ok && i < law->contacts; i++) {
        int a = law->a.data[i], b = law->b.data[i], *at = m->at + 4 * (size_t)i;
        at[0] = block_at(m, a, a, 6);
        if (b < 0) continue;
        at[1] = block_at(m, a, b, 6);
        at[2] = block_at(m, b, a, 6);
        at[3] = block_at(m, b, b, 6);
    }
    sand_free(pairs);
    return ok;
}

static bool pattern_of_matrix(SandCoulombNewton *m, SandError *error) {
    const SandMatrix *n = m->law->matrix;
    size_t blocks = (size_t)n->first[m->law->contacts], capacity = 0, count = 0;
    Pair *pairs = NULL;
    if (!SAND_GROW(pairs, capacity, blocks + (size_t)m->law->contacts, "a Newton system", error) ||
        !SAND_GROW(m->at, m->at_capacity, blocks + 1, "a Newton system", error)) {
        sand_free(pairs);
        return false;
    }
    for (int i = 0; i < m->law->contacts; i++) {
        pairs[count++] = (Pair){i, i};
        for (int e = n->first[i]; e < n->first[i + 1]; e++) pairs[count++] = (Pair){n->column[e], i};
    }
    bool ok = write_pattern(m, pairs, &count, m->law->contacts, 3, error);
    for (int i = 0; ok && i < m->law->contacts; i++)
        for (int e = n->first[i]; e < n->first[i + 1]; e++) m->at[e] = block_at(m, i, n->column[e], 3);
    sand_free(pairs);
    return ok;
}

bool sand_coulomb_newton_make(SandCoulombNewton *m, const SandCoulomb *law, SandError *error) {
    *m = (SandCoulombNewton){.law = law};
    size_t n = 3 * (size_t)law->contacts;
    if (!SAND_GROW(m->f, m->f_capacity, n + 1, "Newton vectors", error) ||
        !SAND_GROW(m->linear, m->linear_capacity, 9 * n + 1, "Newton vectors", error) ||
        !SAND_GROW(m->dz, m->dz_capacity, n + 1, "Newton vectors", error) ||
        !SAND_GROW(m->left, m->left_capacity, n + 1, "Newton vectors", error) ||
        !SAND_GROW(m->de, m->de_capacity, 6 * (size_t)law->bodies + 1, "Newton vectors", error) ||
        !(law->matrix ? pattern_of_matrix(m, error) : pattern_of_bodies(m, error)) ||
        !SAND_GROW(m->right, m->right_capacity, m->rows + 1, "a Newton system", error) ||
        !SAND_GROW(m->solved, m->solved_capacity, m->rows + 1, "a Newton system", error))
        return false;
    // Its solutions are refined in sand_coulomb_newton_direction, on the equations themselves.
    SandFactorsDef def = {.kind = SAND_FACTORS_GENERAL, .n = m->rows, .begin = m->begin, .row = m->row};
    m->factors = sand_factors_create(&def, error);
    if (!m->factors) return false;
    double blocks = law->matrix ? law->matrix->first[law->contacts] : 12.0 * law->contacts;
    // Fitted to problems of 130 to 2,800 contacts.
    m->work = 60 + 0.1 * m->rows + sand_factors_flops(m->factors) / (FLOPS_OF_BLOCK * blocks);
    return true;
}

// --- the equations of a contact ---------------------------------------------------------------------------

// The steps rho of a contact, normal and tangential: over the diagonal of N_ii.
static void steps(const double *own, double *normal, double *side) {
    *normal = own[0] > 0 ? 1 / own[0] : 1;
    *side = own[4] + own[8] > 0 ? 2 / (own[4] + own[8]) : 1;
}

// F of a contact, scaled by the root of the diagonal to the units of sand_coulomb_sweep; with its derivatives A and B, as
// d(F) = A du + B dz, if these are not NULL.
static void contact_equation(const double *own, double mu, const double *z, const double *u, double *f, double *a,
                             double *b) {
    double normal, side;
    steps(own, &normal, &side);
    double p0 = z[0] - normal * u[0], p1 = z[1] - side * u[1], p2 = z[2] - side * u[2];
    if (a) memset(a, 0, 9 * sizeof *a);
    if (b) memset(b, 0, 9 * sizeof *b);
    if (p0 <= 0) { // open
        for (int k = 0; k < 3; k++) f[k] = z[k];
        for (int k = 0; b && k < 9; k += 4) b[k] = 1;
        return;
    }
    f[0] = normal * u[0];
    if (a) a[0] = normal;
    double length = sqrt(p1 * p1 + p2 * p2), bound = mu * p0;
    if (length <= bound) { // sticks
        f[1] = side * u[1];
        f[2] = side * u[2];
        if (a) a[4] = a[8] = side;
        return;
    }
    double t1 = p1 / length, t2 = p2 / length, ratio = bound / length;
    f[1] = z[1] - bound * t1;
    f[2] = z[2] - bound * t2;
    if (!a) return;
    double g11 = ratio * t2 * t2, g12 = -ratio * t1 * t2, g22 = ratio * t1 * t1; // of the projection, along the circle
    a[3] = mu * normal * t1;
    a[6] = mu * normal * t2;
    b[3] = -mu * t1;
    b[6] = -mu * t2;
    a[4] = side * g11;
    a[5] = a[7] = side * g12;
    a[8] = side * g22;
    b[4] = 1 - g11;
    b[5] = b[7] = -g12;
    b[8] = 1 - g22;
}

static double weight(const double *own) { return (own[0] + own[4] + own[8]) / 3; }

double sand_coulomb_newton_size(const SandCoulombNewton *m, SandCoulombPoint p) {
    const SandCoulomb *law = m->law;
    double sum = 0;
    for (int i = 0; i < law->contacts; i++) {
        double u[3], f[3];
        const double *own = law->own.data + 9 * (size_t)i;
        sand_coulomb_velocity(law, p, i, u);
        contact_equation(own, law->mu.data[i], p.z + 3 * (size_t)i, u, f, NULL, NULL);
        sum += weight(own) * (f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
    }
    return sqrt(sum);
}

static void invert(const double *m, double *out) {
    double c0 = m[4] * m[8] - m[5] * m[7], c1 = m[5] * m[6] - m[3] * m[8], c2 = m[3] * m[7] - m[4] * m[6];
    double per = 1 / (m[0] * c0 + m[1] * c1 + m[2] * c2);
    double inverse[9] = {c0, m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
                         c1, m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5],
                         c2, m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3]};
    for (int k = 0; k < 9; k++) out[k] = per * inverse[k];
}

static void apply(const double *m, const double *x, double *y) {
    double a = x[0], b = x[1], c = x[2];
    for (int k = 0; k < 3; k++) y[k] = m[3 * k] * a + m[3 * k + 1] * b + m[3 * k + 2] * c;
}

static void multiply(const double *a, const double *b, double *out) {
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++) out[3 * k + l] = a[3 * k] * b[l] + a[3 * k + 1] * b[3 + l] + a[3 * k + 2] * b[6 + l];
}

// Evaluates F and its derivatives everywhere.
static void linearize(SandCoulombNewton *m, SandCoulombPoint p) {
    const SandCoulomb *law = m->law;
    double proximal = fmax(law->proximal, PROXIMAL_LEAST);
    for (int i = 0; i < law->contacts; i++) {
        double u[3], *b = m->linear + 27 * (size_t)i, *a = b + 9, normal, side;
        const double *own = law->own.data + 9 * (size_t)i;
        sand_coulomb_velocity(law, p, i, u);
        contact_equation(own, law->mu.data[i], p.z + 3 * (size_t)i, u, m->f + 3 * (size_t)i, a, b);
        // The proximal term: u is that of N plus a multiple of its diagonal.
        steps(own, &normal, &side);
        for (int k = 0; k < 3; k++) {
            b[3 * k] += proximal / normal * a[3 * k];
            b[3 * k + 1] += proximal / side * a[3 * k + 1];
            b[3 * k + 2] += proximal / side * a[3 * k + 2];
        }
    }
}

// --- the linear system ------------------------------------------------------------------------------------

// Adds X G Y' for 6 x 3 matrices stored by columns to a block of the system.
static void add_block(double *value, int stride, const double *x, const double *g, const double *y) {
    double xg[18];
    for (int k = 0; k < 6; k++)
        for (int l = 0; l < 3; l++) xg[3 * k + l] = x[k] * g[l] + x[6 + k] * g[3 + l] + x[12 + k] * g[6 + l];
    for (int c = 0; c < 6; c++)
        for (int k = 0; k < 6; k++)
            value[c * stride + k] += xg[3 * k] * y[c] + xg[3 * k + 1] * y[6 + c] + xg[3 * k + 2] * y[12 + c];
}

static int stride_of(const SandCoulombNewton *m, int column, int size) {
    return m->begin[size * column + 1] - m->begin[size * column];
}

static void fill_bodies(SandCoulombNewton *m) {
    const SandCoulomb *law = m->law;
    for (int k = 0; k < law->bodies; k++)
        for (int c = 0, at = block_at(m, k, k, 6); c < 6; c++) m->value[at + c * stride_of(m, k, 6) + c] += 1;
    for (int i = 0; i < law->contacts; i++) {
        double *b = m->linear + 27 * (size_t)i, *a = b + 9, *inverse = b + 18, g[9];
        invert(b, inverse);
        if (a[0] == 0) continue; // open
        multiply(inverse, a, g);
        const double *root = law->root.data + 36 * (size_t)i;
        const int *at = m->at + 4 * (size_t)i;
        int first = stride_of(m, law->a.data[i], 6), second = law->b.data[i] < 0 ? 0 : stride_of(m, law->b.data[i], 6);
        add_block(m->value + at[0], first, root, g, root);
        if (law->b.data[i] < 0) continue;
        add_block(m->value + at[1], second, root, g, root + 18);
        add_block(m->value + at[2], first, root + 18, g, root);
        add_block(m->value + at[3], second, root + 18, g, root + 18);
    }
}

static void fill_matrix(SandCoulombNewton *m) {
    const SandCoulomb *law = m->law;
    const SandMatrix *n = law->matrix;
    for (int i = 0; i < law->contacts; i++) {
        const double *b = m->linear + 27 * (size_t)i, *a = b + 9;
        double *own = m->value + block_at(m, i, i, 3);
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++) own[c * stride_of(m, i, 3) + k] += b[3 * k + c];
        for (int e = n->first[i]; e < n->first[i + 1]; e++) {
            double product[9], *to = m->value + m->at[e];
            int stride = stride_of(m, n->column[e], 3);
            multiply(a, n->block + 9 * (size_t)e, product);
            for (int c = 0; c < 3; c++)
                for (int k = 0; k < 3; k++) to[c * stride + k] += product[3 * k + c];
        }
    }
}

// Adds the solution x of A N x + B x = left to dz, and updates E dz.
static void correct(SandCoulombNewton *m) {
    const SandCoulomb *law = m->law;
    if (law->matrix) {
        memcpy(m->right, m->left, (size_t)m->rows * sizeof *m->right);
        sand_factors_solve(m->factors, m->right, m->solved);
        for (int j = 0; j < m->rows; j++) m->dz[j] += m->solved[j];
    } else {
        memset(m->right, 0, (size_t)m->rows * sizeof *m->right);
        for (int i = 0; i < law->contacts; i++) {
            const double *root = law->root.data + 36 * (size_t)i;
            double x[3];
            apply(m->linear + 27 * (size_t)i + 18, m->left + 3 * (size_t)i, x);
            for (int side = 0; side < (law->b.data[i] < 0 ? 1 : 2); side++, root += 18) {
                double *to = m->right + 6 * (size_t)(side ? law->b.data[i] : law->a.data[i]);
                for (int k = 0; k < 6; k++) to[k] += root[k] * x[0] + root[6 + k] * x[1] + root[12 + k] * x[2];
            }
        }
        sand_factors_solve(m->factors, m->right, m->solved);
        // x = B^-1 (left - A E' solved)
        for (int i = 0; i < law->contacts; i++) {
            const double *root = law->root.data + 36 * (size_t)i, *b = m->linear + 27 * (size_t)i, *a = b + 9;
            double u[3] = {0, 0, 0}, x[3];
            for (int side = 0; side < (law->b.data[i] < 0 ? 1 : 2); side++, root += 18) {
                const double *from = m->solved + 6 * (size_t)(side ? law->b.data[i] : law->a.data[i]);
                for (int k = 0; k < 3; k++)
                    for (int l = 0; l < 6; l++) u[k] += root[6 * k + l] * from[l];
            }
            apply(a, u, x);
            for (int k = 0; k < 3; k++) x[k] = m->left[3 * (size_t)i + k] - x[k];
            apply(b + 18, x, x);
            for (int k = 0; k < 3; k++) m->dz[3 * (size_t)i + k] += x[k];
        }
    }
    SandCoulombPoint step = {m->dz, m->de};
    sand_coulomb_move(law, step);
}

// Computes what is left of the equations of the step, -F - A N dz - B dz. Returns its size.
static double refresh_left(SandCoulombNewton *m) {
    const SandCoulomb *law = m->law;
    SandCoulombPoint step = {m->dz, m->de};
    double sum = 0;
    for (int i = 0; i < law->contacts; i++) {
        const double *b = m->linear + 27 * (size_t)i, *a = b + 9;
        double u[3], *left = m->left + 3 * (size_t)i, x[3], y[3];
        sand_coulomb_response(law, step, i, u);
        apply(a, u, x);
        apply(b, m->dz + 3 * (size_t)i, y);
        for (int k = 0; k < 3; k++) {
            left[k] = -m->f[3 * (size_t)i + k] - x[k] - y[k];
            sum += left[k] * left[k];
        }
    }
    return sqrt(sum);
}

bool sand_coulomb_newton_direction(SandCoulombNewton *m, SandCoulombPoint p) {
    enum { REFINEMENTS = 3 };
    size_t n = 3 * (size_t)m->law->contacts;
    linearize(m, p);
    memset(m->value, 0, (size_t)m->begin[m->rows] * sizeof *m->value);
    if (m->law->matrix)
        fill_matrix(m);
    else
        fill_bodies(m);
    if (!sand_factors_factor(m->factors, m->value)) return false;
    memset(m->dz, 0, n * sizeof *m->dz);
    memset(m->de, 0, 6 * (size_t)m->law->bodies * sizeof *m->de);
    double before = refresh_left(m), first = before;
    for (int k = 0; k <= REFINEMENTS; k++) {
        correct(m);
        double size = refresh_left(m);
        if (!(size < first)) return false;
        if (!(size < 0.1 * before) || size <= 1e-14 * first) break;
        before = size;
    }
    return true;
}
