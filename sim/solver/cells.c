// Sorting the moving bodies of a problem by the cells of a grid over their centers, by counting sort.
#include "sim/solver/cells.h"

#include "sim/core/array.h"

void sand_cells_free(SandCells *cells) {
    sand_free(cells->first);
    sand_free(cells->list);
    sand_free(cells->cell);
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
    if (!SAND_GROW(c->first, c->first_capacity, count + 2, "cells", error) ||
        !SAND_GROW(c->list, c->list_capacity, bodies + 1, "cells", error) ||
        !SAND_GROW(c->cell, c->cell_capacity, bodies + 1, "cells", error))
        return false;
    for (int k = 0; k <= count + 1; k++) c->first[k] = 0;
    for (int k = 0; k < bodies; k++) {
        c->cell[k] = sand_cell_of(&c->grid, sand_cell_place(&c->grid, p->bodies[k].position));
        c->first[c->cell[k] + 2]++;
    }
    for (int k = 0; k < count; k++) c->first[k + 2] += c->first[k + 1];
    for (int k = 0; k < bodies; k++) c->list[c->first[c->cell[k] + 1]++] = k; // moves every begin to the one before it
    return true;
}
