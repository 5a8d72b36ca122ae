// SPDX-License-Identifier: MIT
// The broad phase: sphere proxies sorted into uniform grids, one grid (level) for each size class, so that a proxy finds its
// neighbors in a few cells. Every sphere of every body is a proxy. Convex bodies have a broad phase of their own, in which
// the sphere around each, or around each piece of a compound, is a proxy: most worlds have none, and the search for spheres
// stays as fast as it is.
//
// Levels. The extent of a proxy is its radius plus how far it may travel in the step, so fast spheres lie in coarser grids
// just as large ones do. Level k holds extents up to `largest`, which doubles from level to level, and its cells are
// 2 * largest wide: two proxies of a level that can touch are never more than one cell apart.
//
//     level 0              level 1              level 2
//     +-+-+-+-+-+-+-+-+    +---+---+---+---+    +-------+-------+
//     |o|o|o| |o|o| | |    | O |   |   | O |    |       |  ___  |
//     +-+-+-+-+-+-+-+-+    +---+---+---+---+    |       | /   \ |
//     | |o|o|o| | |o| |    |   | O | O |   |    |       | \___/ |
//     +-+-+-+-+-+-+-+-+    +---+---+---+---+    +-------+-------+
//     many, small, slow    larger or faster     few, large or fast
//
// Half neighborhood. Within its own level a proxy looks only at those after it in the sorted order: the rest of its own cell
// and 13 of the 26 cells around it; the other half looks for it. With x along a row, these are five rows of cells:
//
//     layer z                 layer z + 1
//     y + 1   [1][1][1]       y + 1   [4][4][4]
//     y        .  p [0]       y       [3][3][3]       p: rest of the proxy's own cell, part of row 0
//     y - 1    .  .  .        y - 1   [2][2][2]       .: looks for p
//
// The cells of a row lie one behind the other in memory, so a row is one run of sorted proxies (two where it wraps). Of two
// levels one looks in the other: of neighboring ones the coarser in the finer, else the finer in the coarser
// (grid_looks_in).
//
// Where the bounding box of a level would take too many cells, its grid wraps around like a torus, so that a body far away
// costs no memory; cells then hold proxies from several regions, and the distance test tells them apart.
//
// Periodic worlds. Spheres near the lower side of the box have images beyond the upper side, which are proxies as any other
// (images.c); the narrow phase takes a pair unless both are shifted along the same axis, and so finds every pair once. The
// grids know nothing of this.
//
// The order depends on the proxies alone, not on the number of threads. Cell geometry is in broad_phase.inl, which the GPU
// shares (cuda/collision/collide.cu sorts with its own kernels).
#pragma once
#include "sim/core/limits.h"
#include "sim/core/ranks.h"
#include "sandglass/error.h"
#include "sim/core/thread_pool.h"
#include "sandglass/math.h"

