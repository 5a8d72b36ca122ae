// SPDX-License-Identifier: MIT
// Cell geometry of the broad phase, one source for CPU and GPU: levels, cells, where the neighbors of a proxy lie, and
// impact margins. The picture is in broad_phase.h.
#pragma once
#include "sim/collision/broad_phase.h"

#define SAND_FEW_PROXIES 16 // another level with at most this many proxies is searched whole: cheaper than finding its cells

// Chooses the upper limits of the levels' extents: the first a third above the least extent, so that equal and slow spheres
// share one level, then by factors of 2 until all fit.
SAND_HOST_DEVICE void grid_choose_levels(SandBroadPhase *g, double least, double most) {
    double limit = 1.35 * least;
    g->level_count = 0;
    while (g->level_count < SAND_MAX_LEVELS) {
        bool last = g->level_count == SAND_MAX_LEVELS - 1 || limit >= most;
        g->levels[g->level_count++].largest = last ? most : limit;
        if (last) break;
        limit *= 2;
    }
}

// Returns the level of a proxy of this extent.
SAND_HOST_DEVICE int grid_level_of_extent(const SandBroadPhase *g, double extent) {
    int l = 0;
    while (l < g->level_count - 1 && extent > g->levels[l].largest) l++;
    return l;
}

// i modulo n, in [0, n).
SAND_HOST_DEVICE int grid_wrap(int i, int n) {
    if (i >= 0 && i < n) return i;
    int m = i % n;
    return m < 0 ? m + n : m;
}

// Returns the cell coordinate along one axis, before wrapping. Clamped, so that the conversion to int is defined for what is
// very far away.
SAND_HOST_DEVICE int grid_coordinate(double x, double origin, double inverse_cell) {
    return (int)fmax(-1e9, fmin(1e9, floor((x - origin) * inverse_cell)));
}
SAND_HOST_DEVICE void grid_coordinates(const SandGridLevel *l, SandVec3 p, int c[3]) {
    c[0] = grid_coordinate(p.x, l->origin.x, l->inverse_cell);
    c[1] = grid_coordinate(p.y, l->origin.y, l->inverse_cell);
    c[2] = grid_coordinate(p.z, l->origin.z, l->inverse_cell);
}

// Returns the index in the common table of the cell with these wrapped coordinates.
SAND_HOST_DEVICE int64_t grid_cell(const SandGridLevel *l, int x, int y, int z) {
    return l->cell_begin + x + (int64_t)l->cells[0] * (y + (int64_t)l->cells[1] * z);
}

// Returns the cell of a proxy in the common table.
SAND_HOST_DEVICE int64_t grid_cell_of(const SandGridLevel *l, SandVec3 center) {
    int c[3];
    grid_coordinates(l, center, c);
    return grid_cell(l, grid_wrap(c[0], l->cells[0]), grid_wrap(c[1], l->cells[1]), grid_wrap(c[2], l->cells[2]));
}

// Sizes a grid for the bounding box of its proxies, with at most `most` cells (but at least 4 x 4 x 4).
SAND_HOST_DEVICE void grid_fit(SandGridLevel *l, double cell, SandVec3 low, SandVec3 high, double most) {
    l->cell = cell;
    l->inverse_cell = 1 / l->cell;
    l->origin = low;
    SandVec3 size = v3_sub(high, low);
    double wanted[3] = {size.x * l->inverse_cell + 1, size.y * l->inverse_cell + 1, size.z * l->inverse_cell + 1};
    double needed[3];
    for (int a = 0; a < 3; a++) needed[a] = wanted[a] = wanted[a] < 4 ? 4 : floor(wanted[a]);
    while (wanted[0] * wanted[1] * wanted[2] > most) { // halve the longest axis, which then wraps
        int a = wanted[0] >= wanted[1] && wanted[0] >= wanted[2] ? 0 : wanted[1] >= wanted[2] ? 1 : 2;
        if (wanted[a] <= 4) break;
        wanted[a] = wanted[a] / 2 < 4 ? 4 : floor(wanted[a] / 2);
    }
    for (int a = 0; a < 3; a++) {
        l->cells[a] = (int)wanted[a];
        l->wraps[a] = wanted[a] < needed[a];
    }
}

// Sizes the grid of level k. A coarser level has larger cells and needs fewer of them, but not so few that,
// in a wrapped grid, a cell collects many distant proxies. `begin` is its first proxy in the sorted order.
SAND_HOST_DEVICE void grid_size_level(SandBroadPhase *g, int k, int begin, int count, SandVec3 low, SandVec3 high) {
    SandGridLevel *l = &g->levels[k];
    SandVec3 none = v3_make(0, 0, 0);
    l->begin = begin;
    l->end = begin + count;
    l->few = count <= SAND_FEW_PROXIES;
    grid_fit(l, 2 * l->largest, count ? low : none, count ? high : none,
             2.0 * count + (g->sphere_count >> k) + SAND_LEVEL_CELLS);
    l->cell_begin = g->cell_count;
    g->cell_count += (int64_t)l->cells[0] * l->cells[1] * l->cells[2];
}

