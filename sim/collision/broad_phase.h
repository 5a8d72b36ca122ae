// The broad phase: balls sorted into uniform grids, one for each size class, so that a ball finds its neighbors in a
// few cells. A ball's extent is its radius plus what it may travel in the step; fast balls and big balls are in
// coarser grids. Where it would need too many cells a grid wraps around like a torus, so that a ball far away costs no
// memory.
#pragma once
#include "sim/core/error.h"
#include "sim/core/thread_pool.h"
#include "sim/core/vec.h"

#ifdef __cplusplus
extern "C" {
#endif

// What tells that two are far apart comes first: 32 bytes, which is what a GPU fetches at once.
typedef struct SandSphereProxy {
    SandVec3 center;
    double extent; // half the side of the box that holds the ball for the whole step
    double radius;
    double turning;       // m/s, how fast its surface turns about its center
    double impact_margin; // m, how far a third one may throw it in this step or leave it behind: impact_margin
    int body, sub;        // body number, ball of the body's shape
    SandVec3 velocity;    // of the ball's center
    double unused;
} SandSphereProxy;

enum { SAND_MAX_LEVELS = 12, SAND_LEVEL_CELLS = 64 }; // cells a level may have beside those for its balls

typedef struct SandGridLevel {
    int begin, end; // its balls in the sorted order
    double cell;    // side of a cell, m
    double inverse_cell;
    SandVec3 origin;
    int cells[3];       // along each axis, at least 4
    bool wraps[3];      // there are fewer than its box needs
    int64_t cell_begin; // its cells in the common table
    double largest;     // greatest extent in the level
} SandGridLevel;

typedef struct SandBroadPhase {
    int sphere_count;
    SandSphereProxy *spheres; // filled by the caller, any order
    int *order;               // sorted position to ball: levels from fine to coarse, then cell after cell
    SandSphereProxy *sorted;  // the balls in that order
    int level_count;
    SandGridLevel levels[SAND_MAX_LEVELS];
    SandGridLevel places; // one grid for the balls of all levels: what is near in space is near in its order
    int64_t cell_count;
    int *starts;      // once sorted, where the balls of each cell end, which is where those of the next begin
    int *cell_of;     // of each ball
    uint32_t *key[2]; // of sand_broad_phase_spatial_order
    int *place[2];
    size_t sphere_capacity, order_capacity, sorted_capacity, start_capacity, cell_of_capacity, key_capacity[2],
        place_capacity[2];
    int counts[SAND_MAX_THREADS + 1];
} SandBroadPhase;

void sand_broad_phase_free(SandBroadPhase *grid);
bool sand_broad_phase_reserve(SandBroadPhase *grid, int spheres, SandError *error);

// Sorts the balls. The order depends on the balls alone, not on the team.
bool sand_broad_phase_sort(SandBroadPhase *grid, SandThreadPool *pool, SandError *error);

// Finds for each ball how fast it may be struck, and gives it room for that. What rests beside a fast ball may be fast at
// the end of the step, so its own neighbors must be looked for as far. Two may strike each other that come within `slack`
// in `reach` seconds. Then sorts again; where all are alike it does nothing.
bool sand_broad_phase_add_impact_margins(SandBroadPhase *grid, double slack, double reach, SandThreadPool *pool,
                                         SandError *error);

// The first balls of all bodies, by their positions in the sorted order, cell after cell of the grid of places. Levels
// lie apart in the sorted order, and a slow ball and a fast one beside it with them; here they are side by side. NULL:
// out of memory.
const int *sand_broad_phase_spatial_order(SandBroadPhase *grid, int *count, SandError *error);

// A run of sorted balls to look at.
typedef struct SandProxyRun {
    int begin, end;
} SandProxyRun;

// The rows of cells in one level that hold the possible partners of a ball (grid.inl). Most rows lie side by side, so that
// several threads can take one each.
typedef struct SandCellRange {
    int level, sphere; // whose rows, and for which ball of the sorted order
    bool own, few;     // it is the ball's own level; it has so few balls that they are one run
    int low[3], high[3];
    int width, rows; // of a layer, of all layers
} SandCellRange;

typedef struct SandCellRow {
    SandProxyRun run[2];
} SandCellRow;

#ifdef __cplusplus
}
#endif
