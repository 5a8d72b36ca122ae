// SPDX-License-Identifier: MIT
// What a method works on: the state of a solve that the driver keeps (driver.inl), and vector operations that several
// methods share. A method is a file of sim/solver/methods: it defines id_State, id_start and id_step, and one step is one
// product with N.
#pragma once
#include "sim/solver/kernel/active_set.inl"
#include "sim/solver/kernel/block_tiles.inl"
#include "sim/solver/kernel/block_warps.inl"
#include "sim/solver/kernel/coarse.inl"
#include "sim/solver/kernel/local_solve.inl"
#include "sim/solver/kernel/recession.inl"

// Every worker has its own copy, with the same values.
typedef struct Solve {
    const Op *op;
    int method;                 // row of the solver table
    int budget;                 // iterations that the solve may take
    const double *params;       // of the method
    int best;                   // the vector that holds the impulses to return
    int current;                // the one that holds the last iterate; -1: that is the best one
    double residual, objective; // of the best iterate, where the method keeps them (SAND_OWNS_RESIDUAL)
    double start_objective;     // of the vector that the method starts from
    real start_scale;           // factor that this vector is still to be multiplied by (SAND_OWNS_SCALE)
    bool again;                 // the method is restarted on the same N: what it learned of N still holds
    int in_tiles;               // not 0: the best impulses are in the tiles of their blocks alone (solve_settle); on a GPU,
                                // the vector that the pass under way writes (block_warps.inl)
    int swept;                  // on a GPU: places that this pass has swept; the others still have the last pass's impulses
    bool calm;                  // steps are so much smaller than the first that impulses do not seem to grow
    bool paired;                // at the end: the best impulses lie beside their gradient (SAND_OWNS_PAIRS)
    SandEnd end;                // a method that cannot go on sets SAND_END_EXHAUSTED
    int grows_to, grows_from;   // with SAND_END_RECEDES: the vectors whose difference is the direction; -1: zero
    double least_energy;        // of a direction that was found to recede: see SandSolution
} Solve;

// A method suspects that the problem is infeasible, because impulses grow along this direction; the driver checks it.
SAND_INLINE void solve_suspect(Solve *s, int to, int from) {
    s->end = SAND_END_RECEDES;
    s->grows_to = to;
    s->grows_from = from;
}

SAND_INLINE real *solve_vector(const Solve *s, int k) { return op_vector(s->op, k); }

// Puts the best impulses where the driver reads them, which calls this first: methods may keep them in tiles until then.
SAND_KERNEL void solve_settle(Worker *w, Solve *s) {
#if SAND_BLOCK_TILES
    if (!s->in_tiles) return;
    SAND_FOR_EACH(w, t, s->op->block_tile_first[op_block_count(s->op)]) block_tile_store(s->op, t, solve_vector(s, s->best));
    sand_barrier(w);
    s->in_tiles = 0;
#elif SAND_BLOCK_WARPS
    if (!s->in_tiles) return;
    part_settle(w, s->op, s->in_tiles, s->swept, solve_vector(s, s->best));
    s->in_tiles = 0;
#else
    (void)w, (void)s;
#endif
}

// The next member of Nesterov's sequence, which begins at 1, and the momentum that goes with the step to it.
SAND_INLINE double nesterov_momentum(double *theta) {
    double last = *theta, square = last * last;
    *theta = 0.5 * (sqrt(square * (square + 4)) - square);
    return last * (1 - last) / (square + *theta);
}

// t x, where t is near 1.
SAND_INLINE Row row_scaled(Row x, real t) { return row_madd(x, t - 1, x); }

SAND_HOT void copy(Worker *w, const Op *op, const real *from, real *to) {
    SAND_FOR(w, i, op->n) {
        ContactRef ref = SAND_CONTACT(op, i);
        row_store(to, ref, row_load(from, ref));
    }
    sand_barrier(w);
}

// x := t x, and a copy of it.
SAND_HOT void scale(Worker *w, const Op *op, real *x, real *same, real t) {
    SAND_FOR(w, i, op->n) {
        ContactRef ref = SAND_CONTACT(op, i);
        Row xi = row_scaled(row_load(x, ref), t);
        row_store(x, ref, xi);
        row_store(same, ref, xi);
    }
    sand_barrier(w);
}
