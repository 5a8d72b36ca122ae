// SPDX-License-Identifier: MIT
// What the solver table says of a method to the driver (columns `owns` and `needs`, solver_table.inl).
#pragma once
#include "sandglass/solver.h"

// What a method does by itself, so that the driver need not.
enum {
    SAND_OWNS_RESIDUAL = 1,   // keeps residual and objective of its best iterate
    SAND_OWNS_GROWTH = 2,     // notices that the problem is infeasible
    SAND_OWNS_SCALE = 4,      // scales the start as it reads it
    SAND_OWNS_VELOCITIES = 8, // leaves the velocities of the best iterate in op->body
    SAND_OWNS_PAIRS =
        16, // stores each iterate interleaved with its gradient (SAND_VEC4_ROWS); the driver unpacks the best one
};

// What must be prepared for a method.
enum {
    SAND_NEEDS_COLORS = 1,         // a coloring of the contacts, when its parameter `order` says so
    SAND_NEEDS_PRECONDITIONER = 2, // the diagonal preconditioner
    SAND_NEEDS_NORM = 4,           // an estimate of the norm of N; it spends products on it first
    SAND_NEEDS_CELLS = 8,          // the bodies by cells of a grid, for the coarse correction
    SAND_NEEDS_BODIES = 16,        // bodies: a stored matrix N is not enough
    SAND_NEEDS_WHOLE = 32,         // the whole problem in one process: it does not run on several ranks
    SAND_NEEDS_BLOCKS = 64,        // blocks of contacts, with cells of its parameter `edge`
};

// Least number of moving bodies of a pile that block-sweeps corrects: in smaller ones sweeps reach far enough, and a
// correction takes the time of several.
enum { SAND_CORRECTED_BODIES = 100000 };

#ifdef __cplusplus
extern "C" {
#endif
// Whether the cells of the coarse correction are needed, for this number of moving bodies.
bool sand_solve_needs_cells(const SandSolveDef *def, int64_t bodies);
#ifdef __cplusplus
}
#endif
