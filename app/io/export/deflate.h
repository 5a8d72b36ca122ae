// zlib on blocks of an array, on several cores.
#pragma once
#include "sandglass/error.h"

enum { DEFLATE_BLOCK = 1 << 18 }; // bytes of a block before

typedef struct Deflated {
    int count;           // blocks
    unsigned char *data; // block k begins at k * stride
    size_t *size;        // of each block
    size_t stride;
    size_t data_capacity, size_capacity;
} Deflated;

void deflated_free(Deflated *deflated);
// Compresses an array block by block, the last one shorter. Fails without memory, and where the program has no zlib.
bool deflate_blocks(Deflated *deflated, const void *bytes, size_t size, SandError *error);
