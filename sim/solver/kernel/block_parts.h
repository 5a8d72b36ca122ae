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
    SAND_PART_BODIES = 176,         // most bodies
    SAND_PART_TILES = 64,           // most tiles of up to 32 contacts each
    SAND_PART_CONTACTS_A_CELL = 16, // fewer contacts a cell of the grid make it repeat sooner
};

// Of the sum of two bodies' arms: a contact whose bodies move apart by more than this share of it a step is taken as idle.
#define SAND_IDLE_SHARE 0.01f

typedef struct BlockParts {
    const int *block_first; // block q has the places block_first[q] .. block_first[q+1]-1
    const uint32_t *header; // where a part begins: its numbers of contacts, bodies and tiles
    const int *tile_end;    // where it begins and behind: where tiles 0, 1, ... end, from its beginning
    const int *body;        // from twice the place on: its bodies
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
