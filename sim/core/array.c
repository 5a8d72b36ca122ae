// Growable arrays. The size in bytes is stored in front of the array, so that sand_free can take it off the count; that
// header takes a whole alignment unit, so that the array behind it stays aligned.
#include "sim/core/array.h"
#include "sim/core/assert.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };  // bytes
enum { LARGE = 1 << 28 }; // bytes, above which arrays grow by an eighth

static atomic_ullong growths, bytes_held, bytes_downloaded;

static size_t *size_of(void *array) { return (size_t *)((char *)array - ALIGNMENT); }

// Puts an array of `wanted` items in the place of *array, with the contents of the first `kept` bytes; the others are zero.
// False when memory runs out.
static bool replace(void *array, size_t *capacity, size_t wanted, size_t size, size_t kept) {
    size_t bytes = (wanted * size + 2 * ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    char *base = aligned_alloc(ALIGNMENT, bytes);
    if (!base) return false;
    void *old, *fresh = base + ALIGNMENT;
    memcpy(&old, array, sizeof old);
    SAND_ASSERT((uintptr_t)fresh % ALIGNMENT == 0);
    SAND_ASSERT((old != NULL) == (*capacity > 0)); // pointer and capacity belong together
    if (old) memcpy(fresh, old, kept);
    memset((char *)fresh + kept, 0, bytes - ALIGNMENT - kept);
    *size_of(fresh) = bytes;
    sand_free(old);
    memcpy(array, &fresh, sizeof fresh);
    *capacity = wanted;
    bytes_held += bytes;
    return true;
}

bool sand_grow(void *array, size_t *capacity, size_t count, size_t size, const char *what, SandError *error) {
    SAND_ASSERT(size > 0);
    if (count <= *capacity) return true;
    // At least by half, so that slow growth costs few copies; less where that would be much memory.
    size_t wanted = *capacity + *capacity / (*capacity * size < LARGE ? 2 : 8);
    if (wanted < count) wanted = count;
    if (wanted > (SIZE_MAX - 2 * ALIGNMENT) / size)
        return sand_fail(error, "%s: %zu items are more than memory can hold", what, wanted);
    if (!replace(array, capacity, wanted, size, *capacity * size))
        return sand_fail(error, "%s: out of memory for %zu items (%zu MB)", what, wanted, wanted * size >> 20);
    growths++;
    return true;
}

void sand_shrink(void *array, size_t *capacity, size_t count, size_t size) {
    if (count > 0 && *capacity > count + count / 16) replace(array, capacity, count, size, count * size);
}

void sand_free(void *array) {
    if (!array) return;
    SAND_ASSERT(*size_of(array) <= bytes_held);
    bytes_held -= *size_of(array);
    free((char *)array - ALIGNMENT);
}

uint64_t sand_growth_count(void) { return growths; }
uint64_t sand_bytes_held(void) { return bytes_held; }

void sand_count_downloaded(size_t bytes) { bytes_downloaded += bytes; }
uint64_t sand_bytes_downloaded(void) { return bytes_downloaded; }
