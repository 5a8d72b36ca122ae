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

SAND_SHARED int grid_wrap(int i, int n) {
    if (i >= 0 && i < n) return i;
    int m = i % n;
    return m < 0 ? m + n : m;
}

// What is very far away is all in the last cell.
SAND_SHARED int grid_coordinate(double x, double origin, double inverse_cell) {
    return (int)fmax(-1e9, fmin(1e9, floor((x - origin) * inverse_cell)));
}
SAND_SHARED void grid_coordinates(const SandGridLevel *l, SandVec3 p, int c[3]) {
    c[0] = grid_coordinate(p.x, l->origin.x, l->inverse_cell);
    c[1] = grid_coordinate(p.y, l->origin.y, l->inverse_cell);
    c[2] = grid_coordinate(p.z, l->origin.z, l->inverse_cell);
}

SAND_SHARED int64_t grid_cell(const SandGridLevel *l, int x, int y, int z) {
    return l->cell_begin + x + (int64_t)l->cells[0] * (y + (int64_t)l->cells[1] * z);
}

// The cell of a ball in the common table.
SAND_SHARED int64_t grid_cell_of(const SandGridLevel *l, SandVec3 center) {
    int c[3];
    grid_coordinates(l, center, c);
    return grid_cell(l, grid_wrap(c[0], l->cells[0]), grid_wrap(c[1], l->cells[1]), grid_wrap(c[2], l->cells[2]));
}

// Sizes the grid of level k for its balls: as many cells as their box needs, within limits. The cells of a coarser level
// are larger, so fewer do; they must not be so few that a ball finds those of far places in them. `begin` is its first
// ball.
SAND_SHARED void grid_size_level(SandGrid *g, int k, int begin, int count, SandVec3 low, SandVec3 high) {
    SandGridLevel *l = &g->levels[k];
    l->begin = begin, l->end = begin + count;
    l->cell = 2 * l->largest;
    l->inverse_cell = 1 / l->cell;
    l->origin = count ? low : v3_make(0, 0, 0);
    SandVec3 size = count ? v3_sub(high, low) : v3_make(0, 0, 0);
    double wanted[3] = {size.x * l->inverse_cell + 1, size.y * l->inverse_cell + 1, size.z * l->inverse_cell + 1};
    double needed[3], most = 2.0 * count + (g->ball_count >> k) + SAND_LEVEL_CELLS;
    for (int a = 0; a < 3; a++) needed[a] = wanted[a] = wanted[a] < 4 ? 4 : floor(wanted[a]);
    while (wanted[0] * wanted[1] * wanted[2] > most) { // halve the longest side: the grid wraps around
        int a = wanted[0] >= wanted[1] && wanted[0] >= wanted[2] ? 0 : wanted[1] >= wanted[2] ? 1 : 2;
        if (wanted[a] <= 4) break;
        wanted[a] = wanted[a] / 2 < 4 ? 4 : floor(wanted[a] / 2);
    }
    for (int a = 0; a < 3; a++) {
        l->cells[a] = (int)wanted[a];
        l->wraps[a] = wanted[a] < needed[a];
    }
    l->cell_begin = g->cell_count;
    g->cell_count += (int64_t)l->cells[0] * l->cells[1] * l->cells[2];
}
// No more cells than this, whatever the balls.
SAND_SHARED int64_t grid_most_cells(int64_t balls) { return 4 * balls + 2 * SAND_MAX_LEVELS * SAND_LEVEL_CELLS; }

// The level of sorted ball i.
SAND_SHARED int grid_level_of(const SandGrid *g, int i) {
    int l = 0;
    while (i >= g->levels[l].end) l++;
    return l;
}

SAND_SHARED int grid_cell_start(const SandGrid *g, int64_t c) { return c > 0 ? g->starts[c - 1] : 0; }

// Where the grid does not wrap around, there is nothing outside of its box.
SAND_SHARED void grid_clip(const SandGridLevel *l, int low[3], int high[3]) {
    for (int a = 0; a < 3; a++) {
        if (l->wraps[a]) continue;
        if (low[a] < 0) low[a] = 0;
        if (high[a] >= l->cells[a]) high[a] = l->cells[a] - 1;
    }
}

// The balls in cells x0 .. x1 of one row. Where the row wraps around, the second of two runs is in `rest`.
SAND_SHARED SandGridRun grid_row(const SandGrid *g, const SandGridLevel *l, int x0, int x1, int y, int z,
                                 SandGridRun *rest) {
    int nx = l->cells[0], a = grid_wrap(x0, nx), b = a + (x1 - x0 < nx ? x1 - x0 : nx - 1);
    int64_t row = grid_cell(l, 0, grid_wrap(y, l->cells[1]), grid_wrap(z, l->cells[2]));
    SandGridRun run = {grid_cell_start(g, row + a), g->starts[row + (b < nx ? b : nx - 1)]};
    if (b >= nx) rest->begin = grid_cell_start(g, row), rest->end = g->starts[row + b - nx];
    return run;
}

