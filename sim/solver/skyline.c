// SPDX-License-Identifier: MIT
// Cholesky factorization row by row within the skyline, and the two substitutions. Products are fused explicitly, so that
// bits do not depend on the compiler.
#include "sim/solver/skyline.h"

#include "sim/core/array.h"

#include <math.h>
#include <string.h>

void sand_skyline_free(SandSkyline *s) {
    SAND_FREE_ARRAYS(&s->first, &s->begin, &s->value);
    *s = (SandSkyline){0};
}

bool sand_skyline_reserve(SandSkyline *s, int count, SandError *error) {
    if (!SAND_RESERVE(s->first, count + 1, "rows of a factor", error) ||
        !SAND_RESERVE(s->begin, count + 1, "rows of a factor", error))
        return false;
    s->count = count;
    for (int r = 0; r < count; r++) s->first.data[r] = r;
    return true;
}

double sand_skyline_work(const SandSkyline *s) {
    double work = 0;
    for (int r = 0; r < s->count; r++) {
        double width = r - s->first.data[r] + 1;
        work += 0.5 * width * width;
    }
    return SAND_BLOCK * SAND_BLOCK_SIZE * work;
}

bool sand_skyline_shape(SandSkyline *s, SandError *error) {
    size_t blocks = 0;
    for (int r = 0; r < s->count; r++) {
        s->begin.data[r] = blocks;
        blocks += (size_t)(r - s->first.data[r] + 1);
    }
    s->begin.data[s->count] = blocks;
    return SAND_RESERVE(s->value, SAND_BLOCK_SIZE * blocks + 1, "factor of an island", error);
}

void sand_skyline_clear(SandSkyline *s) {
    memset(s->value.data, 0, SAND_BLOCK_SIZE * s->begin.data[s->count] * sizeof *s->value.data);
}

// a b + c, fused where the hardware does it; explicit, so that the bits do not depend on the compiler.
static inline double multiply_add(double a, double b, double c) {
#if defined(FP_FAST_FMA) || defined(__FMA__) || defined(RM_FEATURE_FMA)
    return fma(a, b, c);
#else
    return a * b + c;
#endif
}

// c -= A B', with A and B of six rows and this many columns.
static void subtract_product(double *restrict c, const double *restrict a, const double *restrict b, size_t columns) {
    double sum[SAND_BLOCK][SAND_BLOCK] = {{0}};
    for (size_t k = 0; k < columns; k++, a += SAND_BLOCK, b += SAND_BLOCK)
        for (int j = 0; j < SAND_BLOCK; j++)
            for (int i = 0; i < SAND_BLOCK; i++) sum[j][i] = multiply_add(a[i], b[j], sum[j][i]);
    for (int j = 0; j < SAND_BLOCK; j++)
        for (int i = 0; i < SAND_BLOCK; i++) c[SAND_BLOCK * j + i] -= sum[j][i];
}

// c := c L^-T, with L the factor of a diagonal block.
static void divide_by(double *restrict c, const double *restrict l) {
    for (int j = 0; j < SAND_BLOCK; j++) {
        double *column = c + SAND_BLOCK * j, inverse = 1 / l[SAND_BLOCK * j + j];
        for (int k = 0; k < j; k++)
            for (int i = 0; i < SAND_BLOCK; i++) column[i] -= c[SAND_BLOCK * k + i] * l[SAND_BLOCK * k + j];
        for (int i = 0; i < SAND_BLOCK; i++) column[i] *= inverse;
    }
}

// The factor of a diagonal block, whose upper half is not used.
static bool factor_diagonal(double *d) {
    for (int j = 0; j < SAND_BLOCK; j++) {
        double *column = d + SAND_BLOCK * j;
        for (int k = 0; k < j; k++)
            for (int i = j; i < SAND_BLOCK; i++) column[i] -= d[SAND_BLOCK * k + i] * d[SAND_BLOCK * k + j];
        if (!(column[j] > 0 && column[j] < INFINITY)) return false;
        double inverse = 1 / sqrt(column[j]);
        for (int i = j; i < SAND_BLOCK; i++) column[i] *= inverse;
    }
    return true;
}

bool sand_skyline_factor(SandSkyline *s) {
    for (int r = 0; r < s->count; r++) {
        for (int c = s->first.data[r]; c <= r; c++) {
            int from = s->first.data[r] > s->first.data[c] ? s->first.data[r] : s->first.data[c];
            double *block = sand_skyline_block(s, r, c);
            if (from < c)
                subtract_product(block, sand_skyline_block(s, r, from), sand_skyline_block(s, c, from),
                                 SAND_BLOCK * (size_t)(c - from));
            if (c < r) divide_by(block, sand_skyline_block(s, c, c));
        }
        if (!factor_diagonal(sand_skyline_block(s, r, r))) return false;
    }
    return true;
}

void sand_skyline_solve(const SandSkyline *s, double *x) {
    for (int r = 0; r < s->count; r++) {
        double *own = x + SAND_BLOCK * (size_t)r;
        const double *from = x + SAND_BLOCK * (size_t)s->first.data[r], *l = sand_skyline_block(s, r, s->first.data[r]);
        for (; from < own; from++, l += SAND_BLOCK)
            for (int i = 0; i < SAND_BLOCK; i++) own[i] -= l[i] * *from;
        for (int j = 0; j < SAND_BLOCK; j++, l += SAND_BLOCK) {
            own[j] /= l[j];
            for (int i = j + 1; i < SAND_BLOCK; i++) own[i] -= l[i] * own[j];
        }
    }
    for (int r = s->count - 1; r >= 0; r--) {
        double *own = x + SAND_BLOCK * (size_t)r, *to = x + SAND_BLOCK * (size_t)s->first.data[r];
        const double *d = sand_skyline_block(s, r, r), *l = sand_skyline_block(s, r, s->first.data[r]);
        for (int j = SAND_BLOCK - 1; j >= 0; j--) {
            for (int i = j + 1; i < SAND_BLOCK; i++) own[j] -= d[SAND_BLOCK * j + i] * own[i];
            own[j] /= d[SAND_BLOCK * j + j];
        }
        for (; to < own; to++, l += SAND_BLOCK) {
            double sum = 0;
            for (int i = 0; i < SAND_BLOCK; i++) sum += l[i] * own[i];
            *to -= sum;
        }
    }
}
