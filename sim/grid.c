#include "grid.h"

#include "memory.h"

#include <stdatomic.h>
#include <string.h>

enum { FEW = 16 }; // a coarser level with no more balls than this is looked at whole

void sand_grid_free(SandGrid *g) {
    sand_free(g->balls);
    sand_free(g->order);
    sand_free(g->sorted);
    sand_free(g->starts);
    sand_free(g->cell_of);
    *g = (SandGrid){0};
}

bool sand_grid_reserve(SandGrid *g, int balls, SandError *error) {
    size_t n = (size_t)balls + 1;
    return SAND_GROW(g->balls, g->ball_room, n, "grid", error) && SAND_GROW(g->order, g->order_room, n, "grid", error) &&
           SAND_GROW(g->sorted, g->sorted_room, n, "grid", error) &&
           SAND_GROW(g->cell_of, g->cell_of_room, n, "grid", error);
}

// Upper limits of the extents of the levels: the first a little above the least extent, so that equal balls at rest
// share one level, then by factors of 1.5 until all are in.
static void choose_levels(SandGrid *g, double least, double most) {
    double limit = 1.1 * least;
    g->level_count = 0;
    while (g->level_count < SAND_MAX_LEVELS) {
        bool last = g->level_count == SAND_MAX_LEVELS - 1 || limit >= most;
        g->levels[g->level_count++] = (SandGridLevel){.largest = last ? most : limit};
        if (last) break;
        limit *= g->level_count < 4 ? 1.5 : 2.2; // twelve levels span a factor of 2000
    }
}

static int level_of_extent(const SandGrid *g, double extent) {
    int l = 0;
    while (l < g->level_count - 1 && extent > g->levels[l].largest) l++;
    return l;
}

static int wrap(int64_t i, int n) {
    int m = (int)(i % n);
    return m < 0 ? m + n : m;
}

static void cell_coordinates(const SandGridLevel *l, SandVec3 p, int64_t c[3]) {
    c[0] = (int64_t)floor((p.x - l->origin.x) * l->inverse_cell);
    c[1] = (int64_t)floor((p.y - l->origin.y) * l->inverse_cell);
    c[2] = (int64_t)floor((p.z - l->origin.z) * l->inverse_cell);
}

static int64_t cell_index(const SandGridLevel *l, int x, int y, int z) {
    return l->cell_begin + x + (int64_t)l->cells[0] * (y + (int64_t)l->cells[1] * z);
}

// Sizes each level's grid for its balls: as many cells as their box needs, at most about two for each ball.
static void size_levels(SandGrid *g) {
    SandVec3 low[SAND_MAX_LEVELS], high[SAND_MAX_LEVELS];
    int count[SAND_MAX_LEVELS] = {0};
    for (int i = 0; i < g->ball_count; i++) {
        const SandGridBall *b = &g->balls[i];
        int l = level_of_extent(g, b->extent);
        if (!count[l]++) low[l] = high[l] = b->center;
        low[l] = v3_make(fmin(low[l].x, b->center.x), fmin(low[l].y, b->center.y), fmin(low[l].z, b->center.z));
        high[l] = v3_make(fmax(high[l].x, b->center.x), fmax(high[l].y, b->center.y), fmax(high[l].z, b->center.z));
    }
    g->cell_count = 0;
    for (int k = 0, begin = 0; k < g->level_count; k++) {
        SandGridLevel *l = &g->levels[k];
        l->begin = begin, l->end = begin += count[k];
        l->cell = 2 * l->largest;
        l->inverse_cell = 1 / l->cell;
        l->origin = count[k] ? low[k] : v3_make(0, 0, 0);
        SandVec3 size = count[k] ? v3_sub(high[k], low[k]) : v3_make(0, 0, 0);
        double wanted[3] = {size.x * l->inverse_cell + 1, size.y * l->inverse_cell + 1, size.z * l->inverse_cell + 1};
        double most = 2.0 * count[k] + 64;
        for (int a = 0; a < 3; a++) wanted[a] = wanted[a] < 4 ? 4 : floor(wanted[a]);
        while (wanted[0] * wanted[1] * wanted[2] > most) { // halve the longest side: the grid wraps around
            int a = wanted[0] >= wanted[1] && wanted[0] >= wanted[2] ? 0 : wanted[1] >= wanted[2] ? 1 : 2;
            if (wanted[a] <= 4) break;
            wanted[a] = wanted[a] / 2 < 4 ? 4 : floor(wanted[a] / 2);
        }
        for (int a = 0; a < 3; a++) l->cells[a] = (int)wanted[a];
        l->cell_begin = g->cell_count;
        g->cell_count += (int64_t)l->cells[0] * l->cells[1] * l->cells[2];
    }
}

