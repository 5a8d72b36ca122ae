// zlib on blocks of an array, on several cores.
#pragma once
#include "sandglass/error.h"

typedef struct Deflated {
    int count;           // blocks
    unsigned char *data; // block k begins at k * stride
    size_t *size;        // of each block
    size_t stride;
    size_t data_capacity, size_capacity;
} Deflated;

bool deflate_is_there(void); // whether the program has zlib
void deflated_free(Deflated *deflated);
// Compresses an array in blocks of this many bytes, the last one shorter. Fails without memory, and where the program has no
// zlib.
bool deflate_blocks(Deflated *deflated, const void *bytes, size_t size, size_t block, SandError *error);
