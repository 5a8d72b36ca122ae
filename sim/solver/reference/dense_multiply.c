// SPDX-License-Identifier: MIT
// Products of dense matrices by tiles (Goto and van de Geijn 2008): a block of A and one of B are copied in the order in
// which they are read, and every tile of C is summed in registers. Compiled with fused products: as with any BLAS, the last
// bits depend on the processor.
#include "sim/solver/reference/dense_multiply.h"

#include <stddef.h>
#include <string.h>

enum {
    TILE_ROWS = 16,
    TILE_COLUMNS = 3,
    DEPTH = 192,         // columns of A in a block
    BLOCK_ROWS = 160,    // of A: with DEPTH columns it stays in the second cache
    BLOCK_COLUMNS = 168, // of B
    LITTLE = 2000,       // multiplications that are faster without copies
    LOWER_COLUMNS = 48   // of a block on the diagonal
};
_Static_assert(DEPTH *(BLOCK_ROWS + BLOCK_COLUMNS) <= SAND_MULTIPLY_WORK, "the copies fit their workspace");

// The product of TILE_ROWS rows and TILE_COLUMNS columns, both copied; `part` rows at once, whose sums fit the registers, in
// vectors of `bytes`. For the processors that have them there is a tile with the instructions of AVX2.
#define DEFINE_TILE(name, attribute, bytes, part) \
    attribute static void name(int k, const double *restrict a, const double *restrict b, double *restrict tile) { \
        typedef double Vector __attribute__((vector_size(bytes), aligned(8), may_alias)); \
        enum { LANES = (bytes) / 8, VECTORS = (part) / LANES }; \
        for (int row = 0; row < TILE_ROWS; row += (part)) { \
            const double *x = a + row, *y = b; \
            Vector s[VECTORS] = {{0}}, t[VECTORS] = {{0}}, u[VECTORS] = {{0}}; \
            for (int l = 0; l < k; l++, x += TILE_ROWS, y += TILE_COLUMNS) \
                for (int v = 0; v < VECTORS; v++) { \
                    Vector part_of_x = *(const Vector *)(x + LANES * v); \
                    s[v] += part_of_x * y[0]; \
                    t[v] += part_of_x * y[1]; \
                    u[v] += part_of_x * y[2]; \
                } \
            for (int v = 0; v < VECTORS; v++) { \
                *(Vector *)(tile + row + LANES * v) = s[v]; \
                *(Vector *)(tile + TILE_ROWS + row + LANES * v) = t[v]; \
                *(Vector *)(tile + 2 * TILE_ROWS + row + LANES * v) = u[v]; \
            } \
        } \
    }

typedef void Tile(int k, const double *restrict a, const double *restrict b, double *restrict tile);

DEFINE_TILE(multiply_tile, , 16, 8)
#if defined(__x86_64__)
DEFINE_TILE(multiply_tile_avx2, __attribute__((target("avx2,fma"))), 32, 16)

static Tile *find_tile(void) {
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return multiply_tile_avx2;
    return multiply_tile;
}
#else
static Tile *find_tile(void) { return multiply_tile; }
#endif

static void copy_rows(const double *a, int lda, int m, int k, double *restrict to) {
    for (int i = 0; i < m; i += TILE_ROWS) {
        int rows = m - i < TILE_ROWS ? m - i : TILE_ROWS;
        for (int l = 0; l < k; l++, to += TILE_ROWS) {
            const double *from = a + (size_t)lda * (size_t)l + i;
            for (int r = 0; r < rows; r++) to[r] = from[r];
            for (int r = rows; r < TILE_ROWS; r++) to[r] = 0;
        }
    }
}

static void copy_columns(const SandProduct *p, int l, int j, int k, int n, double *restrict to) {
    for (int column = j; column < j + n; column += TILE_COLUMNS)
        for (int row = l; row < l + k; row++)
            for (int c = column; c < column + TILE_COLUMNS; c++)
                *to++ = c < j + n ? p->b[(ptrdiff_t)p->row_stride * row + (ptrdiff_t)p->column_stride * c] : 0;
}

static void subtract_tile(const double *tile, int rows, int columns, double *c, int ldc) {
    for (int j = 0; j < columns; j++, tile += TILE_ROWS, c += ldc)
        for (int i = 0; i < rows; i++) c[i] -= tile[i];
}

static void subtract_block(int m, int n, int k, const double *a, const double *b, double *c, int ldc) {
    double tile[TILE_ROWS * TILE_COLUMNS];
    Tile *multiply = find_tile();
    for (int j = 0; j < n; j += TILE_COLUMNS)
        for (int i = 0; i < m; i += TILE_ROWS) {
            multiply(k, a + (size_t)i * (size_t)k, b + (size_t)j * (size_t)k, tile);
            subtract_tile(tile, m - i < TILE_ROWS ? m - i : TILE_ROWS, n - j < TILE_COLUMNS ? n - j : TILE_COLUMNS,
                          c + (size_t)ldc * (size_t)j + i, ldc);
        }
}

static void subtract_plainly(const SandProduct *p) {
    for (int j = 0; j < p->n; j++)
        for (int l = 0; l < p->k; l++) {
            double factor = p->b[(ptrdiff_t)p->row_stride * l + (ptrdiff_t)p->column_stride * j];
            const double *from = p->a + (size_t)p->lda * (size_t)l;
            double *to = p->c + (size_t)p->ldc * (size_t)j;
            for (int i = 0; i < p->m; i++) to[i] -= factor * from[i];
        }
}

static int least(int a, int b) { return a < b ? a : b; }

void sand_dense_subtract(const SandProduct *p, double *work) {
    if ((double)p->m * p->n * p->k <= LITTLE) {
        subtract_plainly(p);
        return;
    }
    double *rows = work, *columns = work + DEPTH * BLOCK_ROWS;
    for (int j = 0; j < p->n; j += BLOCK_COLUMNS)
        for (int l = 0; l < p->k; l += DEPTH) {
            int n = least(BLOCK_COLUMNS, p->n - j), k = least(DEPTH, p->k - l);
            copy_columns(p, l, j, k, n, columns);
            for (int i = 0; i < p->m; i += BLOCK_ROWS) {
                int m = least(BLOCK_ROWS, p->m - i);
                copy_rows(p->a + (size_t)p->lda * (size_t)l + i, p->lda, m, k, rows);
                subtract_block(m, n, k, rows, columns, p->c + (size_t)p->ldc * (size_t)j + i, p->ldc);
            }
        }
}

void sand_dense_subtract_lower(const SandProduct *p, double *work) {
    for (int j = 0; j < p->n; j += LOWER_COLUMNS) {
        SandProduct part = *p;
        part.m = p->m - j;
        part.n = least(LOWER_COLUMNS, p->n - j);
        part.a += j;
        part.b += (ptrdiff_t)p->column_stride * j;
        part.c += (size_t)p->ldc * (size_t)j + (size_t)j;
        sand_dense_subtract(&part, work);
    }
}