// Extends a box to contain another. The empty box has its low corner at infinity and its high corner at minus infinity.
SAND_HOST_DEVICE void grid_extend(SandVec3 *low, SandVec3 *high, SandVec3 its_low, SandVec3 its_high) {
    *low = v3_make(fmin(low->x, its_low.x), fmin(low->y, its_low.y), fmin(low->z, its_low.z));
    *high = v3_make(fmax(high->x, its_high.x), fmax(high->y, its_high.y), fmax(high->z, its_high.z));
}

// Upper bound of the cells of `spatial_grid`.
SAND_HOST_DEVICE int64_t grid_most_spatial_cells(int64_t spheres) { return 8 * spheres + SAND_LEVEL_CELLS; }
// Sizes `spatial_grid` for the bounding box of all proxies. Where there is one level, it is that level's grid.
SAND_HOST_DEVICE void grid_size_spatial(SandBroadPhase *g, SandVec3 low, SandVec3 high) {
    g->spatial_grid = g->levels[0];
    if (g->level_count > 1)
        grid_fit(&g->spatial_grid, g->levels[0].cell, low, high, (double)grid_most_spatial_cells(g->sphere_count));
}

// Gives a level only those layers of cells that lie between two heights, one where there is nothing between them; `cells`:
// how many the levels before it have, and with it. A cell of another layer has an index outside of the table, or one of
// another level.
SAND_HOST_DEVICE void grid_keep_layers(SandGridLevel *l, double low, double high, int64_t *cells) {
    int64_t layer = (int64_t)l->cells[0] * l->cells[1];
    int first = 0, last = l->cells[2] - 1;
    if (!(low <= high)) {
        last = first;
    } else if (!l->wraps[2]) {
        int lowest = grid_coordinate(low, l->origin.z, l->inverse_cell),
            highest = grid_coordinate(high, l->origin.z, l->inverse_cell);
        first = lowest < 0 ? 0 : lowest < last ? lowest : last;
        last = highest < first ? first : highest < last ? highest : last;
    }
    l->cell_begin = *cells - layer * first;
    *cells += layer * (last - first + 1);
}

// Upper bound of the cells of all levels, whatever the proxies: what the GPU allocates before it knows them.
SAND_HOST_DEVICE int64_t grid_most_cells(int64_t spheres) { return 4 * spheres + 2 * SAND_MAX_LEVELS * SAND_LEVEL_CELLS; }

// Returns the level of sorted proxy i.
SAND_HOST_DEVICE int grid_level_of(const SandBroadPhase *g, int i) {
    int l = 0;
    while (i >= g->levels[l].end) l++;
    return l;
}

// Returns where the proxies of cell c begin.
SAND_HOST_DEVICE int grid_cell_start(const SandBroadPhase *g, int64_t c) { return c > 0 ? g->starts[c - 1] : 0; }

// Returns the cells of level k that hold possible neighbors of a sphere that is of another level, or of another grid: all
// proxies in the cells that the box of both extents meets.
SAND_HOST_DEVICE SandCellRange cell_range_around(const SandBroadPhase *g, const SandSphereProxy *sphere, int k) {
    const SandGridLevel *l = &g->levels[k];
    SandCellRange range = {0};
    range.level = k;
    range.few = l->few;
    range.rows = 1;
    if (range.few) return range;
    double reach = sphere->extent + l->largest;
    grid_coordinates(l, v3_sub(sphere->center, v3_make(reach, reach, reach)), range.low);
    grid_coordinates(l, v3_add(sphere->center, v3_make(reach, reach, reach)), range.high);
    for (int a = 0; a < 3; a++) { // an axis that does not wrap has nothing outside of its box
        if (!l->wraps[a] && range.low[a] < 0) range.low[a] = 0;
        if (!l->wraps[a] && range.high[a] >= l->cells[a]) range.high[a] = l->cells[a] - 1;
    }
    bool empty = range.low[0] > range.high[0] || range.low[1] > range.high[1] || range.low[2] > range.high[2];
    range.width = range.high[1] - range.low[1] + 1;
    range.rows = empty ? 0 : range.width * (range.high[2] - range.low[2] + 1);
    return range;
}

// The same for sorted proxy i, which is of `level`. In its own level these are the later proxies in half of the
// neighborhood: the rest of its cell, the next cell in the row, and the rows after it; the earlier ones look for it.
SAND_HOST_DEVICE SandCellRange cell_range_of(const SandBroadPhase *g, int level, int i, int k) {
    const SandSphereProxy *sphere = &g->sorted[i];
    if (k != level) return cell_range_around(g, sphere, k);
    SandCellRange range = {0};
    range.level = k;
    range.sphere = i;
    range.own = true;
    range.rows = 5;
    grid_coordinates(&g->levels[k], sphere->center, range.low);
    for (int a = 0; a < 3; a++) range.high[a] = range.low[a] + 1;
    return range;
}

