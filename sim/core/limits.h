// SPDX-License-Identifier: MIT
// Capacities and sizes of the library, all named in one place. They are compile-time constants: arrays in structs and
// loops in the solver kernels are dimensioned by them, on the CPU and on the GPU alike.
#pragma once

enum {
    SAND_LANES = 16,                  // contacts processed side by side (SIMD lanes); counts are padded to a multiple of it
    SAND_CHUNKS = 64,                 // chunks a range is split into for reductions, independent of the number of threads
    SAND_MAX_SPANS = 3 * SAND_CHUNKS, // chunks that a rank sums, and parts of its halo
    SAND_STRIP = 32,        // tiles of SAND_LANES contacts summed in the solver's precision before folding into double
    SAND_MAX_SUMS = 8,      // sums in one reduction
    SAND_WORKER_STATE = 10, // numbers the deciding worker may keep from one iteration of a solve to the next
    SAND_HIGH_DEGREE = 64,  // a body with more contacts is gathered by many workers, in segments of this many
    SAND_MAX_RANKS = 1024,  // ranks of a run; the first SAND_CHUNKS of them own bodies
    SAND_MAX_THREADS = 64,  // threads of a pool: each has at least one of the SAND_CHUNKS chunks
};
