// SPDX-License-Identifier: MIT
// The product with N where N is a stored matrix (SandMatrix in sandglass/problem.h). Contact i then has a body of its own,
// number i, whose velocity is minus that of the contact: gradients and residuals need not know the difference.
#pragma once
#include "sim/solver/kernel/operator.inl"

enum { MATRIX_ROWS = SAND_ROLLING ? 6 : 3 }; // of a block

// Three rows and columns of block e, from these on, times g.
SAND_INLINE Vec matrix_part(const Op *op, int e, int row, int column, Vec g) {
    const real *b = op->matrix_block + MATRIX_ROWS * (MATRIX_ROWS * (Index)e + row) + column;
    const real *c = b + MATRIX_ROWS, *d = c + MATRIX_ROWS;
    return vec_make(b[0] * g.x + b[1] * g.y + b[2] * g.z, c[0] * g.x + c[1] * g.y + c[2] * g.z,
                    d[0] * g.x + d[1] * g.y + d[2] * g.z);
}

// N_ii g, of forces
SAND_INLINE Vec matrix_own(const Op *op, Index i, Vec g) {
    for (int e = op->matrix_first[i]; e < op->matrix_first[i + 1]; e++)
        if (op->matrix_column[e] == i) return matrix_part(op, e, 0, 0, g);
    return vec_make(0, 0, 0);
}

// Velocity and spin of a body less block e times a stored impulse.
SAND_INLINE Vec matrix_push(const Op *op, int e, const real *impulse, Vec v) {
    v = vec_sub(v, matrix_part(op, e, 0, 0, vec_of(impulse)));
#if SAND_ROLLING
    v = vec_sub(v, matrix_part(op, e, 0, 3, vec_of(impulse + 4)));
#endif
    return v;
}
#if SAND_ROLLING
SAND_INLINE Vec matrix_spin(const Op *op, int e, const real *impulse, Vec w) {
    w = vec_sub(w, matrix_part(op, e, 3, 0, vec_of(impulse)));
    return vec_sub(w, matrix_part(op, e, 3, 3, vec_of(impulse + 4)));
}
#endif

SAND_INLINE void vec_write(real *to, Vec v) {
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
}

// out = base - N x for all bodies, with the impulses x stored at `impulse`; ends with a barrier.
SAND_KERNEL void matrix_gather(Worker *w, const Op *op, const real *impulse, const Body *base, Body *out) {
    Index stride = base == op->still ? 0 : 1;
    SAND_FOR_EACH(w, k, op->dynamic_count) {
        Vec v = vec_of(base[stride * k].v);
        for (int e = op->matrix_first[k]; e < op->matrix_first[k + 1]; e++)
            v = matrix_push(op, e, impulse + IMPULSE_SIZE * (Index)op->matrix_column[e], v);
        vec_write(out[k].v, v);
#if SAND_ROLLING
        Vec spin = vec_of(base[stride * k].w);
        for (int e = op->matrix_first[k]; e < op->matrix_first[k + 1]; e++)
            spin = matrix_spin(op, e, impulse + IMPULSE_SIZE * (Index)op->matrix_column[e], spin);
        vec_write(out[k].w, spin);
#endif
    }
    sand_barrier(w);
}

// Adds what the stored impulse of contact i does to every body: column i of N, whose blocks are the mirrors of those of
// row i.
SAND_INLINE void matrix_apply_column(const Op *op, Index i) {
    const real *g = op->impulse + IMPULSE_SIZE * i;
    for (int e = op->matrix_first[i]; e < op->matrix_first[i + 1]; e++) {
        Body *body = &op->body[op->matrix_column[e]];
        vec_write(body->v, matrix_push(op, op->matrix_mirror[e], g, vec_of(body->v)));
#if SAND_ROLLING
        vec_write(body->w, matrix_spin(op, op->matrix_mirror[e], g, vec_of(body->w)));
#endif
    }
}
