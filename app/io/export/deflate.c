#include "app/io/export/deflate.h"

#include "sim/core/array.h"

void deflated_free(Deflated *d) {
    sand_free(d->data);
    sand_free(d->size);
    *d = (Deflated){0};
}

#ifdef SAND_ZLIB

#include <zlib.h>

bool deflate_blocks(Deflated *d, const void *bytes, size_t size, SandError *error) {
    const int level = 1; // higher ones take several times as long for some percent
    bool packed = true;
    d->count = (int)((size + DEFLATE_BLOCK - 1) / DEFLATE_BLOCK);
    d->stride = compressBound(DEFLATE_BLOCK);
    if (!SAND_GROW(d->data, d->data_capacity, d->stride * (size_t)d->count, "export", error) ||
        !SAND_GROW(d->size, d->size_capacity, d->count, "export", error))
        return false;
#pragma omp parallel for schedule(dynamic) reduction(&& : packed)
    for (int k = 0; k < d->count; k++) {
        size_t begin = (size_t)k * DEFLATE_BLOCK, length = size - begin < DEFLATE_BLOCK ? size - begin : DEFLATE_BLOCK;
        uLongf most = (uLongf)d->stride;
        packed =
            compress2(d->data + (size_t)k * d->stride, &most, (const Bytef *)bytes + begin, (uLong)length, level) == Z_OK &&
            packed;
        d->size[k] = most;
    }
    return packed || sand_fail(error, "zlib failed");
}

#else

bool deflate_blocks(Deflated *d, const void *bytes, size_t size, SandError *error) {
    (void)d, (void)bytes, (void)size;
    return sand_fail(error, "this program was built without zlib");
}

#endif
