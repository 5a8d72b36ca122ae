// SPDX-License-Identifier: MIT
// Parts of blocks on a GPU (cuda/solver/blocks.cu): a warp sweeps one at a time, with its bodies in shared memory. Arrays
// are by the place of a contact in the order of blocks, parts and tiles. A part that begins at place p and has `contacts` of
// them ends at p + contacts, where the next one of its block begins.
#pragma once
#include <stdint.h>

#ifdef __CUDACC__
#define SAND_PART_INLINE static __host__ __device__ __forceinline__
#else
#define SAND_PART_INLINE static inline
#endif

enum {
    SAND_PART_BODIES = 136,         // most bodies
    SAND_PART_TILES = 64,           // most tiles of up to 32 contacts each
    SAND_BLOCK_NEAR = 32,           // room for the neighbors of a block, one a lane
    SAND_PART_CONTACTS_A_CELL = 16, // fewer contacts a cell of the grid make it repeat sooner
};

// Of the sum of two bodies' arms: a contact whose bodies move apart by more than this share of it a step is taken as idle.
#define SAND_IDLE_SHARE 0.01f

// Of the number of a body of a part: the part is the first of a pass to have it.
#define SAND_PART_FIRST 0x80000000u

// A block as a warp takes it, in one load.
typedef struct BlockHead {
    int block, begin, end; // its number and its places
    uint32_t header;       // of its first part
} BlockHead;

typedef struct BlockParts {
    const int *block_first; // block q has the places block_first[q] .. block_first[q+1]-1
    const BlockHead *head;  // in the order in which blocks are taken: color after color, and those with most tiles first
    const int *near;        // from SAND_BLOCK_NEAR q on: blocks before block q that may share bodies with it; -1: none
    int *done;              // passes that block q has done since the solve began
    const uint32_t *header; // where a part begins: its numbers of contacts, bodies and tiles
    const int *tile_end;    // where it begins and behind: where tiles 0, 1, ... end, from its beginning
    const uint32_t *body;   // from twice the place on: its bodies, with SAND_PART_FIRST
    const int *contact;     // at each place
    const uint32_t *pair;   // its bodies' numbers in the part; that of b is in the upper half
    uint8_t *sleep;         // of the tiles, as tile_end: passes that a tile is still left out of
} BlockParts;

SAND_PART_INLINE uint32_t part_header(int contacts, int bodies, int tiles) {
    return (uint32_t)contacts | (uint32_t)bodies << 12 | (uint32_t)tiles << 20;
}
SAND_PART_INLINE int part_contacts_of(uint32_t header) { return (int)(header & 0xfff); }
SAND_PART_INLINE int part_bodies_of(uint32_t header) { return (int)(header >> 12 & 0xff); }
SAND_PART_INLINE int part_tiles_of(uint32_t header) { return (int)(header >> 20); }
