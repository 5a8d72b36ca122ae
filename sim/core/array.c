// SPDX-License-Identifier: MIT
// Growable arrays. Zeros come from calloc: those of a large array take no memory before something is written there, so that
// one of which only a part is ever used takes what that part does.
#include "sim/core/array.h"
#include "sim/core/assert.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };  // bytes
enum { LARGE = 1 << 28 }; // bytes, above which arrays grow by an eighth

static atomic_ullong growths, bytes_held, bytes_downloaded;

// What lies in front of an array.
typedef struct Header {
    void *memory; // that holds both
    size_t bytes;
} Header;

static Header *header_of(void *array) { return (Header *)array - 1; }

// An array of zeros, aligned behind its header; NULL when memory runs out.
static void *allocate(size_t bytes) {
    size_t all = (bytes + sizeof(Header) + 2 * ALIGNMENT - 2) / ALIGNMENT * ALIGNMENT; // whole vectors, to the last item
    char *memory = calloc(1, all);
    if (!memory) return NULL;
    uintptr_t first = (uintptr_t)memory + sizeof(Header);
    char *array = memory + sizeof(Header) + (ALIGNMENT - first % ALIGNMENT) % ALIGNMENT;
    *header_of(array) = (Header){memory, all};
    bytes_held += all;
    return array;
}

// Puts an array of `wanted` items in the place of *array, with its contents. False when memory runs out.
static bool replace(void *array, size_t *capacity, size_t wanted, size_t size) {
    void *old, *fresh = allocate(wanted * size);
    if (!fresh) return false;
    memcpy(&old, array, sizeof old);
    SAND_ASSERT((old != NULL) == (*capacity > 0)); // pointer and capacity belong together
    if (old) memcpy(fresh, old, *capacity * size);
    sand_free(old);
    memcpy(array, &fresh, sizeof fresh);
    *capacity = wanted;
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
    if (!replace(array, capacity, wanted, size))
        return sand_fail(error, "%s: out of memory for %zu items (%zu MB)", what, wanted, wanted * size >> 20);
    growths++;
    return true;
}

void *sand_array_copy(const void *array, bool *ok) {
    if (!array) return NULL;
    const Header *header = (const Header *)array - 1;
    size_t bytes = (size_t)((const char *)header->memory + header->bytes - (const char *)array); // to the end of its memory
    void *copy = allocate(bytes);
    if (copy)
        memcpy(copy, array, bytes);
    else
        *ok = false;
    return copy;
}

void sand_free(void *array) {
    if (!array) return;
    SAND_ASSERT(header_of(array)->bytes <= bytes_held);
    bytes_held -= header_of(array)->bytes;
    free(header_of(array)->memory);
}

void sand_free_arrays(void *const *arrays, size_t count) {
    typedef SAND_ARRAY(void) Array; // all pointers to items have the representation of one to bytes
    for (size_t k = 0; k < count; k++) {
        Array array;
        memcpy(&array, arrays[k], sizeof array);
        sand_free(array.data);
        memset(arrays[k], 0, sizeof array);
    }
}

uint64_t sand_growth_count(void) { return growths; }
uint64_t sand_bytes_held(void) { return bytes_held; }

void sand_count_downloaded(size_t bytes) { bytes_downloaded += bytes; }
uint64_t sand_bytes_downloaded(void) { return bytes_downloaded; }
