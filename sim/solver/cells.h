// SPDX-License-Identifier: MIT
// The moving bodies of a problem by the cells of a grid, as the coarse correction needs them (sim/solver/kernel/coarse.inl).
// The CPU's counterpart of cuda/solver/cells.cu.
#pragma once
#include "sim/core/array.h"
#include "sim/solver/cell_grid.h"
#include "sandglass/problem.h"

typedef struct SandCells {
    SandCellGrid grid;
    SAND_ARRAY(int) first, list; // bodies list[first[c] .. first[c+1]-1] are in cell c, in ascending order
    SAND_ARRAY(int) cell;        // of each body
} SandCells;

void sand_cells_free(SandCells *cells);
// Chooses the grid and sorts the bodies. False when memory is out.
bool sand_cells_build(SandCells *cells, const SandProblem *problem, SandError *error);
