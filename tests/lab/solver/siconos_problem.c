// SPDX-License-Identifier: MIT
// Converting a problem into a FrictionContactProblem of Siconos, a sparse block matrix in contact frames, and impulses back.
#include "tests/lab/solver/siconos_problem.h"

#include <stdlib.h>

#include <siconos/numerics/NumericsMatrix.h>
#include <siconos/numerics/SparseBlockMatrix.h>

#include "tests/lab/solver/dense.h"

// The contact frame for Siconos, normal first. Stored matrices are in such frames already.
typedef struct Axes {
    SandVec3 axis[3];
} Axes;

static Axes axes_of(const SandProblem *p, int i) {
    if (p->matrix) return (Axes){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    SandVec3 n = p->contacts[i].normal, side = fabs(n.x) < 0.7 ? v3_make(1, 0, 0) : v3_make(0, 1, 0);
    SandVec3 t = v3_unit_or(v3_cross(n, side), side);
    return (Axes){{n, t, v3_cross(n, t)}};
}

static void into(const Axes *axes, SandVec3 v, double *out) {
    for (int k = 0; k < 3; k++) out[k] = v3_dot(axes->axis[k], v);
}

static void add_block(NumericsMatrix *w, const SandProblem *p, int i, int j, const double *stored) {
    Axes to = axes_of(p, i), from = axes_of(p, j);
    for (int c = 0; c < 3; c++) {
        double column[3];
        if (stored)
            for (int r = 0; r < 3; r++) column[r] = stored[3 * r + c];
        else
            into(&to, dense_block(p, i, j, from.axis[c]), column);
        for (int r = 0; r < 3; r++) NM_entry(w, 3 * i + r, 3 * j + c, column[r]);
    }
}

// Adds all blocks of N of a problem with bodies: contacts are coupled if they share a dynamic body.
static void add_blocks_of_bodies(NumericsMatrix *w, const SandProblem *p) {
    int *first = calloc((size_t)p->dynamic_count + 2, sizeof *first), *list;
    for (int i = 0; i < p->contact_count; i++)
        for (int side = 0; side < 2; side++) {
            int body = side ? p->contacts[i].b : p->contacts[i].a;
            if (body < p->dynamic_count) first[body + 2]++;
        }
    for (int k = 0; k < p->dynamic_count; k++) first[k + 2] += first[k + 1];
    list = malloc(((size_t)first[p->dynamic_count + 1] + 1) * sizeof *list);
    for (int i = 0; i < p->contact_count; i++)
        for (int side = 0; side < 2; side++) {
            int body = side ? p->contacts[i].b : p->contacts[i].a;
            if (body < p->dynamic_count) list[first[body + 1]++] = i;
        }
    int *seen = malloc(((size_t)p->contact_count + 1) * sizeof *seen);
    for (int i = 0; i < p->contact_count; i++) seen[i] = -1;
    for (int i = 0; i < p->contact_count; i++)
        for (int side = 0; side < 2; side++) {
            int body = side ? p->contacts[i].b : p->contacts[i].a;
            for (int e = body < p->dynamic_count ? first[body] : 0; body < p->dynamic_count && e < first[body + 1]; e++)
                if (seen[list[e]] != i) {
                    seen[list[e]] = i;
                    add_block(w, p, i, list[e], NULL);
                }
        }
    free(first);
    free(list);
    free(seen);
}

// Converts a problem for Siconos, as a sparse block matrix.
FrictionContactProblem *siconos_problem(const SandProblem *p) {
    int n = 3 * p->contact_count;
    NumericsMatrix *w = NM_create(NM_SPARSE, n, n), *blocks = NM_create(NM_SPARSE_BLOCK, n, n);
    NM_triplet_alloc(w, 9 * (p->matrix ? p->matrix->first[p->contact_count] : 12 * p->contact_count));
    double *q = malloc((size_t)n * sizeof *q), *mu = malloc((size_t)p->contact_count * sizeof *mu);
    SandVec3 *r = malloc(((size_t)p->contact_count + 1) * sizeof *r);
    if (!p->matrix) {
        dense_r(p, false, r);
        add_blocks_of_bodies(w, p);
    }
    for (int i = 0; i < p->contact_count; i++) {
        Axes axes = axes_of(p, i);
        into(&axes, p->matrix ? v3_scale(-1, p->bodies[i].velocity) : r[i], q + 3 * i);
        mu[i] = p->contacts[i].mu;
        for (int e = p->matrix ? p->matrix->first[i] : 0; p->matrix && e < p->matrix->first[i + 1]; e++)
            add_block(w, p, i, p->matrix->column[e], p->matrix->block + 9 * e);
    }
    SBM_from_csparse(3, NM_csc(w), blocks->matrix1);
    NM_free(w);
    free(r);
    return frictionContactProblem_new_with_data(3, p->contact_count, blocks, q, mu);
}

void siconos_into(const SandProblem *p, int i, SandVec3 v, double *out) {
    Axes axes = axes_of(p, i);
    into(&axes, v, out);
}

SandVec3 siconos_out(const SandProblem *p, int i, const double *x) {
    Axes axes = axes_of(p, i);
    return v3_madd(v3_madd(v3_scale(x[0], axes.axis[0]), x[1], axes.axis[1]), x[2], axes.axis[2]);
}
