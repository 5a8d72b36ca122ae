// SPDX-License-Identifier: MIT
// Compressing an array block by block, all blocks in parallel; without zlib in the build it refuses with a sentence.
#include "app/io/export/deflate.h"

#include "sim/core/array.h"

void deflated_free(Deflated *d) {
    SAND_FREE_ARRAYS(&d->data, &d->size);
    *d = (Deflated){0};
}

#ifdef SAND_ZLIB

#include <zlib.h>

bool deflate_is_there(void) { return true; }

bool deflate_blocks(Deflated *d, const void *bytes, size_t size, size_t block, SandError *error) {
    const int level = 1; // higher ones take several times as long for some percent
    bool packed = true;
    d->count = (int)((size + block - 1) / block);
    d->stride = compressBound(block);
    if (!SAND_RESERVE(d->data, d->stride * (size_t)d->count, "export", error) ||
        !SAND_RESERVE(d->size, d->count, "export", error))
        return false;
#pragma omp parallel for schedule(dynamic) reduction(&& : packed)
    for (int k = 0; k < d->count; k++) {
        size_t begin = (size_t)k * block, length = size - begin < block ? size - begin : block;
        uLongf most = (uLongf)d->stride;
        packed = compress2(d->data.data + (size_t)k * d->stride, &most, (const Bytef *)bytes + begin, (uLong)length,
                           level) == Z_OK &&
                 packed;
        d->size.data[k] = most;
    }
    return packed || sand_fail(error, "zlib failed");
}

#else

bool deflate_is_there(void) { return false; }

bool deflate_blocks(Deflated *d, const void *bytes, size_t size, size_t block, SandError *error) {
    (void)d, (void)bytes, (void)size, (void)block;
    return sand_fail(error, "this program was built without zlib");
}

#endif
