// SPDX-License-Identifier: MIT
// zlib on blocks of an array, on several cores.
#pragma once
#include "sandglass/error.h"
#include "sim/core/array.h"

typedef struct Deflated {
    int count;                      // blocks
    SAND_ARRAY(unsigned char) data; // block k begins at k * stride
    SAND_ARRAY(size_t) size;        // of each block
    size_t stride;
} Deflated;

bool deflate_is_there(void); // whether the program has zlib
void deflated_free(Deflated *deflated);
// Compresses an array in blocks of this many bytes, the last one shorter. Fails without memory, and where the program has no
// zlib.
bool deflate_blocks(Deflated *deflated, const void *bytes, size_t size, size_t block, SandError *error);