// Counting sort by cell. Each worker owns a part of the cells and walks all the balls for them, so that the order
// within a cell is that of the ball numbers whatever the team.
static void sort_work(SandWorker *w, void *argument) {
    SandGrid *g = argument;
    int n = g->ball_count;
    for (int64_t i = sand_chunk_begin(w->first_chunk, n); i < sand_chunk_begin(w->last_chunk, n); i++) {
        const SandGridLevel *l = &g->levels[level_of_extent(g, g->balls[i].extent)];
        int64_t c[3];
        cell_coordinates(l, g->balls[i].center, c);
        g->cell_of[i] = (int)cell_index(l, wrap(c[0], l->cells[0]), wrap(c[1], l->cells[1]), wrap(c[2], l->cells[2]));
    }
    int64_t first = g->cell_count * w->id / w->count, last = g->cell_count * (w->id + 1) / w->count;
    memset(g->starts + first, 0, (size_t)(last - first) * sizeof *g->starts);
    sand_barrier(w);

    int mine = 0;
    for (int i = 0; i < n; i++)
        if (g->cell_of[i] >= first && g->cell_of[i] < last) g->starts[g->cell_of[i]]++, mine++;
    g->counts[w->id] = mine;
    sand_barrier(w);

    int sum = 0;
    for (int k = 0; k < w->id; k++) sum += g->counts[k];
    for (int64_t c = first; c < last; c++) {
        int count = g->starts[c];
        g->starts[c] = sum;
        sum += count;
    }
    for (int i = 0; i < n; i++)
        if (g->cell_of[i] >= first && g->cell_of[i] < last) g->order[g->starts[g->cell_of[i]]++] = i;
    sand_barrier(w); // filling moved every start to the next cell's: look one cell back from here on

    for (int64_t i = sand_chunk_begin(w->first_chunk, n); i < sand_chunk_begin(w->last_chunk, n); i++)
        g->sorted[i] = g->balls[g->order[i]];
}

bool sand_grid_sort(SandGrid *g, SandTeam *team, SandError *error) {
    double least = 1e300, most = 0;
    for (int i = 0; i < g->ball_count; i++) {
        least = fmin(least, g->balls[i].extent);
        most = fmax(most, g->balls[i].extent);
    }
    g->level_count = 0;
    if (g->ball_count == 0) return true;
    choose_levels(g, least, most);
    size_levels(g);
    if (g->cell_count > INT32_MAX)
        return sand_fail(error, "grid: %lld cells are more than it can number", (long long)g->cell_count);
    // One more in front, so that a cell's balls are starts[c - 1] .. starts[c].
    if (!SAND_GROW(g->starts, g->start_room, g->cell_count + 1, "grid", error)) return false;
    sand_team_run(team, sort_work, g);
    return true;
}

int sand_grid_level_of(const SandGrid *g, int i) {
    int l = 0;
    while (i >= g->levels[l].end) l++;
    return l;
}

static int cell_start(const SandGrid *g, int64_t c) { return c > 0 ? g->starts[c - 1] : 0; }

// Adds the run of cells x0 .. x1 of one row, which may wrap around.
static int add_row(const SandGrid *g, const SandGridLevel *l, int64_t x0, int64_t x1, int64_t y, int64_t z,
                   SandGridRun *runs, int count) {
    int nx = l->cells[0], wy = wrap(y, l->cells[1]), wz = wrap(z, l->cells[2]);
    if (x1 - x0 >= nx) x1 = x0 + nx - 1;
    int a = wrap(x0, nx), b = a + (int)(x1 - x0);
    int pieces[2][2] = {{a, b < nx ? b : nx - 1}, {0, b - nx}};
    for (int k = 0; k < (b < nx ? 1 : 2); k++) {
        int begin = cell_start(g, cell_index(l, pieces[k][0], wy, wz)), end = g->starts[cell_index(l, pieces[k][1], wy, wz)];
        if (begin < end) runs[count++] = (SandGridRun){begin, end};
    }
    return count;
}

// Near balls of a coarser level: the cells that the box of both extents touches.
static int coarse_runs(const SandGrid *g, const SandGridLevel *l, const SandGridBall *ball, SandGridRun *runs, int count) {
    if (l->end - l->begin <= FEW) {
        if (l->end > l->begin) runs[count++] = (SandGridRun){l->begin, l->end};
        return count;
    }
    double reach = ball->extent + l->largest;
    int64_t low[3], high[3];
    cell_coordinates(l, v3_sub(ball->center, v3_make(reach, reach, reach)), low);
    cell_coordinates(l, v3_add(ball->center, v3_make(reach, reach, reach)), high);
    for (int64_t z = low[2]; z <= high[2]; z++)
        for (int64_t y = low[1]; y <= high[1]; y++) count = add_row(g, l, low[0], high[0], y, z, runs, count);
    return count;
}

