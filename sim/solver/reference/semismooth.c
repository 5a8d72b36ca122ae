// SPDX-License-Identifier: MIT
// Semismooth Newton steps on the normal map: see semismooth.h.
#include "sim/solver/reference/semismooth.h"

#include "sim/solver/reference/cone.h"
#include "sim/core/array.h"

#include <string.h>

enum { VECTORS = 11 };

bool sand_semismooth_make(SandSemismooth *m, const SandConeProgram *program, SandKkt *system, SandError *error) {
    size_t n = (size_t)program->columns;
    *m = (SandSemismooth){.program = program, .system = system, .proximal = SAND_PROXIMAL_LEAST};
    if (!SAND_RESERVE(m->vectors, VECTORS * n + 1, "Newton vectors", error) ||
        !SAND_RESERVE(m->scaling, 9 * (size_t)program->cones + 1, "Newton vectors", error) ||
        !SAND_RESERVE(m->work, program->rows + 1, "Newton vectors", error))
        return false;
    double **vector[VECTORS] = {&m->bias, &m->x,   &m->z,     &m->f,       &m->dx,     &m->dz,
                                &m->b,    &m->ndz, &m->trial, &m->trial_z, &m->trial_f};
    for (size_t k = 0; k < VECTORS; k++) *vector[k] = m->vectors.data + k * n;
    return true;
}

void sand_semismooth_free(SandSemismooth *m) {
    SAND_FREE_ARRAYS(&m->vectors, &m->scaling, &m->work);
    *m = (SandSemismooth){0};
}

// Computes z = P(x) and f = F(x). Returns |f|.
static double evaluate(SandSemismooth *m, const double *x, double *z, double *f) {
    const SandConeProgram *p = m->program;
    double sum = 0;
    for (int c = 0; c < p->cones; c++)
        cone_project(x + p->first.data[c], sand_cone_program_size(p, c), z + p->first.data[c]);
    sand_cone_program_product(p, z, f, m->work.data);
    for (int j = 0; j < p->columns; j++) {
        f[j] += p->r.data[j] + m->bias[j] + x[j] - z[j];
        sum += f[j] * f[j];
    }
    return sqrt(sum);
}

void sand_semismooth_set(SandSemismooth *m) { m->size = evaluate(m, m->x, m->z, m->f); }

// In the scaled columns of a circular cone mu is 1: the bias of the first column is the length of the velocity in the other
// two.
double sand_semismooth_update_bias(SandSemismooth *m) {
    const SandConeProgram *p = m->program;
    double change = 0;
    sand_cone_program_product(p, m->z, m->ndz, m->work.data);
    for (int c = 0; c < p->cones; c++) {
        int j = p->first.data[c];
        if (sand_cone_program_size(p, c) == 1) continue;
        double bias = hypot(m->ndz[j + 1] + p->r.data[j + 1], m->ndz[j + 2] + p->r.data[j + 2]);
        change += (bias - m->bias[j]) * (bias - m->bias[j]);
        m->bias[j] = bias;
    }
    sand_semismooth_set(m);
    return sqrt(change);
}

void sand_semismooth_step(SandSemismooth *m, double least, bool forced, double *length) {
    const SandConeProgram *p = m->program;
    for (int c = 0; c < p->cones; c++)
        cone_derivative_root(m->x + p->first.data[c], sand_cone_program_size(p, c), m->proximal, m->scaling.data + 9 * c);
    sand_kkt_factor(m->system, m->scaling.data);

    // [P] eq. 20: dz = H y with (I + H N H) y = -H F, where H is the square root of (V^-1 - I + proximal I)^-1.
    for (int c = 0; c < p->cones; c++) {
        int j = p->first.data[c], size = sand_cone_program_size(p, c);
        cone_apply(m->scaling.data + 9 * c, m->f + j, size, m->b + j);
        for (int k = 0; k < size; k++) m->b[j + k] = -m->b[j + k];
    }
    sand_kkt_solve(m->system, m->b, m->dz);
    for (int c = 0; c < p->cones; c++) {
        int j = p->first.data[c], size = sand_cone_program_size(p, c);
        cone_apply(m->scaling.data + 9 * c, m->dz + j, size, m->dz + j);
    }
    sand_cone_program_product(p, m->dz, m->ndz, m->work.data);
    for (int j = 0; j < p->columns; j++) m->dx[j] = m->dz[j] - m->f[j] - m->ndz[j];

    // Line search on |F|.
    double step = 1, size;
    for (;; step *= 0.5) {
        for (int j = 0; j < p->columns; j++) m->trial[j] = m->x[j] + step * m->dx[j];
        size = evaluate(m, m->trial, m->trial_z, m->trial_f);
        if (size <= (1 - 1e-4 * step) * m->size || 0.5 * step < least) break;
    }
    *length = size < m->size || forced ? step : 0;
    if (*length == 0) return;
    memcpy(m->x, m->trial, (size_t)p->columns * sizeof *m->x);
    memcpy(m->z, m->trial_z, (size_t)p->columns * sizeof *m->z);
    memcpy(m->f, m->trial_f, (size_t)p->columns * sizeof *m->f);
    m->size = size;
}
