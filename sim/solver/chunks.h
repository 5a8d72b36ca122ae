// SPDX-License-Identifier: MIT
// How the contacts of a problem are cut into chunks, over which sums go in a fixed order (sim/core/thread_pool.h).
//
// A chunk has the contacts that a range of bodies owns, as their a: chunk c of C those of the bodies n c / C to n (c + 1) /
// C of n. So the cut follows from the number of bodies alone, and a rank that has all contacts of its bodies has whole
// chunks. In the arrays of a kernel each chunk begins at a tile and is padded:
//
//   bodies    |  0 .. 16  |  17 .. 33  |  34 .. 50  | ...
//   contacts  [ chunk 0  .][ chunk 1 ...][ chunk 2  ]             .: padding to a whole tile of SAND_LANES
#pragma once
#include "sim/core/thread_pool.h"
#include "sim/solver/adjacency.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SAND_CHUNK_BODIES = 16 }; // least bodies of a chunk: fewer would drown in padding

// The number of chunks for this many moving bodies, and where one begins.
static inline int sand_chunks_of(int bodies) {
    int chunks = bodies / SAND_CHUNK_BODIES;
    return chunks < 1 ? 1 : chunks > SAND_CHUNKS ? SAND_CHUNKS : chunks;
}
static inline int sand_chunk_first_body(int chunk, int bodies) {
    return (int)((int64_t)bodies * chunk / sand_chunks_of(bodies));
}

// Appends a span of these contacts, from the next tile on.
void sand_spans_add(SandSpans *spans, int chunk, int first, int count);

// Lays out the whole problem for one process. The contacts of a stored matrix have no bodies to speak of: its chunks have
// equally many tiles.
void sand_spans_of_problem(SandSpans *spans, const SandProblem *problem, const SandAdjacency *adjacency);

// The number of contacts with their padding.
static inline int64_t sand_spans_contacts(const SandSpans *spans) {
    return spans->count ? spans->span[spans->count - 1].end * SAND_LANES : 0;
}

#ifdef __cplusplus
}
#endif
