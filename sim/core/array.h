// SPDX-License-Identifier: MIT
// Growable arrays: items and capacity in one value, that grow when they are too small. Growths and bytes are counted over
// the whole program, so that a test can show that a steady step allocates nothing (tests/unit/test_allocation.c).
#pragma once
#include "sandglass/error.h"

#ifdef __cplusplus
extern "C" {
#endif

// An array of T: item i is `data[i]`. Empty is all zeros. Each use is a type of its own; functions take `data`, or a
// typedef.
#define SAND_ARRAY(T) \
    struct { \
        T *data; \
        size_t capacity; \
    }

// Ensures capacity for `count` items, keeping the contents: SAND_RESERVE(x->list, count, "what", error). As sand_grow.
#define SAND_RESERVE(array, count, what, error) SAND_GROW((array).data, (array).capacity, count, what, error)

// Frees arrays and leaves them empty, one list a struct: SAND_FREE_ARRAYS(&x->list, &x->marks).
#define SAND_FREE_ARRAYS(...) \
    sand_free_arrays((void *const[]){__VA_ARGS__}, sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))
SAND_API void sand_free_arrays(void *const *arrays, size_t count); // pointers to SAND_ARRAY

// Ensures capacity for `count` items of `size` bytes at *array, keeping the contents; new bytes are zero and the array is
// aligned to 64 bytes, a cache line and the widest SIMD register. `array` points to the pointer, *capacity is in items.
// Zeros of a large array take no memory until they are written.
// Fails when memory runs out, with a sentence that names `what`; the old array stays valid.
SAND_API bool sand_grow(void *array, size_t *capacity, size_t count, size_t size, const char *what, SandError *error);

// The same for a typed pointer with a capacity beside it, as public structs have: SAND_GROW(pointer, capacity, count,
// "what", error).
#define SAND_GROW(array, capacity, count, what, error) \
    sand_grow((void *)&(array), &(capacity), (size_t)(count), sizeof *(array), what, error)

// Copies an array of sand_grow, with the items that it has room for. NULL for NULL, and where memory runs out: then *ok is
// false.
void *sand_array_copy(const void *array, bool *ok);

// A pointer is freed with sand_free of sandglass/error.h.

uint64_t sand_growth_count(void);        // growths since the program started
SAND_API uint64_t sand_bytes_held(void); // bytes all arrays hold now, zeros that take no memory among them

// Bytes of bodies and contacts that backends copied from their device to the host since the program started. A backend adds
// to it itself; a test reads it to show that a step on the GPU downloads no bodies.
void sand_count_downloaded(size_t bytes);
uint64_t sand_bytes_downloaded(void);

#ifdef __cplusplus
}
#endif
