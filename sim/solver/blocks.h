// SPDX-License-Identifier: MIT
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

struct SandThreadPool;

enum { SAND_BLOCK_LANES = 8 };

// The tiles that have a body, of the last batch of tiles that met it.
typedef struct SandBlockUse {
    uint64_t tiles; // bit t: the t-th
    int batch;
} SandBlockUse;

typedef struct SandBlocks {
    SandBlockGrid grid;
    int count;  // blocks; none is empty
    int *list;  // contacts list[first[q] .. first[q+1]-1] are those of block q, in ascending order
    int *first; //
    int *cell;  // of each contact: its place in the order of the blocks; -1: there is none
    int *cell_first;
    int color_first[SAND_BLOCK_COLORS + 1]; // blocks color_first[c] .. color_first[c+1]-1 are of color c; it may have none
    int *tile;                              // SAND_BLOCK_LANES contacts each, -1 behind the last one
    int *tile_first;                        // tiles tile_first[q] .. tile_first[q+1]-1 are those of block q
    // Scratch.
    SandBlockCell *place; // of each moving body
    SandBlockUse *use;
    int *loose; // the tiles of block q from tile first[q] on
    size_t tile_capacity, tile_first_capacity, place_capacity, use_capacity, loose_capacity;
    size_t list_capacity, first_capacity, cell_capacity, cell_first_capacity;
} SandBlocks;

void sand_blocks_free(SandBlocks *blocks);

// The contacts to cut, as a kernel has them: contact i is between the bodies a[i], which moves, and b[i]. Where no body
// a[i] moves there is no contact.
typedef struct SandBlockContacts {
    int count;
    const int *a, *b;
} SandBlockContacts;

// Cuts the contacts of the problem with cells of this many diameters; the threads of the pool share the work, and any number
// of them makes the same blocks. False when memory is out.
bool sand_blocks_build(SandBlocks *blocks, struct SandThreadPool *pool, const SandProblem *problem,
                       SandBlockContacts contacts, double diameters, SandError *error);