#ifdef __cplusplus
extern "C" {
#endif

// One sphere of a body, for the coming step. Center and extent come first: they decide that two proxies are far apart, and
// are 32 bytes, one memory sector of a GPU.
typedef struct SandSphereProxy {
    SandVec3 center;
    double extent;        // m, half the side of the cube that contains the sphere during the whole step
    double radius;        // m
    double turning;       // m/s, speed of its surface about its center, from the body's spin
    double impact_margin; // m, how far an impact by a third body may displace it in this step: impact_margin()
    int body, sub;        // body of the world, and which sphere or piece of its shape
    SandVec3 velocity;    // m/s, of the sphere's center
    int image, source;    // in a periodic world: bits of the axes along which it is shifted by a period (0: it is the sphere
                          // itself), and the index in `spheres` of what it is an image of
} SandSphereProxy;

enum {
    SAND_MAX_LEVELS = 12,  // with a factor of 2 between levels they span a factor of 2000 in extent
    SAND_LEVEL_CELLS = 64, // cells a level may have in addition to those for its proxies: at least 4 x 4 x 4
};

// The uniform grid of one level.
typedef struct SandGridLevel {
    int begin, end;      // its proxies in the sorted order
    double cell;         // m, side of a cell
    double inverse_cell; // 1/m
    SandVec3 origin;     // m, lower corner of cell (0, 0, 0)
    int cells[3];        // along each axis, at least 4
    bool wraps[3];       // the axis has fewer cells than the bounding box needs
    int64_t cell_begin;  // its first cell in the common table
    double largest;      // m, greatest extent in the level
    bool few;            // it has so few proxies that others search it as one run; of all ranks together
} SandGridLevel;

// What a rank does to see impacts of other ranks: appends to the grid the proxies of other ranks that may touch one of its
// own, with a body of -1, as it does not hold it. Collective.
typedef struct SandBroadPhase SandBroadPhase;
typedef struct SandNear SandNear;
struct SandNear {
    bool (*append)(SandNear *near, SandBroadPhase *grid, SandError *error);
};

struct SandBroadPhase {
    int sphere_count;
    int image_count;          // of these the last are images
    SandSphereProxy *spheres; // filled by the caller, in any order
    int *order;               // sorted position to index into spheres: by level from fine to coarse, then by cell
    SandSphereProxy *sorted;  // the proxies in that order
    int level_count;
    SandGridLevel levels[SAND_MAX_LEVELS];
    SandGridLevel spatial_grid; // one grid over the proxies of all levels, for sand_broad_phase_spatial_order
    int64_t cell_count;         // of all levels, those that this rank has
    int *starts;                // once sorted: where the proxies of a cell end, which is where those of the next cell begin
    int *cell_of;               // cell of each of spheres[]
    uint32_t *key[2];           // radix sort of sand_broad_phase_spatial_order: cell in `spatial_grid`, double-buffered
    int *spatial_order[2];      // and sorted position of the proxy
    size_t sphere_capacity, order_capacity, sorted_capacity, start_capacity, cell_of_capacity, key_capacity[2],
        spatial_order_capacity[2];
    int counts[SAND_MAX_THREADS + 1]; // per worker, for the prefix sums of the counting sorts
    // Of a rank: grids are sized for the proxies of all ranks, and held proxies are sorted into them. So their order is a
    // part of the order in a single process.
    const SandRanks *ranks;  // NULL: a single process has all proxies
    SandNear *near;          // NULL where `ranks` is
    SandVec3 highest;        // upper corner of the centers of all ranks, in a periodic world
    double travel, reach;    // m, of all ranks: the farthest that a proxy travels in the step, and that one reaches
    const uint8_t *is_ghost; // of each body; NULL: all are own bodies. Proxies with a body below 0 are ghosts, too
};

void sand_broad_phase_free(SandBroadPhase *grid);
// Grows the arrays for this many proxies; fill grid->spheres and grid->sphere_count afterwards.
bool sand_broad_phase_reserve(SandBroadPhase *grid, int spheres, SandError *error);

// What decides the levels, of the proxies of one rank or of all.
typedef struct SandExtents {
    int64_t count;
    double least, most;
} SandExtents;

// What decides the grid of a level: its proxies, and the box around their centers.
typedef struct SandLevelBounds {
    int64_t count;
    SandVec3 low, high;
} SandLevelBounds;

// Extents and bounds over all ranks, from those of this one. Collective. `bounds` has SAND_MAX_LEVELS entries.
SandExtents sand_extents_of_ranks(const SandRanks *ranks, SandExtents mine);
void sand_level_bounds_of_ranks(const SandRanks *ranks, int levels, SandLevelBounds *bounds);
// Fits the grids of the levels, which are chosen, to `all` proxies.
void sand_broad_phase_fit(SandBroadPhase *grid, int all, const SandLevelBounds *bounds);

// Chooses levels, sizes their grids and sorts the proxies into them. A rank only sizes: it sorts once it has received its
// ghosts.
bool sand_broad_phase_sort(SandBroadPhase *grid, SandThreadPool *pool, SandError *error);
// Its two stages: choosing and sizing levels for the proxies of all ranks, and the sort. `visitors`: NULL, or another grid
// whose proxies look for neighbors in this one, too. A rank only has the layers of cells that its proxies lie in or look
// into.
bool sand_broad_phase_size(SandBroadPhase *grid, SandError *error);
bool sand_broad_phase_place(SandBroadPhase *grid, const SandBroadPhase *visitors, SandThreadPool *pool, SandError *error);

// Finds the impact margin of every proxy, extends the proxies by it, and sorts again. A body at rest beside a fast one may
// be fast at the end of the step, so its own neighbors must be searched as far as it can then get. Two proxies may hit each
// other when they come within `envelope` (m) within `horizon` (s). With a single level nothing is much faster than the rest,
// and nothing is done.
bool sand_broad_phase_add_impact_margins(SandBroadPhase *grid, double envelope, double horizon, SandThreadPool *pool,
                                         SandError *error);

// Returns the first proxy of every body, as positions in the sorted order, in spatial order: cell by cell of one grid over
// all levels. In the sorted order levels lie apart, and with them a slow sphere and a fast one beside it; here they are side
// by side, so that solver indices, and the memory the solvers walk, follow space. NULL when memory runs out.
const int *sand_broad_phase_spatial_order(SandBroadPhase *grid, int *count, SandError *error);

// A run of sorted proxies: begin <= i < end.
typedef struct SandProxyRun {
    int begin, end;
} SandProxyRun;

// The rows of cells of one level that hold the possible neighbors of a proxy (broad_phase.inl). Rows are numbered, so that
// several GPU threads can take one each.
typedef struct SandCellRange {
    int level, sphere;   // the level searched, and the proxy, by its sorted position
    bool own, few;       // it is the proxy's own level; it has so few proxies that they are searched as one run
    int low[3], high[3]; // cells, inclusive; may lie outside of a grid that wraps
    int width, rows;     // rows of a layer, rows of all layers
} SandCellRange;

// The proxies of one row: two runs where the row wraps around, and empty runs are allowed.
typedef struct SandCellRow {
    SandProxyRun run[2];
} SandCellRow;

#ifdef __cplusplus
}
#endif
