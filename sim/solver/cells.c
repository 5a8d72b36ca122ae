// SPDX-License-Identifier: MIT
// Sorting the moving bodies of a problem by the cells of a grid over their centers, by counting sort.
#include "sim/solver/cells.h"

#include "sim/core/array.h"

void sand_cells_free(SandCells *cells) {
    SAND_FREE_ARRAYS(&cells->first, &cells->list, &cells->cell);
    *cells = (SandCells){0};
}

static SandCellGrid grid_of(const SandProblem *p) {
    SandVec3 low = v3_make(INFINITY, INFINITY, INFINITY), high = v3_scale(-1, low);
    for (int k = 0; k < p->dynamic_count; k++) {
        SandVec3 x = p->bodies[k].position;
        low = v3_make(fmin(low.x, x.x), fmin(low.y, x.y), fmin(low.z, x.z));
        high = v3_make(fmax(high.x, x.x), fmax(high.y, x.y), fmax(high.z, x.z));
    }
    return sand_cell_grid(low, high, p->dynamic_count);
}

bool sand_cells_build(SandCells *c, const SandProblem *p, SandError *error) {
    c->grid = grid_of(p);
    int bodies = p->dynamic_count, count = sand_cell_count(&c->grid);
    if (!SAND_RESERVE(c->first, count + 2, "cells", error) || !SAND_RESERVE(c->list, bodies + 1, "cells", error) ||
        !SAND_RESERVE(c->cell, bodies + 1, "cells", error))
        return false;
    for (int k = 0; k <= count + 1; k++) c->first.data[k] = 0;
    for (int k = 0; k < bodies; k++) {
        c->cell.data[k] = sand_cell_of(&c->grid, sand_cell_place(&c->grid, p->bodies[k].position));
        c->first.data[c->cell.data[k] + 2]++;
    }
    for (int k = 0; k < count; k++) c->first.data[k + 2] += c->first.data[k + 1];
    for (int k = 0; k < bodies; k++)
        c->list.data[c->first.data[c->cell.data[k] + 1]++] = k; // moves every begin to the one before it
    return true;
}
