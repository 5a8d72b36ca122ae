// SPDX-License-Identifier: MIT
// The grid of cells that contacts are cut into blocks by (sim/solver/blocks.h has the rule). One source for the CPU and the
// GPU.
#pragma once
#include "sandglass/math.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SAND_BLOCK_MOST_CELLS_ALONG = 1 << 10,
    SAND_BLOCK_LEAST_CELLS = 512, // that the grid may have, however few the contacts
    SAND_BLOCK_COLORS = 9,        // eight by the parity of a cell along the axes, and one of what reaches farther
};
// Edge of a cell where nobody chose one, in diameters of the bodies: a processor has room for larger blocks.
#define SAND_BLOCK_EDGE_CPU 5.0
#define SAND_BLOCK_EDGE_GPU 3.0

// More coordinates than this along an axis would not fit into the place of a body on a GPU.
#define SAND_BLOCK_MOST_ALONG 2097151.0

typedef struct SandBlockGrid {
    SandVec3 low; // m, lower corner
    double edge;  // m, of a cell
    int cells[3]; // along each axis, an even number: the grid repeats
} SandBlockGrid;

// The cell of a body: whole numbers from 0 on along each axis, and the same where the grid repeats.
typedef struct SandBlockCell {
    int along[3], in_grid[3];
} SandBlockCell;

SAND_HOST_DEVICE int sand_block_cells(const SandBlockGrid *g) { return g->cells[0] * g->cells[1] * g->cells[2]; }

// An even number of cells that covers a length.
SAND_HOST_DEVICE int sand_block_cells_along(double length, double edge) {
    double cells = 2 * ceil(0.5 * (floor(length / edge) + 1));
    return cells < SAND_BLOCK_MOST_CELLS_ALONG ? (int)cells : SAND_BLOCK_MOST_CELLS_ALONG;
}

// Chooses the grid for the box from `low` to `high` around this number of bodies, with cells of this edge, of at most `most`
// cells: more would be empty. An edge of 0 or less: the bodies' own distance.
SAND_HOST_DEVICE SandBlockGrid sand_block_grid(SandVec3 low, SandVec3 high, int bodies, double edge, double most) {
    const double size[3] = {high.x - low.x, high.y - low.y, high.z - low.z};
    double longest = fmax(size[0], fmax(size[1], size[2]));
    if (!(edge > 0)) edge = longest / cbrt(bodies + 1.0);
    bool usable = edge > 0 && isfinite(edge) && isfinite(longest);
    SandBlockGrid g = {low, usable ? edge : 1, {2, 2, 2}};
    for (int axis = 0; axis < 3 && usable; axis++) g.cells[axis] = sand_block_cells_along(size[axis], edge);
    most = fmax((double)SAND_BLOCK_LEAST_CELLS, most);
    while ((double)g.cells[0] * g.cells[1] * g.cells[2] > most) {
        int axis = g.cells[0] >= g.cells[1] ? (g.cells[0] >= g.cells[2] ? 0 : 2) : (g.cells[1] >= g.cells[2] ? 1 : 2);
        g.cells[axis] = 2 * ((g.cells[axis] + 3) / 4); // half as many, an even number
    }
    return g;
}

SAND_HOST_DEVICE int sand_block_along(double x, double low, double edge) {
    double cell = (x - low) / edge;
    return cell < SAND_BLOCK_MOST_ALONG ? (int)cell : cell >= SAND_BLOCK_MOST_ALONG ? (int)SAND_BLOCK_MOST_ALONG : 0; // NaN
}

// The cell with these coordinates.
SAND_HOST_DEVICE SandBlockCell sand_block_cell_at(const SandBlockGrid *g, int x, int y, int z) {
    SandBlockCell c = {{x, y, z}, {0, 0, 0}};
    for (int axis = 0; axis < 3; axis++)
        c.in_grid[axis] = c.along[axis] < g->cells[axis] ? c.along[axis] : c.along[axis] % g->cells[axis];
    return c;
}

// The cell of a body at x.
SAND_HOST_DEVICE SandBlockCell sand_block_cell(const SandBlockGrid *g, SandVec3 x) {
    return sand_block_cell_at(g, sand_block_along(x.x, g->low.x, g->edge), sand_block_along(x.y, g->low.y, g->edge),
                              sand_block_along(x.z, g->low.z, g->edge));
}

// The place of a cell with these coordinates in the order of the cells: color after color, even coordinates before odd ones.
SAND_HOST_DEVICE int sand_block_place(const SandBlockGrid *g, const int *along) {
    int color = 0, place = 0;
    for (int axis = 2; axis >= 0; axis--) {
        color = 2 * color + along[axis] % 2;
        place = place * (g->cells[axis] / 2) + along[axis] / 2;
    }
    return color * (sand_block_cells(g) / 8) + place;
}

// The coordinates of the cell at this place.
SAND_HOST_DEVICE void sand_block_coordinates(const SandBlockGrid *g, int place, int *along) {
    int each = sand_block_cells(g) / 8, color = place / each, rest = place % each;
    for (int axis = 0; axis < 3; axis++) {
        along[axis] = 2 * (rest % (g->cells[axis] / 2)) + (color >> axis & 1);
        rest /= g->cells[axis] / 2;
    }
}

// Where a contact between bodies in these cells is in the order of the cells. sand_block_cells: its bodies are too far apart
// for the cells.
SAND_HOST_DEVICE int sand_block_order(const SandBlockGrid *g, const SandBlockCell *a, const SandBlockCell *b) {
    int lower[3];
    for (int axis = 0; axis < 3; axis++) {
        int ahead = b->along[axis] - a->along[axis];
        if (ahead < -1 || ahead > 1) return sand_block_cells(g);
        lower[axis] = ahead < 0 ? b->in_grid[axis] : a->in_grid[axis];
    }
    return sand_block_place(g, lower);
}

enum { SAND_BLOCK_NEIGHBORS = 27 }; // cells around a cell, itself among them

// The place of neighbor n of the cell at a place; -1 for the cell itself.
SAND_HOST_DEVICE int sand_block_neighbor(const SandBlockGrid *g, int place, int n) {
    int along[3], steps[3] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
    if (n == SAND_BLOCK_NEIGHBORS / 2) return -1;
    sand_block_coordinates(g, place, along);
    for (int axis = 0; axis < 3; axis++) along[axis] = (along[axis] + steps[axis] + g->cells[axis]) % g->cells[axis];
    return sand_block_place(g, along);
}

#ifdef __cplusplus
}
#endif
