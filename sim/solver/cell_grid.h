// SPDX-License-Identifier: MIT
// The grid of cells that smooth corrections of the impulses live on (sim/solver/kernel/coarse.inl): a box around the bodies,
// cut into cubes that hold some hundred bodies each. One source for the CPU and the GPU.
#pragma once
#include "sandglass/math.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SAND_MAX_CELLS = 1 << 15,
    SAND_MAX_NODES = 1 << 16,  // corners of the cells
    SAND_CELL_BODIES = 500,    // bodies of a cell, were they spread evenly over the box
    SAND_CELL_SLOTS = 1 << 17, // most slots of all cells together
};

typedef struct SandCellGrid {
    int cells[3]; // along each axis, at least 1
    int slots;    // parts that the bodies of a cell are summed in, by different workers
    SandVec3 low; // m, lower corner of the box
    double edge;  // m, of a cell
} SandCellGrid;

SAND_HOST_DEVICE int sand_cell_count(const SandCellGrid *g) { return g->cells[0] * g->cells[1] * g->cells[2]; }
SAND_HOST_DEVICE int sand_cell_nodes(const SandCellGrid *g) {
    return (g->cells[0] + 1) * (g->cells[1] + 1) * (g->cells[2] + 1);
}

// Chooses the grid for the box from `low` to `high` around this number of bodies.
SAND_HOST_DEVICE SandCellGrid sand_cell_grid(SandVec3 low, SandVec3 high, int bodies) {
    SandVec3 size = v3_sub(high, low);
    double longest = fmax(size.x, fmax(size.y, size.z));
    SandCellGrid g = {{1, 1, 1}, 1, low, longest > 0 ? longest : 1};
    if (bodies < 1 || !(longest > 0 && longest < 1e30)) return g;
    // A flat or thin box counts as thick enough for cells that are cubes.
    double least = longest / cbrt((double)bodies), volume = fmax(size.x, least) * fmax(size.y, least) * fmax(size.z, least);
    for (g.edge = cbrt(volume * SAND_CELL_BODIES / bodies);; g.edge *= 1.26) {
        g.cells[0] = (int)fmin(size.x / g.edge, 1e6) + 1;
        g.cells[1] = (int)fmin(size.y / g.edge, 1e6) + 1;
        g.cells[2] = (int)fmin(size.z / g.edge, 1e6) + 1;
        double cells = (double)g.cells[0] * g.cells[1] * g.cells[2];
        double nodes = (g.cells[0] + 1.0) * (g.cells[1] + 1.0) * (g.cells[2] + 1.0);
        if (cells <= SAND_MAX_CELLS && nodes <= SAND_MAX_NODES) break;
    }
    int slots = SAND_CELL_SLOTS / sand_cell_count(&g);
    g.slots = slots < 64 ? slots : 64;
    return g;
}

// Where a body is, in cells from the lower corner; within the grid. Rounded to float: solvers in either precision then find
// a body in the cell that lists it.
SAND_HOST_DEVICE SandVec3 sand_cell_place(const SandCellGrid *g, SandVec3 position) {
    SandVec3 p = v3_scale(1 / g->edge, v3_sub(position, g->low));
    return v3_make((float)fmin(fmax(p.x, 0.0), (double)g->cells[0]), (float)fmin(fmax(p.y, 0.0), (double)g->cells[1]),
                   (float)fmin(fmax(p.z, 0.0), (double)g->cells[2]));
}

// The cell of a coordinate along an axis.
SAND_HOST_DEVICE int sand_cell_along(double place, int cells) { return place < cells - 1 ? (int)place : cells - 1; }

// The number of the cell of a place.
SAND_HOST_DEVICE int sand_cell_of(const SandCellGrid *g, SandVec3 p) {
    return (sand_cell_along(p.z, g->cells[2]) * g->cells[1] + sand_cell_along(p.y, g->cells[1])) * g->cells[0] +
           sand_cell_along(p.x, g->cells[0]);
}

#ifdef __cplusplus
}
#endif