// Returns the runs of one row of a range, which may be empty; a row that wraps around has two.
SAND_HOST_DEVICE SandCellRow cell_row(const SandBroadPhase *g, const SandCellRange *range, int row) {
    const SandGridLevel *l = &g->levels[range->level];
    SandCellRow r = {{{0, 0}, {0, 0}}};
    if (range->few) {
        r.run[0].begin = l->begin;
        r.run[0].end = l->end;
        return r;
    }
    int x0 = range->low[0], x1 = range->high[0], y, z;
    if (range->own) {
        y = row < 2 ? range->low[1] + row : range->low[1] + row - 3;
        z = row < 2 ? range->low[2] : range->low[2] + 1;
        if (row > 0) x0--;
        if (!l->wraps[0] && x0 < 0) x0 = 0;
        if (!l->wraps[0] && x1 >= l->cells[0]) x1 = l->cells[0] - 1;
        if ((!l->wraps[1] && (y < 0 || y >= l->cells[1])) || (!l->wraps[2] && z >= l->cells[2])) return r;
    } else {
        y = range->low[1] + row % range->width;
        z = range->low[2] + row / range->width;
    }
    int nx = l->cells[0], a = grid_wrap(x0, nx), b = a + (x1 - x0 < nx ? x1 - x0 : nx - 1);
    int64_t first = grid_cell(l, 0, grid_wrap(y, l->cells[1]), grid_wrap(z, l->cells[2]));
    bool behind = range->own && row == 0; // row 0 begins after the proxy itself
    r.run[0].begin = behind ? range->sphere + 1 : grid_cell_start(g, first + a);
    r.run[0].end = g->starts[first + (b < nx ? b : nx - 1)];
    if (b >= nx) {
        r.run[1].begin = grid_cell_start(g, first);
        r.run[1].end = g->starts[first + b - nx];
    }
    return r;
}

// Whether two proxies can touch in the step at all. Most pairs fail this test.
SAND_HOST_DEVICE bool proxies_near(const SandSphereProxy *p, const SandSphereProxy *q) {
    SandVec3 apart = v3_sub(q->center, p->center);
    double reach = p->extent + q->extent;
    return v3_dot(apart, apart) <= reach * reach;
}

#define SAND_IMPACT_SLOP 0.04    // radii of travel that give no margin
#define SAND_MAX_IMPACT_MARGIN 4 // radii, the largest margin

// Impact margin: how far around a sphere to look for neighbors that a third body, not its own motion, brings close: a sphere
// that an impact sets in motion, or one that a wall stops while its neighbors go on. `travel` is how far it goes in the step
// at the speed of the impact, or at its own. The slop is subtracted because two spheres that approach by less overlap by
// less, and become a contact in the next step. At most four radii, which is as far as a sphere should go in a step: else one
// body gone wild would make every pair near it a contact.
SAND_HOST_DEVICE double impact_margin(double radius, double travel) {
    return fmin(fmax(travel - SAND_IMPACT_SLOP * radius, 0.0), SAND_MAX_IMPACT_MARGIN * radius);
}

// Whether two proxies may hit each other within `horizon` seconds, and how fast.
SAND_HOST_DEVICE bool proxies_may_impact(const SandSphereProxy *p, const SandSphereProxy *q, double envelope, double horizon,
                                         double *speed) {
    if (!proxies_near(p, q)) return false;
    SandVec3 apart = v3_sub(q->center, p->center), u = v3_sub(q->velocity, p->velocity);
    *speed = v3_length(u) + p->turning + q->turning;
    double within = p->radius + q->radius + envelope + horizon * *speed;
    return p->body != q->body && v3_dot(apart, apart) <= within * within;
}

// Whether a proxy of one level searches another level; of any two levels one searches the other. Of two neighboring levels
// the coarser, which usually has fewer proxies, searches the finer. Where they are further apart it would meet too many
// cells there, so the finer searches the coarser.
SAND_HOST_DEVICE bool grid_looks_in(int level, int in) { return in == level || in == level - 1 || in > level + 1; }

// The same for impacts. Two slow spheres do not hit each other hard: within the finest level there are no impacts.
SAND_HOST_DEVICE bool impact_looks_in(int level, int in) { return grid_looks_in(level, in) && level + in > 0; }

// Sets the impact margin of a proxy and extends it accordingly.
SAND_HOST_DEVICE void proxy_set_impact_margin(SandSphereProxy *sphere, double impact_margin, double envelope) {
    sphere->impact_margin = impact_margin;
    sphere->extent = fmax(sphere->extent, sphere->radius + 0.5 * envelope + impact_margin);
}