// The cells of a coarser level that the box of both extents touches. A level of few balls is one run.
SAND_SHARED void grid_enter_level(SandGridWalk *w) {
    const SandGridLevel *l = &w->grid->levels[w->level];
    const SandGridBall *ball = &w->grid->sorted[w->ball];
    if (l->end - l->begin <= SAND_GRID_FEW) {
        w->rest.begin = l->begin, w->rest.end = l->end;
        w->z = 1, w->high[2] = 0; // no rows
        return;
    }
    double reach = ball->extent + l->largest;
    grid_coordinates(l, v3_sub(ball->center, v3_make(reach, reach, reach)), w->low);
    grid_coordinates(l, v3_add(ball->center, v3_make(reach, reach, reach)), w->high);
    grid_clip(l, w->low, w->high);
    w->y = w->low[1], w->z = w->low[2];
    if (w->low[0] > w->high[0] || w->low[1] > w->high[1]) w->z = w->high[2] + 1;
}

// A walk over the runs that hold every possible partner of sorted ball i that is not already the one to look at i: later
// balls of its own level, and all near balls of coarser levels. It comes in parts, so that several workers can share a
// ball: the near rows in two halves, the next two coarser levels, and the rest.
SAND_SHARED SandGridWalk grid_walk(const SandGrid *g, int level, int i, int part) {
    SandGridWalk w;
    w.grid = g, w.ball = i;
    w.rest.begin = w.rest.end = 0;
    w.own = -1;
    w.z = 1, w.high[2] = 0; // no rows so far
    w.level = part == 2 ? level : part == 3 ? level + 2 : g->level_count;
    w.last_level = part == 2 && level + 2 < g->level_count ? level + 2 : g->level_count - 1;
    if (part >= 2) return w;
    // Half of the neighbourhood: the rest of the own cell, the next one in the row, and the rows after it.
    int c[3];
    grid_coordinates(&g->levels[level], g->sorted[i].center, c);
    w.level = w.last_level = level;
    if (part == 0) w.own = c[0];
    w.low[0] = c[0] - 1, w.low[1] = c[1] - part, w.low[2] = c[2] + part;
    w.high[0] = c[0] + 1, w.high[1] = c[1] + 1, w.high[2] = c[2] + part;
    grid_clip(&g->levels[level], w.low, w.high);
    w.y = w.low[1], w.z = w.low[2];
    return w;
}

// The next run that is not empty; false when there is none.
SAND_SHARED bool grid_next(SandGridWalk *w, SandGridRun *run) {
    for (;;) {
        if (w->rest.begin < w->rest.end) {
            *run = w->rest;
            w->rest.end = w->rest.begin;
            return true;
        }
        if (w->z > w->high[2]) {
            if (w->level >= w->last_level) return false;
            w->level++;
            grid_enter_level(w);
            continue;
        }
        const SandGridLevel *l = &w->grid->levels[w->level];
        *run = grid_row(w->grid, l, w->own >= 0 ? w->own : w->low[0], w->high[0], w->y, w->z, &w->rest);
        if (w->own >= 0) run->begin = w->ball + 1;
        w->own = -1;
        if (++w->y > w->high[1]) w->y = w->low[1], w->z++;
        if (run->begin < run->end) return true;
    }
}

// Whether two balls may strike each other within `reach` seconds, and how fast.
SAND_SHARED bool grid_strikes(const SandGridBall *p, const SandGridBall *q, double slack, double reach, double *speed) {
    SandVec3 apart = v3_sub(q->center, p->center), u = v3_sub(q->velocity, p->velocity);
    *speed = v3_length(u) + p->turning + q->turning;
    double within = p->radius + q->radius + slack + reach * *speed;
    return p->body != q->body && v3_dot(apart, apart) <= within * within;
}

// Whether a part of the walk may hold what strikes the ball. Two slow balls do not strike each other hard: in the finest
// level only faster partners count.
SAND_SHARED bool grid_part_strikes(int level, int part) { return level > 0 || part >= 2; }

// Gives a ball that may be struck the room to move as fast. No further than it is wide: else one ball gone wild would
// make every pair near it a contact.
SAND_SHARED void grid_make_room(SandGridBall *ball, double struck, double slack, double reach) {
    ball->struck = fmin(struck, 2 * ball->radius / reach);
    double extent = ball->radius + 0.5 * slack + reach * ball->struck;
    if (extent > ball->extent) ball->extent = extent;
}
