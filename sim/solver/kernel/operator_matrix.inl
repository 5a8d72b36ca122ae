// The product with N where N is a stored matrix (SandMatrix in sandglass/problem.h). Contact i then has a body of its own,
// number i, whose velocity is minus that of the contact: gradients and residuals need not know the difference.
#pragma once
#include "sim/solver/kernel/operator.inl"

// Block e of the matrix times g.
SAND_INLINE Vec matrix_times(const Op *op, int e, Vec g) {
    const real *b = op->matrix_block + 9 * (Index)e;
    return vec_make(b[0] * g.x + b[1] * g.y + b[2] * g.z, b[3] * g.x + b[4] * g.y + b[5] * g.z,
                    b[6] * g.x + b[7] * g.y + b[8] * g.z);
}

// N_ii g
SAND_INLINE Vec matrix_own(const Op *op, Index i, Vec g) {
    for (int e = op->matrix_first[i]; e < op->matrix_first[i + 1]; e++)
        if (op->matrix_column[e] == i) return matrix_times(op, e, g);
    return vec_make(0, 0, 0);
}

// out = base - N x for all bodies, with the impulses x stored at `impulse`; ends with a barrier.
SAND_KERNEL void matrix_gather(Worker *w, const Op *op, const real *impulse, const Body *base, Body *out) {
    Index stride = base == op->still ? 0 : 1;
    SAND_FOR_EACH(w, k, op->dynamic_count) {
        Vec v = vec_of(base[stride * k].v);
        for (int e = op->matrix_first[k]; e < op->matrix_first[k + 1]; e++)
            v = vec_sub(v, matrix_times(op, e, vec_of(impulse + IMPULSE_SIZE * (Index)op->matrix_column[e])));
        out[k].v[0] = v.x;
        out[k].v[1] = v.y;
        out[k].v[2] = v.z;
    }
    sand_barrier(w);
}

// Adds what the stored impulse of contact i does to every body: column i of N, whose blocks are the mirrors of those of
// row i.
SAND_INLINE void matrix_apply_column(const Op *op, Index i) {
    Vec g = vec_of(op->impulse + IMPULSE_SIZE * i);
    for (int e = op->matrix_first[i]; e < op->matrix_first[i + 1]; e++) {
        real *v = op->body[op->matrix_column[e]].v;
        Vec d = matrix_times(op, op->matrix_mirror[e], g);
        v[0] -= d.x;
        v[1] -= d.y;
        v[2] -= d.z;
    }
}