static int coarser_runs(const SandGrid *g, int level, int i, SandGridRun *runs) {
    int count = 0;
    for (int k = level + 1; k < g->level_count; k++) count = coarse_runs(g, &g->levels[k], &g->sorted[i], runs, count);
    return count;
}

int sand_grid_runs(const SandGrid *g, int level, int i, SandGridRun *runs) {
    const SandGridBall *ball = &g->sorted[i];
    const SandGridLevel *l = &g->levels[level];
    int64_t c[3];
    cell_coordinates(l, ball->center, c);
    // Half of the neighbourhood: the rest of the own cell, the next one in the row, and the rows after it.
    int64_t own = cell_index(l, wrap(c[0], l->cells[0]), wrap(c[1], l->cells[1]), wrap(c[2], l->cells[2]));
    int count = 0;
    if (i + 1 < g->starts[own]) runs[count++] = (SandGridRun){i + 1, g->starts[own]};
    count = add_row(g, l, c[0] + 1, c[0] + 1, c[1], c[2], runs, count);
    count = add_row(g, l, c[0] - 1, c[0] + 1, c[1] + 1, c[2], runs, count);
    for (int dy = -1; dy <= 1; dy++) count = add_row(g, l, c[0] - 1, c[0] + 1, c[1] + dy, c[2] + 1, runs, count);
    return count + coarser_runs(g, level, i, runs + count);
}

// --- strikes ----------------------------------------------------------------------------------------------

typedef struct Strike {
    SandGrid *grid;
    double slack, reach;
} Strike;

// The larger of two speeds, whoever comes first: the bits of positive numbers are ordered as they are.
static void raise_to(double *value, double other) {
    _Atomic uint64_t *bits = (_Atomic uint64_t *)(void *)value;
    uint64_t wanted, seen = atomic_load_explicit(bits, memory_order_relaxed);
    memcpy(&wanted, &other, sizeof wanted);
    while (seen < wanted &&
           !atomic_compare_exchange_weak_explicit(bits, &seen, wanted, memory_order_relaxed, memory_order_relaxed))
        continue;
}

static void strike_work(SandWorker *w, void *argument) {
    Strike *s = argument;
    SandGrid *g = s->grid;
    int begin = (int)sand_chunk_begin(w->first_chunk, g->ball_count),
        end = (int)sand_chunk_begin(w->last_chunk, g->ball_count);
    int level = begin < end ? sand_grid_level_of(g, begin) : 0;
    for (int i = begin; i < end; i++) {
        while (i >= g->levels[level].end) level++;
        SandGridBall *p = &g->sorted[i];
        SandGridRun runs[SAND_MAX_RUNS];
        // Two slow balls do not strike each other hard: in the finest level only faster partners count.
        int count = level == 0 ? coarser_runs(g, level, i, runs) : sand_grid_runs(g, level, i, runs);
        for (int r = 0; r < count; r++)
            for (int j = runs[r].begin; j < runs[r].end; j++) {
                SandGridBall *q = &g->sorted[j];
                SandVec3 apart = v3_sub(q->center, p->center), u = v3_sub(q->velocity, p->velocity);
                double speed = v3_length(u) + p->turning + q->turning,
                       within = p->radius + q->radius + s->slack + s->reach * speed;
                if (p->body == q->body || v3_dot(apart, apart) > within * within) continue;
                raise_to(&p->struck, speed);
                raise_to(&q->struck, speed);
            }
    }
    sand_barrier(w);
    for (int i = begin; i < end; i++) {
        SandGridBall *ball = &g->balls[g->order[i]];
        // No further than it is wide: else one ball gone wild would make every pair near it a contact.
        ball->struck = fmin(g->sorted[i].struck, 2 * ball->radius / s->reach);
        double extent = ball->radius + 0.5 * s->slack + s->reach * ball->struck;
        if (extent > ball->extent) ball->extent = extent;
    }
}

bool sand_grid_strike(SandGrid *g, double slack, double reach, SandTeam *team, SandError *error) {
    if (g->level_count < 2) return true; // all alike: nobody is much faster than the others
    Strike s = {g, slack, reach};
    sand_team_run(team, strike_work, &s);
    return sand_grid_sort(g, team, error);
}
