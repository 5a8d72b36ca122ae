// The contacts of a problem cut into blocks for methods that sweep block by block (sim/solver/methods/block_sweeps.inl).
//
// Space is cut into cubes of some diameters. A contact belongs to the lower of the cells of its two bodies, axis by axis, so
// that a block touches bodies of its own cell and of the next ones up alone. With cells colored by whether their coordinates
// are even, two blocks of one color share no body, and all of them can be swept at once:
//
//      cell      0     1     2     3          one axis of three: the blocks of the even cells touch the bodies of
//      color    even  odd   even  odd         0 and 1, and of 2 and 3
//      touches  [==========][==========]
//
// The grid is periodic, with an even number of cells along each axis: bodies far from all others share blocks, and need no
// cells of their own. Contacts whose bodies are more than a cell apart, of large bodies and of joints, are one block of a
// last color.
//
// Within a block contacts are put in tiles of SAND_BLOCK_LANES that share no moving body either, each contact in the first
// tile that has a lane for it, so that SIMD lanes can relax a tile at once. Everything follows from the problem alone.
#pragma once
#include "sim/solver/block_grid.h"
#include "sandglass/problem.h"

enum { SAND_BLOCK_LANES = 8 };

typedef struct SandBlocks {
    SandBlockGrid grid;
    int count;  // blocks; none is empty
    int *list;  // contacts list[first[q] .. first[q+1]-1] are those of block q, in ascending order
    int *first; //
    int *cell;  // of each contact: its place in the order of the blocks
    int *cell_first;
    int color_first[SAND_BLOCK_COLORS + 1]; // blocks color_first[c] .. color_first[c+1]-1 are of color c; it may have none
    int *tile;                              // SAND_BLOCK_LANES contacts each, -1 behind the last one
    int *tile_first;                        // tiles tile_first[q] .. tile_first[q+1]-1 are those of block q
    uint64_t *used; // scratch, of each moving body: tiles that have it, of the last batch that met it
    int *batch;     // that batch
    size_t tile_capacity, tile_first_capacity, used_capacity, batch_capacity;
    size_t list_capacity, first_capacity, cell_capacity, cell_first_capacity;
} SandBlocks;

void sand_blocks_free(SandBlocks *blocks);
// Cuts the problem with cells of this many diameters. False when memory is out.
bool sand_blocks_build(SandBlocks *blocks, const SandProblem *problem, double diameters, SandError *error);
