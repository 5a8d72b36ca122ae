// The geometry of the grid, one text for both machines: levels, cells, and where a ball's partners lie.
#pragma once
#include "grid.h"

#define SAND_GRID_FEW 16 // a coarser level with no more balls than this is looked at whole

// Upper limits of the extents of the levels: the first a little above the least extent, so that equal balls at rest
// share one level, then by factors of 1.5 until all are in.
SAND_SHARED void grid_choose_levels(SandGrid *g, double least, double most) {
    double limit = 1.1 * least;
    g->level_count = 0;
    while (g->level_count < SAND_MAX_LEVELS) {
        bool last = g->level_count == SAND_MAX_LEVELS - 1 || limit >= most;
        g->levels[g->level_count++].largest = last ? most : limit;
        if (last) break;
        limit *= g->level_count < 4 ? 1.5 : 2.2; // twelve levels span a factor of 2000
    }
}

SAND_SHARED int grid_level_of_extent(const SandGrid *g, double extent) {
    int l = 0;
    while (l < g->level_count - 1 && extent > g->levels[l].largest) l++;
    return l;
}

SAND_SHARED int grid_wrap(int64_t i, int n) {
    if (i >= 0 && i < n) return (int)i;
    int m = (int)(i % n);
    return m < 0 ? m + n : m;
}

SAND_SHARED void grid_coordinates(const SandGridLevel *l, SandVec3 p, int64_t c[3]) {
    c[0] = (int64_t)floor((p.x - l->origin.x) * l->inverse_cell);
    c[1] = (int64_t)floor((p.y - l->origin.y) * l->inverse_cell);
    c[2] = (int64_t)floor((p.z - l->origin.z) * l->inverse_cell);
}

SAND_SHARED int64_t grid_cell(const SandGridLevel *l, int x, int y, int z) {
    return l->cell_begin + x + (int64_t)l->cells[0] * (y + (int64_t)l->cells[1] * z);
}

// The cell of a ball in the common table.
SAND_SHARED int64_t grid_cell_of(const SandGridLevel *l, SandVec3 center) {
    int64_t c[3];
    grid_coordinates(l, center, c);
    return grid_cell(l, grid_wrap(c[0], l->cells[0]), grid_wrap(c[1], l->cells[1]), grid_wrap(c[2], l->cells[2]));
}

// Sizes a level's grid for its balls: as many cells as their box needs, at most about two for each ball. `begin` is its
// first ball, `cells` the first of its cells.
SAND_SHARED void grid_size_level(SandGridLevel *l, int begin, int count, SandVec3 low, SandVec3 high, int64_t cells) {
    l->begin = begin, l->end = begin + count;
    l->cell = 2 * l->largest;
    l->inverse_cell = 1 / l->cell;
    l->origin = count ? low : v3_make(0, 0, 0);
    SandVec3 size = count ? v3_sub(high, low) : v3_make(0, 0, 0);
    double wanted[3] = {size.x * l->inverse_cell + 1, size.y * l->inverse_cell + 1, size.z * l->inverse_cell + 1};
    double most = 2.0 * count + SAND_LEVEL_CELLS;
    for (int a = 0; a < 3; a++) wanted[a] = wanted[a] < 4 ? 4 : floor(wanted[a]);
    while (wanted[0] * wanted[1] * wanted[2] > most) { // halve the longest side: the grid wraps around
        int a = wanted[0] >= wanted[1] && wanted[0] >= wanted[2] ? 0 : wanted[1] >= wanted[2] ? 1 : 2;
        if (wanted[a] <= 4) break;
        wanted[a] = wanted[a] / 2 < 4 ? 4 : floor(wanted[a] / 2);
    }
    for (int a = 0; a < 3; a++) l->cells[a] = (int)wanted[a];
    l->cell_begin = cells;
}
SAND_SHARED int64_t grid_level_cells(const SandGridLevel *l) { return (int64_t)l->cells[0] * l->cells[1] * l->cells[2]; }

// The level of sorted ball i.
SAND_SHARED int grid_level_of(const SandGrid *g, int i) {
    int l = 0;
    while (i >= g->levels[l].end) l++;
    return l;
}

SAND_SHARED int grid_cell_start(const SandGrid *g, int64_t c) { return c > 0 ? g->starts[c - 1] : 0; }

// Adds the run of cells x0 .. x1 of one row, which may wrap around.
SAND_SHARED int grid_add_row(const SandGrid *g, const SandGridLevel *l, int64_t x0, int64_t x1, int64_t y, int64_t z,
                             SandGridRun *runs, int count) {
    int nx = l->cells[0], wy = grid_wrap(y, l->cells[1]), wz = grid_wrap(z, l->cells[2]);
    if (x1 - x0 >= nx) x1 = x0 + nx - 1;
    int a = grid_wrap(x0, nx), b = a + (int)(x1 - x0);
    int pieces[2][2] = {{a, b < nx ? b : nx - 1}, {0, b - nx}};
    for (int k = 0; k < (b < nx ? 1 : 2); k++) {
        int begin = grid_cell_start(g, grid_cell(l, pieces[k][0], wy, wz)),
            end = g->starts[grid_cell(l, pieces[k][1], wy, wz)];
        if (begin < end) runs[count++] = (SandGridRun){begin, end};
    }
    return count;
}

// Near balls of a coarser level: the cells that the box of both extents touches.
SAND_SHARED int grid_coarse_runs(const SandGrid *g, const SandGridLevel *l, const SandGridBall *ball, SandGridRun *runs,
                                 int count) {
    if (l->end - l->begin <= SAND_GRID_FEW) {
        if (l->end > l->begin) runs[count++] = (SandGridRun){l->begin, l->end};
        return count;
    }
    double reach = ball->extent + l->largest;
    int64_t low[3], high[3];
    grid_coordinates(l, v3_sub(ball->center, v3_make(reach, reach, reach)), low);
    grid_coordinates(l, v3_add(ball->center, v3_make(reach, reach, reach)), high);
    for (int64_t z = low[2]; z <= high[2]; z++)
        for (int64_t y = low[1]; y <= high[1]; y++) count = grid_add_row(g, l, low[0], high[0], y, z, runs, count);
    return count;
}

// The runs that hold every possible partner of sorted ball i that is not already the one to look at i: later balls of
// its own level, and all near balls of coarser levels. They come in parts, so that several workers can share a ball: the
// near rows in two halves, the next two coarser levels, and the rest. Returns how many runs the part has.
enum { SAND_GRID_PARTS = 4 };
SAND_SHARED int grid_part(const SandGrid *g, int level, int i, int part, SandGridRun *runs) {
    const SandGridBall *ball = &g->sorted[i];
    const SandGridLevel *l = &g->levels[level];
    int count = 0;
    if (part >= 2) {
        int from = part == 2 ? level + 1 : level + 3, to = part == 2 ? level + 3 : g->level_count;
        for (int k = from; k < to && k < g->level_count; k++) count = grid_coarse_runs(g, &g->levels[k], ball, runs, count);
        return count;
    }
    // Half of the neighbourhood: the rest of the own cell, the next one in the row, and the rows after it.
    int64_t c[3];
    grid_coordinates(l, ball->center, c);
    if (part == 0) {
        int64_t own = grid_cell_of(l, ball->center);
        if (i + 1 < g->starts[own]) runs[count++] = (SandGridRun){i + 1, g->starts[own]};
        count = grid_add_row(g, l, c[0] + 1, c[0] + 1, c[1], c[2], runs, count);
        return grid_add_row(g, l, c[0] - 1, c[0] + 1, c[1] + 1, c[2], runs, count);
    }
    for (int dy = -1; dy <= 1; dy++) count = grid_add_row(g, l, c[0] - 1, c[0] + 1, c[1] + dy, c[2] + 1, runs, count);
    return count;
}

// All parts, one after the other; at most SAND_MAX_RUNS.
SAND_SHARED int grid_runs(const SandGrid *g, int level, int i, SandGridRun *runs) {
    int count = 0;
    for (int part = 0; part < SAND_GRID_PARTS; part++) count += grid_part(g, level, i, part, runs + count);
    return count;
}

// Whether two balls may strike each other within `reach` seconds, and how fast.
SAND_SHARED bool grid_strikes(const SandGridBall *p, const SandGridBall *q, double slack, double reach, double *speed) {
    SandVec3 apart = v3_sub(q->center, p->center), u = v3_sub(q->velocity, p->velocity);
    *speed = v3_length(u) + p->turning + q->turning;
    double within = p->radius + q->radius + slack + reach * *speed;
    return p->body != q->body && v3_dot(apart, apart) <= within * within;
}

// The runs in which a ball looks for what may strike it. Two slow balls do not strike each other hard: in the finest
// level only faster partners count.
SAND_SHARED int grid_strike_part(const SandGrid *g, int level, int i, int part, SandGridRun *runs) {
    return level == 0 && part < 2 ? 0 : grid_part(g, level, i, part, runs);
}

// Gives a ball that may be struck the room to move as fast. No further than it is wide: else one ball gone wild would
// make every pair near it a contact.
SAND_SHARED void grid_make_room(SandGridBall *ball, double struck, double slack, double reach) {
    ball->struck = fmin(struck, 2 * ball->radius / reach);
    double extent = ball->radius + 0.5 * slack + reach * ball->struck;
    if (extent > ball->extent) ball->extent = extent;
}
